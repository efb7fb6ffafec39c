"""Parquet files as tables, with the extra `data`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from nearfield.io.columns import Chooser, Table, quoted, short


def pyarrow() -> ModuleType:
    """Return pyarrow, or raise with how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError('Parquet files need pyarrow: pip install "nearfield[data]"') from error
    return pyarrow


def write_parquet(path: Path, columns: Mapping[str, np.ndarray]) -> None:
    """Write columns of equal length."""
    arrow = pyarrow()
    arrow.parquet.write_table(arrow.table({name: each.tolist() for name, each in columns.items()}), path)


@contextmanager
def _readable(arrow: ModuleType, path: Path) -> Iterator[None]:
    """Say in a line that a file is damaged, or something else."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError, arrow.ArrowException) as error:
        raise ValueError(f"{path} is not a Parquet file, or damaged: check how it was written") from error


def read_parquet(path: Path, chooser: Chooser) -> Table:
    """Read the numeric columns a batch at a time, and those of the labels and ids."""
    arrow = pyarrow()
    with _readable(arrow, path), arrow.parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        choice = chooser(schema.names)
        numeric = [j for j in choice.numbers if _is_numeric(arrow, schema.field(j).type)]
        left = [j for j in choice.numbers if j not in numeric]
        if left and choice.asked:
            kind, name = schema.field(left[0]).type, schema.names[left[0]]
            raise ValueError(
                f"column {short(name)!r} holds {short(str(kind))} and not numbers: ask for numeric columns"
            )
        X = np.empty((file.metadata.num_rows, len(numeric)))
        start = 0
        for batch in file.iter_batches(columns=[schema.names[j] for j in numeric]):
            for k, j in enumerate(numeric):
                # Not safe, which would refuse whole numbers beyond 2⁵³ in place of rounding them.
                column = batch.column(schema.names[j]).cast(arrow.float64(), safe=False)
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
            X,
            tuple(schema.names[j] for j in numeric),
            values(choice.label),
            values(choice.id),
            tuple(_left_out(arrow, {schema.names[j]: schema.field(j).type for j in left})),
        )


def parquet_chunks(path: Path, chooser: Chooser, rows: int) -> Iterator[tuple[Table, float]]:
    """Read a table so many rows at a time, with the share of them that has been read after each time."""
    arrow = pyarrow()
    with _readable(arrow, path), arrow.parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        choice = chooser(schema.names)
        for j in choice.numbers:
            if not _is_numeric(arrow, schema.field(j).type):
                kind = short(str(schema.field(j).type))
                raise ValueError(f"column {short(schema.names[j])!r} holds {kind} and not numbers")
        names, done = [schema.names[j] for j in choice.numbers], 0
        sides = [None if j is None else schema.names[j] for j in (choice.label, choice.id)]
        asked = list(dict.fromkeys([*names, *filter(None, sides)]))
        for batch in file.iter_batches(batch_size=rows, columns=asked):
            X = np.empty((len(batch), len(names)))
            for k, name in enumerate(names):
                column = batch.column(name).cast(arrow.float64(), safe=False)
                X[:, k] = column.to_numpy(zero_copy_only=False)
            labels, ids = (None if each is None else _text(batch.column(each).to_pylist()) for each in sides)
            done += len(batch)
            yield Table(X, tuple(names), labels, ids), done / file.metadata.num_rows


def _text(values: list[Any]) -> np.ndarray:
    return np.array(["" if each is None else str(each) for each in values])


class ParquetRows:
    """A file that is written some rows at a time."""

    def __init__(self, path: Path) -> None:
        self._arrow, self._path = pyarrow(), path
        self._writer: Any = None

    def write(self, columns: Mapping[str, np.ndarray]) -> None:
        """Add rows; the first ones decide what the columns hold."""
        table = self._arrow.table({name: self._arrow.array(each) for name, each in columns.items()})
        if self._writer is None:
            self._writer = self._arrow.parquet.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table.cast(self._writer.schema))

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()


def read_parquet_texts(path: Path, names: Sequence[str]) -> dict[str, list[str]]:
    """Read some columns, of any type, as text."""
    arrow = pyarrow()
    with _readable(arrow, path):
        columns = arrow.parquet.read_table(path, columns=list(names)).to_pydict()
    return {name: ["" if each is None else str(each) for each in columns[name]] for name in names}


def _left_out(arrow: ModuleType, columns: Mapping[str, Any]) -> list[str]:
    """Say which columns were left out, those of each kind together."""
    said: dict[str, list[str]] = {}
    for name, kind in columns.items():
        said.setdefault(_kind(arrow, kind), []).append(name)
    return [f"left out the {kind}{'s' * (len(names) > 1)} {quoted(names)}" for kind, names in said.items()]


def _kind(arrow: ModuleType, kind: Any) -> str:
    types = arrow.types
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return "column of lists"
    if types.is_temporal(kind):
        return "column of times"
    if types.is_null(kind):
        return "empty column"
    return "text column"


def _is_numeric(arrow: ModuleType, kind: Any) -> bool:
    types = arrow.types
    return any(
        is_kind(kind) for is_kind in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    )
