"""The descent: variables, optimizer, phases and history, one iteration at a time.

It knows nothing of commands, files or threads: see `nearfield.descent.run`.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from nearfield.algebra.method import Method
from nearfield.descent.optimizers import Momentum, optimizer
from nearfield.descent.problem import Point, Problem
from nearfield.descent.schedule import SPREADING, Phase, calmed, guided, schedule, stop
from nearfield.descent.settings import Settings
from nearfield.descent.setup import Setup
from nearfield.descent.state import State
from nearfield.engine.base import Engine, RunAway
from nearfield.io.schema import check_number
from nearfield.steer.base import Indices
from nearfield.steer.steering import Steering
from nearfield.typing import Array

RECORD = 10  # every how many iterations the cost is computed and written to the history
COLUMNS = ("iteration", "cost", "gradient_norm", "exaggeration", "penalty")  # of the history
NEAR = 10.0  # times as far out as the map, or its kernel, reaches, every engine can put a point
FLAT = 1e-7  # a gradient this small beside the largest one is none


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
        Y, self.stages = setup.Y, setup.stages
        self.problem = Problem(self.stages.at(0), (len(Y), Y.shape[1]), setup.degree, setup.method)
        exaggerated: dict[str, Any] = {
            "exaggeration": settings.exaggeration,
            "exaggeration_iter": settings.exaggeration_iter,
        }

        def phases(engine: Engine, name: str, **options: Any) -> tuple[Phase, ...]:
            return schedule(
                engine.method,
                n=self.problem.count,
                natural_rate=self.problem.natural_rate_of(engine),
                optimizer=name,
                habits=optimizer(name).habits,
                spread=float(Y.std()),
                learning_rate=settings.learning_rate,
                **options,
            )

        first = self.problem.engine
        if self.stages.guide is not None:
            own = phases(self.stages.own(first), optimizer_name, exaggeration=1)
            self.phases = guided(phases(first, Momentum.name, **exaggerated), own)
        else:
            self.phases = phases(first, optimizer_name, rungs=len(self.stages), **exaggerated)
        self.z = self.problem.pack(Y)
        self.problem.project(self.z)
        self.start = self.z.copy()
        self._first: tuple[Any, float] | None = None  # the last engine, and what the start costs with it
        self.phase: Phase | None = None
        self.iteration = 0
        self.history: dict[str, list[float]] = {name: [] for name in COLUMNS}
        self.past = 0
        self.steering = Steering(self.problem.shape, wakes=self.unfolds)
        self.enter()

    # What it is -------------------------------------------------------------------------------------------

    @property
    def unfolds(self) -> int:
        """The iteration at which the map has about its size; with a guide, that of the method's own cost."""
        before = sum(phase.iterations or 0 for phase in self.phases)
        if self.stages.guide is not None or (not before and self.starts_unfolded):
            return before
        return before + SPREADING

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
        return kernel is None or float(self.problem.map_of(self.start).std()) >= kernel.width

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

    def enter(self) -> None:
        """Make problem and optimizer ready for the next iteration, before any command may come."""
        phase = self.phase_at(self.iteration)
        if phase is not self.phase:
            exaggerated = self.phase is not None and self.phase.exaggeration > 1
            if exaggerated and np.std(self.Y) < np.std(self.problem.map_of(self.start)):
                # Exaggeration drew few points into one, where every force vanishes: go on from the start.
                self.z = self.start.copy()
                self.problem.project(self.z)
            if self.phase is not None and phase.rung > self.phase.rung:
                if not self.steering.anchored:
                    self._resize(self.stages.resized(self.Y))
                self.problem.enter(self.stages.at(phase.rung))
            if self.phase is None or phase.optimizer != self.phase.optimizer:
                self.optimizer = optimizer(phase.optimizer)
            self.phase = phase
            self.problem.exaggeration = phase.exaggeration
            self.optimizer.begin(self.z, phase)
        wakes = self.steering.wakes_at(self.iteration)
        if wakes:
            self.steering = self.steering.woken(self.problem.measure(self.z))
        if wakes or self.steering.fades_at(self.iteration):
            self.problem.steer(self.steering, self.iteration)
            self.optimizer.change()

    def _resize(self, Y: Array) -> None:
        """Go on from the same map at another size."""
        self.z = self.z.copy()
        self.problem.map_of(self.z)[:] = Y

    def iterate(self) -> None:
        """Make one iteration."""
        phase = self.phase_at(self.iteration)
        if phase is not self.phase:  # Ctrl-C came in between
            self.enter()
        phase = calmed(phase, max((left for left, _ in self.problem.terms), default=0.0))
        due = self.iteration % RECORD == 0
        following, before = self.optimizer.step(self.z, self.problem, phase, due)
        # A gradient that is no number shows in the step, unless no step is made.
        if not np.all(np.isfinite(before.gradient if following is self.z else following)):
            raise self._run_away()
        if due:
            self._write(before)
        if following is not self.z:
            self.problem.project(following)
        self.z = following
        self.iteration += 1
        self.enter()

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
        """Write a row of the map as it is now."""
        self._write(self.problem(self.z))

    @np.errstate(over="ignore")  # of a map that is about to run away
    def _write(self, here: Point) -> None:
        if self.is_recorded:
            return
        norm, exaggeration = float(np.linalg.norm(here.gradient)), self.problem.exaggeration
        if not np.isfinite(here.value + norm):
            raise self._run_away()
        cost = here.cost
        if self.is_guided:  # what the method itself says of the map that its guide makes
            cost = self.own_engine.evaluate(self.Y, method=self.method).cost
        row = (self.iteration, cost, norm, exaggeration, here.penalty)
        for name, value in zip(self.history, row, strict=True):
            self.history[name].append(value)

    # Its end ----------------------------------------------------------------------------------------------

    def usual_stop(self) -> tuple[float, int]:
        """The share of its cost within which it counts as converged, and over how many iterations."""
        habits = optimizer(self.phases[-1].optimizer).habits
        return stop(self.problem.engine.method, habits, self.problem.shape[0])

    def is_flat(self, tol: float, patience: int, min_grad_norm: float) -> bool:
        """Whether the history shows, since the last phase and command, that nothing is gained any more."""
        settled = max(sum(phase.iterations or 0 for phase in self.phases), self.steering.settled)
        names = ("iteration", "gradient_norm", "cost", "penalty")
        iterations, norms, costs, penalties = (self.history[name][self.past :] for name in names)
        if self.iteration < settled or not iterations or iterations[-1] < settled:
            return False
        steepest = max(self.history["gradient_norm"])
        if norms[-1] <= max(min_grad_norm, FLAT * steepest) or self.optimizer.at_rest:
            return True
        before = bisect_right(iterations, iterations[-1] - patience) - 1
        if before < 0 or iterations[before] < settled:
            return False
        # A cost that rises is no sign of convergence either.
        gained = costs[before] + penalties[before] - costs[-1] - penalties[-1]
        return abs(gained) <= tol * min(abs(costs[-1]), abs(self._first_cost() - costs[-1]))

    def _first_cost(self) -> float:
        """The cost of the start, under the last of the engines."""
        engine = self.problem.engine
        if self._first is None or self._first[0] is not engine:
            self._first = (engine, self.problem(self.start).cost)
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

    def check_reach(self, points: Indices, places: Array) -> None:
        """Refuse to put points so far out that the engine could not go on."""
        Y, kernel = self.Y, self.problem.engine.method.kernel
        centre = Y.mean(axis=0)
        wide = max(float(np.abs(Y - centre).max()), 0.0 if kernel is None else kernel.width)
        away = float(np.abs(places - centre).max())
        if away <= NEAR * wide:
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
        self.rest(points)

    def rest(self, points: Indices) -> None:
        """Let the optimizer forget the motion of some points."""
        self.optimizer.rest(self.problem.places_of(points))

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
        self.problem.exaggeration = 1.0 if self.phase is None else self.phase.exaggeration
        self.steering = state.steering
        self.problem.steer(state.steering, self.iteration)

    def check(self, state: State) -> None:
        """Refuse what is no state of this descent, with one line that says why."""
        state.check(self.problem.shape, len(self.z), COLUMNS, RECORD)
        due = self.phase_at(state.iteration)
        now = next(k for k, each in enumerate(self.phases) if each is due)
        check_number("phase", state.phase, max(0, now - 1), now, int)
        wanted = optimizer(self._phase_of(state).optimizer)
        if type(state.optimizer) not in (type(wanted), type(wanted.for_terms())):
            raise ValueError(f"{wanted.name} is at work in this phase, and not {state.optimizer.name}")

    def resume(self, state: State) -> None:
        """Go to a state that was kept in a file, by way of the engines before its own."""
        self.check(state)
        for each in range(1, self._phase_of(state).rung + 1):
            self.problem.enter(self.stages.at(each))
        self.restore(state, self.problem.engine)

    def _phase_of(self, state: State) -> Phase:
        return self.phases[0 if state.phase is None else state.phase]
