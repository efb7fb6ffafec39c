"""Random tables as text, right and wrong; and maps written and read back, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

CELLS = (
    *(
        "",
        " ",
        "0",
        "1",
        "-1",
        "1.5",
        "1e5",
        "1e400",
        "-0",
        ".5",
        "5.",
        "1_000",
        "1,5",
        "nan",
        "NaN",
        "inf",
        "-inf",
    ),
    *(
        "NA",
        "N/A",
        "null",
        "None",
        "true",
        "a",
        "b c",
        "é",
        "日本",
        '"x"',
        '"a,b"',
        '"a""b"',
        "'",
        '"',
        "0x10",
        "１２",
    ),
    *(
        "1e-320",
        "12345678901234567890",
        "2024-01-01",
        "50%",
        "1.5.2",
        "+3",
        "--1",
        "=1+1",
        "\ufeff1",
        "\x00",
        "\x1c",
    ),
)
NAMES = (
    "a",
    "b",
    "id",
    "label",
    "y1",
    "y2",
    "x",
    "",
    "0",
    "1",
    "1.5",
    "a b",
    "A",
    "Unnamed: 0",
    "é",
    '"q"',
    "y0",
)
LETTERS = "abc \t,;'\"\n\r\\é日\x1f|#"


def mixed(dice: Random) -> str:
    """Cells of all kinds, in columns that are mostly of one."""
    columns, rows = dice.randint(1, 4), dice.choice((0, 1, 2, 3, 8))
    delimiter = dice.choice((",", ",", "\t", ";", " ", "|"))
    end = dice.choice(("\n", "\n", "\r\n", "\r", "\n\n"))
    numeric = [dice.random() < 0.7 for _ in range(columns)]
    lines = [[dice.choice(NAMES) for _ in range(columns)]] if dice.random() < 0.8 else []
    for _ in range(rows):
        row = [
            f"{dice.uniform(-9, 9):.4g}" if each and dice.random() < 0.85 else dice.choice(CELLS)
            for each in numeric
        ]
        lines.append(row[: dice.randint(0, columns)] if dice.random() < 0.05 else row)
    text = end.join(delimiter.join(line) for line in lines) + dice.choice(("", end))
    return dice.choice(("", "", "", "\ufeff", "\n", "# remark\n")) + text


# Where texts come from: functions of the dice. Others may be added.
TEXTS: list[Callable[[Random], str]] = [mixed]


def case(dice: Random) -> list[str]:
    """A table that is read, a table whose numbers are known, or a map that is written and read back."""
    return dice.choice((_read, _read, _known, _written))(dice)


def _read(dice: Random) -> list[str]:
    """Whatever it is: numbers of the right shape, or a refusal that names the fix."""
    text, suffix = dice.choice(TEXTS)(dice), dice.choice((".csv", ".csv", ".tsv", ".txt"))
    encoding = dice.choice(("utf-8",) * 6 + ("utf-16", "latin-1"))
    options = "".join(
        f", {name}={dice.choice(NAMES)!r}" for name in ("label", "columns", "id") if dice.random() < 0.2
    )
    return [
        f'path = tmp_path / "t{suffix}"',
        f"path.write_bytes({text!r}.encode({encoding!r}, 'replace'))",
        f"table = read_table(path{options})",
        "assert table.X.dtype == np.float64 and table.X.shape[1] == len(table.names)",
        "assert table.labels is None or len(table.labels) == len(table.X)",
        "assert table.ids is None or len(table.ids) == len(table.X)",
    ]


def _known(dice: Random) -> list[str]:
    """Numbers written by Python are the same when they are read, whatever the delimiter and the quotes."""
    rows, columns = dice.randint(1, 12), dice.randint(1, 5)
    scale = dice.choice((1.0, 1e-300, 1e300, 1e8, 1e-8))
    delimiter, suffix = dice.choice(
        ((",", ".csv"), (";", ".csv"), ("\t", ".tsv"), ("\t", ".csv"), (",", ".txt"))
    )
    quoting = dice.choice(("csv.QUOTE_MINIMAL", "csv.QUOTE_ALL"))
    return [
        f"X = {scale} * np.random.default_rng({dice.randrange(1000)}).normal(size=({rows}, {columns}))",
        f'path = tmp_path / "t{suffix}"',
        'file = path.open("w", newline="")',
        f"writer = csv.writer(file, delimiter={delimiter!r}, quoting={quoting})",
        f'writer.writerow([f"c{{j}}" for j in range({columns})])',
        "writer.writerows(X.tolist())",
        "file.close()",
        "np.testing.assert_array_equal(read_table(path).X, X)",
    ]


def _written(dice: Random) -> list[str]:
    """A map with hostile ids and labels, in every format."""
    rows, columns = dice.randint(1, 6), dice.randint(1, 4)
    texts = [
        ["".join(dice.choice(LETTERS) for _ in range(dice.randint(0, 5))) for _ in range(rows)] for _ in "ab"
    ]
    ids = dice.choice(
        ("None", f"np.arange({rows}) * 7 - 3", repr([f"r{k}" for k in range(rows)]), repr(texts[0]))
    )
    labels = dice.choice(("None", repr(texts[1]), f"np.arange({rows}) % 2", f"np.arange({rows}) / 3"))
    scale = dice.choice((1.0, 1e-310, 1e307))
    suffix = dice.choice((".csv", ".tsv", ".parquet"))
    return [
        f"Y = {scale} * np.random.default_rng({dice.randrange(1000)}).normal(size=({rows}, {columns}))",
        f'write_map(tmp_path / "map{suffix}", Y, ids={ids}, labels={labels})',
        f'again, ids, labels = read_map(tmp_path / "map{suffix}")',
        "np.testing.assert_array_equal(again, Y)",
        "assert ids is not None and len(ids) == len(Y)",
        "assert labels is None or len(labels) == len(Y)",
    ]
