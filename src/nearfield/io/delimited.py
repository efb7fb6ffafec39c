"""Text tables: CSV, TSV and their kin, understood without being told how they were written.

The delimiter is the one that splits the first two lines alike. The first line is a header unless it reads
like data. A column is numeric if all its cells are; one that is mostly text is left out; one that is mostly
numeric has a mistake in it, which is named. Rows are turned into numbers a block at a time, so that the text
of a large file is never in memory as a whole.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

import numpy as np

from nearfield.io.columns import Choice, Chooser, Table, natural, quoted

_CELLS_AT_ONCE = 2**18
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")

Row = tuple[int, list[str]]  # the line where the row ends, and its cells


def read_delimited(path: Path, choose: Chooser, delimiters: str) -> Table:
    """Read a text table whose delimiter is one of `delimiters`."""
    try:
        # utf-8-sig also reads UTF-8 without the byte order mark that some spreadsheets write.
        with open(path, newline="", encoding="utf-8-sig") as stream:
            delimiter = _delimiter(stream, delimiters)
            stream.seek(0)
            return _read(_rows(stream, delimiter), path, choose)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: save it as UTF-8") from error


def _rows(stream: TextIO, delimiter: str) -> Iterator[Row]:
    """Yield the rows that are not blank. Strict, lest a quote left open swallow the rest of the file."""
    reader = csv.reader(stream, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        yield from ((reader.line_num, row) for row in reader if row)
    except csv.Error as error:
        raise ValueError(
            f"line {reader.line_num} cannot be read ({error}): look for a stray quote"
        ) from error


def _delimiter(stream: TextIO, candidates: str) -> str:
    """Return the candidate that splits the first two lines alike, else the most frequent in the first."""
    if len(candidates) == 1:
        return candidates
    lines = list(islice((line.strip(" \r\n") for line in stream if line.strip()), 2))
    for candidate in candidates:
        widths = {len(next(csv.reader([line], delimiter=candidate, skipinitialspace=True))) for line in lines}
        if len(widths) == 1 and widths != {1}:
            return candidate
    # Not the blank: a lone column may have one in its name.
    return max(candidates.rstrip(" "), key=lines[0].count) if lines else candidates[0]


def _read(rows: Iterator[Row], path: Path, choose: Chooser) -> Table:
    first = next(rows, None)
    if first is None:
        raise ValueError(f"{path} is empty: it needs at least one row of numbers")
    names, notes, rows = _header(first, rows)
    choice = choose(names)

    X = np.empty((0, len(choice.numbers)))
    tally = _Tally(len(choice.numbers))
    labels: list[str] = []
    ids: list[str] = []
    for block in _blocks(rows, len(names)):
        cells = [row for _, row in block]
        numbers, bad = _numbers(cells, choice.numbers)
        _put(X, tally.rows, numbers)
        tally.add(block, choice.numbers, numbers, bad)
        if choice.label is not None:
            labels.extend(row[choice.label].strip() for row in cells)
        if choice.id is not None:
            ids.extend(row[choice.id].strip() for row in cells)

    X.resize((tally.rows, len(choice.numbers)), refcheck=False)
    keep = _numeric(tally, names, choice, notes)
    return Table(
        X if len(keep) == X.shape[1] else X[:, keep],
        tuple(names[choice.numbers[k]] for k in keep),
        natural(labels) if choice.label is not None else None,
        natural(ids, real=False) if choice.id is not None else None,
        tuple(notes),
    )


def _header(first: Row, rows: Iterator[Row]) -> tuple[list[str], list[str], Iterator[Row]]:
    """Return the column names, what is to be said about them, and the rows of data."""
    cells = [cell.strip() for cell in first[1]]
    if _is_data(cells):
        names = [f"x{j + 1}" for j in range(len(cells))]
        return (
            names,
            [f"found no header and called the columns {quoted(names, most=2)}"],
            chain([first], rows),
        )
    return [cell or f"unnamed {j + 1}" for j, cell in enumerate(cells)], [], rows


def _is_data(cells: Sequence[str]) -> bool:
    """Tell whether the first row of a file is data and not a header.

    Numbers can be names too: pandas calls columns 0, 1, 2, …, and years are common beside other names. Such
    names are whole and do not repeat.
    """
    numbers = [cell for cell in cells if cell and not np.isnan(_number(cell))]
    if not numbers:
        return False
    if numbers == [str(j) for j in range(len(numbers))] and (len(numbers) > 2 or not cells[0]):
        return False
    all_numbers = len(numbers) == sum(map(bool, cells))
    return all_numbers or len(set(numbers)) < len(numbers) or not all(n.isdecimal() for n in numbers)


def _blocks(rows: Iterator[Row], width: int) -> Iterator[list[Row]]:
    """Yield the rows in blocks, each row of it as wide as the header."""
    while block := list(islice(rows, max(1, _CELLS_AT_ONCE // width))):
        for line, row in block:
            if len(row) != width:
                raise ValueError(
                    f"line {line} has {len(row)} cells where the first line has {width}: "
                    "mend it, or quote the cells that contain the delimiter"
                )
        yield block


def _number(cell: str) -> float:
    """Return the number a cell holds; NaN for an empty cell and for text."""
    # Python reads '1_2' as 12; in a table it is a name.
    try:
        return float(cell) if "_" not in cell else np.nan
    except ValueError:
        return np.nan


def _numbers(rows: list[list[str]], columns: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of some columns, NaN where there is none, and a mask of the cells that are text."""
    bad = np.zeros((len(rows), len(columns)), dtype=bool)
    if "_" not in "".join(chain.from_iterable(rows)):
        try:
            # The quick way, for a block without text or empty cells.
            numbers = np.array(rows, dtype=np.float64)
            return (numbers if list(columns) == list(range(len(rows[0]))) else numbers[:, columns]), bad
        except ValueError:
            pass
    numbers = np.empty(bad.shape)
    for k, j in enumerate(columns):
        cells = [row[j] for row in rows]
        try:
            if "_" in "".join(cells):
                raise ValueError
            numbers[:, k] = cells
        except ValueError:
            numbers[:, k] = [_number(cell) for cell in cells]
            for i in np.flatnonzero(np.isnan(numbers[:, k])):
                bad[i, k] = cells[i].strip().lower() not in ("", "nan", "-nan", "+nan")
    return numbers, bad


