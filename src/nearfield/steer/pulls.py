"""Pulls: the old neighbours of a pinned point, frozen when the pin is set, are drawn to its new place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from nearfield.engine.base import Engine
from nearfield.io.schema import LONGEST, check_array, check_indices, check_number
from nearfield.steer.base import MOST, Indices, Measure, Term, indices_of
from nearfield.steer.penalties import Penalty
from nearfield.typing import Array

# Followers spread out again when little of the pull is left: so the less there is, the more slowly it goes.
# If it goes evenly, what was drawn together springs apart, and some of it flies back to where it came from.
GENTLY = 3.0  # the power of what is left of the time, by which a pull fades


@dataclass(frozen=True, eq=False)
class Pull(Term):
    """A penalty on the distances of some points to some places: factor · Σ weight · ρ(‖y - place‖²/width²).

    Attributes
    ----------
    penalty : Penalty
        ρ.
    pins : array (pairs,)
        Whose place it is.
    followers : array (pairs,)
        Who is drawn to it.
    places : array (pairs, dimensions)
        Where to.
    weights : array (pairs,)
        How strongly, beside each other.
    factor, square : float
        What is before ρ, and the squared width.
    stays : bool
        Whether it outlasts `Run.settle`, as a soft pin does.
    fading : (int, int) or None
        The iteration from which on it fades, and for how many.
    faded : float
        How much of it is left when it begins to fade: less than 1 if it did so before.
    """

    penalty: Penalty
    pins: Indices
    followers: Indices
    places: Array
    weights: Array
    factor: float
    square: float
    stays: bool = False
    fading: tuple[int, int] | None = None
    faded: float = 1.0

    def check(self, n: int, dimensions: int) -> None:
        check_indices("the pins of a pull", self.pins, n)
        check_indices("the followers of a pull", self.followers, n)
        count = len(self.pins)
        for name, shape in (("followers", (count,)), ("weights", (count,)), ("places", (count, dimensions))):
            dtype = np.int64 if name == "followers" else np.float64
            check_array(f"the {name} of a pull", getattr(self, name), shape, dtype)
        for name, most in (("factor", MOST), ("square", MOST), ("faded", 1.0)):
            check_number(f"the {name} of a pull", getattr(self, name), 0, most)
        for each in self.fading or ():
            check_number("the fading of a pull", each, 0, LONGEST, int)

    def measured(self, measure: Measure) -> Pull:
        if not self.penalty.scale_free:  # its constants are those of no map
            return self
        factor, square = self.penalty.constants(measure, len(self.pins))
        return replace(self, factor=factor, square=square)

    def fade(self, since: int, length: int) -> Pull:
        """The same, fading over some iterations from what is left of it now; one that stays does not."""
        return self if self.stays else replace(self, fading=(since, length), faded=self.left_at(since - 1))

    def evaluate(self, Y: Array) -> tuple[float, Indices, Array]:
        gaps = Y[self.followers] - self.places
        t = np.einsum("kc,kc->k", gaps, gaps) / self.square
        value = self.factor * float(self.weights @ self.penalty.value(t))
        steepness = (2 * self.factor / self.square) * self.weights * self.penalty.slope(t)
        return value, self.followers, steepness[:, None] * gaps

    def left_at(self, iteration: int) -> float:
        """How much of it is left at an iteration, from 1 to 0."""
        if self.fading is None:
            return 1.0
        since, length = self.fading
        if iteration < since:
            return self.faded
        return self.faded * max(0.0, 1.0 - (iteration - since + 1) / max(length, 1)) ** GENTLY

    def towards(self, pins: Indices, places: Array) -> Pull:
        """The same, with some pins elsewhere."""
        order = np.argsort(pins)
        at = np.minimum(np.searchsorted(pins[order], self.pins), len(pins) - 1)
        moved = pins[order][at] == self.pins
        return replace(self, places=np.where(moved[:, None], places[order][at], self.places))

    def without(self, pins: Indices, followers: Indices) -> Pull | None:
        """What is left of it when some pins are released and some followers follow no more."""
        kept = ~(np.isin(self.pins, pins) | np.isin(self.followers, followers))
        if not kept.any():
            return None
        parts = {name: getattr(self, name)[kept] for name in ("pins", "followers", "places", "weights")}
        if self.penalty.scale_free:  # those that are left share a follower among them
            before, after = (
                np.bincount(who, minlength=self.followers.max() + 1)
                for who in (self.followers, parts["followers"])
            )
            parts["weights"] = parts["weights"] * (before / np.maximum(after, 1))[parts["followers"]]
        return replace(self, **parts)


def pull(
    penalty: Penalty,
    pins: Indices,
    followers: list[Indices],
    positions: Array,
    weights: list[Array],
    measure: Measure,
    stays: bool = False,
) -> Pull | None:
    """The pull of each pin on its followers; None if nobody follows."""
    sizes = [len(each) for each in followers]
    if not sum(sizes):
        return None
    factor, square = penalty.constants(measure, sum(sizes))
    return Pull(
        penalty,
        np.repeat(pins, sizes),
        np.concatenate(followers),
        np.repeat(positions, sizes, axis=0),
        np.concatenate(weights),
        factor,
        square,
        stays,
    )


Followed = int | float | Indices | None  # how many, which fraction of all points, who, or nobody


def check_follow(follow: Any, n: int) -> Followed:
    """Who or how many are to follow, as a plain number, indices or None, or one line about what is wrong.

    Examples
    --------
    >>> check_follow([], 40)
    array([], dtype=int64)
    >>> check_follow(np.array(3), 40), check_follow(np.float32(0.25), 40)
    (3, 0.25)
    """
    if follow is None:
        return None
    if isinstance(follow, np.ndarray) and follow.ndim == 0:
        follow = follow.item()  # a number in the guise of an array
    if not isinstance(follow, (Integral, Real)) or isinstance(follow, bool):
        return indices_of("follow", follow, n)
    if follow < 0 or (not isinstance(follow, Integral) and not 0 < float(follow) < 1):
        raise ValueError(f"follow must be a count, a fraction below 1, indices or None, got {follow!r}")
    return int(follow) if isinstance(follow, Integral) else float(follow)


def followers_of(
    pins: Indices,
    follow: Followed,
    neighbours: str,
    Y: Array,
    engine: Engine,
    taken: Indices,
) -> list[Indices]:
    """Who follows each pin: its nearest in the map as it is now, or in the data, or whoever was named.

    Parameters
    ----------
    pins : array
        The points to be pinned.
    follow : int, float below 1, array or None
        How many, which fraction of all points, who exactly, or nobody; see `check_follow`.
    neighbours : {"map", "data"}
        Where the nearest are looked for.
    Y : array (points, dimensions)
        The map before the move.
    engine : Engine
        What knows the neighbours in the data.
    taken : array
        Points that are pinned, and follow nobody.
    """
    n, free = len(Y), np.ones(len(Y), bool)
    free[taken] = False
    if neighbours not in ("map", "data"):
        raise ValueError(f"neighbours must be 'map' or 'data', got {neighbours!r}")
    if follow is None:
        return [np.zeros(0, np.int64) for _ in pins]
    if isinstance(follow, np.ndarray):
        return [follow[free[follow]] for _ in pins]
    count = follow
    if isinstance(count, float):  # of all points, and no more than there are
        count = min(max(1, round(count * n)), int(free.sum()))
    if count > free.sum():
        raise ValueError(f"follow asks for {count} neighbours, but only {free.sum()} points are not pinned")
    return [_followers(int(i), count, neighbours, Y, engine, free) for i in pins]


def nearest(i: int, neighbours: str, Y: Array, engine: Engine, free: Any) -> Indices:
    """The free points, nearest to one of them first: in the map, or in the data as far as it knows."""
    if neighbours == "map":
        squared = np.sum((Y - Y[i]) ** 2, axis=1)
        squared[~free] = np.inf
        return np.argsort(squared, kind="stable")[: np.count_nonzero(free)]
    others, ties = (np.asarray(each) for each in engine.row(i))
    near = ties if engine.method.target_kind == "distances" else -ties
    kept = free[others] & (others != i) & ((ties > 0) | (engine.method.target_kind == "distances"))
    others, near = others[kept], near[kept]
    return others[np.argsort(near, kind="stable")].astype(np.int64)


def _followers(i: int, count: int, neighbours: str, Y: Array, engine: Engine, free: Any) -> Indices:
    found = nearest(i, neighbours, Y, engine, free)
    if count > len(found):
        raise ValueError(
            f"follow asks for {count} neighbours of point {i}, but the data's graph has {len(found)}:"
            " ask for fewer, or take neighbours='map'"
        )
    return np.sort(found[:count])


def ties_to(i: int, followers: Indices, engine: Engine) -> Array:
    """P between a point and its followers, in units of the largest."""
    others, ties = engine.row(i)
    known = np.zeros(int(max(others.max(initial=0), followers.max(initial=0))) + 1)
    known[others] = ties
    found = known[followers]
    return found / found.max() if found.max(initial=0.0) > 0 else found
