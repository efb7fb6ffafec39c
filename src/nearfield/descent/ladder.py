"""The ladder: scales enter one by one, from coarse to fine, in the data and in the map.

Each rung is an engine, whose target is the mean over the scales that have entered and whose kernel has their
precisions. The descent goes on from one to the next; see `nearfield.descent.schedule`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nearfield.affinity.rungs import Rungs
from nearfield.algebra.method import Method
from nearfield.algebra.parts import Array
from nearfield.engine.base import Engine

Build = Callable[[Method, Any], Engine]


class Ladder:
    """The engines of a multi-scale descent, one after the other.

    Parameters
    ----------
    method : Method
        Whose scales are "auto" or "transfer".
    rungs : Rungs
        The scales of the data.
    build : callable
        The engine of a method and a target.

    Attributes
    ----------
    keeps : bool
        Whether engines are kept, because somebody may want to go back and climb again.
    """

    def __init__(self, method: Method, rungs: Rungs, build: Build) -> None:
        self.method, self.rungs, self.build = method, rungs, build
        self.precisions: tuple[float, ...] = ()
        self.keeps = False
        self._kept: dict[int, Engine] = {}

    def __len__(self) -> int:
        return len(self.rungs)

    def begin(self, Y: Array, target: Any) -> Engine:
        """The engine of the first rung, whose target was made already, for a map that starts at Y."""
        transferred = self.method.scales == "transfer"
        self.precisions = self.rungs.transferred() if transferred else self.rungs.precisions(Y)
        return self._engine(target)

    def at(self, rung: int) -> Engine:
        """The engine of a rung: the next one, or one that was kept."""
        if rung in self._kept:
            return self._kept[rung]
        engine = self._engine(self.rungs.climb())
        if self.keeps:
            self._kept[rung] = engine
        return engine

    def _engine(self, target: Any) -> Engine:
        entered = self.precisions[-self.rungs.entered :]
        return self.build(self.method._with(scales=entered), target)
