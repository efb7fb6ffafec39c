"""The distances from some points to all points: a few rows at a time of a matrix that is never stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.bits import is_bits
from nearfield.affinity.distances import NOT_FINITE, check_metric, check_precomputed, distances
from nearfield.affinity.row_metrics import is_product, is_row_metric
from nearfield.judge import loops
from nearfield.typing import Array

Rows = Callable[[Any], Array]  # indices of points → (indices, points)


def distance_rows(X: Any, metric: Any = "euclidean", name: str = "X") -> tuple[Rows, float]:
    """A function that gives rows of the distance matrix, and the unit that they are measured in.

    Euclidean, squared Euclidean and cosine distances are computed from differences of coordinates, so that
    nothing cancels: duplicates are at distance 0 and have the same distance to every other point. Units are
    powers of two, so that measuring in them changes no digit.

    Parameters
    ----------
    X : array or sparse matrix (points, columns)
        The points, or with ``metric="precomputed"`` their distances; finite.
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
    if named and metric in ("euclidean", "sqeuclidean", "cosine") and not sparse.issparse(X):
        return _from_coordinates(X, metric, name)
    if is_bits(X, metric) or is_product(metric) or (is_row_metric(metric) and metric != "cosine"):
        D = distances(X, metric)
        return lambda queries: D[queries], 1.0
    return _from_metric(X, metric), 1.0


def _from_coordinates(X: Any, metric: str, name: str) -> tuple[Rows, float]:
    X = np.asarray(X, dtype=np.float64)
    unit = _unit(np.abs(X).max(initial=0.0))
    Xt = np.ascontiguousarray((X / unit).T)
    if metric == "cosine":
        norms = np.sqrt(np.sum(Xt * Xt, axis=0))
        if not np.all(norms > 0):
            raise ValueError(f"row {int(np.argmin(norms))} of {name} is all zeros and has no direction")
        Xt /= norms * np.sqrt(2.0)  # 1 - cos is half the squared distance of unit vectors

    def rows(queries: Any) -> Array:
        out = np.empty((len(queries), Xt.shape[1]))
        loops.euclidean(Xt, queries, metric != "euclidean", out)
        return out

    return rows, {"euclidean": unit, "sqeuclidean": unit * unit, "cosine": 1.0}[metric]


def _from_metric(X: Any, metric: Any) -> Rows:
    from sklearn.metrics import pairwise_distances

    def rows(queries: Any) -> Array:
        D = np.asarray(pairwise_distances(X[queries], X, metric=metric), dtype=np.float64)
        if not np.all(np.isfinite(D)):
            raise ValueError(NOT_FINITE)
        D = np.ascontiguousarray(np.maximum(D, 0.0) + 0.0)  # what rounding leaves below zero, and -0.0
        D[np.arange(len(queries)), queries] = 0.0
        return D

    return rows


def _unit(largest: float) -> float:
    """The power of two next to the largest value, or 1 where all are zero."""
    return float(2.0 ** np.floor(np.log2(largest))) if largest > 0 else 1.0
