"""Perplexity: how many neighbours a point has, and the precision of its kernel that gives so many."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from nearfield.affinity import loops
from nearfield.affinity.distances import distances
from nearfield.checks import check_count
from nearfield.defaults import PERPLEXITY
from nearfield.parallel import over_chunks
from nearfield.typing import Array


@dataclass(frozen=True)
class Calibrated:
    """Rows of neighbour probabilities and what was found on the way.

    Attributes
    ----------
    rows : array (points, columns)
        p_j|i, or p_j|i over the largest of its row if they were not to be normalized.
    beta : array (points,)
        The precision of each point; infinite where a row is uniform over ties.
    dimension : array (points,)
        The intrinsic dimension at each point, 2 Var(β d²) = -2 dH/d log β.
    """

    rows: Array
    beta: Array
    dimension: Array


def check_perplexity(perplexity: Any, n: int, others: Any = None) -> Array:
    """One perplexity per point, from None (the default), a number or an array; or what is wrong with it.

    `others` is how many neighbours all points or each have to choose from: n - 1 unless they are fewer.
    """
    check_count(n)
    others = np.broadcast_to(n - 1 if others is None else others, (n,))
    if perplexity is None:
        return np.minimum(PERPLEXITY, np.maximum(1.0, others / 3))
    if not isinstance(perplexity, (Real, np.ndarray)):
        raise ValueError(f"perplexity must be a number or an array with one per point, got {perplexity!r}")
    values = np.asarray(perplexity, dtype=np.float64)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n):
        raise ValueError(f"perplexity must be one number, or one for each of the {n} points")
    if not np.all(values >= 1):
        raise ValueError(f"perplexity must be at least 1, got {np.min(values):g}: try 30")
    values = np.ascontiguousarray(np.broadcast_to(values, (n,)))
    over = np.flatnonzero(values > others)
    if len(over):
        i = over[np.argmin(others[over])]
        fewest = int(others[i])
        raise ValueError(
            f"perplexity {values[i]:g} is more than the {fewest} others that point {i} has to choose from:"
            f" use at most {fewest}, better {max(1, fewest // 3)}"
        )
    return values


def calibrate(
    squared: Array,
    perplexity: Any,
    *,
    skip_self: bool = True,
    normalized: bool = True,
    copies: Array | None = None,
    n_jobs: int | None = None,
) -> Calibrated:
    """Probabilities with the asked perplexity from squared distances, which are overwritten.

    Parameters
    ----------
    squared : array (points, columns)
        Squared distances to other points; infinite at the end of a row of fewer.
    perplexity : float or array
        Effective number of neighbours, of all points or of each.
    skip_self : bool
        Whether column i of row i is the point itself.
    normalized : bool
        False gives the nearest neighbour weight 1 in place of making the row sum to one.
    copies : array (points, columns), optional
        How many equal points each column stands for; the probabilities are those of one of them. Of the
        point itself, one less is seen.

    Examples
    --------
    >>> import numpy as np
    >>> squared = np.random.default_rng(0).random((10, 10))
    >>> p = calibrate(squared, 4.0).rows
    >>> entropy = -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0), axis=1)
    >>> bool(np.allclose(np.exp(entropy), 4))
    True
    """
    n = len(squared)
    others = squared.shape[1] if copies is None else copies.sum(axis=1)
    perplexities = check_perplexity(perplexity, n, others - (1 if skip_self else 0))
    return calibrated(squared, perplexities, skip_self, normalized, copies, n_jobs)


def calibrated(
    squared: Array,
    perplexities: Array,
    skip_self: bool,
    normalized: bool,
    copies: Array | None,
    n_jobs: int | None,
) -> Calibrated:
    """The same for perplexities that are known to be possible, of any number of rows."""
    n = len(squared)
    beta, dimension = np.empty(n), np.empty(n)
    arguments = (squared, skip_self, perplexities, normalized, beta, dimension, copies)
    over_chunks(loops.calibrate, n, *arguments, n_jobs=n_jobs)
    return Calibrated(squared, beta, dimension)


def intrinsic_dimension(
    X: Any,
    perplexity: Any = None,
    *,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Array:
    """The intrinsic dimension of the data around each point, at the scale that a perplexity sets.

    It is 2 Var(β_i d²) under p_i, which equals -2 dH_i/d log β_i: how fast the number of neighbours grows
    with the radius.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> line = np.random.default_rng(0).random((2000, 2)) @ np.ones((2, 5)) + 0.0
    >>> bool(0.8 < np.median(nf.intrinsic_dimension(line, 20)) < 1.2)
    True
    """
    squared = distances(X, metric, metric_params, n_jobs, squared=True)
    return calibrate(squared, perplexity, n_jobs=n_jobs).dimension
