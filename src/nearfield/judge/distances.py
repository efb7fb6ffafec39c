"""What distances say: stress, and the rank correlation of the Shepard diagram.

r_ij are the distances in the data, d_ij those in the map.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.typing import Array

LEVELS = 512  # into which distances are sorted for their correlation


def level_edges(sample: Array) -> Array:
    """The upper ends of `LEVELS` levels that hold about as many of the sampled distances each.

    Distances that are equal have the same level; where few are different, each has its own.

    Examples
    --------
    >>> import numpy as np
    >>> level_edges(np.array([2.0, 1.0, 2.0, 5.0]))
    array([1., 2., 5.])
    """
    values = np.unique(sample)
    if len(values) > LEVELS:
        values = np.sort(sample, axis=None)
        values = np.unique(values[(np.arange(1, LEVELS + 1) * len(values)) // LEVELS - 1])
    return values


def spearman(joint: Any) -> float:
    """Spearman's correlation of distances from how many pairs have each two levels; NaN if one is constant.

    Pairs of a level count as ties and have their mean rank. With 512 levels the figure is within some 1e-5 of
    that of the distances themselves, whose ranks would need all pairs at once.

    Examples
    --------
    >>> import numpy as np
    >>> round(spearman(np.array([[5, 0], [0, 3]])), 12)
    1.0
    """
    in_data, in_map = joint.sum(axis=1), joint.sum(axis=0)
    total = in_data.sum()
    # Mean ranks from the middle, as shares of all pairs.
    a = (np.cumsum(in_data) - in_data / 2) / total - 0.5
    b = (np.cumsum(in_map) - in_map / 2) / total - 0.5
    variances = float(np.sum(in_data * a**2)) * float(np.sum(in_map * b**2))
    return float(np.sum(a[:, None] * joint * b) / np.sqrt(variances)) if variances > 0 else np.nan


def best_factor(dd: float, slope: float, first: float) -> float:
    """The a that minimises Σ(r - ad)², from Σd² and Σd(r - a'd) at an a' near it; 1 if all d are zero."""
    return first + slope / dd if dd > 0 else 1.0


def squares_at(a: float, first: float, dd: Any, squares: Any, slope: Any, unit: float = 1.0) -> Any:
    """Σ(r - ad)² from the sums Σd², Σ(r - a'd)² and Σd(r - a'd) at a' near a.

    Unlike Σr² - 2aΣrd + a²Σd² it does not lose its digits where the map is nearly perfect. Distances are
    counted in a `unit`, of which an a that is very large should make use.
    """
    step = (a - first) / unit
    return np.maximum(squares * (1 / unit) ** 2 - 2 * step * slope / unit + step**2 * dd, 0.0)


def stress_1(a: float, first: float, dd: float, squares: float, slope: float) -> float:
    """Kruskal's √(Σ(r - ad)²/Σ(ad)²) from the sums of `squares_at`; NaN if all d are zero."""
    if not dd > 0:
        return np.nan
    unit = max(a, 1.0)
    return float(np.sqrt(squares_at(a, first, dd, squares, slope, unit) / dd)) * unit / a
