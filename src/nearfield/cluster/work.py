"""What a worker does, in one long task: its rows, their neighbours, its start, and then iterations.

All workers of a job do the same at the same time. What they have to know of each other they ask `Members`;
engine, problem and descent are those of a single machine, with a share of the points.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from distributed import Worker, get_worker

from nearfield.algebra.method import Method
from nearfield.cluster.dealing import dealt
from nearfield.cluster.job import Done, Job
from nearfield.cluster.keeping import Keeper
from nearfield.cluster.letters import Ended
from nearfield.cluster.members import Members
from nearfield.cluster.pinning import Pinned
from nearfield.cluster.post import post_here
from nearfield.cluster.target import Target
from nearfield.descent.descent import RECORD, Descent
from nearfield.descent.finish import ceilings
from nearfield.descent.guide import TSNE, Guide, needs_guide
from nearfield.descent.health import diagnosis
from nearfield.descent.schedule import Stop
from nearfield.descent.setup import Setup, start_spread
from nearfield.descent.stages import Stages
from nearfield.descent.starts import principal_components
from nearfield.engine.mesh.one_scale import Mesh
from nearfield.parallel import one_blas_thread
from nearfield.typing import Array


def work(job: Job, rank: int, firsts: list[int], chunks: list[Any], init: Any = None) -> Done | None:
    """Make a share of a map, from some blocks of rows, and the number of the first row of each.

    None if the job was called off, or a letter lost.
    """
    post = post_here()
    together = Members(post, job.name, rank, job.addresses)
    try:
        blocks = [(first, np.asarray(chunk)) for first, chunk in zip(firsts, chunks, strict=True)]
        here = Here(job, get_worker())
        return Maker(job, together, blocks, init, here).made()
    except Ended:
        return None
    finally:
        post.close(job.name)


class Here:
    """The worker on which a task runs.

    Attributes
    ----------
    threads : int
        That it may use.
    """

    def __init__(self, job: Job, worker: Worker) -> None:
        self._topic, self._worker, self._key = job.topic, worker, worker.get_current_task()
        self.threads = int(worker.state.nthreads)

    @property
    def is_wanted(self) -> bool:
        """Whether anybody waits for the task: its client has not gone."""
        task = self._worker.state.tasks.get(self._key)
        return task is not None and task.state == "executing"

    def tell(self, told: dict[str, Any]) -> None:
        """Let the client know a few numbers."""
        self._worker.log_event(self._topic, told)


class Maker:
    """A worker's share of a job.

    Parameters
    ----------
    job : Job
        What is asked for.
    together : Members
        The workers.
    blocks : list of (int, array)
        Rows of the data, each block with the number of its first.
    init : array (points, dimensions), optional
        The start of all points.
    here : Here, optional
        The worker of Dask, who tells the client how far it is.
    """

    @one_blas_thread()
    def __init__(
        self, job: Job, together: Members, blocks: list[tuple[int, Any]], init: Any, here: Here
    ) -> None:
        self.job, self.together, self.here = job, together, here
        settings = job.settings
        self.n_jobs = settings.n_jobs or here.threads
        with together.sending("rows"):
            self.rows = dealt(blocks, together, self.n_jobs, by_place=job.by_place)
            self.target = Target.of(self.rows, job.method, settings.perplexity, self.n_jobs)
            Y = self._start(init)
        self.descent = Descent(self._setup(Y), job.optimizer, settings)
        self.pinned = Pinned(self.descent, self.rows.numbers, together)
        self.keeper: Keeper | None = None
        if job.checkpoint is not None and job.fingerprint is not None:
            self.keeper = Keeper(job.checkpoint, job.fingerprint, together, self.rows.numbers)
            state = self.keeper.read(self.descent)
            if state is not None:
                self.descent.resume(state)

    # Before the first iteration -----------------------------------------------------------------------------

    def _engine(self, method: Method, P: Any) -> Mesh:
        return Mesh(method, P, self.n_jobs, self.job.settings.accuracy, None, self.target.share)

    def _setup(self, Y: Array) -> Setup:
        method, target = self.job.method, self.target
        engine = self._engine(method, target.P)
        stages = Stages(engine)
        small = self.together.spread(Y) < method.require_kernel().width
        if self.job.settings.optimizer == "auto" and needs_guide(method) and small:
            joint = target.joint * target.joint.dtype.type(0.5 / self.rows.places.total)
            if method.target_kind == "weights":
                joint = target.P * target.P.dtype.type(1 / engine.mass)
            stages = Guide(engine, self._engine(TSNE, joint), self.job.settings.attraction)
        return Setup(method, stages, Y, target.p_sums)

    def _start(self, init: Any) -> Array:
        """The first positions of the own points."""
        settings, spread = self.job.settings, start_spread(self.job.method)
        if init is not None:
            return np.asarray(init, dtype=np.float64)[self.rows.numbers]
        if settings.init == "random":
            random = np.random.RandomState([self.job.seed, self.together.rank])
            Y = random.standard_normal((self.rows.places.n, settings.n_components))
        else:
            random = np.random.RandomState(self.job.seed)
            Y = principal_components(
                self.rows.X, settings.n_components, random, self.n_jobs, together=self.together
            )
        first = self.together.spread(Y[:, 0])
        return Y if spread is None or first == 0 else Y * (spread / first)

    # Iterations ---------------------------------------------------------------------------------------------

    @one_blas_thread()
    def made(self) -> Done:
        """Iterate until nothing is gained any more, and hand back the map."""
        descent, job = self.descent, self.job
        usual = descent.usual_stop()
        honest = usual if job.tol is None else Stop(job.tol, usual.patience)
        early = descent.quick_stop() if job.quick else honest
        ended = stopped = False
        clock, began_at = time.perf_counter(), descent.iteration
        for ceiling in ceilings(self.pinned, job.max_iter, job.pins):  # type: ignore[arg-type]
            ended = False
            while descent.iteration < ceiling and not ended and not stopped:
                self._ten(ceiling)
                stopped = bool(self.together.sum(int(self.together.box.stopping or not self.here.is_wanted)))
                ended = not stopped and descent.is_flat(early)
            if stopped:
                break
        descent.record()
        seconds = (time.perf_counter() - clock) / max(1, descent.iteration - began_at)
        trouble = self._diagnosis()
        converged = ended and (not job.quick or descent.is_flat(honest)) and trouble is None
        return self._done({"converged": converged, "seconds": seconds, "trouble": trouble})

    def _ten(self, ceiling: int) -> None:
        """Make ten iterations, keep the map if that is due, and tell of them."""
        descent, before, began = self.descent, self.descent.iteration, time.perf_counter()
        for _ in range(min(RECORD - before % RECORD, ceiling - before)):
            descent.iterate()
        seconds, trouble = (time.perf_counter() - began) / (descent.iteration - before), None
        if self.keeper is not None and descent.iteration % self.job.every == 0:
            trouble = self.keeper.write(descent)
        if self.together.leads:
            told: dict[str, Any] = {name: values[-1] for name, values in descent.history.items()}
            told |= {"iteration": descent.iteration, "seconds": seconds, "bytes": self._bytes()}
            told = {name: float(value) for name, value in told.items()}
            self.here.tell(told | {"trouble": trouble})

    def _diagnosis(self) -> str | None:
        """What is wrong with the map, if anything is."""
        descent, settings = self.descent, self.job.settings
        if descent.is_guided:
            return f"the map has not unfolded: make more than {descent.iteration} iterations"
        return diagnosis(
            descent.problem.engine,
            descent.Y,
            descent.cost,
            descent.method,
            learning_rate=descent.learning_rate if descent.phases[-1].optimizer == "momentum" else None,
            automatic=isinstance(settings.learning_rate, str),
            iterations=descent.iteration,
            attraction=settings.attraction,
        )

    def _bytes(self) -> float:
        """What this worker sends in an iteration, so far."""
        sent = sum(self.together.sent.values()) - self.together.sent["rows"]
        return sent / max(1, self.descent.iteration)

    def _done(self, found: dict[str, Any]) -> Done:
        descent, problem = self.descent, self.descent.problem
        method, Y = descent.method, descent.Y
        S, bracket = descent.own_engine.sums(Y, method)
        sent = {name: each / max(1, descent.iteration) for name, each in self.together.sent.items()}
        traits = self.target.traits
        of_points = {name: getattr(traits, name) for name in ("beta", "nearest", "total")}
        if np.ndim(S):
            of_points |= {"S": S, "bracket": bracket}
        told = {
            "history": descent.history,
            "iteration": descent.iteration,
            "cost": descent.cost,
            "learning_rate": descent.learning_rate,
            "method": method,
            "S": None if np.ndim(S) else S,
            "bracket": None if np.ndim(S) else bracket,
            "unit": traits.unit,
            "recall": self.target.recall,
            "how": self.target.how,
            **found,
        }
        own = {
            "points": self.rows.places.n,
            "halo": len(self.target.share.halo),
            "edges": self.target.P.nnz,
            "rows": sent.pop("rows") * max(1, descent.iteration),
            "sent": sent,
            "nodes": problem.engine.field.shape,  # type: ignore[attr-defined]
        }
        if self.job.stays:  # and nobody places rows in it
            of_points = {}
        columns = self._in_order([Y, *of_points.values()])
        return Done(columns[0], dict(zip(of_points, columns[1:], strict=True)), told, own)

    def _in_order(self, columns: list[Any]) -> list[Any]:
        """Values of points in the order of the data: the first worker has the first rows, and so on."""
        together, numbers, n = self.together, self.rows.numbers, self.job.n
        cuts = np.array([n * rank // together.size for rank in range(together.size + 1)])
        to = np.searchsorted(cuts, numbers, side="right") - 1
        rows = [np.flatnonzero(to == rank) for rank in range(together.size)]
        with together.sending("rows"):
            at = np.concatenate(together.exchanged([numbers[each] for each in rows])) - cuts[together.rank]
            found = []
            for values in columns:
                parts = np.concatenate(together.exchanged([values[each] for each in rows]))
                out = np.empty_like(parts)
                out[at] = parts
                found.append(out)
        return found
