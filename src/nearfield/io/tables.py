"""Tables in, maps out.

A table is read by the extension of its file: text (`.csv`, `.tsv`, `.txt`), NumPy (`.npy`, `.npz`) or Parquet
(`.parquet`, with the extra `data`). A map is a table too: `id, y1, y2[, y3 …][, label]`.
"""

from __future__ import annotations

import csv
import os
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from nearfield.io.columns import Choice, Chooser, Table, choose, quoted
from nearfield.io.delimited import read_delimited
from nearfield.io.files import check_writable, replacing

__all__ = ["Table", "check_map_path", "read_map", "read_table", "write_map"]


def read_table(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    columns: str | Sequence[str] | None = None,
    id: str | None = None,
) -> Table:
    r"""Read the numbers of a table, and the labels and ids of its rows.

    Parameters
    ----------
    path : path-like
        A `.csv`, `.tsv`, `.txt`, `.npy`, `.npz` or `.parquet` file. In an `.npz` file the numbers are the
        array `X`, or the only one with two dimensions, and its arrays of one dimension serve as columns.
    label, id : str, optional
        The columns with the labels and the ids of the rows, of any type. They are left out of the numbers.
        The labels of an `.npz` file are its array `y` where there is one.
    columns : str or sequence of str, optional
        The columns to read: names, or one text with commas between them. All of them must be numeric. By
        default all numeric columns are read.

    Returns
    -------
    Table
        With NaN for empty cells, and with notes that say what was left out and why.

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
    return _read(path, lambda names: choose(names, label, columns, id))


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
            arrow = _pyarrow()
            arrow.parquet.write_table(
                arrow.table({name: each.tolist() for name, each in columns.items()}), scratch
            )
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
        _pyarrow()
    return check_writable(path)


def _read(path: str | os.PathLike[str], chooser: Chooser) -> Table:
    path = Path(path)
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a directory: name a file in it")
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path}: check its name and folder")
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"cannot read {path}: use one of {', '.join(_READERS)}")
    if not os.access(path, os.R_OK):
        raise PermissionError(f"{path} cannot be read: allow reading it")
    table = _without_index(reader(path, chooser))
    rows, columns = table.X.shape
    if not rows:
        raise ValueError(f"{path} has no rows: it needs at least one row of numbers")
    if not columns:
        left = f" ({'; '.join(table.notes)})" if table.notes else ""
        raise ValueError(f"{path} has no numeric column{left}: a map needs at least one")
    return table


def _map_columns(names: Sequence[str]) -> Choice:
    coordinates = sorted(
        (name for name in names if re.fullmatch(r"y[1-9]\d*", name)), key=lambda y: int(y[1:])
    )
    if coordinates != [f"y{k + 1}" for k in range(len(coordinates))] or not coordinates:
        raise ValueError(f"a map has the columns id, y1, y2 …, but this file has {quoted(names)}")
    return choose(names, "label" if "label" in names else None, coordinates, "id" if "id" in names else None)


# What pandas calls an index it was told to write, and what `delimited` calls a column without a name.
_INDEX = re.compile(r"[Uu]nnamed:? \d+|__index_level_\d+__")


def _without_index(table: Table) -> Table:
    """Leave out the row numbers that a nameless index column holds: they would drown the measurements."""
    X, notes, keep = table.X, list(table.notes), []
    for j, name in enumerate(table.names):
        column = X[:, j]
        if _INDEX.fullmatch(name) and np.all(column == np.floor(column)) and np.unique(column).size == len(X):
            notes.append(f"left out the row numbers in the column {name!r}")
            continue
        keep.append(j)
        if len(X) > 2 and column[1] - column[0] == 1 and np.all(np.diff(column) == 1):
            notes.append(f"the column {name!r} just counts the rows: if it is no measurement, make it the id")
    if len(keep) < X.shape[1]:
        X = X[:, keep]
    return replace(table, X=X, names=tuple(table.names[j] for j in keep), notes=tuple(notes))


def _read_npy(path: Path, chooser: Chooser) -> Table:
    matrix = _load(path)
    assert isinstance(matrix, np.ndarray)
    if matrix.ndim != 2:
        raise ValueError(f"{path} has the shape {matrix.shape}: it needs two dimensions, rows and columns")
    return _from_arrays(path, matrix, {}, chooser)


def _read_npz(path: Path, chooser: Chooser) -> Table:
    arrays = _load(path)
    assert not isinstance(arrays, np.ndarray)
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    if "X" not in matrices and len(matrices) != 1:
        raise ValueError(
            f"{path} holds {quoted(list(arrays))}: save the numbers as an array X with two dimensions"
        )
    matrix = arrays["X" if "X" in matrices else matrices[0]]
    sides = {name: array for name, array in arrays.items() if array.shape == (len(matrix),)}

    def with_labels(names: Sequence[str]) -> Choice:
        choice = chooser(names)
        return replace(choice, label=names.index("y")) if choice.label is None and "y" in sides else choice

    return _from_arrays(path, matrix, sides, with_labels)


def _load(path: Path) -> np.ndarray | dict[str, np.ndarray]:
    """Load NumPy's formats without pickle, which could run any code."""
    try:
        loaded = np.load(path, allow_pickle=False)
        return loaded if isinstance(loaded, np.ndarray) else {name: loaded[name] for name in loaded.files}
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        if "allow_pickle" in str(error) and "Object arrays" in str(error):
            raise ValueError(f"{path} holds Python objects: save it as numbers, astype(float)") from error
        raise ValueError(
            f"{path} is not a file that NumPy has written: save it with np.save or np.savez"
        ) from error


