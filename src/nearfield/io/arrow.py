"""Tables of typed columns, some of which may hold vectors, with the extra `data`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from nearfield.io.batches import Batches, opened, pyarrow
from nearfield.io.columns import Choice, Chooser, Table, put, said_of, short
from nearfield.io.vectors import (
    element_names,
    holds_numbers,
    is_list,
    is_numeric,
    is_single,
    pick,
    rows_of,
    stored,
    width_of,
)

LOOKED_AT = 1000  # rows, by which vectors are told from lists of this and that
CELLS = 2**22  # that are read at a time


@dataclass(frozen=True)
class Layout:
    """The columns of a file as a table has them, in which a vector is as many columns as it has numbers.

    Attributes
    ----------
    names : list of str
        The columns.
    fields : list of str
        The column of the file that each is of.
    elements : list of int or None
        Which number of a vector each is, if it is one.
    widths : dict of str to int
        How many numbers the vectors of a column have.
    kinds : dict of str to DataType
        What the columns of the file hold.
    """

    names: list[str]
    fields: list[str]
    elements: list[int | None]
    widths: dict[str, int]
    kinds: dict[str, Any]

    @classmethod
    def of(cls, arrow: ModuleType, file: Batches) -> Layout:
        """The layout of a file."""
        kinds = {
            field.name: getattr(field.type, "storage_type", field.type)  # which a type with a name has
            for field in file.schema
        }
        lists = [name for name, kind in kinds.items() if holds_numbers(arrow, kind)]
        widths = {}
        for first in islice(file.parts(lists, LOOKED_AT), 1) if lists else ():
            found = {name: width_of(arrow, stored(first.column(name))) for name in lists}
            widths = {name: width for name, width in found.items() if width}
        laid = cls([], [], [], widths, kinds)
        for name in file.schema.names:
            width = widths.get(name)
            laid.names.extend([name] if width is None else element_names(name, width))
            laid.fields.extend([name] * (width or 1))
            laid.elements.extend([None] if width is None else range(width))
        return laid

    def numeric(self, arrow: ModuleType, j: int) -> bool:
        """Whether a column is one of numbers."""
        return self.elements[j] is not None or is_numeric(arrow, self.kinds[self.fields[j]])

    def is_single(self, arrow: ModuleType, numbers: Sequence[int]) -> bool:
        """Whether some columns of numbers hold no more than 32 bits each."""
        held = [(self.kinds[self.fields[j]], self.elements[j]) for j in numbers]
        return all(is_single(arrow, kind if at is None else kind.value_type) for kind, at in held)


def read_arrow(path: Path, chooser: Chooser, vector: str | None = None) -> Table:
    """Read the vectors, or the numeric columns, some rows at a time, and the columns of labels and ids."""
    arrow = pyarrow()
    with opened(path) as file:
        laid = Layout.of(arrow, file)
        choice = chooser(laid.names)
        numbers, notes = _numbers(arrow, laid, choice, vector, path)
        X = _read(arrow, file, laid, numbers)
        labels, ids = (_values(arrow, file, laid, j) for j in (choice.label, choice.id))
        return Table(X, tuple(laid.names[j] for j in numbers), labels, ids, tuple(notes))


def _numbers(
    arrow: ModuleType, laid: Layout, choice: Choice, vector: str | None, path: Path
) -> tuple[list[int], list[str]]:
    """Which columns are the numbers, and what there is to say of the others."""
    numeric = [j for j in choice.numbers if laid.numeric(arrow, j)]
    left = [j for j in choice.numbers if not laid.numeric(arrow, j)]
    if choice.asked:
        if left:
            kind, name = laid.kinds[laid.fields[left[0]]], laid.names[left[0]]
            raise ValueError(
                f"column {short(name)!r} holds {short(str(kind))} and not numbers: ask for numeric columns"
            )
        chosen = None if vector is None else pick(list(laid.widths), vector, path)
        more = [j for j, name in enumerate(laid.fields) if name == chosen and j not in numeric]
        return [*numeric, *more], []
    sides = [laid.fields[j] for j in (choice.label, choice.id) if j is not None]
    chosen = pick([name for name in laid.widths if name not in sides], vector, path)
    notes = _left_out(arrow, {laid.fields[j]: laid.kinds[laid.fields[j]] for j in left})
    if chosen is None:
        return numeric, notes
    beside = [laid.names[j] for j in numeric if laid.elements[j] is None]
    others = [name for name in laid.widths if name != chosen and name not in sides]
    said = [f"read the vectors {short(chosen)!r}, {laid.widths[chosen]} numbers each"]
    if beside:
        left_out = said_of("left out the numeric column", beside)
        said.append(f"{left_out} beside the vectors: --columns adds those that it names")
    if others:
        said.append(said_of("left out the vector column", others))
    return [j for j in numeric if laid.fields[j] == chosen], [*said, *notes]


def _read(arrow: ModuleType, file: Batches, laid: Layout, numbers: Sequence[int]) -> np.ndarray:
    """The numbers of all rows; of 32 bits where all of them are vectors of such."""
    vectors = bool(numbers) and all(laid.elements[j] is not None for j in numbers)
    dtype = np.float32 if vectors and laid.is_single(arrow, numbers) else np.float64
    X, done = np.empty((file.rows or 0, len(numbers)), dtype), 0
    for block in _blocks(arrow, file, laid, numbers, dtype, CELLS // max(1, len(numbers))):
        put(X, done, block)
        done += len(block)
    X.resize((done if numbers else file.rows or 0, len(numbers)), refcheck=False)
    return X


def _blocks(
    arrow: ModuleType, file: Batches, laid: Layout, numbers: Sequence[int], dtype: Any, size: int
) -> Iterator[np.ndarray]:
    """The numbers of up to so many rows at a time."""
    fields = list(dict.fromkeys(laid.fields[j] for j in numbers))
    start = 0
    for part in file.parts(fields, max(1, size)) if fields else ():
        yield _numbers_of(arrow, part, laid, numbers, dtype, start)
        start += len(part)


def _numbers_of(
    arrow: ModuleType, part: Any, laid: Layout, numbers: Sequence[int], dtype: Any, start: int
) -> np.ndarray:
    """The numbers of some rows, which are those from `start` on."""
    X, at = np.empty((len(part), len(numbers)), dtype), 0
    while at < len(numbers):
        name = laid.fields[numbers[at]]
        end = at + 1
        if laid.elements[numbers[at]] is None:
            # Not safe, which would refuse whole numbers beyond 2⁵³ in place of rounding them.
            column = stored(part.column(name)).cast(arrow.float64(), safe=False)
            X[:, at] = column.to_numpy(zero_copy_only=False)
        else:
            while end < len(numbers) and laid.fields[numbers[end]] == name:
                end += 1
            found = rows_of(arrow, stored(part.column(name)), name, laid.widths[name], start)
            X[:, at:end] = found[:, np.array([laid.elements[j] for j in numbers[at:end]])]
        at = end
    return X


def _values(arrow: ModuleType, file: Batches, laid: Layout, j: int | None) -> np.ndarray | None:
    """The labels or the ids."""
    if j is None:
        return None
    if laid.elements[j] is not None:
        return _read(arrow, file, laid, [j])[:, 0]
    column = file.whole([laid.fields[j]]).column(0).to_pylist()
    # What is missing becomes what it is in a text table: NaN among numbers, else nothing.
    if laid.numeric(arrow, j):
        return np.array([np.nan if each is None else each for each in column])
    return _text(column)


def arrow_chunks(path: Path, chooser: Chooser, rows: int) -> Iterator[tuple[Table, float]]:
    """Read a table so many rows at a time, with the share of them that has been read after each time."""
    arrow = pyarrow()
    with opened(path) as file:
        laid = Layout.of(arrow, file)
        choice = chooser(laid.names)
        for j in choice.numbers:
            if not laid.numeric(arrow, j):
                kind = short(str(laid.kinds[laid.fields[j]]))
                raise ValueError(f"column {short(laid.names[j])!r} holds {kind} and not numbers")
        numbers, done = list(choice.numbers), 0
        sides = [None if j is None else laid.fields[j] for j in (choice.label, choice.id)]
        asked = list(dict.fromkeys([*(laid.fields[j] for j in numbers), *filter(None, sides)]))
        size = max(1, min(rows, CELLS // max(1, len(numbers))))
        for part in file.parts(asked, size):
            X = _numbers_of(arrow, part, laid, numbers, np.float64, done)
            labels, ids = (None if each is None else _text(part.column(each).to_pylist()) for each in sides)
            done += len(part)
            share = done / file.rows if file.rows else 0.0
            yield Table(X, tuple(laid.names[j] for j in numbers), labels, ids), share


def arrow_parts(path: Path, numbers: Sequence[int], dtype: Any, size: int) -> Iterator[np.ndarray]:
    """The numbers of some columns, by their places in the layout, up to so many rows at a time."""
    arrow = pyarrow()
    with opened(path) as file:
        yield from _blocks(arrow, file, Layout.of(arrow, file), numbers, dtype, size)


def numbers_of(path: Path, chooser: Chooser, vector: str | None = None) -> tuple[list[str], list[str]]:
    """The columns of numbers that `read_arrow` would read, and what there is to say of the others."""
    arrow = pyarrow()
    with opened(path) as file:
        laid = Layout.of(arrow, file)
        numbers, notes = _numbers(arrow, laid, chooser(laid.names), vector, path)
        return [laid.names[j] for j in numbers], notes


def arrow_columns(path: Path, names: Sequence[str]) -> dict[str, Any]:
    """Read some columns as they are, whatever their type."""
    with opened(path) as file:
        table = file.whole(names)
        return {name: table.column(k) for k, name in enumerate(names)}


def text_of(column: Any) -> np.ndarray:
    """A column as text, in which nothing is an empty one."""
    return _text(column.to_pylist())


def _text(values: list[Any]) -> np.ndarray:
    return np.array(["" if each is None else str(each) for each in values])


def _left_out(arrow: ModuleType, columns: Mapping[str, Any]) -> list[str]:
    """Say which columns were left out, those of each kind together."""
    said: dict[str, list[str]] = {}
    for name, kind in columns.items():
        said.setdefault(_kind(arrow, kind), []).append(name)
    return [said_of(f"left out the {kind}", names) for kind, names in said.items()]


def _kind(arrow: ModuleType, kind: Any) -> str:
    types = arrow.types
    if is_list(arrow, kind):
        return "column of lists" if not holds_numbers(arrow, kind) else "column of uneven lists"
    if types.is_struct(kind) or types.is_map(kind):
        return "column of objects"
    if types.is_temporal(kind):
        return "column of times"
    if types.is_null(kind):
        return "empty column"
    return "text column"
