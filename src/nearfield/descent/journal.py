"""The journal of a run: its commands, and the states before them that can be gone back to."""

from __future__ import annotations

import copy
from collections import deque
from dataclasses import replace
from typing import Any

from nearfield.descent.beginning import Beginning
from nearfield.descent.descent import Descent
from nearfield.descent.state import State
from nearfield.engine.base import Engine
from nearfield.steer.log import Entry

KEPT = 50  # states that can be gone back to

Moment = tuple[Beginning, Descent, State, Engine]


class Journal:
    """Log, undo and redo; what the commands mean is not known here.

    Attributes
    ----------
    entries : list of Entry
        All commands so far.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._before: deque[Moment] = deque(maxlen=KEPT)
        self._undone: list[Moment] = []

    @property
    def log(self) -> list[Entry]:
        """All commands so far, with the iteration before which they came (a copy)."""
        return copy.deepcopy(self.entries)

    def write(self, iteration: int, command: str, arguments: dict[str, Any], now: Moment) -> None:
        """Write a command down, and keep the moment before it."""
        entry = Entry(iteration, command, copy.deepcopy(arguments))  # which may fail, and so comes first
        self._before.append(now)
        self._undone.clear()
        self.entries.append(entry)

    def amend(self, arguments: dict[str, Any]) -> Entry:
        """Go on with the last command, whose arguments are these from now on; it stays one to undo."""
        self.entries[-1] = replace(self.entries[-1], arguments=arguments)
        return self.entries[-1]

    def undo(self, iteration: int, now: Moment) -> Moment:
        """The moment before the last command; this one can be gone forward to again."""
        if not self._before:
            raise ValueError("there is nothing to undo")
        self._undone.append(now)
        self.entries.append(Entry(iteration, "undo"))
        return self._before.pop()

    def redo(self, iteration: int, now: Moment) -> Moment:
        """The moment that the last undo left."""
        if not self._undone:
            raise ValueError("there is nothing to redo")
        self._before.append(now)
        self.entries.append(Entry(iteration, "redo"))
        return self._undone.pop()
