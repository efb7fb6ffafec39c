"""The line of runs of a session: the present one, and those that can be gone back or forward to.

To change the method or the perplexity is to go on with another run, which starts from the map as it is and
has a log of its own. What was pinned is pinned again, with the same followers, and the neighbours that were
searched for one run serve the next. The runs before it are kept, so that undo and redo go over a change as
over any other command.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nearfield.affinity.source import Source
from nearfield.affinity.targets import TIMES, edges_per_point
from nearfield.algebra.catalogue import method as named
from nearfield.defaults import PERPLEXITY
from nearfield.descent.journal import KEPT
from nearfield.descent.run import Run
from nearfield.descent.settings import check_one_run
from nearfield.steer.penalties import PENALTIES, Penalty
from nearfield.typing import Array

FOLLOWERS = 0.05  # of all points, if nothing else is asked for
PAIRS = 200_000  # of a pin and a follower, that a drag of many points may have
RUNS = 8  # that can be gone back to: each holds a P of its own
NEIGHBOURS = round(TIMES * PERPLEXITY)  # that every method finds enough at the usual perplexity


@dataclass(frozen=True)
class Step:
    """A run, and how many of its commands can be undone before it is the run itself that is undone."""

    run: Run
    wanted: dict[str, Any]
    done: int = 0
    undone: int = 0


@dataclass
class Line:
    """The present run and those beside it in time.

    Attributes
    ----------
    source : Source
        What all of them are made of, with the neighbours that were searched.
    now : Step
        The present run.
    options : dict
        What all runs are given beside what the page can change.
    before, after : list of Step
        The runs that changes replaced, and those that undoing changes left; the nearest in time are last.
    drawn : dict
        Penalty and strength by which those who follow are drawn.
    """

    source: Source
    now: Step
    options: dict[str, Any] = field(default_factory=dict)
    before: list[Step] = field(default_factory=list)
    after: list[Step] = field(default_factory=list)
    drawn: dict[str, Any] = field(default_factory=lambda: {"penalty": "student", "strength": 0.1})

    @property
    def run(self) -> Run:
        """The present run."""
        return self.now.run

    @property
    def wanted(self) -> dict[str, Any]:
        """What it was asked for: method, perplexity, exaggeration."""
        return self.now.wanted

    @property
    def penalty(self) -> Penalty:
        """How followers are drawn."""
        return PENALTIES[self.drawn["penalty"]](strength=self.drawn["strength"])

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo."""
        return self.now.done > 0 or bool(self.before)

    @property
    def can_redo(self) -> bool:
        """Whether there is something to redo."""
        return self.now.undone > 0 or bool(self.after)

    def note(self) -> None:
        """A command was given to the run."""
        if self.now.done == KEPT:  # the run forgets its first state, and with it the way to those before it
            self.before.clear()
        self.now = replace(self.now, done=min(self.now.done + 1, KEPT), undone=0)
        self.after.clear()

    def undo(self) -> None:
        """Take back the last command, or the change that made this run."""
        if self.now.done:
            self.run.undo()
            self.now = replace(self.now, done=self.now.done - 1, undone=self.now.undone + 1)
        elif self.before:
            self.after.append(self.now)
            self.now = self.before.pop()
        else:
            raise ValueError("there is nothing to undo")

    def redo(self) -> None:
        """Do again what was undone last."""
        if self.now.undone:
            self.run.redo()
            self.now = replace(self.now, done=self.now.done + 1, undone=self.now.undone - 1)
        elif self.after:
            self.before.append(self.now)
            self.now = self.after.pop()
        else:
            raise ValueError("there is nothing to redo")

    def searches(self, wanted: dict[str, Any]) -> bool:
        """Whether a change needs more neighbours than were searched."""
        return self._neighbours({**self.wanted, **wanted}) > self.source.remembered

    def change(self, wanted: dict[str, Any]) -> None:
        """Go on with another method or perplexity from the map as it is, and with the same pins."""
        old, wanted = self.run, {**self.wanted, **wanted}
        Y = old.Y
        new = self._made(wanted, init=Y)
        if old.pins:  # a run begins with its map in the middle
            new.anchor(Y.mean(axis=0))
        for i, at in old.pins.items():
            new.pin(i, at, follow=old.followers[i], penalty=self.penalty)
        self.go_on_with(new, wanted)

    def restart(self) -> None:
        """Begin anew, without any pins."""
        self.go_on_with(self._made(self.wanted), self.wanted)

    def go_on_with(self, run: Run, wanted: dict[str, Any]) -> None:
        """Another run is the present one; the run before it can be gone back to, but not what was undone."""
        self.before = [*self.before, replace(self.now, undone=0)][-RUNS:]
        self.now = Step(run, wanted)
        self.after.clear()

    def _made(self, wanted: dict[str, Any], **more: Any) -> Run:
        if self.searches(wanted):
            self.source = replace(self.source, remembered=self._neighbours(wanted))
        given = {name: value for name, value in wanted.items() if name != "method" and value is not None}
        return Run(self.source, wanted["method"], **{**self.options, **given, **more})

    def _neighbours(self, wanted: dict[str, Any]) -> int:
        """How many neighbours of each point a run takes."""
        method, n = named(wanted["method"]), self.source.n
        if self.source.given or method.target_kind == "distances":
            return 0
        return edges_per_point(method, n, wanted["perplexity"])[0]


def line_of(X: Any, method: str = "tsne", perplexity: float | None = None, **options: Any) -> Line:
    """A line that begins with a new run."""
    check_one_run("the studio", options)
    wanted = {"method": method, "perplexity": perplexity, "exaggeration": None}
    given = {} if perplexity is None else {"perplexity": perplexity}
    run = Run(X, method, remembered=NEIGHBOURS, **given, **options)
    return Line(run.source, Step(run, wanted), options)


def line_with(run: Run, **options: Any) -> Line:
    """A line that goes on with a run that is there already."""
    told, kept = run.map().parameters, max(run.source.remembered, NEIGHBOURS)
    source = Source.of(run.source, n_jobs=options.get("n_jobs"), remembered=kept)
    options = {"metric": source.metric, "metric_params": source.metric_params, **options}
    perplexity = told.get("perplexity")
    number = perplexity if isinstance(perplexity, (int, float)) else None
    wanted = {"method": told["method"], "perplexity": number, "exaggeration": None}
    return Line(source, Step(run, wanted), options)


def followers_for(count: int | float, points: int, n: int) -> int | float:
    """How many may follow each of some points: a drag of many must not tie everything to everything."""
    wanted = count if isinstance(count, int) else max(1, round(count * n))
    return max(1, min(wanted, PAIRS // points)) if wanted else 0


def brought(Y: Array, indices: list[int], anchor: Array, at: Any) -> Array:
    """Where some points are when an anchor among them is brought somewhere, to the last bit."""
    return np.asarray((Y[indices] - anchor) + np.asarray(at, dtype=np.float64))
