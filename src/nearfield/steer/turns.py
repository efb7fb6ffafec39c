"""Turns: one thread iterates, others give commands, and each waits for at most one iteration."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from nearfield.parallel import one_blas_thread

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Turns:
    """A lock that is fair: who iterates in a loop lets those in who wait, before the next iteration.

    A plain lock that is let go and taken again at once starves everybody else. Here one has to pass a door
    first, which whoever waits inside keeps shut.

    Examples
    --------
    >>> turns = Turns()
    >>> with turns.mine(), turns.mine():  # a thread may take its own turn again
    ...     turns.taken
    True
    """

    def __init__(self) -> None:
        self._door, self._inside = threading.Lock(), threading.Lock()
        self._owner: int | None = None

    @property
    def taken(self) -> bool:
        """Whether it is somebody's turn now."""
        return self._owner is not None

    @contextmanager
    def mine(self) -> Iterator[None]:
        """Wait for one's turn, and hold it."""
        me = threading.get_ident()
        if self._owner == me:
            yield
            return
        with self._door:
            self._inside.acquire()
        self._owner = me
        try:
            yield
        finally:
            self._owner = None
            self._inside.release()


def in_turn(
    command: Callable[Concatenate[Any, Given], Result],
) -> Callable[Concatenate[Any, Given], Result]:
    """A method of whoever owns `_turns`, which waits for the iteration that is under way."""

    @wraps(command)
    def waiting(self: Any, *arguments: Given.args, **keywords: Given.kwargs) -> Result:
        with self._turns.mine(), one_blas_thread():
            return command(self, *arguments, **keywords)

    return waiting
