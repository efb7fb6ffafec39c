"""Text tables: CSV, TSV and their kin, understood without being told how they were written.

The delimiter is the one that splits the first lines alike. Whether the first line is a header is decided by
what stands below it. A column is numeric if all its cells are; one that is mostly text is left out; one that
is mostly numeric has a mistake in it, which is named. Decimal commas, and columns of true and false, are read
and said to be. Rows are turned into numbers a block at a time, so that the text of a large file is never in
memory as a whole.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, dropwhile, islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from nearfield.io.cells import NUMERIC, Kind, is_date, read_cell, read_rows
from nearfield.io.columns import Choice, Chooser, Table, natural, put, quoted, said_of, short
from nearfield.io.headers import is_header

_CELLS_AT_ONCE = 2**18
_ROWS_LOOKED_AT = 1000  # at most, to tell a header
DELIMITERS = {".csv": "\t;|,", ".tsv": "\t", ".txt": "\t;|, "}  # that may be, by the suffix
_LINES_LOOKED_AT = 20  # to tell the delimiter

Row = tuple[int, list[str]]  # the line where the row ends, and its cells


def read_delimited(path: Path, choose: Chooser, delimiters: str, header: bool | None = None) -> Table:
    """Read a text table whose delimiter is one of `delimiters`; None looks whether there is a header."""
    try:
        # utf-8-sig also reads UTF-8 without the byte order mark that some spreadsheets write.
        with open(path, newline="", encoding="utf-8-sig") as stream:
            delimiter = _delimiter(stream, delimiters)
            stream.seek(0)
            return _read(_uncommented(_rows(stream, delimiter)), path, choose, header)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: save it as UTF-8") from error


def delimited_chunks(
    path: Path, choose: Chooser, delimiters: str, header: bool | None = None
) -> Iterator[tuple[Table, float]]:
    """Read a text table block by block, with the share of the file that has been read after each.

    All columns that are chosen must be numeric. Labels and ids stay text.
    """
    size = path.stat().st_size
    try:
        with open(path, newline="", encoding="utf-8-sig") as stream:
            binary: Any = stream.buffer  # which knows how far it is while lines are taken from the text
            delimiter = _delimiter(stream, delimiters)
            stream.seek(0)
            names, rows, headless, notes = _header(_uncommented(_rows(stream, delimiter)), header)
            if not names:
                raise ValueError(f"{path} is empty: it needs a line that names the columns")
            choice = replace(choose(names), asked=True)
            tally, odd = _Tally(len(choice.numbers), headless=headless), False
            for block in _blocks(rows, len(names)):
                cells = [row for _, row in block]
                numbers, kinds, points = read_rows(cells, choice.numbers)
                tally.add(block, choice.numbers, kinds, points)
                odd = odd or bool(kinds.any())
                if odd:  # of all that has been read, for `yes` is a number in a column of such alone
                    _numeric(tally, names, choice, [])
                labels, ids = (
                    None if j is None else np.array([row[j].strip() for row in cells])
                    for j in (choice.label, choice.id)
                )
                table = Table(numbers, tuple(names[j] for j in choice.numbers), labels, ids, tuple(notes))
                yield table, min(1.0, binary.tell() / max(size, 1))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: save it as UTF-8") from error


def read_texts(
    path: Path, names: Sequence[str], delimiters: str, header: bool | None = None
) -> dict[str, list[str]]:
    """Read the cells of some columns of a text table as they are."""
    with open(path, newline="", encoding="utf-8-sig") as stream:
        delimiter = _delimiter(stream, delimiters)
        stream.seek(0)
        there, rows, *_ = _header(_uncommented(_rows(stream, delimiter)), header)
        found: dict[str, list[str]] = {name: [] for name in names}
        for block in _blocks(rows, len(there)):
            for name, cells in found.items():
                at = there.index(name)
                cells.extend(row[at].strip() for _, row in block)
    return found


def _rows(stream: TextIO, delimiter: str) -> Iterator[Row]:
    """Yield the rows that are not blank. Strict, lest a quote left open swallow the rest of the file."""
    # A blank at the end of a line is no delimiter: nothing comes after it.
    lines = (line.rstrip(" \r\n") + "\n" for line in stream) if delimiter == " " else stream
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        yield from ((reader.line_num, row) for row in reader if row)
    except csv.Error as error:
        raise ValueError(
            f"line {reader.line_num} cannot be read ({error}): look for a stray quote"
        ) from error


def _uncommented(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows without comments above the table: lines that begin with # and are of another width.

    The last of them may hold the names, as `np.savetxt` writes them: as many as the numbers without the #.
    """
    comments: list[Row] = []
    first = next(rows, None)
    while first is not None and first[1][0].startswith("#"):
        comments.append(first)
        first = next(rows, None)
    width = None if first is None else len(first[1])
    yield from (row for row in comments if len(row[1]) == width or width is None)
    if comments and width is not None and len(comments[-1][1]) != width:
        line, (hashed, *others) = comments[-1]
        names = [name for name in (hashed[1:].strip(),) if name] + others
        if len(names) == width:
            yield line, names
    yield from rows if first is None else chain([first], rows)


