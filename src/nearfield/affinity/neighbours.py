"""The nearest neighbours of every point: exact where that is quick, else approximate with measured recall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from nearfield.affinity import loops
from nearfield.affinity.distances import NOT_FINITE, check_gave, check_metric, check_precomputed
from nearfield.io.checks import finite
from nearfield.threads import one_blas_thread, spread

EXACT_UP_TO = 20_000  # points, above which an inverted file is quicker than all distances
RECALL = 0.98
QUERIES = 500  # on which the recall is measured
FEWEST, MORE = 10, 1.2  # lists that are searched at first, and by how many times more until the recall is met
DENSE_UP_TO = 2**31  # bytes that sparse data may take as dense ones; larger ones are multiplied as they are
BLOCK = 2**24  # distances at a time where all are computed
ROUNDING = 1e-13  # of a squared distance that is the difference of squares


@dataclass(frozen=True)
class Neighbours:
    """Neighbours and squared distances, nearest first, without the points themselves.

    Where a point has fewer than k, the places at the end of its row are at infinity.

    Attributes
    ----------
    indices : array of int32 (points, k)
        The neighbours.
    squared : array of float32 (points, k)
        Their squared distances.
    recall : float
        The share of the true neighbours among them, measured on a sample; 1 where they are exact.
    how : str
        How they were found, in a few words.
    """

    indices: Any
    squared: Any
    recall: float
    how: str


@one_blas_thread()
def neighbours(
    X: Any,
    k: int,
    *,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Neighbours:
    """The k nearest neighbours of every row of X.

    Euclidean and cosine distances are fast at any size; other metrics of scikit-learn are computed for all
    pairs, in blocks. The result does not depend on `n_jobs`.

    Examples
    --------
    >>> import numpy as np
    >>> found = neighbours(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> found.indices.ravel(), found.squared.ravel()
    (array([1, 0, 1], dtype=int32), array([1., 1., 4.], dtype=float32))
    """
    n = X.shape[0]
    if not 1 <= k <= n - 1:
        raise ValueError(f"a point has {n - 1} others, so k cannot be {k}")
    plain = isinstance(metric, str) and metric in ("euclidean", "sqeuclidean", "cosine") and not metric_params
    if plain and not (sparse.issparse(X) and 4 * n * X.shape[1] > DENSE_UP_TO):
        indices, squared, recall, how = _by_faiss(_centred(X, metric), k, n_jobs)
        _share_out(indices, squared)
        if metric == "cosine":
            squared = (squared / 2) ** 2  # 1 - cos is half the squared distance of unit vectors
        elif metric == "sqeuclidean":
            squared = (squared / max(squared.max(), 1e-30)) ** 2  # whatever the scale, float32 can hold them
        return Neighbours(indices, squared, recall, how)
    if plain:
        return _by_blocks(_of_products(X, metric), n, k)
    return _by_blocks(_of_metric(X, metric, metric_params), n, k)


def squarable(largest: float) -> float:
    """The factor by which numbers up to `largest` are multiplied so that float32 can hold their squares."""
    return 1.0 if 1e-12 < largest < 1e12 or not largest > 0 else 1.0 / largest


def _centred(X: Any, metric: str) -> Any:
    """The points as float32 around the origin, where it has the most digits, in units that it can square.

    They are made some rows at a time: float64, or a dense copy of sparse data, would take twice the memory.
    """
    finite(X)
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    n, columns = X.shape
    step = max(1, 2**20 // max(columns, 1))
    mean = 0.0 if metric == "cosine" else np.asarray(X.mean(axis=0, dtype=np.float64))

    def block(lo: int) -> Any:
        rows = X[lo : lo + step]
        return (rows.toarray() if sparse.issparse(rows) else rows).astype(np.float64) - mean

    out = np.empty((n, columns), np.float32)
    if metric == "cosine":
        for lo in range(0, n, step):
            rows = block(lo)
            norms = np.linalg.norm(rows, axis=1, keepdims=True)
            if not np.all(norms > 0):
                raise ValueError(_no_direction(lo + int(np.argmin(norms))))
            out[lo : lo + step] = rows / norms
        return out
    largest = max(float(np.abs(block(lo)).max(initial=0.0)) for lo in range(0, n, step))
    if not largest > 0:
        raise ValueError(f"all {n} points are equal: there is nothing to map, check the columns")
    for lo in range(0, n, step):
        out[lo : lo + step] = block(lo) * squarable(largest)
    return out


def _no_direction(row: int) -> str:
    return f"row {row} is all zeros and has no direction: leave it out"


def _by_faiss(X: Any, k: int, n_jobs: int | None) -> tuple[Any, Any, float, str]:
    import faiss

    n, dimensions = X.shape
    if n <= EXACT_UP_TO:
        index: Any = faiss.IndexFlatL2(dimensions)
        index.add(X)
        found = _search(index, X, k + 1, n_jobs)
        return (*_without_self(X, found, k, n_jobs), 1.0, "exact")

    # Training is on one thread: with more, faiss adds up in another order.
    faiss.omp_set_num_threads(1)
    lists = int(2 * np.sqrt(n))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(dimensions), dimensions, lists)
    index.cp.niter = 6
    order = np.random.default_rng(0).permutation(n)
    index.train(X[order[: 40 * lists]])
    _, cells = _search(index.quantizer, X, 1, n_jobs)
    cells = np.ascontiguousarray(cells.ravel())
    index.add_core(n, faiss.swig_ptr(X), None, faiss.swig_ptr(cells))

    queries = X[order[:QUERIES]]
    truth = faiss.IndexFlatL2(dimensions)
    truth.add(X)
    exact = _search(truth, queries, k + 1, n_jobs)[1]
    index.nprobe = FEWEST
    while True:
        found = _search(index, queries, k + 1, n_jobs)[1]
        recall = sum(np.intersect1d(*both).size for both in zip(exact, found, strict=True)) / exact.size
        if recall >= RECALL or index.nprobe >= lists:
            break
        index.nprobe = min(lists, int(np.ceil(MORE * index.nprobe)))
    how = f"inverted file of {lists} lists, {index.nprobe} searched, recall {recall:.3f}"
    # List by list: queries of the same one search the same others, which are then in the cache.
    together = np.argsort(cells, kind="stable")
    return (*_without_self(X, _search(index, X, k + 1, n_jobs, together), k, n_jobs), recall, how)


def _search(index: Any, X: Any, k: int, n_jobs: int | None, order: Any = None) -> tuple[Any, Any]:
    """Distances and indices, each chunk of queries on one thread, so that their number changes nothing."""
    import faiss

    squared, indices = np.empty((len(X), k), np.float32), np.empty((len(X), k), np.int64)

    def rows(lo: int, hi: int) -> None:
        faiss.omp_set_num_threads(1)  # of the calling thread
        rows = slice(lo, hi) if order is None else order[lo:hi]
        squared[rows], indices[rows] = index.search(X[rows], k)

    spread(rows, len(X), n_jobs=n_jobs)
    return squared, indices


def _without_self(X: Any, found: tuple[Any, Any], k: int, n_jobs: int | None) -> tuple[Any, Any]:
    """Leave each point out of its own neighbours; distances are computed anew, without cancellation."""
    indices, squared = np.empty((len(X), k), np.int32), np.empty((len(X), k), np.float32)
    spread(loops.leave_out_self, len(X), X, found[1], indices, squared, n_jobs=n_jobs)
    return indices, squared


def _share_out(indices: Any, squared: Any) -> None:
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
        places = np.flatnonzero(equal[members])
        indices[members[places]] = members[(places[:, None] + steps) % len(members)]


def _of_metric(X: Any, metric: Any, metric_params: dict[str, Any] | None) -> Callable[[int, int], Any]:
    """The distances of some rows to all, by any metric; a copy that may be written to."""
    from sklearn.metrics import pairwise_distances

    if isinstance(metric, str) and metric == "precomputed":
        D = check_precomputed(X)
        return lambda lo, hi: D[lo:hi].copy()
    check_metric(metric)
    finite(X)
    params = dict(metric_params or {})
    # What these take from the data they must take from all of them, and not from a block.
    if isinstance(metric, str) and metric == "seuclidean":
        params.setdefault("V", np.var(X, axis=0, ddof=1))
    elif isinstance(metric, str) and metric == "mahalanobis":
        params.setdefault("VI", np.linalg.inv(np.cov(X.T)).T)
    return lambda lo, hi: pairwise_distances(X[lo:hi], X, metric=metric, **params)


def _of_products(X: Any, metric: str) -> Callable[[int, int], Any]:
    """The distances of some rows to all, of sparse data that are too large to be dense."""
    finite(X)
    X = sparse.csr_array(X, dtype=np.float64)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    if metric == "cosine":
        if not np.all(squares > 0):
            raise ValueError(_no_direction(int(np.argmin(squares))))
        X = sparse.csr_array(sparse.diags_array(1 / np.sqrt(squares)) @ X)
        squares = np.ones_like(squares)
    columns = sparse.csr_array(X.T)

    def block(lo: int, hi: int) -> Any:
        D = (X[lo:hi] @ columns).toarray()
        both = np.add.outer(squares[lo:hi], squares)
        D *= -2.0
        D += both
        both *= ROUNDING
        D[both > D] = 0.0
        if metric == "cosine":
            D *= 0.5
        return np.sqrt(D, out=D) if metric == "euclidean" else D

    return block


def _by_blocks(block: Callable[[int, int], Any], n: int, k: int) -> Neighbours:
    """The nearest of all, from the distances of some rows at a time."""
    indices, squared = np.empty((n, k), np.int32), np.empty((n, k))
    step, largest = max(1, BLOCK // n), 0.0
    for lo in range(0, n, step):
        hi = min(lo + step, n)
        D = block(lo, hi)
        check_gave(D)
        D[np.arange(hi - lo), np.arange(lo, hi)] = 0.0
        farthest = float(D.max())
        if not np.isfinite(farthest):
            raise ValueError(NOT_FINITE)
        largest = max(largest, farthest)
        D[np.arange(hi - lo), np.arange(lo, hi)] = np.inf
        nearest = np.argpartition(D, k - 1, axis=1)[:, :k]
        d = np.take_along_axis(D, nearest, axis=1)
        order = np.lexsort((nearest, d), axis=1)
        indices[lo:hi] = np.take_along_axis(nearest, order, axis=1)
        squared[lo:hi] = np.take_along_axis(d, order, axis=1)
    if not largest > 0:
        raise ValueError(f"all {n} points are equal: there is nothing to map, check the columns")
    _share_out(indices, squared)
    squared *= squarable(largest)
    squared *= squared
    return Neighbours(indices, squared.astype(np.float32), 1.0, "exact, all pairs in blocks")
