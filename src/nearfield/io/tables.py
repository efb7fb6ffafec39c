"""Tables in, maps out.

A table is read by the extension of its file: text (`.csv`, `.tsv`, `.txt`), NumPy (`.npy`, `.npz`), with the
extra `data` Parquet, Arrow and JSON Lines (`.parquet`, `.feather`, `.arrow`, `.jsonl`), and with the extra
`anndata` AnnData (`.h5ad`); any of them as `.gz` or `.zip`, or from a pipe, `-`. A map is a table too:
`id, y1, y2[, y3 …][, label]`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.io.arrays import read_npy, read_npz
from nearfield.io.arrow import read_arrow
from nearfield.io.batches import SUFFIXES, pyarrow
from nearfield.io.cellsfile import read_h5ad
from nearfield.io.columns import Choice, Chooser, Table, choose, quoted, said_of
from nearfield.io.delimited import DELIMITERS, read_delimited
from nearfield.io.files import check_writable
from nearfield.io.indexes import without_index
from nearfield.io.others import Nearest, as_natural, beside_a_map, read_others
from nearfield.io.unpacking import PACKED, PIPE, unpacked
from nearfield.io.written import write_columns

__all__ = ["Table", "check_map_path", "read_map", "read_rows", "read_table", "write_map"]


def read_table(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    columns: str | Sequence[str] | None = None,
    id: str | None = None,
    header: bool | None = None,
    array: str | None = None,
    vector: str | None = None,
    use_rep: str | None = None,
    keep: str | Sequence[str] | None = None,
) -> Table:
    r"""Read the numbers of a table, and the labels and ids of its rows.

    Parameters
    ----------
    path : path-like
        A `.csv`, `.tsv`, `.txt`, `.npy`, `.npz`, `.parquet`, `.feather`, `.arrow`, `.jsonl` or `.h5ad` file,
        any of them packed as `.gz` or `.zip`; `-` is what is piped in. In an `.npz` file the numbers are the
        array `X`, or the only one with two dimensions, and its arrays of one dimension serve as columns.
        Decimal commas are read where the delimiter is another, and columns of true and false (or of yes and
        no) as 1 and 0. Where a column holds vectors, lists of numbers, these are read alone.
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
    vector : str, optional
        The column that holds vectors, where there are several, or beside `columns`.
    use_rep : str, optional
        What the cells of an `.h5ad` file are mapped by: "X" or a key of `obsm`; by default "X_pca", else "X".
    keep : str or sequence of str, optional
        Other columns that the table is to have in `others`: names, or "all" of which no numbers, labels or
        ids are read.

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
    names: list[str] = []

    def chooser(found: Sequence[str]) -> Choice:
        names.extend(found)
        return choose(found, label, columns, id)

    path = Path(path)
    with unpacked(path) as file:
        options = _options(file, header=header, array=array, vector=vector, use_rep=use_rep)
        table = _checked(path, _read(file, chooser, **options))
        table = table if columns is not None else without_index(table)
        if keep is not None:
            used = [*table.names, *filter(None, (label, id))]
            others = read_others(file, keep, used, names, header)
            said = said_of("kept the column", list(others)) if others else "kept no column"
            table = replace(table, others=others, notes=(*table.notes, f"{said} beside the map"))
    return _checked(path, table)


def read_chosen(path: str | os.PathLike[str], chooser: Chooser) -> Table:
    """Read the columns that are chosen when their names are known."""
    return _read(path, chooser)


