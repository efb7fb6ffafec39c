"""The p of pairs that are no neighbours, for costs to which it matters how small it is.

A sparse target has no p beyond the neighbours. Most costs do not ask for it, but the reverse divergences have
log p in them, and repel two strangers the more the less likely they are. One value has to stand for all of
them: the geometric mean, because log p is what counts, with as much weight on every octave of ranks, because
those who come near a point in the map by mistake are rather the nearer ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.affinity.perplexity import calibrate
from nearfield.affinity.space import space
from nearfield.algebra.method import Method

ROWS, PAIRS = 64, 2**24  # points that are looked at, and pairs at the most
RANKS = 64


def beyond(
    method: Method,
    X: Any,
    k: int,
    perplexities: Any,
    *,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
) -> float:
    """What stands for p, or v, of all pairs beyond the k nearest neighbours; at least the cost's floor.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> 1e-10 < beyond(nf.method("nerv"), X, 50, np.full(500, 10.0)) < 1e-4
    True
    """
    n = X.shape[0]
    floor = method.cost.floor  # type: ignore[attr-defined]
    if k >= n - 1:
        return floor
    rows = np.unique(np.linspace(0, n - 1, min(ROWS, n, max(1, PAIRS // n))).astype(np.int64))
    others = np.arange(n - 1) + (np.arange(n - 1) >= rows[:, None])
    apart = space(X, metric, metric_params).apart(rows, others).astype(np.float64)
    bare = method.target_kind == "weights"
    squared = np.sort(apart, axis=1) ** 2
    p = calibrate(squared, perplexities[rows], skip_self=False, normalized=not bare, n_jobs=n_jobs).rows
    p = p[:, np.geomspace(k, n - 2, RANKS).astype(int)]
    if method.target_kind == "joint":
        p = p / n
    return float(np.exp(np.mean(np.log(np.maximum(p, floor)))))
