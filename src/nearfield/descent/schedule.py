"""The schedule: what changes in the course of a descent, as a list of phases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from nearfield.algebra.method import Method
from nearfield.checks import whole

# The momentum of t-SNE as published, early and late. A rate of the user's own was chosen for it, and would
# act several times as strongly under a higher one.
CLASSICAL = (0.5, 0.8)
# The momentum at most, while terms act, of the points that they act on and of all others.
STEERED, OTHERS = 0.85, 0.6
UNFOLDING = 40  # iterations after the exaggeration in which a map grows to about its size
# Iterations with each scale of a ladder before the next enters, and the share of the cost within which the
# last counts as converged: what comes after changes the map by less than another draw of its strata would.
RUNG_ITERATIONS, LADDER_TOL = 25, 5e-3
LAID_OUT = 90  # iterations after the exaggeration, in which a guide's map comes close to what it will be
FEW = 1000  # points, of which a rate and a stop have to be more careful


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
    momentum : (float, float)
        Of the exaggerated phases and of the last.
    tol : float
        A run of many points has converged when its cost changes by less than this share within `patience`
        iterations.
    careful : bool
        Whether a run of few points, which costs next to nothing, has to come closer to rest than that.
    patience : int
        See `tol`: momentum circles, and needs longer to be judged.
    """

    exaggeration: float = 1.0
    iterations: int = 0
    annealing: tuple[tuple[float, float], ...] = ((1.0, 1.0),)
    momentum: tuple[float, float] = (0.0, 0.0)
    tol: float = 1e-4
    careful: bool = False
    patience: int = 50

    def tolerance(self, n: int) -> float:
        """The share of its cost within which a run of n points counts as converged."""
        return self.tol * n / (n + FEW) if self.careful else self.tol


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
    rate : float
        The learning rate, in units of the problem's natural one (N/M for coordinates).
    stage : int
        Which of the engines is at work, counting from 0: of a ladder, how many scales have entered beside the
        coarsest; with a guide, 0 while it lays the map out and 1 from then on.
    steered_momentum : float or None
        The momentum of points on which terms act, where it is another.
    optimizer : str
        The name of the one that makes these iterations.
    """

    iterations: int | None
    exaggeration: float = 1.0
    momentum: float = 0.0
    rate: float = 1.0
    stage: int = 0
    steered_momentum: float | None = None
    optimizer: str = "momentum"


def after_guide(guide: tuple[Phase, ...], own: tuple[Phase, ...]) -> tuple[Phase, ...]:
    """The phases of a guide, which lays the map out, and then those of the method itself."""
    last = replace(guide[-1], iterations=LAID_OUT)
    return (*guide[:-1], last, *(replace(phase, stage=1) for phase in own))


def stop(method: Method, habits: Habits, n: int) -> tuple[float, int]:
    """The share of its cost within which a run counts as converged, and over how many iterations.

    Costs of distances go down slowly for long, and their values are precise.
    """
    if method.climbs or method.precisions != (1.0,):
        return LADDER_TOL, Habits.patience
    if method.kernel is None:
        return Habits.tol, Habits.patience
    return habits.tolerance(n), habits.patience


def schedule(
    method: Method,
    *,
    n: float,
    natural_rate: float,
    optimizer: str,
    habits: Habits,
    spread: float = 0.0,
    exaggeration: Any = "auto",
    exaggeration_iter: int | None = None,
    learning_rate: Any = "auto",
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
        are given steps that are as much shorter.
    """
    if attraction != 1 and method.kernel is None:
        raise ValueError("attraction is that of a kernel, and a cost of distances has none: leave it at 1")
    if scales > 1:
        if exaggeration not in ("auto", 1):
            raise ValueError("a ladder of scales is in the place of exaggeration: leave it at 'auto'")
        rate = _rate(method, learning_rate, natural_rate, n, attraction)
        late = habits.momentum[1]
        lengths = (*(RUNG_ITERATIONS,) * (scales - 1), None)
        return tuple(
            Phase(length, attraction, late, rate, stage, optimizer=optimizer)
            for stage, length in enumerate(lengths)
        )
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
    rate = _rate(method, learning_rate, natural_rate, n)
    excess = max(1.0, float(exaggeration) / attraction)
    automatic = isinstance(learning_rate, str)
    early, late = habits.momentum if automatic else CLASSICAL
    phases, done, share = [], 0, 0.0
    for part, exponent in habits.annealing if exaggeration != 1 else ():
        share += part
        length = round(share * exaggeration_iter) - done
        done += length
        factor = attraction * excess**exponent
        slowed = rate / max(1.0, factor) if automatic else rate
        phases += [Phase(length, factor, early, slowed, optimizer=optimizer)] if length else []
    last = _rate(method, learning_rate, natural_rate, n, attraction)
    return (*phases, Phase(None, attraction, late, last, optimizer=optimizer))


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
    >>> pulled = calmed(Phase(None, momentum=0.95), 1.0)
    >>> pulled.steered_momentum, pulled.momentum
    (0.85, 0.6)
    >>> calmed(Phase(None, momentum=0.95), 0.0).momentum
    0.95
    """
    if left == 0 or phase.momentum == 0:
        return phase
    steered, others = (min(most, phase.momentum) for most in (STEERED, OTHERS))
    usual = (1 - left) * phase.momentum
    return replace(phase, momentum=usual + left * others, steered_momentum=usual + left * steered)


def _rate(method: Method, learning_rate: Any, natural: float, n: float, attraction: float = 1.0) -> float:
    """The learning rate of the last phase in units of the natural one."""
    if isinstance(learning_rate, str) and learning_rate == "auto":
        # A spring's stiffness goes with the inverse square of the kernel's width. Few points have long
        # springs beside the size of their map, and shatter at a rate that many profit from.
        width = method.kernel.width if method.kernel is not None else 1.0
        return min(1.0, width**2) * n / (n + FEW) / max(1.0, attraction)
    if not isinstance(learning_rate, Real) or not 0 < float(learning_rate) < np.inf:
        raise ValueError(f"learning_rate must be 'auto' or a positive number, got {learning_rate!r}")
    return float(learning_rate) / natural
