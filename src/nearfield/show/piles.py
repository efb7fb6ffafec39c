"""A map of one dimension: the points piled up where they lie, like a histogram made of them."""

from __future__ import annotations

import numpy as np


def pile(
    x: np.ndarray, keys: np.ndarray | None, width: float, height: float, largest: float = 6.5
) -> tuple[np.ndarray, float]:
    """Pile up points in columns that are one point wide, and choose the largest points that fit.

    Parameters
    ----------
    x : array of shape (N,)
        Where the points lie.
    keys : array of shape (N,) or None
        What orders the points of a column from below, classes or numbers.
    width, height : float
        The room there is, in units of the size of a point.
    largest : float
        The size that points are at most.

    Returns
    -------
    Y : ndarray of shape (N, 2)
        The piles, in the units of `x` both ways.
    size : float
        The area of a point.

    Examples
    --------
    >>> import numpy as np
    >>> Y, size = pile(np.array([0.0, 0.0, 1.0, 4.0]), None, width=50, height=20, largest=10)
    >>> Y.tolist()
    [[0.0, 0.5], [0.0, 1.5], [1.0, 0.5], [4.0, 0.5]]
    """
    low, span = float(x.min()), float(np.ptp(x)) or 1.0

    def columns(count: int) -> np.ndarray:
        return np.rint((x - low) / span * (count - 1)).astype(int)

    def diameter(count: int) -> float:
        return min(largest, width / count, height / np.bincount(columns(count)).max())

    counts = np.unique(np.geomspace(max(2, width / largest), 4 * width, 60).astype(int))
    count = max(counts.tolist(), key=diameter)
    column = columns(count)

    order = np.lexsort((x, keys, column) if keys is not None else (x, column))
    firsts = np.searchsorted(column[order], column[order])
    rank = np.empty(len(x), dtype=int)
    rank[order] = np.arange(len(x)) - firsts
    step = span / (count - 1)
    return np.column_stack([low + column * step, (rank + 0.5) * step]), (0.92 * diameter(count)) ** 2