def _from_arrays(path: Path, matrix: np.ndarray, sides: Mapping[str, np.ndarray], chooser: Chooser) -> Table:
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{path} holds {matrix.dtype}: it needs real numbers, astype(float)")
    width = matrix.shape[1]
    names = [f"x{j + 1}" for j in range(width)]
    choice = chooser([*names, *sides])

    def column(j: int | None) -> np.ndarray | None:
        return None if j is None else matrix[:, j] if j < width else list(sides.values())[j - width]

    if choice.asked and any(j >= width for j in choice.numbers):
        raise ValueError(f"{path}: the columns of the numbers are called {quoted(names)}")
    numbers = [j for j in choice.numbers if j < width]
    chosen = matrix if len(numbers) == width else matrix[:, numbers]
    return Table(
        np.ascontiguousarray(chosen, dtype=np.float64),
        tuple(names[j] for j in numbers),
        column(choice.label),
        column(choice.id),
    )


def _pyarrow() -> ModuleType:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError('Parquet files need pyarrow: pip install "nearfield[data]"') from error
    return pyarrow


def _read_parquet(path: Path, chooser: Chooser) -> Table:
    arrow = _pyarrow()
    try:
        file = arrow.parquet.ParquetFile(path)
    except arrow.ArrowInvalid as error:
        raise ValueError(f"{path} is not a Parquet file: check how it was written") from error
    with file:
        schema = file.schema_arrow
        choice = chooser(schema.names)
        numeric = [j for j in choice.numbers if _is_numeric(arrow, schema.field(j).type)]
        texts = [schema.names[j] for j in choice.numbers if j not in numeric]
        if texts and choice.asked:
            kind = schema.field(texts[0]).type
            raise ValueError(f"column {texts[0]!r} holds {kind} and not numbers: ask for numeric columns")
        notes = [f"left out the text column{'s' * (len(texts) > 1)} {quoted(texts)}"] if texts else []
        X = np.empty((file.metadata.num_rows, len(numeric)))
        start = 0
        for batch in file.iter_batches(columns=[schema.names[j] for j in numeric]):
            for k, j in enumerate(numeric):
                column = batch.column(schema.names[j]).cast(arrow.float64())
                X[start : start + len(batch), k] = column.to_numpy(zero_copy_only=False)
            start += len(batch)

        def values(j: int | None) -> np.ndarray | None:
            if j is None:
                return None
            column = file.read(columns=[schema.names[j]]).column(0).to_pylist()
            # What is missing becomes what it is in a text table: NaN among numbers, else nothing.
            if _is_numeric(arrow, schema.field(j).type):
                return np.array([np.nan if each is None else each for each in column])
            return np.array(["" if each is None else str(each) for each in column])

        return Table(
            X, tuple(schema.names[j] for j in numeric), values(choice.label), values(choice.id), tuple(notes)
        )


def _is_numeric(arrow: ModuleType, kind: Any) -> bool:
    types = arrow.types
    return any(
        is_kind(kind) for is_kind in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    )


_READERS: dict[str, Callable[[Path, Chooser], Table]] = {
    ".csv": lambda path, chooser: read_delimited(path, chooser, "\t;,"),
    ".tsv": lambda path, chooser: read_delimited(path, chooser, "\t"),
    ".txt": lambda path, chooser: read_delimited(path, chooser, "\t;, "),
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".parquet": _read_parquet,
}
