"""What a person has asked of a map so far: pins, pulls, links and bounds, as a value that never changes.

Every command makes another one of it. So a command that is refused leaves nothing behind, and to undo is to
go back to the one before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nearfield.engine.base import Engine
from nearfield.io.schema import LONGEST, check_array, check_indices, check_number
from nearfield.steer.base import Indices, Measure, Term, indices_of, shown
from nearfield.steer.links import Link, refuse_contradictions
from nearfield.steer.penalties import Gaussian, Penalty
from nearfield.steer.pulls import Followed, Pull, check_follow, followers_of, pull, ties_to
from nearfield.typing import Array

FARTHEST = (
    1e6  # radii of the map, or widths of its kernel: who is further out is beyond what distances can tell
)
PRIOR = Gaussian(strength=1.0, width=0.3)  # of a soft pin: at a distance of .09 R as strong as the map


def _nobody() -> Indices:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Steering:
    """Pins, pulls, links and bounds.

    Attributes
    ----------
    shape : (int, int)
        Of the map.
    held : array
        The points with a hard pin.
    at : array (held, dimensions)
        Where they are.
    pulls : tuple of Pull
        On the followers of pins, and on soft pins themselves.
    terms : tuple of Term
        Links, bounds, and what else was added.
    anchored : bool
        Whether something was ever put in a place, so that the map must not be moved as a whole.
    changed : int
        The iteration of the last command, from which on a run has to converge anew.
    wakes : int
        The iteration at which the map has unfolded. Until then pins are held, but nothing pulls: forces are
        measured by the size of the map, and a map that is a thousandth of what it will be has none.
    asleep : bool
        Whether there are terms that wait for it.
    """

    shape: tuple[int, int]
    held: Indices = field(default_factory=_nobody)
    at: Array = field(default_factory=lambda: np.zeros((0, 0)))
    pulls: tuple[Pull, ...] = ()
    terms: tuple[Term, ...] = ()
    anchored: bool = False
    changed: int = 0
    wakes: int = 0
    asleep: bool = False

    def check(self, shape: tuple[int, int]) -> None:
        """Refuse what does not go with a map of this shape, with one line that says why."""
        n, dimensions = shape
        if self.shape != shape:
            raise ValueError(f"what was asked for is of a map of shape {self.shape}, and not {shape}")
        check_indices("the pins", self.held, n, once=True)
        places = self.at if len(self.held) else self.at.reshape(-1, dimensions)
        check_array("the places of pins", places, (len(self.held), dimensions))
        for each in (*self.pulls, *self.terms):
            each.check(n, dimensions)
        check_some_free(len(self.pins), n)
        check_number("the iteration of the last command", self.changed, 0, LONGEST, int)
        check_number("the iteration at which the map unfolds", self.wakes, 0, LONGEST, int)

    @property
    def pins(self) -> dict[int, Array]:
        """Where each pinned point was put, hard or soft."""
        pins = {int(i): place.copy() for i, place in zip(self.held, self.at, strict=True)}
        for each in self.pulls:
            if each.stays:
                pins |= {int(i): place.copy() for i, place in zip(each.pins, each.places, strict=True)}
        return pins

    @property
    def followers(self) -> dict[int, Indices]:
        """Who follows each pinned point."""
        found: dict[int, Indices] = {i: _nobody() for i in self.pins}
        for each in self.pulls:
            if not each.stays:
                for i in np.unique(each.pins):
                    found[int(i)] = np.union1d(found.get(int(i), _nobody()), each.followers[each.pins == i])
        return found

    @property
    def has_terms(self) -> bool:
        """Whether anything is added to the cost."""
        return bool(self.pulls or self.terms)

    def at_iteration(self, iteration: int) -> Steering:
        """The same, as asked for at this iteration."""
        return replace(self, changed=iteration, asleep=iteration < self.wakes)

    def wakes_at(self, iteration: int) -> bool:
        """Whether its terms begin to act at this iteration."""
        return self.asleep and iteration >= self.wakes

    def woken(self, measure: Measure) -> Steering:
        """The same, measured by a map that has unfolded."""
        pulls = tuple(each.measured(measure) for each in self.pulls)
        return replace(
            self, pulls=pulls, terms=tuple(term.measured(measure) for term in self.terms), asleep=False
        )

    def active_at(self, iteration: int) -> list[tuple[float, Term]]:
        """The terms that count at an iteration, and how much is left of each."""
        if self.asleep:
            return [(1.0, term) for term in self.terms if term.live]
        pulls = [(each.left_at(iteration), each) for each in self.pulls]
        return [*((left, each) for left, each in pulls if left > 0), *((1.0, term) for term in self.terms)]

    def fades_at(self, iteration: int) -> bool:
        """Whether the terms are others at this iteration than at the one before."""
        return any(each.fading is not None and each.left_at(iteration - 1) > 0 for each in self.pulls)

    @property
    def settled(self) -> int:
        """The iteration from which on nothing changes any more."""
        ends = [sum(each.fading) for each in self.pulls if each.fading is not None]
        wakes = [self.wakes] if self.has_terms else []
        return max([self.changed, *ends, *wakes])

    def pin(
        self,
        indices: Any,
        positions: Any,
        *,
        follow: Any,
        neighbours: str,
        weights: str,
        pull_by: Penalty,
        soft: bool | Penalty,
        Y: Array,
        engine: Engine,
        measure: Measure,
    ) -> tuple[Steering, Indices, Array, Followed]:
        """With some points put somewhere, and their neighbours drawn after them.

        Also who they are, where they are put and who follows, in the form in which a log can hold it.
        """
        n, dimensions = self.shape
        pins = indices_of("pin", indices, n)
        if not len(pins):
            raise ValueError("pin: no points were named")
        at = check_places(positions, len(pins), dimensions)
        check_near(at, Y, measure, engine)
        follow = check_follow(follow, n)
        if not isinstance(soft, (bool, np.bool_, Penalty)):
            raise ValueError(f"soft must be True, False or a Penalty, got {shown(soft)}")
        left = self._without(pins, pins)
        taken = np.union1d(np.array(list(left.pins), np.int64), pins)
        check_some_free(len(taken), n)
        followers = followers_of(pins, follow, neighbours, Y, engine, taken)
        if not isinstance(weights, str) or weights not in ("one", "p"):
            raise ValueError(f"weights must be 'one' or 'p', got {shown(weights)}")
        if weights == "p" and engine.method.target_kind == "distances":
            raise ValueError("distances have no p to weigh followers by: use weights='one'")
        strengths = [
            np.ones(len(each)) if weights == "one" else ties_to(int(i), each, engine)
            for i, each in zip(pins, followers, strict=True)
        ]
        if pull_by.scale_free:  # several pins together draw a point no more strongly than one
            times = np.bincount(np.concatenate(followers), minlength=n)
            strengths = [each / times[of] for each, of in zip(strengths, followers, strict=True)]
        if engine.weights is not None:  # a point that stands for several is drawn as strongly as they are
            strengths = [each * engine.weights[of] for each, of in zip(strengths, followers, strict=True)]
        new = [pull(pull_by, pins, followers, at, strengths, measure)]
        if soft:
            prior = soft if isinstance(soft, Penalty) else PRIOR
            alone = [np.array([i]) for i in pins]
            ones = [np.ones(1) if engine.weights is None else engine.weights[[i]] for i in pins]
            new.append(pull(prior, pins, alone, at, ones, measure, stays=True))
        else:
            order = np.argsort(np.concatenate([left.held, pins]), kind="stable")
            held = np.concatenate([left.held, pins])[order]
            left = replace(left, held=held, at=np.concatenate([left.at.reshape(-1, dimensions), at])[order])
        pulls = (*left.pulls, *(each for each in new if each is not None))
        return replace(left, pulls=pulls, anchored=True), pins, at, follow

    def move(self, pins: Indices, places: Array, Y: Array, engine: Engine, measure: Measure) -> Steering:
        """With pinned points put elsewhere; who follows them stays the same."""
        check_near(places, Y, measure, engine)
        at, hard = self.at.copy(), np.isin(pins, self.held)
        at[np.searchsorted(self.held, pins[hard])] = places[hard]
        return replace(self, at=at, pulls=tuple(each.towards(pins, places) for each in self.pulls))

    def pull(self, drawn: Penalty, measure: Measure) -> Steering:
        """With all followers drawn by another penalty, and what has faded at its full strength again."""
        if not drawn.scale_free:
            raise ValueError(f"pull takes a penalty by its strength and width, and not by {drawn.fixed}")
        pulls = [
            each if each.stays else replace(each, penalty=drawn, fading=None, faded=1.0).measured(measure)
            for each in self.pulls
        ]
        if all(each.stays for each in self.pulls):
            raise ValueError("pull: nobody follows a pin")
        return replace(self, pulls=tuple(pulls))

    def unpin(self, indices: Any = None) -> tuple[Steering, Indices]:
        """With some pins, or all, taken out, and their followers let go; also whose these were."""
        n, _ = self.shape
        known = np.array(sorted(self.pins), np.int64)
        pins = known if indices is None else indices_of("unpin", indices, n)
        loose = np.setdiff1d(pins, known)
        if loose.size:
            raise ValueError(f"unpin: {loose[0]} is not pinned")
        return self._without(pins, _nobody()), pins

    def _without(self, pins: Indices, followers: Indices) -> Steering:
        pulls = [each.without(pins, followers) for each in self.pulls]
        kept = ~np.isin(self.held, pins)
        return replace(
            self,
            held=self.held[kept],
            at=self.at.reshape(-1, self.shape[1])[kept],
            pulls=tuple(each for each in pulls if each is not None),
        )

    def settle(self, iteration: int, n: int) -> Steering:
        """With the penalties of all followers fading from this iteration on."""
        since = max(iteration, self.wakes if self.asleep else 0)
        return replace(self, pulls=tuple(each.fade(since, n) for each in self.pulls))

    def add(self, term: Term, measure: Measure) -> Steering:
        """With one more term."""
        if not isinstance(term, Term):
            raise TypeError(f"a term is an object of a class derived from nearfield.terms.Term, got {term!r}")
        term.check(*self.shape)
        terms = (*self.terms, term.measured(measure))
        refuse_contradictions(terms, self.shape[0])
        return replace(self, terms=terms, anchored=self.anchored or not term.floats)

    def remove(self, number: int) -> Steering:
        """Without the term of this number."""
        if isinstance(number, bool) or not hasattr(number, "__index__") or not 0 <= number < len(self.terms):
            raise ValueError(f"remove: there are {len(self.terms)} terms, counted from 0, got {number!r}")
        return replace(self, terms=(*self.terms[:number], *self.terms[number + 1 :]))

    def unlink(self, pairs: Any) -> Steering:
        """Without the links between these pairs."""
        cut = Link(pairs)
        cut.check(*self.shape)
        linked = {
            frozenset(pair) for term in self.terms if isinstance(term, Link) for pair in term.pairs.tolist()
        }
        for i, j in cut.pairs.tolist():
            if frozenset((i, j)) not in linked:
                raise ValueError(f"unlink: {i} and {j} are not linked")
        terms = [term.without(cut.pairs) if isinstance(term, Link) else term for term in self.terms]
        return replace(self, terms=tuple(term for term in terms if term is not None))


def check_some_free(pinned: int, n: int) -> None:
    """Refuse to pin all of n points."""
    if pinned >= n:
        raise ValueError(f"all {n} points would be pinned: leave some of them free to move")


def check_places(positions: Any, count: int, dimensions: int) -> Array:
    """Positions of pins as float64, or one line about what is wrong with them."""
    try:
        places = np.array(positions, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"positions must be numbers, {dimensions} for each pin, got {shown(positions)}"
        ) from None
    if places.ndim == 1 and count == 1:
        places = places[None]
    if places.shape != (count, dimensions):
        raise ValueError(f"positions must have the shape ({count}, {dimensions}), got {places.shape}")
    if not np.all(np.isfinite(places)):
        raise ValueError("positions must be finite: there is NaN or infinity among them")
    return places + 0.0  # no -0.0, which the first addition would turn into 0.0


def check_near(places: Array, Y: Array, measure: Measure, engine: Engine) -> None:
    """Refuse places that are out of all proportion to the map Y and to its kernel."""
    kernel, centre = engine.method.kernel, Y.mean(axis=0)
    unit = measure.radius if kernel is None else max(measure.radius, kernel.width)
    low, high = centre - FARTHEST * unit, centre + FARTHEST * unit
    if not np.all((low <= places) & (places <= high)):
        allowed = " and ".join(f"from {a:.3g} to {b:.3g}" for a, b in zip(low, high, strict=True))
        raise ValueError(
            f"positions must be {allowed}, {FARTHEST:g} times the size of the map, got {shown(places)}"
        )
