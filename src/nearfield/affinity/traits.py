"""A few numbers of every fitted point that are found while the target is made, and asked for by new rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.typing import Array

if TYPE_CHECKING:
    from nearfield.affinity.neighbours import Neighbours
    from nearfield.affinity.perplexity import Calibrated

NEAREST = 10  # neighbours, whose mean distance says how far a point is from the others
BLOCK = 2**22  # distances that are looked at together


@dataclass
class Traits:
    """What is noted of the points, in the unit of the distances that the target was made of.

    Attributes
    ----------
    beta, nearest, total : array (points,), optional
        p_k|j = exp(-beta_j (d² - nearest_j))/total_j: so a point sees whoever is near it.
    spacing : array (points,), optional
        The mean distance to the 10 nearest others.
    unlike : array (points,), optional
        That over the mean of theirs: far above 1 for a point that is apart.
    unit : float
        What distances are to be multiplied by to be those of the data.
    views : list of Traits, optional
        Those of each view, where several are mixed.
    """

    beta: Any = None
    nearest: Any = None
    total: Any = None
    spacing: Any = None
    unlike: Any = None
    unit: float = 1.0
    views: Any = None

    def note_neighbours(self, found: Neighbours) -> None:
        """Before they are calibrated: the nearest come first."""
        self.unit = found.unit
        self.nearest = found.squared[:, 0].astype(np.float64)
        self.note_spacing(found.indices[:, :NEAREST], found.squared[:, :NEAREST])

    def note_all_pairs(self, squared: Array) -> None:
        """Before all pairs are calibrated; the diagonal is of the points themselves."""
        self.nearest = np.concatenate([rows.min(axis=1) for rows in _others(squared)])

    def note_distances(self, D: Array) -> None:
        """From the distances of all pairs, which nobody has later."""
        k, nearest, near = min(NEAREST, len(D) - 1), [], []
        for rows in _others(D):
            order = np.argpartition(rows, k - 1, axis=1)[:, :k]
            nearest.append(order)
            near.append(np.take_along_axis(rows, order, axis=1) ** 2)
        self.note_spacing(np.concatenate(nearest), np.concatenate(near))

    def note_spacing(self, indices: Any, squared: Any) -> None:
        """How far each point is from its nearest, and how far these are from theirs."""
        self.spacing = mean_distance(squared)
        self.unlike = beside(self.spacing, self.spacing[indices], np.isfinite(squared))

    def note_copies(self, weights: Array) -> None:
        """The nearest to a point that stands for several is another of its copies."""
        self.nearest = np.where(weights > 1, 0.0, self.nearest)

    def note_calibrated(self, found: Calibrated, weights: Array | None = None, own: Any = None) -> None:
        """The largest p of a row is that of the nearest, exp(0)/total; `own` is the column of the point.

        A point that has no other copy is not its own neighbour.
        """
        rows = found.rows
        if weights is not None:
            alone = np.flatnonzero(weights == 1)
            rows = rows.copy()
            rows[alone, np.broadcast_to(own, len(rows))[alone]] = 0.0
        largest = rows.max(axis=1).astype(np.float64)
        self.beta, self.total = found.beta, 1 / np.where(largest > 0, largest, 1.0)


def _others(squared: Array) -> Iterator[Array]:
    """Some rows of a matrix at a time, in which a point is infinitely far from itself."""
    n = len(squared)
    step = max(1, BLOCK // n)
    for lo in range(0, n, step):
        rows = squared[lo : lo + step].astype(np.float64)
        rows[np.arange(len(rows)), lo + np.arange(len(rows))] = np.inf
        yield rows


def mean_distance(squared: Any) -> Array:
    """The mean distance to the nearest, from squares in rows; infinite ones are no neighbours.

    Examples
    --------
    >>> mean_distance(np.array([[1.0, 9.0], [4.0, np.inf]]))
    array([2., 2.])
    """
    there = np.isfinite(squared)
    distances = np.sqrt(np.where(there, squared, 0.0).astype(np.float64))
    return distances.sum(axis=1) / np.maximum(there.sum(axis=1), 1)


def beside(spacing: Array, theirs: Array, there: Any) -> Array:
    """A point's spacing over the mean of its neighbours' own: 1 where both are 0.

    Examples
    --------
    >>> beside(np.array([2.0, 0.0]), np.array([[1.0, 1.0], [0.0, 0.0]]), np.ones((2, 2), bool))
    array([2., 1.])
    """
    mean = np.where(there, theirs, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    alike = (spacing == 0) & (mean == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(alike, 1.0, spacing / mean)
