"""Tables in which every number takes one byte: that of the nearest of 256 levels of its column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.io.schema import LARGEST, check_array
from nearfield.typing import Array

LEVELS = 256


@dataclass(frozen=True, eq=False)
class Levels:
    """A table in bytes.

    A column with up to 256 different numbers is kept as it is; any other is rounded to 256 numbers at equal
    steps from its lowest to its highest.

    Attributes
    ----------
    codes : array of uint8 (rows, columns)
        The level of each number.
    levels : array (256, columns)
        The levels of each column, from the lowest up.

    Examples
    --------
    >>> table = np.random.default_rng(0).normal(size=(1000, 3))
    >>> kept = Levels.of(table)
    >>> kept.codes.nbytes, bool(np.abs(kept.table() - table).max() < 0.02)
    (3000, True)
    >>> whole = np.arange(200.0)[:, None] % 7
    >>> np.array_equal(Levels.of(whole).table(), whole)
    True
    """

    codes: Any
    levels: Any

    @classmethod
    def of(cls, table: Array) -> Levels:
        """The bytes of a table of float32 or float64."""
        codes = np.empty(table.shape, np.uint8)
        levels = np.empty((LEVELS, table.shape[1]), table.dtype)
        for j, column in enumerate(table.T):
            different = np.unique(column)
            if len(different) > LEVELS:
                different = np.linspace(different[0], different[-1], LEVELS, dtype=table.dtype)
            levels[:, j] = different[-1]  # the levels that are not needed are the highest
            levels[: len(different), j] = different
            middles = different[:-1] + (different[1:] - different[:-1]) / 2
            codes[:, j] = np.searchsorted(middles, column, side="right")
        return cls(codes, levels)

    def check(self, name: str) -> None:
        """Refuse what is no such table."""
        check_array(f"the codes of {name}", self.codes, (None, None), np.uint8, low=0, high=LEVELS - 1)
        single = isinstance(self.levels, np.ndarray) and self.levels.dtype == np.float32
        dtype, most = (np.float32, 1e38) if single else (np.float64, LARGEST)
        shape = (LEVELS, self.codes.shape[1])
        check_array(f"the levels of {name}", self.levels, shape, dtype, low=-most, high=most)

    def table(self) -> Array:
        """The numbers that the bytes stand for."""
        found = np.empty(self.codes.shape, self.levels.dtype)
        for j in range(found.shape[1]):
            found[:, j] = self.levels[:, j][self.codes[:, j]]
        return found
