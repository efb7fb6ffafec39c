"""Columns that number the rows: as a measurement they would drown the others."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

import numpy as np

from nearfield.io.columns import Table, short

# Names that say that a column tells the rows apart: what pandas calls an index it was told to write, what
# `delimited` calls a column without a name, and what people say.
_INDEX = re.compile(
    # But not "humid".
    r"(?i:unnamed:? \d+|__index_level_\d+__|id|(row[ _-]?)?index|idx|row|.*[ _.-]id)|.*[a-z]I[dD]"
)


def may_number(name: str) -> bool:
    """Whether a column is called as one that numbers the rows.

    >>> may_number("row_id"), may_number("humid")
    (True, False)
    """
    return _INDEX.fullmatch(name) is not None


def without_index(table: Table) -> Table:
    """Leave out whole numbers that tell the rows apart: as a measurement they would drown the others."""
    X, notes, keep = table.X, list(table.notes), []
    for j, name in enumerate(table.names):
        column = X[:, j]
        if _INDEX.fullmatch(name) and np.all(column == np.floor(column)) and np.unique(column).size == len(X):
            use = f"--id {shlex.quote(name)} makes it the id"
            notes.append(f"left out the column {name!r}, which numbers the rows: {use}")
            continue
        keep.append(j)
        if len(X) > 2 and column[1] - column[0] == 1 and np.all(np.diff(column) == 1):
            notes.append(
                f"the column {short(name)!r} just counts the rows: if it is no measurement, make it the id,"
                f" --id {shlex.quote(short(name))}"
            )
    if len(keep) < X.shape[1]:
        X = X[:, keep]
    return replace(table, X=X, names=tuple(table.names[j] for j in keep), notes=tuple(notes))
