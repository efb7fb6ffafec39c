"""The distances between some rows and some points, by any metric: what a search over all pairs asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.distances import check_metric, check_precomputed, parameters_of
from nearfield.checks import finite

ROUNDING = 1e-13  # of a squared distance that is the difference of squares

Between = Callable[[Any, Any], Any]  # the distances of some rows to some points


def of_metric(X: Any, metric: Any, metric_params: dict[str, Any] | None) -> tuple[Between, Between]:
    """The distances of some points, and of other rows, to points, by any metric."""
    from sklearn.metrics import pairwise_distances

    if isinstance(metric, str) and metric == "precomputed":
        D = check_precomputed(X)
        return (lambda rows, columns: D[np.ix_(rows, columns)]), (lambda rows, columns: rows[:, columns])
    check_metric(metric)
    finite(X)
    params = parameters_of(metric, X, metric_params)

    def to(rows: Any, columns: Any) -> Any:
        return pairwise_distances(rows, X[columns], metric=metric, **params)

    return (lambda rows, columns: to(X[rows], columns)), to


def of_products(X: Any, metric: str) -> tuple[Between, Between]:
    """The same for sparse data that are too large to be dense."""
    finite(X)
    X, squares = _with_squares(X, metric)

    def distances(rows: Any, of_rows: Any, columns: Any) -> Any:
        D = (rows @ X[columns].T).toarray()
        both = np.add.outer(of_rows, squares[columns])
        D *= -2.0
        D += both
        both *= ROUNDING
        D[both > D] = 0.0
        if metric == "cosine":
            D *= 0.5
        return np.sqrt(D, out=D) if metric == "euclidean" else D

    return (
        lambda rows, columns: distances(X[rows], squares[rows], columns),
        lambda rows, columns: distances(*_with_squares(rows, metric), columns),
    )


def _with_squares(X: Any, metric: str) -> tuple[Any, Any]:
    """Sparse rows, for cosine distances of length one, and their squared lengths."""
    X = sparse.csr_array(X, dtype=np.float64)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    if metric != "cosine":
        return X, squares
    if not np.all(squares > 0):
        raise ValueError(no_direction(int(np.argmin(squares))))
    return sparse.csr_array(sparse.diags_array(1 / np.sqrt(squares)) @ X), np.ones_like(squares)


def no_direction(row: int) -> str:
    """What is wrong with a row that has no cosine."""
    return f"row {row} is all zeros and has no direction: leave it out"
