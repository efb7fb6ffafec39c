"""Where new points come to rest in a held map: at the least of their own cost, from the best start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from nearfield.affinity.fitted import Ties
from nearfield.descent import settling_loops as loops
from nearfield.engine.placed import Held
from nearfield.parallel import over_chunks
from nearfield.typing import Array

STARTS = 5  # neighbours at whose places a point may start, beside their median
PASSES = 100  # evaluations of a point's cost at the most
RESTS = 1e-4  # widths of the kernel: a point that moves by less has come to rest
LONGEST = 2.0  # widths, that a step may have
ENOUGH = 1e-4  # of what the gradient promises, that a step must gain
SHORTER = 0.3  # times a step that gained nothing


class Cost(Protocol):
    """Value, gradient and stiffness of some points, each at a place."""

    def at(self, rows: Any, y: Array) -> tuple[Array, Array, Array]: ...


def settled(
    cost_of: Callable[[Ties], Cost], ties: Ties, Y: Array, width: float, n_jobs: int | None
) -> tuple[Array, Array]:
    """Where points come to rest that are tied to a map, and their cost there: some of them in each thread."""

    def some(lo: int, hi: int) -> tuple[Array, Array]:
        part = ties.rows(lo, hi)
        cost = cost_of(part)
        return settle(cost, cheapest(cost, starts(part, Y)), width)

    found = over_chunks(some, len(ties.indices), n_jobs=n_jobs)
    places, costs = zip(*found, strict=True)
    return np.concatenate(places), np.concatenate(costs)


def settled_tails(held: Held, ties: Ties, n_jobs: int | None = None) -> tuple[Array, Array]:
    """The same for a cross-entropy with a heavy tail, by a compiled loop: each row from start to end."""
    kernel, around = held.method.require_kernel(), held.around()
    ((factor, charges, _),) = around.potentials[0]
    dimensions, laid = held.Y.shape[1], around.grids
    grid = (np.zeros(dimensions), 1.0, np.zeros((0, 1, 1, 1), np.float32), np.zeros(0))
    if laid is not None:
        grid = (laid.origin, 1 / laid.spacing, laid.grids, laid.levels)
    field = (np.ascontiguousarray(held.Y), np.empty(0) if charges is None else charges, float(factor), *grid)
    limits = (kernel.width, STARTS, PASSES, RESTS, LONGEST, ENOUGH, SHORTER)
    tail = tuple(float(number) for number in kernel.require_tail())
    count = len(ties.indices)
    found, costs = np.empty((count, dimensions)), np.empty(count)
    rows = (ties.indices, ties.ahead, ties.back, ties.multiplicity)
    n = len(held.Y) if held.weights is None else held.weights.sum()
    given = (*rows, (float(n), float(held.S), float(held.attraction)), tail, field, limits)
    over_chunks(loops.settle_tails, count, *given, found, costs, n_jobs=n_jobs)
    return found, costs


def starts(ties: Ties, Y: Array) -> list[Array]:
    """Where a point may belong: amid its neighbours, or where one of those is that it is tied to the most."""
    most = np.argsort(-(ties.ahead + ties.back), axis=1, kind="stable")[:, :STARTS]
    places = np.take_along_axis(ties.indices, most, axis=1).T
    return [median(ties, Y), *(Y[each] for each in places)]


def cheapest(cost: Cost, places: list[Array]) -> Array:
    """Of several places of each point the one that costs the least; of equals the first."""
    rows = np.arange(len(places[0]))
    best, least = places[0].copy(), cost.at(rows, places[0])[0]
    for place in places[1:]:
        value = cost.at(rows, place)[0]
        lower = value < least
        best[lower], least[lower] = place[lower], value[lower]
    return best


def median(ties: Ties, Y: Array) -> Array:
    """The median of the neighbours' places along each axis, weighted by p."""
    start = np.empty((len(ties.ahead), Y.shape[1]))
    for c in range(Y.shape[1]):
        places = Y[ties.indices, c]
        order = np.argsort(places, axis=1, kind="stable")
        share = np.cumsum(np.take_along_axis(ties.multiplicity * ties.ahead, order, axis=1), axis=1)
        middle = np.argmax(share >= 0.5 * share[:, -1:], axis=1)
        start[:, c] = np.take_along_axis(places, order, axis=1)[np.arange(len(places)), middle]
    return start


def settle(cost: Cost, start: Array, width: float) -> tuple[Array, Array]:
    """Where each point comes to rest, and its cost there: BFGS, each point on its own.

    The first step is that of the springs alone, by their stiffness; then the inverse Hessian is learned. A
    step that gains too little is tried again, shorter.
    """
    n, P = start.shape
    y, rows = start.copy(), np.arange(n)
    value, gradient, stiffness = cost.at(rows, y)
    slack = np.sqrt(_dot(gradient, gradient)) / (LONGEST * width)  # at which the first step is the longest
    inverse = np.zeros((n, P, P))
    for c in range(P):
        inverse[:, c, c] = 1 / np.maximum(np.maximum(stiffness, slack), 1e-300)
    share = np.ones(n)
    for _ in range(PASSES):
        g, H = gradient[rows], inverse[rows]
        step = -_times(H, g)
        slope = _dot(step, g)
        length = np.sqrt(_dot(step, step))
        scale = share[rows] * np.minimum(1.0, LONGEST * width / np.maximum(length, 1e-300))
        moving = (scale * length > RESTS * width) & (slope < 0) & np.isfinite(slope)
        rows, step, slope, scale = rows[moving], step[moving], slope[moving], scale[moving]
        if not len(rows):
            break
        step = scale[:, None] * step
        there, g_there, _ = cost.at(rows, y[rows] + step)
        gained = there <= value[rows] + ENOUGH * scale * slope
        share[rows] = np.where(gained, 1.0, SHORTER * share[rows])
        taken, step, change = rows[gained], step[gained], (g_there - gradient[rows])[gained]
        inverse[taken] = _updated(inverse[taken], step, change)
        y[taken], value[taken], gradient[taken] = y[taken] + step, there[gained], g_there[gained]
    return y, value


def _dot(a: Array, b: Array) -> Array:
    """Row by row, added up axis by axis: the same whatever else is in the arrays."""
    total = a[:, 0] * b[:, 0]
    for c in range(1, a.shape[1]):
        total = total + a[:, c] * b[:, c]
    return total


def _times(H: Array, g: Array) -> Array:
    """H g of each row."""
    return np.stack([_dot(H[:, c], g) for c in range(g.shape[1])], axis=1)


def _updated(H: Array, step: Array, change: Array) -> Array:
    """The inverse Hessian after a step has changed the gradient; as it was where that bends downwards."""
    along = _dot(step, change)
    bent = along > 1e-12 * np.sqrt(_dot(step, step) * _dot(change, change))
    rho = 1 / np.where(bent, along, 1.0)
    Hc = _times(H, change)
    factor = rho * (1 + rho * _dot(change, Hc))
    outer = step[:, :, None] * step[:, None, :]
    cross = step[:, :, None] * Hc[:, None, :]
    new = H + factor[:, None, None] * outer - rho[:, None, None] * (cross + cross.transpose(0, 2, 1))
    return np.where(bent[:, None, None], new, H)
