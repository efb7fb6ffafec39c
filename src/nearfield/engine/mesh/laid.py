"""Potentials that are laid on a grid once, without a cutoff, and read off at any place within it."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.engine.mesh.field import Field, solid
from nearfield.engine.mesh.grids import nodes_of, spacing_of
from nearfield.engine.mesh.laid_loops import read
from nearfield.typing import Array

ACCURACY = 1e-3  # of the force, where the nodes are affordable
# Of the width: a wider spacing has lost the kernel's shape. So wide a map is sparse, and few points are near:
# of 60 000 digits, 1550 widths across, rows come to rest .015 widths (the median; .09 of nine in ten) from
# where sums bring them at a spacing of .57, and .06 (1.2) at .76.
COARSEST = 1.0
NODES = 2**25  # at the most
MARGIN = 4.0  # widths around the map, that points may be placed in


class _Once(Field):
    """A field that is laid over one map, with a margin around it and with no near sums."""

    def _extent(self, Y: Any) -> tuple[Any, Any]:
        low, high = super()._extent(Y)
        margin = np.float32(MARGIN * self.width)
        return low - margin, high + margin

    def _choose(self, Y: Any, low: Any, high: Any) -> tuple[float, float]:
        spacing = spacing_of(0.0, self.width, self.accuracy)
        while np.prod(np.array(nodes_of((high - low) / spacing), dtype=np.float64)) > NODES:
            spacing *= 1.1
        return 0.0, spacing


class Laid:
    """Potentials on one grid.

    Attributes
    ----------
    grids : array (potentials, …)
        Splines' coefficients at the nodes, of three axes.
    levels : array (potentials,)
        What every place has of each beside them.
    """

    def __init__(self, field: Field, grids: Any, levels: Array) -> None:
        self.grids, self.levels = grids, levels
        self.origin, self.spacing = field._origin.astype(np.float64), float(field.spacing)

    @classmethod
    def of(cls, Y: Array, radials: Any, potentials: Any, n_jobs: int | None) -> Laid | None:
        """The grid of some potentials; None if there are too many dimensions, or too much room."""
        if Y.shape[1] > 3:
            return None
        width = min(_width(radial) for radial in radials)
        field = _Once(width, ACCURACY, n_jobs)
        for k, radial in enumerate(radials):
            field.know(k, radial)
        field.lay(np.ascontiguousarray(Y, dtype=np.float32))
        if field.spacing > COARSEST * width:
            return None
        grids, levels = [], []
        for potential in potentials:
            parts = [(factor, field.charge(charges, []), k) for factor, charges, k in potential]
            grids.append(solid_of(field.potential(*parts)))
            levels.append(sum(factor * charges.total * field._floor(k) for factor, charges, k in parts))
        return cls(field, np.array(grids), np.array(levels))

    def covers(self, y: Array) -> Any:
        """Which places lie within the grid."""
        cells = (y - self.origin) / self.spacing
        shape = np.array(self.grids.shape[1:])[3 - y.shape[1] :]
        return ((cells >= 0) & (cells < shape - 4)).all(axis=1)

    def at(self, y: Array) -> tuple[Array, Array]:
        """Potentials and gradients at some places."""
        value = np.empty((len(y), len(self.grids)))
        gradient = np.empty((*value.shape, y.shape[1]))
        arguments = (y, self.origin, 1 / self.spacing, self.grids, self.levels, value, gradient)
        read(0, len(y), *arguments)
        return value, gradient


def _width(radial: Any) -> float:
    """The distance at which a function has fallen to half."""
    s = np.geomspace(1e-12, 1e12, 2401)
    values, top = np.abs(radial(s)), np.abs(radial(np.zeros(1)))[0]
    below = np.flatnonzero(values <= 0.5 * top)
    return float(np.sqrt(s[below[0]])) if len(below) else float(np.sqrt(s[-1]))


def solid_of(grid: Any) -> Any:
    """A grid of three axes."""
    return np.ascontiguousarray(grid.reshape(solid(grid.shape)))
