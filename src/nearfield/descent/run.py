"""The live optimisation. Estimators, command line and notebooks all drive this one object."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.copies import check_weights, seen
from nearfield.affinity.given import as_matrix
from nearfield.affinity.graph import sparse_target
from nearfield.affinity.multiscale import Rungs, rungs, several
from nearfield.affinity.targets import target as dense_target
from nearfield.algebra.catalogue import method as named
from nearfield.algebra.method import Method
from nearfield.algebra.parts import Array
from nearfield.descent.health import diagnosis
from nearfield.descent.optimizers import optimizer
from nearfield.descent.problem import Problem
from nearfield.descent.schedule import Phase, schedule
from nearfield.descent.starts import random_numbers, start
from nearfield.engine.base import Engine
from nearfield.engine.exact import exact
from nearfield.engine.mesh import ACCURACY, Mesh
from nearfield.engine.moments import Moments
from nearfield.engine.plan import plan
from nearfield.io.checks import whole
from nearfield.io.maps import Map
from nearfield.threads import one_blas_thread

RECORD = 10  # every how many iterations the cost is computed and written to the history
PATIENCE = 50  # over how many iterations a stop judges progress
FLAT = 1e-7  # a gradient this small beside the largest one is none


class Run:
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
        the plain stress, and L-BFGS for all others.
    learning_rate : float or "auto"
        Of momentum. A number means what it means in scikit-learn: it goes with momentum 0.5 and 0.8.
    exaggeration : float or "auto"
        By how much attraction is strengthened at first; "auto" is 12 for momentum and 4 for L-BFGS, and 1
        for costs that have no attraction to measure it by (distances, squared differences) and for a start
        that is a map already.
    exaggeration_iter : int, optional
        For how many iterations: 60 for momentum, which takes it back by and by, and 50 for L-BFGS.
    engine : {"auto", "exact", "mesh", "moments"}
        How value and gradient are computed: over all pairs; by edges and field; or, of squared Euclidean
        distances, by moments.
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
        ``iteration``, ``cost``, ``gradient_norm`` and ``exaggeration``, a row every 10 iterations and one
        at the end of every `step`.
    plan : Plan
        What computes the gradient, and why.

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
        X = as_matrix(X, metric)
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, points and columns, got shape {X.shape}")
        weights = check_weights(weights, X.shape[0])
        given = isinstance(metric, str) and metric in ("precomputed", "affinity")
        plain = isinstance(metric, str) and metric == "euclidean" and not metric_params
        modes = isinstance(init, str) and init == "spectral"  # of a graph of distances, which moments are not
        perplexities = several(perplexity, method, X.shape[0])
        if perplexities is not None:
            method = _with_scales(method)
        self.plan = plan(
            method,
            X.shape[0],
            n_components,
            engine,
            euclidean=plain and not modes,
            columns=0 if given and sparse.issparse(X) else X.shape[1],
            stored=X.nnz if sparse.issparse(X) else None,
            perplexity=perplexity,
            scales=1 if perplexities is None else len(perplexities),
            weighted=weights is not None,
        )
        if self.plan.is_slow:
            warnings.warn(f"this will be slow: {self.plan}", UserWarning, stacklevel=3)
        arguments = {"perplexity": perplexity, "metric": metric, "metric_params": metric_params}
        scale, target = _start_scale(method), None
        self._rungs: Rungs | None = None
        evaluator: Engine
        if self.plan.engine == "moments":
            evaluator = Moments(method, X, n_jobs)
            if isinstance(init, str) and init == "random":  # as large as the distances call for
                scale = (evaluator.mean_square / (2 * n_components)) ** 0.5
        else:
            if perplexities is not None:
                arguments["perplexities"] = perplexities
                del arguments["perplexity"]
                self._rungs = rungs(method, X, **arguments, n_jobs=n_jobs, weights=weights)
                target = self._rungs.climb() if method.scales == "auto" else self._rungs.top()
            else:
                make = sparse_target if self.plan.engine == "mesh" else dense_target
                target = make(method, X, **arguments, n_jobs=n_jobs, weights=weights)
            method = _with_parameters_of_points(method, X.shape[0])
            evaluator = (
                Mesh(method, target, n_jobs, accuracy, weights)
                if self.plan.engine == "mesh"
                else exact(method, target, n_jobs, weights)
            )
        Y = start(
            init,
            n=X.shape[0],
            n_components=n_components,
            random=random_numbers(random_state),
            data=None if given else X,
            target=target,
            is_distance=method.target_kind == "distances",
            scale=scale,
            n_jobs=n_jobs,
        )
        if self._rungs is not None and method.scales == "auto":
            self._precisions = self._rungs.precisions(Y)
            evaluator = exact(method._with(scales=self._precisions[-1:]), target, n_jobs)
        pull = None
        if target is not None and method.kernel is not None:
            pull = seen(target, evaluator.weights)
            if method.target_kind == "row":  # the others of a symmetric one pull as much
                pull = pull + seen(target.T, evaluator.weights)
        self._begin(evaluator, Y, pull, optimizer, learning_rate, exaggeration, exaggeration_iter)
        self._asked = {
            "method": name,
            "composition": str(method),
            "n_components": n_components,
            "perplexity": _plain(perplexity),
            "metric": _plain(metric),
            "init": _plain(init),
            "optimizer": type(self._optimizer).__name__.lower(),
            "learning_rate": _plain(learning_rate),
            "exaggeration": self._phases[0].exaggeration,
            "random_state": _plain(random_state),
        }
        if weights is not None:
            self._asked["weights"] = _plain(weights)

    def _begin(
        self,
        engine: Engine,
        Y: Array,
        pull: Array | None,
        optimizer_name: str,
        learning_rate: Any,
        exaggeration: Any,
        exaggeration_iter: int | None,
    ) -> None:
        self._optimizer = optimizer(optimizer_name, engine.method)
        self._problem = Problem(engine, (len(Y), Y.shape[1]), pull)
        self._phases = schedule(
            engine.method,
            n=self._problem.count,
            natural_rate=self._problem.natural_rate,
            habits=self._optimizer.habits,
            spread=float(Y.std()),
            exaggeration=exaggeration,
            exaggeration_iter=exaggeration_iter,
            learning_rate=learning_rate,
            rungs=1 if self._rungs is None else 1 + len(self._rungs) - self._rungs.entered,
        )
        self._z = self._problem.pack(Y)
        self._problem.project(self._z)
        self._start = self._z.copy()
        self._phase: Phase | None = None
        self.iteration = 0
        self._history: dict[str, list[float]] = {
            name: [] for name in ("iteration", "cost", "gradient_norm", "exaggeration")
        }

    @property
    def method(self) -> Method:
        """The method, with learned parameters at their present values."""
        return self._problem.method_at(self._z)

    @property
    def Y(self) -> Array:
        """The coordinates now (a copy)."""
        return self._problem.map_of(self._z).copy()

    @property
    def history(self) -> dict[str, Array]:
        """What was recorded on the way, as arrays of equal length."""
        return {name: np.array(values) for name, values in self._history.items()}

    @property
    def cost(self) -> float:
        """The cost of the map as it is now, without exaggeration."""
        if not self._history["iteration"] or self._history["iteration"][-1] != self.iteration:
            self._record()
        return self._history["cost"][-1]

    def latest(self, name: str) -> float:
        """The last value that was written to a column of the history: no more than 10 iterations old."""
        return self._history[name][-1]

    @property
    def learning_rate(self) -> float:
        """The learning rate of the coordinates in the last phase."""
        return float(self._phases[-1].rate * self._problem.natural_rate)

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

    def _enter(self) -> Phase:
        """The phase of the next iteration, with the problem and the optimizer made ready for it."""
        phase = self.phase_at(self.iteration)
        if phase is not self._phase:
            exaggerated = self._phase is not None and self._phase.exaggeration > 1
            if exaggerated and np.std(self.Y) < np.std(self._problem.map_of(self._start)):
                # Exaggeration drew few points into one, where every force vanishes: go on from the start.
                self._z = self._start.copy()
            if self._phase is not None and phase.rung > self._phase.rung:
                self._problem.engine = self._finer()
            self._phase = phase
            self._problem.exaggeration = phase.exaggeration
            self._optimizer.begin(self._z, phase)
        return phase

    def _finer(self) -> Engine:
        """The engine after the next scale has entered, in the data and in the map."""
        assert self._rungs is not None
        target, engine = self._rungs.climb(), self._problem.engine
        method = engine.method._with(scales=self._precisions[-self._rungs.entered :])
        return exact(method, target, getattr(engine, "n_jobs", None))

    def _iterate(self) -> None:
        phase = self._enter()
        due = self.iteration % RECORD == 0
        following, before = self._optimizer.step(self._z, self._problem, phase, due)
        if not np.all(np.isfinite(following)):
            raise FloatingPointError(
                f"the map left the range of numbers at iteration {self.iteration}: lower learning_rate"
                f" (it was {self.learning_rate:g})"
            )
        if due:
            self._write(before.cost, before.gradient)
        if following is not self._z:
            self._problem.project(following)
        self._z = following
        self.iteration += 1

    @one_blas_thread()
    def _record(self) -> None:
        self._enter()
        here = self._problem(self._z)
        self._write(here.cost, here.gradient)

    def _write(self, cost: float, gradient: Array) -> None:
        if self._history["iteration"] and self._history["iteration"][-1] == self.iteration:
            return
        row = (self.iteration, cost, float(np.linalg.norm(gradient)), self._problem.exaggeration)
        for name, value in zip(self._history, row, strict=True):
            self._history[name].append(value)

    @one_blas_thread()
    def converge(
        self,
        max_iter: int = 1000,
        *,
        tol: float | None = None,
        patience: int = PATIENCE,
        min_grad_norm: float = 0.0,
        callback: Callable[[Run], Any] | None = None,
    ) -> bool:
        """Iterate until nothing is gained any more, or `max_iter` iterations in all have been made.

        Parameters
        ----------
        max_iter : int
            A ceiling on `iteration`, not a target.
        tol : float
            Converged is a run whose cost changed by less than this share of itself within `patience`
            iterations of the last phase, or whose gradient has all but vanished. By default 0.0001,
            and 0.03 N/(N + 1000) for momentum, which circles before it comes to rest.
        patience : int
            See `tol`.
        min_grad_norm : float
            A norm of the gradient at which to stop as well.
        callback : callable, optional
            Called with the run every 10 iterations; True from it ends the run.

        Returns
        -------
        bool
            Whether it converged (True), or was stopped by the ceiling or the callback (False).
        """
        tol = self._optimizer.habits.tolerance(self._problem.shape[0]) if tol is None else tol
        if isinstance(tol, (str, bool)) or not tol >= 0:
            raise ValueError(f"tol must be a number from 0 up, got {tol!r}")
        settled = sum(phase.iterations or 0 for phase in self._phases)
        while self.iteration < max_iter:
            for _ in range(min(RECORD - self.iteration % RECORD, max_iter - self.iteration)):
                self._iterate()
            if callback is not None and callback(self):
                return False
            if self.iteration >= settled and self._is_flat(settled, tol, patience, min_grad_norm):
                return True
        return False

    def _is_flat(self, settled: int, tol: float, patience: int, min_grad_norm: float) -> bool:
        """Whether the last rows of the history show that nothing is gained any more."""
        iterations, norms, costs = (self._history[name] for name in ("iteration", "gradient_norm", "cost"))
        if iterations[-1] < settled:
            return False
        if norms[-1] <= max(min_grad_norm, FLAT * max(norms)):
            return True
        before = bisect_right(iterations, iterations[-1] - patience) - 1
        if before < 0 or iterations[before] < settled:
            return False
        # A cost that rises is no sign of convergence either.
        return abs(costs[before] - costs[-1]) <= tol * abs(costs[-1])

    @one_blas_thread()
    def diagnosis(self) -> str | None:
        """Whether the map as it is now collapsed or shattered, and what to try; None if it is well."""
        return diagnosis(
            self._problem.engine,
            self.Y,
            self.cost,
            self.method,
            learning_rate=self.learning_rate if self._asked["optimizer"] == "momentum" else None,
            automatic=self._asked["learning_rate"] == "auto",
            iterations=self.iteration,
        )

    def map(self) -> Map:
        """The map as it is now, as a thing to keep."""
        parameters = dict(self._asked, iteration=self.iteration)
        for name, value in self._problem.parameters_of(self._z).items():
            parameters[name] = _plain(value)
        return Map(self.Y, parameters, self.history)


def _with_parameters_of_points(method: Method, n: int) -> Method:
    """The method with one value per point of every parameter that is learned per point."""
    if not method.learned or method.kernel is None:
        return method
    return method._with(kernel=method.kernel.expanded(n))


def _with_scales(method: Method) -> Method:
    """The method as several perplexities need it.

    A kernel that underflows sees nothing beyond its width, so it gets one width for each of them; a heavy
    tail reaches everywhere as it is.
    """
    if method.scales or method.kernel is None:
        return method
    return method._with(scales="auto" if method.kernel.underflows else "data")


def _start_scale(method: Method) -> float | None:
    """How large the start is: distances as they are; kernels so small that all points see each other.

    Several scales are made to measure for the start, of whatever size.
    """
    if method.kernel is None:
        return None
    return 1.0 if method.scales == "auto" else 1e-4 * method.kernel.width


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size <= 1000 else f"array of shape {value.shape}"
    return value.item() if isinstance(value, np.generic) else repr(value)
