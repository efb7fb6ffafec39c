"""What is refused at the door, with a message that names the fix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse


def finite(X: Any, names: Sequence[str] | None = None, what: str = "X") -> None:
    """Refuse NaN and infinity, naming the rows.

    Parameters
    ----------
    X : array or sparse matrix (points, columns)
        What is checked.
    names : sequence of str, optional
        The names of the columns.
    what : str
        What X is called in the message.

    Examples
    --------
    >>> import numpy as np
    >>> finite(np.array([[1.0, 2.0], [np.nan, 3.0]]))
    Traceback (most recent call last):
        ...
    ValueError: X contains NaN in row 1, column 0: fill in or leave out such rows (1 of 2)
    """
    values = X.data if sparse.issparse(X) else np.asarray(X)
    if values.dtype.kind not in "fc" or np.isfinite(values).all():
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
    where = f"row{'s' if len(distinct) > 1 else ''} {', '.join(map(str, distinct[:5]))}"
    if len(distinct) > 5:
        where += ", …"
    column = int(columns[0])
    named = repr(names[column]) if names is not None else column
    raise ValueError(
        f"{what} contains {found} in {where}, column {named}: fill in or leave out such rows"
        f" ({len(distinct)} of {X.shape[0]})"
    )


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
