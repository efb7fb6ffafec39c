"""Estimators with scikit-learn's contract: the constructor stores, `fit` validates, results end in ``_``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from nearfield.affinity.distances import check_precomputed
from nearfield.affinity.given import as_matrix
from nearfield.algebra.method import Method
from nearfield.checks import check_count, finite, whole
from nearfield.descent.finish import finish
from nearfield.descent.run import Run
from nearfield.descent.starts import classical_scaling, principal_components, random_numbers
from nearfield.engine.mesh.one_scale import ACCURACY
from nearfield.engine.plan import Plan
from nearfield.typing import Array


class _MapEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What the estimators share: validated data in, a `Run` to convergence, its results as attributes."""

    metric: Any
    max_iter: int | None
    verbose: Any

    embedding_: Array
    cost_: float
    n_iter_: int
    converged_: bool
    interrupted_: bool
    history_: dict[str, Array]
    plan_: Plan
    method_: Method
    learning_rate_: float

    def _run(self, X: Any, weights: Any) -> Run:
        raise TypeError(f"{type(self).__name__} does not define its run")

    def _stop(self) -> dict[str, Any]:
        """The arguments of `Run.converge` beside the ceiling."""
        return {}

    def fit(self, X: Any, y: Any = None, *, weights: Any = None) -> Self:
        """Make a map of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame (points, columns)
            The data; distances, neighbours or affinities if `metric` says so.
        y : ignored
            There for scikit-learn's pipelines.
        weights : array (points,), optional
            How many equal rows each row stands for, 1 or more: the map is that of the repeated rows.
        """
        return self._fit(_validated(self, X), weights)

    def _fit(self, X: Any, weights: Any) -> Self:
        """Make a map of data that are valid."""
        max_iter = whole("max_iter", 1000 if self.max_iter is None else self.max_iter, 1)
        callback = getattr(self, "callback", None)
        if callback is not None and not callable(callback):
            raise ValueError(f"callback must be a function of the run, got {callback!r}")
        pins = getattr(self, "pins", None)
        if pins is not None and not isinstance(pins, dict):
            raise ValueError(f"pins must be a dict of positions, such as {{3: (10, 0)}}, got {pins!r}")
        run = self._run(X, weights)
        shown = bool(self.verbose)
        self.converged_, self.interrupted_ = finish(
            run,
            max_iter,
            title=type(self).__name__,
            shown=shown,
            callback=callback,
            pins=pins,
            **self._stop(),
        )
        self.embedding_ = run.Y
        self.cost_ = run.cost
        self.n_iter_ = run.iteration
        self.history_ = run.history
        self.plan_ = run.plan
        self.method_ = run.method
        self.learning_rate_ = run.learning_rate
        return self

    def fit_transform(self, X: Any, y: Any = None, *, weights: Any = None) -> Array:
        """Make a map of X and return its coordinates; see `fit`."""
        return self.fit(X, weights=weights).embedding_

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric in ("precomputed", "affinity")
        return tags


