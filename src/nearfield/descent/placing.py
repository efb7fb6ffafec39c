"""New points in a finished map: each goes where the method's own cost of it is least, all others being held.

A row's place depends on the fitted map and on the row alone: not on the rows beside it, nor on any seed. A
row that was fitted comes back exactly where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.fitted import Fitted, Ties
from nearfield.affinity.fuzzy import FuzzyNeighbours
from nearfield.affinity.mixed import fitted_of
from nearfield.affinity.source import Source
from nearfield.affinity.targets import ALL_PAIRS
from nearfield.affinity.traits import NEAREST, Traits
from nearfield.algebra.method import Method
from nearfield.algebra.transforms import Square
from nearfield.descent.settling import settled, settled_tails
from nearfield.engine.base import Engine
from nearfield.engine.own_row import OwnRowCost
from nearfield.engine.placed import Held, PlacedCost, StretchedCost
from nearfield.parallel import one_blas_thread
from nearfield.typing import Array

ROWS = 200  # of a map, by which its size is compared with that of the data
SAMPLE = 2000  # points of the map that distances are compared with
FAINT = 1e-12  # of the longest axis, squared: shorter ones are noise
BLOCK = 2**21  # ties of new rows that are held at a time


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
        return self._placed(rows, Near(self.fitted, rows))

    @one_blas_thread()
    def place(self, rows: Any) -> Placed:
        """Places, neighbours, costs and novelty of some rows."""
        near = Near(self.fitted, rows)
        Y, cost, known = self._placed(rows, near)
        neighbours, novelty = self.fitted.looked_up(rows, known, near.of_all)
        outside = np.zeros(len(Y), bool)
        for place, axis in zip(Y.T, self.held.Y.T, strict=True):  # by axis: of both at once NumPy is slow
            outside |= (place < axis.min()) | (place > axis.max())
        return Placed(Y, neighbours, cost, novelty, outside)

    def _placed(self, rows: Any, near: Near) -> tuple[Array, Array, Any]:
        """What `transform` gives; the neighbours that are found on the way are noted."""
        known = self.fitted.known(rows)
        Y, cost = self.held.Y[known], np.zeros(len(known))
        new = np.flatnonzero(known < 0)
        if len(new):
            if self.obstacle is not None:
                raise ValueError(self.obstacle)
            Y[new], cost[new] = self.held.place(self.fitted, rows, new, self.perplexity, near)
        return Y, cost, known


class Near:
    """The nearest fitted points to some rows, as they are asked about in the end.

    Whoever places rows by their neighbours notes them, so that they are searched for once.
    """

    def __init__(self, fitted: Fitted, rows: Any) -> None:
        count, k = rows.shape[0], min(NEAREST, fitted.n)
        self.fitted, self.rows = fitted, rows
        self.indices: Any = np.zeros((count, k), np.int32)
        self.squared, self.noted = np.empty((count, k)), np.zeros(count, bool)

    def note(self, which: Any, ties: Ties) -> None:
        """The ties of some of the rows, if they are the nearest in order, and enough."""
        k = self.indices.shape[1]
        if ties.in_order and ties.indices.shape[1] >= k:
            self.indices[which], self.squared[which] = ties.indices[:, :k], ties.squared[:, :k]
            self.noted[which] = True

    def of_all(self) -> tuple[Any, Array]:
        """Indices and squared distances: those that were noted, and others, which are searched for."""
        missing = np.flatnonzero(~self.noted)
        if len(missing) == len(self.noted):
            return self.fitted.nearest(self.rows, NEAREST)
        if len(missing):
            self.indices[missing], self.squared[missing] = self.fitted.nearest(self.rows[missing], NEAREST)
        return self.indices, self.squared


class HeldMap(Held):
    """A map of a kernel's method, into which rows are placed by their P."""

    def place(self, fitted: Fitted, rows: Any, new: Any, perplexity: Any, near: Near) -> tuple[Array, Array]:
        """The places of some rows, and what they cost."""
        step = max(1, BLOCK // (len(self.Y) if self.all_pairs else 150))
        self.around()  # laid before threads ask for it
        return by_ties(self, fitted, rows, new, perplexity, near, step)

    def settled(self, ties: Ties, n_jobs: int | None) -> tuple[Array, Array]:
        """Where rows with these ties come to rest, and what they cost there."""
        if self.fused:
            return settled_tails(self, ties, n_jobs)
        width = self.method.require_kernel().width
        return settled(partial(PlacedCost, self), ties, self.Y, width, n_jobs)

    @property
    def fused(self) -> bool:
        """Whether a compiled loop knows the cost: a cross-entropy over all pairs, with a heavy tail."""
        kernel, method = self.method.require_kernel(), self.method
        closed = method.cost.facts.cross_entropy and kernel.facts.tail is not None
        return bool(
            closed and method.normalization == "pair" and method.transform == Square() and self.mass is None
        )


class HeldRows:
    """A map of several scales, or of a kernel of each point: rows are placed by their own row of P alone."""

    def __init__(self, method: Method, Y: Array, attraction: float = 1.0, *, all_pairs: bool) -> None:
        self.method, self.Y, self.attraction, self.all_pairs = method, Y, attraction, all_pairs

    def place(self, fitted: Fitted, rows: Any, new: Any, perplexity: Any, near: Near) -> tuple[Array, Array]:
        """The places of some rows, and what they cost."""
        step = max(1, (1 if self.all_pairs else 8) * BLOCK // len(self.Y))
        return by_ties(self, fitted, rows, new, perplexity, near, step)

    def settled(self, ties: Ties, n_jobs: int | None) -> tuple[Array, Array]:
        """Where rows with these ties come to rest, and what they cost there."""
        row_cost = partial(OwnRowCost, self.method, self.Y, attraction=self.attraction)
        return settled(row_cost, ties, self.Y, float(self.Y.std()), n_jobs)


def by_ties(
    held: HeldMap | HeldRows,
    fitted: Fitted,
    rows: Any,
    new: Any,
    perplexity: Any,
    near: Near,
    step: int,
) -> tuple[Array, Array]:
    """The places of some rows by what ties them to a map, and what they cost; `step` rows at a time."""
    Y, cost = np.empty((len(new), held.Y.shape[1])), np.empty(len(new))
    for lo in range(0, len(new), step):
        part = new[lo : lo + step]
        ties = fitted.ties(rows[part], held.method, perplexity, all_pairs=held.all_pairs)
        near.note(part, ties)
        for which, alike in ties.of_equal_counts():
            Y[lo + which], cost[lo + which] = held.settled(alike, fitted.n_jobs)
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
    fitted, all_pairs = fitted_of(source, traits), engine.matches == ALL_PAIRS
    if method.kernel is None:
        why = None
        if source.precomputed and source.graph is not None:
            why = "only rows that were fitted can be placed here: a graph does not hold all their distances"
        return Reference(fitted, HeldDistances(method, Y, _stretch(method, Y, fitted, source)), None, why)
    facts = method.kernel.facts
    if len(method.precisions) > 1 or not (facts.symmetric and facts.radial):
        return Reference(fitted, HeldRows(method, Y, attraction, all_pairs=all_pairs), perplexity)
    S, bracket = engine.sums(Y, method)
    how: dict[str, Any] = {"weights": source.weights, "attraction": attraction, "n_jobs": source.n_jobs}
    held = HeldMap(method, Y, S, bracket, all_pairs=all_pairs, **how)
    if isinstance(perplexity, FuzzyNeighbours):
        perplexity = replace(perplexity, known=None)  # of the fitted rows
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

    def place(self, fitted: Fitted, rows: Any, new: Any, perplexity: Any, near: Near) -> tuple[Array, Array]:
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

    def place(self, fitted: Fitted, rows: Any, new: Any, perplexity: Any, near: Near) -> tuple[Array, Array]:
        """The places of some rows, and what they cost; block by block."""
        Y, cost = np.empty((len(new), self.Y.shape[1])), np.empty(len(new))
        step = max(1, BLOCK // len(self.sample))
        for lo in range(0, len(new), step):
            part = slice(lo, min(lo + step, len(new)))
            some = rows[new[part]]
            indices, squared = fitted.nearest(some, NEAREST)
            alike = np.isfinite(squared).astype(np.float64)
            apart = self.stretch * fitted.to_some(some, self.sample)
            ties, width = Ties(indices, squared, alike, alike, alike, in_order=True), float(self.Y.std())
            near.note(new[part], ties)
            Y[part], cost[part] = settled(partial(self._cost, apart), ties, self.Y, width, fitted.n_jobs)
        return Y, cost

    def _cost(self, apart: Array, ties: Ties) -> StretchedCost:
        rows = apart[ties.first : ties.first + len(ties.indices)]
        return StretchedCost(self.method, self.Y[self.sample], rows, len(self.Y))


@dataclass(frozen=True)
class Still:
    """A map into which nothing can be placed."""

    Y: Array
