"""Values as JSON and arrays, and back: what a file holds without pickle, and what reading it cannot run."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from nearfield.typing import Array


def pack(value: Any, arrays: list[Array], known: dict[str, type]) -> Any:
    """A value as JSON can hold it; arrays are appended to a list, and stand there by their number.

    Parameters
    ----------
    value : object
        Numbers, text, arrays, and lists, tuples, dicts and dataclasses of these.
    arrays : list of array
        Where copies of the arrays go.
    known : dict of type
        The dataclasses that can be read back, by name. Whatever else there is, is packed as its name alone,
        and refused when it is read.

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
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        arrays.append(value.copy())
        return {"array": len(arrays) - 1}
    if isinstance(value, (list, tuple, deque)):
        return {type(value).__name__: [pack(each, arrays, known) for each in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: pack(each, arrays, known) for key, each in value.items()}}
    if is_dataclass(value) and known.get(type(value).__name__) is type(value):
        parts = {each.name: pack(getattr(value, each.name), arrays, known) for each in fields(value)}
        return {"is": type(value).__name__, "with": parts}
    return {"unknown": type(value).__name__}


def unpack(packed: Any, arrays: Sequence[Array], known: dict[str, type]) -> Any:
    """What `pack` was given."""
    if not isinstance(packed, dict):
        return packed
    if "is" in packed:
        parts = {name: unpack(each, arrays, known) for name, each in packed["with"].items()}
        return known[packed["is"]](**parts)
    ((kind, inside),) = packed.items()
    if kind == "array":
        return arrays[inside].copy()
    if kind == "dict":
        return {key: unpack(each, arrays, known) for key, each in inside.items()}
    if kind == "unknown":
        raise TypeError(f"an object of class {inside} was in use, which a file cannot hold")
    sequence = {"list": list, "tuple": tuple, "deque": deque}[kind]
    return sequence(unpack(each, arrays, known) for each in inside)
