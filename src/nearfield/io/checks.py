"""What is refused at the door, with a message that names the fix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse


def finite(X: Any, names: Sequence[str] | None = None) -> None:
    """Refuse NaN and infinity, naming the rows.

    Parameters
    ----------
    X : array or sparse matrix (points, columns)
        What is checked.
    names : sequence of str, optional
        The names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> finite(np.array([[1.0, 2.0], [np.nan, 3.0]]))
    Traceback (most recent call last):
        ...
    ValueError: X contains NaN in row 1, column 0: fill in or leave out such rows (1 of 2)
    """
    values = X.data if sparse.issparse(X) else np.asarray(X)
    if values.dtype.kind not in "fc" or np.isfinite(np.sum(values)) or np.isfinite(values).all():
        return
    dense = sparse.coo_array(X) if sparse.issparse(X) else None
    bad = ~np.isfinite(values)
    if dense is not None:
        bad = ~np.isfinite(dense.data)
        rows, columns, cells = dense.coords[0][bad], dense.coords[1][bad], dense.data[bad]
    else:
        rows, columns = np.nonzero(bad)
        cells = values[bad]
    distinct = np.unique(rows)
    what = "NaN" if np.isnan(cells).any() else "infinity (inf)"
    where = f"row{'s' if len(distinct) > 1 else ''} {', '.join(map(str, distinct[:5]))}"
    if len(distinct) > 5:
        where += ", …"
    column = int(columns[0])
    named = repr(names[column]) if names is not None else column
    raise ValueError(
        f"X contains {what} in {where}, column {named}: fill in or leave out such rows"
        f" ({len(distinct)} of {X.shape[0]})"
    )