def check_readable(path: str | os.PathLike[str]) -> Path:
    """Refuse a file that is not there, or that no reader is for."""
    path = Path(path)
    if path == PIPE:
        return path
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a directory: name a file in it")
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path}: check its name and folder")
    if path.suffix.lower() not in (*_READERS, *PACKED):
        known = ", ".join(_READERS)
        raise ValueError(f"cannot read {path}: use one of {known}, or one of them as {' or '.join(PACKED)}")
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
    vector: str | None = None,
) -> tuple[Table, dict[str, np.ndarray]]:
    r"""Read a table for people to look at: its numbers, if any, and all other columns as well.

    Parameters
    ----------
    path, label, id, header, array, vector
        As of `read_table`.

    Returns
    -------
    table : Table
        As `read_table` reads it, but it may lack numbers.
    others : dict of str to ndarray
        The columns that its numbers are not made of, by name.

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
    path = check_readable(path)
    names: list[str] = []

    def chooser(found: Sequence[str]) -> Choice:
        names.extend(found)
        return choose(found, label, None, id)

    with unpacked(path) as file:
        table = _read(file, chooser, **_options(file, header=header, array=array, vector=vector))
        if not len(table.X):
            raise ValueError(f"{path} has no rows: it needs at least one")
        used = [*table.names, *filter(None, (label, id))]
        others = read_others(file, "all", used, names, header)
    return table, {name: as_natural(each) for name, each in others.items()}


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
    with unpacked(path) as file:
        is_array = file.suffix.lower() == ".npy"
        table = _read(file, (lambda names: choose(names, None, None, None)) if is_array else _map_columns)
    table = _checked(path, table)
    return table.X, table.ids, table.labels


def write_map(
    path: str | os.PathLike[str],
    Y: np.ndarray,
    *,
    ids: Sequence[Any] | np.ndarray | None = None,
    labels: Sequence[Any] | np.ndarray | None = None,
    others: Mapping[str, Any] | None = None,
    neighbours: Nearest | None = None,
    about: Mapping[str, Any] | None = None,
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
    others : dict of str to array, optional
        Further columns, NumPy's or Arrow's, as `read_table` keeps them. One that is called as a column of the
        map is called `data_…`.
    neighbours : Nearest, optional
        A column `neighbours` with those of each row.
    about : dict, optional
        What there is to tell of the map, which a Parquet file can hold; no text table does.

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
    columns: dict[str, Any] = {"id": np.arange(len(Y)) if ids is None else np.asarray(ids)}
    columns |= {f"y{k + 1}": Y[:, k] for k in range(Y.shape[1])}
    if labels is not None:
        columns["label"] = np.asarray(labels)
    for name, values in columns.items():
        if values.shape != (len(Y),):
            raise ValueError(f"the map has {len(Y)} rows, but {name} has the shape {values.shape}")
    columns |= beside_a_map(others or {})
    if neighbours is not None:
        columns["neighbours"] = neighbours
    for name, values in columns.items():
        if len(values) != len(Y):
            raise ValueError(f"the map has {len(Y)} rows, but {name} has {len(values)}")
    write_columns(path, columns, about)


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


def _options(path: Path, **given: Any) -> dict[str, Any]:
    """What only some formats can be told, for those of them that can."""
    suffix = path.suffix.lower()
    for name, (suffixes, told) in _ONLY.items():
        if given.get(name) is not None and suffix not in suffixes:
            raise ValueError(f"only {told}: leave out --{name.replace('_', '-')} for {path}")
    return {name: value for name, value in given.items() if value is not None}


# What only some formats know, and what to say of those that do not.
_ONLY: dict[str, tuple[Sequence[str], str]] = {
    "header": (list(DELIMITERS), "text tables may have a header"),
    "array": ([".npz"], ".npz files have arrays to pick from"),
    "vector": (list(SUFFIXES), f"{', '.join(SUFFIXES)} files have vector columns"),
    "use_rep": ([".h5ad"], ".h5ad files have representations"),
}


def _map_columns(names: Sequence[str]) -> Choice:
    coordinates = sorted(
        (name for name in names if re.fullmatch(r"y[1-9]\d*", name)), key=lambda y: int(y[1:])
    )
    if coordinates != [f"y{k + 1}" for k in range(len(coordinates))] or not coordinates:
        raise ValueError(f"a map has the columns id, y1, y2 …, but this file has {quoted(names)}")
    return choose(names, "label" if "label" in names else None, coordinates, "id" if "id" in names else None)


_READERS: dict[str, Callable[..., Table]] = {
    **{suffix: partial(read_delimited, delimiters=each) for suffix, each in DELIMITERS.items()},
    ".npy": read_npy,
    ".npz": read_npz,
    **dict.fromkeys(SUFFIXES, read_arrow),
    ".h5ad": read_h5ad,
}
