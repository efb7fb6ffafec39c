"""The distances from some points to all points: a few rows at a time of a matrix that is never stored."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.between import of_products
from nearfield.affinity.bits import Bits, is_bits
from nearfield.affinity.distances import NOT_FINITE, check_metric, check_precomputed
from nearfield.affinity.row_metrics import HALVED, changed, is_product, is_row_metric
from nearfield.io.chunked import Chunked
from nearfield.judge import loops
from nearfield.typing import Array

Rows = Callable[[Any], Array]  # indices of points → (indices, points)


def distance_rows(X: Any, metric: Any = "euclidean", name: str = "X") -> tuple[Rows, float]:
    """A function that gives rows of the distance matrix, and the unit that they are measured in.

    Distances of dense rows that are Euclidean, once each is changed on its own, are computed from differences
    of coordinates, so that nothing cancels: duplicates are at distance 0 and have the same distance to every
    other point. Units are powers of two, so that measuring in them changes no digit.

    Parameters
    ----------
    X : array, sparse matrix or Chunked (points, columns)
        The points, or with ``metric="precomputed"`` their distances; finite. Of `Chunked` rows, column after
        column is laid into a file without a name, whose pages the system may take back.
    metric : str or callable
        Any metric of `sklearn.metrics.pairwise_distances`, or "precomputed".
    name : str
        What X is called in messages.

    Examples
    --------
    >>> import numpy as np
    >>> rows, unit = distance_rows(np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]]))
    >>> rows(np.array([0])) * unit
    array([[ 0.,  5., 10.]])
    """
    named = isinstance(metric, str)
    if named and metric == "precomputed":
        D = check_precomputed(X)
        unit = _unit(D.max(initial=0.0))
        D /= unit
        D += 0.0  # -0.0 becomes 0.0, whose bits are in order
        return lambda queries: D[queries], unit
    check_metric(metric)
    if is_row_metric(metric) and isinstance(X, Chunked):
        return _from_laid(*_laid_on_disk(X, metric, name), metric)
    if is_row_metric(metric) and not sparse.issparse(X):
        return _from_coordinates(X, metric, name)
    if is_bits(X, metric):
        return _apart_from_self(Bits(X, metric).of_points), 1.0
    if is_product(metric) and not sparse.issparse(X):
        return _apart_from_self(_products(np.asarray(X, dtype=np.float64))), 1.0
    if is_product(metric) or (is_row_metric(metric) and metric != "cosine"):
        among, every = of_products(sparse.csr_array(X), metric)[0], np.arange(X.shape[0])
        return _apart_from_self(lambda queries: among(queries, every)), 1.0
    return _from_metric(X, metric), 1.0


def _from_coordinates(X: Any, metric: str, name: str) -> tuple[Rows, float]:
    X = np.asarray(X, dtype=np.float64)
    unit = _unit(np.abs(X).max(initial=0.0))
    return _from_laid(np.ascontiguousarray(changed(X / unit, metric, what=f" of {name}").T), unit, metric)


def _laid_on_disk(X: Chunked, metric: str, name: str) -> tuple[Any, float]:
    """The columns of rows that are not held, in a file, and the unit that they are measured in."""
    folder, need = Path(tempfile.gettempdir()), 8 * X.shape[0] * X.shape[1]
    if need > shutil.disk_usage(folder).free:
        raise OSError(
            f"to judge {X.what}, {need / 1e9:.1f} GB are laid into {folder}, and there is less room: set"
            " TMPDIR to another folder, or judge some of the rows"
        )
    unit = _unit(max((np.abs(block).max(initial=0.0) for _, block in X.blocks()), default=0.0))
    with tempfile.TemporaryFile(dir=folder) as file:
        Xt = np.memmap(file, np.float64, "w+", shape=(X.shape[1], X.shape[0]))
    for first, block in X.blocks():
        Xt[:, first : first + len(block)] = changed(block / unit, metric, first, what=f" of {name}").T
    return np.asarray(Xt), unit


def _from_laid(Xt: Any, unit: float, metric: str) -> tuple[Rows, float]:
    """Distances of points by their columns, which may be changed here."""
    if metric in HALVED:
        Xt /= np.sqrt(2.0)
    squares = metric in (*HALVED, "sqeuclidean")

    def rows(queries: Any) -> Array:
        out = np.empty((len(queries), Xt.shape[1]))
        loops.euclidean(Xt, queries, squares, out)
        return out

    return rows, {"euclidean": unit, "sqeuclidean": unit * unit}.get(metric, 1.0)


def _products(X: Array) -> Rows:
    """Distances by inner products of dense rows: see `row_metrics`."""
    longest = float(np.einsum("ij,ij->i", X, X).max(initial=0.0))
    return lambda queries: np.sqrt(2 * np.maximum(longest - X[queries] @ X.T, 0.0))


def _apart_from_self(distances: Rows) -> Rows:
    """The same, in which every point is at distance 0 of itself, whatever rounding says."""

    def rows(queries: Any) -> Array:
        D = np.ascontiguousarray(distances(queries) + 0.0)  # -0.0 becomes 0.0, whose bits are in order
        D[np.arange(len(queries)), queries] = 0.0
        return D

    return rows


def _from_metric(X: Any, metric: Any) -> Rows:
    from sklearn.metrics import pairwise_distances

    def rows(queries: Any) -> Array:
        D = np.asarray(pairwise_distances(X[queries], X, metric=metric), dtype=np.float64)
        if not np.all(np.isfinite(D)):
            raise ValueError(NOT_FINITE)
        return np.maximum(D, 0.0)  # what rounding leaves below zero

    return _apart_from_self(rows)


def _unit(largest: float) -> float:
    """The power of two next to the largest value, or 1 where all are zero."""
    return float(2.0 ** np.floor(np.log2(largest))) if largest > 0 else 1.0
