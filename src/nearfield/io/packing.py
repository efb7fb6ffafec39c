"""Values as JSON and arrays, and back: what a file holds without pickle, and what reading it cannot run.

No class is known here. Whoever packs and unpacks says which ones may be read, by name; a file can make
nothing else. The annotations of a dataclass are what its fields have to be, and are checked before it is
made; whether sizes and numbers fit each other, the classes know themselves (`check`).

| in JSON | stands for |
| --- | --- |
| null, true, 3, 0.5, "text" | itself |
| {"array": 0} | the first of the arrays; each is there for one place |
| {"list": […]}, {"tuple": […]}, {"deque": […]}, {"dict": {…}} | one of these |
| {"items": [[3, …], …]} | a dict whose keys are plain values and not all of them text |
| {"is": "Name", "with": {…}} | an object of a class that may be read, and what it is made with |
| {"unknown": "Name"} | something that a file cannot hold |
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_type_hints

import numpy as np

from nearfield.io.schema import fits, in_a_line
from nearfield.typing import Array

DEPTH = 40  # of what is nested: a session needs a dozen
WHOLE = 2**63  # below which whole numbers are
SEQUENCES = {"list": list, "tuple": tuple, "deque": deque}
# What making an object may end in, if it is given what it cannot be made of.
UNFIT = (TypeError, ValueError, AttributeError, ArithmeticError, LookupError)


def pack(value: Any, arrays: list[Array], known: Mapping[str, type]) -> Any:
    """A value as JSON can hold it; arrays are appended to a list, and stand there by their number.

    Parameters
    ----------
    value : object
        Numbers, text, arrays, and lists, tuples, deques, dicts and known objects of these.
    arrays : list of array
        Where copies of the arrays go.
    known : dict of type
        The classes that can be read back, by name: dataclasses, or such as have a method `_arguments` for
        what they are made with. Whatever else there is, is packed as its name alone, and refused when read.

    Examples
    --------
    >>> arrays = []
    >>> packed = pack({"at": (np.arange(2), 0.5)}, arrays, {})
    >>> packed
    {'dict': {'at': {'tuple': [{'array': 0}, 0.5]}}}
    >>> unpack(packed, arrays, {})
    {'at': (array([0, 1]), 0.5)}
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays.append(value.copy())
        return {"array": len(arrays) - 1}
    if type(value) in SEQUENCES.values():
        return {type(value).__name__: [pack(each, arrays, known) for each in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: pack(each, arrays, known) for key, each in value.items()}}
    if isinstance(value, dict) and all(isinstance(key, (str, int, float, np.number)) for key in value):
        return {
            "items": [[pack(key, arrays, known), pack(each, arrays, known)] for key, each in value.items()]
        }
    name = next((name for name, kind in known.items() if kind is type(value)), None)
    if name is None:
        return {"unknown": type(value).__name__}
    return {
        "is": name,
        "with": {key: pack(each, arrays, known) for key, each in _made_with(value).items()},
    }


def unpack(packed: Any, arrays: Sequence[Array], known: Mapping[str, type]) -> Any:
    """What `pack` was given.

    Raises
    ------
    ValueError
        With one line, if that is not what `pack` writes, or does not fit the classes that are known.
    """
    return _Reader(arrays, known).read(packed, 0)


def is_unknown(packed: Any) -> bool:
    """Whether something that a file cannot hold is part of what was packed.

    Examples
    --------
    >>> is_unknown(pack([1, {"by": print}], [], {}))
    True
    """
    if not isinstance(packed, (dict, list)):
        return False
    inside = packed.values() if isinstance(packed, dict) else packed
    return (isinstance(packed, dict) and packed.keys() == {"unknown"}) or any(map(is_unknown, inside))


class _Reader:
    """Makes values of JSON, and hands out each array once: many copies of a large one are a trap."""

    def __init__(self, arrays: Sequence[Array], known: Mapping[str, type]) -> None:
        self.left, self.known = dict(enumerate(arrays)), known

    def read(self, packed: Any, depth: int) -> Any:
        if depth > DEPTH:
            raise ValueError(f"it is nested more than {DEPTH} deep")
        if not isinstance(packed, dict):
            return plain(packed)
        if packed.keys() == {"is", "with"}:
            return self._object(packed["is"], self._dict(packed["with"], depth))
        if len(packed) != 1:
            raise ValueError(f"a value is of one kind, and this one of {len(packed)}")
        ((kind, inside),) = packed.items()
        if kind == "value":  # as formats before the third wrote the plain ones of a composition
            return plain(inside)
        if kind == "array":
            return self._array(inside)
        if kind == "dict":
            return self._dict(inside, depth)
        if kind == "items" and fits(inside, list[list]) and all(len(each) == 2 for each in inside):
            return {plain(key): self.read(each, depth + 1) for key, each in inside}
        if kind in SEQUENCES and isinstance(inside, list):
            return SEQUENCES[kind](self.read(each, depth + 1) for each in inside)
        if kind == "unknown":
            raise ValueError(
                f"an object of class {in_a_line(inside, 40)} was in use, which a file cannot hold"
            )
        raise ValueError(f"there is no kind of value that is called {in_a_line(kind, 40)!r}")

    def _array(self, number: Any) -> Array:
        if not fits(number, int) or number not in self.left:
            raise ValueError("an array is missing, or named twice")
        return self.left.pop(number).copy()

    def _dict(self, inside: Any, depth: int) -> dict[str, Any]:
        if not isinstance(inside, dict):
            raise ValueError(f"names and values are needed, and there is {type(inside).__name__}")
        return {key: self.read(each, depth + 1) for key, each in inside.items()}

    def _object(self, name: Any, parts: dict[str, Any]) -> Any:
        if not isinstance(name, str) or name not in self.known:
            raise ValueError(f"nearfield has no part that is called {in_a_line(name, 40)!r}")
        kinds = _kinds(self.known[name])
        former = getattr(self.known[name], "FORMER", {})
        parts = {former.get(key, key): value for key, value in parts.items()}
        for key, value in parts.items():
            if key in kinds and not fits(value, kinds[key]):
                raise ValueError(f"{in_a_line(key, 40)} of {name} cannot be of the kind that it is")
        try:
            return self.known[name](**parts)
        except UNFIT as error:
            raise ValueError(f"{name} cannot be made of what is there: {error}") from error


def plain(value: Any) -> Any:
    """A number, text, truth value or None, or a refusal of whatever else JSON holds."""
    if isinstance(value, int) and abs(value) >= WHOLE:
        raise ValueError("a whole number is too large")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"a plain value is needed, and there is {type(value).__name__}")


def _made_with(value: Any) -> dict[str, Any]:
    if hasattr(value, "_arguments"):
        return value._arguments()
    return {each.name: getattr(value, each.name) for each in fields(value)}


@cache
def _kinds(kind: type) -> dict[str, Any]:
    """What the fields of a dataclass are annotated to be."""
    if not is_dataclass(kind):
        return {}
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}
