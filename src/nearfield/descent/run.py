"""The live optimisation. Estimators, command line and notebooks all drive this one object."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np

from nearfield.affinity.copies import check_weights
from nearfield.affinity.given import as_matrix
from nearfield.algebra.catalogue import method as named
from nearfield.algebra.method import Method
from nearfield.algebra.parts import Array
from nearfield.descent.guide import Guide
from nearfield.descent.health import diagnosis
from nearfield.descent.making import Data, Made, make, planned
from nearfield.descent.optimizers import Momentum, choose, optimizer
from nearfield.descent.problem import Point, Problem
from nearfield.descent.schedule import SPREADING, Phase, calmed, guided, schedule, stop
from nearfield.descent.sessions import Kept, fingerprint, plain
from nearfield.descent.starts import random_numbers
from nearfield.descent.steered import in_turn
from nearfield.engine.base import Engine
from nearfield.engine.mesh import ACCURACY
from nearfield.io.checks import whole
from nearfield.threads import one_blas_thread

RECORD = 10  # every how many iterations the cost is computed and written to the history
COLUMNS = ("iteration", "cost", "gradient_norm", "exaggeration", "penalty")  # of the history
FLAT = 1e-7  # a gradient this small beside the largest one is none


class Run(Kept):
    """A map in the making: data, method, engine, optimizer and the points as they are now.

    Parameters
    ----------
    X : array, sparse matrix or data frame (points, columns)
        The data; with ``metric="precomputed"`` distances of all pairs, or a sparse matrix or a tuple
        (indices, distances) of those to neighbours; with ``metric="affinity"`` a ready P.
    method : str or Method
        A name of the catalogue, or a composition.
    n_components : int
        The dimensions of the map.
    perplexity, metric, metric_params
        See `Method.target`.
    weights : array (points,), optional
        How many equal rows each row stands for, 1 or more and not necessarily whole: the map is that of the
        repeated rows, of which all copies move as one.
    init : {"pca", "random", "spectral"} or array
        See `nearfield.descent.starts.start`.
    optimizer : {"auto", "momentum", "lbfgs", "smacof"}
        By default momentum for a cross-entropy with a heavy-tailed kernel (t-SNE and its kin), SMACOF for
        the plain stress, and L-BFGS for all others, before which t-SNE lays out the map of those with a
        kernel of one scale (see `guided`). A name means that one from the first iteration on.
    learning_rate : float or "auto"
        Of momentum. A number means what it means in scikit-learn: it goes with momentum 0.5 and 0.8.
    exaggeration : float or "auto"
        By how much attraction is strengthened at first; "auto" is 12 for momentum and 4 for L-BFGS, and 1
        for costs that have no attraction to measure it by (distances, squared differences) and for a start
        that is a map already. Of a guided run it is that of the guide.
    exaggeration_iter : int, optional
        For how many iterations: 60 for momentum, which takes it back by and by, and 50 for L-BFGS.
    engine : {"auto", "exact", "mesh", "moments", "pairs"}
        How value and gradient are computed: over all pairs; by edges and field; of squared Euclidean
        distances by moments; of other distances over drawn pairs.
    accuracy : float
        Of the mesh: the error of the repulsive force, relative to it.
    random_state : int, RandomState or None
        Of random starts. The same seed gives the same map, on any number of threads.
    n_jobs : int or None
        Threads; None is all cores.

    Attributes
    ----------
    Y : array (points, dimensions)
        The coordinates now (a copy).
    iteration : int
        How many iterations were made.
    history : dict of array
        ``iteration``, ``cost``, ``gradient_norm``, ``exaggeration`` and ``penalty`` (the sum of all terms),
        a row every 10 iterations and one at the end of every `step`.
    plan : Plan
        What computes the gradient, and why.
    pins, followers, terms, log
        What was asked of it on the way: see `pin`, `settle`, `link`, `add`, `undo`. These commands may come
        from another thread, and wait for the iteration that is under way.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> run = nf.Run(np.random.default_rng(0).normal(size=(50, 5)), "tsne", random_state=0)
    >>> run.step(20)
    >>> run.iteration, run.Y.shape
    (20, (50, 2))
    """

    @one_blas_thread()
    def __init__(
        self,
        X: Any,
        method: str | Method = "tsne",
        *,
        n_components: int = 2,
        perplexity: Any = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        weights: Any = None,
        init: Any = "pca",
        optimizer: str = "auto",
        learning_rate: Any = "auto",
        exaggeration: Any = "auto",
        exaggeration_iter: int | None = None,
        engine: str = "auto",
        accuracy: float = ACCURACY,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        n_components = whole("n_components", n_components, 1)
        if isinstance(accuracy, (str, bool)) or not 1e-6 <= accuracy <= 0.3:
            raise ValueError(f"accuracy must be between 1e-6 and 0.3, got {accuracy!r}")
        name = method if isinstance(method, str) else str(method)
        method = named(method) if isinstance(method, str) else method
        if not isinstance(method, Method):
            raise TypeError(f"method must be a name of the catalogue or a nearfield.Method, got {method!r}")
        self._composition = method
        X = as_matrix(X, metric)
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, points and columns, got shape {X.shape}")
        weights = check_weights(weights, X.shape[0])
        data = Data(X, metric, metric_params, perplexity, weights, n_jobs)
        method, perplexities, self.plan = planned(method, data, n_components, engine, init)
        chosen = choose(optimizer, method, complete=self.plan.engine != "pairs")
        options: dict[str, Any] = {"n_components": n_components, "init": init, "accuracy": accuracy}
        options["guided"] = optimizer == "auto"
        made = make(method, data, perplexities, self.plan, random=random_numbers(random_state), **options)
        self._stages = made.stages
        self._wanted = {
            "method": name,
            "n_components": n_components,
            "perplexity": perplexity,
            "metric": metric,
            "metric_params": metric_params,
            "weights": weights,
            "init": made.Y.copy(),
            "optimizer": optimizer,
            "learning_rate": learning_rate,
            "exaggeration": exaggeration,
            "exaggeration_iter": exaggeration_iter,
            "engine": self.plan.engine,
            "accuracy": accuracy,
        }
        self._fingerprint = fingerprint(X)
        self._begin(made, chosen, learning_rate, exaggeration, exaggeration_iter)
        self._asked = {
            "method": name,
            "composition": str(method),
            "n_components": n_components,
            "perplexity": plain(perplexity),
            "metric": plain(metric),
            "init": plain(init),
            "optimizer": chosen,
            "learning_rate": plain(learning_rate),
            "exaggeration": self._phases[0].exaggeration,
            "random_state": plain(random_state),
        }
        if weights is not None:
            self._asked["weights"] = plain(weights)

    def _begin(
        self,
        made: Made,
        optimizer_name: str,
        learning_rate: Any,
        exaggeration: Any,
        exaggeration_iter: int | None,
    ) -> None:
        Y, stages = made.Y, made.stages
        self._problem = Problem(made.engine, (len(Y), Y.shape[1]), made.pull, made.method)
        asked: dict[str, Any] = {"exaggeration": exaggeration, "exaggeration_iter": exaggeration_iter}

        def phases(engine: Engine, name: str, **options: Any) -> tuple[Phase, ...]:
            return schedule(
                engine.method,
                n=self._problem.count,
                natural_rate=self._problem.natural_rate_of(engine),
                optimizer=name,
                habits=optimizer(name).habits,
                spread=float(Y.std()),
                learning_rate=learning_rate,
                **options,
            )

        if isinstance(stages, Guide):
            self._phases = guided(
                phases(stages.guiding, Momentum.name, **asked),
                phases(stages.own, optimizer_name, exaggeration=1),
            )
        else:
            rungs = 1 if stages is None else len(stages)
            self._phases = phases(made.engine, optimizer_name, rungs=rungs, **asked)
        self._z = self._problem.pack(Y)
        self._problem.project(self._z)
        self._start = self._z.copy()
        self._first: tuple[Any, float] | None = None  # the last engine, and what the start costs with it
        self._phase: Phase | None = None
        self.iteration = 0
        self._history = {name: [] for name in COLUMNS}
        self._begin_steering(wakes=self._unfolds)
        self._enter()

    @property
    def _unfolds(self) -> int:
        """The iteration at which the map has about its size; with a guide, that of the method's own cost."""
        before = sum(phase.iterations or 0 for phase in self._phases)
        if isinstance(self._stages, Guide) or (not before and self.starts_unfolded):
            return before
        return before + SPREADING

    @property
    def guided(self) -> bool:
        """Whether t-SNE still lays the map out, before the method's own cost takes over."""
        return isinstance(self._stages, Guide) and self._problem.engine is self._stages.guiding

    @property
    def method(self) -> Method:
        """The method, with learned parameters at their present values."""
        return self._problem.method_at(self._z, self._stages.own if self.guided else None)  # type: ignore[union-attr]

    @property
    def Y(self) -> Array:
        """The coordinates now (a copy)."""
        return self._problem.map_of(self._z).copy()

    @property
    @in_turn
    def history(self) -> dict[str, Array]:
        """What was recorded on the way, as arrays of equal length."""
        return {name: np.array(values) for name, values in self._history.items()}

    @property
    @in_turn
    def cost(self) -> float:
        """The cost of the map as it is now, without exaggeration and without any terms."""
        if not self._history["iteration"] or self._history["iteration"][-1] != self.iteration:
            self._record()
        return self._history["cost"][-1]

    @property
    def starts_unfolded(self) -> bool:
        """Whether the start was a map already: one wider than the kernel, or of distances."""
        kernel = self._problem.engine.method.kernel
        return kernel is None or float(self._problem.map_of(self._start).std()) >= kernel.width

    def latest(self, name: str) -> float:
        """The last value that was written to a column of the history: no more than 10 iterations old."""
        return self._history[name][-1]

    @property
    def learning_rate(self) -> float:
        """The learning rate of the coordinates in the last phase."""
        engine = self._stages.own if self.guided else None  # type: ignore[union-attr]
        return float(self._phases[-1].rate * self._problem.natural_rate_of(engine or self._problem.engine))

    def phase_at(self, iteration: int) -> Phase:
        """The phase that an iteration belongs to, counting from 0."""
        for phase in self._phases:
            if phase.iterations is None or iteration < phase.iterations:
                return phase
            iteration -= phase.iterations
        return self._phases[-1]

    @one_blas_thread()
    def step(self, n: int = 1) -> None:
        """Make exactly n iterations."""
        for _ in range(whole("n", n, 0)):
            self._iterate()
        if n > 0 and (not self._history["iteration"] or self._history["iteration"][-1] != self.iteration):
            self._record()

    def _enter(self) -> None:
        """Make problem and optimizer ready for the next iteration, before any command may come."""
        phase = self.phase_at(self.iteration)
        if phase is not self._phase:
            exaggerated = self._phase is not None and self._phase.exaggeration > 1
            if exaggerated and np.std(self.Y) < np.std(self._problem.map_of(self._start)):
                # Exaggeration drew few points into one, where every force vanishes: go on from the start.
                self._z = self._start.copy()
                self._problem.project(self._z)
            if self._stages is not None and self._phase is not None and phase.rung > self._phase.rung:
                if self.guided and not self._steering.anchored:
                    self._resize(self._stages.resized(self._problem.map_of(self._z)))  # type: ignore[union-attr]
                self._problem.enter(self._stages.at(phase.rung))
            if self._phase is None or phase.optimizer != self._phase.optimizer:
                self._optimizer = optimizer(phase.optimizer)
            self._phase = phase
            self._problem.exaggeration = phase.exaggeration
            self._optimizer.begin(self._z, phase)
        wakes = self._steering.wakes_at(self.iteration)
        if wakes:
            self._steering = self._steering.woken(self._problem.measure(self._z))
        if wakes or self._steering.fades_at(self.iteration):
            self._problem.steer(self._steering, self.iteration)
            self._optimizer.change()

    def _resize(self, Y: Array) -> None:
        """Go on from the same map at another size."""
        self._z = self._z.copy()
        self._problem.map_of(self._z)[:] = Y

    @in_turn
    def _iterate(self) -> None:
        phase = self.phase_at(self.iteration)
        if phase is not self._phase:  # Ctrl-C came in between
            self._enter()
        phase = calmed(phase, max((left for left, _ in self._problem.terms), default=0.0))
        due = self.iteration % RECORD == 0
        following, before = self._optimizer.step(self._z, self._problem, phase, due)
        if not np.all(np.isfinite(following)):
            remedy = f"lower learning_rate (it was {self.learning_rate:g})"
            if self._problem.terms:
                remedy = f"undo, and weaken what was added to the cost; or {remedy}"
            raise FloatingPointError(
                f"the map left the range of numbers at iteration {self.iteration}: {remedy}"
            )
        if due:
            self._write(before)
        if following is not self._z:
            self._problem.project(following)
        self._z = following
        self.iteration += 1
        self._enter()

    @in_turn
    def _record(self) -> None:
        self._write(self._problem(self._z))

    def _write(self, here: Point) -> None:
        if self._history["iteration"] and self._history["iteration"][-1] == self.iteration:
            return
        norm, exaggeration = float(np.linalg.norm(here.gradient)), self._problem.exaggeration
        cost = self._own_cost() if self.guided else here.cost
        row = (self.iteration, cost, norm, exaggeration, here.penalty)
        for name, value in zip(self._history, row, strict=True):
            self._history[name].append(value)

    def _own_cost(self) -> float:
        """What the method itself says of the map that its guide makes."""
        own = self._stages.own  # type: ignore[union-attr]
        return own.evaluate(self._problem.map_of(self._z), method=self.method).cost

    @one_blas_thread()
    def converge(
        self,
        max_iter: int = 1000,
        *,
        tol: float | None = None,
        patience: int | None = None,
        min_grad_norm: float = 0.0,
        callback: Callable[[Run], Any] | None = None,
    ) -> bool:
        """Iterate until nothing is gained any more, or `max_iter` iterations in all have been made.

        Parameters
        ----------
        max_iter : int
            A ceiling on `iteration`, not a target.
        tol : float
            Converged is a run whose cost changed within `patience` iterations of the last phase by less than
            this share of itself, or of the way that it has come from the start's if that is less; or whose
            gradient has all but vanished. By default 0.005 N/(N + 1000) for L-BFGS, and 0.03 N/(N + 1000) for
            momentum, which circles before it comes to rest; 0.005 for several scales in the map; 0.0001 for
            costs of distances. A map that `diagnosis` finds fault with has not converged.
        patience : int, optional
            See `tol`. By default 50, and 20 for L-BFGS with a kernel of one scale.
        min_grad_norm : float
            A norm of the gradient at which to stop as well.
        callback : callable, optional
            Called with the run every 10 iterations; True from it ends the run.

        Returns
        -------
        bool
            Whether it converged (True), or was stopped by the ceiling or the callback, or has come to rest
            as a map that is none (False).
        """
        habits = optimizer(self._phases[-1].optimizer).habits
        usual, over = stop(self._problem.engine.method, habits, self._problem.shape[0])
        tol, patience = usual if tol is None else tol, over if patience is None else patience
        if isinstance(tol, (str, bool)) or not tol >= 0:
            raise ValueError(f"tol must be a number from 0 up, got {tol!r}")
        unfolded = sum(phase.iterations or 0 for phase in self._phases)
        while self.iteration < max_iter:
            for _ in range(min(RECORD - self.iteration % RECORD, max_iter - self.iteration)):
                self._iterate()
            if callback is not None and callback(self):
                return False
            settled = max(unfolded, self._steering.settled)
            if self.iteration >= settled and self._is_flat(settled, tol, patience, min_grad_norm):
                return self.diagnosis() is None
        return False

    def _is_flat(self, settled: int, tol: float, patience: int, min_grad_norm: float) -> bool:
        """Whether the last rows of the history show that nothing is gained any more."""
        names = ("iteration", "gradient_norm", "cost", "penalty")
        iterations, norms, costs, penalties = (self._history[name] for name in names)
        if not iterations or iterations[-1] < settled:  # none, if a command has taken back the last
            return False
        if norms[-1] <= max(min_grad_norm, FLAT * max(norms)) or self._optimizer.at_rest:
            return True
        before = bisect_right(iterations, iterations[-1] - patience) - 1
        if before < 0 or iterations[before] < settled:
            return False
        # A cost that rises is no sign of convergence either.
        gained = costs[before] + penalties[before] - costs[-1] - penalties[-1]
        return abs(gained) <= tol * min(abs(costs[-1]), abs(self._first_cost() - costs[-1]))

    def _first_cost(self) -> float:
        """The cost of the start, under the last of the engines."""
        engine = self._problem.engine
        if self._first is None or self._first[0] is not engine:
            self._first = (engine, self._problem(self._start).cost)
        return self._first[1]

    @one_blas_thread()
    def diagnosis(self) -> str | None:
        """Whether the map as it is now collapsed or shattered, and what to try; None if it is well."""
        if self.guided:
            return (
                f"the map has not unfolded: t-SNE lays it out until {self._asked['method']} takes over at"
                f" iteration {self._unfolds}; make more than {self.iteration} iterations"
            )
        return diagnosis(
            self._problem.engine,
            self.Y,
            self.cost,
            self.method,
            learning_rate=self.learning_rate if self._asked["optimizer"] == "momentum" else None,
            automatic=self._asked["learning_rate"] == "auto",
            iterations=self.iteration,
        )