def _delimiter(stream: TextIO, candidates: str) -> str:
    """Return the candidate that splits most of the first lines alike; of several, into numbers."""
    lines = [line for line in (line.strip(" \r\n") for line in islice(stream, 2 * _LINES_LOOKED_AT)) if line]
    lines = (list(dropwhile(lambda line: line.startswith("#"), lines)) or lines)[:_LINES_LOOKED_AT]
    best = {}
    for candidate in candidates:
        rows = _split(lines, candidate)
        alike = max(Counter(len(row) for row in rows if len(row) > 1).values(), default=0)
        # Some lines may be wrong. A blank has to split more than the name of a lone column.
        enough = len(rows) / 2 + (candidate == " ") / 2
        # A name above decimal commas is not split as they are, and each of these into two.
        if rows and alike >= enough and (len(rows[0]) > 1 or max(map(len, rows)) > 2):
            # A decimal comma splits lines alike too, but '1,5;2,5' into 1, '5;2' and 5; and all of them where
            # some lines lack a ';', which makes sense of every cell all the same.
            share = _share_understood(rows)
            # Text on both sides of a ',' says more against it than a line that lacks cells against ';'.
            best[candidate] = (share == 1, share * alike, alike)
    if best:
        return max(best, key=lambda each: best[each])
    # A lone column, which none of them should split, or hardly; but quotes may tell that one does.
    text = "".join(lines)
    return max(candidates, key=lambda each: (len(_split(lines, each)), -text.count(each)))


