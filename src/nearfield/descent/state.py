"""The state of a run: all that the next iteration depends on, to be gone back to or kept in a file."""

from __future__ import annotations

from dataclasses import dataclass

from nearfield.descent.optimizers import LBFGS, SMACOF, Momentum, Optimizer
from nearfield.descent.problem import Point
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
    """

    z: Array
    iteration: int
    phase: int | None
    optimizer: Optimizer
    steering: Steering
    history: dict[str, list[float]]


# What a file may hold, by name.
PARTS: dict[str, type] = {
    each.__name__: each
    for each in (
        *(Momentum, LBFGS, SMACOF, Point, State, Steering, Entry, Pull, Measure),
        *(MustLink, CannotLink, Box, Disc, *penalties.PENALTIES.values()),
    )
}
