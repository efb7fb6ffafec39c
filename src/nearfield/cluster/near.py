"""The neighbours of a worker's rows, among its own and those of others that lie near, with measured recall.

A row whose nearest cells are another worker's may be a neighbour of rows there, and is sent along. How many
of the nearest cells count, the recall decides: it is measured over all workers, against all rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.affinity.neighbours import Neighbours, share_out
from nearfield.affinity.search import QUERIES, RECALL, all_distances, search
from nearfield.affinity.space import nearest_rows
from nearfield.cluster.dealing import Dealt
from nearfield.parallel import one_blas_thread

FIRST, MORE = 4, 2  # nearest cells of a row that count at first, and times more until the recall is met
MISSED = 0.01  # that the recall may fall short of what the search of each worker has met for its own


@one_blas_thread()
def neighbours_together(rows: Dealt, k: int, n_jobs: int | None) -> Neighbours:
    """The k nearest of each own row, by place."""
    exact, asked = _exact(rows, k, n_jobs)
    together, cells, most = rows.together, FIRST, rows.near.shape[1]
    while True:
        X, places = _with_strangers(rows, min(cells, most))
        indices, squared, _, how = nearest_rows(X, X[: len(rows.X)], np.arange(len(rows.X)), k, n_jobs)
        found = squared[asked] <= exact[:, None] * (1 + 1e-5)
        right, of = together.sum(np.array([found.sum(), found.size])).tolist()
        if right >= (RECALL - MISSED) * of or cells >= most:
            break
        cells *= MORE
    share_out(indices, squared)
    how = f"{how}; {min(cells, most)} cells of others, recall {right / of:.3f} over {together.size} workers"
    return Neighbours(places[indices], squared, right / of, how, rows.unit)


def _exact(rows: Dealt, k: int, n_jobs: int | None) -> tuple[Any, Any]:
    """For some own rows, the squared distance within which their k nearest lie; and which rows these are."""
    together, n = rows.together, len(rows.X)
    asked = np.unique(np.linspace(0, n - 1, together.share(QUERIES, n)).astype(np.int64))
    bounds = np.concatenate([[0], np.cumsum(together.gathered(len(asked)))])
    queries = together.all_rows(rows.X[asked])
    found = search(all_distances(rows.X), queries, min(k + 1, n), n_jobs)[0]
    found = np.sort(np.hstack(together.gathered(found)), axis=1)[:, k]  # one is the row itself
    return found[bounds[together.rank] : bounds[together.rank + 1]], asked


def _with_strangers(rows: Dealt, cells: int) -> tuple[Any, Any]:
    """The own rows, and those of others whose nearest cells are this worker's; and where all of them live."""
    together, places = rows.together, rows.places
    to = rows.owners[rows.near[:, :cells]]
    sent = [
        np.flatnonzero((to == rank).any(axis=1)) if rank != together.rank else np.zeros(0, np.int64)
        for rank in range(together.size)
    ]
    strangers = together.exchanged([rows.X[each] for each in sent])
    homes = together.exchanged([places.first + each for each in sent])
    return np.concatenate([rows.X, *strangers]), np.concatenate(
        [places.first + np.arange(len(rows.X)), *homes]
    )
