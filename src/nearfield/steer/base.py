"""What a term is: something that is added to a cost and depends on the map alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearfield.algebra.parts import Array

Indices = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Measure:
    """What strengths and widths are relative to, taken from the map when a term is added.

    Attributes
    ----------
    pull : float
        The force that a point feels, M/N for a cost with a kernel: strengths are in units of it.
    radius : float
        R, the root of the mean squared distance from the centre: widths are in units of it.
    """

    pull: float
    radius: float


class Term:
    """Value and gradient of something that depends on the map alone.

    Attributes
    ----------
    floats : bool
        Whether it stays the same if the whole map is moved. If not, the map is no longer recentred.
    """

    floats: ClassVar[bool] = False

    def check(self, n: int, dimensions: int) -> None:
        """Refuse what does not go with a map of n points, with one line that says why."""

    def measured(self, measure: Measure) -> Term:
        """The same term with its strength and width in the units of a map."""
        return self

    def evaluate(self, Y: Array) -> tuple[float, Indices, Array]:
        """The value at Y, the points that it touches (perhaps repeatedly), and the gradient at each."""
        raise TypeError(f"{type(self).__name__} does not define evaluate")


def indices_of(what: str, indices: object, n: int) -> Indices:
    """Indices of points as an array of whole numbers, or one line about what is wrong with them."""
    found = np.atleast_1d(np.asarray(indices))
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise ValueError(f"{what} must be whole numbers, got {indices!r}")
    outside = found[(found < 0) | (found >= n)]
    if outside.size:
        raise ValueError(f"{what}: {outside[0]} is out of range, the points are 0 to {n - 1}")
    values, counts = np.unique(found, return_counts=True)
    if np.any(counts > 1):
        raise ValueError(f"{what}: {values[counts > 1][0]} is there twice")
    return found.astype(np.int64)
