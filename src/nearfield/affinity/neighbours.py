"""The nearest neighbours of every point: exact where that is quick, else approximate with measured recall."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from nearfield.affinity.given import nearest_of_rows, nearest_stored
from nearfield.affinity.source import Source
from nearfield.affinity.space import squarable
from nearfield.parallel import one_blas_thread


@dataclass(frozen=True)
class Neighbours:
    """Neighbours and squared distances, nearest first, without the points themselves.

    Where a point has fewer than k, the entries at the end of its row are at infinity.

    Attributes
    ----------
    indices : array of int32 (rows, k)
        The neighbours.
    squared : array of float32 (rows, k)
        Their squared distances.
    recall : float
        The share of the true neighbours among them, measured on a sample; 1 where they are exact.
    how : str
        How they were found, in a few words.
    unit : float
        What distances are to be multiplied by to be those of the data.
    """

    indices: Any
    squared: Any
    recall: float
    how: str
    unit: float = 1.0


@one_blas_thread()
def neighbours(source: Source, k: int, *, dtype: Any = np.float32) -> Neighbours:
    """The k nearest neighbours of every point.

    Distances of bits and those that are Euclidean, of rows changed one by one, are fast at any size; other
    metrics of scikit-learn are computed for all pairs, in blocks. Of a graph that was given, the nearest
    that it has. The result does not depend on the number of threads. Of a source that remembers as many they
    are searched once, and the same whoever asked first.

    Examples
    --------
    >>> import numpy as np
    >>> found = neighbours(Source.of(np.array([[0.0], [1.0], [3.0]])), 1)
    >>> found.indices.ravel(), found.squared.ravel()
    (array([1, 0, 1], dtype=int32), array([1., 1., 4.], dtype=float32))
    """
    if source.graph is not None:
        stored = nearest_stored(source.graph, k, source.n_jobs, dtype)
        return Neighbours(*stored, 1.0, "as they were given", 1 / squarable(source.graph.data.max()))
    if not 1 <= k <= source.n - 1:
        raise ValueError(f"a point has {source.n - 1} others, so k cannot be {k}")
    kept = min(source.remembered, source.n - 1)
    known = vars(source).get("nearest")
    if known is not None and k <= kept:
        return _nearest_of(known, k)
    indices, squared, recall, how = source.space.nearest(max(k, kept), source.n_jobs)
    share_out(indices, squared)
    found = Neighbours(indices, squared, recall, how, source.space.unit)
    if kept:
        vars(source)["nearest"] = _nearest_of(found, kept)
    return found if k >= kept else _nearest_of(found, k)


def remembered(source: Source) -> Neighbours:
    """The neighbours that a source was to remember: those of an earlier search, if there was one.

    Examples
    --------
    >>> import numpy as np
    >>> remembered(Source.of(np.array([[0.0], [1.0], [3.0]]), remembered=1)).indices.ravel()
    array([1, 0, 1], dtype=int32)
    """
    known = vars(source).get("nearest")
    if known is not None:
        return known
    if source.affinities:
        raise ValueError("affinities say nothing of distances to neighbours: give distances, or the data")
    return neighbours(source, min(source.remembered, source.n - 1))


def _nearest_of(found: Neighbours, k: int) -> Neighbours:
    """The nearest alone, of however many; copies, since whoever gets them may write to them."""
    return replace(found, indices=found.indices[:, :k].copy(), squared=found.squared[:, :k].copy())


@one_blas_thread()
def neighbours_of(source: Source, rows: Any, k: int) -> Neighbours:
    """The k nearest points of a source to some other rows, in the unit of its own neighbours.

    Parameters
    ----------
    source : Source
        The points among which is searched.
    rows : array, sparse matrix or tuple
        Coordinates in the same columns; where the source holds distances, those of the rows to its points:
        a dense matrix (rows, points), a sparse one of some of them, or a tuple (indices, distances).
    k : int
        How many.

    Examples
    --------
    >>> import numpy as np
    >>> source = Source.of(np.array([[0.0], [1.0], [3.0]]))
    >>> found = neighbours_of(source, np.array([[2.9], [1.0]]), 2)
    >>> found.indices
    array([[2, 1],
           [1, 0]], dtype=int32)
    """
    if source.affinities:
        raise ValueError("affinities say nothing of distances to other rows: give distances, or the data")
    if not 1 <= k <= source.n:
        raise ValueError(f"there are {source.n} points, so k cannot be {k}")
    if source.precomputed:
        largest = float((source.X if source.graph is None else source.graph).max())
        at = nearest_of_rows(rows, source.n, k, source.n_jobs, largest)
        return Neighbours(*at, 1.0, "as they were given", 1 / squarable(largest))
    return Neighbours(*source.space.nearest_to(rows, k, source.n_jobs), source.space.unit)


def share_out(indices: Any, squared: Any) -> None:
    """Give equal points of which there are more than k different neighbours among each other, in place.

    Any k of them are nearest; but a search finds the same k for all, and those would be tied to all others
    by so many springs that the map is torn. So each names k at random, and is named by k.
    """
    n, k = indices.shape
    equal = (squared == 0).all(axis=1)
    if not equal.any():
        return
    pairs = (np.repeat(np.flatnonzero(equal), k), indices[equal].ravel())
    graph = sparse.csr_array((np.ones(len(pairs[0]), np.int8), pairs), (n, n))
    _, group = csgraph.connected_components(graph, directed=False)
    random = np.random.default_rng(0)
    for large in np.flatnonzero(np.bincount(group) > k):
        members = np.flatnonzero(group == large)
        steps = 1 + random.choice(len(members) - 1, k, replace=False)  # around a ring of the members
        on_ring = np.flatnonzero(equal[members])
        indices[members[on_ring]] = members[(on_ring[:, None] + steps) % len(members)]
