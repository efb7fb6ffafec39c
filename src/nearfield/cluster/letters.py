"""Letters, arrays that one worker has sent to another, and the boxes in which they wait to be asked for.

A box that has been ended wakes whoever waits.
"""

from __future__ import annotations

from threading import Condition
from typing import Any, Protocol

import numpy as np


class Ended(Exception):
    """A job that is over before its time: a worker was lost, or the client has called it off."""


class Box:
    """The letters of one job that have come to a worker, and what its client asks for."""

    def __init__(self) -> None:
        self._letters: dict[tuple[int, int], Any] = {}
        self._changed = Condition()
        self._ended: str | None = None
        self.stopping = False  # the client wants the map as it is

    def put(self, number: int, sender: int, values: Any) -> None:
        """A letter has come."""
        with self._changed:
            self._letters[number, sender] = values
            self._changed.notify_all()

    def end(self, why: str) -> None:
        """The job is over: wake whoever waits."""
        with self._changed:
            self._ended = self._ended or why
            self._changed.notify_all()

    def take(self, number: int, sender: int) -> Any:
        """The letter of this number, once it is there."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended is not None or (number, sender) in self._letters)
            if self._ended is not None:
                raise Ended(self._ended)
            return self._letters.pop((number, sender))


class Letters(Protocol):
    """Whoever takes letters to other workers; see `nearfield.cluster.post`."""

    def box(self, job: str) -> Box:
        """Where the letters of a job come in."""

    def send(self, address: str, job: str, number: int, sender: int, values: Any) -> None:
        """Send a letter, without waiting; the array must not change any more."""


def letter(values: Any) -> Any:
    """A copy that can be sent: whoever has the values may go on to change them."""
    return np.array(values, order="C", copy=True)
