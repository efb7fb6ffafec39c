"""What is refused at the door, with a message that names the fix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

SQUARABLE = 1e50  # of which fourth powers and squares of their sums are numbers, and of its inverse


def finite(X: Any, names: Sequence[str] | None = None, what: str = "X", first: int = 0) -> None:
    """Refuse NaN and infinity, naming the rows.

    Parameters
    ----------
    X : array or sparse matrix (points, columns)
        What is checked.
    names : sequence of str, optional
        The names of the columns.
    what : str
        What X is called in the message.
    first : int
        The number of the first row, where they are some of more.

    Examples
    --------
    >>> import numpy as np
    >>> finite(np.array([[1.0, 2.0], [np.nan, 3.0]]))
    Traceback (most recent call last):
        ...
    ValueError: X contains NaN in row 1, column 0: fill in or leave out such rows (1 of 2)
    """
    values = X.data if sparse.issparse(X) else np.asarray(X)
    if values.dtype.kind not in "fc" or _all_finite(values):
        return
    if sparse.issparse(X):
        stored = sparse.coo_array(X)
        bad = ~np.isfinite(stored.data)
        rows, columns, cells = stored.coords[0][bad], stored.coords[1][bad], stored.data[bad]
    else:
        bad = ~np.isfinite(values)
        rows, columns = np.nonzero(bad)
        cells = values[bad]
    distinct = np.unique(rows)
    found = "NaN" if np.isnan(cells).any() else "infinity (inf)"
    where = f"row{'s' if len(distinct) > 1 else ''} {', '.join(map(str, first + distinct[:5]))}"
    if len(distinct) > 5:
        where += ", …"
    column = int(columns[0])
    named = repr(names[column]) if names is not None else column
    raise ValueError(
        f"{what} contains {found} in {where}, column {named}: fill in or leave out such rows"
        f" ({len(distinct)} of {f'those up to {first + X.shape[0] - 1}' if first else X.shape[0]})"
    )


def _all_finite(values: Any) -> bool:
    """Whether all are, without a mask of their size: the least and the largest are NaN if any number is."""
    if values.dtype.kind == "c" or not values.size:
        return bool(np.isfinite(values).all())
    return bool(np.isfinite(values.min()) and np.isfinite(values.max()))


def numbers(X: Any, what: str = "X") -> Any:
    """X as an array, sparse matrix or frame of real numbers that can be squared, or what is wrong with it.

    A mask would be forgotten, and dates and complex numbers would be taken for what they are not.

    Examples
    --------
    >>> import numpy as np
    >>> numbers(np.array([[1 + 2j, 0]]))
    Traceback (most recent call last):
        ...
    ValueError: Complex data not supported: pass real and imaginary parts of X as columns of their own
    """
    if isinstance(X, np.ma.MaskedArray):
        masked = int(np.ma.count_masked(X))
        if masked:
            raise ValueError(
                f"{what} is a masked array in which {masked} values are missing: fill them in, such as by"
                " X.filled(X.mean()), or leave out such rows"
            )
        X = X.data
    if sparse.issparse(X):
        X = X.tocsr()
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if kind in "mM":
        raise ValueError(f"{what} holds dates or durations: pass them as numbers, such as X.astype(float)")
    if kind == "c":
        raise ValueError(
            f"Complex data not supported: pass real and imaginary parts of {what} as columns of their own"
        )
    if isinstance(X, np.ndarray) and kind in "USO":
        X = _converted(X, what)
    if isinstance(X, np.ndarray) and X.dtype == np.longdouble != np.float64:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused
            X = X.astype(np.float64)
    values = X.data if sparse.issparse(X) else X
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf" and values.size:
        largest = max(float(values.max()), -float(values.min()))  # a NaN is left to `finite`
        if SQUARABLE < largest < np.inf or 0 < largest < 1 / SQUARABLE:
            raise ValueError(
                f"{what} holds values up to {largest:.1g}, whose squares no number can hold: divide all of"
                f" them by {largest:.0e}"
            )
    return X


def _converted(X: Any, what: str) -> Any:
    """Texts and objects as numbers, if they are numbers."""
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError):
        for cell in X.flat:
            try:
                float(cell)
            except (TypeError, ValueError):
                raise ValueError(
                    f"{what} holds {str(cell)[:40]!r}, which is no number: leave out such values, or encode"
                    " them"
                ) from None
        raise


def check_count(n: int) -> None:
    """Refuse so few points that there is nothing to map."""
    if n < 2:
        raise ValueError(f"a map needs at least 2 points, got {n} sample{'s' if n != 1 else ''}")


def whole(name: str, value: Any, least: int) -> int:
    """A whole number from `least` up, as a plain int, or a message that says so."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
        kind = "positive whole number" if least == 1 else f"whole number from {least} up"
        raise ValueError(f"{name} must be a {kind}, got {value!r}")
    return int(value)
