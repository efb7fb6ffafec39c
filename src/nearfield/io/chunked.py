"""Rows that are not held in memory: mapped from a file, or in a file or an array of chunks.

Whatever pieces they are stored in, they are handed on in blocks of one size, so that nothing that is computed
from them depends on the pieces. Numbers of 32 bits stay so, until a block is asked for; all others become 64.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.checks import finite, numbers
from nearfield.io.arrays import DAMAGED
from nearfield.io.arrow import Layout, arrow_parts
from nearfield.io.batches import opened, pyarrow
from nearfield.io.columns import choose, short
from nearfield.typing import Array

ROWS = 2**14  # of a block
CELLS = 2**22  # of a block, at the most
FILES = (".npy", ".parquet", ".feather", ".arrow", ".ipc", ".zarr")


class Chunked:
    """Rows of numbers, read some at a time.

    Attributes
    ----------
    shape : (int, int)
        Rows and columns.
    dtype : dtype
        float32 or float64.
    names : tuple of str or None
        The columns, where they have names.
    what : str
        What the rows are called in messages.
    """

    shape: tuple[int, int]
    dtype: Any
    names: tuple[str, ...] | None = None
    what: str = "X"

    def __len__(self) -> int:
        return self.shape[0]

    def parts(self, rows: Any = None) -> Iterator[tuple[int, Any]]:
        """Rows in the pieces that they come in, and the number of the first of each.

        Pieces may be left out that hold none of some `rows`, whose numbers ascend.
        """
        raise TypeError(f"{type(self).__name__} does not define parts")

    def blocks(self) -> Iterator[tuple[int, Array]]:
        """All rows, as many at a time as their columns alone decide, and the number of the first of each.

        They are float64, and looked at: what is no finite number is refused with its row.
        """
        size, at = block_rows(self.shape[1]), 0
        held: list[Any] = []
        count = 0
        for _, part in self.parts():
            held.append(part)
            count += len(part)
            if count >= size:
                rows = np.concatenate(held) if len(held) > 1 else part
                for lo in range(0, count - count % size, size):
                    yield at, self.sound(rows[lo : lo + size], at)
                    at += size
                held, count = [rows[count - count % size :]], count % size
        if count:
            yield at, self.sound(np.concatenate(held), at)

    def sound(self, rows: Any, first: int) -> Array:
        """Rows as float64, if all are finite numbers; `first` is the number of the first."""
        rows = np.ascontiguousarray(numbers(np.asarray(rows), self.what), dtype=np.float64)
        finite(rows, self.names, self.what, first)
        return rows

    def take(self, rows: Any) -> Any:
        """Some rows by their numbers, in that order, of the kind that they are stored as."""
        order = np.argsort(rows, kind="stable")
        wanted, found = np.asarray(rows)[order], np.empty((len(rows), self.shape[1]), self.dtype)
        for first, part in self.parts(wanted):
            lo, hi = np.searchsorted(wanted, (first, first + len(part)))
            found[order[lo:hi]] = part[wanted[lo:hi] - first]
        return found

    @property
    def mapped(self) -> Any:
        """The array that the rows are slices of, if it is one whose pages the system may take back."""
        return None

    def all(self) -> Any:
        """All rows, of the kind that they are stored as; mapped ones stay where they are, after a look."""
        if self.mapped is not None:
            for _ in self.blocks():
                pass
            return self.mapped
        found = np.empty(self.shape, self.dtype)
        for first, block in self.blocks():
            found[first : first + len(block)] = block
        return found

    def gathered(self, rows: Any) -> Array:
        """The same as float64, and a look at all the others on the way."""
        order = np.argsort(rows, kind="stable")
        wanted, found = np.asarray(rows)[order], np.empty((len(rows), self.shape[1]))
        for first, block in self.blocks():
            lo, hi = np.searchsorted(wanted, (first, first + len(block)))
            found[order[lo:hi]] = block[wanted[lo:hi] - first]
        return found


class Held(Chunked):
    """Rows that are in memory, and have been looked at: an array of float64, or a sparse matrix."""

    def __init__(self, X: Any) -> None:
        self.X, self.shape, self.dtype = X, X.shape, X.dtype

    def blocks(self) -> Iterator[tuple[int, Any]]:
        size = block_rows(self.shape[1])
        for lo in range(0, len(self), size):
            yield lo, self.X[lo : lo + size]

    def take(self, rows: Any) -> Any:
        return self.X[rows]

    gathered = take


class Sliced(Chunked):
    """What gives rows by slices: an array in memory or mapped into it, or one of zarr.

    Parameters
    ----------
    array : array (rows, columns)
        What is sliced; of real numbers.
    step : int, optional
        How many rows are stored together.
    """

    def __init__(self, array: Any, step: int = 1) -> None:
        self.array, self.shape, self.dtype = array, tuple(array.shape), kind_of(array.dtype)
        size = block_rows(self.shape[1])
        self.step = step * max(1, size // step)

    @property
    def mapped(self) -> Any:
        return self.array if isinstance(self.array, np.memmap) and self.array.dtype == self.dtype else None

    def parts(self, rows: Any = None) -> Iterator[tuple[int, Any]]:
        starts = range(0, len(self), self.step) if rows is None else np.unique(rows // self.step) * self.step
        for lo in starts:
            yield int(lo), np.asarray(self.array[int(lo) : int(lo) + self.step], dtype=self.dtype)


class ColumnFile(Chunked):
    """A file of typed columns: Parquet, row group by row group, or Arrow, batch by batch.

    Parameters
    ----------
    path : Path
        The file.
    names : sequence of str, optional
        The columns; by default all of them, which must then be numbers or vectors.
    """

    def __init__(self, path: Path, names: Sequence[str] | None = None) -> None:
        self.path, arrow = path, pyarrow()
        with opened(path) as file:
            laid = Layout.of(arrow, file)
            self.numbers = list(choose(laid.names, None, names, None).numbers)
            for j in self.numbers:
                if not laid.numeric(arrow, j):
                    name, kind = short(laid.names[j]), short(str(laid.kinds[laid.fields[j]]))
                    raise ValueError(
                        f"column {name!r} of {path} holds {kind} and not numbers: name the columns that are"
                        " meant, nearfield.rows(path, columns)"
                    )
            self.dtype = np.dtype(np.float32 if laid.is_single(arrow, self.numbers) else np.float64)
            self.shape = (file.counted(), len(self.numbers))
            self.names = tuple(laid.names[j] for j in self.numbers)

    def parts(self, rows: Any = None) -> Iterator[tuple[int, Any]]:
        at = 0
        for part in arrow_parts(self.path, self.numbers, self.dtype, block_rows(self.shape[1])):
            yield at, part
            at += len(part)


def rows(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> Chunked:
    """The rows of a file, or of some of its columns, without holding them: for `fit`, `transform`, `quality`.

    Parameters
    ----------
    path : path-like
        A `.npy`, `.parquet`, `.feather` or `.arrow` file, or a zarr array.
    columns : sequence of str, optional
        Columns of a file that names them. By default all, which must then be numbers, or vectors of such.

    Examples
    --------
    >>> import numpy as np, nearfield as nf, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "data.npy")
    >>> np.save(path, np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32))
    >>> X = nf.rows(path)
    >>> X.shape, X.dtype
    ((300, 5), dtype('float32'))
    >>> nf.TSNE(perplexity=10, landmarks=100, random_state=0).fit_transform(X).shape
    (300, 2)
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in FILES:
        raise ValueError(
            f"rows of {path} cannot be read some at a time: write them as one of {', '.join(FILES)}, or pass"
            " an array"
        )
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}: check its name and folder")
    if suffix not in (".npy", ".zarr"):
        return ColumnFile(path, columns)
    if columns is not None:
        raise ValueError(f"{path} has no names of columns: leave out columns")
    found = _chunked(_zarr(path) if suffix == ".zarr" else _mapped(path))
    if found is None:
        raise ValueError(f"{path} is no table: save an array of numbers with two dimensions")
    found.what = str(path)
    return found


