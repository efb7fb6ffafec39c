"""The plan: which engine evaluates a method, why, and what it will need; decided by facts alone."""

from __future__ import annotations

import os
from dataclasses import dataclass

from nearfield.algebra.method import Method
from nearfield.algebra.transforms import Square

ENGINES = ("auto", "exact", "mesh")
MESH_FROM = 1000  # points, below which all pairs are as quick
EDGES = 130  # a point, at the usual perplexity and after symmetrising


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
    >>> print(plan(nf.method("tsne"), 500, 2))
    exact engine, all pairs of 500 points in float64 (8 MB)
    >>> print(plan(nf.method("tsne"), 70_000, 2))
    mesh engine, edges and field: KL has a finite limit at p = 0 (260 MB)
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    obstacle = mesh_obstacle(method, n_components)
    if engine == "mesh" and obstacle:
        raise ValueError(f"the mesh engine cannot compute this: {obstacle}; use engine='exact'")
    if engine == "mesh" or (engine == "auto" and obstacle is None and n >= MESH_FROM):
        # P on the graph, the neighbours that it is made from, and the grid.
        memory = n * EDGES * 20 + n * n_components * 200 + 3 * 2**24
        reason = f"edges and field: {type(method.cost).__name__} has a finite limit at p = 0"
        return _fitting(Plan("mesh", reason, memory))
    # The target and one working copy of it while it is made; and what the threads hold.
    memory = 16 * n * n + 16 * 8 * n * n_components * (1 + len(method.scales or (1,))) + 2**22
    reason = f"all pairs of {n} points in float64"
    if obstacle and n >= MESH_FROM:
        reason += f", because {obstacle}; about {_seconds(n)} an iteration"
    return _fitting(Plan("exact", reason, memory), n)


def mesh_obstacle(method: Method, n_components: int) -> str | None:
    """The fact that keeps a method from the mesh engine, or None."""
    kernel, cost = method.kernel, method.cost
    if kernel is None:
        return "a cost of distances ties every pair"
    terms = cost.limit()
    if terms is None:
        return f"{type(cost).__name__} does not declare its limit at p = 0"
    if any(term.grows for term in terms):
        return f"the repulsion of {cost!r} grows with the distance"
    if method.scales:
        return "several scales have no fields here yet"
    if method.normalization == "joint" or not kernel.symmetric:
        return "a kernel that is not symmetric makes no potential"
    if not kernel.radial:
        return f"{kernel!r} depends on more than the distance"
    weighted = kernel.profile is not kernel
    if weighted and (method.normalization != "pair" or not all(term.constant for term in terms)):
        return "masses of points are for pair normalization and a constant limit only"
    if method.learned and method.normalization == "point":
        return "parameters are learned with pair normalization only"
    if method.transform != Square():
        return f"{method.transform!r} is not the squared distance"
    if n_components > 3:
        return f"a grid in {n_components} dimensions has too many nodes"
    return None


def _fitting(chosen: Plan, n: int | None = None) -> Plan:
    """The plan, or a refusal with a figure if the memory is not there."""
    free = available_memory()
    if free is None or chosen.memory <= free:
        return chosen
    fix = f"map a sample of at most {int((free / 16) ** 0.5)} points" if n else "map a sample of the points"
    raise MemoryError(
        f"the {chosen.engine} engine needs {size(chosen.memory)} ({chosen.reason}), and {size(free)} are"
        f" free: {fix}"
    )


def _seconds(n: int) -> str:
    """What an exact iteration takes, roughly, as a person reads it."""
    seconds = 5e-9 * n * n
    return f"{seconds:.0f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


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
