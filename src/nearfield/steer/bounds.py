"""Bounds: a box or a disc that a group of points must stay in."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from nearfield.steer.base import Indices, Measure, Term, indices_of, positive, shown
from nearfield.typing import Array


@dataclass(frozen=True, eq=False)
class Bounds(Term):
    """A region, and a spring that brings back who is outside of it.

    Parameters
    ----------
    indices : array
        The group.
    strength, width : float, keyword-only
        The force at a distance of `width` from the region, which is in units of the map's RMS radius; the
        force is in units of what a point feels anyway.
    """

    indices: Any
    strength: float = field(default=1.0, kw_only=True)
    width: float = field(default=0.02, kw_only=True)
    measure: Measure | None = field(default=None, kw_only=True)
    places: ClassVar[tuple[str, ...]] = ()  # what is given by coordinates

    def __post_init__(self) -> None:
        object.__setattr__(self, "indices", np.atleast_1d(np.array(self.indices)))
        for name in ("strength", "width"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        for name in self.places:
            try:
                place = np.array(getattr(self, name), dtype=np.float64)  # a copy
            except (TypeError, ValueError):
                place = np.array(np.nan)
            if place.ndim != 1 or not np.all(np.isfinite(place)):
                raise ValueError(f"{name} must be finite numbers, got {shown(getattr(self, name))}")
            object.__setattr__(self, name, place)

    def check(self, n: int, dimensions: int) -> None:
        if not len(indices_of("bounds", self.indices, n)):
            raise ValueError("bounds: no points were named")
        if self.measure is not None:
            self.measure.check()
        for name in self.places:
            place = getattr(self, name)
            if len(place) != dimensions:
                raise ValueError(f"{name} must be {dimensions} finite numbers, got {shown(place)}")

    def _outside(self, Y: Array) -> Array:
        """The way from the region to each point: zero for those inside."""
        raise TypeError(f"{type(self).__name__} does not define _outside")

    def measured(self, measure: Measure) -> Self:
        return replace(self, measure=measure)

    def evaluate(self, Y: Array) -> tuple[float, Indices, Array]:
        measure = self.measure or Measure(1.0, 1.0)
        force = self.strength * measure.force / (self.width * measure.radius)
        out = self._outside(Y[self.indices])
        return 0.5 * force * float(np.sum(out * out)), self.indices, force * out


@dataclass(frozen=True, eq=False)
class Box(Bounds):
    """An upright box, from `low` to `high` in every dimension.

    Examples
    --------
    >>> Box([0], (0, 0), (1, 1), width=1.0).evaluate(np.array([[3.0, 0.5]]))[0]
    2.0
    """

    low: Any
    high: Any
    places: ClassVar = ("low", "high")

    def check(self, n: int, dimensions: int) -> None:
        super().check(n, dimensions)
        if not np.all(self.low <= self.high):
            raise ValueError(f"a box goes from low to high, got {shown(self.low)} and {shown(self.high)}")

    def _outside(self, Y: Array) -> Array:
        return Y - np.clip(Y, self.low, self.high)


@dataclass(frozen=True, eq=False)
class Disc(Bounds):
    """A disc (a ball, in other dimensions than two) around `centre`.

    Examples
    --------
    >>> Disc([0], (0, 0), 1.0, width=1.0).evaluate(np.array([[3.0, 0.0]]))[0]
    2.0
    """

    centre: Any
    radius: float
    places: ClassVar = ("centre",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "radius", positive("the radius of a disc", self.radius))

    @np.errstate(over="ignore", invalid="ignore")  # a map that ran away: whoever called sees it
    def _outside(self, Y: Array) -> Array:
        gaps = Y - self.centre
        lengths = np.sqrt(np.einsum("kc,kc->k", gaps, gaps))[:, None]
        return gaps * (np.maximum(0.0, lengths - self.radius) / np.maximum(lengths, 1e-300))
