"""What ranks say: the co-ranking histogram and the figures that follow from it.

ρ_ij and r_ij are the ranks of j seen from i in the data and in the map, 1 … N-1, the point itself left out
and ties in the order of the points. All that is kept of them is how many pairs have max(ρ, r) = m.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.typing import Array


def shared(counts: Any, rows: int) -> Array:
    """Q_NX(K), K = 1 … N-1: the share of the K nearest in the data that are among the K nearest in the map.

    Parameters
    ----------
    counts : array of int (N,)
        How many pairs have max(ρ, r) = m; the first entry is void.
    rows : int
        From how many points they were counted.

    Examples
    --------
    >>> import numpy as np
    >>> shared(np.array([0, 4, 4, 4]), rows=4)
    array([1., 1., 1.])
    """
    K = np.arange(1, len(counts))
    result: Array = np.cumsum(counts[1:], dtype=np.int64) / (K * rows)
    return result


def beyond_chance(q: Array) -> Array:
    """R_NX(K), K = 1 … N-2, of Q_NX: 1 for a perfect map, 0 on average for a random one.

    Examples
    --------
    >>> import numpy as np
    >>> beyond_chance(np.array([1 / 3, 2 / 3, 1.0])).round(12) + 0.0
    array([0., 0.])
    """
    others = len(q)
    K = np.arange(1, others)
    result: Array = (others * q[:-1] - K) / (others - K)
    return result


def area(rnx: Array) -> float:
    """The area under R_NX over log K: its mean with weights 1/K."""
    K = np.arange(1, len(rnx) + 1)
    return float(np.sum(rnx / K) / np.sum(1 / K))


def area_terms(n: int) -> tuple[Array, float]:
    """What a pair with max(ρ, r) = m adds to the area of its point, and what to take off at the end.

    The area is linear in Q_NX, which is a sum over pairs: so each point has an area of its own, and the area
    of the map is their mean.

    Examples
    --------
    >>> terms, offset = area_terms(5)
    >>> round(float(terms[1:].sum()) - offset, 12)
    1.0
    """
    K = np.arange(1, n - 1)
    weights = 1 / K / np.sum(1 / K)
    terms = np.zeros(n)
    # The pair counts in all K from m on.
    terms[1 : n - 1] = np.cumsum((weights * (n - 1) / (K * (n - 1 - K)))[::-1])[::-1]
    return terms, float(np.sum(weights * K / (n - 1 - K)))


def local_and_global(q: Array) -> tuple[float, float, int]:
    """Q_local, Q_global and the K that parts them, at which Q_NX is furthest above chance.

    The means of Q_NX(K) over K = 1 … K_max and over K = K_max … N-1.
    """
    K = np.arange(1, len(q) + 1)
    k_max = int(np.argmax(q - K / len(q))) + 1
    return float(np.mean(q[:k_max])), float(np.mean(q[k_max - 1 :])), k_max


def most_neighbours(n: int) -> int:
    """The largest k, below n/2, for which trustworthiness and continuity range from 0 to 1."""
    return (n - 1) // 2


def trust(excess: Any, n: int, k: int) -> Any:
    """Trustworthiness from the ranks beyond k that false neighbours have; continuity from those of lost ones.

    Parameters
    ----------
    excess : float or array
        Σ (ρ_ij - k) over the j that are among the k nearest of i in the map but not in the data; a mean over
        points, or one for each.
    """
    return 1 - 2 * excess / (k * (2 * n - 3 * k - 1))
