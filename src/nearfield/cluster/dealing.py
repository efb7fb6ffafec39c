"""Rows are dealt out to workers by where they lie in the data, so that most neighbours live together.

The cells are those of k-means on a sample. Cells are tied by the rows that lie between them, and their graph
is cut in two, and again, where the fewest ties are; so every worker has about equally many rows. Where a row
was before has no say in where it goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.affinity.search import all_distances, search
from nearfield.affinity.space import squarable
from nearfield.cluster.members import Members
from nearfield.cluster.seen import Places
from nearfield.descent.starts import largest_eigenvectors
from nearfield.parallel import one_blas_thread

CELLS = 32  # for each worker
SAMPLE = 20_000  # rows that cells are made of
ROUNDS = 10  # of k-means
PIECE = 2**20  # numbers that are looked at together
NEAREST = 64  # cells that are known of a row, at most


@dataclass(frozen=True, eq=False)
class Dealt:
    """The rows of a worker.

    Attributes
    ----------
    places : Places
        Which numbers the rows have by place, over all workers.
    numbers : array of int64 (rows,)
        Which rows of the data they are.
    X : array of float32 (rows, columns)
        They themselves, around the mean of all and in a unit whose square float32 can hold.
    near : array (rows, cells)
        The nearest cells of each, nearest first.
    owners : array (cells,)
        The worker who has the rows of a cell.
    unit : float
        What distances are to be multiplied by to be those of the data.
    """

    places: Places
    numbers: Any
    X: Any
    near: Any
    owners: Any
    unit: float

    @property
    def together(self) -> Members:
        """The workers."""
        return self.places.together


@one_blas_thread()
def dealt(
    blocks: list[tuple[int, Any]], together: Members, n_jobs: int | None, *, by_place: bool = True
) -> Dealt:
    """The rows of this worker, from blocks of rows that are anywhere, each with the number of its first.

    With `by_place` False they are dealt out at random, which is what the other way is compared with.
    """
    X, numbers, unit = _centred(blocks, together)
    total = together.sum(len(X))
    count = max(1, min(CELLS * together.size, total // 10))
    step = max(1, total // max(SAMPLE, 10 * count))
    sampled = numbers % step == 0
    order = np.argsort(together.all_rows(numbers[sampled]))
    sample = together.all_rows(X[sampled])[order]
    centres = together.known_to_first(lambda: _cells(sample, count))
    near = search(all_distances(centres), X, min(NEAREST, count), n_jobs)[1].astype(np.int32)
    owners = _owners(near, count, together)
    to = (
        owners[near[:, 0]]
        if by_place
        else np.random.default_rng(0).permutation(total)[numbers] % together.size
    )
    mine = [np.flatnonzero(to == rank) for rank in range(together.size)]
    columns = [
        np.concatenate(together.exchanged([each[rows] for rows in mine])) for each in (X, numbers, near)
    ]
    order = np.lexsort((columns[1], columns[2][:, 0]))  # cell by cell: neighbours are then close in memory
    X, numbers, near = (each[order] for each in columns)
    return Dealt(Places(together, len(X)), numbers, X, near, owners, unit)


def _centred(blocks: list[tuple[int, Any]], together: Members) -> tuple[Any, Any, float]:
    """All rows of some blocks as float32 around the mean of all, their numbers, and the unit."""
    columns = int(together.most(max((rows.shape[1] for _, rows in blocks), default=0)))
    total, count = np.zeros(columns), 0
    for first, rows in _pieces(blocks):
        finite = np.isfinite(rows).all(axis=1)
        if not finite.all():
            number = first + int(np.argmin(finite))
            raise ValueError(f"X contains NaN or infinity in row {number}: fill in or leave out such rows")
        total += rows.sum(axis=0, dtype=np.float64)
        count += len(rows)
    mean = together.sum(total) / together.sum(count)
    largest = max((float(np.abs(rows - mean).max(initial=0.0)) for _, rows in _pieces(blocks)), default=0.0)
    largest = together.most(largest)
    if not largest > 0:
        raise ValueError("all points are equal: there is nothing to map, check the columns")
    factor = squarable(largest)
    X, numbers, at = np.empty((count, columns), np.float32), np.empty(count, np.int64), 0
    for first, rows in _pieces(blocks):
        X[at : at + len(rows)] = (rows - mean) * factor
        numbers[at : at + len(rows)] = first + np.arange(len(rows))
        at += len(rows)
    return X, numbers, 1 / factor


def _pieces(blocks: list[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """The blocks, some rows at a time: as float64, all at once would take several times their memory."""
    for first, rows in blocks:
        step = max(1, PIECE // max(rows.shape[1], 1))
        for lo in range(0, len(rows), step):
            yield first + lo, rows[lo : lo + step]


def _cells(sample: Any, count: int) -> Any:
    """The centres of so many cells, by k-means."""
    import faiss

    faiss.omp_set_num_threads(1)  # with more, faiss adds up in another order
    kmeans = faiss.Kmeans(sample.shape[1], count, niter=ROUNDS, seed=1, min_points_per_centroid=1)
    kmeans.train(np.ascontiguousarray(sample))
    return kmeans.centroids


def _owners(near: Any, count: int, together: Members) -> Any:
    """The worker of each cell, known to the first and told to all."""
    if together.alone or count < together.size:
        return np.arange(count) % together.size
    crowd = together.sum(np.bincount(near[:, 0], minlength=count))
    ties = np.zeros((count, count))
    for k in range(1, min(4, near.shape[1])):  # who lies between cells ties them
        np.add.at(ties, (near[:, 0], near[:, k]), 1.0)
    ties = together.sum(ties)
    return together.known_to_first(lambda: cut(ties + ties.T, crowd, together.size))


def cut(ties: Any, crowd: Any, parts: int) -> Any:
    """Cells in so many parts of about equal crowds, with few ties between them.

    Examples
    --------
    >>> ties = np.eye(6, k=1) + np.eye(6, k=-1)
    >>> sorted(np.bincount(cut(ties, np.ones(6), 3)).tolist())
    [2, 2, 2]
    """
    found = np.zeros(len(crowd), np.int64)
    if parts == 1:
        return found
    left = parts // 2
    degree = 1 / np.sqrt(np.maximum(ties.sum(axis=1), 1e-9))
    _, vectors = largest_eigenvectors(ties * degree * degree[:, None], 2, np.random.RandomState(0))
    order = np.argsort(vectors[:, -1] * degree, kind="stable")
    filled = np.cumsum(crowd[order])
    half = np.abs(filled - filled[-1] * left / parts)
    count = min(max(left, int(np.argmin(half)) + 1), len(crowd) - (parts - left))
    for cells, share, first in ((order[:count], left, 0), (order[count:], parts - left, left)):
        found[cells] = first + cut(ties[np.ix_(cells, cells)], crowd[cells], share)
    return found
