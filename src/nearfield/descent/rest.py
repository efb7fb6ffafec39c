"""Whether a map has come to rest: how far its points still move, beside the distances of neighbours."""

from __future__ import annotations

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.spatial import cKDTree

from nearfield.typing import Array

SAMPLE = 2000  # points that are looked at
NEIGHBOUR = 10  # whose distance is the unit: within so many, ranks are what a map is judged by most


def motion(before: Array, after: Array) -> float:
    """How far the median point came, in units of the distance to its tenth neighbour.

    What the map does as a whole (it drifts, turns and grows) changes no neighbour, and does not count.

    Examples
    --------
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> turned = 1.1 * Y @ [[0.6, 0.8], [-0.8, 0.6]] + 3
    >>> round(motion(Y, turned), 6)
    0.0
    >>> motion(Y, Y + 0.1 * np.random.default_rng(1).normal(size=(200, 2))) > 0.1
    True
    """
    a, b = before - before.mean(axis=0), after - after.mean(axis=0)
    size = float(np.sum(a * a))
    if size == 0:
        return 0.0 if not b.any() else np.inf
    turn, stretch = orthogonal_procrustes(a, b)
    rows = np.random.default_rng(0).permutation(len(b))[:SAMPLE]
    moved = np.linalg.norm(stretch / size * (a[rows] @ turn) - b[rows], axis=1)
    k = min(NEIGHBOUR, len(b) - 1)
    unit = cKDTree(b).query(b[rows], k + 1)[0][:, -1]
    apart = unit > 0  # of many points in one place there is no unit
    return float(np.median(moved[apart] / unit[apart])) if apart.any() else 0.0
