"""Optimizers: each makes one iteration at a time, on the vector of a problem's variables."""

from __future__ import annotations

import copy
from collections import deque
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from nearfield.algebra.method import Method
from nearfield.algebra.transforms import Identity
from nearfield.descent import loops
from nearfield.descent.problem import Point, Problem
from nearfield.descent.schedule import Habits, Phase
from nearfield.engine.base import RunAway
from nearfield.io.schema import LONGEST, check_array, check_indices, check_number
from nearfield.steer.base import MOST, Indices
from nearfield.typing import Array

OVERSHOT = 1e-3  # a rise of the value by this share is more than the mesh errs by
# Steps that a line search tries: a direction that was learned is right at once or not at all; along the
# gradient, of which the length says little, it may take many halvings.
TRIES, UNAIDED = 8, 30
FAINT = 1e-140  # a change of the gradient whose square is lost, and tells nothing
MEMORY = 100  # pairs at most that a limited memory can be of
OPTIMIZERS = ("auto", "momentum", "lbfgs", "smacof", "flow")


class Optimizer:
    """One iteration at a time; its state is all in its attributes, so that a copy can be gone back to."""

    habits: ClassVar[Habits] = Habits()
    name: ClassVar[str] = ""

    @property
    def at_rest(self) -> bool:
        """Whether it has found no way down from where the variables are."""
        return False

    def for_terms(self) -> Optimizer:
        """The one that goes on when terms are added to the cost: itself, if it can minimise them too."""
        return self

    def begin(self, z: Array, phase: Phase) -> None:
        """Forget what was learned about the problem: it is another one from here on."""

    def change(self) -> None:
        """Forget the value: the problem is a slightly other one from here on."""

    def renew(self) -> None:
        """Compute value and gradient anew where they were kept: some term goes along with another map."""

    def forget(self, variables: Indices) -> None:
        """Forget the motion of some variables, which are put elsewhere, held, or let go."""
        self.change()

    def step(self, z: Array, problem: Problem, phase: Phase, want_value: bool) -> tuple[Array, Point]:
        """The variables after one iteration, and the value and gradient *before* it."""
        raise TypeError(f"{type(self).__name__} does not define step")

    def check(self, size: int) -> None:
        """Refuse a state that is not one of so many variables: the compiled loops trust it."""

    def copy(self) -> Self:
        """The state as it is now."""
        return copy.deepcopy(self)


@dataclass
class Momentum(Optimizer):
    """Gradient descent with momentum: at first with a gain for every variable, then looking ahead.

    A gain (Jacobs 1988, as in t-SNE) grows while gradient and velocity agree and shrinks when they do not.
    To look ahead (Nesterov 1983) damps what is stiff, so that the rest can keep nearly all of its velocity.
    Where the value is seen to rise, the points have overshot the valley: they stop and start anew
    (O'Donoghue and Candès 2015).
    """

    # Measured on the digits, MNIST, blobs, a swiss roll and noise: taking the exaggeration back by and by,
    # 12, 4, 2, 1, reaches in some 60 iterations what the classical 250 do. Exaggerated for longer, or let go
    # more slowly, the map is no better and KL higher at the same time.
    # The stop was calibrated on mixtures, branches, a sphere, noise and a random network's outputs, of 120 to
    # 30 000 points: where both bounds are met, 500 iterations more lower the cost by less than 1 %, and raise
    # the AUC of R_NX by some .004 at most (benchmarks.studies.stop). A motion of half of that is reached much
    # later on large maps of threads, and gains nothing there.
    habits: ClassVar = Habits(
        exaggeration=12.0,
        iterations=60,
        annealing=((0.5, 1.0), (0.25, 0.56), (0.25, 0.28)),
        momentum=0.8,
        tol=1.5e-3,
        still=0.8,
        quick=3e-2,
    )
    name: ClassVar = "momentum"
    velocity: Array = field(default_factory=lambda: np.zeros(0))
    gains: Array = field(default_factory=lambda: np.ones(0))
    last: float = np.inf

    def begin(self, z: Array, phase: Phase) -> None:
        self.velocity, self.gains, self.last = np.zeros_like(z), np.ones_like(z), np.inf

    def check(self, size: int) -> None:
        check_array("velocity", self.velocity, (size,))
        check_array("gains", self.gains, (size,), low=0, high=LONGEST)  # one more iteration adds less than 1

    def change(self) -> None:
        self.last = np.inf

    def forget(self, variables: Indices) -> None:
        self.change()
        if len(self.velocity):  # else nothing has moved yet
            self.velocity[variables], self.gains[variables] = 0.0, 1.0

    def step(self, z: Array, problem: Problem, phase: Phase, want_value: bool) -> tuple[Array, Point]:
        here = problem(z, want_value)
        if want_value:
            if here.value > self.last + OVERSHOT * abs(self.last):
                self.velocity[:] = 0.0
                self.gains *= 0.5
            self.last = here.value
        if phase.steered_momentum is not None:  # the step below multiplies all by the momentum of the others
            self.velocity[here.steered] *= phase.steered_momentum / phase.momentum
        following = z.copy()
        rate = phase.rate * problem.rates
        if phase.gains:
            loops.gained_step(here.gradient, rate, phase.momentum, following, self.velocity, self.gains)
        else:
            loops.accelerated_step(here.gradient, rate, phase.momentum, following, self.velocity)
        return following, here


