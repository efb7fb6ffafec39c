"""The line of runs of a session: the present one, and the one before the method was changed.

To change the method or the perplexity is to go on with another run, which starts from the map as it is and
has a log of its own. What was pinned is pinned again, with the same followers. The run before it is kept, so
that this can be undone like any other command.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nearfield.descent.run import Run
from nearfield.descent.settings import check_one_run
from nearfield.steer.penalties import PENALTIES, Penalty
from nearfield.typing import Array

FOLLOWERS = 0.05  # of all points, if nothing else is asked for
PAIRS = 200_000  # of a pin and a follower, that a drag of many points may have


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
    X : array
        What all of them are made of.
    now : Step
        The present run.
    before, after : Step or None
        The run that a change replaced, and the one that undoing the change left.
    options : dict
        What all runs are given beside what the page can change.
    drawn : dict
        Penalty and strength by which those who follow are drawn.
    """

    X: Any
    now: Step
    options: dict[str, Any] = field(default_factory=dict)
    before: Step | None = None
    after: Step | None = None
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
        return self.now.done > 0 or self.before is not None

    @property
    def can_redo(self) -> bool:
        """Whether there is something to redo."""
        return self.now.undone > 0 or self.after is not None

    def note(self) -> None:
        """A command was given to the run."""
        self.now = replace(self.now, done=self.now.done + 1, undone=0)
        self.after = None

    def undo(self) -> None:
        """Take back the last command, or the change that made this run."""
        if self.now.done:
            self.run.undo()
            self.now = replace(self.now, done=self.now.done - 1, undone=self.now.undone + 1)
        elif self.before is not None:
            self.after, self.now, self.before = self.now, self.before, None
        else:
            raise ValueError("there is nothing to undo")

    def redo(self) -> None:
        """Do again what was undone last."""
        if self.now.undone:
            self.run.redo()
            self.now = replace(self.now, done=self.now.done + 1, undone=self.now.undone - 1)
        elif self.after is not None:
            self.before, self.now, self.after = self.now, self.after, None
        else:
            raise ValueError("there is nothing to redo")

    def change(self, wanted: dict[str, Any]) -> None:
        """Go on with another method or perplexity from the map as it is, and with the same pins."""
        old, wanted = self.run, {**self.wanted, **wanted}
        Y = old.Y
        new = self._made(wanted, init=Y)
        if old.pins:  # a run begins with its map in the middle
            new.anchor(Y.mean(axis=0))
        for i, at in old.pins.items():
            new.pin(i, at, follow=old.followers[i], penalty=self.penalty)
        self._go_on_with(new, wanted)

    def restart(self) -> None:
        """Begin anew, without any pins."""
        self._go_on_with(self._made(self.wanted), self.wanted)

    def replace(self, run: Run, wanted: dict[str, Any]) -> None:
        """Go on with a run that was kept elsewhere."""
        self._go_on_with(run, wanted)

    def _made(self, wanted: dict[str, Any], **more: Any) -> Run:
        given = {name: value for name, value in wanted.items() if name != "method" and value is not None}
        return Run(self.X, wanted["method"], **{**self.options, **given, **more})

    def _go_on_with(self, run: Run, wanted: dict[str, Any]) -> None:
        self.before, self.now, self.after = self.now, Step(run, wanted), None


def line_of(X: Any, method: str = "tsne", perplexity: float | None = None, **options: Any) -> Line:
    """A line that begins with a new run."""
    check_one_run("the studio", options)
    wanted = {"method": method, "perplexity": perplexity, "exaggeration": None}
    given = {} if perplexity is None else {"perplexity": perplexity}
    run = Run(X, method, **given, **options)
    return Line(X, Step(run, wanted), options)


def line_with(run: Run, X: Any, **options: Any) -> Line:
    """A line that goes on with a run that is there already."""
    told = run.map().parameters
    options = {"metric": run.source.metric, "metric_params": run.source.metric_params, **options}
    perplexity = told.get("perplexity")
    number = perplexity if isinstance(perplexity, (int, float)) else None
    return Line(X, Step(run, {"method": told["method"], "perplexity": number, "exaggeration": None}), options)


def followers_for(count: int | float, points: int, n: int) -> int | float:
    """How many may follow each of some points: a drag of many must not tie everything to everything."""
    wanted = count if isinstance(count, int) else max(1, round(count * n))
    return max(1, min(wanted, PAIRS // points)) if wanted else 0


def brought(Y: Array, indices: list[int], anchor: Array, at: Any) -> Array:
    """Where some points are when an anchor among them is brought somewhere, to the last bit."""
    return np.asarray((Y[indices] - anchor) + np.asarray(at, dtype=np.float64))
