"""Random text tables, each with the truth about it: what was written, and so what has to be read.

`random_table(seed)` writes a table in one of the many ways in which people write them, right or wrong, and
`check(table, folder)` reads it with nearfield and compares. Nothing here looks at how nearfield reads.
"""

from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from nearfield.io.tables import Table, read_table

Write = Callable[..., Path]  # of a fixture that writes a text to a file

MISSING = ["", "NA", "?", "null", "NaN", "nan", "N/A", "None", "NULL"]
WORDS = ["oak", "Ulme", "été", "日本", "naïve", "b-1", "R2D2", "it's", "a_1", "Ωmega", "#5", "1_2", "-", "🐟"]
NAMES = [*WORDS, "x y", "Größe (mm)", "inf", "2019", "1e3", "3.5", "say “hi”", "a,b", 'in "', "c;d", "yes"]

HOPELESS = [
    (b"", "is empty"),
    (b"\n\n", "is empty"),
    (b"\xef\xbb\xbf", "is empty"),
    (b",,\n,,\n", "is empty"),
    (b"\r\n \r\n", "is empty"),
    (b"a,b,c\n", "has no rows"),
    ("Größe,b\n1,2\n".encode("latin-1"), "save it as UTF-8"),
    ("a,b\n1,2\n".encode("utf-16"), "save it as UTF-8"),
    (b'a,b\n1,"2\n3,4\n', "stray quote"),
    (b"\x00\x01\x02\n\x03,\x04\n", "no numeric column|line 2 has 2 cells"),
]


@dataclass
class Column:
    """The cells of a column as they are written, and the numbers they stand for; None if they are text."""

    cells: list[str]
    numbers: list[float] | None
    said: str = ""  # a pattern that a note about it matches


@dataclass
class Written:
    """A table as it was written, and what has to come of reading it."""

    name: str
    content: bytes
    header: bool
    names: list[str] = field(default_factory=list)
    X: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    said: list[str] = field(default_factory=list)
    refused: str | None = None  # a pattern of the message, if it must be refused
    doubtful: str | None = None  # a pattern of the message, if it may be


# ------------------------------------------------------------------------------------------------- columns


