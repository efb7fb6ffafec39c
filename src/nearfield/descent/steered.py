"""What a person can ask of a run while it goes on: pins, links and bounds, and to go back.

Commands come between iterations, from any thread. One that is refused leaves the run as it was. Each is
written to the log, and the state before it is kept.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from nearfield.algebra.parts import Array
from nearfield.descent.guide import Guide
from nearfield.descent.ladder import Ladder
from nearfield.descent.optimizers import LBFGS, SMACOF, Optimizer
from nearfield.descent.problem import Problem
from nearfield.descent.schedule import Phase
from nearfield.descent.state import State
from nearfield.io.checks import whole
from nearfield.steer.base import Indices, Term
from nearfield.steer.links import CannotLink, MustLink
from nearfield.steer.log import Entry
from nearfield.steer.penalties import Penalty
from nearfield.steer.penalties import penalty as penalty_of
from nearfield.steer.steering import Steering
from nearfield.steer.turns import Turns
from nearfield.threads import one_blas_thread

COMMANDS = ("pin", "unpin", "settle", "link", "unlink", "add", "remove", "undo", "redo")  # in a log
KEPT = 50  # states that can be gone back to
FOLLOWERS = 0.05  # of all points

Given = ParamSpec("Given")
Result = TypeVar("Result")


def in_turn(
    command: Callable[Concatenate[Any, Given], Result],
) -> Callable[Concatenate[Any, Given], Result]:
    """Wait for the iteration that is under way, and keep the next one waiting."""

    @wraps(command)
    def waiting(self: Any, *arguments: Given.args, **keywords: Given.kwargs) -> Result:
        with self._turns.mine(), one_blas_thread():
            return command(self, *arguments, **keywords)

    return waiting


class Steered:
    """The commands of a `Run`."""

    iteration: int
    _problem: Problem
    _optimizer: Optimizer
    _stages: Ladder | Guide | None
    _phases: tuple[Phase, ...]
    _phase: Phase | None
    _z: Array
    _history: dict[str, list[float]]
    _wanted: dict[str, Any]  # what the run was asked for at first

    def _begin_steering(self, wakes: int) -> None:
        self._turns, self._steering = Turns(), Steering(self._problem.shape, wakes=wakes)
        self._log: list[Entry] = []
        self._before: deque[tuple[State, Any]] = deque(maxlen=KEPT)
        self._undone: list[tuple[State, Any]] = []

    @property
    def log(self) -> list[Entry]:
        """All commands so far, with the iteration before which they came (a copy)."""
        return copy.deepcopy(self._log)

    @property
    def pins(self) -> dict[int, Array]:
        """The pinned points, and where they were put."""
        return self._steering.pins

    @property
    def followers(self) -> dict[int, Indices]:
        """Who follows each pinned point."""
        return self._steering.followers

    @property
    def terms(self) -> tuple[Term, ...]:
        """Links, bounds and other terms that were added."""
        return self._steering.terms

    @in_turn
    def pin(
        self,
        indices: Any,
        positions: Any,
        *,
        follow: Any = FOLLOWERS,
        neighbours: str = "map",
        weights: str = "one",
        penalty: str | Penalty = "student",
        soft: bool | Penalty = False,
    ) -> None:
        """Put some points where they belong, and let their old neighbours follow.

        Parameters
        ----------
        indices : int or sequence of int
            The points.
        positions : array (points, dimensions)
            Where each is put.
        follow : int, float below 1, array or None
            Who follows each of them: so many of its nearest neighbours, this fraction of all points, these
            points, or nobody. They are looked for now, before the move, and stay the same.
        neighbours : {"map", "data"}
            Whether the nearest in the map or in the data are meant.
        weights : {"one", "p"}
            Whether all are drawn alike, or in proportion to p_ij.
        penalty : {"student", "gaussian", "l2"} or Penalty
            How they are drawn; see `nearfield.penalties`.
        soft : bool or Penalty
            False is a hard pin: the point stays exactly where it was put. True is a Gaussian prior: it may
            give way. A penalty is a prior of one's own.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> run = nf.Run(np.random.default_rng(0).normal(size=(100, 5)), random_state=0)
        >>> run.step(200)
        >>> run.pin(3, (20, 0), follow=10)
        >>> run.step(100)
        >>> run.Y[3].tolist(), len(run.followers[3])
        ([20.0, 0.0], 10)
        """
        drawn = penalty_of(penalty)
        steering, pins, places = self._steering.pin(
            indices,
            positions,
            follow=follow,
            neighbours=neighbours,
            weights=weights,
            penalty_of=drawn,
            soft=soft,
            Y=self._problem.map_of(self._z),
            engine=self._problem.engine,
            measure=self._problem.measure(self._z),
        )
        named = follow is None or np.isscalar(follow)
        given: dict[str, Any] = {"follow": follow if named else np.array(follow)}
        given |= {"neighbours": neighbours, "weights": weights}
        given |= {"penalty": drawn, "soft": soft}
        self._commit(steering, "pin", {"indices": pins, "positions": places, **given})
        self._problem.map_of(self._z)[pins] = places
        self._optimizer.rest(self._problem.places_of(pins))

    @in_turn
    def unpin(self, indices: Any = None) -> None:
        """Release some pinned points, or all, and their followers."""
        steering, pins = self._steering.unpin(indices)
        self._commit(steering, "unpin", {"indices": pins})
        self._optimizer.rest(self._problem.places_of(pins))

    @in_turn
    def settle(self, n: int = 250) -> None:
        """Let the penalties of all followers fade to zero over the next n iterations; the pins stay.

        What fades already does so within n iterations from now. No iterations are made:
        ``run.settle(250); run.step(250)``.
        """
        n = whole("n", n, 0)
        self._commit(self._steering.settle(self.iteration, n), "settle", {"n": n})

    @in_turn
    def link(self, must: Any = None, cannot: Any = None) -> None:
        """Tie pairs of points together, or keep them apart; `nearfield.terms` has their strengths.

        Parameters
        ----------
        must, cannot : array (links, 2), optional
            Pairs that belong together, and pairs that do not.
        """
        if must is None and cannot is None:
            raise ValueError("link: name pairs that must be together, or that cannot")
        steering, measure, given = self._steering, self._problem.measure(self._z), {}
        for name, kind, pairs in (("must", MustLink, must), ("cannot", CannotLink, cannot)):
            if pairs is not None:
                links = kind(pairs)
                steering, given[name] = steering.add(links, measure), links.pairs
        self._commit(steering, "link", given)

    @in_turn
    def unlink(self, pairs: Any) -> None:
        """Cut the links between these pairs of points."""
        self._commit(self._steering.unlink(pairs), "unlink", {"pairs": np.array(pairs)})

    @in_turn
    def add(self, term: Term) -> None:
        """Add a term to the cost: links, bounds, or one of your own; see `nearfield.terms`."""
        self._commit(self._steering.add(term, self._problem.measure(self._z)), "add", {"term": term})

    @in_turn
    def remove(self, number: int) -> None:
        """Take out one of `terms`, by its number."""
        self._commit(self._steering.remove(number), "remove", {"number": int(number)})

    @in_turn
    def undo(self) -> None:
        """Go back to the state before the last command: positions, momentum, pins and history."""
        if not self._before:
            raise ValueError("there is nothing to undo")
        self._undone.append(self._now())
        self._log.append(Entry(self.iteration, "undo"))
        self._restore(*self._before.pop())

    @in_turn
    def redo(self) -> None:
        """Go to the state that the last undo left."""
        if not self._undone:
            raise ValueError("there is nothing to redo")
        self._before.append(self._now())
        self._log.append(Entry(self.iteration, "redo"))
        self._restore(*self._undone.pop())

    def _commit(self, steering: Steering, command: str, arguments: dict[str, Any]) -> None:
        """Take over what a command has made, after which it cannot fail any more."""
        terms = bool(steering.pulls or steering.terms)
        smacof = isinstance(self._optimizer, SMACOF)
        if terms and smacof and self._wanted["optimizer"] == "smacof":
            raise ValueError("SMACOF minimises the plain stress and no terms: use optimizer='auto' to steer")
        if isinstance(self._stages, Ladder):
            self._stages.keeps = True
        self._before.append(self._now())
        self._undone.clear()
        self._log.append(Entry(self.iteration, command, arguments))
        if self._history["iteration"] and self._history["iteration"][-1] == self.iteration:
            for values in self._history.values():  # which told of the map before the command
                values.pop()
        self._steer(steering.at_iteration(self.iteration))
        if terms and smacof:
            self._optimizer = LBFGS()
        self._optimizer.change()
        self._z = self._z.copy()

    def _steer(self, steering: Steering) -> None:
        self._steering = steering
        self._problem.steer(steering, self.iteration)

    def _now(self) -> tuple[State, Any]:
        """The state, and the engine that goes with it."""
        history = {name: list(values) for name, values in self._history.items()}
        phase = next((k for k, each in enumerate(self._phases) if each is self._phase), None)
        optimizer = self._optimizer.copy()
        state = State(self._z.copy(), self.iteration, phase, optimizer, self._steering, history)
        return state, self._problem.engine

    def _restore(self, state: State, engine: Any) -> None:
        self._z, self.iteration = state.z.copy(), state.iteration
        self._phase = None if state.phase is None else self._phases[state.phase]
        self._optimizer = state.optimizer.copy()
        self._history = {name: list(values) for name, values in state.history.items()}
        self._problem.enter(engine)
        self._problem.exaggeration = 1.0 if self._phase is None else self._phase.exaggeration
        self._steer(state.steering)
