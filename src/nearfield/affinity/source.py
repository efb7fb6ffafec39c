"""The source of a map: what the data are and how they are to be taken, resolved once, at the door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from scipy import sparse

from nearfield.affinity.copies import check_weights
from nearfield.affinity.given import as_matrix
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
    """

    X: Any
    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None
    weights: Array | None = None
    n_jobs: int | None = None

    @classmethod
    def of(
        cls, X: Any, metric: Any, metric_params: dict[str, Any] | None, weights: Any, n_jobs: int | None
    ) -> Self:
        """The source of what a person gave, or what is wrong with it.

        Examples
        --------
        >>> import numpy as np
        >>> source = Source.of(np.eye(4), "euclidean", None, None, None)
        >>> source.n, source.columns, source.euclidean
        (4, 4, True)
        """
        X = as_matrix(X, metric)
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, points and columns, got shape {X.shape}")
        return cls(X, metric, metric_params, check_weights(weights, X.shape[0]), n_jobs)

    @property
    def n(self) -> int:
        """How many points there are."""
        return self.X.shape[0]

    @property
    def given(self) -> bool:
        """Whether distances or affinities were given in place of coordinates."""
        return isinstance(self.metric, str) and self.metric in ("precomputed", "affinity")

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
        return not self.given or (self.metric == "precomputed" and not sparse.issparse(self.X))

    @property
    def columns(self) -> int:
        """How many columns are held for each point."""
        return 0 if self.given and sparse.issparse(self.X) else self.X.shape[1]

    @property
    def stored(self) -> int | None:
        """How many numbers sparse data hold."""
        return self.X.nnz if sparse.issparse(self.X) else None

    @property
    def distances(self) -> dict[str, Any]:
        """How distances are taken."""
        return {"metric": self.metric, "metric_params": self.metric_params, "n_jobs": self.n_jobs}
