"""What one cell of a text table holds: a number, nothing, one of two words, or text.

A cell alone does not decide what its column is: `1,5` is a number where all of the column is written so, and
`yes` is 1 where all of it is `yes` or `no`. So every cell gets a kind, and those who see the column decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from itertools import chain
from math import isinf, isnan

import numpy as np


class Kind(IntEnum):
    """What a cell is on its own."""

    NUMBER = 0
    MISSING = 1
    COMMA = 2  # 1,5: a decimal comma
    EITHER = 3  # 1,234: a decimal comma, or one between thousands
    TRUTH = 4  # true or false
    ANSWER = 5  # yes or no
    VECTOR = 6  # [0.1, 0.2]: numbers, but several
    HUGE = 7  # 1e400: a number, but none that 64 bits can hold
    TEXT = 8


NUMERIC = (Kind.NUMBER, Kind.COMMA, Kind.EITHER)
WORDS = {
    "true": (Kind.TRUTH, 1.0),
    "false": (Kind.TRUTH, 0.0),
    "yes": (Kind.ANSWER, 1.0),
    "no": (Kind.ANSWER, 0.0),
}

# What spreadsheets, R, pandas, SQL and the UCI archive write where there is no value.
_MISSING = frozenset(
    ["", "?", "na", "n/a", "#n/a", "#na", "<na>", "nan", "+nan", "-nan", "null", "none", "#null!"]
)
_COMMA = re.compile(r"[-+]?(\d+,\d*|,\d+|\d{1,3}(\.\d{3})+,\d+)([eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
_VECTOR = re.compile(r"[\[(]\s*[-+]?[\d.][^\[\]()a-df-zA-DF-Z]*[\])]")


def is_missing(cell: str) -> bool:
    """Tell whether a cell says that there is no value.

    >>> [is_missing(cell) for cell in ("", " NA ", "?", "0", "nobody")]
    [True, True, True, False, False]
    """
    return cell.strip().lower() in _MISSING


_DAY = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})"
_TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s?(Z|[-+]\d{2}:?\d{2}|[AaPp][Mm])?"
_DATE = re.compile(rf"({_DAY})([T ]\s*{_TIME})?|{_TIME}")


def is_date(cell: str) -> bool:
    """Tell whether a cell is a date, a time, or both.

    >>> [is_date(cell) for cell in ("2020-01-31", "31.1.2020 12:30", "12:30:05", "1.5", "May")]
    [True, True, True, False, False]
    """
    return _DATE.fullmatch(cell.strip()) is not None


def read_cell(cell: str) -> tuple[Kind, float]:
    """Return what a cell is, and the number it stands for; NaN where it stands for none.

    >>> [read_cell(cell)[1] for cell in ("2.5", "1,5", "1.234,5", "yes")]
    [2.5, 1.5, 1234.5, 1.0]
    >>> read_cell("[0.1, 0.2]")[0].name, read_cell("1e400")[0].name, read_cell("1_2")[0].name
    ('VECTOR', 'HUGE', 'TEXT')
    """
    try:
        # Python reads '1_2' as 12; in a table it is a name.
        number = float(cell) if "_" not in cell else None
    except ValueError:
        number = None
    if number is not None:
        return _kind(cell, number), number
    cell = cell.strip()
    word = cell.lower()
    if word in _MISSING:
        return Kind.MISSING, np.nan
    if word in WORDS:
        return WORDS[word]
    if _COMMA.fullmatch(cell):
        number = float(cell.replace(".", "").replace(",", "."))
        return Kind(_with_comma(cell, _kind(cell, number))), number
    return Kind.VECTOR if _VECTOR.fullmatch(cell) else Kind.TEXT, np.nan


def _kind(cell: str, number: float) -> Kind:
    """What a cell is that Python reads as a number."""
    if isnan(number):
        return Kind.MISSING
    # The word inf has no digits.
    return Kind.HUGE if isinf(number) and any(map(str.isdigit, cell)) else Kind.NUMBER


def _with_comma(cell: str, kind: int) -> int:
    """The kind of a number as it is written, which may be with a comma."""
    if kind != Kind.NUMBER or "," not in cell:
        return kind
    return Kind.EITHER if _THOUSANDS.fullmatch(cell.strip()) else Kind.COMMA


def read_column(cells: Sequence[str]) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the numbers and the kinds of a column's cells, and whether a number has a decimal point.

    >>> read_column(["1.5", "", "x"])
    (array([1.5, nan, nan]), array([0, 1, 8], dtype=int8), True)
    """
    joined = "".join(cells)
    if "_" not in joined:
        # The quick way, for a column of numbers and empty cells, all of them with points or all with commas.
        commas = "," in joined and "." not in joined
        texts = [(cell.replace(",", ".") if commas else cell) or "nan" for cell in cells]
        try:
            numbers = np.array(texts, dtype=np.float64)
        except ValueError:
            pass
        else:
            kinds = _kinds(numbers, lambda i: cells[i[0]])
            if commas:
                kinds[:] = [_with_comma(cell, kind) for cell, kind in zip(cells, kinds.tolist(), strict=True)]
            return numbers, kinds, "." in joined
    read = [read_cell(cell) for cell in cells]
    kinds = np.array([kind for kind, _ in read], dtype=np.int8)
    point = any(kind == Kind.NUMBER and "." in cell for cell, (kind, _) in zip(cells, read, strict=True))
    return np.array([number for _, number in read]), kinds, point


def _kinds(numbers: np.ndarray, cell: Callable[[tuple[int, ...]], str]) -> np.ndarray:
    """The kinds of cells that are numbers all of them, or say that they are none."""
    kinds = np.isnan(numbers).astype(np.int8) * np.int8(Kind.MISSING)
    for place in map(tuple, np.argwhere(np.isinf(numbers))):
        kinds[place] = _kind(cell(place), np.inf)
    return kinds


def read_rows(rows: list[list[str]], columns: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return numbers, kinds and points as `read_column` does, for some columns of a block of rows."""
    points = np.zeros(len(columns), dtype=bool)
    if "_" not in "".join(chain.from_iterable(rows)):
        try:
            # The quick way, for a block of nothing but numbers. Points matter beside decimal commas only.
            numbers = np.array(rows, dtype=np.float64)
        except ValueError:
            pass
        else:
            if list(columns) != list(range(len(rows[0]))):
                numbers = numbers[:, columns]
            return numbers, _kinds(numbers, lambda i: rows[i[0]][columns[i[1]]]), points
    numbers = np.empty((len(rows), len(columns)))
    kinds = np.empty(numbers.shape, dtype=np.int8)
    for k, j in enumerate(columns):
        numbers[:, k], kinds[:, k], points[k] = read_column([row[j] for row in rows])
    return numbers, kinds, points
