"""Whether a map has come to rest: how far its points still move, beside the distances of neighbours."""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd
from scipy.spatial import cKDTree

from nearfield.parallel.together import ALONE, Together
from nearfield.typing import Array

SAMPLE = 2000  # points that are looked at
NEIGHBOUR = 10  # whose distance is the unit: within so many, ranks are what a map is judged by most


def motion(before: Array, after: Array, together: Together = ALONE) -> float:
    """How far the median point came, in units of the distance to its tenth neighbour.

    What the map does as a whole (it drifts, turns and grows) changes no neighbour, and does not count. Each
    of those who make the map together has some of the points.

    Examples
    --------
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> turned = 1.1 * Y @ [[0.6, 0.8], [-0.8, 0.6]] + 3
    >>> round(motion(Y, turned), 6)
    0.0
    >>> motion(Y, Y + 0.1 * np.random.default_rng(1).normal(size=(200, 2))) > 0.1
    True
    """
    n = together.sum(len(after))
    a, b = (Y - together.sum(Y.sum(axis=0)) / n for Y in (before, after))
    size = together.sum(float(np.sum(a * a)))
    if size == 0:
        return np.inf if together.most(float(np.abs(b).max(initial=0.0))) else 0.0
    turn, stretch = procrustes(together.sum(b.T @ a))
    rows = np.random.default_rng(0).permutation(len(b))[: together.share(SAMPLE, len(b))]
    moved = together.all_rows(np.linalg.norm(stretch / size * (a[rows] @ turn) - b[rows], axis=1))
    k = min(NEIGHBOUR, n - 1)
    # The nearest of those who are nearest among the points of each.
    asking, tree = together.all_rows(b[rows]), cKDTree(b)
    near = np.hstack(together.gathered(np.atleast_2d(tree.query(asking, range(1, k + 2))[0])))
    unit = np.sort(near, axis=1)[:, k]
    apart = unit > 0  # of many points in one place there is no unit
    return float(np.median(moved[apart] / unit[apart])) if apart.any() else 0.0


def procrustes(products: Array) -> tuple[Array, float]:
    """How one cloud is turned onto another, from the products bᵀa of their coordinates, and how far."""
    u, w, vt = svd(products.T)
    return u @ vt, float(w.sum())
