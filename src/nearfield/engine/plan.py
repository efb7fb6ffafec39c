"""The plan: which engine evaluates a method, why, and what it will need; decided by facts alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.affinity.graph import near
from nearfield.affinity.perplexity import DEFAULT
from nearfield.affinity.strata import count, pay
from nearfield.algebra.method import Method
from nearfield.algebra.transforms import Square
from nearfield.engine.closed import has_closed_form
from nearfield.engine.field import MOST
from nearfield.engine.moments import squares_differ
from nearfield.engine.pairs import offsets
from nearfield.threads import threads

ENGINES = ("auto", "exact", "mesh", "moments", "pairs")
MESH_FROM = 1000  # points, below which all pairs are as quick
PAIRS_FROM = 5000  # points of a cost of distances, below which all pairs take seconds
SLOW = 1.0  # seconds an iteration from which on a person should know beforehand

# What was measured, on the generous side.
NEIGHBOUR = 36  # bytes: what a neighbour takes while the graph is made
EDGE = 12  # bytes: what is kept of it
MERGED = 1.6  # edges for each neighbour, at most, after symmetrising
TIED = 1500  # bytes: what a coordinate takes while the ties of all chunks are computed
DRAWN = 120  # bytes: what a pair that was drawn takes while the target is made
NODE = 50  # bytes of the grid
NODES = {1: 10, 2: 30, 3: 1000}  # for each point, while the map unfolds
PAIR, CLOSED_PAIR = 70e-9, 16e-9  # seconds of one thread: the chain, and the closed forms
SMALL = 2**23  # bytes: whatever has no term of its own


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
        The bytes that it will need at most, the target included.
    seconds : float
        What an iteration over all pairs takes, roughly; 0 where nothing grows with their number.
    """

    engine: str
    reason: str
    memory: int
    seconds: float = 0.0

    @property
    def is_slow(self) -> bool:
        """Whether an iteration takes so long that a person should know before it starts."""
        return self.seconds > SLOW

    def __str__(self) -> str:
        return f"{self.engine} engine, {self.reason} ({size(self.memory)})"


