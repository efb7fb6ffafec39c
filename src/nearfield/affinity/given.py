"""Neighbours of the user's own: a sparse matrix of distances, or their indices and distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity import search_loops
from nearfield.affinity.space import squarable
from nearfield.checks import check_count, finite, numbers
from nearfield.parallel import over_chunks


def as_matrix(X: Any, metric: Any = "euclidean") -> Any:
    """X as an array or a sparse matrix; of a tuple (indices, distances) the sparse matrix of distances.

    Examples
    --------
    >>> import numpy as np
    >>> graph = as_matrix((np.array([[1], [2], [1]]), np.array([[0.5], [2.0], [2.0]])), "precomputed")
    >>> graph.toarray()
    array([[0. , 0.5, 0. ],
           [0. , 0. , 2. ],
           [0. , 2. , 0. ]])
    """
    if not _is_graph(X):
        return X.tocsr() if sparse.issparse(X) else np.asanyarray(X)
    if not (isinstance(metric, str) and metric == "precomputed"):
        raise ValueError("a tuple (indices, distances) holds neighbours: pass metric='precomputed' with it")
    return _matrix_of(X)


def _is_graph(X: Any) -> bool:
    """Whether X is a tuple (indices, distances)."""
    return isinstance(X, tuple) and len(X) == 2 and any(getattr(part, "ndim", 0) == 2 for part in X)


def _matrix_of(neighbours: Any, among: int | None = None) -> Any:
    """The sparse matrix of (indices, distances) of neighbours, without those of points to themselves.

    `among` so many other points, if they are not the rows themselves.
    """
    indices, distances = (numbers(np.asarray(part), "the graph") for part in neighbours)
    if indices.dtype.kind not in "iu":
        fix = "swap them" if distances.dtype.kind in "iu" else "indices must be whole numbers"
        raise ValueError(f"neighbours are a tuple (indices, distances), in this order: {fix}")
    if indices.ndim != 2 or indices.shape != distances.shape:
        raise ValueError(
            "indices and distances must both have the shape (points, neighbours), got"
            f" {indices.shape} and {distances.shape}"
        )
    rows = len(indices)
    n = rows if among is None else among
    indices = indices.astype(np.int64)
    wrong = (indices >= n) | (indices < -1)
    if wrong.any():
        i, e = np.argwhere(wrong)[0]
        raise ValueError(
            f"point {i} has the neighbour {indices[i, e]}, but the {n} points are numbered 0 to {n - 1}:"
            " an entry without a neighbour is -1"
        )
    there = indices >= 0
    if among is None:
        there &= indices != np.arange(n)[:, None]
    ordered = np.sort(np.where(there, indices, -1), axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if twice.any():
        i, e = np.argwhere(twice)[0]
        raise ValueError(f"point {i} has the neighbour {ordered[i, e]} twice: give each neighbour once")
    indptr = np.zeros(rows + 1, np.int64)
    np.cumsum(there.sum(axis=1), out=indptr[1:])
    values = distances[there].astype(np.float64)
    return sparse.csr_array((values, indices[there], indptr), (rows, n))


def rows_of(neighbours: Any, n: int, metric: Any) -> Any:
    """The sparse matrix (rows, n) of (indices, distances) of other rows to n points."""
    if not (isinstance(metric, str) and metric == "precomputed"):
        raise ValueError("a tuple (indices, distances) holds neighbours, and the data were fitted: pass rows")
    return _matrix_of(neighbours, among=n)


def distance_graph(X: Any, metric: Any) -> Any:
    """The distances to neighbours, if X is a sparse matrix of distances; otherwise None.

    What is stored is a neighbour, at distance 0 too; what is stored on the diagonal is not.
    """
    precomputed = isinstance(metric, str) and metric == "precomputed" and sparse.issparse(X)
    if not precomputed or X.shape[0] != X.shape[1]:
        return None
    n = X.shape[0]
    D = sparse.csr_array(X, dtype=np.float64, copy=True)
    D.sum_duplicates()
    rows = np.repeat(np.arange(n), np.diff(D.indptr))
    others = rows != D.indices
    check_count(n)
    D = sparse.csr_array((D.data[others], (rows[others], D.indices[others])), (n, n))
    finite(D)
    if D.data.min(initial=0.0) < 0:
        at = int(D.data.argmin())
        i = int(np.searchsorted(D.indptr, at, side="right")) - 1
        raise ValueError(
            f"distances cannot be negative, but the one from {i} to {D.indices[at]} is {D.data[at]:g}"
        )
    alone = np.flatnonzero(np.diff(D.indptr) == 0)
    if len(alone):
        raise ValueError(
            f"point {alone[0]} has no neighbour in the graph ({len(alone)} such rows): leave it out"
        )
    return D


def nearest_stored(
    graph: Any, k: int, n_jobs: int | None, dtype: Any, largest: float = 0.0
) -> tuple[Any, Any]:
    """The k nearest in every row of a matrix of distances: indices and squares, in a unit that float32 holds.

    The unit goes by the largest distance of the matrix, or by one that is named.
    """
    rows = graph.shape[0]
    distances = graph.data * squarable(largest or graph.data.max(initial=0.0))
    indices, squared = np.empty((rows, k), np.int32), np.empty((rows, k), dtype)
    arguments = (graph.indptr, graph.indices, distances, indices, squared)
    over_chunks(search_loops.nearest_first, rows, *arguments, n_jobs=n_jobs)
    return indices, squared


def nearest_of_rows(rows: Any, n: int, k: int, n_jobs: int | None, largest: float) -> tuple[Any, Any]:
    """The k nearest of n points to some other rows, from their distances to these points."""
    graph = _matrix_of(rows, among=n) if _is_graph(rows) else rows
    whole = not sparse.issparse(graph)
    D: Any = (
        np.asarray(graph, dtype=np.float64) if whole else sparse.csr_array(graph, dtype=np.float64, copy=True)
    )
    if D.ndim != 2 or D.shape[1] != n:
        raise ValueError(
            f"distances of other rows must have one column for each of the {n} points, got {D.shape}"
        )
    if whole:  # what is stored is a neighbour, at distance 0 too
        indptr, indices = np.arange(0, D.size + 1, n), np.tile(np.arange(n), len(D))
        D = sparse.csr_array((D.ravel(), indices, indptr), D.shape)
    else:
        D.sum_duplicates()
    finite(D, what="the matrix of distances")
    if D.data.min(initial=0.0) < 0:
        raise ValueError(f"distances cannot be negative, but one is {D.data.min():g}")
    alone = np.flatnonzero(np.diff(D.indptr) == 0)
    if len(alone):
        raise ValueError(f"row {alone[0]} has no neighbour ({len(alone)} such rows): leave it out")
    return nearest_stored(D, k, n_jobs, np.float32, largest)
