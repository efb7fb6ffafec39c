"""The ladder: scales enter one by one, from coarse to fine, in the data and in the map.

Each rung is an engine, whose target is the mean over the scales that have entered and whose kernel has their
precisions. The descent goes on from one to the next; see `nearfield.descent.schedule`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nearfield.affinity.rungs import Rungs
from nearfield.algebra.method import Method
from nearfield.descent.stages import Stages
from nearfield.engine.base import Engine
from nearfield.typing import Array

Build = Callable[[Method, Any], Engine]


class Ladder(Stages):
    """The engines of a multi-scale descent, one after the other.

    Parameters
    ----------
    method : Method
        Whose scales are "auto" or "transfer".
    rungs : Rungs
        The scales of the data.
    build : callable
        The engine of a method and a target.
    Y : array (points, dimensions)
        Where the map starts, which the precisions are made to measure for.
    target : array or Sampled
        That of the first rung, which was made already.
    """

    def __init__(self, method: Method, rungs: Rungs, build: Build, Y: Array, target: Any) -> None:
        self.method, self.rungs, self.build = method, rungs, build
        transferred = method.scales == "transfer"
        self.precisions = rungs.transferred() if transferred else rungs.precisions(Y)
        self._keeps = False
        self._kept: dict[int, Engine] = {}
        super().__init__(self._engine(target))

    def __len__(self) -> int:
        return len(self.rungs)

    def enter(self, stage: int) -> Engine:
        """The engine of a rung, whose scale joins those that have entered, unless it was kept."""
        if stage == 0:
            return self.first
        if stage in self._kept:
            return self._kept[stage]
        engine = self._engine(self.rungs.target(stage + 1))
        if self._keeps:
            self._kept[stage] = engine
        return engine

    def keep(self) -> None:
        self._keeps = True

    def _engine(self, target: Any) -> Engine:
        entered = self.precisions[-self.rungs.entered :]
        return self.build(self.method._with(scales=entered), target)
