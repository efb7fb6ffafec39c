"""Points of other processes that are near in the map, as near sums ask for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.parallel.together import Together


class Strangers:
    """Those within reach of the own points, cell by cell: everyone says in which cells points would matter.

    Parameters
    ----------
    Y : array of float32 (points, dimensions)
        The own points.
    low, per_cell : array, float32
        Where cells begin, and how many there are in a unit.
    shape : tuple of int
        Cells along each axis.
    together : Together
        Those who have the points.
    """

    def __init__(self, Y: Any, low: Any, per_cell: Any, shape: Any, together: Together) -> None:
        self.together, shape = together, tuple(int(each) for each in shape)
        cells = np.ravel_multi_index(tuple(((Y - low) * per_cell).astype(np.int64).T), shape)
        reached = np.zeros(shape, bool)
        reached.ravel()[cells] = True
        for axis in range(len(shape)):  # a cell further every way
            along = np.moveaxis(reached, axis, 0)
            before = along.copy()
            along[1:] |= before[:-1]
            along[:-1] |= before[1:]
        wanted = together.gathered(np.packbits(reached))
        self._sent = [np.flatnonzero(np.unpackbits(each, count=reached.size)[cells]) for each in wanted]
        self._sent[together.rank] = self._sent[together.rank][:0]

    def among(self, values: Any) -> Any:
        """Values of the own points, and those of the strangers after them."""
        return np.concatenate([values, *self.together.exchanged([values[rows] for rows in self._sent])])
