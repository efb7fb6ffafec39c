"""The log: what a person did, and when. Doing it again from the start gives the same map, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One command.

    Attributes
    ----------
    iteration : int
        How many iterations had been made.
    command : str
        The name of the method of `Run`.
    arguments : dict
        What it was given.

    Examples
    --------
    >>> print(Entry(500, "settle", {"n": 250}))
    500: settle(n=250)
    """

    iteration: int
    command: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.iteration}: {self.command}({given})"
