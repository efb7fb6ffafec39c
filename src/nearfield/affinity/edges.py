"""P and weights on the edges of a graph of neighbours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity import graph_loops
from nearfield.affinity.neighbours import Neighbours
from nearfield.affinity.perplexity import calibrate
from nearfield.affinity.supervision import Supervision
from nearfield.affinity.traits import Traits
from nearfield.algebra.method import Method
from nearfield.parallel import over_chunks
from nearfield.typing import Array

NEGLIGIBLE = 1e-30  # a p below which a point is no neighbour; float32 can divide by it, and by it over N


def graph_target(
    method: Method,
    found: Neighbours,
    perplexities: Any,
    n_jobs: int | None = None,
    weights: Array | None = None,
    traits: Traits | None = None,
    labels: Supervision | None = None,
) -> Any:
    """The target on a graph of neighbours; its distances are overwritten, and their traits noted."""
    bare, copies, n = method.target_kind == "weights", None, len(found.indices)
    if traits is not None:
        traits.note_neighbours(found)
    if weights is not None:
        found, copies = _among_copies(found, weights)
        if traits is not None:
            traits.note_copies(weights)
    calibrated = calibrate(
        found.squared, perplexities, skip_self=False, normalized=not bare, copies=copies, n_jobs=n_jobs
    )
    if traits is not None:
        traits.note_calibrated(calibrated, weights, 0)
    if labels is not None:
        labels.discount(calibrated.rows, found.indices, copies, bare=bare)
    rows = compressed(calibrated.rows, found.indices, n, n_jobs)
    if method.target_kind == "row":
        return rows
    number = n if weights is None else float(weights.sum())
    return _symmetrised(rows, 0.5 if bare else 0.5 / number, n_jobs)


def compressed(p: Any, neighbours: Any, columns: int, n_jobs: int | None) -> Any:
    """The p of some rows and their neighbours as a matrix in compressed rows, each sorted."""
    n, there = len(p), p > NEGLIGIBLE  # an empty place has none
    counts = there.sum(axis=1)
    indptr: Any = np.zeros(n + 1, index_type(max(int(counts.sum()), columns)))
    np.cumsum(counts, out=indptr[1:])
    full = bool(there.all())
    indices = (neighbours.ravel() if full else neighbours[there]).astype(indptr.dtype, copy=False)
    values = p.ravel() if full else p[there]
    over_chunks(graph_loops.sort_rows, n, indptr, indices, values, n_jobs=n_jobs)
    return sparse.csr_array((values, indices, indptr), (n, columns))


def _among_copies(found: Neighbours, weights: Array) -> tuple[Neighbours, Array]:
    """The neighbours after the point itself, at distance 0, and how many copies of each it sees."""
    n = len(weights)
    indices = np.column_stack([np.arange(n, dtype=found.indices.dtype), found.indices])
    squared = np.column_stack([np.zeros(n, found.squared.dtype), found.squared])
    copies = weights[indices]
    copies[:, 0] -= 1
    return replace(found, indices=indices, squared=squared), copies


def _symmetrised(M: Any, factor: float, n_jobs: int | None) -> Any:
    """Factor (M + Mᵀ) of a matrix in compressed rows, each sorted."""
    n, count = M.shape[0], len(M.data)
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(M.indices, minlength=n), out=starts[1:])
    rows, transposed = np.empty(count, np.int32), np.empty(count, M.dtype)
    graph_loops.transpose(M.indptr, M.indices, M.data, starts[:-1].copy(), rows, transposed)
    lengths = np.empty(n, np.int64)
    over_chunks(graph_loops.merged_lengths, n, M.indptr, M.indices, starts, rows, lengths, n_jobs=n_jobs)
    total = int(lengths.sum())
    indptr = np.zeros(n + 1, index_type(total))
    np.cumsum(lengths, out=indptr[1:])
    indices, values = np.empty(total, indptr.dtype), np.empty(total, M.dtype)
    arguments = (M.indptr, M.indices, M.data, starts, rows, transposed, factor, indptr, indices, values)
    over_chunks(graph_loops.merge, n, *arguments, n_jobs=n_jobs)
    return sparse.csr_array((values, indices, indptr), (n, n))


def index_type(count: int) -> type:
    """The smallest type that can number so many values."""
    return np.int32 if count < 2**31 else np.int64
