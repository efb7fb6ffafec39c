"""Observation weights: a row of weight m stands for m rows that are equal, and so lie in one place.

A copy of point i sees c_ij = m_j copies of every other point and c_ii = m_i - 1 of its own, so that the pair
(i, j) counts n_ij = m_i c_ij times. P is that between single copies; its diagonal is between two of the same
point. Weights need not be whole numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.typing import Array

MOST = 2.0**53  # copies of all rows: beyond it a float64 cannot count


def check_weights(weights: Any, n: int) -> Array | None:
    """The weights of n points as float64, or what is wrong with them; None stays None.

    Examples
    --------
    >>> check_weights([1, 2.5], 2)
    array([1. , 2.5])
    >>> check_weights([1, 0.5], 2)
    Traceback (most recent call last):
        ...
    ValueError: weights count copies of a row, and row 1 has 0.5: divide all of them by the smallest
    """
    if weights is None:
        return None
    try:
        m = np.ascontiguousarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"weights must be numbers, one for each of the {n} rows") from None
    if m.shape != (n,):
        raise ValueError(f"weights must be one for each of the {n} rows, got shape {m.shape}")
    wrong = np.flatnonzero(~(np.isfinite(m) & (m > 0)))
    if len(wrong):
        i = wrong[0]
        raise ValueError(f"weights must be positive numbers, but row {i} has {m[i]:g}: leave out such rows")
    if m.sum() > MOST:
        raise ValueError(
            f"weights count copies of rows, and these are {m.sum():.1g} rows: divide all by the same number"
        )
    low = int(m.argmin())
    if m[low] < 1:
        raise ValueError(
            f"weights count copies of a row, and row {low} has {m[low]:g}: divide all of them by the smallest"
        )
    return m


def seen(weights: Array) -> Array:
    """How many copies of each point a copy of each one sees, c_ij.

    Examples
    --------
    >>> seen(np.array([2.0, 3.0]))
    array([[1., 3.],
           [2., 2.]])
    """
    return np.tile(weights, (len(weights), 1)) - np.eye(len(weights))


def row_sums(P: Any, weights: Array | None) -> Array:
    """Σ_j c_ij p_ij, what a copy of each point sees; without weights the sums of the rows.

    Examples
    --------
    >>> P = np.array([[0.5, 0.25], [1.0, 0.0]])
    >>> row_sums(P, np.array([2.0, 2.0]))
    array([1., 2.])
    """
    if weights is None:
        return np.asarray(P.sum(axis=1), dtype=float).ravel()
    return np.asarray(P @ weights, dtype=float).ravel() - P.diagonal()


def pairs_of_copies(P: Any, weights: Array) -> Array:
    """How many pairs of copies each stored value of P, in compressed rows, stands for.

    Examples
    --------
    >>> P = sparse.csr_array(np.array([[1.0, 1.0], [1.0, 0.0]]))
    >>> pairs_of_copies(P, np.array([2.0, 3.0]))
    array([2., 6., 6.])
    """
    rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    return weights[rows] * (weights[P.indices] - (rows == P.indices))


def without_own(P: Any, weights: Array | None) -> Any:
    """P, dense or in compressed rows, with p_ii = 0 where point i has no other copy; it is not written to."""
    own = P.diagonal()
    alone = np.ones(len(own), dtype=bool) if weights is None else weights == 1
    if not np.any(own[alone]):
        return P
    P = P.copy()
    if sparse.issparse(P):
        rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
        P.data[(rows == P.indices) & alone[rows]] = 0.0
        P.eliminate_zeros()
    else:
        np.fill_diagonal(P, np.where(alone, 0.0, own))
    return P
