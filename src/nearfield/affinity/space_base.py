"""What can be asked of data as a space to search in, whatever they are."""

from __future__ import annotations

from typing import Any

Found = tuple[Any, Any, float, str]  # indices, squared distances, the recall, and how they were found


class Space:
    """What every kind has.

    Attributes
    ----------
    n : int
        The points.
    unit : float
        What distances are to be multiplied by to be those of the data: float32 cannot square all numbers.
    """

    n: int
    unit = 1.0

    def nearest(self, k: int, n_jobs: int | None = None, queries: Any = None, members: Any = None) -> Found:
        """The k nearest among some points, nearest first, of some points; by default of all among all.

        No point is its own neighbour. Where there are fewer than k, an entry at the end is at infinity.
        """
        raise TypeError(f"{type(self).__name__} does not define nearest")

    def nearest_to(self, rows: Any, k: int, n_jobs: int | None = None) -> Found:
        """The k nearest points to some other rows, which have the same columns, nearest first."""
        raise TypeError(f"{type(self).__name__} does not define nearest_to")

    def to_all(self, rows: Any, n_jobs: int | None = None, members: Any = None) -> Any:
        """The squared distances of some other rows to all or some points, in the unit of `nearest_to`."""
        raise TypeError(f"{type(self).__name__} does not define to_all")

    def apart(self, rows: Any, others: Any) -> Any:
        """The distances of some points (rows,) to others each (rows, others)."""
        raise TypeError(f"{type(self).__name__} does not define apart")
