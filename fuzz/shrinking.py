"""Smaller cases with the same defect."""

from __future__ import annotations

import time
from collections.abc import Callable

from fuzz.verdicts import Verdict


def shrunk(lines: list[str], same: Callable[[list[str]], bool], seconds: float = 60.0) -> list[str]:
    """Leave out lines, several at a time and then one by one, as long as the defect stays the same.

    Examples
    --------
    >>> shrunk(list("abcdef"), lambda lines: {"b", "e"} <= set(lines))
    ['b', 'e']
    """
    until = time.monotonic() + seconds
    size = max(1, len(lines) // 2)
    while True:
        before, k = len(lines), 0
        while k < len(lines):
            fewer = lines[:k] + lines[k + size :]
            if time.monotonic() > until:
                return lines
            if fewer and same(fewer):
                lines = fewer
            else:
                k += size
        if size == 1 and len(lines) == before:
            return lines
        size = max(1, size // 2)


def same_as(verdict: Verdict, judge: Callable[[list[str]], Verdict]) -> Callable[[list[str]], bool]:
    """Whether other lines end in the same defect."""
    return lambda lines: judge(lines).signature == verdict.signature
