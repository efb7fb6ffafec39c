"""What a term is: something that is added to a cost and depends on the map alone."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from nearfield.io.schema import check_number
from nearfield.typing import Array

MOST = float(np.finfo(np.float64).max)  # the largest number that a file may hold
Indices = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Measure:
    """What strengths and widths are relative to, taken from the map when a term is added.

    Attributes
    ----------
    force : float
        The force that a point feels, M/N for a cost with a kernel: strengths are in units of it.
    radius : float
        R, the root of the mean squared distance from the centre: widths are in units of it.
    """

    force: float
    radius: float
    FORMER: ClassVar[dict[str, str]] = {"pull": "force"}  # names in the files of earlier versions

    @property
    def pull(self) -> float:
        """The former name of `force`."""
        warnings.warn("the pull of a measure is called force", DeprecationWarning, stacklevel=2)
        return self.force

    def check(self) -> None:
        """Refuse units that are none."""
        check_number("the force of a measure", self.force, 0, MOST)
        check_number("the radius of a measure", self.radius, 0, MOST)


class Term:
    """Value and gradient of something that depends on the map alone.

    Attributes
    ----------
    floats : bool
        Whether it stays the same if the whole map is moved. If not, the map is no longer recentred.
    live : bool
        Whether it goes along with something that moves as the map does, such as another map. It acts from the
        first iteration on, does not calm the momentum, and is never the same at two iterations.
    """

    floats: ClassVar[bool] = False
    live: ClassVar[bool] = False

    def check(self, n: int, dimensions: int) -> None:
        """Refuse what does not go with a map of n points, with one line that says why."""

    def measured(self, measure: Measure) -> Term:
        """The same term with its strength and width in the units of a map."""
        return self

    def evaluate(self, Y: Array) -> tuple[float, Indices, Array]:
        """The value at Y, the points that it touches (perhaps repeatedly), and the gradient at each."""
        raise TypeError(f"{type(self).__name__} does not define evaluate")


def shown(value: object) -> str:
    """A value in a message: on one line, and no longer than is read.

    Examples
    --------
    >>> shown(np.arange(2000.0))
    '[0.000e+00 1.000e+00 2.000e+00 ... 1.997e+03 1.998e+03 1.999e+03]'
    """
    if isinstance(value, np.ndarray):
        text = np.array2string(value, threshold=6, max_line_width=10**6)
        return text if value.ndim < 2 else f"an array of shape {value.shape}"
    return repr(value)


def positive(name: str, value: object, least: float | None = None) -> float:
    """A finite number above zero (or from `least` up) as a plain float, or one line that says so.

    Examples
    --------
    >>> positive("width", np.float32(0.5))
    0.5
    """
    right = isinstance(value, (Real, np.number)) and not isinstance(value, (bool, np.bool_))
    if not right or not (0 < value < np.inf or value == least):  # type: ignore[operator]
        kind = "a positive number" if least is None else f"a number from {least:g} up"
        raise ValueError(f"{name} must be {kind}, got {shown(value)}")
    return float(value)  # type: ignore[arg-type]


def indices_of(what: str, indices: object, n: int) -> Indices:
    """Indices of points as an array of whole numbers, or one line about what is wrong with them."""
    named = list(indices) if isinstance(indices, (list, tuple)) else [indices]
    found = np.atleast_1d(np.asarray(indices if len(named) else np.zeros(0, np.int64)))
    flags = any(isinstance(each, (bool, np.bool_)) for each in named)  # which NumPy takes for 0 and 1
    if found.shape == (0,):  # which NumPy takes for real numbers, for want of any to tell it
        return np.zeros(0, np.int64)
    if found.ndim != 1 or found.dtype.kind not in "iu" or flags:
        raise ValueError(f"{what} must be whole numbers, got {shown(indices)}")
    outside = found[(found < 0) | (found >= n)]
    if outside.size:
        raise ValueError(f"{what}: {outside[0]} is out of range, the points are 0 to {n - 1}")
    values, counts = np.unique(found, return_counts=True)
    if np.any(counts > 1):
        raise ValueError(f"{what}: {values[counts > 1][0]} is there twice")
    return found.astype(np.int64)
