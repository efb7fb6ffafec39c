"""Tables in, maps out.

A table is read by the extension of its file: text (`.csv`, `.tsv`, `.txt`), NumPy (`.npy`, `.npz`) or Parquet
(`.parquet`, with the extra `data`). A map is a table too: `id, y1, y2[, y3 …][, label]`.
"""

from __future__ import annotations

import csv
import os
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.io.arrays import read_npy, read_npz
from nearfield.io.columns import Choice, Chooser, Table, choose, natural, quoted, short
from nearfield.io.delimited import read_delimited, read_texts
from nearfield.io.files import check_writable, replacing
from nearfield.io.parquet import pyarrow, read_parquet, read_parquet_texts, write_parquet

__all__ = ["Table", "check_map_path", "read_map", "read_rows", "read_table", "write_map"]


def read_table(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    columns: str | Sequence[str] | None = None,
    id: str | None = None,
    header: bool | None = None,
    array: str | None = None,
) -> Table:
    r"""Read the numbers of a table, and the labels and ids of its rows.

    Parameters
    ----------
    path : path-like
        A `.csv`, `.tsv`, `.txt`, `.npy`, `.npz` or `.parquet` file. In an `.npz` file the numbers are the
        array `X`, or the only one with two dimensions, and its arrays of one dimension serve as columns.
        Decimal commas are read where the delimiter is another, and columns of true and false (or of yes and
        no) as 1 and 0.
    label, id : str, optional
        The columns with the labels and the ids of the rows, of any type. They are left out of the numbers.
        The labels of an `.npz` file are its array `y` where there is one.
    columns : str or sequence of str, optional
        The columns to read: names, or one text with commas between them. All of them must be numeric. By
        default all numeric columns are read, but for one that by its name and numbers just numbers the rows.
    header : bool, optional
        Whether the first line of a text table names its columns; by default it is held against the others.
    array : str, optional
        The array of an `.npz` file that holds the numbers.

    Returns
    -------
    Table
        With NaN for missing cells (empty, NA, ?, null, …), and with notes that say how the table was
        understood, and what was left out and why.

    Raises
    ------
    ValueError, OSError, ImportError
        With one line that names the file, column or row, and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from nearfield.io.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "fish.csv"
    ...     _ = file.write_text("length,weight,kind\n23.2,242,bream\n24,290,bream\n")
    ...     fish = read_table(file, label="kind")
    >>> fish.X
    array([[ 23.2, 242. ],
           [ 24. , 290. ]])
    >>> fish.labels.tolist()
    ['bream', 'bream']
    """
    table = _read(
        path, lambda names: choose(names, label, columns, id), **_options(Path(path), header, array)
    )
    return _checked(path, table if columns is not None else _without_index(table))


def read_chosen(path: str | os.PathLike[str], chooser: Chooser) -> Table:
    """Read the columns that are chosen when their names are known."""
    return _read(path, chooser)


def check_readable(path: str | os.PathLike[str]) -> Path:
    """Refuse a file that is not there, or that no reader is for."""
    path = Path(path)
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a directory: name a file in it")
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path}: check its name and folder")
    if path.suffix.lower() not in _READERS:
        raise ValueError(f"cannot read {path}: use one of {', '.join(_READERS)}")
    if not os.access(path, os.R_OK):
        raise PermissionError(f"{path} cannot be read: allow reading it")
    return path


def read_rows(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    id: str | None = None,
    header: bool | None = None,
    array: str | None = None,
) -> tuple[Table, dict[str, np.ndarray]]:
    r"""Read a table for people to look at: its numbers, if any, and all other columns as well.

    Parameters
    ----------
    path, label, id, header, array
        As of `read_table`.

    Returns
    -------
    table : Table
        As `read_table` reads it, but it may lack numbers.
    others : dict of str to ndarray
        The columns that its numbers are not made of, by name. NumPy's files have none.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from nearfield.io.tables import read_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "fish.csv"
    ...     _ = file.write_text("length,weight,kind\n23.2,242,bream\n24,290,pike\n")
    ...     fish, others = read_rows(file)
    >>> fish.names, others
    (('length', 'weight'), {'kind': array(['bream', 'pike'], dtype='<U5')})
    """
    path = Path(path)
    names: list[str] = []

    def chooser(found: Sequence[str]) -> Choice:
        names.extend(found)
        return choose(found, label, None, id)

    table = _read(path, chooser, **_options(path, header, array))
    if not len(table.X):
        raise ValueError(f"{path} has no rows: it needs at least one")
    known = {*table.names, label, id}
    others = [name for name in names if name not in known and names.count(name) == 1]
    suffix = path.suffix.lower()
    cells: dict[str, list[str]] = {}
    if suffix == ".parquet" and others:
        cells = read_parquet_texts(path, others)
    elif suffix in DELIMITERS and others:
        cells = read_texts(path, others, DELIMITERS[suffix], header)
    return table, {name: natural(each) for name, each in cells.items()}