def chunked(X: Any, names: Sequence[str] | None = None) -> Chunked | None:
    """X as rows that are read some at a time, if it is of such a kind; a path is opened."""
    if isinstance(X, (str, os.PathLike)):
        X = rows(X, None if Path(X).suffix.lower() in (".npy", ".zarr") else names)
    if isinstance(X, Chunked):
        return X
    return _chunked(X)


def _chunked(X: Any) -> Chunked | None:
    """An array as rows that are read some at a time, if it is mapped, of zarr or of Dask."""
    home = type(X).__module__.partition(".")[0]
    if home == "dask" and hasattr(X, "chunks"):
        from nearfield.io.dasked import DaskRows

        return DaskRows(X)
    mapped, stored = isinstance(X, np.memmap), home == "zarr" and hasattr(X, "chunks")
    if not (mapped or stored):
        return None
    if X.ndim != 2 or np.dtype(X.dtype).kind not in "biuf":
        if mapped:
            return None  # which is refused as an array in memory is
        raise ValueError(f"X must be real numbers, points and columns, got {X.dtype} of shape {X.shape}")
    return Sliced(X, 1 if mapped else X.chunks[0])


def _mapped(path: Path) -> Any:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except DAMAGED as error:
        raise ValueError(f"{path} cannot be read: it is damaged, or holds Python objects") from error


def _zarr(path: Path) -> Any:
    try:
        import zarr
    except ImportError as error:
        raise ImportError(f"{path} needs zarr: pip install zarr") from error
    found = zarr.open(str(path), mode="r")
    if not hasattr(found, "dtype"):
        raise ValueError(f"{path} holds several arrays: pass one of them, zarr.open(path)['name']")
    return found


def block_rows(columns: int) -> int:
    """How many rows a block has."""
    return max(1, min(ROWS, CELLS // max(1, columns)))


def kind_of(dtype: Any) -> Any:
    """What numbers are read as: those of 32 bits or fewer as float32, all others as float64."""
    dtype = np.dtype(dtype)
    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize <= 4 else np.float64)
