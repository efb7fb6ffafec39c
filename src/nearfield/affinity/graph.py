"""Sparse targets: P and weights on the graph of nearest neighbours, near-linear in time and memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity import loops
from nearfield.affinity.neighbours import Neighbours, neighbours
from nearfield.affinity.perplexity import calibrate, check_perplexity
from nearfield.affinity.targets import normalize
from nearfield.algebra.method import Method
from nearfield.threads import spread

NEAR = 3  # times the perplexity: so many neighbours hold all but a trace of p


def sparse_target(
    method: Method,
    X: Any,
    *,
    perplexity: Any = None,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Any:
    """The target of a method on the nearest neighbours alone, in float32.

    See `nearfield.affinity.targets.target` for the kinds of targets and the arguments.
    """
    if isinstance(metric, str) and metric == "affinity":
        return sparse.csr_array(normalize(method, X))
    n = X.shape[0]
    perplexities = check_perplexity(perplexity, n)
    k = min(n - 1, int(np.ceil(NEAR * perplexities.max())))
    found = neighbours(X, k, metric=metric, metric_params=metric_params, n_jobs=n_jobs)
    return graph_target(method, found, perplexities, n_jobs)


def graph_target(method: Method, found: Neighbours, perplexities: Any, n_jobs: int | None = None) -> Any:
    """The target on a graph of neighbours; its distances are overwritten."""
    weights = method.target_kind == "weights"
    calibrated = calibrate(
        found.squared, perplexities, skip_self=False, normalized=not weights, n_jobs=n_jobs
    )
    rows, indices = calibrated.rows, found.indices
    n, k = indices.shape
    spread(loops.sort_rows, n, indices, rows, n_jobs=n_jobs)
    if method.target_kind == "row":
        indptr = np.arange(0, n * k + 1, k, dtype=_index_type(n * k))
        return sparse.csr_array((rows.ravel(), indices.ravel().astype(indptr.dtype), indptr), (n, n))
    return _symmetrised(indices, rows, 0.5 if weights else 0.5 / n, n_jobs)


def _symmetrised(indices: Any, values: Any, factor: float, n_jobs: int | None) -> Any:
    """Factor (M + Mᵀ) of a matrix with k sorted entries in every row."""
    n, k = indices.shape
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(indices.ravel(), minlength=n), out=starts[1:])
    rows, transposed = np.empty(n * k, np.int32), np.empty(n * k, np.float32)
    ends = starts[:-1].copy()
    loops.transpose(indices, values, ends, rows, transposed)
    lengths = np.empty(n, np.int64)
    spread(loops.merged_lengths, n, indices, starts, rows, lengths, n_jobs=n_jobs)
    total = int(lengths.sum())
    indptr = np.zeros(n + 1, _index_type(total))
    np.cumsum(lengths, out=indptr[1:])
    out_indices, out_values = np.empty(total, indptr.dtype), np.empty(total, np.float32)
    arguments = (indices, values, starts, rows, transposed, factor, indptr, out_indices, out_values)
    spread(loops.merge, n, *arguments, n_jobs=n_jobs)
    return sparse.csr_array((out_values, out_indices, indptr), (n, n))


def _index_type(count: int) -> type:
    return np.int32 if count < 2**31 else np.int64
