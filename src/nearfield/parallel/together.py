"""Processes that make one map together: what all of them have to know of the points that each one has.

A process that is alone has all points, and what it would ask the others it knows itself. Whoever computes
with some of the points asks for sums, and need not know whether there are others: see `nearfield.cluster`.

Every process adds up the same parts in the same order. So all of them have the same bits, and a decision that
goes by a sum is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from nearfield.typing import Array


class Together:
    """A process among others; one that is alone, unless a subclass knows how to reach them.

    All have to ask the same questions in the same order.

    Attributes
    ----------
    rank, size : int
        Which of them this is, counting from 0, and how many there are.
    """

    rank, size = 0, 1

    def gathered(self, values: Any) -> list[Any]:
        """What each of them has, in their order."""
        return [values]

    def exchanged(self, parts: list[Any]) -> list[Any]:
        """What each of them has for this one, in their order, for what this one has for each of them."""
        return parts

    def summed(self, values: Any) -> Any:
        """The sum of a large array over all of them, which may be put into the one that is given."""
        return values

    @contextmanager
    def sending(self, purpose: str) -> Iterator[None]:
        """Whoever counts what is sent counts it meanwhile as being for this purpose."""
        yield

    @property
    def alone(self) -> bool:
        """Whether there are no others."""
        return self.size == 1

    @property
    def leads(self) -> bool:
        """Whether this is the first: of what all know, it adds it to a sum."""
        return self.rank == 0

    def sum(self, values: Any) -> Any:
        """The sum of some numbers, or of arrays of a few, over all of them.

        Examples
        --------
        >>> ALONE.sum(2.5)
        2.5
        """
        if self.alone:
            return values
        parts = self.gathered(values)
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def least(self, values: Any) -> Any:
        """The least of all, number by number."""
        return values if self.alone else np.min(self.gathered(values), axis=0)

    def most(self, values: Any) -> Any:
        """The largest of all, number by number."""
        return values if self.alone else np.max(self.gathered(values), axis=0)

    def all_rows(self, rows: Any) -> Any:
        """The rows that all of them have, one after the other.

        Examples
        --------
        >>> ALONE.all_rows(np.zeros((3, 2))).shape
        (3, 2)
        """
        return rows if self.alone else np.concatenate(self.gathered(rows))

    def spread(self, Y: Array) -> float:
        """The standard deviation of all numbers.

        Examples
        --------
        >>> ALONE.spread(np.array([[1.0, 3.0]]))
        1.0
        """
        if self.alone:
            return float(Y.std())
        count, total = self.sum(np.array([Y.size, Y.sum()]))
        gaps = Y - total / count
        return float(np.sqrt(self.sum(float(np.sum(gaps * gaps))) / count))

    def share(self, count: int, n: int) -> int:
        """How many of a sample of so many points fall to this process, which has n of them.

        Examples
        --------
        >>> ALONE.share(500, 100), ALONE.share(500, 1000)
        (100, 500)
        """
        return min(n, count) if self.alone else min(n, max(1, round(count * n / self.sum(n))))


ALONE = Together()
