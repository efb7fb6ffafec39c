"""Estimators with scikit-learn's contract: the constructor stores, `fit` validates, results end in ``_``."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self, TypeVar, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from nearfield.affinity.distances import check_precomputed
from nearfield.affinity.given import as_matrix, rows_of
from nearfield.affinity.landmarks import chosen
from nearfield.affinity.mixed import MixedFitted
from nearfield.affinity.mixing import Mix
from nearfield.affinity.source import Source
from nearfield.algebra.catalogue import method as named
from nearfield.algebra.method import Method
from nearfield.checks import check_count, finite, numbers, whole
from nearfield.defaults import MAX_ITER
from nearfield.descent.beginning import resumed
from nearfield.descent.blocks import Placing, all_rows
from nearfield.descent.extending import check_old, with_places
from nearfield.descent.finish import finish
from nearfield.descent.models import Model, write_model
from nearfield.descent.placing import Placed, Projection, Reference, projection
from nearfield.descent.preparing import Preparation
from nearfield.descent.progress import Tenths
from nearfield.descent.run import Run
from nearfield.descent.sampling import of_landmarks, picked
from nearfield.descent.settings import (
    OPTIONS,
    Common,
    Fitting,
    Settings,
    check,
    option,
    shared,
    takes_options,
)
from nearfield.descent.starts import classical_scaling, principal_components, random_numbers
from nearfield.engine.plan import Plan
from nearfield.io.chunked import Chunked, Held, chunked
from nearfield.io.dasked import is_frame, rows_of_frame
from nearfield.typing import Array

T = TypeVar("T")
GIVEN = ("precomputed", "affinity")  # metrics by which no rows are given


class _MapEstimator(Fitting, Common, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What the estimators share: validated data in, a `Run` to convergence, its results as attributes."""

    embedding_: Array
    cost_: float
    n_iter_: int
    converged_: bool
    interrupted_: bool
    history_: dict[str, Array]
    plan_: Plan
    method_: Method
    learning_rate_: float
    moved_: Array
    landmarks_: Any
    classes_known_: Array
    n_features_in_: int
    feature_names_in_: Any
    preparation_: Preparation
    _reference: Reference

    def _asked(self) -> tuple[str | Method, dict[str, Any]]:
        """Method and options of the run."""
        raise TypeError(f"{type(self).__name__} does not define its run")

    def _stop(self) -> dict[str, Any]:
        """The arguments of `Run.converge` beside the ceiling."""
        return {"tol": self.tol, "quick": bool(self.quick)}

    def fit(self, X: Any, y: Any = None, *, weights: Any = None) -> Self:
        """Make a map of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame (points, columns), or a mix of views
            The data; distances, neighbours or affinities if `metric` says so; `nearfield.mix` of several.
            What is not in memory: a mapped array, the path of a `.npy`, `.parquet` or `.feather` file, an
            array of zarr or Dask; see `nearfield.rows`.
        y : sequence (points,), optional
            The class of each point, which has as much of a say as `supervision` gives it: by default none,
            and y is ignored. None, NaN and -1 are no class.
        weights : array (points,), optional
            How many equal rows each row stands for, 1 or more: the map is that of the repeated rows.
        """
        rows = rows_of_frame(X) if is_frame(X) else chunked(X)
        self.__dict__.pop("landmarks_", None)  # of an earlier fit
        if self.landmarks is not None:
            return self._fit_landmarks(X, rows, weights, y)
        return self._fit(
            _validated(self, X) if rows is None else all_rows(self._columns_of(rows)), weights, y
        )

    def _fit_landmarks(self, X: Any, rows: Chunked | None, weights: Any, y: Any) -> Self:
        """Make a map of some rows, and place all others in it."""
        check(self)
        if isinstance(X, (Mix, tuple)) or (isinstance(self.metric, str) and self.metric in GIVEN):
            raise ValueError("landmarks are rows of one view: leave out landmarks for distances and mixes")
        rows = Held(_validated(self, X)) if rows is None else self._columns_of(rows)
        self.__dict__.pop("preparation_", None)  # of an earlier fit
        random, how = random_numbers(self.random_state), (self.metric, self.metric_params, self.n_jobs)
        which = chosen(rows, self.landmarks, self.landmark_choice, random, *how)
        model = copy.copy(self)
        for name, value in of_landmarks(vars(self), which, len(rows)).items():
            setattr(model, name, value)
        masses = picked(weights, which, len(rows), "weights")
        labels = picked(y, which, len(rows), "y") if self.supervision else None
        model._fit(rows.gathered(which), masses, labels)
        for name in vars(model).keys() - self.get_params().keys():
            setattr(self, name, getattr(model, name))
        self.landmarks_ = which
        told = Tenths(f"{type(self).__name__}: placed", len(rows)) if self.verbose else None
        places = self._placing().transform_rows(rows, told)
        if isinstance(places, np.ndarray):  # of equal landmarks, each has its own
            places[which] = model.embedding_
        self.embedding_ = places
        return self

    def _columns_of(self, rows: Chunked) -> Chunked:
        """The same rows, whose columns are noted as those that are fitted."""
        self.n_features_in_ = rows.shape[1]
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if rows.names is not None:
            self.feature_names_in_ = np.array(rows.names, dtype=object)
        check_count(len(rows))
        return rows

    def _fit(self, X: Any, weights: Any, y: Any = None) -> Self:
        """Make a map of data that are valid."""
        check(self)
        method, options = self._asked()
        run = Run(X, method, weights=weights, labels=y if self.supervision else None, **options)
        self.__dict__.pop("preparation_", None)  # of an earlier fit
        self._finished(run, self.pins)
        if run.checkpoint is not None and not self.interrupted_:
            run.checkpoint.delete()
        return self

    def _finished(self, run: Run, pins: dict[int, Any] | None = None) -> Self:
        """Iterate to the end, and keep what has come of it."""
        converged, interrupted = finish(
            run,
            MAX_ITER if self.max_iter is None else self.max_iter,
            title=type(self).__name__,
            shown=bool(self.verbose),
            callback=self.callback,
            pins=pins,
            **self._stop(),
        )
        return self._keep(run, converged, interrupted)

    def _keep(self, run: Run, converged: bool, interrupted: bool) -> Self:
        """Have the results of a run as attributes."""
        self.converged_, self.interrupted_ = converged, interrupted
        self.embedding_ = run.Y
        self.cost_ = run.cost
        self.n_iter_ = run.iteration
        self.history_ = run.history
        self.plan_ = run.plan
        self.method_ = run.method
        self.learning_rate_ = run.learning_rate
        self._reference = run.reference()
        self.__dict__.pop("classes_known_", None)  # of an earlier fit
        if run.source.labels is not None:
            self.classes_known_ = run.source.labels.codes.astype(np.float64)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, weights: Any = None) -> Array:
        """Make a map of X and return its coordinates; see `fit`."""
        return self.fit(X, y, weights=weights).embedding_

    def transform(self, X: Any) -> Array:
        """The places of some rows in the finished map.

        A row that was fitted comes back exactly where it is; a new one goes where the method's own cost of it
        is least, all fitted points being held. Neither the map nor the other rows have a say in it or are
        changed by it.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns), or what is not in memory
            Rows with the fitted columns; where distances were fitted, those to the fitted points. Arrays and
            data frames of Dask give such, lazily.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> X = np.random.default_rng(0).normal(size=(60, 5))
        >>> model = nf.TSNE(perplexity=10, random_state=0).fit(X)
        >>> np.array_equal(model.transform(X), model.embedding_), model.transform(X[:1] + 0.01).shape
        (True, (1, 2))
        """
        check_is_fitted(self, "embedding_")
        placing = self._placing()
        if is_frame(X):
            return placing.transform_frame(X)
        rows = chunked(X, placing.names)
        if rows is None:
            return self._reference_for(X, lambda reference, rows: reference.transform(rows)[0])
        return placing.transform_rows(rows)

    def place(self, X: Any) -> Placed:
        """The places of some rows as in `transform`, with their neighbours, their cost and their novelty.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> X = np.random.default_rng(0).normal(size=(60, 5))
        >>> placed = nf.TSNE(perplexity=10, random_state=0).fit(X).place([[9.0] * 5])
        >>> placed.Y.shape, placed.neighbours.shape, float(placed.novelty[0])
        ((1, 2), (1, 10), 1.0)
        """
        check_is_fitted(self, "embedding_")
        placing = self._placing()
        rows = chunked(X, placing.names)
        if rows is None:
            return self._reference_for(X, lambda reference, rows: reference.place(rows))
        return placing.place_rows(rows)

    def extend(self, X: Any, *, old: str = "fixed") -> Self:
        """Add rows to the map for good: they are placed, and then all that may move goes on to convergence.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            The new rows, with the fitted columns. They come after the fitted ones in `embedding_`.
        old : {"fixed", "soft", "free"}
            What becomes of the points that are there: they do not move by a bit; they are drawn back to where
            they were by a Gaussian penalty, as strong as the map's own forces at a tenth of its radius; or
            they are as free as the new ones. How far each has moved is in `moved_`.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> X = np.random.default_rng(0).normal(size=(80, 5))
        >>> model = nf.TSNE(perplexity=10, random_state=0).fit(X[:60])
        >>> before = model.embedding_
        >>> model = model.extend(X[60:])
        >>> model.embedding_.shape, np.array_equal(model.embedding_[:60], before)
        ((80, 2), True)
        """
        check_is_fitted(self, "embedding_")
        check(self)
        if "landmarks_" in vars(self):
            raise ValueError(
                "a map of landmarks does not grow: transform places rows in it, fit makes another"
            )
        rows = self._new_rows(X)
        if not rows.shape[0]:
            return self
        before, reference = self.embedding_, self._reference
        self._extend(rows, old)
        self._reference.fitted.recognise(reference.fitted, rows)
        gaps = self.embedding_[: len(before)] - before
        self.moved_ = np.sqrt(np.sum(gaps * gaps, axis=1))
        return self

    def _extend(self, rows: Any, old: str) -> None:
        """Make the map of all rows, from the one that is there."""
        check_old(old)
        reference, Y = self._reference, self.embedding_
        n, more = len(Y), len(Y) + rows.shape[0]
        method, options = self._asked()
        composition = named(method) if isinstance(method, str) else method
        composition, perplexity = resumed(composition, self.method_, options["perplexity"], n, more)
        options |= {"init": with_places(reference, rows), "exaggeration": 1, "perplexity": perplexity}
        options |= {"engine": self.plan_.engine, "checkpoint": None, "checkpoint_every": None}  # of the fit
        fitted = Source.of(reference.fitted.rows(), self.metric, self.metric_params, None, self.n_jobs)
        if self.supervision:  # nothing is known of the new rows
            options["labels"] = np.concatenate([self.classes_known_, np.full(rows.shape[0], -1.0)])
        if reference.fitted.weights is not None:
            options["weights"] = np.concatenate([reference.fitted.weights, np.ones(rows.shape[0])])
        run = Run(fitted.extended(rows).X, composition, **options)
        if old != "free":
            run.pin(np.arange(n), Y, follow=None, soft=old == "soft")
        self._finished(run)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Make a map of X, or, where there is one, add the rows to it; those that are there do not move."""
        return self.extend(X) if hasattr(self, "embedding_") else self.fit(X, y)

    def _reference_for(self, X: Any, ask: Callable[[Reference, Any], T]) -> T:
        """Ask the reference about rows that are valid."""
        check_is_fitted(self, "embedding_")
        reference = self._reference
        if isinstance(X, tuple):
            X = rows_of(X, reference.fitted.n, self.metric)
        return ask(reference, self._new_rows(X))

    def _placing(self) -> Placing:
        """All that it takes to place rows."""
        names = vars(self).get("feature_names_in_")
        names = None if names is None else tuple(names)
        return Placing(self._reference, vars(self).get("preparation_"), self.n_features_in_, names)

    def _new_rows(self, X: Any) -> Any:
        """Rows that are valid, as the fitted ones were mapped."""
        X = _validated(self, X, reset=False)
        return self.preparation_.rows(X) if "preparation_" in vars(self) else X

    def save(self, path: str | os.PathLike[str], rows: str = "exact") -> None:
        """Write the fitted model to a file, which `nearfield.load` opens.

        Nothing is pickled. What a file cannot hold, a metric or a part of a method of one's own, is passed to
        `nearfield.load` again.

        Parameters
        ----------
        path : path-like
            The file; what is there is replaced.
        rows : {'exact', 'compact'}
            Whether the fitted rows are kept as they are, or one byte a number. Both know fitted rows again
            and give their places back exactly; of the compact ones, new rows are placed nearly as by the
            exact ones.

        Examples
        --------
        >>> import numpy as np, nearfield as nf, tempfile, os
        >>> X = np.random.default_rng(0).normal(size=(60, 5))
        >>> path = os.path.join(tempfile.mkdtemp(), "model.nfmap")
        >>> model = nf.TSNE(perplexity=10, random_state=0).fit(X[:50])
        >>> model.save(path)
        >>> np.array_equal(nf.load(path).transform(X), model.transform(X))
        True
        """
        check_is_fitted(self, "embedding_")
        if not type(self).__module__.startswith("nearfield."):
            raise TypeError(f"{type(self).__name__} is a class of one's own, which a file cannot hold")
        found = {name: getattr(self, name) for name in kept_attributes(type(self)) if name in vars(self)}
        if "landmarks_" not in found or not isinstance(found["embedding_"], np.ndarray):
            found.pop("embedding_")  # which the reference has, as far as it is there
        found = {name: KEPT[name][0](value) if name in KEPT else value for name, value in found.items()}
        parameters = self.get_params(deep=False) | {"checkpoint": None}  # which is of this machine alone
        model = Model(type(self).__name__, parameters, found, self._reference)
        write_model(path, model, self.history_, rows)

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric in GIVEN
        return tags


@takes_options
@dataclass(eq=False, repr=False)
class Embedder(Settings, _MapEstimator):
    """A map of high-dimensional data by any method.

    Parameters
    ----------
    method : str or Method
        A name of the catalogue (`nearfield.methods()`), or a composition of cost, kernel and normalization;
        "pca" gives the principal components, to compare with.
    {options}

    Attributes
    ----------
    embedding_ : array (points, n_components)
        The map; of landmarks, with a place for every row.
    landmarks_ : array of int
        With `landmarks`, the numbers of the rows that the map was made of.
    cost_ : float
        Its cost.
    n_iter_ : int
        The iterations that were made.
    converged_, interrupted_ : bool
        Whether the run converged; whether Ctrl-C ended it.
    history_ : dict of array
        Iteration, cost, gradient norm, exaggeration and penalty on the way.
    plan_ : Plan
        The engine, and why it was chosen.
    method_ : Method
        The composition, with learned parameters at the values that were found.
    learning_rate_ : float
        Of the coordinates, in the last phase.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> nf.Embedder("jse", perplexity=10, random_state=0).fit_transform(X).shape
    (60, 2)
    """

    method: str | Method = "tsne"

    def _fit(self, X: Any, weights: Any, y: Any = None) -> Self:
        if isinstance(self.method, str) and self.method == "pca":
            if check(self)["supervision"]:
                raise ValueError("labels have no say in principal components: leave supervision at 0")
            if weights is not None:
                raise ValueError("principal components take no weights here: leave them out, or use 'mds'")
            if isinstance(X, Mix):
                raise ValueError("principal components are of one view: give its columns, or use 'tsne'")
            if self.pins:
                raise ValueError("principal components cannot be pinned: use another method")
            if self.checkpoint is not None:
                raise ValueError("principal components are found in one step: leave out checkpoint")
            return self._fit_pca(X)
        return super()._fit(X, weights, y)

    def _fit_pca(self, X: Any) -> Self:
        """The principal components: no cost to minimise, but the map that every other is compared with."""
        check(self)
        random, metric = random_numbers(self.random_state), self.metric
        n_components = whole("n_components", self.n_components, 1)
        check_count(X.shape[0])
        for stale in ("method_", "learning_rate_", "preparation_"):  # of an earlier fit that had them
            self.__dict__.pop(stale, None)
        if isinstance(metric, str) and metric == "affinity":
            raise ValueError("affinities have no principal components: use a method that takes them")
        if isinstance(metric, str) and metric == "precomputed":
            self.embedding_ = classical_scaling(check_precomputed(X), n_components, random)
        else:
            self.embedding_ = principal_components(X, n_components, random, self.n_jobs)
        self.cost_, self.n_iter_, self.history_ = float("nan"), 1, {}  # one step, which is the last
        self.converged_, self.interrupted_ = True, False
        memory = 8 * X.shape[0] * X.shape[1]
        self.plan_ = Plan("linear", "principal components have no cost to minimise", memory)
        self._reference = projection(
            self.embedding_, Source.of(X, metric, self.metric_params, None, self.n_jobs)
        )
        return self

    def _extend(self, rows: Any, old: str) -> None:
        if not isinstance(self._reference.held, Projection):
            return super()._extend(rows, old)
        if check_old(old) != "fixed":
            raise ValueError("new rows are projected on the components that are there: use old='fixed'")
        Y = np.vstack([self.embedding_, self._reference.transform(rows)[0]])
        fitted = Source.of(self._reference.fitted.rows(), self.metric, self.metric_params, None, self.n_jobs)
        self.embedding_, self._reference = Y, projection(Y, fitted.extended(rows))

    def _asked(self) -> tuple[str | Method, dict[str, Any]]:
        return self.method, shared(self)


@takes_options
@dataclass(eq=False, repr=False)
class TSNE(_MapEstimator):
    """t-SNE with the names of scikit-learn: swap the import, keep the code.

    Parameters
    ----------
    {options}

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

    n_components: int = field(default=2, metadata=OPTIONS["n_components"])
    _: KW_ONLY
    early_exaggeration: float = option(12.0, "float", "By how much attraction is strengthened at first.")
    n_iter_without_progress: int = option(
        50,
        "int",
        """The run ends when the cost changes by less than 0.15 %, or `tol`, within so many iterations, and
        the points have all but come to rest.""",
    )
    min_grad_norm: float = option(
        1e-7, "float", "It ends as well when the norm of the gradient is below this."
    )
    method: str = option(
        "barnes_hut",
        "{'barnes_hut', 'exact'}",
        """"exact" is ``engine="exact"``; "barnes_hut" leaves the choice to `engine`.""",
    )
    angle: float = option(
        0.5,
        "float",
        "Has no effect: nothing here is a Barnes-Hut tree. A value other than the default warns.",
    )

    def _asked(self) -> tuple[str | Method, dict[str, Any]]:
        if self.method not in ("barnes_hut", "exact"):
            raise ValueError(
                f"method must be 'barnes_hut' or 'exact', got {self.method!r}; other methods than t-SNE:"
                " nearfield.Embedder"
            )
        if self.angle != 0.5:
            warnings.warn("angle has no effect: nothing here is a Barnes-Hut tree", UserWarning, stacklevel=3)
        options = shared(self) | {"exaggeration": self.early_exaggeration}
        if self.method == "exact":
            options["engine"] = "exact"
        return "tsne", options

    def _stop(self) -> dict[str, Any]:
        patience, norm = self.n_iter_without_progress, self.min_grad_norm
        return super()._stop() | {"patience": patience, "min_grad_norm": norm}

    @property
    def kl_divergence_(self) -> float:
        """The Kullback-Leibler divergence of the map: `cost_` under the name that scikit-learn gives it.

        With another `attraction` than 1, that has the part of the further springs in it.
        """
        return self.cost_


