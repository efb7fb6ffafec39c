"""The p of pairs that are no neighbours, for costs to which it matters how small it is.

A sparse target has no p beyond the neighbours. Most costs do not ask for it, but the reverse divergences have
log p in them, and repel two strangers the more the less likely they are. One value has to stand for all of
them: the geometric mean, because log p is what counts, with as much weight on every octave of ranks, because
those who come near a point in the map by mistake are rather the nearer ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.affinity.perplexity import calibrate, check_perplexity
from nearfield.affinity.source import Source
from nearfield.affinity.targets import neighbour_count
from nearfield.algebra.method import Method

ROWS, PAIRS = 64, 2**24  # points that are looked at, and pairs at the most
RANKS = 64  # of neighbours, at which p is looked at


def beyond(method: Method, source: Source, k: int, perplexities: Any) -> float:
    """What stands for p, or v, of all pairs beyond the k nearest neighbours; at least the cost's floor.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> source = Source.of(np.random.default_rng(0).normal(size=(500, 4)))
    >>> 1e-10 < beyond(nf.method("nerv"), source, 50, np.full(500, 10.0)) < 1e-4
    True
    """
    n = source.n
    floor = method.cost.floor  # type: ignore[attr-defined]
    if k >= n - 1:
        return floor
    rows = np.unique(np.linspace(0, n - 1, min(ROWS, n, max(1, PAIRS // n))).astype(np.int64))
    others = np.arange(n - 1) + (np.arange(n - 1) >= rows[:, None])
    apart = source.space.apart(rows, others).astype(np.float64)
    bare = method.target_kind == "weights"
    squared = np.sort(apart, axis=1) ** 2
    p = calibrate(
        squared, perplexities[rows], skip_self=False, normalized=not bare, n_jobs=source.n_jobs
    ).rows
    p = p[:, np.geomspace(k, n - 2, RANKS).astype(int)]
    if method.target_kind == "joint":
        p = p / n
    return float(np.exp(np.mean(np.log(np.maximum(p, floor)))))


def floored(method: Method, source: Source, perplexity: Any) -> Method:
    """The method as a target on neighbours needs it, in which p is not known beyond them.

    A cost that is infinite at p = 0 is given what p is there on average for its floor.
    """
    if not method.cost.facts.infinite_at_zero or not source.drawable:
        return method
    perplexities = check_perplexity(perplexity, source.n)
    k = neighbour_count(method, perplexities, source.n - 1)
    return method._with(cost=method.cost._with(floor=beyond(method, source, k, perplexities)))
