"""What the map is to match: joint or row P, bare weights, or distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity import loops
from nearfield.affinity.copies import check_weights, seen, without_own
from nearfield.affinity.distances import check_apart, distances
from nearfield.affinity.edges import graph_target
from nearfield.affinity.given import as_matrix, distance_graph, nearest
from nearfield.affinity.multiscale import rungs, several
from nearfield.affinity.perplexity import calibrate, check_perplexity
from nearfield.algebra.method import Method
from nearfield.checks import check_count
from nearfield.parallel import spread
from nearfield.typing import Array


def target(
    method: Method,
    X: Any,
    *,
    perplexity: Any = None,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    weights: Any = None,
) -> Any:
    """The target of a method.

    ===============  ==================================================================================
    joint P          (row + rowᵀ)/2N, for pair and joint normalization; sums to one
    row P            p_j|i = exp(-β_i d²)/Σ, for point normalization; every row sums to one
    weights          (v + vᵀ)/2 with v = p_j|i over the largest of its row, for bare weights: the
                     nearest neighbour has weight 1, however far it is in many dimensions
    distances        as they are, for a cost of distances
    ===============  ==================================================================================

    Parameters
    ----------
    method : Method
        What the target is for.
    X : array, sparse matrix or data frame (points, columns)
        The data; with ``metric="precomputed"`` the distances of all pairs, or those to neighbours alone: a
        sparse matrix in which what is stored in row i are the distances from i (stored zeros too, the
        diagonal not), or a tuple (indices, distances) of two arrays (points, neighbours), in which -1 is an
        empty place; with ``metric="affinity"`` a ready P, or weights, dense or sparse, which is normalized
        as the method needs it.
    perplexity : float, array, list or "multiscale", optional
        Effective number of neighbours, of all points or, as an array, of each; a list, or "multiscale" for
        2, 4, 8, … up to half of the points, gives the mean over them. By default the method's own: 30, or a
        third of few neighbours, or all scales.
    metric : str or callable
        See `nearfield.affinity.distances.distances`.
    weights : array (points,), optional
        How many equal rows each row stands for. The target is then that between single ones: a joint P is
        (row + rowᵀ)/2Σm, and the diagonal is between two equal rows.

    Returns
    -------
    array or csr_array
        Sparse where a sparse P was given, or the distances of some pairs only.
    """
    X = as_matrix(X, metric)
    weights = check_weights(weights, X.shape[0])
    if isinstance(metric, str) and metric == "affinity":
        return normalize(method, X, weights)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, points and columns, got shape {X.shape}")
    if method.target_kind == "distances":
        D = distances(X, metric, metric_params, n_jobs)
        check_apart(D)
        return D
    perplexities = several(perplexity, method, X.shape[0])
    if perplexities is not None:
        options = {"metric": metric, "metric_params": metric_params, "n_jobs": n_jobs, "weights": weights}
        return rungs(method, X, perplexities, **options).top()
    graph = distance_graph(X, metric)
    if graph is not None:
        counts = np.diff(graph.indptr)
        perplexities = check_perplexity(perplexity, X.shape[0], others(X.shape[0], graph, weights))
        found = nearest(graph, counts.max(), n_jobs, dtype=np.float64)
        P = graph_target(method, found, perplexities, n_jobs, weights)
        return P.toarray() if counts.min() == X.shape[0] - 1 else P
    n = X.shape[0]
    perplexities = check_perplexity(perplexity, n, others(n, None, weights))
    squared = distances(X, metric, metric_params, n_jobs, squared=True)
    check_apart(squared)
    bare = method.target_kind == "weights"
    copies = None if weights is None else np.broadcast_to(weights, (n, n))
    P = calibrate(squared, perplexities, normalized=not bare, copies=copies, n_jobs=n_jobs).rows
    if method.target_kind != "row":
        number = n if weights is None else float(weights.sum())
        spread(loops.symmetrise, n, P, 0.5 if bare else 0.5 / number, n_jobs=n_jobs)
    return P


def others(n: int, graph: Any, weights: Array | None) -> Any:
    """How many neighbours a point has to choose from: all others, or those in a graph, and all copies."""
    if graph is None:
        return n - 1 if weights is None else weights.sum() - 1
    if weights is None:
        return np.diff(graph.indptr)
    return np.add.reduceat(weights[graph.indices], graph.indptr[:-1]) + weights - 1


def normalize(method: Method, P: Any, weights: Array | None = None) -> Any:
    """A user's own P or weights, normalized as the method needs them: joint, by row, or just symmetric."""
    if method.target_kind == "distances":
        raise ValueError("a cost of distances takes distances, not affinities: use metric='precomputed'")
    P = check_target(method, P, weights)
    check_count(P.shape[0])
    sums = seen(P, weights)
    empty = np.flatnonzero(sums == 0)
    if len(empty):
        raise ValueError(f"point {empty[0]} has no neighbour in P ({len(empty)} such rows): leave it out")
    if method.target_kind == "row":
        return sparse.csr_array(sparse.diags_array(1 / sums) @ P) if sparse.issparse(P) else P / sums[:, None]
    P = P + P.T
    if method.target_kind == "weights":
        return P / 2.0
    return P / (P.sum() if weights is None else weights @ seen(P, weights))


def check_target(method: Method, target: Any, weights: Array | None = None) -> Any:
    """The target as float64 with a zero diagonal, or as a canonical CSR, or a reason why not.

    With weights, the diagonal of a point that has copies is kept: it is that between two of them.
    A dense one that is so already is not copied, so whoever calls must not write to it.
    """
    what = {"distances": "a distance matrix", "weights": "weights"}.get(method.target_kind, "P")
    if sparse.issparse(target):
        if method.target_kind == "distances":
            raise ValueError("a cost of distances needs all pairs: pass a dense distance matrix")
        p = sparse.csr_array(target, dtype=np.float64, copy=True)
        p.sum_duplicates()
        p.eliminate_zeros()
    else:
        p = np.asarray(target, dtype=np.float64)
    if p.ndim != 2 or p.shape[0] != p.shape[1]:
        raise ValueError(f"{what} must be square, one row and one column per point, got shape {p.shape}")
    p = without_own(p, weights)
    values = p.data if sparse.issparse(p) else p
    if not np.all(np.isfinite(values)):
        row = _first_row(p, ~np.isfinite(values))
        raise ValueError(f"{what} contains NaN or infinity in row {row}: leave out such points")
    if values.size and values.min() < 0:
        row = _first_row(p, values < 0)
        raise ValueError(f"{what} contains negative values in row {row}: they must be 0 or more")
    return p


def _first_row(p: Any, wrong: Any) -> int:
    """The first row with a value that is wrong; of a sparse array, among its stored values."""
    if sparse.issparse(p):
        return int(np.searchsorted(p.indptr, np.argmax(wrong), side="right")) - 1
    return int(np.argmax(wrong.any(axis=1)))


def is_symmetric(p: Any) -> bool:
    """Whether a matrix equals its transpose but for rounding; dense ones are compared block by block."""
    if sparse.issparse(p):
        gap = abs(p - p.T)
        return gap.nnz == 0 or float(gap.max()) <= 1e-10 * float(abs(p).max())
    n, largest = p.shape[0], float(p.max(initial=0.0))
    step = max(1, 2**20 // max(n, 1))
    return all(
        np.abs(p[lo : lo + step] - p[:, lo : lo + step].T).max(initial=0.0) <= 1e-10 * largest
        for lo in range(0, n, step)
    )
