"""The log: what a person did, and when. Doing it again from the start gives the same map, bit for bit."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from nearfield.io.schema import LONGEST, check_number, in_a_line


@dataclass(frozen=True)
class Entry:
    """One command.

    Attributes
    ----------
    iteration : int
        How many iterations had been made.
    command : str
        The name of the method of `Run`.
    arguments : dict
        What it was given.

    Examples
    --------
    >>> print(Entry(500, "settle", {"n": 250}))
    500: settle(n=250)
    """

    iteration: int
    command: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.iteration}: {self.command}({given})"


def check_log(log: Iterable[Entry], commands: Collection[str]) -> None:
    """Refuse a log that no run can have written: a file must not call whatever it names.

    Examples
    --------
    >>> check_log([Entry(0, "pin"), Entry(0, "undo"), Entry(0, "undo")], ("pin", "undo", "redo"))
    Traceback (most recent call last):
    ...
    ValueError: the log has an undo of nothing
    """
    done = undone = 0
    for entry in log:
        if entry.command not in commands:
            raise ValueError(f"the log holds {in_a_line(entry.command, 40)!r}, which is no command of a run")
        check_number("the iteration of a command", entry.iteration, 0, LONGEST, int)
        if entry.command == "undo":
            done, undone = done - 1, undone + 1
        elif entry.command == "redo":
            done, undone = done + 1, undone - 1
        else:
            done, undone = done + 1, 0
        if min(done, undone) < 0:
            raise ValueError(f"the log has an {entry.command} of nothing")


def in_effect(log: Iterable[Entry]) -> list[Entry]:
    """The commands of a log that were not undone, or were done again.

    Examples
    --------
    >>> log = [Entry(10, "pin"), Entry(20, "undo"), Entry(15, "settle")]
    >>> [entry.command for entry in in_effect(log)]
    ['settle']
    """
    done: list[Entry] = []
    undone: list[Entry] = []
    for entry in log:
        if entry.command == "undo":
            undone.append(done.pop())
        elif entry.command == "redo":
            done.append(undone.pop())
        else:
            done.append(entry)
            undone.clear()
    return done
