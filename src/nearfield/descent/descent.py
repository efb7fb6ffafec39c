"""The descent: variables, optimizer, phases and history, one iteration at a time.

It knows nothing of commands, files or threads: see `nearfield.descent.run`.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import Any

import numpy as np

from nearfield.algebra.method import Method
from nearfield.descent.optimizers import Momentum, optimizer
from nearfield.descent.problem import Point, Problem
from nearfield.descent.rest import motion
from nearfield.descent.schedule import (
    FEW,
    GROWING,
    UNFOLDING,
    Habits,
    Phase,
    Stop,
    after_guide,
    calmed,
    may_grow,
    schedule,
    stop,
)
from nearfield.descent.settings import Settings
from nearfield.descent.setup import Setup
from nearfield.descent.state import State
from nearfield.engine.base import Engine, RunAway
from nearfield.io.schema import check_number
from nearfield.steer.base import Indices, Measure
from nearfield.steer.steering import Steering
from nearfield.typing import Array

RECORD = 10  # every how many iterations the cost is computed and written to the history
COLUMNS = ("iteration", "cost", "gradient_norm", "exaggeration", "penalty")  # of the history
SURE_REACH = 10.0  # times as far out as the map, or its kernel, reaches: so far every engine can follow
DOT = 1e-4  # widths of the kernel across: a map that shows nothing yet
FLAT = 1e-7  # of the largest gradient: a smaller one is none


class Descent:
    """From a start to a map, by the phases of a schedule.

    Parameters
    ----------
    setup : Setup
        Engines and start.
    optimizer_name : str
        Of the method's own optimizer.
    settings : Settings
        Learning rate and exaggeration.

    Attributes
    ----------
    z : array
        The variables now; an iteration replaces it, and nothing writes to it.
    iteration : int
        How many iterations were made.
    history : dict of list
        What was recorded.
    past : int
        How many rows of it tell of the map before the last command.
    steering : Steering
        What a person has asked for.
    """

    def __init__(self, setup: Setup, optimizer_name: str, settings: Settings) -> None:
        Y, self.stages, self._from_map = setup.Y, setup.stages, setup.unfolded
        self.problem = Problem(
            self.stages.enter(0), (len(Y), Y.shape[1]), setup.p_sums, setup.method, settings.attraction
        )
        self.phases = self._scheduled(optimizer_name, settings, self.problem.together.spread(Y))
        self.z = self.problem.pack(Y)
        self.problem.project(self.z)
        self.start = self.z.copy()
        self._first: tuple[Any, float] | None = None  # the last engine, and what the start costs with it
        self._before: Array | None = None  # the variables before the last iteration
        self.phase: Phase | None = None
        self.iteration = 0
        self.history: dict[str, list[float]] = {name: [] for name in COLUMNS}
        self.past = 0
        self.steering = Steering(self.problem.shape, wakes=self.unfolded_at)
        self.prepare()

    def _scheduled(self, optimizer_name: str, settings: Settings, spread: float) -> tuple[Phase, ...]:
        """The phases of the method, after those of its guide if there is one."""

        def phases(engine: Engine, name: str, **options: Any) -> tuple[Phase, ...]:
            return schedule(
                engine.method,
                n=self.problem.n_copies,
                dimensions=self.problem.shape[1],
                natural_rate=self.problem.natural_rate_of(engine),
                optimizer=name,
                habits=optimizer(name).habits,
                spread=spread,
                learning_rate=settings.learning_rate,
                rate_iter=settings.rate_iter,
                attraction=settings.attraction,
                **options,
            )

        first = self.problem.engine
        exaggerated: dict[str, Any] = {
            "exaggeration": settings.exaggeration,
            "exaggeration_iter": settings.exaggeration_iter,
        }
        if self.stages.guide is None:
            return phases(first, optimizer_name, scales=len(self.stages), **exaggerated)
        own = phases(self.stages.own(first), optimizer_name, exaggeration=1)
        return after_guide(phases(first, Momentum.name, **exaggerated), own)

    # What it is -------------------------------------------------------------------------------------------

    @property
    def unfolded_at(self) -> int:
        """The iteration at which the map has about its size; with a guide, that of the method's own cost."""
        before = sum(phase.iterations or 0 for phase in self.phases)
        if self.stages.guide is not None or (not before and self.starts_unfolded):
            return before
        return before + UNFOLDING

    @property
    def is_guided(self) -> bool:
        """Whether the guide is still at work."""
        return self.stages.guide is not None and self.problem.engine is self.stages.guide

    @property
    def own_engine(self) -> Engine:
        """The engine of the method itself, also while its guide is at work."""
        return self.stages.own(self.problem.engine)

    @property
    def method(self) -> Method:
        """The method, with learned parameters at their present values."""
        return self.problem.method_at(self.z, self.own_engine)

    @property
    def Y(self) -> Array:
        """The coordinates now (a view)."""
        return self.problem.map_of(self.z)

    @property
    def starts_unfolded(self) -> bool:
        """Whether the start was a map already: one wider than the kernel, or of distances."""
        kernel = self.problem.engine.method.kernel
        if self._from_map or kernel is None:
            return True
        return self.problem.spread(self.start) >= kernel.width

    @property
    def learning_rate(self) -> float:
        """The learning rate of the coordinates in the last phase."""
        return float(self.phases[-1].rate * self.problem.natural_rate_of(self.own_engine))

    def phase_at(self, iteration: int) -> Phase:
        """The phase that an iteration belongs to, counting from 0."""
        for phase in self.phases:
            if phase.iterations is None or iteration < phase.iterations:
                return phase
            iteration -= phase.iterations
        return self.phases[-1]

    # Iterations -------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make problem and optimizer ready for the next iteration, before any command may come."""
        phase = self.phase_at(self.iteration)
        if phase is not self.phase:
            self._begin(phase)
        self._wake_and_fade()

    def _begin(self, phase: Phase) -> None:
        """Go on under the conditions of another phase; it counts as begun when all of them are met."""
        before = self.phase
        if before is not None and before.exaggeration > self.problem.attraction:
            self._leave_dot()
        if before is not None and phase.stage > before.stage:
            self._enter_stage(phase.stage)
        if before is None or phase.optimizer != before.optimizer:
            self.optimizer = optimizer(phase.optimizer)
        self.phase = phase
        self.problem.exaggeration = phase.exaggeration
        self.optimizer.begin(self.z, phase)

    def _leave_dot(self) -> None:
        """Go back to the start if exaggeration drew few points into one, where every force vanishes."""
        if self.problem.spread(self.z) < self.problem.spread(self.start):
            self.z = self.start.copy()
            self.problem.project(self.z)

    def _enter_stage(self, stage: int) -> None:
        """Go on with the next engine, from the same map at the size that suits it."""
        if not self.steering.anchored:
            Y = self.stages.resized(self.Y)
            self.z = self.z.copy()
            self.problem.map_of(self.z)[:] = Y
        self.problem.enter(self.stages.enter(stage))

    def _wake_and_fade(self) -> None:
        """Let terms begin to act, or act less, where the iteration is one at which they do."""
        wakes = self.steering.wakes_at(self.iteration)
        if wakes:
            self.steering = self.steering.woken(self.problem.measure(self.z))
        if wakes or self.steering.fades_at(self.iteration):
            self.problem.steer(self.steering, self.iteration)
            self.optimizer.change()

    def iterate(self) -> None:
        """Make one iteration."""
        phase = self.phase_at(self.iteration)
        if phase is not self.phase:  # Ctrl-C came in between
            self.prepare()
        terms, before = self.problem.terms, self.phases[: self.phases.index(phase)]
        phase = phase.after(self.iteration - sum(each.iterations or 0 for each in before))
        phase = calmed(phase, max((left for left, term in terms if not term.live), default=0.0))
        if any(term.live for _, term in terms):
            self.optimizer.renew()
        due = self.iteration % RECORD == 0
        following, here = self.optimizer.step(self.z, self.problem, phase, due)
        # A gradient that is no number shows in the step, unless no step is made.
        if not np.all(np.isfinite(here.gradient if following is self.z else following)):
            raise self._run_away()
        if due and not self.is_recorded:
            self._write(here)
        if following is not self.z:
            self.problem.project(following)
        self._before, self.z = self.z, following
        self.iteration += 1
        self.prepare()

    def _run_away(self) -> RunAway:
        """What there is to say of a map, a cost or a gradient that is no number any more."""
        remedy = f"lower learning_rate (it was {self.learning_rate:g})"
        if self.problem.terms:
            remedy = f"undo, and weaken what was added to the cost; or {remedy}"
        return RunAway(f"the map left the range of numbers at iteration {self.iteration}: {remedy}")

    # The history ------------------------------------------------------------------------------------------

    @property
    def is_recorded(self) -> bool:
        """Whether the last row of the history tells of the map as it is now."""
        rows = self.history["iteration"]
        return len(rows) > self.past and rows[-1] == self.iteration

    def record(self) -> None:
        """Write a row of the map as it is now, unless there is one."""
        if not self.is_recorded:
            self._write(self.problem(self.z))

    @property
    def cost(self) -> float:
        """The cost of the map as it is now, by the history if that knows it; nothing is written."""
        return self.history["cost"][-1] if self.is_recorded else self._own_cost(self.problem(self.z))

    def _own_cost(self, here: Point) -> float:
        """What the method itself says of the map, also while its guide is at work."""
        if self.is_guided:
            attraction = self.problem.attraction
            own = self.own_engine.evaluate(self.Y, method=self.method, exaggeration=attraction)
            return own.cost_with(attraction)
        return here.cost

    @np.errstate(over="ignore")  # of a map that is about to run away
    def _write(self, here: Point) -> None:
        """Write a row, from what the problem is at the map as it is now."""
        norm, exaggeration = self.problem.norm(here.gradient), self.problem.exaggeration
        if not np.isfinite(here.value + norm):
            raise self._run_away()
        row = (self.iteration, self._own_cost(here), norm, exaggeration, here.penalty)
        for name, value in zip(self.history, row, strict=True):
            self.history[name].append(value)

    # Its end ----------------------------------------------------------------------------------------------

    @property
    def habits(self) -> Habits:
        """Those of the optimizer of the last phase."""
        return optimizer(self.phases[-1].optimizer).habits

    def usual_stop(self) -> Stop:
        """When it counts as converged."""
        return stop(self.problem.engine.method, self.habits, self.problem.n_points)

    def quick_stop(self) -> Stop:
        """When the map looks about right."""
        n, usual = self.problem.n_points, self.usual_stop()
        return Stop(max(usual.tol, self.habits.quick * n / (n + FEW)), usual.patience)

    def is_flat(self, stop: Stop, min_grad_norm: float = 0.0) -> bool:
        """Whether the history shows, since the last phase and command, that nothing is gained any more."""
        settled = max(sum(phase.iterations or 0 for phase in self.phases), self.steering.settled)
        names = ("iteration", "gradient_norm", "cost", "penalty")
        iterations, norms, costs, penalties = (self.history[name][self.past :] for name in names)
        if self.iteration < settled or not iterations or iterations[-1] < settled:
            return False
        steepest = max(self.history["gradient_norm"])
        if norms[-1] <= max(min_grad_norm, FLAT * steepest) or self.optimizer.at_rest:
            return True
        if (
            may_grow(self.problem.engine.method, self.problem.attraction)
            and self.iteration >= settled + GROWING
        ):
            return True
        before = bisect_right(iterations, iterations[-1] - stop.patience) - 1
        if before < 0 or iterations[before] < settled:
            return False
        # A cost that rises is no sign of convergence either.
        gained = costs[before] + penalties[before] - costs[-1] - penalties[-1]
        if abs(gained) > stop.tol * min(abs(costs[-1]), abs(self._first_cost() - costs[-1])):
            return False
        return stop.still == np.inf or stop.patience * self._motion() <= stop.still

    def _motion(self) -> float:
        """How far the last iteration brought the median point, in distances to its neighbours."""
        if self._before is None:
            return np.inf
        return motion(self.problem.map_of(self._before), self.Y, self.problem.together)

    def _first_cost(self) -> float:
        """The cost of the start, under the last of the engines; of a start that is a map, of a dot."""
        engine = self.problem.engine
        if self._first is None or self._first[0] is not engine:
            start, kernel = self.start, engine.method.kernel
            if kernel is not None and self.starts_unfolded:
                start = start.copy()
                Y = self.problem.map_of(start)
                Y *= DOT * kernel.width / self.problem.spread(start)
            self._first = (engine, self.problem(start).cost)
        return self._first[1]

    # What a person asks for -------------------------------------------------------------------------------

    def steer(self, steering: Steering) -> None:
        """Go on under what a person has asked for, from a copy of the variables."""
        self.stages.keep()
        self.past = len(self.history["iteration"])
        self.steering = steering.at_iteration(self.iteration)
        self.problem.steer(self.steering, self.iteration)
        if steering.has_terms:
            self.optimizer = self.optimizer.for_terms()
        self.optimizer.change()
        self.z = self.z.copy()

    def measure(self) -> Measure:
        """What strengths and widths are relative to, in the map as it is now."""
        return self.problem.measure(self.z)

    def follow(self, before: Descent, Y: Array) -> None:
        """Take over from a descent of fewer points: its iterations, history, learned parameters and steering.

        The first points are the same, and lie at Y as they did.
        """
        self.z = self.problem.carried(before.problem, before.z)
        self.problem.map_of(self.z)[:] = Y
        self.iteration = before.iteration
        self.history = {name: list(values) for name, values in before.history.items()}
        self.steering = replace(before.steering, shape=self.problem.shape)
        self.prepare()

    def check_reach(self, points: Indices, places: Array) -> None:
        """Refuse to put points so far out that the engine could not go on."""
        Y, kernel = self.Y, self.problem.engine.method.kernel
        centre = Y.mean(axis=0)
        wide = max(float(np.abs(Y - centre).max()), 0.0 if kernel is None else kernel.width)
        away = float(np.abs(places - centre).max())
        if away <= SURE_REACH * wide:
            return
        moved = Y.copy()
        moved[points] = places
        try:
            self.problem.engine.evaluate(moved, want_value=False, method=self.problem.method_at(self.z))
        except RunAway:
            raise ValueError(
                f"the {self.problem.engine.name} engine cannot go on with points {away:.3g} away from a map"
                f" that reaches to {wide:.3g}: put them nearer, or take engine='exact'"
            ) from None

    def put(self, points: Indices, places: Array) -> None:
        """Put some points elsewhere, all at once for whoever reads meanwhile."""
        z = self.z.copy()
        self.problem.map_of(z)[points] = places
        self.z = z
        self.forget_motion(points)

    def forget_motion(self, points: Indices) -> None:
        """Let the optimizer forget how some points moved."""
        self.optimizer.forget(self.problem.variables_of(points))

    # Its state --------------------------------------------------------------------------------------------

    def state(self) -> tuple[State, Engine]:
        """All that the next iteration depends on, and the engine that goes with it."""
        history = {name: list(values) for name, values in self.history.items()}
        phase = next((k for k, each in enumerate(self.phases) if each is self.phase), None)
        copied = self.optimizer.copy()
        state = State(self.z.copy(), self.iteration, phase, copied, self.steering, history, self.past)
        return state, self.problem.engine

    def restore(self, state: State, engine: Engine) -> None:
        """Go to a state."""
        self.z, self.iteration = state.z.copy(), state.iteration
        self.phase = None if state.phase is None else self.phases[state.phase]
        self.optimizer = state.optimizer.copy()
        self.history = {name: list(values) for name, values in state.history.items()}
        self.past = state.past
        self.problem.enter(engine)
        attraction = self.problem.attraction
        self.problem.exaggeration = attraction if self.phase is None else self.phase.exaggeration
        self.steering = state.steering
        self.problem.steer(state.steering, self.iteration)

    def check(self, state: State) -> None:
        """Refuse what is no state of this descent, with one line that says why."""
        state.check(self.problem.shape, len(self.z), COLUMNS, RECORD)
        due = self.phase_at(state.iteration)
        now = next(k for k, each in enumerate(self.phases) if each is due)
        check_number("phase", state.phase, max(0, now - 1), now, int)
        usual = optimizer(self._phase_of(state).optimizer)
        if type(state.optimizer) not in (type(usual), type(usual.for_terms())):
            raise ValueError(f"{usual.name} is at work in this phase, and not {state.optimizer.name}")

    def resume(self, state: State) -> None:
        """Go to a state that was kept in a file."""
        self.check(state)
        stage = self._phase_of(state).stage
        if stage:
            self.problem.enter(self.stages.enter(stage))
        self.restore(state, self.problem.engine)

    def _phase_of(self, state: State) -> Phase:
        return self.phases[0 if state.phase is None else state.phase]
