"""The kinds of cases. Another kind is another module with a function `case`, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from fuzz import engines, files, formulas, runs, steering, tables

KINDS: dict[str, Callable[[Random], list[str]]] = {
    "runs": runs.case,
    "engines": engines.case,
    "steering": steering.case,
    "files": files.case,
    "formulas": formulas.case,
    "tables": tables.case,
}


def drawn(kind: str, seed: int, number: int) -> list[str]:
    """The lines of a case: the same for the same three."""
    return KINDS[kind](Random(f"{kind} {seed} {number}"))
