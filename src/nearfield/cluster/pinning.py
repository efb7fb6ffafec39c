"""Pins on a cluster: who has a pinned point holds it, and all look for followers among their own points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nearfield.cluster.members import Members
from nearfield.descent.descent import Descent
from nearfield.descent.run import FOLLOWERS
from nearfield.steer.penalties import penalty
from nearfield.steer.pulls import Pull
from nearfield.typing import Array


class Pinned:
    """A worker's descent as `nearfield.descent.finish.ceilings` steers it, with points by their number.

    Parameters
    ----------
    descent : Descent
        Of the own points.
    numbers : array (points,)
        Which rows of the data they are.
    together : Members
        The workers.
    """

    checkpoint, log = None, ()  # pins are not kept, and so each job begins with none

    def __init__(self, descent: Descent, numbers: Any, together: Members) -> None:
        self.descent, self.numbers, self.together = descent, numbers, together

    @property
    def Y(self) -> Array:
        """As many places as there are points; where they are nobody asks."""
        problem = self.descent.problem
        return np.broadcast_to(np.zeros(1), (int(problem.n_points), problem.shape[1]))

    @property
    def iteration(self) -> int:
        """How many iterations were made."""
        return self.descent.iteration

    @property
    def starts_unfolded(self) -> bool:
        """Whether the start was a map already."""
        return self.descent.starts_unfolded

    def pin(self, pins: Any, places: Array) -> None:
        """Put some points where they belong, and let their nearest in the map follow."""
        descent, Y = self.descent, self.descent.Y
        order = np.argsort(self.numbers)
        at = order[np.minimum(np.searchsorted(self.numbers[order], pins), len(order) - 1)]
        mine = self.numbers[at] == pins
        before = self.together.sum(np.where(mine[:, None], Y[at], 0.0))
        free = np.ones(len(Y), bool)
        free[at[mine]] = False
        n = int(descent.problem.n_points)
        followers = [
            self._nearest(Y, place, free, min(max(1, round(FOLLOWERS * n)), n - len(pins)))
            for place in before
        ]
        sizes, drawn = [len(each) for each in followers], penalty("student")
        who = np.concatenate(followers)
        times = np.bincount(who, minlength=len(Y))  # several pins draw a point no more strongly than one
        factor, square = drawn.constants(descent.measure(), self.together.sum(len(who)))
        weights = 1 / times[who]
        pull = Pull(
            drawn, np.repeat(pins, sizes), who, np.repeat(places, sizes, axis=0), weights, factor, square
        )
        held = np.argsort(at[mine])
        steering = replace(
            descent.steering,
            held=at[mine][held],
            at=places[mine][held],
            pulls=(pull,),
            anchored=True,
        )
        descent.steer(steering)
        descent.put(at[mine], places[mine])

    def _nearest(self, Y: Array, place: Array, free: Any, count: int) -> Any:
        """The own points among so many of all that are nearest to a place."""
        squared = np.where(free, np.sum((Y - place) ** 2, axis=1), np.inf)
        few = np.sort(squared)[:count]
        reach = np.sort(self.together.all_rows(few))[count - 1]
        return np.flatnonzero(squared <= reach)

    def settle(self, n: int) -> None:
        """Let what draws the followers fade over so many iterations."""
        self.descent.steer(self.descent.steering.settle(self.iteration, n))
