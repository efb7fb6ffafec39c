"""The plan: which engine evaluates a method, why, and what it will need; decided by facts alone.

Each engine says what keeps it from a task, whether it pays, and what it takes. The first that can and pays is
the one; none of them is known here but by that.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import dataclass, field
from typing import Any

import nearfield.engine
from nearfield.algebra.method import Method
from nearfield.engine.base import Engine
from nearfield.engine.exact.chain import Exact
from nearfield.engine.memory import available_memory, duration, size
from nearfield.engine.task import Task


def _found() -> tuple[type[Engine], ...]:
    """The engines of this folder that may be chosen: every class with a summary of its own."""
    found = set()
    for module in pkgutil.walk_packages(nearfield.engine.__path__, "nearfield.engine."):
        if module.name != __name__:
            members = vars(importlib.import_module(module.name)).values()
            kinds = (each for each in members if inspect.isclass(each) and issubclass(each, Engine))
            found |= {kind for kind in kinds if vars(kind).get("summary")}
    return tuple(sorted(found, key=lambda kind: kind.precedence))


ENGINES = _found()  # the first that can and pays is the one; the last can everything
LARGE = 1000  # points, from which on a person should know why an engine over all pairs was chosen
SLOW = 1.0  # seconds an iteration from which on a person should know beforehand


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
    kind : type
        The engine's class.
    """

    engine: str
    reason: str
    memory: int
    seconds: float = 0.0
    kind: type[Engine] = field(default=Exact, repr=False)

    def facts(self) -> dict[str, Any]:
        """What a file has of it."""
        return {name: value for name, value in vars(self).items() if name != "kind"}

    @classmethod
    def of(cls, facts: dict[str, Any]) -> Plan:
        """From its facts; an engine that is not known is none over all pairs."""
        return cls(**facts, kind={kind.name: kind for kind in ENGINES}.get(facts["engine"], Exact))

    @property
    def complete(self) -> bool:
        """Whether all pairs have a part in the cost, and not some that stand for them."""
        return self.kind.complete

    @property
    def is_slow(self) -> bool:
        """Whether an iteration takes so long that a person should know before it starts."""
        return self.seconds > SLOW

    def __str__(self) -> str:
        return f"{self.engine} engine, {self.reason} ({size(self.memory)})"


def engines() -> tuple[str, ...]:
    """What may be asked for: "auto", or the name of an engine.

    Examples
    --------
    >>> engines()
    ('auto', 'exact', 'mesh', 'moments', 'pairs')
    """
    return ("auto", *sorted(kind.name for kind in ENGINES))


def in_words() -> str:
    """What each engine does, for those who choose one.

    Examples
    --------
    >>> print(in_words())
    moments: squared Euclidean distances without pairs; mesh: edges and field, near-linear;
    pairs: distances of drawn pairs; exact: all pairs in float64
    """
    return "; ".join(f"{kind.name}: {kind.summary}" for kind in ENGINES)


def plan(method: Method, n: int, n_components: int, engine: str = "auto", **facts: Any) -> Plan:
    """Choose an engine for a method and n points, or refuse with a figure what would not fit.

    Parameters
    ----------
    method : Method
        What is minimised.
    n, n_components : int
        The points, and the dimensions of their map.
    engine : str
        What was asked for: one of `engines()`.
    **facts
        Others of a `Task`.

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
    if engine not in engines():
        raise ValueError(f"engine must be one of {', '.join(engines())}, got {engine!r}")
    task = Task(method, n, n_components, **facts)
    if engine != "auto":
        kind = next(kind for kind in ENGINES if kind.name == engine)
        obstacle = kind.obstacle(task)
        if obstacle:
            last = ENGINES[-1]
            raise ValueError(
                f"the {engine} engine cannot compute this: {obstacle}; use engine={last.name!r}"
                f" ({size(last.memory(task))}, about {duration(last.seconds(task))} an iteration)"
            )
        return _fitting(kind, task)
    return next(_fitting(kind, task) for kind in ENGINES if kind.obstacle(task) is None and kind.pays(task))


def _fitting(kind: type[Engine], task: Task) -> Plan:
    """The plan of an engine, or a refusal with a figure if the memory is not there."""
    memory, seconds, reason = kind.memory(task), kind.seconds(task), kind.reason(task)
    if seconds and task.n >= LARGE:
        because = next(filter(None, (other.obstacle(task) for other in ENGINES if other.suits(task))), None)
        reason += f", because {because}" if because else ""
        reason += f"; about {duration(seconds)} an iteration"
    free = available_memory()
    if free is not None and memory > free:
        most = f"at most {int((free / 16) ** 0.5)} points" if seconds else "the points"
        raise MemoryError(
            f"the {kind.name} engine needs {size(memory)} ({reason}), and {size(free)} are free: map a"
            f" sample of {most}, landmarks=… of an estimator, in which others are placed"
        )
    return Plan(kind.name, reason, memory, seconds, kind)
