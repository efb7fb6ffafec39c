"""Data as a space to search in: the nearest of some rows among others, in one unit.

Euclidean distances, of rows as they are or changed one by one, are searched by faiss, exactly where that is
quick and else by an inverted file with measured recall; bits are compared word by word; all other metrics are
computed pair by pair, in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity import search_loops
from nearfield.affinity.between import Between, of_metric, of_products
from nearfield.affinity.bits import Bits, is_bits
from nearfield.affinity.distances import NOT_FINITE, check_gave
from nearfield.affinity.row_metrics import (
    CENTRED,
    HALVED,
    PRODUCT,
    changed,
    is_product,
    is_row_metric,
    unchanged,
)
from nearfield.affinity.search import (
    QUERIES,
    Columns,
    Lists,
    all_distances,
    by_lists,
    full_columns,
    nearest_in_lists,
    search,
)
from nearfield.affinity.space_base import Found, Space
from nearfield.checks import finite
from nearfield.parallel import over_chunks

EXACT_UP_TO = 20_000  # points, above which an inverted file is quicker than all distances
DENSE_UP_TO = 2**31  # bytes that sparse data may take as dense ones; larger ones are multiplied as they are
BLOCK = 2**24  # distances at a time where all are computed
ONE_LIST = 5_000  # points, up to which other rows are compared with all of them
FAR = 1e36  # a squared distance in float32, beside which those among points are small
MEASURED = 90  # neighbours on which the recall of lists is measured that no search has left


def space(X: Any, metric: Any = "euclidean", metric_params: dict[str, Any] | None = None) -> Space:
    """The space of some data.

    Examples
    --------
    >>> indices, squared, _, _ = space(np.array([[0.0], [1.0], [3.0]])).nearest(1)
    >>> indices.ravel(), squared.ravel()
    (array([1, 0, 1], dtype=int32), array([1., 1., 4.], dtype=float32))
    """
    if is_bits(X, metric, metric_params):
        return Bits(X, metric)
    product = is_product(metric, metric_params)
    plain = product or is_row_metric(metric, metric_params)
    if plain and not (sparse.issparse(X) and 4 * X.shape[0] * X.shape[1] > DENSE_UP_TO):
        return Products(X) if product else Vectors(X, metric)
    among, to = of_products(X, metric) if plain else of_metric(X, metric, metric_params)
    return Table(among, to, X.shape[0])


def nearest_found(asking: Any, base: Any, k: int, n_jobs: int | None) -> tuple[Any, float, str, Lists | None]:
    """The k nearest and the row itself, exactly where that is quick; the recall, how, and in which lists."""
    if len(asking) * len(base) <= EXACT_UP_TO**2:
        return search(all_distances(base), asking, k + 1, n_jobs)[1], 1.0, "exact", None
    return by_lists(asking, base, k + 1, n_jobs)


def nearest_rows(X: Any, asking: Any, rows: Any, k: int, n_jobs: int | None) -> Found:
    """The k nearest among some rows of each that asks, which is one of them: its number is given.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]], np.float32)
    >>> nearest_rows(X, X[:1], np.zeros(1, np.int64), 2, 1)[0]
    array([[1, 2]], dtype=int32)
    """
    found, recall, how, _ = nearest_found(asking, X, k, n_jobs)
    indices: Any = np.empty((len(asking), k), np.int32)
    squared: Any = np.empty((len(asking), k), np.float32)
    arguments = (X, asking, rows, found, indices, squared)
    over_chunks(search_loops.leave_out_self, len(asking), *arguments, n_jobs=n_jobs)
    return indices, squared, recall, how


class Vectors(Space):
    """Distances of rows that are Euclidean ones, or their squares, of rows that are changed one by one."""

    def __init__(self, X: Any, metric: str = "euclidean") -> None:
        self.metric = metric
        self.X, self._mean, self._factor = _centred(X, metric)
        self.n, self.unit = len(self.X), 1 / self._factor
        self.lists: Lists | None = None
        self._laid: tuple[Columns, Columns] | None = None
        self.farthest = 1.0  # no two points are further apart, squared: float32 can hold the square of that
        if metric == "sqeuclidean":
            self.farthest = 4 * float(np.einsum("ij,ij->i", self.X, self.X).max())
            self.unit = self.unit**2 * self.farthest

    def nearest(self, k: int, n_jobs: int | None = None, queries: Any = None, members: Any = None) -> Found:
        base = self.X if members is None else np.ascontiguousarray(self.X[members])
        asking = self._own(queries)
        found, recall, how, lists = nearest_found(asking, base, k, n_jobs)
        if lists is not None and base is self.X:
            self.lists = lists
        if members is not None:
            found = np.where(found < 0, -1, members[found])
        rows = np.arange(self.n) if queries is None else queries
        indices: Any = np.empty((len(asking), k), np.int32)
        squared: Any = np.empty((len(asking), k), np.float32)
        arguments = (self.X, asking, rows, found, indices, squared)
        over_chunks(search_loops.leave_out_self, len(asking), *arguments, n_jobs=n_jobs)
        return indices, self._by_metric(squared, asking), recall, how

    def nearest_to(self, rows: Any, k: int, n_jobs: int | None = None) -> Found:
        """Row by row in one fixed order, unlike a search in batches: a row's result is its own."""
        lists, (centres, points) = self.listed(n_jobs), self.laid(n_jobs)
        asking = self._asking(rows)
        asking = np.pad(asking, ((0, 0), (0, full_columns(asking.shape[1]) - asking.shape[1])))
        indices, squared = nearest_in_lists(asking, centres, points, lists.searched, k, n_jobs)
        how = f"inverted file of {len(lists.centres)} lists, {lists.searched} searched"
        how = "exact" if len(lists.centres) == 1 else f"{how}, recall {lists.recall:.3f}"
        return indices, self._by_metric(squared, asking), lists.recall, how

    def to_all(self, rows: Any, n_jobs: int | None = None, members: Any = None) -> Any:
        asking, base = self._asking(rows), self.X if members is None else self.X[members]
        squared: Any = np.empty((len(asking), len(base)), np.float32)
        over_chunks(search_loops.squared_to_all, len(asking), base, asking, squared, n_jobs=n_jobs)
        return self._by_metric(squared, asking)

    def rows(self) -> Any:
        """The points, to the digits of float32, as rows in which the metric sees what it saw at first."""
        return unchanged(self.X.astype(np.float64) / self._factor + self._mean, self.metric)

    def _asking(self, rows: Any) -> Any:
        """Other rows as the points are."""
        if rows.shape[1] != self.X.shape[1]:
            raise ValueError(
                f"other rows must have {self.X.shape[1]} columns as the points, got {rows.shape[1]}"
            )
        # Beyond, float32 cannot hold the square of a distance: whoever is as far is far from all.
        farthest = np.sqrt(FAR) * self.farthest if self.metric == "sqeuclidean" else FAR
        most = float(np.sqrt(farthest / rows.shape[1]))
        return _as_points(rows, self._mean, self._factor, self.metric, most)

    def _own(self, rows: Any = None) -> Any:
        """All or some points as they ask for others."""
        return self.X if rows is None else np.ascontiguousarray(self.X[rows])

    def listed(self, n_jobs: int | None = None) -> Lists:
        """The lists that a search among all points has left, or one of all points if they are few.

        Whoever asks first, and for how many neighbours, has no say in it.
        """
        if self.lists is None:
            if self.n <= ONE_LIST:
                mean = self.X.mean(axis=0, dtype=np.float64).astype(np.float32)
                self.lists = Lists.of(mean[None], np.zeros(self.n, np.int64), 1, 1.0)
            else:
                self.lists = by_lists(self.X[:: -(-self.n // QUERIES)], self.X, MEASURED, n_jobs)[3]
        return self.lists

    def laid(self, n_jobs: int | None = None) -> tuple[Columns, Columns]:
        """The centres and the points in their lists, column by column, laid when they are first asked for.

        They take as much memory as the points themselves.
        """
        if self._laid is None:
            lists = self.listed(n_jobs)
            count = len(lists.centres)
            centres = Columns.of(lists.centres, np.arange(count), np.array([0, count]))
            self._laid = centres, Columns.of(self.X, lists.order, lists.starts)
        return self._laid

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_laid": None}

    def _by_metric(self, squared: Any, asking: Any) -> Any:
        """Squared distances by the metric, from squared Euclidean ones to rows that asked."""
        if self.metric in HALVED:
            return (squared / 2) ** 2
        return (squared / np.float32(self.farthest)) ** 2 if self.metric == "sqeuclidean" else squared

    def apart(self, rows: Any, others: Any) -> Any:
        found = np.empty(others.shape, np.float32)
        asking = self._own(rows)
        search_loops.squared_apart(self.X, asking, others, found)
        return np.sqrt(self._by_metric(found, asking))


class Products(Vectors):
    """Points that are near if their inner product is large: see `row_metrics`.

    Those that are searched have one more column, which brings them to the length of the longest; in those
    that ask it is zero, so that |q - x|² = |q|² + M² - 2 q·x.
    """

    def __init__(self, X: Any) -> None:
        finite(X)
        rows = _as_points(X, 0.0, 1.0, PRODUCT)
        largest = float(np.abs(rows).max(initial=0.0))
        if not largest > 0:
            raise ValueError(f"all {len(rows)} points are zero: there is nothing to map, check the columns")
        self.metric, self._mean, self._factor = PRODUCT, 0.0, squarable(largest)
        rows *= np.float32(self._factor)
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        self.longest = float(squares.max())  # squared
        self.X = np.column_stack([rows, np.sqrt(self.longest - squares).astype(np.float32)])
        self.n, self.unit, self.lists, self.farthest = len(rows), 1 / self._factor, None, 1.0
        self._laid = None

    def rows(self) -> Any:
        return self.X[:, :-1].astype(np.float64) / self._factor

    def _own(self, rows: Any = None) -> Any:
        asking = self.X.copy() if rows is None else np.ascontiguousarray(self.X[rows])
        asking[:, -1] = 0
        return asking

    def _asking(self, rows: Any) -> Any:
        width = self.X.shape[1] - 1
        if rows.shape[1] != width:
            raise ValueError(f"other rows must have {width} columns as the points, got {rows.shape[1]}")
        return np.column_stack(
            [_as_points(rows, 0.0, self._factor, PRODUCT), np.zeros(rows.shape[0], np.float32)]
        )

    def _by_metric(self, squared: Any, asking: Any) -> Any:
        # 2 M² - 2 q·x; of a row that is longer than all points 2 M|q|, which no product of its exceeds.
        lengths = np.einsum("ij,ij->i", asking, asking, dtype=np.float64)
        most = np.maximum(self.longest, np.sqrt(self.longest * lengths))
        return np.maximum(squared + (2 * most - self.longest - lengths)[:, None].astype(np.float32), 0)


class Table(Space):
    """Any distances that can be computed between some rows and others.

    Parameters
    ----------
    among : callable
        The distances of some points to others, by their indices; an array that may be written to.
    to : callable
        Likewise, of some other rows to points.
    n : int
        The points.
    """

    def __init__(self, among: Between, to: Between, n: int) -> None:
        self._among, self._to, self.n = among, to, n
        self._factor: float | None = None

    def nearest(self, k: int, n_jobs: int | None = None, queries: Any = None, members: Any = None) -> Found:
        rows = np.arange(self.n) if queries is None else queries
        columns = np.arange(self.n) if members is None else members

        def distances(part: slice) -> tuple[Any, float]:
            D = self._among(rows[part], columns)
            own = rows[part][:, None] == columns
            D[own] = 0.0
            farthest = _farthest(D)
            D[own] = np.inf
            return D, farthest

        return self._nearest(distances, len(rows), columns, k)

    def nearest_to(self, rows: Any, k: int, n_jobs: int | None = None) -> Found:
        indices, squared = np.empty((rows.shape[0], k), np.int32), np.empty((rows.shape[0], k), np.float32)
        for i in range(rows.shape[0]):
            found = self.to_all(rows[i : i + 1])[0]
            indices[i] = np.argsort(found, kind="stable")[:k]  # of equals the first
            squared[i] = found[indices[i]]
        return indices, squared, 1.0, "exact, all pairs"

    def to_all(self, rows: Any, n_jobs: int | None = None, members: Any = None) -> Any:
        """One row at a time: of several at once, linear algebra may round each in another way."""
        columns = np.arange(self.n) if members is None else members
        if self._factor is None:  # by the points alone, whatever the rows
            self._in_unit(_farthest(self._among(np.arange(1), np.arange(self.n))))
        squared = np.empty((rows.shape[0], len(columns)))
        for i in range(rows.shape[0]):
            D = self._to(rows[i : i + 1], columns)
            _farthest(D)
            squared[i] = D[0]
        return (squared / self.unit) ** 2

    def _nearest(
        self, distances: Callable[[slice], tuple[Any, float]], count: int, columns: Any, k: int
    ) -> Found:
        """The k nearest of each of so many rows, whose distances come block by block, with the largest."""
        indices, squared = np.empty((count, k), np.int32), np.empty((count, k))
        step, largest = max(1, BLOCK // len(columns)), 0.0
        for lo in range(0, count, step):
            part = slice(lo, min(lo + step, count))
            D, farthest = distances(part)
            largest = max(largest, farthest)
            chosen = np.argpartition(D, k - 1, axis=1)[:, :k]
            d = np.take_along_axis(D, chosen, axis=1)
            order = np.lexsort((columns[chosen], d), axis=1)
            indices[part] = columns[np.take_along_axis(chosen, order, axis=1)]
            squared[part] = np.take_along_axis(d, order, axis=1)
        squared *= self._in_unit(largest)
        squared *= squared
        return indices, squared.astype(np.float32), 1.0, "exact, all pairs in blocks"

    def apart(self, rows: Any, others: Any) -> Any:
        found, step = np.empty(others.shape, np.float32), max(1, BLOCK // self.n)
        for lo in range(0, len(rows), step):
            D = self._among(rows[lo : lo + step], np.arange(self.n))
            D = np.take_along_axis(D, others[lo : lo + step], axis=1)
            found[lo : lo + step] = D * self._in_unit(_farthest(D))
        if not np.all(np.isfinite(found)):
            raise ValueError(NOT_FINITE)
        return found

    def _in_unit(self, largest: float) -> float:
        """The factor by which float32 can square distances, by the largest that was seen at first."""
        if self._factor is None:
            if not largest > 0:
                raise ValueError(f"all {self.n} points are equal: there is nothing to map, check the columns")
            self._factor = squarable(largest)
            self.unit = 1 / self._factor
        return self._factor


def _farthest(D: Any) -> float:
    """The largest of some distances, or why they are none."""
    check_gave(D)
    farthest = float(D.max())
    if not np.isfinite(farthest):
        raise ValueError(NOT_FINITE)
    return farthest


def squarable(largest: float) -> float:
    """The factor by which numbers up to `largest` are multiplied so that float32 can hold their squares."""
    return 1.0 if 1e-12 < largest < 1e12 or not largest > 0 else 1.0 / largest


def _centred(X: Any, metric: str) -> tuple[Any, Any, float]:
    """The points as float32 around the origin, where it has the most digits, in units that it can square.

    The others are the mean that was taken off, and what they were multiplied by.
    """
    finite(X)
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    centred = metric in CENTRED
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)) if centred else 0.0
    factor = 1.0
    if centred:
        largest = max(float(np.abs(rows).max(initial=0.0)) for _, rows in _blocks(X, mean))
        if not largest > 0:
            raise ValueError(f"all {X.shape[0]} points are equal: there is nothing to map, check the columns")
        factor = squarable(largest)
    return _as_points(X, mean, factor, metric), mean, factor


def _as_points(X: Any, mean: Any, factor: float, metric: str, most: float = np.inf) -> Any:
    """Rows as float32, as the metric changes them; else centred and in a unit of their own, up to `most`."""
    out = np.empty(X.shape, np.float32)
    for lo, rows in _blocks(X, mean):
        kept = metric in (*CENTRED, PRODUCT)
        out[lo : lo + len(rows)] = np.clip(rows * factor, -most, most) if kept else changed(rows, metric, lo)
    return out


def _blocks(X: Any, mean: Any) -> Iterator[tuple[int, Any]]:
    """Some rows at a time, without their mean, and where they begin.

    All at once, float64 or a dense copy of sparse data would take twice the memory.
    """
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    n, columns = X.shape
    step = max(1, 2**20 // max(columns, 1))
    for lo in range(0, n, step):
        rows = X[lo : lo + step]
        yield lo, (rows.toarray() if sparse.issparse(rows) else rows).astype(np.float64) - mean