def read_map(path: str | os.PathLike[str]) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Read a map that `write_map` has written, or an `.npy` file with nothing but its coordinates.

    Parameters
    ----------
    path : path-like
        A `.csv`, `.tsv`, `.parquet` or `.npy` file.

    Returns
    -------
    Y : ndarray of shape (N, P)
        The coordinates, to the last bit as they were written.
    ids, labels : ndarray of shape (N,) or None
        None where the file has none.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from nearfield.io.tables import read_map, write_map
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_map(Path(folder) / "map.csv", np.array([[0.1, 0.2], [0.3, 0.4]]), labels=["a", "b"])
    ...     Y, ids, labels = read_map(Path(folder) / "map.csv")
    >>> Y.tolist(), ids.tolist(), labels.tolist()
    ([[0.1, 0.2], [0.3, 0.4]], [0, 1], ['a', 'b'])
    """
    is_array = Path(path).suffix.lower() == ".npy"
    table = _read(path, (lambda names: choose(names, None, None, None)) if is_array else _map_columns)
    table = _checked(path, table)
    return table.X, table.ids, table.labels


def write_map(
    path: str | os.PathLike[str],
    Y: np.ndarray,
    *,
    ids: Sequence[Any] | np.ndarray | None = None,
    labels: Sequence[Any] | np.ndarray | None = None,
) -> None:
    """Write a map as a table with the columns `id, y1, y2[, y3 …][, label]`, whole or not at all.

    Parameters
    ----------
    path : path-like
        A `.csv`, `.tsv` or `.parquet` file; it is replaced if it exists.
    Y : array of shape (N, P)
        The coordinates. They are written so that they can be read back to the last bit.
    ids : sequence of length N, optional
        By default the numbers of the rows, from 0.
    labels : sequence of length N, optional
        Without it there is no column `label`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from nearfield.io.tables import write_map
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_map(Path(folder) / "map.csv", np.array([[0.5, 2.0]]), ids=["first"])
    ...     print((Path(folder) / "map.csv").read_text())
    id,y1,y2
    first,0.5,2.0
    """
    path = check_map_path(path)
    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim != 2:
        raise ValueError(f"a map has two dimensions, rows and coordinates, but Y has the shape {Y.shape}")
    columns: dict[str, np.ndarray] = {"id": np.arange(len(Y)) if ids is None else np.asarray(ids)}
    columns |= {f"y{k + 1}": Y[:, k] for k in range(Y.shape[1])}
    if labels is not None:
        columns["label"] = np.asarray(labels)
    for name, values in columns.items():
        if values.shape != (len(Y),):
            raise ValueError(f"the map has {len(Y)} rows, but {name} has the shape {values.shape}")
    with replacing(path) as scratch:
        if path.suffix.lower() == ".parquet":
            write_parquet(scratch, columns)
        else:
            with open(scratch, "w", newline="", encoding="utf-8") as stream:
                delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
                writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
                writer.writerow(columns)
                # tolist gives Python's floats, whose text is the shortest that reads back as the same number.
                writer.writerows(zip(*(each.tolist() for each in columns.values()), strict=True))


def check_map_path(path: str | os.PathLike[str]) -> Path:
    """Make sure, before the work, that `write_map` will be able to write this file.

    Examples
    --------
    >>> from nearfield.io.tables import check_map_path
    >>> check_map_path("map.xls")
    Traceback (most recent call last):
    ...
    ValueError: cannot write a map to map.xls: use .csv, .tsv or .parquet
    """
    path = Path(path)
    if path.suffix.lower() not in (".csv", ".tsv", ".parquet"):
        raise ValueError(f"cannot write a map to {path}: use .csv, .tsv or .parquet")
    if path.suffix.lower() == ".parquet":
        pyarrow()
    return check_writable(path)


def _read(path: str | os.PathLike[str], chooser: Chooser, **options: Any) -> Table:
    path = check_readable(path)
    return _READERS[path.suffix.lower()](path, chooser, **options)


def _checked(path: str | os.PathLike[str], table: Table) -> Table:
    """Refuse a table without rows or columns."""
    rows, columns = table.X.shape
    if not rows:
        raise ValueError(f"{path} has no rows: it needs at least one row of numbers")
    if not columns:
        left = f" ({'; '.join(table.notes)})" if table.notes else ""
        raise ValueError(f"{path} has no numeric column{left}: a map needs at least one")
    return table


def _options(path: Path, header: bool | None, array: str | None) -> dict[str, Any]:
    """What only some formats can be told, for those of them that can."""
    suffix = path.suffix.lower()
    if header is not None and suffix not in DELIMITERS:
        raise ValueError(f"only text tables may have a header: leave out --header for {path}")
    if array is not None and suffix != ".npz":
        raise ValueError(f"only .npz files have arrays to pick from: leave out --array for {path}")
    given = {"header": header, "array": array}
    return {name: value for name, value in given.items() if value is not None}


def _map_columns(names: Sequence[str]) -> Choice:
    coordinates = sorted(
        (name for name in names if re.fullmatch(r"y[1-9]\d*", name)), key=lambda y: int(y[1:])
    )
    if coordinates != [f"y{k + 1}" for k in range(len(coordinates))] or not coordinates:
        raise ValueError(f"a map has the columns id, y1, y2 …, but this file has {quoted(names)}")
    return choose(names, "label" if "label" in names else None, coordinates, "id" if "id" in names else None)


# Names that say that a column tells the rows apart: what pandas calls an index it was told to write, what
# `delimited` calls a column without a name, and what people say.
_INDEX = re.compile(
    # But not "humid".
    r"(?i:unnamed:? \d+|__index_level_\d+__|id|(row[ _-]?)?index|idx|row|.*[ _.-]id)|.*[a-z]I[dD]"
)


def _without_index(table: Table) -> Table:
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


DELIMITERS = {".csv": "\t;|,", ".tsv": "\t", ".txt": "\t;|, "}
_READERS: dict[str, Callable[..., Table]] = {
    **{suffix: partial(read_delimited, delimiters=each) for suffix, each in DELIMITERS.items()},
    ".npy": read_npy,
    ".npz": read_npz,
    ".parquet": read_parquet,
}
