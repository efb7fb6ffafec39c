"""What a value from a file has to be before anything is done with it: its kind, its size, its range."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

LARGEST = 1e150  # of a coordinate: its square is still a float64
LONGEST = 10**9  # of a run, in iterations


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of the kind that an annotation names.

    Examples
    --------
    >>> fits(3, float), fits(True, float), fits((0, 250), tuple[int, int] | None)
    (True, False, True)
    >>> from nearfield.typing import Array
    >>> fits(np.ones(3), Array), fits(np.arange(3), Array)
    (True, False)
    """
    if kind is Any:
        return True
    if kind in (int, float):
        plain = isinstance(value, int if kind is int else (int, float))
        return plain and not isinstance(value, bool)
    origin, of = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in of)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype == get_args(of[1])[0]
    if origin is tuple and of[-1] is not Ellipsis:
        same = isinstance(value, tuple) and len(value) == len(of)
        return same and all(map(fits, value, of))
    if origin in (tuple, list, deque):
        return isinstance(value, origin) and all(fits(each, of[0]) for each in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            fits(name, of[0]) and fits(each, of[1]) for name, each in value.items()
        )
    return isinstance(value, NoneType if kind is None else kind)


def check_array(
    name: str,
    value: Any,
    shape: Sequence[int | None],
    dtype: Any = np.float64,
    *,
    low: float = -LARGEST,
    high: float = LARGEST,
) -> None:
    """Refuse an array of another kind or shape (None is any length), or with numbers out of a range.

    Examples
    --------
    >>> check_array("gains", np.ones(1), (80,))
    Traceback (most recent call last):
    ...
    ValueError: gains must be an array of float64 of shape (80,), got float64 of shape (1,)
    """
    sizes = ", ".join("any" if size is None else str(size) for size in shape)
    asked = f"{name} must be an array of {np.dtype(dtype).name} of shape ({sizes}{',' * (len(shape) == 1)})"
    if not isinstance(value, np.ndarray):
        raise ValueError(f"{asked}, got {type(value).__name__}")
    same = value.ndim == len(shape) and all(
        size in (None, found) for size, found in zip(shape, value.shape, strict=True)
    )
    if value.dtype != dtype or not same:
        raise ValueError(f"{asked}, got {value.dtype.name} of shape {value.shape}")
    if not np.all((value >= low) & (value <= high)):  # which NaN is not either
        raise ValueError(f"{name} must hold numbers from {low:g} to {high:g}, and holds others")


def check_number(name: str, value: Any, low: float, high: float, kind: type = float) -> None:
    """Refuse what is no number, or out of a range.

    Examples
    --------
    >>> check_number("iteration", -1, 0, LONGEST, int)
    Traceback (most recent call last):
    ...
    ValueError: iteration must be a whole number from 0 to 1e+09, got -1
    """
    if not fits(value, kind) or not low <= value <= high:
        whole = "whole number" if kind is int else "number"
        raise ValueError(
            f"{name} must be a {whole} from {low:g} to {high:g}, got {in_a_line(repr(value), 40)}"
        )


def check_indices(name: str, value: Any, n: int, *, once: bool = False) -> None:
    """Refuse what are no indices of n points, or the same ones twice.

    Examples
    --------
    >>> check_indices("held", np.array([3, 4]), 5, once=True)
    """
    check_array(name, value, (None,), np.int64, low=0, high=n - 1)
    if once and len(np.unique(value)) < len(value):
        raise ValueError(f"{name} names a point twice")


def in_a_line(told: object, longest: int = 200) -> str:
    r"""What a file says, as it can stand in a message: on one line, and no longer than is read.

    Examples
    --------
    >>> in_a_line("first\nsecond", 10)
    'first s...'
    """
    text = " ".join(str(told).split())
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
