"""Rows placed in a finished map some at a time, however many they are and wherever they come from."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nearfield.affinity.mixed import MixedFitted
from nearfield.checks import finite, numbers
from nearfield.descent.placing import Placed, Reference
from nearfield.descent.preparing import Preparation
from nearfield.engine.memory import available_memory, size
from nearfield.io.chunked import Chunked
from nearfield.io.dasked import DaskRows, mapped, mapped_frame
from nearfield.typing import Array

SEARCHED = 8  # bytes of each number that is kept for the search, and in lists for that of new rows
LEAST = 1000  # landmarks that are proposed


@dataclass(frozen=True)
class Placing:
    """All that it takes to place rows as a table has them: what a fitted model sends to other processes.

    Attributes
    ----------
    reference : Reference
        What places prepared rows.
    preparation : Preparation or None
        How they are prepared.
    width : int
        Their columns, before that.
    names : tuple of str or None
        What these are called, if that is known.
    """

    reference: Reference
    preparation: Preparation | None
    width: int
    names: tuple[str, ...] | None

    def check(self, rows: Chunked) -> Chunked:
        """Refuse rows that none of the map's can be compared with."""
        fitted = self.reference.fitted
        if isinstance(fitted, MixedFitted) or fitted.precomputed or fitted.affinities:
            raise ValueError(
                "rows are placed some at a time by coordinates of one view: pass distances, affinities and"
                " mixes as arrays"
            )
        if rows.shape[1] != self.width:
            raise ValueError(f"{rows.what} has {rows.shape[1]} columns, and the map was made of {self.width}")
        if self.names is not None and rows.names is not None and rows.names != self.names:
            odd = next(pair for pair in zip(rows.names, self.names, strict=True) if pair[0] != pair[1])
            raise ValueError(f"{rows.what} has a column {odd[0]!r} where the map was made of {odd[1]!r}")
        return rows

    def transform(self, block: Array) -> Array:
        """The places of some rows, which have been looked at."""
        return self.reference.transform(self._prepared(block))[0]

    def place(self, block: Array) -> Placed:
        """The same with neighbours, cost and novelty."""
        return self.reference.place(self._prepared(block))

    def transform_rows(self, rows: Chunked, told: Callable[[int], None] | None = None) -> Any:
        """The places of all rows; of those of Dask a lazy array, in their chunks.

        `told` is called with how many have been placed.
        """
        self.check(rows)
        if isinstance(rows, DaskRows):
            return mapped(rows.array, self.on_one_thread(), self.dimensions)
        Y = np.empty((len(rows), self.dimensions))
        for first, block in rows.blocks():
            Y[first : first + block.shape[0]] = self.transform(block)
            if told is not None:
                told(first + block.shape[0])
        return Y

    def transform_frame(self, frame: Any) -> Any:
        """The places of the rows of a data frame of Dask, as a lazy one with their index."""
        return mapped_frame(frame, self.on_one_thread(), self.dimensions, self.names)

    def place_rows(self, rows: Chunked) -> Placed:
        """The places of all rows, with neighbours, cost and novelty."""
        return joined([self.place(np.empty((0, self.width))), *self._placed(rows)])

    def of_chunk(self, block: Any, first: int = 0) -> Array:
        """The places of rows that nobody has looked at yet."""
        rows = np.ascontiguousarray(numbers(np.asarray(block)), dtype=np.float64)
        finite(rows, self.names, first=first)
        return self.transform(rows)

    def on_one_thread(self) -> Placing:
        """The same for a process in which others work beside it."""
        fitted, held = self.reference.fitted, self.reference.held
        return replace(self, reference=replace(self.reference, fitted=_single(fitted), held=_single(held)))

    @property
    def dimensions(self) -> int:
        """Of the map."""
        return self.reference.held.Y.shape[1]

    def _placed(self, rows: Chunked) -> Iterator[Placed]:
        for _, block in self.check(rows).blocks():
            yield self.place(block)

    def _prepared(self, block: Any) -> Any:
        return block if self.preparation is None else self.preparation.rows(block)


def all_rows(rows: Chunked) -> Any:
    """All rows, for a map of all of them: mapped as they are, or held; refused if there is no room."""
    stored = 0 if rows.mapped is not None else rows.dtype.itemsize
    need, free = (stored + SEARCHED) * rows.shape[0] * rows.shape[1], available_memory()
    if free is not None and need > free:
        raise MemoryError(
            f"a map of all rows of {rows.what} holds {size(need)} of them, and {size(free)} are free: make it"
            f" of some and place the others, landmarks={max(LEAST, rows.shape[0] // 20)}"
        )
    return rows.all()


def joined(parts: list[Placed]) -> Placed:
    """Rows that were placed in several parts."""
    return Placed(*(np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])))


def _single(part: Any) -> Any:
    """A copy that works on one thread."""
    found = copy.copy(part)
    if "n_jobs" in vars(found):
        vars(found)["n_jobs"] = 1
    return found
