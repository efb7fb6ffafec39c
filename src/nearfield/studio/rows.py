"""What the page is told of the data: the name, the columns to colour by, and the values of single rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.parallel import one_blas_thread
from nearfield.show.columns import described
from nearfield.typing import Array

COLOURS = 200  # columns at the most by which can be coloured
SHOWN = 40  # values of a row on its card
SIDE = 6  # pixels that an image has at least on a side
WIDE = 100  # columns, above which they are reduced to as many principal components as below
COMPONENTS = 50
SQUARE = 4096  # columns at the most of which a covariance is computed


@dataclass(frozen=True, eq=False)
class Reduction:
    """A projection on principal components, of rows that were there and of new ones."""

    mean: Array
    axes: Array

    def __call__(self, X: Any) -> Array:
        """The components of some rows; each is computed alone, whatever the others are."""
        return np.stack([((row - self.mean) @ self.axes) for row in np.asarray(X, dtype=np.float64)])


@one_blas_thread()
def reduction(X: Array, count: int = COMPONENTS) -> Reduction:
    """The projection on the components along which rows differ most."""
    mean = X.mean(axis=0)
    gaps = X - mean
    _, axes = np.linalg.eigh(gaps.T @ gaps)
    axes = axes[:, ::-1][:, : min(count, *X.shape)]
    largest = np.argmax(np.abs(axes), axis=0)  # a sign that does not depend on the machine
    return Reduction(mean, axes * np.sign(axes[largest, np.arange(axes.shape[1])]))


@dataclass(frozen=True, eq=False)
class Rows:
    """The data of a session.

    Attributes
    ----------
    name : str
        Of the data, for people.
    X : array or sparse matrix (points, columns)
        As they were given.
    names : tuple of str
        Of the columns.
    labels, ids : array (points,), optional
        Of the rows.
    label : str
        What the labels are called.
    reduced : Reduction, optional
        What was done to many columns before the map is made of them.
    """

    name: str
    X: Any
    names: tuple[str, ...] = ()
    labels: Any = None
    ids: Any = None
    label: str = "label"
    reduced: Reduction | None = None

    @property
    def n(self) -> int:
        """How many rows there are."""
        return self.X.shape[0]

    @cached_property
    def mapped(self) -> Any:
        """What the map is made of."""
        return self.X if self.reduced is None else self.reduced(self.X)

    def prepared(self, new: Array) -> Array:
        """New rows in the form of those that the map is made of."""
        if new.shape[1] != self.X.shape[1]:
            raise ValueError(f"the rows have {new.shape[1]} numbers each, and the data {self.X.shape[1]}")
        return new if self.reduced is None else self.reduced(new)

    @cached_property
    def image(self) -> tuple[int, int] | None:
        """Height and width, if the rows look like grey pictures: a square of whole numbers, or of shares."""
        side = math.isqrt(self.X.shape[1])
        if sparse.issparse(self.X) or side < SIDE or side**2 != self.X.shape[1]:
            return None
        some = self.X[:: max(1, self.n // 200)]
        low, high = float(some.min()), float(some.max())
        whole = bool(np.all(some == np.floor(some)))
        return (side, side) if low == 0 and high > 0 and ((whole and high <= 255) or high <= 1) else None

    @property
    def columns(self) -> list[dict[str, str]]:
        """What can be coloured by: the labels first, then the columns; an image's pixels are none."""
        found = [] if self.labels is None else [{"name": self.label}]
        if self.image is None and not sparse.issparse(self.X):
            found += [{"name": name} for name in self.names[:COLOURS]]
        return found

    def column(self, number: int) -> dict[str, Any]:
        """A column as pages take it."""
        if self.labels is not None and number == 0:
            return described(self.label, self.labels)
        number -= self.labels is not None
        return described(self.names[number], self.X[:, number])

    def title(self, i: int) -> str:
        """What a row is called."""
        return str(i if self.ids is None else self.ids[i])

    def card(self, i: int) -> dict[str, Any]:
        """What is told of a row: its name, label and values, or its picture."""
        row = self.X[[i]].toarray()[0] if sparse.issparse(self.X) else np.asarray(self.X[i])
        told: dict[str, Any] = {"index": i, "title": self.title(i)}
        if self.labels is not None:
            told["label"] = str(self.labels[i])
        shape = self.image
        if shape is not None:
            high = 255 if float(row.max()) > 16 else 16 if float(row.max()) > 1 else 1
            told["image"] = {"height": shape[0], "width": shape[1]}
            told["image"]["grey"] = np.clip(255 * row / high, 0, 255).astype(int).tolist()
        else:
            told["values"] = [
                [name, plain(value)] for name, value in zip(self.names, row[:SHOWN].tolist(), strict=False)
            ]
        return told


def plain(value: Any) -> Any:
    """A number as JSON can hold it: what is none, is nothing."""
    return value if not isinstance(value, float) or math.isfinite(value) else None


def rows_of(
    name: str, X: Any, *, names: Any = None, labels: Any = None, ids: Any = None, label: str = "label"
) -> Rows:
    """The rows of some data, with many columns reduced.

    Examples
    --------
    >>> from nearfield.io.datasets import iris
    >>> flowers = iris()
    >>> rows = rows_of("iris", flowers.X, names=flowers.names, labels=flowers.labels)
    >>> rows.column(0)["names"], rows.card(0)["values"][0]
    (['setosa', 'versicolor', 'virginica'], ['sepal length (cm)', 5.1])
    """
    if hasattr(X, "columns") and names is None:
        names = [str(each) for each in X.columns]
    if not sparse.issparse(X):
        X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"the data must have rows and columns, got the shape {X.shape}")
    for what, values in (("labels", labels), ("ids", ids)):
        if values is not None and len(values) != X.shape[0]:
            raise ValueError(f"there are {len(values)} {what} for {X.shape[0]} rows")
    named = tuple(map(str, names)) if names is not None else tuple(str(k) for k in range(X.shape[1]))
    wide = not sparse.issparse(X) and WIDE < X.shape[1] <= SQUARE and X.shape[0] > COMPONENTS
    labels = None if labels is None else np.asarray(labels)
    return Rows(name, X, named, labels, ids, label, reduction(X) if wide else None)
