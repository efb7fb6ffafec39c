"""Parquet, Arrow (Feather) and JSON Lines as one thing: columns with types, and their rows some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

SUFFIXES = {
    ".parquet": "Parquet",
    ".feather": "Arrow (Feather)",
    ".arrow": "Arrow (Feather)",
    ".ipc": "Arrow (Feather)",
    ".jsonl": "JSON Lines",
    ".ndjson": "JSON Lines",
}
LINE = 2**26  # bytes that a line of JSON may take


def pyarrow(what: str = "Parquet") -> ModuleType:
    """Return pyarrow, or raise with how to get it."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.ipc
        import pyarrow.json
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f'{what} files need pyarrow: pip install "nearfield[data]"') from error
    return pyarrow


class Batches:
    """A file of columns.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and types of the columns.
    rows : int or None
        How many there are; None if that is known only at the end.
    """

    schema: Any
    rows: int | None

    def parts(self, names: Sequence[str], size: int) -> Iterator[Any]:
        """Some columns, up to so many rows at a time."""
        raise TypeError(f"{type(self).__name__} does not define parts")

    def whole(self, names: Sequence[str]) -> Any:
        """Some columns as a table."""
        raise TypeError(f"{type(self).__name__} does not define whole")

    def counted(self) -> int:
        """How many rows there are, if need be by counting."""
        if self.rows is not None:
            return self.rows
        return sum(map(len, self.parts(self.schema.names[:1], 2**62)))


class _Parquet(Batches):
    def __init__(self, file: Any) -> None:
        self._file, self.schema, self.rows = file, file.schema_arrow, file.metadata.num_rows

    def parts(self, names: Sequence[str], size: int) -> Iterator[Any]:
        return self._file.iter_batches(batch_size=size, columns=list(names))

    def whole(self, names: Sequence[str]) -> Any:
        return self._file.read(columns=list(names)).select(list(names))


class _Stored(Batches):
    """What is in memory, or mapped into it."""

    def __init__(self, table: Any) -> None:
        self._table, self.schema, self.rows = table, table.schema, table.num_rows

    def parts(self, names: Sequence[str], size: int) -> Iterator[Any]:
        return iter(self._table.select(list(names)).to_batches(max_chunksize=size))

    def whole(self, names: Sequence[str]) -> Any:
        return self._table.select(list(names))


class _Arrow(Batches):
    """A file of Arrow's own, whose batches may be compressed: one of them is unpacked at a time."""

    def __init__(self, arrow: ModuleType, reader: Any) -> None:
        self._arrow, self._reader, self.schema, self.rows = arrow, reader, reader.schema, None

    def parts(self, names: Sequence[str], size: int) -> Iterator[Any]:
        for k in range(self._reader.num_record_batches):
            batch = self._reader.get_batch(k).select(list(names))
            for lo in range(0, len(batch), size):
                yield batch.slice(lo, size)

    def whole(self, names: Sequence[str]) -> Any:
        batches = list(self.parts(names, 2**62))
        fields = [self.schema.field(name) for name in names]
        return self._arrow.Table.from_batches(batches, schema=self._arrow.schema(fields))


@contextmanager
def opened(path: Path) -> Iterator[Batches]:
    """Open a file of columns; one that is damaged, or something else, is refused in a line."""
    suffix = path.suffix.lower()
    form = SUFFIXES[suffix]
    arrow = pyarrow(form)
    try:
        if form == "Parquet":
            with arrow.parquet.ParquetFile(path) as file:
                yield _Parquet(file)
        elif form == "JSON Lines":
            yield _Stored(_json(arrow, path))
        else:
            with arrow.memory_map(str(path)) as stream:
                yield _of_stream(arrow, stream)
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError, arrow.ArrowException) as error:
        raise ValueError(f"{path} is not a {form} file, or damaged: check how it was written") from error


def _of_stream(arrow: ModuleType, stream: Any) -> Batches:
    """A file, or what was meant for a pipe, which has no list of its batches at the end."""
    try:
        return _Arrow(arrow, arrow.ipc.open_file(stream))
    except arrow.ArrowInvalid:
        stream.seek(0)
        return _Stored(arrow.ipc.open_stream(stream).read_all())


def _json(arrow: ModuleType, path: Path) -> Any:
    """A table of one object in each line."""
    if not path.stat().st_size:
        raise ValueError(f"{path} is empty: it needs an object in each line")
    try:
        return arrow.json.read_json(path, read_options=arrow.json.ReadOptions(block_size=LINE))
    except arrow.ArrowInvalid as error:
        reason = " ".join(str(error).split())[:120]
        raise ValueError(f"{path} is not JSON Lines, an object in each line: {reason}") from error
