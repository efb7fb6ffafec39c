"""Narrow bells: what a point sees of those close by, without a grid, and in logarithms.

In a map of many scales the finest kernels are thousands of times narrower than the map. Most points then have
nobody within a width, and S would underflow; but q does not, for it is relative to the nearest. So the sums
of narrow scales are taken directly over the points in the cells around, whose nearest one sets the level. A
wide scale, which has a grid, leaves to them those points alone whose S is lost in the error of its field.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from nearfield.engine.mesh import field_loops
from nearfield.engine.mesh import narrow_loops as loops
from nearfield.engine.mesh.grids import NODE, PAIR, POINT
from nearfield.parallel import chunks, over_chunks

REACH = 4.0  # in units of β^-½: where a bell has fallen to 1e-7
CELLS = 4  # of the grid that points are sorted into, for each point at most
GRID = 2.5  # widths of a kernel to a node of its grid, and twice that along every axis: what is saved


@dataclass(frozen=True)
class Levels:
    """What weights are divided by: S = exp(logs - β nearest), row by row or in one row, and scale by scale.

    Attributes
    ----------
    nearest : array of float32 (rows, scales)
        The squared distance that weights are relative to; 0 where they are as they are.
    logs : array of float32 (rows, scales)
        The logarithm of the sum of these.
    """

    nearest: Any
    logs: Any

    @classmethod
    def of(cls, rows: int, scales: int) -> Levels:
        """Levels that are still to be written."""
        return cls(np.zeros((rows, scales), np.float32), np.zeros((rows, scales), np.float32))


class Narrow:
    """The points of a map in cells, and sums over those that are close.

    Parameters
    ----------
    Y : array of float32 (points, dimensions)
        The map.
    beta : array
        The precisions of the scales.
    bells : bool
        Whether kernels vanish soon, so that narrow ones need no grid; otherwise no scale is narrow.
    """

    def __init__(self, Y: Any, beta: Any, bells: bool, n_jobs: int | None = None) -> None:
        self.n, self.dimensions = Y.shape
        self.n_jobs = n_jobs
        self.beta = np.ascontiguousarray(beta, dtype=np.float32)
        low, high = np.empty(self.dimensions, np.float32), np.empty(self.dimensions, np.float32)
        field_loops.extent(Y, low, high)
        span = np.maximum(high - low, 1e-30).astype(np.float64)
        least = (float(np.prod(span)) / (CELLS * self.n)) ** (1 / self.dimensions)
        least = max(least, float(span.max()) / 2**20)
        self.narrow = np.zeros(len(self.beta), dtype=bool)
        self.width = least
        for u in np.argsort(-self.beta) if bells else ():  # the narrowest first
            width = max(least, REACH / float(self.beta[u]) ** 0.5)
            if self._pairs(Y, low, width) * PAIR + POINT * self.n > self._grid(span, float(self.beta[u])):
                break
            self.narrow[u], self.width = True, width
        self._sort(Y, low, high)

    def _pairs(self, Y: Any, low: Any, width: float) -> float:
        """How many pairs are in cells of this width that touch, judged by the crowd in each."""
        cells, key = 1, np.zeros(self.n, np.int64)
        for c in range(self.dimensions):
            along = ((Y[:, c] - low[c]) / np.float32(width)).astype(np.int64)
            cells, key = cells * (int(along.max()) + 1), key * (int(along.max()) + 1) + along
        crowd = np.bincount(key, minlength=cells).astype(np.float64)
        return float(3.0**self.dimensions * np.sum(crowd**2))

    def _grid(self, span: Any, beta: float) -> float:
        """What a field costs for this precision."""
        nodes = np.prod(np.maximum(2 * span / (GRID * beta**-0.5), 40.0))
        return float(NODE * nodes) + 2 * POINT * self.n

    def _sort(self, Y: Any, low: Any, high: Any) -> None:
        per_cell = np.float32(1 / self.width)
        shape = ((high - low) * per_cell).astype(np.int64) + 1
        self.starts = np.empty(int(np.prod(shape)) + 1, np.int64)
        self.order, cells = np.empty(self.n, np.int64), np.empty(self.n, np.int64)
        self.Yt = np.empty((self.dimensions, self.n), np.float32)
        sorted_ones = (self.order, np.empty_like(Y), self.Yt)
        field_loops.sort_into_cells(Y, low, per_cell, shape, cells, self.starts, *sorted_ones)
        cuts = np.searchsorted(self.starts, [lo for lo, _ in chunks(self.n)[1:]])
        self.bands = list(pairwise([0, *np.unique(cuts).tolist(), len(self.starts) - 1]))
        self.shape = np.array((1,) * (3 - self.dimensions) + tuple(shape))

    @property
    def _cells(self) -> tuple[Any, ...]:
        return (0,) * self.dimensions, self.Yt, self.starts, self.shape, np.float32(self.width), self.beta

    def sums(self, where: Any, levels: Levels) -> None:
        """Write the S_iu of the points and scales where they are wanted (points, scales) to the levels."""
        active = np.ascontiguousarray(where[self.order])
        nearest, logs = np.zeros(active.shape, np.float32), np.zeros(active.shape, np.float32)
        over_chunks(loops.logarithms, self.bands, *self._cells, active, nearest, logs, n_jobs=self.n_jobs)
        if len(levels.logs) == self.n:
            for kept, found in ((levels.nearest, nearest), (levels.logs, logs)):
                back = np.empty_like(found)
                back[self.order] = found
                np.copyto(kept, back, where=where)
            return
        for u in np.flatnonzero(active.all(axis=0)):  # one sum over all points
            least = nearest[:, u].min()
            parts = logs[:, u] - self.beta[u] * (nearest[:, u] - least).astype(np.float64)
            levels.nearest[0, u], levels.logs[0, u] = least, np.logaddexp.reduce(parts)

    def springs(self, where: Any, levels: Levels, strength: Any) -> Any:
        """The forces of the springs strength_iu β q_iju between points, at the scales where they are wanted.

        Levels and strength have a row for each point, or one for all.
        """

        def sorted_by_cell(values: Any) -> Any:
            return np.ascontiguousarray(values if len(values) == 1 else values[self.order])

        tables = (where, levels.nearest, levels.logs, strength)
        arguments = (*self._cells, *map(sorted_by_cell, tables))

        def some(lo: int, hi: int) -> Any:
            gradient = np.zeros_like(self.Yt)
            loops.springs(lo, hi, *arguments, gradient)
            return gradient

        parts = over_chunks(some, self.bands, n_jobs=self.n_jobs)
        total = parts[0]
        for part in parts[1:]:
            total += part
        back = np.empty((self.n, self.dimensions), np.float32)
        back[self.order] = total.T
        return back
