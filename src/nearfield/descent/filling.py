"""Rows of a start that nobody has put anywhere: each begins amid its neighbours that have a place."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.source import Source
from nearfield.typing import Array

NEIGHBOURS = 10  # of a point, by which it is placed where there is no P


def fill(Y: Array, source: Source, target: Any, is_distance: bool) -> Array:
    """A start in which every row has a place.

    A row of NaN goes to the median of its neighbours, along each axis and weighted by p. Where none of
    them has a place it waits until they have; what is tied to nobody goes to the middle.

    Parameters
    ----------
    Y : array (points, dimensions)
        Places, and rows of NaN.
    source : Source
        The points.
    target : array or sparse matrix
        P or weights; of a cost of distances whatever it has, for the nearest in the data serve as well.
    """
    free = np.isnan(Y[:, 0])
    if not free.any():
        return Y
    Y = Y.copy()
    ties = _of_distances(source, free) if is_distance else sparse.csr_array(target)
    ties = sparse.csr_array(ties + ties.T)[np.flatnonzero(free)]
    middle = np.median(Y[~free], axis=0)
    while True:
        waiting = np.flatnonzero(np.isnan(Y[free, 0]))
        known = sparse.csr_array(ties[waiting] @ sparse.diags_array((~np.isnan(Y[:, 0])).astype(float)))
        known.eliminate_zeros()
        placed = np.diff(known.indptr) > 0
        if not placed.any():
            break
        rows = np.flatnonzero(free)[waiting[placed]]
        Y[rows] = medians(known[np.flatnonzero(placed)], Y)
    Y[np.isnan(Y[:, 0])] = middle
    return Y


def medians(weights: Any, Y: Array) -> Array:
    """The weighted medians of places along each axis, one for each row of weights, of which none is empty.

    Examples
    --------
    >>> medians(sparse.csr_array([[1.0, 1.0, 3.0], [5.0, 1.0, 0.0]]), np.array([[0.0], [1.0], [2.0]]))
    array([[2.],
           [0.]])
    """
    rows = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    halves = np.add.reduceat(weights.data, weights.indptr[:-1]) / 2
    found = np.empty((weights.shape[0], Y.shape[1]))
    for axis, values in enumerate(Y[weights.indices].T):
        order = np.lexsort((values, rows))
        share = np.cumsum(weights.data[order])
        before = np.concatenate([[0.0], share])[weights.indptr[:-1]]
        at = np.searchsorted(share, before + halves * (1 - 1e-9))
        at = np.clip(at, weights.indptr[:-1], weights.indptr[1:] - 1)
        found[:, axis] = values[order[at]]
    return found


def _of_distances(source: Source, free: Any) -> Any:
    """The nearest points that have a place, of those that have none, all alike."""
    rows, members = np.flatnonzero(free), np.flatnonzero(~free)
    k = min(NEIGHBOURS, len(members))
    indices, _, _, _ = source.space.nearest(k, source.n_jobs, rows, members)
    at = np.repeat(rows, k), indices.ravel()
    return sparse.csr_array((np.ones(len(at[0])), at), shape=(source.n, source.n))
