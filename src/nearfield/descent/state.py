"""The state of a run: all that the next iteration depends on, to be gone back to or kept in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from nearfield.descent.flow import Flow
from nearfield.descent.optimizers import LBFGS, SMACOF, Momentum, Optimizer
from nearfield.descent.problem import Point
from nearfield.io.schema import LONGEST, check_array, check_number, fits
from nearfield.steer import penalties
from nearfield.steer.base import Measure
from nearfield.steer.bounds import Box, Disc
from nearfield.steer.links import CannotLink, MustLink
from nearfield.steer.log import Entry
from nearfield.steer.pulls import Pull
from nearfield.steer.steering import Steering
from nearfield.typing import Array


@dataclass(frozen=True, eq=False)
class State:
    """Where a run is.

    Attributes
    ----------
    z : array
        The variables.
    iteration : int
        How many iterations were made.
    phase : int or None
        The number of the phase that was entered last.
    optimizer : Optimizer
        With its momentum and gains, or what it learned of the curvature.
    steering : Steering
        What a person asked for.
    history : dict of list
        What was recorded on the way.
    past : int
        How many rows of it tell of the map before the last command.
    """

    z: Array
    iteration: int
    phase: int | None
    optimizer: Optimizer
    steering: Steering
    history: dict[str, list[float]]
    past: int = 0

    def check(self, shape: tuple[int, int], size: int, columns: Sequence[str], every: int) -> None:
        """Refuse a state that no run of so many points and variables can be in, before a loop trusts it.

        Parameters
        ----------
        shape : (int, int)
            Of the map.
        size : int
            The number of variables.
        columns : sequence of str
            Of the history.
        every : int
            After how many iterations there has to be a row.
        """
        check_array("the variables", self.z, (size,))
        check_number("iteration", self.iteration, 0, LONGEST, int)
        self.optimizer.check(size)
        self.steering.check(shape)
        rows = len(next(iter(self.history.values()), ()))
        right = list(self.history) == list(columns) and fits(self.history, dict[str, list[float]])
        if not right or any(len(each) != rows for each in self.history.values()):
            raise ValueError(f"the history must have the columns {', '.join(columns)}, of the same length")
        check_number("the rows before the last command", self.past, 0, rows, int)
        iterations = self.history["iteration"]
        for before, each in pairwise([0, *iterations]):
            check_number("an iteration of the history", each, before, self.iteration, int)
        # So many iterations as were made, and no more: replaying them must not take forever.
        if rows < -(-self.iteration // every) or set(range(0, self.iteration, every)) - set(iterations):
            raise ValueError(
                f"the history must have a row for every {every} of the {self.iteration} iterations"
            )


# What a file may hold, by name.
PARTS: dict[str, type] = {
    each.__name__: each
    for each in (
        *(Momentum, LBFGS, SMACOF, Flow, Point, State, Steering, Entry, Pull, Measure),
        *(MustLink, CannotLink, Box, Disc, *penalties.PENALTIES.values()),
    )
}
