"""The health of a map: whether it collapsed or shattered, and what to try then.

A map with a kernel has a natural unit, the kernel's width. Points that lie many widths from all of their
neighbours have flown apart; a map that is smaller than a width has not unfolded. Neither is wrong in itself,
since some data do have such maps. It is if the same map would cost less at another size, one at which
neighbours are a width apart: a descent that came to rest leaves nothing to be gained by that.

A map of distances has the cost of a dot to be measured by, which no descent should exceed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nearfield.algebra.method import Method
from nearfield.engine.base import Engine
from nearfield.typing import Array

CostAt = Callable[[float], float]  # what the map costs at so many times its size
SAMPLE = 500  # points that are looked at
STRONGEST = 10  # of the neighbours of each
ASTRAY = 10.0  # widths of the kernel, where neighbours are one or two apart
SMALL = 0.2  # widths of the kernel: a map in which pairs are closer than this is a dot
MANY = 0.25  # the share of points that may lie astray, as in a map with many outliers
NO_BETTER = 0.95  # of the cost of a dot: the best map of distances, even on a line, has at most some 0.6


def diagnosis(
    engine: Engine,
    Y: Array,
    cost: float,
    method: Method | None = None,
    *,
    learning_rate: float | None = None,
    automatic: bool = True,
    iterations: int = 0,
    attraction: float = 1.0,
) -> str | None:
    """What is wrong with a map, in one sentence that says what to try; None if nothing is.

    It takes a sample of the points and, where that looks suspicious, an evaluation or two (never of a map
    that flew apart, for which a mesh would need a huge grid).

    Parameters
    ----------
    engine : Engine
        What computes the cost of the map.
    Y : array (points, dimensions)
        The map.
    cost : float
        What it costs.
    method : Method, optional
        The engine's, with learned parameters at their present values.
    learning_rate : float, optional
        Of the optimizer, if it has one; to be named in the advice, like the others.
    automatic : bool
        Whether that was left at "auto".
    iterations : int
        How many were made.
    attraction : float
        How many times as strong it is as in the method itself: `cost` has it in it.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> run = nf.Run(X, "tsne", random_state=0)
    >>> run.diagnosis()[:24]
    'the map has not unfolded'
    >>> run.step(300)
    >>> run.diagnosis() is None
    True
    """
    method = method or engine.method
    slower = faster = "try another init or perplexity"
    if learning_rate is not None:
        rate = f"learning_rate (it was {learning_rate:.3g})"
        slower = f"lower {rate}"
        if not automatic:
            slower, faster = (f"{change} {rate} or leave it at 'auto'" for change in ("lower", "raise"))
    if not np.all(np.isfinite(Y)):
        return f"the map shattered: it left the range of numbers; {slower}"

    def cost_at(factor: float) -> float:
        """What the map would cost at another size."""
        at = engine.evaluate(factor * Y, method=method, exaggeration=attraction)
        return at.cost_with(attraction)

    judge = _of_distances if method.kernel is None else _of_neighbours
    what = judge(engine, Y, cost, method, cost_at)
    if what is None:
        return None
    broken, told = what
    if broken:
        return f"the map shattered: {told}; {slower}"
    return f"the map has not unfolded: {told}; make more than {iterations} iterations, or {faster}"


def _of_neighbours(
    engine: Engine, Y: Array, cost: float, method: Method, cost_at: CostAt
) -> tuple[bool, str] | None:
    """Whether a map with a kernel shattered (True) or collapsed (False), and how one sees it."""
    random, n, together = np.random.default_rng(0), len(Y), engine.share.together
    width = method.kernel.width / min(method.precisions) ** 0.5  # type: ignore[union-attr]
    rows, seen = random.permutation(n)[: together.share(SAMPLE, n)], engine.share.seen(Y)
    nearest = together.all_rows(np.array([_nearest(seen, i, _strongest(engine, i)) for i in rows]))
    astray = nearest > ASTRAY * width
    share = float(np.mean(astray))
    if share > MANY:
        shrunk = width / float(np.median(nearest[astray]))
        # Bare weights repel so strongly nearby that a width would be too close for them.
        if min(cost_at(factor * shrunk) for factor in (1.0, ASTRAY / 2)) < cost:
            return True, f"{100 * share:.0f} % of the points lie far from all of their neighbours"
    others = together.all_rows(_lengths(Y[rows] - Y[random.integers(0, n, len(rows))]))
    apart = float(np.median(others[others > 0])) if np.any(others > 0) else 0.0
    if apart == 0 or (apart < SMALL * width and cost_at(width / apart) < cost):
        return False, f"it is {apart / width:.1g} of the kernel's width across, where it should be several"
    return None


def _of_distances(
    engine: Engine, Y: Array, cost: float, method: Method, cost_at: CostAt
) -> tuple[bool, str] | None:
    """The same for a map of distances."""
    if method.normalization != "none":  # any size is as good as another
        return None
    share = cost / cost_at(0.0)
    if not share <= 1.0 / NO_BETTER:
        return True, f"it costs {share:.2g} times as much as all points in one place"
    return (False, "it is no better than all points in one place") if share > NO_BETTER else None


def _strongest(engine: Engine, i: int) -> Array:
    """The neighbours with the largest p of a point."""
    columns, p = engine.row(i)
    k = min(STRONGEST, len(p))
    chosen = np.argpartition(-p, k - 1)[:k] if k else np.arange(0)
    return columns[chosen][(p[chosen] > 0) & (columns[chosen] != i)]  # copies of i itself are always near


def _nearest(Y: Array, i: int, others: Array) -> float:
    """How far the nearest of some points is; no distance at all if there are none."""
    return float(_lengths(Y[others] - Y[i]).min(initial=np.inf)) if len(others) else 0.0


def _lengths(vectors: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
