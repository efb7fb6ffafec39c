"""Arrays and data frames of Dask: computed chunk by chunk where rows are wanted, and made lazily of others.

Nothing here knows what is done to the rows. An object that does it is put on every worker once; where there
is no client, it is in the graph once, as itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Any
from uuid import uuid4

import numpy as np

from nearfield.io.chunked import Chunked, kind_of

GONE = "the client that holds what is to be computed is gone: start one, and make the lazy array anew"


class DaskRows(Chunked):
    """The rows of an array of Dask, of which those are computed that are wanted.

    Parameters
    ----------
    array : dask.array.Array (rows, columns)
        Chunks of rows, of known length.
    names : tuple of str, optional
        The columns.
    """

    def __init__(self, array: Any, names: tuple[str, ...] | None = None) -> None:
        if array.ndim != 2:
            raise ValueError(f"X must have two dimensions, points and columns, got {array.ndim}")
        if np.dtype(array.dtype).kind not in "biuf":
            raise ValueError(
                f"X holds {array.dtype} and not numbers: leave out such columns, or X.astype(float)"
            )
        if np.isnan(array.shape).any():
            raise ValueError("X has chunks of unknown size: X.compute_chunk_sizes() finds them out")
        if len(array.chunks[1]) > 1:
            raise ValueError(
                f"X has its columns in {len(array.chunks[1])} chunks, and rows are mapped as a whole:"
                " X.rechunk({1: -1})"
            )
        self.array, self.names = array, names
        self.shape, self.dtype = (int(array.shape[0]), int(array.shape[1])), kind_of(array.dtype)

    def parts(self, rows: Any = None) -> Iterator[tuple[int, Any]]:
        for i, (lo, hi) in enumerate(pairwise([0, *accumulate(self.array.chunks[0])])):
            if hi > lo and (rows is None or np.searchsorted(rows, hi) > np.searchsorted(rows, lo)):
                yield lo, np.asarray(computed(self.array.blocks[i]), dtype=self.dtype)

    def take(self, rows: Any) -> Any:
        order = np.argsort(rows, kind="stable")
        found = np.empty((len(rows), self.shape[1]), self.dtype)
        found[order] = computed(self.array[np.asarray(rows)[order]])
        return found

    def gathered(self, rows: Any) -> Any:
        """Without a look at the others, which are not computed."""
        found = self.take(rows)
        odd = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if len(odd):  # which is refused by its number among all
            self.sound(found[odd[:1]], int(rows[odd[0]]))
        return self.sound(found, 0)


def rows_of_frame(frame: Any) -> DaskRows:
    """The rows of a data frame of Dask, whose partitions are counted."""
    odd = [name for name, kind in frame.dtypes.items() if getattr(kind, "kind", "O") not in "biuf"]
    if odd:
        raise ValueError(f"column {odd[0]!r} holds {frame.dtypes[odd[0]]} and not numbers: leave it out")
    names = tuple(frame.columns) if all(isinstance(each, str) for each in frame.columns) else None
    return DaskRows(frame.to_dask_array(lengths=computed(frame.map_partitions(len)).tolist()), names)


def computed(lazy: Any) -> Any:
    """What something lazy comes to."""
    from concurrent.futures import CancelledError

    try:
        return lazy.compute()
    except (CancelledError, ValueError) as error:
        if isinstance(error, ValueError) and "Missing dependency" not in str(error):
            raise
        raise ValueError(GONE) from error


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of Dask."""
    return type(X).__module__.startswith("dask") and hasattr(X, "map_partitions") and hasattr(X, "columns")


def mapped(array: Any, worker: Any, width: int) -> Any:
    """A lazy array of what ``worker.of_chunk(chunk, first)`` makes of each chunk of rows: so many columns.

    `first` is the number of the first row.
    """
    import dask.array as da

    return da.map_blocks(
        _of_chunk,
        array,
        worker=sent(worker),
        dtype=np.float64,
        chunks=(array.chunks[0], (width,)),
        meta=np.empty((0, 0)),
        name=f"nearfield-transform-{uuid4().hex}",
    )


def mapped_frame(frame: Any, worker: Any, width: int, names: tuple[str, ...] | None) -> Any:
    """A lazy data frame of the same, with the index of the rows and the columns y1, y2, …"""
    import pandas as pd

    columns = [f"y{c + 1}" for c in range(width)]
    meta = pd.DataFrame(np.empty((0, width)), columns=columns, index=frame._meta.index)
    if names is not None:
        lacking = [each for each in names if each not in frame.columns]
        if lacking:
            raise ValueError(f"X lacks the column {lacking[0]!r}, of which the map was made")
        frame = frame[list(names)]
    return frame.map_partitions(_of_partition, worker=sent(worker), columns=columns, meta=meta)


def sent(worker: Any) -> Any:
    """An object as the tasks of a graph have it: on every worker already, or in the graph once."""
    import dask

    client = _client()
    if client is None:
        return dask.delayed(worker, name=f"nearfield-model-{uuid4().hex}", traverse=False)
    key = f"nearfield-model-that-its-client-holds-{uuid4().hex}"  # which is named where the client is gone
    return client.scatter({key: worker}, broadcast=True)[key]


def _client() -> Any:
    """The client that computes, if there is one."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:  # there is none
        return None


def _of_chunk(block: Any, worker: Any = None, block_info: Any = None) -> Any:
    first = block_info[0]["array-location"][0][0] if block_info else 0
    return worker.of_chunk(block, int(first))


def _of_partition(part: Any, worker: Any, columns: list[str]) -> Any:
    import pandas as pd

    return pd.DataFrame(worker.of_chunk(part.to_numpy()), columns=columns, index=part.index)
