"""The distances between some rows and some points, by any metric: what a search over all pairs asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nearfield.affinity.distances import check_metric, check_precomputed, parameters_of
from nearfield.affinity.row_metrics import HALVED, PRODUCT, changed_sparse
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
    """The same for sparse data that are too large to be dense, by a metric of `row_metrics`."""
    finite(X)
    longest = float(changed_sparse(X, PRODUCT)[1].max()) if metric == PRODUCT else None

    def parts(rows: Any) -> tuple[Any, Any, Any]:
        z, squares, t = changed_sparse(rows, metric)
        if longest is not None:  # see `Products`
            squares = 2 * np.maximum(longest, np.sqrt(longest * squares)) - longest
        return z, squares, t

    X, squares, offsets = parts(X)

    def distances(rows: Any, of_rows: Any, theirs: Any, columns: Any) -> Any:
        D = (rows @ X[columns].T).toarray()
        D -= np.multiply.outer(theirs, offsets[columns])
        both = np.add.outer(of_rows, squares[columns])
        D *= -2.0
        D += both
        both *= ROUNDING
        D[both > D] = 0.0
        if metric in HALVED:
            D *= 0.5
        return D if metric in (*HALVED, "sqeuclidean") else np.sqrt(D, out=D)

    return (
        lambda rows, columns: distances(X[rows], squares[rows], offsets[rows], columns),
        lambda rows, columns: distances(*parts(rows), columns),
    )
