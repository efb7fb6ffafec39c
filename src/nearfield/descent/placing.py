"""New points in a finished map: each goes where the method's own cost of it is least, all others being held.

A row's place depends on the fitted map and on the row alone: not on the rows beside it, nor on any seed. A
row that was fitted comes back exactly where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from nearfield.affinity.fitted import Fitted, Ties
from nearfield.affinity.source import Source
from nearfield.affinity.targets import ALL_PAIRS
from nearfield.affinity.traits import NEAREST, Traits
from nearfield.algebra.method import Method
from nearfield.engine.base import Engine
from nearfield.engine.own_row import OwnRowCost
from nearfield.engine.placed import Held, PlacedCost, StretchedCost
from nearfield.parallel import one_blas_thread, over_chunks
from nearfield.typing import Array

STARTS = 5  # neighbours at whose places a point may start, beside their median
PASSES = 100  # evaluations of a point's cost at the most
RESTS = 1e-4  # widths of the kernel: a point that moves by less has come to rest
LONGEST = 2.0  # widths, that a step may have
ENOUGH = 1e-4  # of what the gradient promises, that a step must gain
ROWS = 200  # of a map, by which its size is compared with that of the data
SAMPLE = 2000  # points of the map that distances are compared with
FAINT = 1e-12  # of the longest axis, squared: shorter ones are noise
SHORTER = 0.3  # times a step that gained nothing
BLOCK = 2**21  # ties of new rows that are held at a time


class Cost(Protocol):
    """Value, gradient and stiffness of some points, each at a place."""

    def at(self, rows: Any, y: Array) -> tuple[Array, Array, Array]: ...


@dataclass(frozen=True)
class Placed:
    """Where new rows lie in a map.

    Attributes
    ----------
    Y : array (rows, dimensions)
        Their places.
    neighbours : array (rows, 10)
        The fitted points that are nearest to each in the data, nearest first; of fewer, as many as there are.
    cost : array (rows,)
        What each adds to the sum over all pairs that the method minimises; 0 for a row that was fitted, and
        NaN of principal components, which have no cost.
    novelty : array (rows,)
        How unlike the fitted rows each is: .95 says that it is farther from its nearest ones, beside how far
        these are from theirs, than 95 % of the fitted rows.
    outside : array of bool (rows,)
        Whether it lies beyond all fitted points, along one axis or another.
    """

    Y: Array
    neighbours: Any
    cost: Array
    novelty: Array
    outside: Any

    def __len__(self) -> int:
        return len(self.Y)


@dataclass(frozen=True)
class Reference:
    """What placing needs of a fit.

    Attributes
    ----------
    fitted : Fitted
        The fitted rows.
    held : Held
        Their map.
    perplexity : float, array or None
        As it was fitted.
    obstacle : str or None
        Why rows that were not fitted cannot be placed.
    """

    fitted: Fitted
    held: Any
    perplexity: Any = None
    obstacle: str | None = None

    @one_blas_thread()
    def transform(self, rows: Any) -> tuple[Array, Array, Any]:
        """Places and costs of some rows, and the fitted row that each is equal to, or -1."""
        known = self.fitted.known(rows)
        Y, cost = self.held.Y[known], np.zeros(len(known))
        new = np.flatnonzero(known < 0)
        if len(new):
            if self.obstacle is not None:
                raise ValueError(self.obstacle)
            Y[new], cost[new] = self.held.place(self.fitted, rows, new, self.perplexity)
        return Y, cost, known

    @one_blas_thread()
    def place(self, rows: Any) -> Placed:
        """Places, neighbours, costs and novelty of some rows."""
        Y, cost, known = self.transform(rows)
        neighbours, squared = self.fitted.nearest(rows, NEAREST)
        low, high = self.held.Y.min(axis=0), self.held.Y.max(axis=0)
        outside = ((low > Y) | (high < Y)).any(axis=1)
        return Placed(Y, neighbours, cost, self.fitted.novelty(known, neighbours, squared), outside)


class HeldMap(Held):
    """A map of a kernel's method, into which rows are placed by their P."""

    def place(self, fitted: Fitted, rows: Any, new: Any, perplexity: Any) -> tuple[Array, Array]:
        """The places of some rows, and what they cost; block by block."""
        Y, cost = np.empty((len(new), self.Y.shape[1])), np.empty(len(new))
        step = max(1, BLOCK // (len(self.Y) if self.all_pairs else 150))
        for lo in range(0, len(new), step):
            part = slice(lo, min(lo + step, len(new)))
            ties = fitted.ties(rows[new[part]], self.method, perplexity, all_pairs=self.all_pairs)
            self.around()  # laid before threads ask for it
            width = self.method.require_kernel().width
            Y[part], cost[part] = settled(partial(PlacedCost, self), ties, self.Y, width, self.n_jobs)
        return Y, cost


class HeldRows:
    """A map of several scales, or of a kernel of each point: rows are placed by their own row of P alone."""

    def __init__(self, method: Method, Y: Array, *, all_pairs: bool) -> None:
        self.method, self.Y, self.all_pairs = method, Y, all_pairs

    def place(self, fitted: Fitted, rows: Any, new: Any, perplexity: Any) -> tuple[Array, Array]:
        """The places of some rows, and what they cost; block by block."""
        Y, cost = np.empty((len(new), self.Y.shape[1])), np.empty(len(new))
        step = max(1, (1 if self.all_pairs else 8) * BLOCK // len(self.Y))
        for lo in range(0, len(new), step):
            part = slice(lo, min(lo + step, len(new)))
            ties = fitted.ties(rows[new[part]], self.method, perplexity, all_pairs=self.all_pairs)
            row_cost, width = partial(OwnRowCost, self.method, self.Y), float(self.Y.std())
            Y[part], cost[part] = settled(row_cost, ties, self.Y, width, fitted.n_jobs)
        return Y, cost


def reference(
    engine: Engine,
    method: Method,
    Y: Array,
    source: Source,
    traits: Traits,
    perplexity: Any,
    attraction: float = 1.0,
) -> Reference:
    """What is kept of a fit."""
    fitted, all_pairs = Fitted(source, traits), engine.matches == ALL_PAIRS
    if method.kernel is None:
        why = None
        if source.precomputed and source.graph is not None:
            why = "only rows that were fitted can be placed here: a graph does not hold all their distances"
        return Reference(fitted, HeldDistances(method, Y, _stretch(method, Y, fitted, source)), None, why)
    facts = method.kernel.facts
    if len(method.precisions) > 1 or not (facts.symmetric and facts.radial):
        return Reference(fitted, HeldRows(method, Y, all_pairs=all_pairs), perplexity)
    S, bracket = engine.sums(Y, method)
    held = HeldMap(method, Y, S, bracket, all_pairs=all_pairs, weights=source.weights, n_jobs=source.n_jobs)
    if attraction != 1:
        held.attraction = attraction
    return Reference(fitted, held, perplexity)


def _stretch(method: Method, Y: Array, fitted: Fitted, source: Source) -> float:
    """What distances of the data are multiplied by to be those of the map, where both were normalized."""
    if method.normalization == "none":
        return 1.0
    some = np.unique(np.linspace(0, len(Y) - 1, min(len(Y), ROWS)).astype(np.int64))
    r = fitted.to_some(source.X[some], np.arange(len(Y)))
    gaps = Y[some, None, :] - Y
    return float(np.sqrt((gaps * gaps).sum(axis=2)).sum() / r.sum())


def projection(Y: Array, source: Source) -> Reference:
    """What is kept of principal components: the axes that the rows were projected on."""
    fitted = Fitted(source, Traits())
    if source.given:
        why = "only rows that were fitted can be placed here: components of distances place none yet"
        return Reference(fitted, Still(Y), None, why)
    return Reference(fitted, Projection(source.X, Y))


class Projection:
    """A map by principal components, onto which new rows are projected."""

    def __init__(self, X: Any, Y: Array) -> None:
        self.Y = Y
        self.mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        lengths = (Y**2).sum(axis=0)
        kept = lengths > FAINT * lengths.max()  # what the data do not have was filled with faint noise
        self.axes = np.asarray(X.T @ Y) - np.outer(self.mean, Y.sum(axis=0))
        self.axes *= np.where(kept, 1 / np.where(kept, lengths, 1.0), 0.0)

    def place(self, fitted: Fitted, rows: Any, new: Any, perplexity: Any) -> tuple[Array, Array]:
        """The places of some rows; there is no cost."""
        Y, step = np.empty((len(new), self.Y.shape[1])), max(1, BLOCK // len(self.mean))
        for lo in range(0, len(new), step):
            part = rows[new[lo : lo + step]]
            gaps = (part.toarray() if sparse.issparse(part) else part) - self.mean
            for c, axis in enumerate(self.axes.T):
                Y[lo : lo + step, c] = (gaps * axis).sum(axis=1)
        return Y, np.full(len(new), np.nan)


class HeldDistances:
    """A map of a cost of distances, into which rows are placed by their distances to a sample of it."""

    def __init__(self, method: Method, Y: Array, stretch: float = 1.0) -> None:
        self.method, self.Y, self.stretch = method._with(normalization="none"), Y, stretch
        self.sample = np.unique(np.linspace(0, len(Y) - 1, min(len(Y), SAMPLE)).astype(np.int64))

    def place(self, fitted: Fitted, rows: Any, new: Any, perplexity: Any) -> tuple[Array, Array]:
        """The places of some rows, and what they cost; block by block."""
        Y, cost = np.empty((len(new), self.Y.shape[1])), np.empty(len(new))
        step = max(1, BLOCK // len(self.sample))
        for lo in range(0, len(new), step):
            part = slice(lo, min(lo + step, len(new)))
            some = rows[new[part]]
            indices, squared = fitted.nearest(some, NEAREST)
            alike = np.isfinite(squared).astype(np.float64)
            apart = self.stretch * fitted.to_some(some, self.sample)
            near, width = Ties(indices, squared, alike, alike, alike), float(self.Y.std())
            Y[part], cost[part] = settled(partial(self._cost, apart), near, self.Y, width, fitted.n_jobs)
        return Y, cost

    def _cost(self, apart: Array, ties: Ties) -> Cost:
        rows = apart[ties.first : ties.first + len(ties.indices)]
        return StretchedCost(self.method, self.Y[self.sample], rows, len(self.Y))


@dataclass(frozen=True)
class Still:
    """A map into which nothing can be placed."""

    Y: Array


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
