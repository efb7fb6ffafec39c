"""Random tables as text, right and wrong; and maps written and read back, to the last bit."""

from __future__ import annotations

from random import Random

from support.tables import random_table

PIECES = (  # what damages a table
    *("", " ", "0", "-0", ".5", "5.", "1_000", "1,5", "1e400", "1e-320", "nan", "inf", "-inf", "N/A", "true"),
    *('"x"', '"a,b"', '"a""b"', "'", '"', "0x10", "１２", "12345678901234567890", "2024-01-01", "50%", "é"),
    *("+3", "--1", "1.5.2", "=1+1", "\ufeff1", "\x00", "\x1c", ",", ";", "\t", "\r", "\n\n", "# remark\n"),
)
NAMES = ("a", "b", "id", "label", "y1", "x", "", "0", "1.5", "a b", "A", "oak", "Größe (mm)", '"q"')
LETTERS = "abc \t,;'\"\n\r\\é日\x1f|#"


def case(dice: Random) -> list[str]:
    """A table whose truth is known, one that was damaged, or a map that is written and read back."""
    return dice.choice((_known, _known, _damaged, _written))(dice)


def _known(dice: Random) -> list[str]:
    """What was written is read, or refused for the reason that there is."""
    return [f"assert check(random_table({dice.randrange(10**9)}), tmp_path)"]


def _damaged(dice: Random) -> list[str]:
    """Whatever it is now: numbers of the right shape, or a refusal that names the fix."""
    table = random_table(dice.randrange(10**9))
    # A cell of 200 000 letters is one of its mistakes: long enough to be seen, too long to be shown.
    text = table.content.decode("latin-1").replace("z" * 1000, "")
    for _ in range(dice.choice((1, 1, 2, 5))):
        a = dice.randrange(len(text) + 1)
        text = text[:a] + dice.choice(PIECES) + text[a + dice.choice((0, 1, 3)) :]
    encoding = dice.choice(("utf-8",) * 6 + ("utf-16", "latin-1"))
    options = "".join(
        f", {name}={dice.choice(NAMES)!r}" for name in ("label", "columns", "id") if dice.random() < 0.2
    )
    return [
        f'path = tmp_path / "{table.name}"',
        f"path.write_bytes({text!r}.encode({encoding!r}, 'replace'))",
        f"table = read_table(path{options})",
        "assert table.X.dtype == np.float64 and table.X.shape[1] == len(table.names)",
        "assert table.labels is None or len(table.labels) == len(table.X)",
        "assert table.ids is None or len(table.ids) == len(table.X)",
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
