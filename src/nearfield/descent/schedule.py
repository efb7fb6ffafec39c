"""The schedule: what changes in the course of a descent, as a list of phases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from nearfield.algebra.method import Method
from nearfield.checks import whole
from nearfield.defaults import epochs

# The momentum of t-SNE as published, early and late. A rate of the user's own was chosen for it, and would
# act several times as strongly under a higher one.
CLASSICAL = (0.5, 0.8)
# Of the last phase: what is lost of the velocity at each iteration, times the number of points along a side
# of the map, but no more than MOST_FRICTION. The slowest modes of a map are waves across it, which take as
# many iterations as there are points on their way.
FRICTION, MOST_FRICTION = 0.5, 0.05
GAINED = 0.95  # the momentum at most where variables have gains, which heat a map that loses less
# The momentum at most, while terms act, of the points that they act on and of all others.
STEERED, OTHERS = 0.85, 0.6
UNFOLDING = 40  # iterations after the exaggeration in which a map grows to about its size
# Iterations with each scale of a ladder before the next enters, and the share of the cost within which the
# last counts as converged: what comes after changes the map by less than another draw of its strata would.
RUNG_ITERATIONS, LADDER_TOL = 25, 5e-3
LAID_OUT = 90  # iterations after the exaggeration, in which a guide's map comes close to what it will be
AFTERWARDS = 0.1  # of a rate that has fallen to nothing: with it the map goes on, for those who move points
FEW = 1000  # points, of which a rate with gains, and a stop, have to be more careful
VERY_FEW = 100  # points, of which any rate has to be
# Where attraction stays stronger, neighbours come so near that springs have all of their stiffness, 8 M/N,
# where steps are stable up to 8/3: see `loops.LOOK_AHEAD`.
SHORTER = 3.0
GROWING = 100  # iterations of the last phase after which a map ends that would grow for ever


@dataclass(frozen=True)
class Habits:
    """How an optimizer likes its schedule.

    Attributes
    ----------
    exaggeration : float
        By how much attraction is best strengthened at first, where the method allows it.
    iterations : int
        For how long.
    annealing : tuple of (share of these iterations, exponent of the exaggeration)
        The steps in which the exaggeration is taken back.
    momentum : float
        Of the exaggerated phases; see `late_momentum` for the last.
    tol : float
        A run of many points has converged when its cost changes by less than this share within `patience`
        iterations.
    careful : bool
        Whether a run of few points, which costs next to nothing, has to come closer to rest than that.
    patience : int
        See `tol`: momentum circles, and needs longer to be judged.
    side : float, optional
        Of the box that a start fills, where it is a wide one.
    falls : bool
        Whether the rate falls to nothing, within so many iterations as are asked for.
    still : float
        How far the median point may still come within `patience` iterations, in distances to its neighbours.
    quick : float
        In place of `tol` where an early map is asked for, of many points.
    """

    exaggeration: float = 1.0
    iterations: int = 0
    annealing: tuple[tuple[float, float], ...] = ((1.0, 1.0),)
    momentum: float = 0.0
    tol: float = 1e-4
    careful: bool = False
    patience: int = 50
    side: float | None = None
    falls: bool = False
    still: float = np.inf
    quick: float = 1e-3

    def stop(self, n: int) -> Stop:
        """When a run of n points counts as converged."""
        return Stop(self.tol * n / (n + FEW) if self.careful else self.tol, self.patience, self.still)


@dataclass(frozen=True)
class Stop:
    """When a run counts as converged: `tol`, `patience` and `still` as `Habits` have them."""

    tol: float
    patience: int
    still: float = np.inf


@dataclass(frozen=True)
class Phase:
    """A stretch of iterations under the same conditions; the last one has no end.

    Attributes
    ----------
    iterations : int or None
        How long it lasts.
    exaggeration : float
        By how much attraction is strengthened.
    momentum : float
        The share of the last step that the next one keeps.
    gains : bool
        Whether every variable has a gain of its own, which grows while it goes on in the same direction: that
        is fast as long as all points are on their way. It drives them harder downhill than it brakes them
        uphill, so that a map which has arrived is kept in motion by it.
    rate : float
        The learning rate, in units of the problem's natural one (N/M for coordinates).
    stage : int
        Which of the engines is at work, counting from 0: of a ladder, how many scales have entered beside the
        coarsest; with a guide, 0 while it lays the map out and 1 from then on.
    steered_momentum : float or None
        The momentum of points on which terms act, where it is another.
    steered_rate : float or None
        The learning rate while terms act, when variables have gains, where it is another.
    optimizer : str
        The name of the one that makes these iterations.
    falls : bool
        Whether the rate falls from what it is to nothing, in proportion to the iterations that are left.
    """

    iterations: int | None
    exaggeration: float = 1.0
    momentum: float = 0.0
    gains: bool = True
    rate: float = 1.0
    stage: int = 0
    steered_momentum: float | None = None
    steered_rate: float | None = None
    optimizer: str = "momentum"
    falls: bool = False

    def after(self, done: int) -> Phase:
        """The phase as it is when so many of its iterations are done.

        Examples
        --------
        >>> Phase(100, rate=2.0, falls=True).after(75).rate
        0.5
        """
        if not self.falls or not self.iterations:
            return self
        return replace(self, rate=self.rate * (1 - done / self.iterations))


def after_guide(guide: tuple[Phase, ...], own: tuple[Phase, ...]) -> tuple[Phase, ...]:
    """The phases of a guide, which lays the map out, and then those of the method itself."""
    last = replace(guide[-1], iterations=LAID_OUT)
    return (*guide[:-1], last, *(replace(phase, stage=1) for phase in own))


def stop(method: Method, habits: Habits, n: int) -> Stop:
    """When a run counts as converged.

    Costs of distances go down slowly for long, and their values are precise.
    """
    if method.climbs or method.precisions != (1.0,):
        return Stop(LADDER_TOL, Habits.patience)
    if method.kernel is None:
        return Stop(Habits.tol, Habits.patience)
    return habits.stop(n)


def late_momentum(n: float, dimensions: int) -> float:
    """The momentum of the last phase.

    Examples
    --------
    >>> [round(late_momentum(n, 2), 4) for n in (50, 2500, 70_000, 1_000_000)]
    [0.95, 0.99, 0.9981, 0.9995]
    """
    return 1 - min(MOST_FRICTION, FRICTION / n ** (1 / max(2, dimensions)))


def schedule(
    method: Method,
    *,
    n: float,
    dimensions: int,
    natural_rate: float,
    optimizer: str,
    habits: Habits,
    spread: float = 0.0,
    exaggeration: Any = "auto",
    exaggeration_iter: int | None = None,
    learning_rate: Any = "auto",
    rate_iter: int | None = None,
    scales: int = 1,
    attraction: float = 1.0,
) -> tuple[Phase, ...]:
    """The phases of a descent.

    At first attraction is exaggerated, so that clusters find each other while they can still pass through
    one another; then that is taken back by and by, which ends in a lower cost than at once. A cost of another
    degree than 1 has no attraction that this could be measured by, and one of distances none at all: they go
    straight down.

    Parameters
    ----------
    method : Method
        What is minimised.
    n : float
        The number of points, all copies counted.
    dimensions : int
        Of the map.
    natural_rate : float
        The learning rate that the problem calls for, N/M for most.
    optimizer, habits : str, Habits
        The optimizer's name, and its usual exaggeration, its length, and so on.
    spread : float
        The standard deviation of the start. One that is wider than the kernel is a map already, which
        exaggeration would undo.
    scales : int
        Those of a ladder: they enter one by one, from coarse to fine, which does for the map what
        exaggeration does otherwise.
    attraction : float
        What is left of the exaggeration in the end. It begins with no less, and springs that stay stiffer
        are given steps that are as much shorter, and less momentum.
    """
    automatic = isinstance(learning_rate, str)
    early, late = CLASSICAL
    if automatic:
        early, late = habits.momentum, late_momentum(n, dimensions) if habits.momentum else 0.0
    rate = _rate(method, learning_rate, natural_rate, n, FEW)
    quicker = _rate(method, learning_rate, natural_rate, n, VERY_FEW)
    last = Phase(None, 1.0, late, not automatic, quicker, steered_rate=rate, optimizer=optimizer)
    if scales > 1:
        if exaggeration not in ("auto", 1):
            raise ValueError("a ladder of scales is in the place of exaggeration: leave it at 'auto'")
        lengths = (*(RUNG_ITERATIONS,) * (scales - 1), None)
        return tuple(replace(last, iterations=length, stage=stage) for stage, length in enumerate(lengths))
    if habits.falls:
        if exaggeration not in ("auto", 1):
            raise ValueError("a rate that falls to nothing knows no exaggeration: leave it at 'auto'")
        # A rate of 1 is that of UMAP's program, in which an edge of weight 1 is visited in every epoch.
        rate = _rate(method, 1.0 if automatic else learning_rate, natural_rate, n, FEW)
        length = epochs(n) if rate_iter is None else rate_iter
        rest = Phase(None, attraction, rate=AFTERWARDS * rate, optimizer=optimizer)
        return (Phase(length, attraction, rate=rate, optimizer=optimizer, falls=True), rest)
    auto = isinstance(exaggeration, str) and exaggeration == "auto"
    if not auto and not (isinstance(exaggeration, Real) and 1 <= float(exaggeration) < np.inf):
        raise ValueError(f"exaggeration must be 'auto' or a number from 1 up, got {exaggeration!r}")
    if auto:
        kernel = method.kernel
        helps = kernel is not None and method.cost.facts.degree == 1
        helps = helps and spread < kernel.width  # type: ignore[union-attr]
        exaggeration = habits.exaggeration if helps else 1.0
    if exaggeration_iter is None:
        exaggeration_iter = habits.iterations
    exaggeration_iter = whole("exaggeration_iter", exaggeration_iter, 0)
    if exaggeration != 1 and method.kernel is None:
        raise ValueError("exaggeration strengthens a kernel's attraction; a cost of distances has none")
    excess = max(1.0, float(exaggeration) / attraction)
    shorter = SHORTER if attraction > 1 else 1.0
    phases, done, share = [], 0, 0.0
    for part, exponent in habits.annealing if exaggeration != 1 else ():
        share += part
        length = round(share * exaggeration_iter) - done
        done += length
        factor = attraction * excess**exponent
        slowed = rate / (shorter * max(1.0, factor)) if automatic else rate
        phases += [Phase(length, factor, early, rate=slowed, optimizer=optimizer)] if length else []
    if automatic:
        less = shorter * max(1.0, attraction)
        last = replace(last, rate=last.rate / less, steered_rate=rate / less)
    return (*phases, replace(last, exaggeration=attraction))


def check_attraction(method: Method, attraction: float) -> None:
    """Refuse, at the door, another attraction than the method's own where there is nothing to measure it by.

    Examples
    --------
    >>> import nearfield as nf
    >>> check_attraction(nf.method("mds"), 4.0)
    Traceback (most recent call last):
        ...
    ValueError: attraction is that of a kernel, and a cost of distances has none: leave it at 1
    """
    if attraction == 1:
        return
    if method.kernel is None:
        raise ValueError("attraction is that of a kernel, and a cost of distances has none: leave it at 1")
    if method.climbs or method.precisions != (1.0,):
        raise ValueError("several scales in the map take the attraction as it is: leave it at 1, or use one")
    if method.cost.facts.degree != 1:
        name = type(method.cost).__name__
        raise ValueError(f"the forces of {name} are of another order than p log w: leave attraction at 1")
    bare = method.normalization == "none"
    if attraction < 1 and not (method.bounded_cross_entropy or (bare and _hold(method) > 1 - attraction)):
        raise ValueError(
            f"with attraction below 1 nothing holds the points of {method} together: use 1 or more, or a"
            " cross-entropy with a heavy tail, such as tsne"
        )


def _hold(method: Method) -> float:
    """How strongly a pair is held when it is torn apart, q → 0, beside its p: 1 for cross-entropies."""
    p, q = np.full(1, 0.1), np.full(1, 1e-60)
    return float(-(method.cost.derivative(p, q) * q / p)[0])


def may_grow(method: Method, attraction: float) -> bool:
    """Whether a map may grow for ever: shares do not change with its size, while weak springs let go.

    At λ times the size a heavy tail has the same q, and -Σ p log w is larger by log λ times something: below
    1 the cost falls with it without end. Where weights are bare they vanish, and the springs hold.

    Examples
    --------
    >>> import nearfield as nf
    >>> may_grow(nf.method("tsne"), 0.5), may_grow(nf.method("tsne"), 4.0), may_grow(nf.method("gkl"), 0.5)
    (True, False, False)
    """
    return attraction < 1 and method.normalization != "none"


def calmed(phase: Phase, left: float) -> Phase:
    """The phase with less momentum, by how much is left of what pulls beside the cost.

    A lasting force drives points to 1/(1 - momentum) times its step: at 0.95 they fly past their goal, and
    scatter what is in their way. Those on which terms act need some of it: of 70 000 points, a class that is
    dragged across the map has come half the way after 250 iterations at 0.7, and all of it at 0.85. The
    others had better give way slowly: of 3000 points, at 0.7 they are moved by 9 % of the map's radius more
    than in an undisturbed run, at 0.6 by 7 %; but the slower they are, the longer the cost takes to come down
    again.

    Examples
    --------
    >>> pulled = calmed(Phase(None, momentum=0.99), 1.0)
    >>> pulled.steered_momentum, pulled.momentum
    (0.85, 0.6)
    >>> calmed(Phase(None, momentum=0.99), 0.0).momentum
    0.99
    """
    if left == 0 or phase.momentum == 0:
        return phase
    steered, others = (min(most, phase.momentum) for most in (STEERED, OTHERS))
    usual = (1 - left) * min(GAINED, phase.momentum)
    slower = replace(phase, momentum=usual + left * others, steered_momentum=usual + left * steered)
    return replace(slower, gains=True, rate=phase.steered_rate or phase.rate)


def _rate(method: Method, learning_rate: Any, natural: float, n: float, few: float) -> float:
    """The learning rate in units of the natural one; of fewer than some points it is lower."""
    if isinstance(learning_rate, str) and learning_rate == "auto":
        # A spring's stiffness goes with the inverse square of the kernel's width. Few points have long
        # springs beside the size of their map, and shatter at a rate that many profit from.
        width = method.kernel.width if method.kernel is not None else 1.0
        return min(1.0, width**2) * n / (n + few)
    if not isinstance(learning_rate, Real) or not 0 < float(learning_rate) < np.inf:
        raise ValueError(f"learning_rate must be 'auto' or a positive number, got {learning_rate!r}")
    return float(learning_rate) / natural
