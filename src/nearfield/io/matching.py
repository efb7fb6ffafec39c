"""Which row of a map belongs to which row of the data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from nearfield.io.chunked import Chunked
from nearfield.io.columns import quoted

if TYPE_CHECKING:
    from pathlib import Path

    from nearfield.io.tables import Table


def match_rows(table: Table, map_ids: np.ndarray | None, rows: int, data: Path, mapped: Path) -> np.ndarray:
    """The row of the map for each row of the data, by their ids; in their order where the map has none.

    Parameters
    ----------
    table : Table
        The data, with ids, all different, if a column was named for them; else the ids are the numbers of
        the rows, from 0, as `embed` writes them.
    map_ids : array or None
        The ids of the map.
    rows : int
        How many rows the map has.
    data, mapped : Path
        The files, for messages.

    Examples
    --------
    >>> from pathlib import Path
    >>> from nearfield.io.tables import Table
    >>> table = Table(np.zeros((3, 1)), ("a",))
    >>> match_rows(table, np.array([2, 0, 1]), 3, Path("data.csv"), Path("map.csv"))
    array([1, 2, 0])
    """
    n = len(table.X)
    if map_ids is None:
        if rows != n:
            raise ValueError(f"{data} has {n} rows but {mapped} has {rows}: pass the data it was made of")
        return np.arange(n)
    if table.ids is None and rows == n and np.array_equal(map_ids, np.arange(n)):
        return np.arange(n)
    # As text, for 7 in one file may stand beside '7' in the other.
    wanted = [str(each) for each in (range(n) if table.ids is None else table.ids.tolist())]
    there = [str(each) for each in map_ids.tolist()]
    if len(set(there)) < len(there):
        twice = Counter(there).most_common(1)[0][0]
        raise ValueError(f"{mapped} has several rows with the id {twice!r}: ids must be different")
    place = {each: row for row, each in enumerate(there)}
    missing = [each for each in wanted if each not in place]
    if missing and table.ids is None and rows == n:
        raise ValueError(
            f"{mapped} names its rows {quoted(there, 3)}: say with --id which column of {data} holds these"
        )
    if missing or rows != n:
        known = set(wanted)
        extra = [each for each in there if each not in known]
        lack = [f"{mapped} lacks the ids {quoted(missing, 3)}"] if missing else []
        lack += [f"{data} lacks the ids {quoted(extra, 3)}"] if extra else []
        raise ValueError(f"{' and '.join(lack)} ({n} and {rows} rows): pass the data the map was made of")
    return np.array([place[each] for each in wanted])


def rows_behind(table: Table, map_ids: np.ndarray | None, rows: int, data: Path, mapped: Path) -> np.ndarray:
    """The row of the data for each row of the map, which may be of some of the data alone.

    Parameters
    ----------
    table, map_ids, rows, data, mapped
        As of `match_rows`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from nearfield.io.tables import Table
    >>> table = Table(np.zeros((3, 1)), ("a",), ids=np.array(["p", "q", "r"]))
    >>> rows_behind(table, np.array(["r", "p"]), 2, Path("data.csv"), Path("map.csv"))
    array([2, 0])
    """
    n = len(table.X)
    if map_ids is None:
        if rows != n:
            raise ValueError(f"{data} has {n} rows but {mapped} has {rows}: pass the data it was made of")
        return np.arange(n)
    place = {str(each): row for row, each in enumerate(range(n) if table.ids is None else table.ids.tolist())}
    there = [str(each) for each in map_ids.tolist()]
    lacking = [each for each in there if each not in place]
    if lacking and table.ids is None:
        raise ValueError(
            f"{mapped} names its rows {quoted(there, 3)}: say with --id which column of {data} holds these"
        )
    if lacking:
        raise ValueError(f"{data} lacks the ids {quoted(lacking, 3)}: pass the data the map was made of")
    return np.array([place[each] for each in there], dtype=int)


def refuse_as_measurement(table: Table, values: np.ndarray | None, what: str, option: str) -> None:
    """Refuse data among whose measurements is what the map has as its labels or ids.

    Such a column was named when the map was made, and has to be named again.

    Examples
    --------
    >>> from nearfield.io.tables import Table
    >>> table = Table(np.array([[0.0, 1.0], [0.1, 0.0]]), ("a", "kind"))
    >>> refuse_as_measurement(table, np.array([1, 0]), "labels", "--label")
    Traceback (most recent call last):
    ...
    ValueError: the column 'kind' holds the labels of the map: add --label kind
    """
    if values is None or values.dtype.kind not in "biuf" or np.array_equal(values, np.arange(len(values))):
        return  # text is no measurement, and what counts the rows may be in any table
    values, alike = values.astype(float)[:, None], np.ones(len(table.names), bool)
    for first, block in table.X.blocks() if isinstance(table.X, Chunked) else [(0, table.X)]:
        there = values[first : first + len(block)]
        alike &= ((block == there) | (np.isnan(block) & np.isnan(there))).all(axis=0)
        if not alike.any():
            return
    name = table.names[int(np.argmax(alike))]
    raise ValueError(f"the column {name!r} holds the {what} of the map: add {option} {name}")