@dataclass
class LBFGS(Optimizer):
    """Limited-memory BFGS with a line search that meets the weak Wolfe conditions by bisection.

    The inverse Hessian starts from the problem's natural learning rates. No point moves further in a step
    than the map is wide. Where a step changes the value by less than the engine can tell, the slope at its
    end decides (the approximate Wolfe conditions). A step to where the engine cannot follow is too long.
    See Nocedal and Wright (2006), algorithm 7.4, Lewis and Overton (2013) for the line search, and Hager and
    Zhang (2005) for values that are too coarse.
    """

    habits: ClassVar = Habits(4.0, 50, tol=5e-3, careful=True, patience=20, quick=2e-2)
    name: ClassVar = "lbfgs"
    memory: int = 10
    pairs: deque[tuple[Array, Array]] = field(default_factory=deque)
    here: Point | None = None
    rests: bool = False

    @property
    def at_rest(self) -> bool:
        return self.rests

    def begin(self, z: Array, phase: Phase) -> None:
        self.pairs.clear()
        self.change()

    def check(self, size: int) -> None:
        check_number("memory", self.memory, 1, MEMORY, int)
        check_number("the number of pairs", len(self.pairs), 0, self.memory, int)
        for move, change in self.pairs:
            check_array("a move", move, (size,))
            check_array("the change of the gradient", change, (size,))
            if not move @ change > 0:
                raise ValueError("a move and the change of the gradient go against each other")
        if self.here is not None:
            check_number("the value", self.here.value, -MOST, MOST)
            check_array("the gradient", self.here.gradient, (size,))
            check_indices("the steered variables", self.here.steered, size)

    def copy(self) -> Self:
        return replace(self, pairs=self.pairs.copy())  # the arrays are never written to again

    def change(self) -> None:
        self.here, self.rests = None, False

    def renew(self) -> None:
        self.here = None

    def forget(self, variables: Indices) -> None:
        self.pairs.clear()  # they tell of directions that are no longer there, or not of those that are
        self.change()

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a trial may leave the range of numbers
    def step(self, z: Array, problem: Problem, phase: Phase, want_value: bool) -> tuple[Array, Point]:
        here = self.here if self.here is not None else problem(z)
        found = self._search(z, here, problem)
        if found is None and self.pairs:  # what was learned misleads: start over from the steepest way
            self.pairs.clear()
            found = self._search(z, here, problem)
        self.rests = found is None
        if found is None:
            self.here = here  # no way down: a minimum as far as the engine can tell
            return z, here
        following, there = found
        move, change = following - z, there.gradient - here.gradient
        size = problem.norm(change)
        if size > FAINT and problem.dot(move, change) > 1e-14 * problem.norm(move) * size:
            self.pairs.append((move, change))
            if len(self.pairs) > self.memory:
                self.pairs.popleft()
        self.here = there
        return following, here

    def _direction(self, gradient: Array, problem: Problem) -> Array:
        """-H g by the two-loop recursion; while nothing is known of H, no further than is within reach."""
        q, rates, dot = gradient.copy(), problem.rates, problem.dot
        weights = []
        for move, change in reversed(self.pairs):
            weight = dot(move, q) / dot(move, change)
            weights.append(weight)
            q -= weight * change
        if self.pairs:
            move, change = self.pairs[-1]
            q *= rates * (dot(move, change) / dot(change, rates * change))
        else:
            q *= rates
            q *= min(1.0, problem.reach / max(problem.largest(q), 1e-300))
        for (move, change), weight in zip(self.pairs, reversed(weights), strict=True):
            q += (weight - dot(change, q) / dot(move, change)) * move
        return -q

    def _search(self, z: Array, here: Point, problem: Problem) -> tuple[Array, Point] | None:
        """A step that lowers the value enough and flattens the slope, or None if nothing lowers it."""
        direction = self._direction(here.gradient, problem)
        if not self.pairs:
            direction *= problem.proportion(direction, z)
        problem.shorten(direction, z)
        slope = problem.dot(here.gradient, direction)
        if not slope < 0:
            return None
        coarse = problem.relative_error * abs(here.value)  # values that differ by less are the same
        low, high, t, lowered = 0.0, np.inf, 1.0, None
        for _ in range(TRIES if self.pairs else UNAIDED):
            following = z + t * direction
            there = _unless_run_away(problem, following)
            rise = there.value - here.value
            after = problem.dot(there.gradient, direction)
            if rise <= 1e-4 * t * slope or (rise <= coarse and after <= -0.8 * slope):
                lowered = (following, there)
                if after >= 0.9 * slope:
                    break
                low = t
            else:  # also where the value is no number
                high = t
                if -t * slope < coarse:  # what is left to be gained cannot be seen
                    break
            t = 2 * low if high == np.inf else 0.5 * (low + high)
        return lowered


