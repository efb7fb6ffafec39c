"""`nearfield.cluster.fit`: a job is done on the workers that there are, and a fitted map comes back."""

from __future__ import annotations

import pydoc
import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from nearfield import __version__
from nearfield.affinity.source import Source
from nearfield.affinity.traits import Traits
from nearfield.algebra.method import Method
from nearfield.cluster.asking import Asked
from nearfield.cluster.data import Data
from nearfield.defaults import MAX_ITER
from nearfield.descent.placing import reference
from nearfield.descent.progress import Progress
from nearfield.descent.settings import check
from nearfield.engine.base import Engine
from nearfield.engine.memory import available_memory, size
from nearfield.estimators import Embedder
from nearfield.typing import Array

LOCK = "nearfield"  # by which one job waits for another
LOCATED = "nearfield.__version__"  # on the workers


def fit(
    X: Any,
    method: str | Method = "tsne",
    *,
    client: Any,
    checkpoint: Any = None,
    as_dask: bool = False,
    **options: Any,
) -> Embedder:
    """Make a map of all rows on all workers of a Dask cluster.

    Rows are dealt out by where they lie in the data, and each worker iterates on its own points. What travels
    from worker to worker at an iteration is the grid, whose size does not go with the number of workers, a
    few numbers, and the positions of neighbours that live elsewhere; nothing goes through scheduler or client
    but how far it is.

    Parameters
    ----------
    X : array, memory-mapped array or Dask array (points, columns)
        The data. Rows of an array here are sent to the workers block by block; chunks of a Dask array are
        taken from where they are.
    method : str or Method
        A name of the catalogue or a composition, one that the mesh engine can do, with one scale.
    client : distributed.Client
        Of any cluster whose workers have this version of nearfield.
    checkpoint : path-like or URL, optional
        A folder, or a URL that fsspec knows, where all workers can write: the map is kept there every 50
        iterations, and goes on from there if a worker dies, or if the same is asked for again.
    as_dask : bool
        Whether `embedding_` is to be a Dask array, which stays on the workers; then it places no new rows.
    **options
        Those of `nearfield.Embedder`.

    Returns
    -------
    Embedder
        Fitted. Beside its usual results it has `cluster_`, a dict: what the workers had, and what they sent.
    """
    model = Embedder(method, **options)
    check(model)
    asked = Asked.of(method, Data(X), model)
    if model.pins and checkpoint is not None:
        raise ValueError("a checkpoint does not hold pins yet: leave out one or the other")
    _check_client(client)
    with _alone(client):
        found = made(client, asked, model, checkpoint, stays=as_dask)
    return found.into(model)


