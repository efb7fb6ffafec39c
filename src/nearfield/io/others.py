"""The columns of a table that no map is made of, and that a person wants to find beside it again."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nearfield.io.arrays import sides_of
from nearfield.io.arrow import arrow_columns
from nearfield.io.batches import SUFFIXES, opened, pyarrow
from nearfield.io.cellsfile import obs_columns
from nearfield.io.columns import find, natural
from nearfield.io.delimited import DELIMITERS, read_texts
from nearfield.io.vectors import field_of

_OWN = re.compile(r"id|label|neighbours|y[1-9]\d*")  # what a map calls its own columns


def read_others(
    path: Path, keep: str | Sequence[str], used: Sequence[str], there: Sequence[str], header: bool | None
) -> dict[str, Any]:
    """Read the columns that are to be kept.

    Parameters
    ----------
    path : Path
        The file.
    keep : str or sequence of str
        "all" for all that are not used, or names, in one text with commas between them.
    used : sequence of str
        What the numbers, the labels and the ids were made of.
    there : sequence of str
        The columns of a text table.
    header : bool, optional
        Whether its first line names them.
    """
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        with opened(path) as file:
            there = file.schema.names
    elif suffix == ".h5ad":
        there = obs_columns(path, None)
    elif suffix not in DELIMITERS:
        there = list(sides_of(path)) if suffix == ".npz" else []
    names = _wanted(keep, used, there)
    if not names:
        return {}
    if suffix in SUFFIXES:
        return arrow_columns(path, names)
    if suffix in DELIMITERS:
        cells = read_texts(path, names, DELIMITERS[suffix], header)
        return {name: natural(each) for name, each in cells.items()}
    sides = obs_columns(path, names) if suffix == ".h5ad" else sides_of(path)
    return {name: sides[name] for name in names}


def _wanted(keep: str | Sequence[str], used: Sequence[str], there: Sequence[str]) -> list[str]:
    if keep == "all":
        fields = {*used, *map(field_of, used)}
        return [name for name in there if name not in fields and list(there).count(name) == 1]
    asked = next(csv.reader([keep], skipinitialspace=True)) if isinstance(keep, str) else keep
    return [there[find(list(there), name.strip())] for name in dict.fromkeys(asked)]


def beside_a_map(others: Mapping[str, Any]) -> dict[str, Any]:
    """The same columns, called so that none is taken for one of the map.

    >>> list(beside_a_map({"y1": 0, "year": 1}))
    ['data_y1', 'year']
    >>> list(beside_a_map({"y1": 0, "data_y1": 1}))
    ['data_data_y1', 'data_y1']
    """
    found: dict[str, Any] = {}
    for name, each in others.items():
        called = f"data_{name}" if _OWN.fullmatch(name) else name
        while called in found or (called != name and called in others):
            called = f"data_{called}"
        found[called] = each
    return found


@dataclass(frozen=True, eq=False)
class Nearest:
    """The neighbours of each row as a column, in the form that embedding-atlas reads.

    A cell is {"ids": […], "distances": […]}, nearest first; the ids are the numbers of the rows, from 0.

    Attributes
    ----------
    indices, distances : array (rows, k)
        The neighbours; infinitely far where there are fewer.

    Examples
    --------
    >>> Nearest(np.array([[1, 2]]), np.array([[0.5, np.inf]])).texts()
    ['{"ids": [1], "distances": [0.5]}']
    """

    indices: Any
    distances: Any

    def __len__(self) -> int:
        return len(self.indices)

    def arrow(self) -> Any:
        """As a column of Arrow."""
        arrow = pyarrow()
        there = np.isfinite(self.distances)
        ends = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int32)
        parts = [
            arrow.ListArray.from_arrays(ends, arrow.array(values[there]))
            for values in (self.indices.astype(np.int64), self.distances.astype(np.float64))
        ]
        return arrow.StructArray.from_arrays(parts, names=["ids", "distances"])

    def texts(self) -> list[str]:
        """As JSON."""
        found = []
        for ids, distances in zip(self.indices, self.distances, strict=True):
            there = np.isfinite(distances)
            cell = {"ids": ids[there].tolist(), "distances": distances[there].astype(float).tolist()}
            found.append(json.dumps(cell))
        return found


def as_texts(column: Any) -> list[Any]:
    """A column as a text table has it; lists and the like as JSON.

    >>> as_texts(np.array([1.5, 2.0]))
    [1.5, 2.0]
    """
    if isinstance(column, np.ndarray):
        return column.tolist()
    if isinstance(column, Nearest):
        return column.texts()
    return [
        json.dumps(each, default=str) if isinstance(each, (list, dict)) else each
        for each in column.to_pylist()
    ]


def as_natural(column: Any) -> np.ndarray:
    """A column as NumPy has it: numbers where all of it is such, else text."""
    if isinstance(column, np.ndarray):
        return column
    return natural(["" if each is None else str(each) for each in column.to_pylist()])
