"""The search for neighbours among vectors: by faiss, in lists around centres, with measured recall.

Each chunk of queries is searched on one thread, so that their number changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.affinity import list_loops
from nearfield.affinity.list_loops import STEP, TOGETHER
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


@dataclass(frozen=True)
class Columns:
    """Rows in lists, each list column by column, so that a loop reads many rows of a column at once.

    Columns are filled up with zeros, and lists with rows that are infinitely far, to full steps of the loop.

    Attributes
    ----------
    values : array
        The lists one after the other, each (columns, rows) in one piece.
    members : array (rows,)
        Which row each is.
    starts : array (lists + 1,)
        Where each list starts among them.
    """

    values: Any
    members: Any
    starts: Any

    @classmethod
    def of(cls, X: Any, order: Any, starts: Any) -> Columns:
        """The rows of X in the lists that `Lists` describes."""
        sizes = np.diff(starts)
        widths = TOGETHER * -(-sizes // TOGETHER)
        begins = np.zeros(len(starts), np.int64)
        np.cumsum(widths, out=begins[1:])
        columns = full_columns(X.shape[1])
        values, members = np.zeros(columns * begins[-1], np.float32), np.zeros(begins[-1], np.int32)
        for cell, (size, width) in enumerate(zip(sizes, widths, strict=True)):
            rows, begin = order[starts[cell] : starts[cell + 1]], begins[cell]
            here = values[columns * begin : columns * (begin + width)].reshape(columns, width)
            here[: X.shape[1], :size] = X[rows].T
            here[:, size:] = np.inf
            members[begin : begin + size] = rows
        return cls(values, members, begins)


def full_columns(count: int) -> int:
    """The number of columns, filled up to full steps of the loop."""
    return STEP * -(-count // STEP)


def nearest_in_lists(
    asking: Any, centres: Columns, points: Columns, searched: int, k: int, n_jobs: int | None
) -> tuple[Any, Any]:
    """The k nearest points to some rows, and their squared distances, in the lists with the nearest centres.

    A row's result is its own, to the last bit: it does not depend on the rows beside. Of equally near points
    the first ones are taken; where there are fewer than k, an entry at the end is at infinity.
    """
    indices, squared = np.empty((len(asking), k), np.int32), np.empty((len(asking), k), np.float32)
    kept = (centres.values, centres.members, points.values, points.members, points.starts, searched)
    over_chunks(list_loops.search, len(asking), asking, *kept, indices, squared, n_jobs=n_jobs)
    return indices, squared


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
