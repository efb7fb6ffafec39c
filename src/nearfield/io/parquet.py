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
