"""Engines that follow one another in a descent: one alone, those of a ladder, or a guide's and one's own."""

from __future__ import annotations

from nearfield.engine.base import Engine
from nearfield.typing import Array


class Stages:
    """One engine alone; others build on it.

    Parameters
    ----------
    engine : Engine
        Of the first stage.

    Attributes
    ----------
    guide : Engine or None
        What lays the map out before the method's own engine takes over.
    """

    guide: Engine | None = None

    def __init__(self, engine: Engine) -> None:
        self.first = engine

    def __len__(self) -> int:
        return 1

    def enter(self, stage: int) -> Engine:
        """The engine of a stage, counting from 0, which may be built now; stages are entered in order."""
        return self.first

    def own(self, engine: Engine) -> Engine:
        """The method's own engine, while this one is at work."""
        return engine

    def resized(self, Y: Array) -> Array:
        """The map at the size at which the next stage takes it over."""
        return Y

    def keep(self) -> None:
        """Keep engines that were left, because somebody may want to go back to them."""
