"""Messages from the page: a JSON object with an id, the name of a command, and what it is given.

Whatever comes is from a stranger until it is checked. Each command is one declared entry, which says of each
argument what it may be; nothing else reaches the session.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

LARGEST = 4 * 2**20  # bytes of a message
FARTHEST = 1e9  # of a coordinate
REQUIRED = object()

Read = Callable[[Any, int], Any]  # what was sent, and how many points there are


class Refused(ValueError):
    """A command that is not carried out, and why, in a line for the person at the page."""


@dataclass(frozen=True)
class Field:
    """One argument of a command: how it is read and checked, and its default."""

    read: Read
    default: Any = REQUIRED


@dataclass(frozen=True)
class Command:
    """What the page may ask for.

    Attributes
    ----------
    name : str
        As it is sent.
    fields : dict of Field
        What it may be given.
    do : callable
        Does it, with the session and what was given.
    aside : bool
        Whether it takes long and changes nothing: then the run goes on meanwhile.
    steers : bool
        Whether it changes the run, which then goes on, and what is on the disk.
    """

    name: str
    fields: Mapping[str, Field]
    do: Callable[..., Any]
    aside: bool = False
    steers: bool = False


COMMANDS: dict[str, Command] = {}


def command(
    *, aside: bool = False, steers: bool = False, **fields: Field
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a function of the session and of these arguments as a command of the same name."""

    def declared(do: Callable[..., Any]) -> Callable[..., Any]:
        COMMANDS[do.__name__] = Command(do.__name__, fields, do, aside, steers)
        return do

    return declared


@dataclass(frozen=True)
class Message:
    """A command that was sent, checked.

    Attributes
    ----------
    id : int
        By which it is answered.
    command : Command
        What is asked for.
    given : dict
        With what.
    """

    id: int
    command: Command
    given: dict[str, Any]


def identified(text: str) -> tuple[int, dict[str, Any]]:
    """The id of a message and all of it; what has none is refused."""
    if len(text) > LARGEST:
        raise Refused("the message is too large")
    try:
        sent = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Refused("the message is no JSON") from None
    if not isinstance(sent, dict):
        raise Refused("the message is no object")
    number = sent.get("id")
    if type(number) is not int or not 0 <= number < 2**53:
        raise Refused("the message has no id")
    return number, sent


def checked(number: int, sent: Mapping[str, Any], n: int) -> Message:
    """A message whose arguments are what the command may be given, or one line about what is wrong.

    Examples
    --------
    >>> from nearfield.studio import commands
    >>> checked(1, {"do": "settle", "n": 10}, n=50).given
    {'n': 10}
    >>> checked(1, {"do": "settle", "n": -10}, n=50)
    Traceback (most recent call last):
    ...
    nearfield.studio.messages.Refused: settle: n must be a whole number from 0 to 100000
    """
    name = sent.get("do")
    wanted = COMMANDS.get(name) if isinstance(name, str) else None
    if wanted is None:
        raise Refused("there is no such command")
    if sent.keys() - wanted.fields.keys() - {"id", "do"}:
        raise Refused(f"{name} takes {', '.join(wanted.fields) or 'nothing'}")
    given = {}
    for key, each in wanted.fields.items():
        if key not in sent and each.default is REQUIRED:
            raise Refused(f"{name}: {key} is missing")
        try:
            given[key] = each.read(sent[key], n) if key in sent else each.default
        except ValueError as error:
            raise Refused(f"{name}: {key} must be {error}") from None
    return Message(number, wanted, given)


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


# What an argument may be -----------------------------------------------------------------------------------


def whole(low: int, high: int, default: Any = REQUIRED) -> Field:
    """A whole number."""

    def read(sent: Any, n: int) -> int:
        if type(sent) is not int or not low <= sent <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return sent

    return Field(read, default)


def number(low: float, high: float, default: Any = REQUIRED) -> Field:
    """A finite number."""
    return Field(lambda sent, n: _finite(sent, low, high), default)


def _finite(sent: Any, low: float, high: float) -> float:
    if type(sent) not in (int, float) or not low <= sent <= high or not math.isfinite(sent):
        raise ValueError(f"a number from {low:g} to {high:g}")
    return float(sent)


def place(default: Any = REQUIRED) -> Field:
    """A place in the map, or a way: two finite numbers."""

    def read(sent: Any, n: int) -> tuple[float, float]:
        if not isinstance(sent, list) or len(sent) != 2:
            raise ValueError("two numbers")
        x, y = (_finite(each, -FARTHEST, FARTHEST) for each in sent)
        return x, y

    return Field(read, default)


def flag(default: Any = REQUIRED) -> Field:
    """True or false."""

    def read(sent: Any, n: int) -> bool:
        if type(sent) is not bool:
            raise ValueError("true or false")
        return sent

    return Field(read, default)


def text(most: int, default: Any = REQUIRED) -> Field:
    """Some printable text on one line."""

    def read(sent: Any, n: int) -> str:
        if not isinstance(sent, str) or not 0 < len(sent.strip()) <= most or not sent.isprintable():
            raise ValueError(f"a line of text of up to {most} characters")
        return sent.strip()

    return Field(read, default)


def choice(*names: str, default: Any = REQUIRED) -> Field:
    """One of some words."""

    def read(sent: Any, n: int) -> str:
        if not isinstance(sent, str) or sent not in names:
            raise ValueError(f"one of {', '.join(names)}")
        return sent

    return Field(read, default)


def point() -> Field:
    """The number of a point."""
    return Field(lambda sent, n: whole(0, n - 1).read(sent, n))


def points(least: int = 1, most: int | None = None, default: Any = REQUIRED) -> Field:
    """Numbers of points, each once."""

    def read(sent: Any, n: int) -> list[int]:
        highest = n if most is None else min(most, n)
        if not isinstance(sent, list) or not least <= len(sent) <= highest:
            raise ValueError(f"a list of {least} to {highest} points")
        if not all(type(each) is int and 0 <= each < n for each in sent) or len(set(sent)) < len(sent):
            raise ValueError(f"different whole numbers from 0 to {n - 1}")
        return sent

    return Field(read, default)


def rows(most: int, columns: int) -> Field:
    """A table of finite numbers, as an array."""

    def read(sent: Any, n: int) -> Any:
        if not isinstance(sent, list) or not 0 < len(sent) <= most:
            raise ValueError(f"1 to {most} rows")
        width = len(sent[0]) if isinstance(sent[0], list) else 0
        right = all(isinstance(each, list) and len(each) == width for each in sent)
        if not right or not 0 < width <= columns:
            raise ValueError(f"rows of the same length, up to {columns} numbers each")
        if not all(type(cell) in (int, float) for each in sent for cell in each):
            raise ValueError("numbers, and nothing else")
        try:
            found = np.array(sent, dtype=np.float64)
        except OverflowError:  # whole numbers know no bound in JSON
            raise ValueError("finite numbers") from None
        if not np.all(np.isfinite(found)):
            raise ValueError("finite numbers")
        return found

    return Field(read)
