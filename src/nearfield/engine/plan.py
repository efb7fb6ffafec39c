"""The plan: which engine evaluates a method, why, and what it will need; decided by facts alone."""

from __future__ import annotations

import os
from dataclasses import dataclass

from nearfield.algebra.method import Method

ENGINES = ("auto", "exact")


@dataclass(frozen=True)
class Plan:
    """What was chosen, and why.

    Attributes
    ----------
    engine : str
        The engine's name.
    reason : str
        Why this one.
    memory : int
        The bytes that it will need, the target included.
    """

    engine: str
    reason: str
    memory: int

    def __str__(self) -> str:
        return f"{self.engine} engine, {self.reason} ({size(self.memory)})"


def plan(method: Method, n: int, n_components: int, engine: str = "auto") -> Plan:
    """Choose an engine for a method and n points, or refuse with a figure what would not fit.

    Examples
    --------
    >>> import nearfield as nf
    >>> print(plan(nf.method("tsne"), 1000, 2))
    exact engine, all pairs of 1000 points in float64 (20 MB)
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    # The target and one working copy of it while it is made; and what the threads hold.
    memory = 16 * n * n + 16 * 8 * n * n_components * (1 + len(method.scales or (1,))) + 2**22
    free = available_memory()
    if free is not None and memory > free:
        raise MemoryError(
            f"the exact engine needs {size(memory)} for all pairs of {n} points, and {size(free)} are free:"
            f" map a sample of at most {int((free / 16) ** 0.5)} points"
        )
    return Plan("exact", f"all pairs of {n} points in float64", memory)


def available_memory() -> int | None:
    """The bytes that a program may still take; None where the system does not tell."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") + _cached()
    except (AttributeError, ValueError, OSError):
        return None


def _cached() -> int:
    """What Linux holds in its file cache and gives back on demand."""
    try:
        with open("/proc/meminfo") as lines:
            fields = dict(line.split(":") for line in lines)
    except OSError:
        return 0
    return 1024 * int(fields.get("Cached", "0 kB").split()[0])


def size(count: int) -> str:
    """Bytes as a person reads them.

    Examples
    --------
    >>> size(39_200_000_000)
    '39 GB'
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6)):
        if count >= factor:
            value = count / factor
            return f"{value:.1f} {unit}" if value < 10 and unit == "GB" else f"{value:.0f} {unit}"
    return f"{max(1, count // 1000)} kB"
