"""The nearest neighbours of every point: exact where that is quick, else approximate with measured recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity import loops
from nearfield.affinity.distances import check_precomputed, metrics
from nearfield.io.checks import finite
from nearfield.threads import spread

EXACT_UP_TO = 20_000  # points, above which an inverted file is quicker than all distances
RECALL = 0.98
QUERIES = 500  # on which the recall is measured


@dataclass(frozen=True)
class Neighbours:
    """Neighbours and squared distances, nearest first, without the points themselves.

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
    if isinstance(metric, str) and metric in ("euclidean", "sqeuclidean", "cosine") and not metric_params:
        indices, squared, recall, how = _by_faiss(_centred(X, metric), k, n_jobs)
        if metric == "cosine":
            squared = (squared / 2) ** 2  # 1 - cos is half the squared distance of unit vectors
        elif metric == "sqeuclidean":
            squared = squared**2
        return Neighbours(indices, squared, recall, how)
    return _by_blocks(X, k, metric, metric_params, n_jobs)


def _centred(X: Any, metric: str) -> Any:
    """The points as float32 around the origin, where it has the most digits, in units that it can square."""
    finite(X)
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    if metric == "cosine":
        X = X.astype(np.float64)
        norms = np.linalg.norm(X, axis=1, keepdims=True)
        if not np.all(norms > 0):
            raise ValueError(f"row {int(np.argmin(norms))} is all zeros and has no direction: leave it out")
        return np.ascontiguousarray(X / norms, dtype=np.float32)
    X = X - X.mean(axis=0, dtype=np.float64)
    scale = np.abs(X).max()
    if not scale > 0:
        raise ValueError(f"all {len(X)} points are equal: there is nothing to map, check the columns")
    return np.ascontiguousarray(X if 1e-12 < scale < 1e12 else X / scale, dtype=np.float32)


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
    index.nprobe = 8
    recall = 0.0
    while True:
        found = _search(index, queries, k + 1, n_jobs)[1]
        recall = float(np.mean([np.isin(a, b).mean() for a, b in zip(exact, found, strict=True)]))
        if recall >= RECALL or index.nprobe >= lists:
            break
        index.nprobe = min(lists, int(1.5 * index.nprobe))
    how = f"inverted file of {lists} lists, {index.nprobe} searched, recall {recall:.3f}"
    return (*_without_self(X, _search(index, X, k + 1, n_jobs), k, n_jobs), recall, how)


def _search(index: Any, X: Any, k: int, n_jobs: int | None) -> tuple[Any, Any]:
    """Distances and indices, each chunk of queries on one thread, so that their number changes nothing."""
    import faiss

    squared, indices = np.empty((len(X), k), np.float32), np.empty((len(X), k), np.int64)

    def rows(lo: int, hi: int) -> None:
        faiss.omp_set_num_threads(1)  # of the calling thread
        squared[lo:hi], indices[lo:hi] = index.search(X[lo:hi], k)

    spread(rows, len(X), n_jobs=n_jobs)
    return squared, indices


def _without_self(X: Any, found: tuple[Any, Any], k: int, n_jobs: int | None) -> tuple[Any, Any]:
    """Leave each point out of its own neighbours; distances are computed anew, without cancellation."""
    indices, squared = np.empty((len(X), k), np.int32), np.empty((len(X), k), np.float32)
    spread(loops.leave_out_self, len(X), X, found[1], indices, squared, n_jobs=n_jobs)
    return indices, squared


def _by_blocks(
    X: Any, k: int, metric: Any, metric_params: dict[str, Any] | None, n_jobs: int | None
) -> Neighbours:
    """All distances, some rows at a time."""
    from sklearn.metrics import pairwise_distances

    precomputed = isinstance(metric, str) and metric == "precomputed"
    if precomputed:
        X = check_precomputed(X)
    else:
        if isinstance(metric, str) and metric not in metrics():
            raise ValueError(f"metric {metric!r} is not known; it may be {', '.join(metrics())}")
        finite(X)
    n = X.shape[0]
    indices, squared = np.empty((n, k), np.int32), np.empty((n, k), np.float32)
    step = max(1, 2**24 // n)
    for lo in range(0, n, step):
        hi = min(lo + step, n)
        D = (
            X[lo:hi].copy()
            if precomputed
            else pairwise_distances(X[lo:hi], X, metric=metric, **(metric_params or {}))
        )
        D[np.arange(hi - lo), np.arange(lo, hi)] = np.inf
        nearest = np.argpartition(D, k - 1, axis=1)[:, :k]
        d = np.take_along_axis(D, nearest, axis=1)
        order = np.lexsort((nearest, d), axis=1)
        indices[lo:hi] = np.take_along_axis(nearest, order, axis=1)
        squared[lo:hi] = np.take_along_axis(d, order, axis=1) ** 2
    return Neighbours(indices, squared, 1.0, "exact, all pairs in blocks")
