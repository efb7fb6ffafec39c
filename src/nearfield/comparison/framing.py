"""Which part of a map is drawn: all but a few points far outside, which would make a blob of the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearfield.typing import Array

Rows = NDArray[np.intp]
FEW = 0.01  # of the points; two of any map that has twenty
OUTSIDE = 2.0  # times as far from the middle as all but a few
ROOM = 0.05  # of the width of the rest, between it and the border at which the far points are drawn
MOST = 6  # rows that are told


def far_points(Y: Array) -> Rows:
    """The few points, if there are any, that are much further from the middle of a map than all others.

    Examples
    --------
    >>> Y = np.array([[k % 5, k % 7] for k in range(40)], dtype=float)
    >>> Y[[3, 8]] = [[500, 0], [0, -90]]
    >>> far_points(Y).tolist()
    [3, 8]
    """
    n = len(Y)
    few = min(max(2, int(FEW * n)), n // 10)
    away = np.abs(Y - np.median(Y, axis=0)).max(axis=1)
    usual = np.partition(away, n - 1 - few)[n - 1 - few]
    return np.flatnonzero(away > OUTSIDE * usual) if usual > 0 else np.zeros(0, dtype=np.intp)


def framed(Y: Array) -> tuple[Array, Rows]:
    """A map with its far points moved to the border of the rest, and which these are."""
    far = far_points(Y)
    if not len(far):
        return Y, far
    rest = np.delete(Y, far, axis=0)
    low, high = rest.min(axis=0), rest.max(axis=0)
    room = ROOM * float((high - low).max())
    return np.clip(Y, low - room, high + room), far


def told(far: Rows) -> str:
    """A sentence on the points at the border.

    >>> told(np.array([3, 17]))
    '2 points lie far outside, and are drawn at the border with a ring: rows 3 and 17, counted from 0.'
    """
    if not len(far):
        return ""
    if len(far) == 1:
        return (
            f"1 point lies far outside, and is drawn at the border with a ring: row {far[0]}, counted from 0."
        )
    rows = [str(row) for row in far[:MOST]]
    listed = f"{', '.join(rows)}, …" if len(far) > MOST else f"{', '.join(rows[:-1])} and {rows[-1]}"
    where = "lie far outside, and are drawn at the border with a ring"
    return f"{len(far)} points {where}: rows {listed}, counted from 0."