def _check_client(client: Any) -> None:
    """Refuse a client that is gone, and workers that could not do it."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "nearfield.cluster needs Dask: install nearfield with the extra 'cluster', as in"
            " pip install 'nearfield[cluster]'"
        ) from error
    if not isinstance(client, Client):
        raise TypeError(f"client must be a distributed.Client, got {type(client).__name__}")
    if client.asynchronous:
        raise TypeError("client must not be asynchronous: make one with asynchronous=False")
    if client.status != "running":
        raise ValueError(f"the client is gone (it is {client.status}): connect a new one to the cluster")
    versions = client.run(pydoc.locate, LOCATED)
    if not versions:
        raise ValueError("the cluster has no workers: scale it up, or wait for them")
    for address, version in versions.items():
        if version is None:
            raise ValueError(f"the worker {address} has no nearfield: install version {__version__} there")
        if version != __version__:
            raise ValueError(
                f"the worker {address} has nearfield {version}, and the client {__version__}: use one"
            )


@contextmanager
def _alone(client: Any) -> Iterator[None]:
    """Wait for other jobs on the same cluster: tasks of two that each wait for their others would block."""
    from distributed import Lock

    with client.as_current(), Lock(LOCK):
        yield


@dataclass(frozen=True, eq=False)
class Heard:
    """How far a job is, as a callback sees it.

    Attributes
    ----------
    iteration : int
        How many iterations were made.
    seconds, bytes : float
        What one of them takes now, and what a worker has sent in one on average.
    """

    told: dict[str, Any]

    @property
    def iteration(self) -> int:
        return int(self.told["iteration"])

    @property
    def seconds(self) -> float:
        return float(self.told["seconds"])

    @property
    def bytes(self) -> float:
        return float(self.told["bytes"])

    def latest(self, name: str) -> float:
        """The last value of a column of the history."""
        return float(self.told[name])


@dataclass(frozen=True, eq=False)
class Found:
    """A map that workers have made, with what is to be said of it; see `_MapEstimator._keep`."""

    asked: Asked
    done: list[Any]
    interrupted: bool
    restarts: int

    @property
    def told(self) -> dict[str, Any]:
        """What all workers know alike."""
        return self.done[0].told

    @cached_property
    def Y(self) -> Any:
        """The map, of the rows in their order."""
        parts = [each.Y for each in self.done]
        if isinstance(parts[0], np.ndarray):
            return np.concatenate(parts)
        import dask.array as da

        n, dimensions = self.asked.data.n, self.asked.settings.n_components
        cuts = [n * rank // len(parts) for rank in range(len(parts) + 1)]
        return da.concatenate(
            [
                da.from_delayed(part, (hi - lo, dimensions), np.float64)
                for part, (lo, hi) in zip(parts, pairwise(cuts), strict=True)
            ]
        )

    cost = property(lambda self: self.told["cost"])
    iteration = property(lambda self: self.told["iteration"])
    method = property(lambda self: self.told["method"])
    learning_rate = property(lambda self: self.told["learning_rate"])
    plan = property(lambda self: self.asked.plan(len(self.done)))

    @property
    def history(self) -> dict[str, Array]:
        return {name: np.array(values) for name, values in self.told["history"].items()}

    @cached_property
    def source(self) -> Source:
        """The rows, as new ones are compared with them; none, if they cannot be here."""
        X = np.zeros((0, self.asked.data.columns)) if self._obstacle else np.asarray(self.asked.data.X)
        return Source.of(X, n_jobs=self.asked.settings.n_jobs)

    @cached_property
    def _obstacle(self) -> str | None:
        """Why new rows cannot be placed."""
        data, free = self.asked.data, available_memory()
        if not isinstance(self.Y, np.ndarray):
            return "new rows are placed by a client that has the map: fit with as_dask=False"
        if free is not None and 16 * data.n * data.columns > free:
            return f"new rows are placed by a client that has all rows: {size(8 * data.n * data.columns)}"
        return None

    def reference(self) -> Any:
        """What new rows are placed by."""
        if self._obstacle:
            return Elsewhere(self._obstacle)
        of_points = {
            name: np.concatenate([each.of_points[name] for each in self.done])
            for name in self.done[0].of_points
        }
        S = of_points.pop("S", self.told["S"])
        bracket = of_points.pop("bracket", self.told["bracket"])
        settings, traits = self.asked.settings, Traits(unit=self.told["unit"], **of_points)
        return reference(
            Summed(S, bracket),
            self.method,
            self.Y,
            self.source,
            traits,
            settings.perplexity,
            settings.attraction,
        )

    @property
    def _interruption(self) -> str | None:
        told = f"interrupted at iteration {self.iteration}: this is the map so far"
        return told if self.interrupted else None

    def into(self, model: Embedder) -> Embedder:
        """The estimator, fitted."""
        model.n_features_in_ = self.asked.data.columns
        run: Any = self  # what there is to be known of one
        model._keep(run, self.told["converged"], self.interrupted)
        for trouble in filter(None, (self._interruption, self.told["trouble"])):
            warnings.warn(trouble, UserWarning, stacklevel=3)
        model.cluster_ = {
            "workers": [each.own for each in self.done],
            "seconds": self.told["seconds"],
            "neighbours": self.told["how"],
            "recall": self.told["recall"],
            "restarts": self.restarts,
        }
        return model


@dataclass(frozen=True)
class Elsewhere:
    """What places no rows, because map or data are not here."""

    obstacle: str
    fitted: None = None

    def transform(self, rows: Any) -> Any:
        """Refuse to."""
        raise ValueError(self.obstacle)

    place = transform


class Summed(Engine):
    """The sums that workers have found, for rows that are new in the map."""

    matches = "neighbours"

    def __init__(self, S: Any, bracket: Any) -> None:
        self._sums = S, bracket

    def sums(self, Y: Any, method: Any = None) -> tuple[Any, Any]:
        return self._sums


def made(
    client: Any,
    asked: Asked,
    model: Embedder,
    checkpoint: Any,
    *,
    stays: bool = False,
    by_place: bool = True,
) -> Found:
    """The map, on the workers that there are; if some are lost, once more on those that are left.

    With `by_place` False rows are dealt out at random, to be compared with.
    """
    from nearfield.cluster.job import Job
    from nearfield.cluster.post import Post
    from nearfield.cluster.watching import Lost, watched

    client.register_plugin(Post())
    most = MAX_ITER if model.max_iter is None else model.max_iter
    init = None if asked.init is None else client.scatter(asked.init, broadcast=True)
    restarts = 0
    with Progress(most, f"nearfield.cluster of {asked.data.n} points", bool(model.verbose)) as progress:

        def heard(told: dict[str, Any]) -> bool:
            at = Heard(told)
            if told["trouble"]:
                warnings.warn(
                    f"no checkpoint was written at iteration {at.iteration}, the one before it stays:"
                    f" {told['trouble']}",
                    UserWarning,
                    stacklevel=2,
                )
            progress(at)
            return model.callback is not None and bool(model.callback(at))

        while True:
            addresses = tuple(sorted(client.nthreads()))
            if not addresses:
                raise ConnectionError(
                    "all workers are gone: the job ends here; start others, and call it again"
                )
            asked.check_workers(len(addresses))
            job = Job(
                secrets.token_hex(6),
                addresses,
                asked.method,
                asked.optimizer,
                asked.settings,
                asked.seed,
                asked.data.n,
                most,
                model.pins,
                model.tol,
                bool(model.quick),
                None if checkpoint is None else str(checkpoint),
                fingerprint=None if checkpoint is None else asked.fingerprint,
                stays=stays,
                by_place=by_place,
            )
            try:
                blocks = asked.data.dealt_to(client, addresses)
                done, interrupted = watched(client, job, blocks, init, heard)
            except Lost as lost:
                warnings.warn(f"{lost}: going on with the workers that are left", UserWarning, stacklevel=3)
                restarts += 1
                continue
            return Found(asked, done, interrupted, restarts)
