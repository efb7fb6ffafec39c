"""Parquet files as they are written, with the extra `data`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.io.batches import pyarrow

ABOUT = b"nearfield"  # under which a file says how it came about


def write_parquet(path: Path, columns: Mapping[str, Any], about: Mapping[str, Any] | None = None) -> None:
    """Write columns of equal length, and what there is to tell of them."""
    arrow = pyarrow()
    # By way of Python's values: texts and numbers in one array of objects are then refused in a line.
    table = arrow.table(
        {
            name: arrow.array(each.tolist()) if isinstance(each, np.ndarray) else each
            for name, each in columns.items()
        }
    )
    if about:
        known = table.schema.metadata or {}
        table = table.replace_schema_metadata({**known, ABOUT: json.dumps(about)})
    arrow.parquet.write_table(table, path)


def told_in_parquet(path: Path) -> dict[str, Any]:
    """What a file that nearfield wrote tells of itself; nothing of any other.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_parquet(Path(folder) / "t.parquet", {"a": np.arange(2)}, {"notes": ["left out 'b'"]})
    ...     told_in_parquet(Path(folder) / "t.parquet")
    {'notes': ["left out 'b'"]}
    """
    found = (pyarrow().parquet.read_schema(path).metadata or {}).get(ABOUT)
    return {} if found is None else json.loads(found)


class ParquetRows:
    """A file that is written some rows at a time."""

    def __init__(self, path: Path, about: Mapping[str, Any] | None = None) -> None:
        self._arrow, self._path, self._about = pyarrow(), path, about
        self._writer: Any = None

    def write(self, columns: Mapping[str, np.ndarray]) -> None:
        """Add rows; the first ones decide what the columns hold."""
        table = self._arrow.table({name: self._arrow.array(each) for name, each in columns.items()})
        if self._writer is None:
            told = {ABOUT: json.dumps(self._about)} if self._about else None
            schema = table.schema.with_metadata(told)
            self._writer = self._arrow.parquet.ParquetWriter(self._path, schema)
        self._writer.write_table(table.cast(self._writer.schema))

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()
