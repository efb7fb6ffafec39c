"""What becomes of a table before it is mapped: its columns, what is filled in, standardizing, components.

It is noted with what it found in the data, so that new rows are prepared as the fitted ones were. A row is
prepared on its own: its numbers do not depend on the rows beside it, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.descent.loops import project
from nearfield.descent.starts import principal_components
from nearfield.io.missing import WAYS
from nearfield.io.schema import LARGEST, check_array, fits
from nearfield.parallel import one_blas_thread, over_chunks
from nearfield.typing import Array

FAINT = 1e-20  # of the longest axis, squared: what is shorter is rounding


@dataclass(frozen=True, eq=False)
class Preparation:
    """How the rows of a table become what is mapped.

    Attributes
    ----------
    names : tuple of str
        The columns, in their order.
    means : array (columns,)
        What a missing number is taken for.
    missing : {"refuse", "drop", "mean"}
        What becomes of rows in which a number is missing.
    id, label : str or None
        The columns with the ids and the labels of the rows.
    scale : array (columns,), optional
        Their standard deviations, if columns are standardized.
    centre, axes : array (columns,), (columns, components), optional
        The mean that is taken off, and the directions that are projected on, if there are fewer components.
    notes : tuple of str
        What was decided when the table was read, for a person to read.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> how = Preparation.of(X, standardize=True, components=2)
    >>> how.rows(X).shape, np.array_equal(how.rows(X[7:8]), how.rows(X)[7:8])
    ((100, 2), True)
    """

    names: tuple[str, ...]
    means: Array
    missing: str = "refuse"
    id: str | None = None
    label: str | None = None
    scale: Array | None = None
    centre: Array | None = None
    axes: Array | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        X: Array,
        names: tuple[str, ...] = (),
        *,
        standardize: bool = False,
        components: int | None = None,
        seed: int = 0,
        **columns: Any,
    ) -> Preparation:
        """How these data are prepared."""
        X = np.asarray(X)
        means, scale, centre, axes = X.mean(axis=0, dtype=np.float64), None, None, None
        names = names or tuple(f"x{j + 1}" for j in range(X.shape[1]))
        if standardize or components:  # else there is no need for a copy
            X = np.asarray(X, dtype=np.float64)
        if standardize:
            from sklearn.preprocessing import StandardScaler

            known = StandardScaler().fit(X)
            means, scale = known.mean_, known.scale_
            X = (X - means) / scale
        if components:
            centre, axes = _axes(X, principal_components(X, components, np.random.RandomState(seed)))
        return cls(names, means, scale=scale, centre=centre, axes=axes, **columns)

    def rows(self, X: Any) -> Array:
        """Rows of the table as they are mapped."""
        X = np.asarray(X)
        if self.scale is not None:
            X = (X - self.means) / self.scale
        if self.axes is None:
            return X if X.dtype == np.float32 else np.asarray(X, dtype=np.float64)
        X = np.asarray(X, dtype=np.float64)
        out = np.empty((len(X), self.axes.shape[1]))
        over_chunks(project, len(X), np.ascontiguousarray(X), self.centre, self.axes, out)
        return out

    @property
    def columns(self) -> int:
        """How many columns a prepared row has."""
        return len(self.names) if self.axes is None else self.axes.shape[1]

    def check(self) -> None:
        """Refuse what is no preparation, before a loop trusts it."""
        width = len(self.names)
        said = (*self.names, *self.notes)
        if not all(each.isprintable() for each in said) or self.missing not in WAYS:
            raise ValueError(
                "the preparation must have names that can be read, and a way with what is missing"
            )
        check_array("the means", self.means, (width,))
        if self.scale is not None:
            check_array("the deviations", self.scale, (width,), low=1e-300)
        if (self.axes is None) != (self.centre is None):
            raise ValueError("the preparation has axes without a centre, or a centre without axes")
        if self.axes is not None:
            check_array("the centre", self.centre, (width,))
            check_array("the axes", self.axes, (width, None), low=-LARGEST)
            if not fits(self.axes.shape[1], int) or not 1 <= self.axes.shape[1] <= width:
                raise ValueError("the preparation has more axes than columns, or none")


@one_blas_thread()
def _axes(X: Array, Y: Array) -> tuple[Array, Array]:
    """The mean of some rows, and the directions that their principal components are the projections on."""
    centre, lengths = X.mean(axis=0), (Y**2).sum(axis=0)
    axes = (X - centre).T @ Y
    sizes = np.linalg.norm(axes, axis=0)
    kept = lengths > FAINT * lengths.max()
    return centre, np.ascontiguousarray(axes * np.where(kept, 1 / np.where(kept, sizes, 1.0), 0.0))
