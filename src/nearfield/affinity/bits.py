"""Rows of bits as a space to search in, by Jaccard's (Tanimoto's) or Hamming's distance: exact, on all cores.

What two rows share is counted in words of 64 bits, or from the lists of what is set where these are short.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity import bit_loops
from nearfield.affinity.space_base import Found, Space
from nearfield.checks import finite
from nearfield.parallel import over_chunks
from nearfield.typing import Array

OF_SETS = ("jaccard", "tanimoto")  # two names of one distance
BITWISE = (*OF_SETS, "hamming")
AT_ONCE = 8  # words that a processor compares in the time in which one entry of a list is counted


def is_bits(X: Any, metric: Any, metric_params: dict[str, Any] | None = None) -> bool:
    """Whether a metric of some data is one of bits.

    Of Jaccard's, what is not zero is set, as in scikit-learn; Hamming's distance of other numbers than 0 and
    1 is not one of bits.

    Examples
    --------
    >>> import numpy as np
    >>> is_bits(np.array([[0, 2]]), "jaccard"), is_bits(np.array([[0, 2]]), "hamming")
    (True, False)
    """
    if not isinstance(metric, str) or metric_params:
        return False
    return metric in OF_SETS or (metric == "hamming" and zeros_and_ones(X))


def zeros_and_ones(X: Any) -> bool:
    """Whether data hold nothing else."""
    values = X.data if sparse.issparse(X) else np.asarray(X)
    return values.dtype == bool or bool(np.all((values == 0) | (values == 1)))


class Bits(Space):
    """Rows of bits."""

    def __init__(self, X: Any, metric: str) -> None:
        finite(X)
        self.n, self.width = X.shape
        self._columns = 0 if metric in OF_SETS else self.width
        self._hamming = metric not in OF_SETS
        self._X = lists_of(X)
        self._counts = np.diff(self._X.indptr).astype(np.int32)
        each = np.bincount(self._X.indices, minlength=self.width).astype(np.float64)
        # An entry of a list for every pair of rows in which a column is set, against words for all pairs.
        listed = float(each @ each) * AT_ONCE < float(self.n) ** 2 * -(-self.width // 64)
        self._words = None if listed else words_of(self._X)

    def nearest(self, k: int, n_jobs: int | None = None, queries: Any = None, members: Any = None) -> Found:
        own = np.arange(self.n) if queries is None else np.asarray(queries)
        asking = self._X if queries is None else self._X[own]
        if members is not None:  # where a point is among them
            at = np.full(self.n, -1)
            at[members] = np.arange(len(members))
            own = at[own]
        indices, squared = self._nearest(asking, own, k, n_jobs, members)
        if members is not None:
            indices = np.asarray(members)[indices].astype(np.int32)
        return indices, squared, 1.0, self.how

    def nearest_to(self, rows: Any, k: int, n_jobs: int | None = None) -> Found:
        asking = self._asking(rows)
        indices, squared = self._nearest(asking, np.full(rows.shape[0], -1), k, n_jobs)
        return indices, squared, 1.0, self.how

    def to_all(self, rows: Any, n_jobs: int | None = None, members: Any = None) -> Any:
        return self.distances_to(self._asking(rows), n_jobs, members) ** 2

    def apart(self, rows: Any, others: Any) -> Any:
        found, step = np.empty(others.shape, np.float32), max(1, 2**22 // self.n)
        for lo in range(0, len(rows), step):
            D = self.of_points(rows[lo : lo + step])
            found[lo : lo + step] = np.take_along_axis(D, others[lo : lo + step], axis=1)
        return found

    @property
    def how(self) -> str:
        """How neighbours are found, in a few words."""
        return "exact, by " + ("lists of set bits" if self._words is None else "words of 64 bits")

    def among_all(self, n_jobs: int | None = None) -> Array:
        """The distances of all pairs."""
        return self.distances_to(self._X, n_jobs)

    def of_points(self, rows: Any, n_jobs: int | None = None) -> Array:
        """The distances of some points to all."""
        return self.distances_to(self._X[rows], n_jobs)

    def distances_to(self, asking: Any, n_jobs: int | None, members: Any = None) -> Array:
        """The distances of some rows, as lists of what is set, to all or some points."""
        base, counts = self._base(members)
        out = np.empty((asking.shape[0], len(counts)))
        loop = bit_loops.all_lists if self._words is None else bit_loops.all_words
        rows, asked = self._as_asked(asking)
        over_chunks(loop, len(out), *rows, *base, asked, counts, self._columns, out, n_jobs=n_jobs)
        return out

    def _nearest(
        self, asking: Any, own: Any, k: int, n_jobs: int | None, members: Any = None
    ) -> tuple[Any, Any]:
        base, counts = self._base(members)
        indices, squared = np.empty((len(own), k), np.int32), np.empty((len(own), k), np.float32)
        loop = bit_loops.nearest_lists if self._words is None else bit_loops.nearest_words
        rows, asked = self._as_asked(asking)
        arguments = (*rows, *base, asked, counts, own, self._columns, indices, squared)
        over_chunks(loop, len(own), *arguments, n_jobs=n_jobs)
        return indices, squared

    def _base(self, members: Any) -> tuple[tuple[Any, ...], Any]:
        """All or some points as the loops take them, and how many bits each has."""
        counts = self._counts if members is None else self._counts[members]
        if self._words is not None:
            return (self._words if members is None else self._words[members],), counts
        by_column = (self._X if members is None else self._X[members]).tocsc()
        return (by_column.indptr, by_column.indices), counts

    def _as_asked(self, asking: Any) -> tuple[tuple[Any, ...], Any]:
        """Rows that ask, likewise."""
        rows = (asking.indptr, asking.indices) if self._words is None else (words_of(asking),)
        return rows, np.diff(asking.indptr).astype(np.int32)

    def _asking(self, rows: Any) -> Any:
        if rows.shape[1] != self.width:
            raise ValueError(f"other rows must have {self.width} columns as the points, got {rows.shape[1]}")
        finite(rows, what="rows")
        if self._hamming and not zeros_and_ones(rows):
            raise ValueError("the points hold nothing but 0 and 1, so other rows must too")
        return lists_of(rows)


def lists_of(X: Any) -> Any:
    """What is set in each row, as a sparse matrix of bytes whose columns rise."""
    if sparse.issparse(X):
        X = sparse.csr_array(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
    else:
        X = sparse.csr_array(np.asarray(X) != 0)
    return sparse.csr_array((np.ones(X.nnz, np.int8), X.indices, X.indptr), X.shape)


def words_of(X: Any) -> Any:
    """Rows in words of 64 bits, the last one filled up with zeros."""
    n, width = X.shape
    words, step = np.zeros((n, -(-width // 64)), np.uint64), max(1, 2**24 // max(width, 1))
    octets = words.view(np.uint8)
    for lo in range(0, n, step):
        packed = np.packbits(X[lo : lo + step].toarray().astype(bool), axis=1)
        octets[lo : lo + step, : packed.shape[1]] = packed
    return words
