"""What is asked for, checked before any worker hears of it; whatever cannot be done is refused in a line."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Self

import numpy as np

from nearfield.affinity.multiscale import scale_perplexities
from nearfield.affinity.perplexity import check_perplexity
from nearfield.affinity.targets import neighbour_count
from nearfield.algebra.catalogue import method as named
from nearfield.algebra.method import Method
from nearfield.cluster.data import Data
from nearfield.cluster.keeping import Fingerprint
from nearfield.descent.optimizers import choose
from nearfield.descent.schedule import check_attraction
from nearfield.descent.sessions import fingerprint, plain
from nearfield.descent.settings import Settings, shared
from nearfield.descent.starts import COLUMNS, check_positions, random_numbers
from nearfield.engine.mesh.one_scale import Mesh
from nearfield.engine.plan import Plan
from nearfield.engine.task import Task
from nearfield.typing import Array

FEWEST = 10  # rows for each worker: of fewer, one machine has the map before the workers know of it


@dataclass(frozen=True, eq=False)
class Asked:
    """A map that workers can make.

    Attributes
    ----------
    data : Data
        The rows.
    method : Method
        What is minimised.
    optimizer : str
        The name of the method's own.
    settings : Settings
        The options of the run.
    seed : int
        Of random starts.
    init : array (points, dimensions), optional
        The start, where it was given.
    """

    data: Data
    method: Method
    optimizer: str
    settings: Settings
    seed: int
    init: Array | None

    @classmethod
    def of(cls, method: str | Method, data: Data, options: Any) -> Self:
        """From a method and the options that some object has, or what cannot be done."""
        if isinstance(method, str) and method == "pca":
            raise ValueError("principal components need no cluster: use nearfield.Embedder('pca')")
        composition = named(method) if isinstance(method, str) else method
        settings = Settings(**shared(options))
        _check_settings(settings)
        _check_method(composition)
        if scale_perplexities(settings.perplexity, composition, data.n) is not None:
            raise ValueError("a cluster takes one perplexity: give a number, or use nearfield.Embedder")
        check_perplexity(settings.perplexity, data.n)
        check_attraction(composition, settings.attraction)
        asked = cls(
            data,
            composition,
            choose(settings.optimizer, composition),
            settings,
            int(random_numbers(settings.random_state).randint(2**31 - 1)),
            None
            if isinstance(settings.init, str)
            else check_positions(settings.init, data.n, settings.n_components),
        )
        if asked.init is not None and np.isnan(asked.init).any():
            raise ValueError("init has rows of NaN, and a cluster needs all positions: fill them in first")
        obstacle = Mesh.obstacle(asked._task(1))
        if obstacle:
            raise ValueError(f"a cluster cannot compute this: {obstacle}; use nearfield.Embedder")
        if data.columns > COLUMNS and settings.init == "pca":
            raise ValueError(
                f"principal components of {data.columns} columns take a cluster too long: reduce them"
            )
        return asked

    def _task(self, workers: int) -> Task:
        settings, n = self.settings, self.data.n
        perplexity = check_perplexity(settings.perplexity, n)[:1]
        k = neighbour_count(self.method, perplexity, n - 1)
        return Task(
            self.method,
            -(-n // workers),
            settings.n_components,
            euclidean=True,
            columns=self.data.columns,
            neighbours=k,
        )

    def plan(self, workers: int) -> Plan:
        """What computes the gradient, and what memory it takes of each of so many workers."""
        task = self._task(workers)
        return Plan("mesh", f"{Mesh.reason(task)}; on {workers} workers", Mesh.memory(task), kind=Mesh)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """By which a checkpoint of this map is known again."""
        options = {name: value for name, value in shared(self.settings).items() if name != "n_jobs"}
        options |= {"method": str(self.method), "random_state": None}
        options["init"] = self.settings.init if self.init is None else fingerprint(self.init)
        told = repr(sorted((name, plain(value)) for name, value in options.items()))
        return Fingerprint(fingerprint(self.data.X), hashlib.sha256(told.encode()).hexdigest())

    def check_workers(self, count: int) -> None:
        """Refuse more workers than there is work for."""
        if self.data.n < FEWEST * count:
            raise ValueError(f"{self.data.n} points are too few for {count} workers: use nearfield.Embedder")


def _check_settings(settings: Settings) -> None:
    if settings.metric != "euclidean" or settings.metric_params:
        raise ValueError(
            f"a cluster takes Euclidean distances of coordinates, not {settings.metric!r}: for cosine, scale"
            " rows to length 1"
        )
    if settings.supervision:
        raise ValueError("labels have no say on a cluster yet: leave supervision at 0")
    if settings.engine not in ("auto", "mesh"):
        raise ValueError(
            f"a cluster has the mesh engine alone, not {settings.engine!r}: leave engine at 'auto'"
        )
    if settings.perplexity is not None and not isinstance(settings.perplexity, (Real, str, list, tuple)):
        raise ValueError("a cluster takes one perplexity for all points: give a number")
    if isinstance(settings.init, str) and settings.init == "spectral":
        raise ValueError("a cluster does not compute the modes of a graph: use init='pca' or 'random'")
    if settings.optimizer not in ("auto", "momentum", "lbfgs"):
        raise ValueError(f"{settings.optimizer!r} does not run on a cluster: leave optimizer at 'auto'")


def _check_method(method: Method) -> None:
    """Refuse what a worker with some of the points could not compute, by the facts of the method."""
    if not isinstance(method, Method):
        raise TypeError(f"method must be a name of the catalogue or a nearfield.Method, got {method!r}")
    kernel, obstacle = method.kernel, None
    if kernel is None:
        obstacle = "a cost of distances ties every pair"
    elif method.precisions != (1.0,) or method.climbs:
        obstacle = "it has several scales in the map"
    elif kernel.profile is not kernel:
        obstacle = "its points have masses"
    elif method.cost.facts.bound:
        obstacle = "its points have charges"
    elif method.cost.facts.infinite_at_zero:
        obstacle = "its cost is infinite at p = 0, and asks for the p of strangers"
    if obstacle:
        raise ValueError(f"a cluster cannot compute {method}: {obstacle}; use nearfield.Embedder")
