"""The search for neighbours among vectors: by faiss, in lists around centres, with measured recall.

Each chunk of queries is searched on one thread, so that their number changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.parallel import over_chunks

RECALL = 0.98  # the share of the true neighbours that a search must find
QUERIES = 500  # points on which the recall is measured
FEWEST, MORE = 10, 1.2  # lists that are searched at first, and by how many times more until the recall is met


@dataclass(frozen=True)
class Lists:
    """Points in lists around centres, of which those are searched whose centres are nearest.

    Attributes
    ----------
    centres : array (lists, columns)
        In the middle of each list.
    order, starts : array (points,), (lists + 1,)
        The points, list after list, and where each list starts among them.
    searched : int
        How many lists are.
    recall : float
        The share of the true neighbours that are found.
    """

    centres: Any
    order: Any
    starts: Any
    searched: int
    recall: float

    @classmethod
    def of(cls, centres: Any, cells: Any, searched: int, recall: float) -> Lists:
        """From the list of each point."""
        starts = np.zeros(len(centres) + 1, np.int64)
        np.cumsum(np.bincount(cells, minlength=len(centres)), out=starts[1:])
        order = np.argsort(cells, kind="stable").astype(np.int32)
        return cls(centres, order, starts, int(searched), recall)


def all_distances(base: Any) -> Any:
    import faiss

    index = faiss.IndexFlatL2(base.shape[1])
    index.add(base)
    return index


def by_lists(X: Any, base: Any, k: int, n_jobs: int | None) -> tuple[Any, float, str, Lists]:
    """The k nearest of the base by an inverted file, searched as widely as the recall calls for."""
    import faiss

    # Training is on one thread: with more, faiss adds up in another order.
    faiss.omp_set_num_threads(1)
    n, dimensions = base.shape
    lists = int(2 * np.sqrt(n))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(dimensions), dimensions, lists)
    index.cp.niter = 6
    random = np.random.default_rng(0)
    index.train(base[random.permutation(n)[: 40 * lists]])
    _, cells = search(index.quantizer, base, 1, n_jobs)
    cells = np.ascontiguousarray(cells.ravel())
    index.add_core(n, faiss.swig_ptr(base), None, faiss.swig_ptr(cells))

    queries = X[random.permutation(len(X))[:QUERIES]]
    exact = search(all_distances(base), queries, k, n_jobs)[1]
    index.nprobe = FEWEST
    while True:
        found = search(index, queries, k, n_jobs)[1]
        recall = sum(np.intersect1d(*both).size for both in zip(exact, found, strict=True)) / exact.size
        if recall >= RECALL or index.nprobe >= lists:
            break
        index.nprobe = min(lists, int(np.ceil(MORE * index.nprobe)))
    how = f"inverted file of {lists} lists, {index.nprobe} searched, recall {recall:.3f}"
    lists_of = Lists.of(index.quantizer.reconstruct_n(0, lists), cells, index.nprobe, recall)
    # List by list: queries of the same one search the same others, which are then in the cache.
    if base is not X:
        cells = search(index.quantizer, X, 1, n_jobs)[1].ravel()
    together = np.argsort(cells, kind="stable")
    return search(index, X, k, n_jobs, together)[1], recall, how, lists_of


def search(index: Any, X: Any, k: int, n_jobs: int | None, order: Any = None) -> tuple[Any, Any]:
    """Distances and indices, each chunk of queries on one thread, so that their number changes nothing."""
    import faiss

    squared, indices = np.empty((len(X), k), np.float32), np.empty((len(X), k), np.int64)

    def rows(lo: int, hi: int) -> None:
        faiss.omp_set_num_threads(1)  # of the calling thread
        rows = slice(lo, hi) if order is None else order[lo:hi]
        squared[rows], indices[rows] = index.search(X[rows], k)

    over_chunks(rows, len(X), n_jobs=n_jobs)
    return squared, indices