def _split(lines: list[str], delimiter: str) -> list[list[str]]:
    """Split lines, down to one that cannot be read: what is wrong with it is said when it is read."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True))
    return rows


def _share_understood(rows: list[list[str]]) -> float:
    """How much of what is there is no mere text."""
    kinds = [read_cell(cell)[0] for row in rows for cell in row]
    there = [kind for kind in kinds if kind is not Kind.MISSING]
    return sum(kind is not Kind.TEXT for kind in there) / max(1, len(there))


def _read(rows: Iterator[Row], path: Path, choose: Chooser, header: bool | None) -> Table:
    names, rows, headless, notes = _header(rows, header)
    if not names:
        raise ValueError(f"{path} is empty: it needs at least one row of numbers")
    choice = choose(names)

    X = np.empty((0, len(choice.numbers)))
    tally = _Tally(len(choice.numbers), headless=headless)
    labels: list[str] = []
    ids: list[str] = []
    for block in _blocks(rows, len(names)):
        cells = [row for _, row in block]
        numbers, kinds, points = read_rows(cells, choice.numbers)
        put(X, tally.rows, numbers)
        tally.add(block, choice.numbers, kinds, points)
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


def _header(rows: Iterator[Row], known: bool | None) -> tuple[list[str], Iterator[Row], bool, list[str]]:
    """Return the names (none of no rows), the data, whether the names were made up, and what to say of it."""
    above: list[Row] = []  # delimiters alone, which spreadsheets write for empty lines above a table
    first = next(rows, None)
    while first is not None and not any(map(str.strip, first[1])):
        above.append(first)
        first = next(rows, None)
    if first is None:
        return [], rows, True, []
    cells = [cell.strip() for cell in first[1]]
    doubt = ""
    if known is None:
        below = list(islice(rows, min(_ROWS_LOOKED_AT, _CELLS_AT_ONCE // len(cells) + 1)))
        rows = chain(iter(below), rows)  # which lets go of the list when it is through with it
        known, doubt = is_header(cells, [row for _, row in below])
    notes = [doubt] if doubt else []
    if known:
        return [cell or f"unnamed {j + 1}" for j, cell in enumerate(cells)], rows, False, notes
    names = [f"x{j + 1}" for j in range(len(cells))]
    notes.insert(0, f"found no header and called the columns {quoted(names, most=2)}")
    # Without a header, what is empty is missing.
    return names, chain(above, [first], rows), True, notes


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


class _Tally:
    """What has been seen of each column: how many cells of each kind, and the first of each."""

    def __init__(self, width: int, headless: bool) -> None:
        self.headless = headless
        self.rows = 0
        self.counts = np.zeros((len(Kind), width), dtype=int)
        self.points = np.zeros(width, dtype=bool)
        self.dates = np.ones(width, dtype=bool)  # whether all that is no number is a date or a time
        self._first: dict[tuple[int, int], tuple[int, int, str]] = {}

    def add(self, block: list[Row], columns: Sequence[int], kinds: np.ndarray, points: np.ndarray) -> None:
        self.points |= points
        for kind in map(Kind, np.flatnonzero(np.bincount(kinds.ravel())).tolist()):
            of_kind = kinds == kind
            self.counts[kind] += of_kind.sum(axis=0)
            if kind in (Kind.NUMBER, Kind.MISSING):
                continue  # which nothing is ever said of, cell by cell
            for k in np.flatnonzero(of_kind.any(axis=0)):
                i = int(of_kind[:, k].argmax())
                line, row = block[i]
                if self.dates[k]:
                    cells = (block[j][1][columns[int(k)]] for j in np.flatnonzero(of_kind[:, k]))
                    self.dates[k] = all(map(is_date, cells))
                self._first.setdefault((kind, int(k)), (self.rows + i, line, row[columns[int(k)]].strip()))
        self.rows += len(block)

    def has(self, k: int, *kinds: Kind) -> bool:
        """Whether the column holds any of these kinds."""
        return bool(self.counts[list(kinds), k].any())

    def only(self, k: int, *kinds: Kind) -> bool:
        """Whether the column holds these kinds and no other, but for what is missing."""
        return self.has(k, *kinds) and not self.has(k, *(set(Kind) - {*kinds, Kind.MISSING}))

    def first(self, k: int, *kinds: Kind) -> tuple[int, int, str]:
        """The first cell of a column that is of the first of these kinds of which there is any."""
        return next(self._first[kind, k] for kind in kinds if (kind, k) in self._first)


def _numeric(tally: _Tally, names: Sequence[str], choice: Choice, notes: list[str]) -> list[int]:
    """Return which of the chosen columns are numeric; say what is left out, raise for what is a mistake."""
    keep = []
    said: dict[str, list[str]] = {}
    for k, j in enumerate(choice.numbers):
        verdict = _verdict(tally, k, names[j], choice.asked)
        if verdict is None or verdict.startswith("read"):
            keep.append(k)
        if verdict is not None:
            said.setdefault(verdict, []).append(names[j])
    _check_commas(tally, [(k, names[choice.numbers[k]]) for k in keep])
    for verdict, about in said.items():
        notes.append(said_of(verdict, about))
    return keep


def _verdict(tally: _Tally, k: int, name: str, asked: bool) -> str | None:
    """What is to be said of a column, its name to follow: None if nothing, as of plain numbers."""
    if tally.only(k, Kind.NUMBER) or (asked and tally.only(k, Kind.MISSING)):
        return None
    if not tally.has(k, *(set(Kind) - {Kind.MISSING})):
        return "left out the empty column"
    if tally.only(k, *NUMERIC):
        return "read decimal commas in the column"
    if tally.only(k, Kind.TRUTH):
        return "read true and false as 1 and 0 in the column"
    if tally.only(k, Kind.ANSWER):
        return "read yes and no as 1 and 0 in the column"
    odd = [kind for kind in reversed(Kind) if kind not in (*NUMERIC, Kind.MISSING)]
    numbers = tally.counts[list(NUMERIC), k].sum()
    row, line, cell = tally.first(k, *odd)
    if asked or numbers >= tally.counts[odd, k].sum() or tally.only(k, *NUMERIC, Kind.HUGE):
        where = f"column {short(name)!r}, row {row} (line {line}): {short(cell)!r}"
        if cell and tally.only(k, *NUMERIC, Kind.HUGE):
            raise ValueError(f"{where} is too large for a number of 64 bits: write it in a larger unit")
        hint = ", or add --header if it is a name" if row == 0 and tally.headless else ""
        raise ValueError(f"{where} is not a number: mend the cell, or choose the columns without it{hint}")
    if tally.only(k, Kind.VECTOR):
        return "left out the column of lists"
    return "left out the column of dates" if tally.dates[k] else "left out the text column"


def _check_commas(tally: _Tally, columns: Sequence[tuple[int, str]]) -> None:
    """Refuse commas that may mean two things, and decimal commas beside decimal points."""
    commas = [(k, name) for k, name in columns if tally.has(k, Kind.COMMA, Kind.EITHER)]
    if not commas:
        return
    k, name = next((each for each in commas if tally.has(each[0], Kind.COMMA)), commas[0])
    row, line, cell = tally.first(k, Kind.COMMA, Kind.EITHER)
    where = f"column {short(name)!r}, row {row} (line {line}): {short(cell)!r}"
    if not tally.has(k, Kind.COMMA):
        raise ValueError(
            f"{where} may have a decimal comma or one between thousands: write it with a point or without"
        )
    pointed = [name for k, name in columns if tally.points[k]]
    if pointed:
        raise ValueError(
            f"{where} has a decimal comma, but there are points in the column {short(pointed[0])!r}: "
            "write all decimals alike"
        )