def _with_gaps(draw: random.Random, column: Column) -> Column:
    """The same with some cells missing, but not all of them."""
    gaps = draw.sample(range(len(column.cells)), draw.randint(0, (len(column.cells) - 1) // 2))
    for i in gaps:
        column.cells[i] = draw.choice(MISSING)
        if column.numbers is not None:
            column.numbers[i] = np.nan
    return column


def _whole(draw: random.Random, rows: int) -> Column:
    numbers = [draw.randint(-50, 1000) for _ in range(rows)]
    return Column([str(x) for x in numbers], [float(x) for x in numbers])


def _real(draw: random.Random, rows: int) -> Column:
    form: Callable[[float], str] = draw.choice([repr, "{:.3f}".format, "{:+.2e}".format, " {:.1f} ".format])
    cells = [form(draw.gauss(0, 10 ** draw.randint(-8, 8))) for _ in range(rows)]
    return Column(cells, [float(cell) for cell in cells])


def _truth(draw: random.Random, rows: int) -> Column:
    words = draw.choice(["True False", "true false", "TRUE FALSE", "yes no", "Yes No"]).split()
    truths = [draw.random() < 0.5 for _ in range(rows)]
    said = "yes and no as 1 and 0" if words[0].lower() == "yes" else "true and false as 1 and 0"
    return Column([words[not truth] for truth in truths], [float(truth) for truth in truths], said)


def _text(draw: random.Random, rows: int) -> Column:
    some = draw.sample(WORDS, draw.randint(1, 4))
    return Column([draw.choice(some) for _ in range(rows)], None, "left out the text column")


def _lists(draw: random.Random, rows: int) -> Column:
    cells = [str([round(draw.gauss(0, 1), 2) for _ in range(draw.randint(2, 4))]) for _ in range(rows)]
    return Column(cells, None, "left out the column of lists|left out the columns of lists")


def _nothing(draw: random.Random, rows: int) -> Column:
    return Column([draw.choice(MISSING) for _ in range(rows)], None, "left out the empty column")


def _commas(draw: random.Random, rows: int) -> Column:
    digits = draw.randint(1, 4)
    cells = [f"{draw.gauss(0, 100):.{digits}f}" for _ in range(rows)]
    written = [cell.replace(".", ",") for cell in cells]
    return Column(written, [float(cell) for cell in cells], "read decimal commas")


# --------------------------------------------------------------------------------------------------- tables


def random_table(seed: int) -> Written:
    """Write the table of this seed."""
    draw = random.Random(seed)
    if draw.random() < 0.03:
        content, refused = draw.choice(HOPELESS)
        return Written("t.csv", content, True, refused=refused)
    rows, width = draw.randint(2, 30), draw.randint(1, 6)
    commas = draw.random() < 0.25
    makers = [_whole, _commas if commas else _real, _truth, _text, _lists, _nothing]
    chosen = [draw.choices(makers, [4, 5, 1, 1, 0.5, 0.5])[0] for _ in range(width)]
    columns = [_with_gaps(draw, make(draw, rows)) for make in chosen]
    header = draw.random() < 0.7
    # A point above decimal commas would be one of those that are refused beside them.
    known = [name for name in NAMES if not (commas and "." in name)]
    names = draw.sample(known, width) if header else [f"x{j + 1}" for j in range(width)]
    kept = [j for j in range(width) if columns[j].numbers is not None]
    table = Written("t.csv", b"", header, [names[j] for j in kept], said=[each.said for each in columns])
    table.X = np.array([columns[j].numbers for j in kept], dtype=float).reshape(len(kept), rows).T
    table.said = [said for said in table.said if said]
    lines = [[column.cells[i] for column in columns] for i in range(rows)]
    if not kept:
        table.refused = "no numeric column"
    elif commas:
        _expect_of_commas(table, [cell for j in kept for cell in columns[j].cells])
    _spoil(draw, table, lines, columns)
    # Without quotes, nobody could tell commas in a lone column from those between two.
    _write(
        draw,
        table,
        [names, *lines] if header else lines,
        quoted=width == 1 and any("," in line[0] for line in lines),
    )
    return table


def _expect_of_commas(table: Written, cells: list[str]) -> None:
    """A comma before three digits may stand between thousands, if no other comma says more."""
    with_comma = [cell for cell in cells if "," in cell]
    if with_comma and all(len(cell.partition(",")[2]) == 3 for cell in with_comma):
        table.doubtful = "between thousands"


def _spoil(draw: random.Random, table: Written, lines: list[list[str]], columns: list[Column]) -> None:
    """Put one mistake into some tables."""
    numeric = [j for j, column in enumerate(columns) if column.numbers is not None]
    if table.refused or not numeric or draw.random() < 0.7:
        return
    i, j = draw.randrange(len(lines)), draw.choice(numeric)
    numbers = sum(not np.isnan(x) for x in columns[j].numbers or [])
    mistake = draw.choice(["ragged", "word", "large", "long", "point"])
    if mistake == "ragged" and len(lines) > 1 and i > 0 and len(columns) > 1:
        lines[i] = lines[i][:-1] if draw.random() < 0.5 else [*lines[i], "7"]
        table.refused = r"line \d+ has \d+ cells where the first line has \d+"
    elif mistake == "word" and numbers > 3 and i > 0 and "1 and 0" not in columns[j].said:
        lines[i][j] = "oops"
        table.refused = r"'oops' is not a number"
    elif mistake == "large" and i > 0 and numbers > 1 and "1 and 0" not in columns[j].said:
        lines[i][j] = draw.choice(["1e400", "-1e999", "9" * 310])
        table.refused = "is too large for a number of 64 bits"
    elif mistake == "long" and i > 0:
        lines[i][j] = "z" * 200_000
        table.refused = "field larger than field limit"
    elif mistake == "point" and numbers > 2 and any("," in cell for cell in columns[j].cells) and i > 0:
        lines[i][j] = "0.5"
        table.refused = "write all decimals alike|between thousands"


def _write(draw: random.Random, table: Written, lines: list[list[str]], quoted: bool) -> None:
    """Write the lines with some delimiter, quotes, ends of lines, …"""
    ending, delimiter = draw.choice(
        [("csv", ","), ("csv", ","), ("csv", ";"), ("csv", "\t"), ("csv", "|"), ("tsv", "\t"), ("txt", ";")]
    )
    if draw.random() < 0.1:
        ending, delimiter, quoted = "txt", " ", True  # for an empty cell between blanks is none
    quoting = csv.QUOTE_ALL if quoted else draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    stream = io.StringIO(newline="")
    end = draw.choice(["\n", "\r\n"])
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator=end)
    for line in lines:
        writer.writerow(line)
        if draw.random() < 0.05:
            stream.write(end)
    text = stream.getvalue()
    if draw.random() < 0.2:
        text = text.rstrip("\r\n")
    table.name = f"t.{ending}"
    table.content = text.encode("utf-8-sig" if draw.random() < 0.2 else "utf-8")


# -------------------------------------------------------------------------------------------------- reading


def check(written: Written, folder: Path) -> str:
    """Read a table and compare; return how it went: "read", "refused" or "overruled"."""
    path = folder / written.name
    path.write_bytes(written.content)
    try:
        table = read_table(path)
    except ValueError as error:
        return _check_refusal(written, str(error))
    if _equals(table, written):
        return _check_read(table, written)
    # Whether the first line is a header is not always to be told: then it has to be said, and can be.
    assert any("header" in note for note in table.notes), (written, table)
    try:
        table = read_table(path, header=written.header)
    except ValueError as error:
        return _check_refusal(written, str(error))
    assert _equals(table, written), (written, table)
    return "overruled" if _check_read(table, written) else ""


def _equals(table: Table, written: Written) -> bool:
    return list(table.names) == written.names and np.array_equal(table.X, written.X, equal_nan=True)


def _check_read(table: Table, written: Written) -> str:
    assert written.refused is None, (written, table)
    for said in written.said:
        assert any(re.search(said, note) for note in table.notes), (said, table.notes, written)
    assert all("\n" not in note and len(note) < 400 for note in table.notes)
    return "read"


def _check_refusal(written: Written, message: str) -> str:
    patterns = [each for each in (written.refused, written.doubtful) if each is not None]
    assert any(re.search(each, message) for each in patterns), (message, written)
    assert "\n" not in message
    assert len(message) < 600
    return "refused"