def _put(X: np.ndarray, at: int, block: np.ndarray) -> None:
    """Write `block` into `X` from row `at` on, making room in place where there is none.

    A large array grows by having pages added and not by being copied, so that a table needs the memory of one
    and not of two, as a list of blocks that is joined in the end would.
    """
    end = at + len(block)
    if end > len(X):
        X.resize((end + end // 4, X.shape[1]), refcheck=False)
    X[at:end] = block


class _Tally:
    """What has been seen of each column: how many numbers, how many cells of text, and the first text."""

    def __init__(self, width: int) -> None:
        self.rows = 0
        self.text = np.zeros(width, dtype=int)
        self.numbers = np.zeros(width, dtype=int)
        self.first: dict[int, tuple[int, int, str]] = {}

    def add(self, block: list[Row], columns: Sequence[int], numbers: np.ndarray, bad: np.ndarray) -> None:
        self.text += bad.sum(axis=0)
        self.numbers += len(block) - np.isnan(numbers).sum(axis=0)
        for k in np.flatnonzero(bad.any(axis=0)):
            i = int(bad[:, k].argmax())
            line, row = block[i]
            self.first.setdefault(int(k), (self.rows + i, line, row[columns[int(k)]].strip()))
        self.rows += len(block)


def _numeric(tally: _Tally, names: Sequence[str], choice: Choice, notes: list[str]) -> list[int]:
    """Return which of the chosen columns are numeric; say what is left out, raise for what is a mistake."""
    keep, texts, blanks = [], [], []
    for k, j in enumerate(choice.numbers):
        name = names[j]
        if k not in tally.first:
            if tally.numbers[k] or choice.asked:
                keep.append(k)
            else:
                blanks.append(name)
            continue
        row, line, cell = tally.first[k]
        where = f"column {name!r}, row {row} (line {line}): {_short(cell)!r}"
        if _DECIMAL_COMMA.fullmatch(cell):
            raise ValueError(
                f"{where} has a decimal comma: write decimals with a point, or choose the columns without it"
            )
        if choice.asked or tally.numbers[k] >= tally.text[k]:
            raise ValueError(f"{where} is not a number: mend the cell, or choose the columns without it")
        texts.append(name)
    for kind, left_out in (("text", texts), ("empty", blanks)):
        if left_out:
            notes.append(f"left out the {kind} column{'s' * (len(left_out) > 1)} {quoted(left_out)}")
    return keep


def _short(cell: str) -> str:
    return cell if len(cell) <= 30 else cell[:29] + "…"
