"""The points of a worker, and its halo: those of other workers that neighbours of its own are.

Points are numbered by place: those of the first worker come first. Worker r has the rows of a matrix that
belong to its own points; on its own it numbers these first, and then its halo.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.edges import index_type
from nearfield.cluster.members import Members
from nearfield.engine.share import Share


class Places:
    """Which numbers the points of each worker have.

    Parameters
    ----------
    together : Members
        The workers.
    n : int
        How many points this one has.
    """

    def __init__(self, together: Members, n: int) -> None:
        self.together, self.n = together, n
        self.starts = np.concatenate([[0], np.cumsum(together.gathered(n))]).astype(np.int64)

    @property
    def first(self) -> int:
        """The number of this worker's first point."""
        return int(self.starts[self.together.rank])

    @property
    def total(self) -> int:
        """How many points all have."""
        return int(self.starts[-1])

    def cuts(self, numbers: Any) -> Any:
        """Where those of each worker begin among numbers that rise."""
        return np.searchsorted(numbers, self.starts)

    def transposed(self, M: Any) -> Any:
        """The own rows of Mᵀ, of a matrix in compressed rows whose columns are all points."""
        turned = sparse.csc_array(M)
        turned.sort_indices()
        at = turned.indptr[self.starts]
        counts = np.diff(turned.indptr).astype(np.int64)
        columns = [
            self.together.exchanged([values[lo:hi] for lo, hi in pairwise(bounds)])
            for values, bounds in ((counts, self.starts), (turned.indices, at), (turned.data, at))
        ]
        total = None
        for rank, (lengths, rows, values) in enumerate(zip(*columns, strict=True)):
            indptr = np.concatenate([[0], np.cumsum(lengths)])
            numbers = rows.astype(np.int64) + self.starts[rank]
            part = sparse.csr_array((values, numbers, indptr), (self.n, self.total))
            total = part if total is None else total + part
        return sparse.csr_array(total)


class Seen(Share):
    """The points of a worker and its halo.

    Parameters
    ----------
    places : Places
        Which numbers the points have.
    graph : csr_array
        A row for each own point, with a value for each of its neighbours, who have it as theirs.
    """

    def __init__(self, places: Places, graph: Any) -> None:
        self.together, self.places, self.n = places.together, places, places.n
        first = places.first
        needed = np.unique(graph.indices)
        self.halo = needed[(needed < first) | (needed >= first + self.n)].astype(np.int64)
        cuts = places.cuts(self.halo)
        self._cuts = list(pairwise(cuts.tolist()))
        asked = [self.halo[lo:hi] for lo, hi in self._cuts]
        self._wanted = [each - first for each in self.together.exchanged(asked)]

    def numbered(self, M: Any) -> Any:
        """A matrix whose columns are all points, with those that are seen as its columns."""
        first = self.places.first
        own = (M.indices >= first) & (M.indices < first + self.n)
        columns = np.where(own, M.indices - first, self.n + np.searchsorted(self.halo, M.indices))
        shape = (self.n, self.n + len(self.halo))
        kind = index_type(max(M.nnz, shape[1]))
        return sparse.csr_array((M.data, columns.astype(kind), M.indptr.astype(kind)), shape)

    def _by_place(self, M: Any) -> Any:
        """The reverse."""
        numbers = np.concatenate([self.places.first + np.arange(self.n), self.halo])
        return sparse.csr_array((M.data, numbers[M.indices], M.indptr), (self.n, self.places.total))

    def seen(self, values: Any) -> Any:
        with self.together.sending("halo"):
            parts = self.together.exchanged([values[rows] for rows in self._wanted])
        return np.concatenate([values, *(part for part in parts if len(part))])

    def given_back(self, values: Any) -> Any:
        with self.together.sending("halo"):
            halo = values[self.n :]
            parts = self.together.exchanged([halo[lo:hi] for lo, hi in self._cuts])
        own = values[: self.n].copy()
        for rows, part in zip(self._wanted, parts, strict=True):
            own[rows] += part  # each row is asked for once
        return own

    def with_transposed(self, M: Any) -> Any:
        M = self._by_place(M)
        return self.numbered(sparse.csr_array(M + self.places.transposed(M)))
