"""Where boxes, such as names, can stand on groups of points so that no two overlap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Crowd = tuple[np.ndarray, np.ndarray]  # points, and how thick each of them lies
_SHARE = 0.3  # of the area, which boxes cover at most
_SMALLER = 0.88  # from one size to the next
_LOOKED_AT = 300  # points of a group
_AROUND = 0.1  # of the median squared distance within a group: what lies around a point
_THICK = 0.5  # of the thickest crowd: where a box may stand as well


def fit(
    groups: Sequence[Crowd],
    halves: np.ndarray,
    area: np.ndarray,
    smallest: float,
    taken: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[float, np.ndarray, np.ndarray] | None:
    """Make names smaller until they can be placed without covering too much of the area.

    Parameters
    ----------
    groups, halves, area, taken
        See `place`.
    smallest : float
        The share of their size that names keep at least.

    Returns
    -------
    tuple or None
        The share of their size that the names keep, and what `place` returns; None where they do not fit.
    """
    share = 1.0
    while True:
        covered = 4 * np.prod(share * halves, axis=1).sum()
        if covered <= _SHARE * np.prod(area[1] - area[0]):
            found = place(groups, share * halves, area, taken)
            if found is not None:
                return share, *found
        if share <= smallest:
            return None
        share = max(_SMALLER * share, smallest)


def place(
    groups: Sequence[Crowd],
    halves: np.ndarray,
    area: np.ndarray,
    taken: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Find a place for a box on each group of points, so that no two boxes overlap.

    Groups that are small come first, for they have the least choice.

    Parameters
    ----------
    groups : sequence of what `thickest` returns, of points in two dimensions
        What the boxes are to stand on.
    halves : ndarray of shape (groups, 2)
        Half the width and height of each box.
    area : ndarray of shape (2, 2)
        Its lower and upper corner: no box stands out of it.
    taken : tuple of ndarray, optional
        Middles and halves of boxes that stand already.

    Returns
    -------
    anchors, centres : ndarray of shape (groups, 2), or None if there is no room
        A point of each group, and the middle of its box: the same where the box stands on the group, and the
        free place that is nearest to the anchor where that is crowded.

    Examples
    --------
    >>> import numpy as np
    >>> ring = 40 * np.array([[np.cos(t), np.sin(t)] for t in np.linspace(0, 6, 50)])
    >>> area = np.array([[-50.0, -50.0], [50.0, 50.0]])
    >>> anchors, centres = place([thickest(ring)] * 2, np.full((2, 2), 5.0), area)
    >>> np.linalg.norm(centres, axis=1).round(6).tolist()
    [40.0, 40.0]
    """
    sizes = [float(np.median(np.linalg.norm(points - points[0], axis=1))) for points, _ in groups]
    anchors, centres = np.array([points[0] for points, _ in groups]), np.empty((len(groups), 2))
    at, wide = (np.empty((0, 2)), np.empty((0, 2))) if taken is None else taken
    for k in np.argsort(sizes, kind="stable").tolist():
        low, high = area[0] + halves[k], area[1] - halves[k]
        if np.any(low > high):
            return None
        points, crowd = groups[k]
        good = np.clip(points[crowd >= _THICK], low, high)
        free = good[_free(good, halves[k], at, wide)]
        if not len(free):
            ways = [np.arange(a, b + 1e-9, halves[k, 1] / 2) for a, b in zip(low, high, strict=True)]
            grid = np.stack(np.meshgrid(*ways), axis=-1).reshape(-1, 2)
            grid = grid[_free(grid, halves[k], at, wide)]
            if not len(grid):
                return None
            free = grid[[np.linalg.norm(grid - anchors[k], axis=1).argmin()]]
        else:
            anchors[k] = free[0]
        centres[k] = free[0]
        at, wide = np.vstack([at, free[:1]]), np.vstack([wide, halves[[k]]])
    return anchors, centres


def _free(at: np.ndarray, half: np.ndarray, centres: np.ndarray, halves: np.ndarray) -> np.ndarray:
    """Where a box would overlap none of those that stand already."""
    gaps = np.abs(at[:, None] - centres[None]) - (half + halves)
    return np.asarray((gaps >= -1e-6).any(axis=2).all(axis=1))  # touching is not overlapping


def thickest(points: np.ndarray) -> Crowd:
    """Return some of the points, those first that have the most others around them, and how many of the most.

    The middle of a group may be empty, as that of a ring is; where its points are thickest some of them lie.

    Examples
    --------
    >>> import numpy as np
    >>> thickest(np.array([[0.0], [1.0], [2.0], [90.0], [91.0]]))[0][0]
    array([1.])
    """
    some = points[np.random.default_rng(0).permutation(len(points))[:_LOOKED_AT]]
    apart = ((some[:, None] - some[None]) ** 2).sum(axis=2)
    around = max(_AROUND * float(np.median(apart)), np.finfo(float).tiny)
    crowd = (1 / (1 + apart / around)).sum(axis=1)
    order = np.argsort(-crowd, kind="stable")
    return some[order], crowd[order] / crowd.max()