# Attributes that files have in another form: how they get it, and how they lose it.
KEPT: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "plan_": (Plan.facts, Plan.of),
    "feature_names_in_": (list, lambda names: np.array(names, dtype=object)),
}
BESIDE = ("history_",)  # which is there already


def kept_attributes(kind: type) -> dict[str, Any]:
    """The attributes of a fit that a file has, and of which kind they are there."""
    hints = get_type_hints(kind)
    names = [name for name in hints if name.endswith("_") and not name.startswith("_")]
    found = {name: hints[name] for name in names if name not in BESIDE}
    found |= {"_sklearn_output_config": dict[str, str]}
    return found | {"plan_": dict[str, str | int | float], "feature_names_in_": list[str]}


def _validated(estimator: _MapEstimator, X: Any, *, reset: bool = True) -> Any:
    """X as a float64 array or CSR matrix, or a message that names the row or column to mend."""
    how: dict[str, Any] = {} if reset else {"reset": False, "ensure_min_samples": 0}
    fitted = None if reset else estimator._reference.fitted
    if isinstance(X, Mix) or isinstance(fitted, MixedFitted):
        return _validated_views(estimator, X, fitted)
    if isinstance(X, tuple):  # which may be neighbours
        X = as_matrix(X, estimator.metric)
    if getattr(getattr(X, "dtype", None), "kind", "") not in "USO":  # of which the column is told below
        X = numbers(X)
    try:
        X = validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, **how)
    except (ValueError, TypeError) as error:
        if "could not convert" not in str(error) and "DType" not in str(error):
            raise
        raise ValueError(_text_column(X)) from error
    finite(X, getattr(estimator, "feature_names_in_", None))
    return X


def _validated_views(estimator: _MapEstimator, X: Any, fitted: Any) -> Any:
    """A mix that is to be fitted, or its rows that are new to a fitted one."""
    if isinstance(fitted, MixedFitted):
        return fitted.rows_of(X)
    if fitted is not None:
        raise ValueError("one view was fitted: pass the columns of new rows, and no mix")
    check_count(X.n)
    estimator.n_features_in_ = X.columns
    estimator.__dict__.pop("feature_names_in_", None)  # of an earlier fit
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
                kind = "dates" if hasattr(cell, "year") else "text"
                return (
                    f"column {name} holds {kind} ({cell!r:.80} in row {row}): leave it out, or encode it as"
                    " numbers"
                )
    return "X holds values that are not numbers"