class Embedder(_MapEstimator):
    """A map of high-dimensional data by any method.

    Parameters
    ----------
    method : str or Method
        A name of the catalogue (`nearfield.methods()`), or a composition of cost, kernel and normalization;
        "pca" gives the principal components, to compare with.
    n_components : int
        The dimensions of the map.
    perplexity : float, array, list or "multiscale", optional
        How many neighbours a point has, for all points or, as an array, for each; a list, or "multiscale"
        for 2, 4, 8, … up to half of the points, averages over several. By default the method's own: 30, a
        third of few points, or all scales. Costs of distances have none.
    metric : str or callable
        Any metric of scikit-learn; "precomputed" for a distance matrix, for a sparse one of neighbours
        alone, as `kneighbors_graph` gives it, or for neighbours as a tuple (indices, distances); "affinity"
        for a ready P.
    metric_params : dict, optional
        Further arguments of the metric.
    init : {"pca", "random", "spectral"} or array (points, n_components)
        The starting positions. Without data, "pca" is the classical scaling of the distances for a cost of
        distances, and "spectral", the slowest modes of the graph of P, for all others.
    optimizer : {"auto", "momentum", "lbfgs", "smacof"}
        How the cost is minimised. "auto" goes by the method's facts, and lets t-SNE lay out the maps of other
        methods with a kernel; a name means that one from the first iteration on.
    learning_rate : float or "auto"
        Of momentum. A number means what it means in scikit-learn: it goes with momentum 0.5 and 0.8.
    exaggeration : float or "auto"
        By how much attraction is strengthened at first.
    max_iter : int
        A ceiling on the iterations.
    tol : float, optional
        The run ends when the cost changes by less than this share within some iterations; see `Run.converge`.
    engine : {"auto", "exact", "mesh", "moments", "pairs"}
        How the gradient is computed; `plan_` says what "auto" chose.
    accuracy : float
        Of the mesh engine: the error of the repulsive force, relative to it.
    callback : callable, optional
        Called with the `Run` every 10 iterations; True from it ends the run.
    pins : dict of int to position, optional
        Points that are put somewhere, exactly, and whose neighbours follow: 5 % of all points, those nearest
        in the map before the move. That is `init`, if it is an array and wider than the kernel, or a map
        that is made first.
    verbose : bool
        Whether to show progress.
    random_state : int, RandomState or None
        The same seed gives the same map, on any number of threads.
    n_jobs : int or None
        Threads; None is all cores.

    Attributes
    ----------
    embedding_ : array (points, n_components)
        The map.
    cost_ : float
        Its cost.
    n_iter_ : int
        The iterations that were made.
    converged_, interrupted_ : bool
        Whether the run converged; whether Ctrl-C ended it.
    history_ : dict of array
        Iteration, cost, gradient norm and exaggeration on the way.
    plan_ : Plan
        The engine, and why it was chosen.
    method_ : Method
        The composition, with learned parameters at the values that were found.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> nf.Embedder("jse", perplexity=10, random_state=0).fit_transform(X).shape
    (60, 2)
    """

    def __init__(
        self,
        method: str | Method = "tsne",
        *,
        n_components: int = 2,
        perplexity: Any = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        init: Any = "pca",
        optimizer: str = "auto",
        learning_rate: Any = "auto",
        exaggeration: Any = "auto",
        max_iter: int = 1000,
        tol: float | None = None,
        engine: str = "auto",
        accuracy: float = ACCURACY,
        callback: Callable[[Run], Any] | None = None,
        pins: dict[int, Any] | None = None,
        verbose: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.n_components = n_components
        self.perplexity = perplexity
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.exaggeration = exaggeration
        self.max_iter = max_iter
        self.tol = tol
        self.engine = engine
        self.accuracy = accuracy
        self.callback = callback
        self.pins = pins
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, weights: Any) -> Self:
        if isinstance(self.method, str) and self.method == "pca":
            if weights is not None:
                raise ValueError("principal components take no weights here: leave them out, or use 'mds'")
            if self.pins:
                raise ValueError("principal components cannot be pinned: use another method")
            return self._fit_pca(X)
        return super()._fit(X, weights)

    def _fit_pca(self, X: Any) -> Self:
        """The principal components: no cost to minimise, but the map that every other is compared with."""
        random, metric = random_numbers(self.random_state), self.metric
        n_components = whole("n_components", self.n_components, 1)
        check_count(X.shape[0])
        for stale in ("method_", "learning_rate_"):  # of an earlier fit with a method that has them
            self.__dict__.pop(stale, None)
        if isinstance(metric, str) and metric == "affinity":
            raise ValueError("affinities have no principal components: use a method that takes them")
        if isinstance(metric, str) and metric == "precomputed":
            self.embedding_ = classical_scaling(check_precomputed(X), n_components, random)
        else:
            self.embedding_ = principal_components(X, n_components, random, self.n_jobs)
        self.cost_, self.n_iter_, self.history_ = float("nan"), 0, {}
        self.converged_, self.interrupted_ = True, False
        memory = 8 * X.shape[0] * X.shape[1]
        self.plan_ = Plan("linear", "principal components have no cost to minimise", memory)
        return self

    def _run(self, X: Any, weights: Any) -> Run:
        return Run(
            X,
            self.method,
            n_components=self.n_components,
            perplexity=self.perplexity,
            metric=self.metric,
            metric_params=self.metric_params,
            weights=weights,
            init=self.init,
            optimizer=self.optimizer,
            learning_rate=self.learning_rate,
            exaggeration=self.exaggeration,
            engine=self.engine,
            accuracy=self.accuracy,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _stop(self) -> dict[str, Any]:
        return {"tol": self.tol}


class TSNE(_MapEstimator):
    """t-SNE with the names of scikit-learn: swap the import, keep the code.

    Parameters
    ----------
    n_components, early_exaggeration, learning_rate, max_iter, metric, metric_params, init, random_state
        As in `sklearn.manifold.TSNE`.
    perplexity : float or array, optional
        How many neighbours a point has; 30, or a third of few points, by default.
    n_iter_without_progress : int
        The run ends when the cost changes by less than 3 % N/(N + 1000) within so many iterations.
    min_grad_norm : float
        It ends as well when the norm of the gradient is below this.
    verbose : int
        Whether to show progress.
    method : {"barnes_hut", "exact"}
        "exact" is ``engine="exact"``; "barnes_hut" leaves the choice to `engine`.
    angle : float
        Has no effect: nothing here is a Barnes-Hut tree. A value other than the default warns.
    n_jobs : int or None
        Threads; None is all cores.
    engine : {"auto", "exact", "mesh", "moments", "pairs"}
        How the gradient is computed; `plan_` says what "auto" chose.

    Attributes
    ----------
    embedding_, kl_divergence_, n_iter_, learning_rate_
        As in `sklearn.manifold.TSNE`.
    cost_, converged_, interrupted_, history_, plan_, method_
        As in `Embedder`.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> nf.TSNE(perplexity=10, random_state=0).fit_transform(X).shape
    (60, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: Any = None,
        early_exaggeration: float = 12.0,
        learning_rate: Any = "auto",
        max_iter: int | None = 1000,
        n_iter_without_progress: int = 50,
        min_grad_norm: float = 1e-7,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        init: Any = "pca",
        verbose: int = 0,
        random_state: Any = None,
        method: str = "barnes_hut",
        angle: float = 0.5,
        n_jobs: int | None = None,
        engine: str = "auto",
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_iter_without_progress = n_iter_without_progress
        self.min_grad_norm = min_grad_norm
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.verbose = verbose
        self.random_state = random_state
        self.method = method
        self.angle = angle
        self.n_jobs = n_jobs
        self.engine = engine

    def _run(self, X: Any, weights: Any) -> Run:
        if self.method not in ("barnes_hut", "exact"):
            raise ValueError(
                f"method must be 'barnes_hut' or 'exact', got {self.method!r}; other methods than t-SNE:"
                " nearfield.Embedder"
            )
        if self.angle != 0.5:
            warnings.warn("angle has no effect: nothing here is a Barnes-Hut tree", UserWarning, stacklevel=3)
        return Run(
            X,
            "tsne",
            n_components=self.n_components,
            perplexity=self.perplexity,
            metric=self.metric,
            metric_params=self.metric_params,
            weights=weights,
            init=self.init,
            learning_rate=self.learning_rate,
            exaggeration=self.early_exaggeration,
            engine="exact" if self.method == "exact" else self.engine,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _stop(self) -> dict[str, Any]:
        return {"patience": self.n_iter_without_progress, "min_grad_norm": self.min_grad_norm}

    @property
    def kl_divergence_(self) -> float:
        """The Kullback-Leibler divergence of the map: `cost_` under the name that scikit-learn gives it."""
        return self.cost_


def _validated(estimator: _MapEstimator, X: Any) -> Any:
    """X as a float64 array or CSR matrix, or a message that names the row or column to mend."""
    if isinstance(X, tuple):  # which may be neighbours
        X = as_matrix(X, estimator.metric)
    try:
        X = validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
    except (ValueError, TypeError) as error:
        if "could not convert" not in str(error) and "DType" not in str(error):
            raise
        raise ValueError(_text_column(X)) from error
    finite(X, getattr(estimator, "feature_names_in_", None))
    return X


def _text_column(X: Any) -> str:
    """Which column holds text."""
    names = list(X.columns) if hasattr(X, "columns") else None
    cells = np.asarray(X, dtype=object)
    if cells.ndim != 2:
        return f"X must have two dimensions, points and columns, got shape {cells.shape}"
    for column in range(cells.shape[1]):
        for row, cell in enumerate(cells[:, column]):
            try:
                float(cell)
            except (TypeError, ValueError):
                name = repr(names[column]) if names is not None else str(column)
                return (
                    f"column {name} holds text ({cell!r} in row {row}): leave it out, or encode it as numbers"
                )
    return "X holds values that are not numbers"