def plan(
    method: Method,
    n: int,
    n_components: int,
    engine: str = "auto",
    *,
    euclidean: bool = False,
    columns: int = 0,
    stored: int | None = None,
    perplexity: Any = None,
    weighted: bool = False,
    scales: int = 1,
    drawable: bool = True,
) -> Plan:
    """Choose an engine for a method and n points, or refuse with a figure what would not fit.

    Parameters
    ----------
    method : Method
        What is minimised.
    n, n_components : int
        The points, and the dimensions of their map.
    engine : {"auto", "exact", "mesh", "moments", "pairs"}
        What was asked for.
    euclidean : bool
        Whether the data are coordinates whose Euclidean distances are meant.
    columns : int
        How many columns they have.
    stored : int, optional
        How many numbers sparse data hold.
    perplexity : float or array, optional
        How many neighbours a point has, which the memory of their graph goes by.
    weighted : bool
        Whether points stand for several copies each, which neither moments nor closed forms know.
    scales : int
        How many perplexities P is averaged over.
    drawable : bool
        Whether neighbours of every rank can be drawn: not from a graph or a P that is given.

    Examples
    --------
    >>> import nearfield as nf
    >>> print(plan(nf.method("tsne"), 500, 2))
    exact engine, all pairs of 500 points in float64 (8 MB)
    >>> print(plan(nf.method("tsne"), 70_000, 2))
    mesh engine, edges and field: KL has a finite limit at p = 0 (263 MB)
    >>> print(plan(nf.method("sstress"), 70_000, 2, euclidean=True, columns=50))
    moments engine, exact without pairs: squared Euclidean distances are sums of moments (120 MB)
    >>> print(plan(nf.method("mds"), 70_000, 2))
    pairs engine, 2000 drawn pairs a point stand for all of them (526 MB)
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    all_pairs = _all_pairs(method, n, n_components, weighted, scales)
    obstacles = {
        "mesh": mesh_obstacle(method, n_components, weighted),
        "moments": moments_obstacle(method, euclidean, weighted),
        "pairs": pairs_obstacle(method, weighted, drawable),
    }
    obstacle = obstacles.get(engine)
    if obstacle:
        raise ValueError(
            f"the {engine} engine cannot compute this: {obstacle}; use engine='exact'"
            f" ({size(all_pairs.memory)}, about {duration(all_pairs.seconds)} an iteration)"
        )
    if engine == "moments" or (engine == "auto" and obstacles["moments"] is None):
        numbers = n * columns if stored is None else 2 * stored
        memory = 24 * numbers + 200 * n * n_components + SMALL
        reason = "exact without pairs: squared Euclidean distances are sums of moments"
        return _fitting(Plan("moments", reason, memory))
    if engine == "mesh" or (engine == "auto" and obstacles["mesh"] is None and n >= MESH_FROM):
        memory = _mesh_memory(method, n, n_components, columns, perplexity, scales)
        reason = f"edges and field: {type(method.cost).__name__} has a finite limit at p = 0"
        return _fitting(Plan("mesh", reason, memory))
    if engine == "pairs" or (engine == "auto" and obstacles["pairs"] is None and n >= PAIRS_FROM):
        reason = f"{2 * offsets(n)} drawn pairs a point stand for all of them"
        memory = (
            4 * n * offsets(n) + TIED * n * n_components + 24 * n * columns + 200 * n * n_components + SMALL
        )
        return _fitting(Plan("pairs", reason, memory))
    reason = all_pairs.reason
    if n >= MESH_FROM:
        obstacle = obstacles["pairs" if method.kernel is None else "mesh"]
        because = f", because {obstacle}" if obstacle else ""
        reason += f"{because}; about {duration(all_pairs.seconds)} an iteration"
    return _fitting(Plan("exact", reason, all_pairs.memory, all_pairs.seconds), n)


def mesh_obstacle(method: Method, n_components: int, weighted: bool = False) -> str | None:
    """The fact that keeps a method from the mesh engine, or None."""
    kernel, cost = method.kernel, method.cost
    if kernel is None:
        return "a cost of distances ties every pair"  # see the pairs engine
    terms = cost.limit()
    if terms is None:
        return f"{type(cost).__name__} does not declare its limit at p = 0"
    if any(term.grows for term in terms):
        return f"the repulsion of {cost!r} grows with the distance"
    if method.precisions != (1.0,) or method.climbs:
        obstacle = _scales_obstacle(method)
        if obstacle:
            return obstacle
    if method.normalization == "joint" or not kernel.symmetric:
        return "a kernel that is not symmetric makes no potential"
    if not kernel.radial:
        return f"{kernel!r} depends on more than the distance"
    if weighted and method.precisions != (1.0,):
        return "several scales know of no weights"
    massive = kernel.profile is not kernel
    if massive and (method.normalization != "pair" or not all(term.constant for term in terms)):
        return "masses of points are for pair normalization and a constant limit only"
    if method.learned and method.normalization == "point":
        return "parameters are learned with pair normalization only"
    if method.transform != Square():
        return f"{method.transform!r} is not the squared distance"
    if n_components > 3:
        return f"a grid in {n_components} dimensions has too many nodes"
    return None


def _scales_obstacle(method: Method) -> str | None:
    """The fact that keeps several precisions of a kernel from having fields."""
    terms = method.cost.limit() or ()
    if not all(term.constant for term in terms):
        return f"the limit of {type(method.cost).__name__} at p = 0 does not separate into scales"
    if method.normalization == "none":
        return "bare weights of several scales do not separate"
    if method.kernel is None or method.kernel.tail is None or method.learned:
        return f"{method.kernel!r} is not of the heavy-tailed family, with parameters that are known"
    return None


def pairs_obstacle(method: Method, weighted: bool = False, drawable: bool = True) -> str | None:
    """The fact that keeps a method from the pairs engine, or None."""
    if method.kernel is not None:
        return f"{method} is no cost of distances"
    if method.normalization != "none":
        return "normalized distances are tied all together"
    if weighted:
        return "it knows of no weights of points"
    if not drawable:
        return "it needs data or all distances, and a start other than 'spectral'"
    return None


def moments_obstacle(method: Method, euclidean: bool, weighted: bool = False) -> str | None:
    """The fact that keeps a method from the moments engine, or None."""
    if not squares_differ(method):
        return f"{method} is not the squared difference of squared distances"
    if weighted:
        return "it knows of no weights of points"
    if not euclidean:
        return "it needs coordinates, metric 'euclidean' and a start other than 'spectral'"
    return None


def _all_pairs(
    method: Method, n: int, n_components: int, weighted: bool = False, perplexities: int = 1
) -> Plan:
    """What the exact engine takes: the target, a working copy while it is made, and what threads hold.

    Of several perplexities the distances are kept as well, and the sum over those that have entered.
    """
    scales = perplexities if method.climbs else len(method.precisions)
    matrices = 2 if perplexities == 1 else 4
    memory = 8 * matrices * n * n + 16 * 8 * n * n_components * (1 + scales) + 2**22
    closed = has_closed_form(method) and scales == 1 and not weighted
    pair = CLOSED_PAIR if closed else PAIR * (1 + scales) / 2
    return Plan("exact", f"all pairs of {n} points in float64", memory, pair * n * n / threads(None))


def _mesh_memory(
    method: Method, n: int, n_components: int, columns: int, perplexity: Any, scales: int = 1
) -> int:
    """The most of what is there at once: the graph while it is made, or its edges and the grid.

    Several perplexities, and large ones, take strata of neighbours in its place.
    """
    given = isinstance(perplexity, (Real, np.ndarray))  # whatever else it is, is refused elsewhere
    most = near(method) * (float(np.max(perplexity, initial=1.0)) if given else DEFAULT)
    found, drawn = n * min(n - 1, most), n * count(n)
    if scales > 1 or pay(n, int(found / n)):
        fields = min(NODES.get(n_components, 0) * n, MOST) * (1 + scales // 2)
        return int(DRAWN * drawn + 24 * n * columns + NODE * fields) + 400 * n * n_components * scales + SMALL
    graph = NEIGHBOUR * found + 24 * n * columns
    edges = EDGE * MERGED * found * (1 if method.bounded_cross_entropy else 2)  # a guide has its own
    grid = edges + NODE * min(NODES.get(n_components, 0) * n, MOST)
    return int(max(graph, grid)) + 200 * n * n_components + SMALL


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


def available_memory() -> int | None:
    """The bytes that a program may still take; None where the system does not tell."""
    found = [free for free in (_free_memory(), _free_in_container()) if free is not None]
    return min(found, default=None)


def _free_memory() -> int | None:
    """What the machine has left, with the caches that Linux gives back on demand."""
    try:
        with open("/proc/meminfo") as lines:
            fields = dict(line.split(":") for line in lines)
        return 1024 * int(fields["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _free_in_container(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """What the limit of a container leaves (cgroups, version 2 or 1); None where there is no limit."""
    for limit, used, folder in (
        ("memory.max", "memory.current", root),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", root / "memory"),
    ):
        try:
            most, now = (int((folder / name).read_text()) for name in (limit, used))
            statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        except (OSError, ValueError):  # no such limit: its file is missing, or says "max"
            continue
        # Files that are cached count as used, but are given back on demand.
        return max(0, most - now + int(statistics.get("inactive_file", 0)))
    return None


def duration(seconds: float) -> str:
    """Seconds as a person reads them.

    Examples
    --------
    >>> duration(0.02), duration(3.2), duration(400)
    ('20 ms', '3 s', '7 min')
    """
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{max(1, round(1000 * seconds))} ms"


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
