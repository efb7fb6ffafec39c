"""The potentials of a finished map, as a point that is new in it feels them.

A potential is a sum of radial functions over all points of the map, with charges: the kernel w, and the
integrals H(w) of the limit terms that are not constant. They are laid on a grid once and read off anywhere
within it. Beyond the grid, and where none can be had, they are summed up, point by point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.algebra.costs.base import LimitTerm
from nearfield.algebra.method import Method
from nearfield.engine.mesh.laid import Laid
from nearfield.typing import Array

BLOCK = 2**20  # pairs at a time where they are summed up
FEWEST = 2000  # points, up to which sums are as good as a grid


@dataclass(frozen=True)
class Radial:
    """The function w of the squared distance, or H(w) of a term of the limit, and its derivative."""

    method: Method
    term: LimitTerm | None = None

    def __call__(self, s: Any) -> Any:
        """At squared distances."""
        f, _ = self.method.transform.of_square(s)
        w = self.method.require_kernel().profile.value(f)
        return w if self.term is None else self.term.integral(w)

    def slope(self, s: Any) -> Any:
        """The derivative in the squared distance."""
        kernel = self.method.require_kernel().profile
        f, rate = self.method.transform.of_square(s)
        w = kernel.value(f)
        slope = w * kernel.log_derivative(f) * rate
        return slope if self.term is None else slope * self.term.slope(w)


# A potential: factors times charges (None: ones) seen through radial functions, by their number.
Potential = tuple[tuple[float, Array | None, int], ...]


class Surroundings:
    """Some potentials of the points of a map.

    Parameters
    ----------
    Y : array (points, dimensions)
        The map.
    radials : list of Radial
        The functions.
    potentials : list of Potential
        What is to be known.
    gridded : bool
        Whether a grid may stand for them.
    """

    def __init__(
        self,
        Y: Array,
        radials: list[Radial],
        potentials: list[Potential],
        *,
        gridded: bool,
        n_jobs: int | None = None,
    ) -> None:
        self.Y, self.radials, self.potentials = Y, radials, potentials
        self.grids = Laid.of(Y, radials, potentials, n_jobs) if gridded and len(Y) > FEWEST else None

    def at(self, y: Array) -> tuple[Array, Array]:
        """The potentials (rows, potentials) at some places, and their gradients (…, dimensions).

        In the thread that asks: whoever places many rows has some of them in each.
        """
        value = np.empty((len(y), len(self.potentials)))
        gradient = np.empty((*value.shape, y.shape[1]))
        if self.grids is None:
            beyond = np.arange(len(y))
        else:
            inside = self.grids.covers(y)
            value[inside], gradient[inside] = self.grids.at(y[inside])
            beyond = np.flatnonzero(~inside)
        if len(beyond):
            rows = max(1, BLOCK // len(self.Y))
            for lo in range(0, len(beyond), rows):
                part = beyond[lo : lo + rows]
                value[part], gradient[part] = self._sums(y[part])
        return value, gradient

    def _sums(self, y: Array) -> tuple[Array, Array]:
        """The same, point by point."""
        gaps = y[:, None, :] - self.Y
        s = squares(gaps)
        values = [radial(s) for radial in self.radials]
        slopes = [radial.slope(s) for radial in self.radials]
        value = np.zeros((len(y), len(self.potentials)))
        gradient = np.zeros((*value.shape, y.shape[1]))
        for at, potential in enumerate(self.potentials):
            for factor, charges, k in potential:
                charge = factor if charges is None else factor * charges
                value[:, at] += (charge * values[k]).sum(axis=1)
                pull = 2 * charge * slopes[k]
                for c in range(y.shape[1]):
                    gradient[:, at, c] += (pull * gaps[..., c]).sum(axis=1)
        return value, gradient


def squares(gaps: Any) -> Any:
    """Squared lengths, added up axis by axis: the same whatever else is in the array."""
    total = gaps[..., 0] * gaps[..., 0]
    for c in range(1, gaps.shape[-1]):
        total = total + gaps[..., c] * gaps[..., c]
    return total