def _unless_run_away(problem: Problem, z: Array) -> Point:
    """Value and gradient at z; an infinite value where the map is so wide that the engine cannot follow."""
    try:
        return problem(z)
    except RunAway:
        return Point(np.inf, np.inf, np.zeros_like(z))


@dataclass
class SMACOF(Optimizer):
    """De Leeuw's majorization of the stress: the Guttman transform, which never raises the stress.

    For centred Y it is Y - ∇C/(4N): the gradient is 4N Y less 4 times the transform's sum. Of a point that
    stands for m copies, it is the gradient of one of them, an m-th.
    """

    name: ClassVar = "smacof"

    def for_terms(self) -> Optimizer:
        return LBFGS()  # which majorizes nothing, and so minimises anything

    def step(self, z: Array, problem: Problem, phase: Phase, want_value: bool) -> tuple[Array, Point]:
        here = problem(z, want_value)
        return z - problem.rates * here.gradient / (4 * problem.n_copies), here


def majorizes(method: Method) -> bool:
    """Whether SMACOF applies: unweighted squared differences of plain distances."""
    plain = method.kernel is None and method.normalization == "none" and method.transform == Identity()
    return plain and method.cost.facts.least_squares == 0


def choose(name: str, method: Method, complete: bool = True) -> str:
    """The name of the optimizer that "auto" stands for, by the method's facts; other names are checked.

    Momentum crosses the many shallow valleys of a normalized cross-entropy best, as long as a tail keeps
    the forces bounded. Where they are not, steps of a fixed rate run away: L-BFGS measures its steps. The
    plain stress has its majorization, if it is over all pairs (`complete`).
    """
    if name not in OPTIMIZERS:
        raise ValueError(f"optimizer must be one of {', '.join(OPTIMIZERS)}, got {name!r}")
    majorized = complete and majorizes(method)
    if name == "auto":
        return "momentum" if method.bounded_cross_entropy else "smacof" if majorized else "lbfgs"
    if name == "smacof" and not majorized:
        raise ValueError("SMACOF minimises the stress of all plain distances only: use 'lbfgs'")
    if name == "flow" and not _has_springs(method):
        raise ValueError("flow follows the springs of a kernel of one scale, of pairs or bare: use 'auto'")
    return name


def _has_springs(method: Method) -> bool:
    """Whether the attraction is that of springs along a symmetric graph, and nothing is learned beside."""
    one = method.kernel is not None and method.precisions == (1.0,) and not method.climbs
    return one and method.normalization in ("pair", "none") and not method.learned


def optimizer(name: str) -> Optimizer:
    """A new optimizer of this name."""
    from nearfield.descent.flow import Flow

    return {each.name: each for each in (Momentum, LBFGS, SMACOF, Flow)}[name]()
