"""Metrics that are Euclidean distances of rows, each of which is changed on its own before.

So correlation and Hellinger's distance are as fast as Euclidean ones, for new rows as well. By name:

====================  =======================================  ==========================
metric                a row x becomes                          the distance, of u and v
====================  =======================================  ==========================
euclidean             x                                        |u - v|
sqeuclidean           x                                        |u - v|²
cosine                x/|x|                                  |u - v|²/2 = 1 - cos
correlation           (x - mean of x)/|x - mean of x|        |u - v|²/2 = 1 - correlation
hellinger             √(x/(2 Σx))                              |u - v| = √(1 - Σ√(p q))
====================  =======================================  ==========================

The largest inner products are not those of the nearest rows. They are if every point gets a dimension of its
own that brings it to the length M of the longest: |u - v|² = 2(M² - x·y), a metric, "inner_product".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.typing import Array

CENTRED = ("euclidean", "sqeuclidean")  # columns may be shifted, to where float32 has the most digits
HALVED = ("cosine", "correlation")  # half the squared distance of rows of length one
ROW_METRICS = (*CENTRED, *HALVED, "hellinger")
PRODUCT = "inner_product"
FLAT = 1e-13  # of a row's largest number: what varies by less is constant but for rounding


def is_row_metric(metric: Any, metric_params: dict[str, Any] | None = None) -> bool:
    """Whether a metric is one of rows that are changed one by one.

    Examples
    --------
    >>> is_row_metric("correlation"), is_row_metric("cityblock")
    (True, False)
    """
    return isinstance(metric, str) and metric in ROW_METRICS and not metric_params


def is_product(metric: Any, metric_params: dict[str, Any] | None = None) -> bool:
    """Whether inner products say what is near."""
    return isinstance(metric, str) and metric == PRODUCT and not metric_params


def changed(rows: Array, metric: str, first: int = 0, what: str = "") -> Array:
    """Rows as their Euclidean distances are taken.

    `first` is the number of the first one, and `what` says what they are rows of, for messages.

    Examples
    --------
    >>> changed(np.array([[3.0, 4.0]]), "cosine")
    array([[0.6, 0.8]])
    """
    if metric in CENTRED:
        return rows
    if metric == "hellinger":
        return np.sqrt(rows / (2 * _totals(rows, rows.min(axis=1, initial=0.0), first, what))[:, None])
    if metric == "correlation":
        largest = np.abs(rows).max(axis=1, initial=0.0)
        rows = rows - rows.mean(axis=1, keepdims=True)
        flat = np.abs(rows).max(axis=1, initial=0.0) <= FLAT * largest
        if flat.any():
            raise ValueError(no_correlation(first + int(np.argmax(flat)), what))
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.all(norms > 0):
        raise ValueError(no_direction(first + int(np.argmin(norms)), what))
    return rows / norms


def unchanged(rows: Array, metric: str) -> Array:
    """Rows that `changed` turns into these.

    Examples
    --------
    >>> shares = unchanged(changed(np.array([[1.0, 3.0]]), "hellinger"), "hellinger")
    >>> shares / shares.sum()
    array([[0.25, 0.75]])
    """
    return rows**2 if metric == "hellinger" else rows  # all others leave a row alone that was changed before


def changed_sparse(X: Any, metric: str) -> tuple[Any, Array, Array]:
    """Sparse rows, which stay sparse: z, the squared lengths of u, and t with u·v = z·z' - t t'."""
    X = sparse.csr_array(X, dtype=np.float64)
    n, columns = X.shape
    none = np.zeros(n)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    if metric in (*CENTRED, PRODUCT):
        return X, squares, none
    if metric == "hellinger":
        totals = _totals(X, np.asarray(X.min(axis=1).todense(), float).ravel())
        return _scaled(X, 1 / (2 * totals)).sqrt(), np.full(n, 0.5), none
    if metric == "cosine":
        if not np.all(squares > 0):
            raise ValueError(no_direction(int(np.argmin(squares))))
        return _scaled(X, 1 / np.sqrt(squares)), np.ones(n), none
    means = np.asarray(X.sum(axis=1)).ravel() / columns
    within = squares - columns * means**2
    flat = within <= FLAT * squares
    if flat.any():
        raise ValueError(no_correlation(int(np.argmax(flat))))
    lengths = np.sqrt(within)
    return _scaled(X, 1 / lengths), np.ones(n), means * np.sqrt(columns) / lengths


def _scaled(X: Any, factors: Array) -> Any:
    return sparse.csr_array(sparse.diags_array(factors) @ X)


def _totals(rows: Any, least: Array, first: int = 0, what: str = "") -> Array:
    """The sums of rows that are to be shares of a whole."""
    if least.min(initial=0.0) < 0:
        i = int(np.argmin(least))
        raise ValueError(
            f"metric 'hellinger' takes counts or shares, and row {first + i}{what} has {least[i]:g}: leave"
            " out negative values, or use another metric"
        )
    totals = np.asarray(rows.sum(axis=1), float).ravel()
    if not np.all(totals > 0):
        raise ValueError(no_direction(first + int(np.argmin(totals)), what))
    return totals


def no_direction(row: int, what: str = "") -> str:
    """What is wrong with a row that has no cosine."""
    return f"row {row}{what} is all zeros and has no direction: leave it out"


def no_correlation(row: int, what: str = "") -> str:
    """What is wrong with a row that has no correlation."""
    return f"row {row}{what} is the same number in all columns and has no correlation: leave it out"
