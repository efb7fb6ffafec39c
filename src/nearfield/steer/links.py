"""Links: pairs of points that belong together, and pairs that do not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from nearfield.steer.base import Indices, Measure, Term, positive, shown
from nearfield.typing import Array


@dataclass(frozen=True, eq=False)
class Link(Term):
    """Pairs of points, and a force between those that are too far apart or too close.

    Parameters
    ----------
    pairs : array (links, 2)
        Who is linked.
    distance : float
        How far apart they may be at most, or have to be at least, in units of the map's RMS radius.
    strength : float
        Of the force at a distance of `width` beyond that, in units of what a point feels anyway.
    width : float
        In units of the map's RMS radius.
    """

    pairs: Any
    distance: float = 0.0
    strength: float = 1.0
    width: float = 0.1
    measure: Measure | None = None
    floats: ClassVar[bool] = True
    sign: ClassVar[float] = 1.0  # of what is too far; -1 of what is too close

    def __post_init__(self) -> None:
        for name, least in (("distance", 0.0), ("strength", None), ("width", None)):
            object.__setattr__(self, name, positive(name, getattr(self, name), least))
        try:
            pairs = np.asarray(self.pairs)
        except ValueError:  # of rows of unequal length
            pairs = np.zeros(0)
        if pairs.ndim == 1 and pairs.size == 2:
            pairs = pairs[None]
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise ValueError(f"links are pairs of whole numbers, got {shown(self.pairs)}")
        object.__setattr__(self, "pairs", pairs.astype(np.int64))  # a copy

    def check(self, n: int, dimensions: int) -> None:
        outside = self.pairs[(self.pairs < 0) | (self.pairs >= n)]
        if outside.size:
            raise ValueError(f"link: {outside[0]} is out of range, the points are 0 to {n - 1}")
        if self.measure is not None:
            self.measure.check()
        same = self.pairs[self.pairs[:, 0] == self.pairs[:, 1]]
        if same.size:
            raise ValueError(f"link: {same[0, 0]} cannot be linked to itself")

    def measured(self, measure: Measure) -> Self:
        return replace(self, measure=measure)

    def without(self, pairs: Indices) -> Self | None:
        """The links that are left when these are cut, in whichever order a pair is named."""
        cut = {frozenset(pair) for pair in pairs.tolist()}
        kept = [pair for pair in self.pairs.tolist() if frozenset(pair) not in cut]
        return replace(self, pairs=np.array(kept)) if kept else None

    def evaluate(self, Y: Array) -> tuple[float, Indices, Array]:
        measure = self.measure or Measure(1.0, 1.0)
        width, radius = self.width * measure.radius, measure.radius
        gaps = Y[self.pairs[:, 0]] - Y[self.pairs[:, 1]]
        lengths = np.sqrt(np.einsum("kc,kc->k", gaps, gaps))
        beyond = np.maximum(0.0, self.sign * (lengths - self.distance * radius)) / width
        value = self.strength * measure.force * width * 0.5 * float(beyond @ beyond)
        # Points in one place have no direction between them; they part along the first axis.
        together = lengths == 0
        directions = gaps / np.where(together, 1.0, lengths)[:, None]
        directions[together, 0] = 1.0
        forces = (self.sign * self.strength * measure.force * beyond)[:, None] * directions
        return value, self.pairs.T.ravel(), np.concatenate([forces, -forces])


@dataclass(frozen=True, eq=False)
class MustLink(Link):
    """Pairs that belong together: a spring between them.

    Examples
    --------
    >>> MustLink([(0, 1)]).evaluate(np.array([[0.0, 0.0], [0.1, 0.0]]))[0]
    0.05
    """


@dataclass(frozen=True, eq=False)
class CannotLink(Link):
    """Pairs that do not belong together: a push while they are closer than `distance`.

    Examples
    --------
    >>> CannotLink([(0, 1)]).evaluate(np.array([[0.0, 0.0], [2.0, 0.0]]))[0]
    0.0
    """

    distance: float = 1.0
    sign: ClassVar[float] = -1.0


def refuse_contradictions(terms: tuple[Term, ...], n: int) -> None:
    """Refuse links that no map can hold: a pair that must not be linked, within a chain that must."""
    must = [term.pairs for term in terms if isinstance(term, MustLink)]
    cannot = [term.pairs for term in terms if isinstance(term, CannotLink)]
    if not must or not cannot:
        return
    tied = np.concatenate(must)
    _, group = connected_components(coo_array((np.ones(len(tied)), tied.T), (n, n)), directed=False)
    for i, j in np.concatenate(cannot).tolist():
        if group[i] == group[j]:
            raise ValueError(f"contradictory links: {i} and {j} must be together, and must not: unlink one")
