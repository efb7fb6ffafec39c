"""What becomes of rows in which a number is missing: they are refused, left out, or filled in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nearfield.io.columns import Table, short

WAYS = ("refuse", "drop", "mean")
_NAMED = 5  # cells or rows that a message names; of the others it says how many they are


def without_missing(table: Table, way: str = "refuse") -> Table:
    """Return a table in which no number is missing.

    Parameters
    ----------
    table : Table
        As it was read, NaN where a number is missing.
    way : {"refuse", "drop", "mean"}
        "drop" leaves out the rows in which one is missing. The others keep their ids; where there are none,
        their numbers in the file, from 0, become the ids. "mean" fills in the mean of the column.

    Examples
    --------
    >>> from nearfield.io.tables import Table
    >>> table = Table(np.array([[1.0, 2.0], [np.nan, 3.0], [3.0, 4.0]]), ("a", "b"))
    >>> without_missing(table, "mean").X.tolist()
    [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]]
    >>> dropped = without_missing(table, "drop")
    >>> dropped.ids.tolist(), dropped.notes
    ([0, 2], ('left out 1 of 3 rows, in which numbers are missing: row 1',))
    >>> without_missing(table)
    Traceback (most recent call last):
    ...
    ValueError: 1 number is missing, in 1 of 3 rows: row 1 column 'a'; --missing drop leaves out such rows,
    --missing mean fills in the mean of the column
    """
    if way not in WAYS:
        raise ValueError(f"--missing is one of {', '.join(WAYS)}, and not {way!r}")
    gaps = np.isnan(table.X)
    if not gaps.any():
        return table
    with_gaps = np.flatnonzero(gaps.any(axis=1))
    if way == "refuse":
        raise ValueError(_refusal(table, gaps, len(with_gaps)))
    return _dropped(table, with_gaps) if way == "drop" else _filled(table, gaps)


def _refusal(table: Table, gaps: np.ndarray, rows: int) -> str:
    count = int(gaps.sum())
    # Row by row, so that a person can go through the file from its top.
    first = [divmod(int(place), gaps.shape[1]) for place in np.flatnonzero(gaps)[:_NAMED]]
    cells = [f"row {i} column {short(table.names[j])!r}" for i, j in first]
    are = "number is" if count == 1 else "numbers are"
    return (
        f"{count} {are} missing, in {rows} of {len(gaps)} rows: {_listed(cells, count)};"
        " --missing drop leaves out such rows, --missing mean fills in the mean of the column"
    )


def _dropped(table: Table, rows: np.ndarray) -> Table:
    total = len(table.X)
    if len(rows) == total:
        raise ValueError(
            f"a number is missing in each of the {total} rows: choose columns without gaps, or --missing mean"
        )
    keep = np.setdiff1d(np.arange(total), rows)
    named = _listed([str(row) for row in rows[:_NAMED]], len(rows))
    which = f"row{'s' * (len(rows) > 1)} {named}"
    note = f"left out {len(rows)} of {total} rows, in which numbers are missing: {which}"
    left = table.kept(keep)
    return replace(left, ids=keep if table.ids is None else left.ids, notes=(*table.notes, note))


def _filled(table: Table, gaps: np.ndarray) -> Table:
    blank = np.flatnonzero(gaps.all(axis=0))
    if len(blank):
        raise ValueError(
            f"all numbers of the column {short(table.names[blank[0]])!r} are missing: leave it out"
        )
    X = np.where(gaps, np.nanmean(table.X, axis=0), table.X)
    columns = [repr(short(table.names[j])) for j in np.flatnonzero(gaps.any(axis=0))]
    count = int(gaps.sum())
    note = (
        f"filled in {count} missing number{'s' * (count > 1)} with the mean of the column"
        f"{'s' * (len(columns) > 1)} {_listed(columns[:_NAMED], len(columns))}"
    )
    return replace(table, X=X, notes=(*table.notes, note))


def _listed(some: list[str], count: int) -> str:
    return ", ".join(some) + (f" and {count - len(some)} more" if count > len(some) else "")
