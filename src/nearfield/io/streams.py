"""Tables that are larger than memory: read and written some rows at a time."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from nearfield.io.arrays import DAMAGED
from nearfield.io.arrow import arrow_chunks
from nearfield.io.batches import SUFFIXES
from nearfield.io.columns import Chooser, Table
from nearfield.io.delimited import DELIMITERS, delimited_chunks
from nearfield.io.files import replacing
from nearfield.io.parquet import ParquetRows
from nearfield.io.tables import check_map_path, read_chosen

CELLS = 2**18  # that are read at a time


def chunks(path: Path, choose: Chooser, header: bool | None = None) -> Iterator[tuple[Table, float]]:
    """The rows of a table, some at a time, with the share of the file that has been read after each.

    Labels and ids of text tables and typed columns become text. An `.npz` or `.h5ad` file is read as a whole.

    Parameters
    ----------
    path : Path
        A file that `read_table` can read.
    choose : callable
        Which of the columns are read, by their names; all of them must be numeric.
    header : bool, optional
        Whether the first line of a text table names its columns.
    """
    suffix = path.suffix.lower()
    if suffix in DELIMITERS:
        yield from delimited_chunks(path, choose, DELIMITERS[suffix], header)
    elif suffix in SUFFIXES:
        yield from arrow_chunks(path, choose, 2**14)
    elif suffix == ".npy":
        yield from _array_chunks(path, choose)
    else:
        yield read_chosen(path, choose), 1.0


def _array_chunks(path: Path, choose: Chooser) -> Iterator[tuple[Table, float]]:
    """The rows of a NumPy file, which stays where it is."""
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
        right = isinstance(matrix, np.ndarray) and matrix.ndim == 2 and matrix.dtype.kind in "biuf"
    except DAMAGED as error:
        raise ValueError(f"{path} cannot be read: it is damaged, or holds Python objects") from error
    if not right:
        raise ValueError(f"{path} is no table: save an array of numbers with two dimensions")
    names = [f"x{j + 1}" for j in range(matrix.shape[1])]
    numbers = list(choose(names).numbers)
    step = max(1, CELLS // max(1, len(names)))
    for lo in range(0, len(matrix), step):
        part = np.asarray(matrix[lo : lo + step], dtype=np.float64)[:, numbers]
        yield Table(part, tuple(names[j] for j in numbers)), min(1.0, (lo + step) / len(matrix))


class Rows(Protocol):
    """What takes rows, column by column."""

    def write(self, columns: Mapping[str, Any]) -> None: ...


class _TextRows:
    """A text table that is written some rows at a time; the first ones name the columns."""

    def __init__(self, stream: Any, delimiter: str) -> None:
        self._writer, self._named = csv.writer(stream, delimiter=delimiter, lineterminator="\n"), False

    def write(self, columns: Mapping[str, Any]) -> None:
        if not self._named:
            self._writer.writerow(columns)
            self._named = True
        self._writer.writerows(zip(*(each.tolist() for each in columns.values()), strict=True))


@contextmanager
def writing(path: Path, about: Mapping[str, Any] | None = None) -> Iterator[Rows]:
    """A `.csv`, `.tsv` or `.parquet` file to be written some rows at a time, whole or not at all.

    `about` is what there is to tell of it, which a Parquet file can hold.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with writing(Path(folder) / "map.csv") as rows:
    ...         rows.write({"id": np.array([0, 1]), "y1": np.array([0.5, 2.0])})
    ...         rows.write({"id": np.array([2]), "y1": np.array([0.1])})
    ...     print((Path(folder) / "map.csv").read_text())
    id,y1
    0,0.5
    1,2.0
    2,0.1
    """
    suffix = check_map_path(path).suffix.lower()
    with replacing(path) as scratch:
        if suffix == ".parquet":
            table = ParquetRows(scratch, about)
            try:
                yield table
            finally:
                table.close()
        else:
            with open(scratch, "w", newline="", encoding="utf-8") as stream:
                yield _TextRows(stream, "\t" if suffix == ".tsv" else ",")
