"""The source of a map: what the data are and how they are to be taken, resolved once, at the door.

Whoever comes later asks the source: for distances, for neighbours, and for the neighbours of other rows among
its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse

from nearfield.affinity.copies import check_weights
from nearfield.affinity.distances import check_apart, check_metric, check_parameters, distances
from nearfield.affinity.given import as_matrix, distance_graph
from nearfield.affinity.space import space
from nearfield.affinity.space_base import Space
from nearfield.affinity.supervision import Supervision
from nearfield.checks import finite, numbers
from nearfield.typing import Array


@dataclass(frozen=True, eq=False)
class Source:
    """Points, distances, a graph of neighbours or ready affinities.

    Attributes
    ----------
    X : array or sparse matrix
        Coordinates (points, columns), or what `metric` says.
    metric, metric_params
        How distances are taken; "precomputed" and "affinity" for what is given in place of coordinates.
    weights : array (points,), optional
        How many equal rows each row stands for.
    n_jobs : int or None
        Threads; None is all cores.
    remembered : int
        How many neighbours of each point are searched at least, and kept for whoever asks again.
    labels : Supervision, optional
        The classes of the points, where they are to have a say.
    """

    X: Any
    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None
    weights: Array | None = None
    n_jobs: int | None = None
    remembered: int = 0
    labels: Supervision | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        weights: Any = None,
        n_jobs: int | None = None,
        remembered: int = 0,
    ) -> Self:
        """The source of what a person gave, or what is wrong with it; a source is what it is already.

        Examples
        --------
        >>> import numpy as np
        >>> source = Source.of(np.eye(4))
        >>> source.n, source.columns, source.euclidean
        (4, 4, True)
        """
        if isinstance(X, cls):
            told: dict[str, Any] = {} if weights is None else {"weights": check_weights(weights, X.n)}
            told |= {} if n_jobs in (None, X.n_jobs) else {"n_jobs": n_jobs}
            told |= {} if remembered in (0, X.remembered) else {"remembered": remembered}
            return replace(X, **told) if told else X
        X = numbers(as_matrix(X, metric))
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, points and columns, got shape {X.shape}")
        if not (isinstance(metric, str) and metric in ("precomputed", "affinity")):
            check_metric(metric)
            check_parameters(metric, X.shape[1], metric_params)
        return cls(X, metric, metric_params, check_weights(weights, X.shape[0]), n_jobs, remembered)

    # What it is -------------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """How many points there are."""
        return self.X.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        """Points and columns, as of a matrix."""
        return self.X.shape

    @property
    def n_copies(self) -> float:
        """How many points there are, all copies counted."""
        return float(self.n if self.weights is None else self.weights.sum())

    @property
    def given(self) -> bool:
        """Whether distances or affinities were given in place of coordinates."""
        return self.precomputed or self.affinities

    @property
    def precomputed(self) -> bool:
        """Whether distances were given, of all pairs or of some."""
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def affinities(self) -> bool:
        """Whether a ready P was given."""
        return isinstance(self.metric, str) and self.metric == "affinity"

    @property
    def coordinates(self) -> Any:
        """The coordinates of the points, or None."""
        return None if self.given else self.X

    @property
    def euclidean(self) -> bool:
        """Whether Euclidean distances of coordinates are meant."""
        return isinstance(self.metric, str) and self.metric == "euclidean" and not self.metric_params

    @property
    def drawable(self) -> bool:
        """Whether neighbours of every rank can be drawn: not from some distances, or from affinities."""
        return not self.given or (self.precomputed and not sparse.issparse(self.X))

    @property
    def views(self) -> tuple[Source, ...]:
        """The sources that are mixed, if there are several."""
        return ()

    @property
    def shares(self) -> tuple[float, ...]:
        """What each of them counts."""
        return ()

    @property
    def columns(self) -> int:
        """How many columns are held for each point."""
        return 0 if self.given and sparse.issparse(self.X) else self.X.shape[1]

    @property
    def stored(self) -> int | None:
        """How many numbers sparse data hold."""
        return self.X.nnz if sparse.issparse(self.X) else None

    def supervised(self, labels: Any, strength: float) -> Source:
        """The same with labels that have a say; nothing, if they are to have none."""
        if not strength:
            return self
        if labels is None:
            raise ValueError(
                "supervision needs labels: pass them as y to fit, as labels to Run, or leave it at 0"
            )
        return replace(self, labels=Supervision.of(labels, self.n, strength))

    # More or fewer rows -----------------------------------------------------------------------------------

    def check_rows(self, rows: Any) -> Any:
        """Rows that can be added, or what is wrong with them."""
        if self.affinities or self.graph is not None:
            raise ValueError(
                "rows cannot be added to neighbours or affinities: make another run of all of them, with init"
                " an array in which new rows are NaN"
            )
        rows = numbers(as_matrix(rows, self.metric), what="rows")
        if rows.ndim != 2 or not rows.shape[0]:
            raise ValueError(f"rows must have two dimensions, at least one row, got shape {rows.shape}")
        finite(rows, what="rows")
        wanted = self.n + rows.shape[0] if self.precomputed else self.columns
        if rows.shape[1] != wanted:
            kind = "distances, to the old rows and to each other" if self.precomputed else "columns"
            raise ValueError(f"rows must have {wanted} {kind}, got {rows.shape[1]}")
        return rows

    def extended(self, rows: Any, weights: Any = None) -> Source:
        """The same with more rows, which `check_rows` has seen.

        Examples
        --------
        >>> import numpy as np
        >>> Source.of(np.eye(4)).extended(np.ones((2, 4))).n
        6
        """
        if self.precomputed:
            X = np.block([[self.X, rows[:, : self.n].T], [rows]])
        elif sparse.issparse(self.X) or sparse.issparse(rows):
            X = sparse.csr_array(sparse.vstack([self.X, rows]))
        else:
            X = np.vstack([self.X, rows])
        added = check_weights(weights, rows.shape[0])
        both = None
        if added is not None or self.weights is not None:
            parts = ((self.weights, self.n), (added, rows.shape[0]))
            both = np.concatenate([np.ones(n) if each is None else each for each, n in parts])
        labels = None if self.labels is None else self.labels.extended(rows.shape[0])
        return replace(self, X=X, weights=both, labels=labels)

    def first(self, n: int) -> Source:
        """The first n rows alone."""
        X = self.X[:n, :n] if self.given else self.X[:n]
        labels = None if self.labels is None else self.labels.first(n)
        return replace(self, X=X, weights=None if self.weights is None else self.weights[:n], labels=labels)

    def last(self, count: int) -> Any:
        """The last rows, as they were added."""
        return self.X[self.n - count :]

    def seen_by_old(self, rows: Any) -> Any:
        """Rows that are to be added, as they are placed among those that are there."""
        return rows[:, : self.n] if self.precomputed else rows

    # What it answers --------------------------------------------------------------------------------------

    @cached_property
    def graph(self) -> Any:
        """The distances to neighbours, where a graph of them was given; otherwise None."""
        return distance_graph(self.X, self.metric)

    @cached_property
    def space(self) -> Space:
        """The points as a space to search in."""
        return space(self.X, self.metric, self.metric_params)

    def distances(self, *, squared: bool = False) -> Array:
        """The distances of all pairs, or their squares; data in which all points are equal are refused.

        Examples
        --------
        >>> import numpy as np
        >>> Source.of(np.array([[0.0, 0.0], [3.0, 4.0]])).distances()
        array([[0., 5.],
               [5., 0.]])
        """
        D = distances(self.X, self.metric, self.metric_params, self.n_jobs, squared=squared)
        check_apart(D)
        return D
