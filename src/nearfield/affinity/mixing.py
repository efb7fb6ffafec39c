"""Several views of the same rows as one source: each with its own metric and its own P, which are averaged.

A mix holds the columns of all views side by side, and knows which are whose: so its rows can be sliced, known
again and placed like any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.distances import check_metric
from nearfield.affinity.source import Source
from nearfield.checks import check_count, finite, numbers

NOT_ADDED = (
    "rows cannot be added to a mix of views: fit all of them anew, with init an array in which new rows are"
    " NaN"
)
ALONE = ("precomputed", "affinity")  # what is between rows, and no view of them


@dataclass(frozen=True)
class View:
    """Which columns of a mix are a view, and how its distances are taken.

    Attributes
    ----------
    metric : str or callable
        Of the distances.
    start, stop : int
        Its columns.
    stored : bool
        Whether its rows are sparse.
    share : float
        Of its P in that of the mix; all of them sum to one.
    """

    metric: Any
    start: int
    stop: int
    stored: bool
    share: float

    def of(self, rows: Any) -> Any:
        """The columns of this view, of some rows of the mix."""
        found = rows[:, self.start : self.stop]
        if self.stored:
            return sparse.csr_array(found)
        return found.toarray() if sparse.issparse(found) else np.ascontiguousarray(found)


@dataclass(frozen=True, eq=False)
class Mix(Source):
    """Several views as one source; `metric` is the tuple of them."""

    @cached_property
    def views(self) -> tuple[Source, ...]:
        """Each view as a source of its own."""
        return tuple(
            Source(view.of(self.X), view.metric, None, self.weights, self.n_jobs) for view in self.metric
        )

    @property
    def shares(self) -> tuple[float, ...]:
        """What each view counts."""
        return tuple(view.share for view in self.metric)

    @property
    def coordinates(self) -> Any:
        """None: axes through columns of several kinds would be those of the largest numbers."""
        return None

    @property
    def drawable(self) -> bool:
        """Whether neighbours of every rank can be drawn: each view has others."""
        return False

    def check_rows(self, rows: Any) -> Any:
        """No rows can be added."""
        raise ValueError(NOT_ADDED)


def mix(views: Sequence[Any], weights: Sequence[float] | None = None) -> Mix:
    """Several views of the same rows, to be mapped as one.

    Each has a metric and a P of its own, calibrated to the same perplexity, so that it does not matter in
    which units a view is. The map is that of their average.

    Parameters
    ----------
    views : sequence
        Arrays, sparse matrices or data frames of as many rows, or tuples (view, metric). Without a metric,
        numbers are taken by Euclidean distances, and categories, as text, by how many of them differ.
    weights : sequence of float, optional
        What each view counts; by default all the same.

    Returns
    -------
    Mix
        Which `fit` and `Run` take in place of data, and `transform` for new rows, mixed in the same way.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> random = np.random.default_rng(0)
    >>> numbers, kinds = random.normal(size=(80, 3)), np.repeat(["a", "b", "c", "d"], 20)
    >>> both = nf.mix([numbers, kinds], weights=[2, 1])
    >>> model = nf.TSNE(perplexity=10, random_state=0).fit(both)
    >>> model.transform(nf.mix([numbers[:2] + 0.1, kinds[:2]])).shape
    (2, 2)
    """
    if not isinstance(views, (list, tuple)):  # the rows of a matrix would be taken for views
        told = type(views).__name__
        raise TypeError(f"mix takes a list of views, each an array or a tuple (view, metric), got a {told}")
    parts = [_part(number, view) for number, view in enumerate(views)]
    if not parts:
        raise ValueError("there are no views to mix: give at least one")
    lengths = [X.shape[0] for X, _ in parts]
    if len(set(lengths)) > 1:
        told = ", ".join(map(str, lengths))
        raise ValueError(f"views must have the same rows, but they have {told}: one for each in all of them")
    check_count(max(lengths[0], 2))
    shares, start, made = _shares(weights, len(parts)), 0, []
    for (X, metric), share in zip(parts, shares, strict=True):
        made.append(View(metric, start, start + X.shape[1], sparse.issparse(X), share))
        start += X.shape[1]
    matrices = [X for X, _ in parts]
    stored = any(map(sparse.issparse, matrices))
    wide = sparse.csr_array(sparse.hstack(matrices)) if stored else np.hstack(matrices)
    return Mix(wide, tuple(made))


def _part(number: int, view: Any) -> tuple[Any, Any]:
    """The rows of a view as numbers, and its metric."""
    view, metric = view if isinstance(view, tuple) and len(view) == 2 else (view, None)
    try:
        X: Any = view if sparse.issparse(view) else np.asarray(view)
    except ValueError:
        raise ValueError(f"view {number} must be a matrix, a data frame, or a tuple (view, metric)") from None
    if X.ndim == 1:
        X = X[:, None]
    if X.ndim != 2 or not X.shape[1]:
        raise ValueError(f"view {number} must have two dimensions, rows and columns, got shape {X.shape}")
    if X.dtype.kind in "OUS":
        X, kind = _categories(X, number)
        metric = kind if metric is None else metric
    metric = "euclidean" if metric is None else metric
    if isinstance(metric, str) and metric in ALONE:
        raise ValueError(f"view {number} has metric {metric!r}, which is between rows: give coordinates")
    check_metric(metric)
    X = numbers(X, what=f"view {number}")
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    finite(X, what=f"view {number}")
    return X, metric


def _categories(X: Any, number: int) -> tuple[Any, str]:
    """Cells of text as numbers that are equal where they are; objects that are numbers as these."""
    text = [any(isinstance(cell, str) for cell in column) or X.dtype.kind != "O" for column in X.T]
    if not any(text):
        return numbers(X, what=f"view {number}"), "euclidean"
    if not all(text):
        raise ValueError(
            f"view {number} has text in column {text.index(True)} and numbers in column {text.index(False)}:"
            " give them as views of their own"
        )
    for i, row in enumerate(X):
        if any(cell is None or cell != cell for cell in row):  # NaN differs from itself
            raise ValueError(
                f"view {number} lacks a category in row {i}: give it a name, such as 'unknown', or leave out"
                " the row"
            )
    known = {cell: _code(cell) for cell in {str(cell) for cell in X.flat}}
    return np.array([known[str(cell)] for cell in X.flat], dtype=np.float64).reshape(X.shape), "hamming"


def _code(cell: str) -> float:
    """A number for a text, the same in every table: that two texts share one is out of the question."""
    return float(int.from_bytes(blake2b(cell.encode(), digest_size=6).digest(), "big"))


def _shares(weights: Sequence[float] | None, count: int) -> list[float]:
    try:
        given = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.shape != (count,) or not np.all(np.isfinite(given) & (given > 0)):
        raise ValueError(f"weights must be a positive number for each of the {count} views, got {weights}")
    return (given / given.sum()).tolist()


def told(views: Sequence[View]) -> str:
    """Views in a few words."""
    return ", ".join(
        f"{view.metric if isinstance(view.metric, str) else getattr(view.metric, '__name__', 'function')} of"
        f" {view.stop - view.start} columns"
        for view in views
    )
