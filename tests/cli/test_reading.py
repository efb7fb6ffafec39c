"""What all commands with a table have in common: missing numbers, ids, headers, arrays, and hints."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nearfield.cli import main
from nearfield.io.tables import read_map
from support.commands import QUICK, StandIn, files

X = np.random.default_rng(3).normal(size=(30, 3)).round(4)
GAPS = [4, 11]


@pytest.fixture
def gaps(here: Path) -> Path:
    """Stand beside a table of thirty rows, of which two lack a number."""
    cells = X.astype(str)
    cells[4, 1], cells[11, 2] = "NA", "?"
    rows = [f"r{i},{','.join(row)},{'uv'[i % 2]}" for i, row in enumerate(cells)]
    (here / "gaps.csv").write_text("\n".join(["who,a,b,c,kind", *rows]) + "\n")
    return here


# ---------------------------------------------------------------------------------------- missing numbers


@pytest.mark.parametrize("command", ["embed gaps.csv", "compare gaps.csv -m pca", "quality gaps.csv map.npy"])
def test_missing_numbers_are_refused_by_row_and_column(
    gaps: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    np.save("map.npy", X[:, :2])
    before = files(gaps)
    assert main(command.split()) == 2
    assert capsys.readouterr().err == (
        "error: 2 numbers are missing, in 2 of 30 rows: row 4 column 'b', row 11 column 'c'; --missing drop"
        " leaves out such rows, --missing mean fills in the mean of the column\n"
    )
    assert files(gaps) == before


def test_rows_that_are_left_out_leave_the_others_their_numbers(
    gaps: Path, stand_in: type[StandIn], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["embed", "gaps.csv", "--missing", "drop", "--label", "kind", "-o", "map.csv"]) == 0
    kept = np.delete(np.arange(30), GAPS)
    assert_array_equal(stand_in.X, X[kept])
    _, ids, labels = read_map("map.csv")
    assert_array_equal(ids, kept)
    assert_array_equal(labels, np.array(["u", "v"])[kept % 2])
    assert "left out 2 of 30 rows, in which numbers are missing: rows 4, 11\n" in capsys.readouterr().out
    # The map finds its data again, by the numbers of the rows as by a column of ids.
    assert main(["quality", "gaps.csv", "map.csv", "--missing", "drop", "--json", "-"]) == 0
    by_row = json.loads(capsys.readouterr().out)
    assert main(["embed", "gaps.csv", "--missing", "drop", "--id", "who", "-o", "named.csv", "-q"]) == 0
    assert read_map("named.csv")[1].tolist() == [f"r{i}" for i in kept]  # type: ignore[union-attr]
    options = ["--missing", "drop", "--id", "who", "--label", "kind", "--json", "-"]
    assert main(["quality", "gaps.csv", "named.csv", *options]) == 0
    by_name = json.loads(capsys.readouterr().out)
    assert by_row.pop("map") != by_name.pop("map")
    assert by_row == by_name


def test_pins_are_of_the_rows_of_the_file(gaps: Path) -> None:
    (gaps / "pins.csv").write_text("id,y1,y2\n12,30.5,-2\n")
    options = ["--missing", "drop", "--pins", "pins.csv", "-o", "map.csv", *QUICK]
    assert main(["embed", "gaps.csv", *options]) == 0
    Y, ids, _ = read_map("map.csv")
    assert ids is not None
    assert Y[ids.tolist().index(12)].tolist() == [30.5, -2]


def test_the_mean_is_filled_in(
    gaps: Path, stand_in: type[StandIn], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["embed", "gaps.csv", "--missing", "mean"]) == 0
    assert stand_in.X.shape == (30, 3)
    assert stand_in.X[4, 1] == np.delete(X[:, 1], 4).mean()
    assert "filled in 2 missing numbers with the mean of the columns 'b', 'c'" in capsys.readouterr().out


def test_compare_repeats_how_the_table_was_read(gaps: Path) -> None:
    options = ["--missing", "drop", "--no-header", "--label", "x5", "--columns", "x2,x3"]
    (gaps / "bare.csv").write_text("\n".join((gaps / "gaps.csv").read_text().splitlines()[1:]) + "\n")
    assert main(["compare", "bare.csv", "-m", "pca", *options, "-o", "r.json", "-q"]) == 0
    told = json.loads((gaps / "r.json").read_text())
    words = shlex.split(told["repeat"])
    assert "--no-header" in words
    assert words[words.index("--missing") + 1] == "drop"
    assert main(["compare", "iris.csv", "-m", "pca", "-o", "s.json", "-q"]) == 0
    assert "--missing" not in json.loads((gaps / "s.json").read_text())["repeat"]


def test_a_table_of_distances_is_not_mended(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    D = np.ones((9, 9)) - np.eye(9)
    D[2, 3] = np.nan
    np.save("D.npy", D)
    assert main(["embed", "D.npy", "--metric", "precomputed", "--missing", "drop"]) == 2
    assert re.search(r"contains NaN in row 2, column 'x4'", capsys.readouterr().err)


# ------------------------------------------------------------------------------------ ids, arrays, headers


def test_an_id_of_several_rows_is_refused_before_the_work(
    here: Path, stand_in: type[StandIn], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["embed", "iris.csv", "--id", "species"]) == 2
    assert capsys.readouterr().err == (
        "error: iris.csv has several rows with the id 'setosa', 'versicolor', 'virginica' (rows 0 and 1):"
        " ids must be different, name another column with --id\n"
    )
    assert files(here) == {"iris.csv"}


def test_a_column_that_numbers_the_rows_is_offered_as_the_id(
    here: Path, stand_in: type[StandIn], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{1000 - i},{i * i % 7},{i * i % 5}\n" for i in range(9))
    (here / "t.csv").write_text(f"id,a,b\n{rows}")
    assert main(["embed", "t.csv"]) == 0
    assert (
        "left out the column 'id', which numbers the rows: --id id makes it the id" in capsys.readouterr().out
    )
    assert stand_in.X.shape == (9, 2)
    assert main(["embed", "t.csv", "--id", "id"]) == 0
    assert_array_equal(read_map("t-map.csv")[1], 1000 - np.arange(9))


def test_an_array_is_picked(here: Path, stand_in: type[StandIn], capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("a.npz", train=X, test=X[:9], kind=np.arange(9) % 2)
    assert main(["embed", "a.npz"]) == 2
    assert "holds the tables 'train', 'test': pick one, as --array train" in capsys.readouterr().err
    assert main(["embed", "a.npz", "--array", "test", "--label", "kind"]) == 0
    assert_array_equal(stand_in.X, X[:9])
    assert "left out the array 'train' (30×3)" in capsys.readouterr().out


def test_the_header_can_be_told(here: Path, stand_in: type[StandIn]) -> None:
    (here / "t.csv").write_text("1,2.5\n3,4\n5,7\n6,6\n")
    for options, rows in (([], 4), (["--header"], 3), (["--no-header"], 4)):
        assert main(["embed", "t.csv", *options]) == 0
        assert len(stand_in.X) == rows


# --------------------------------------------------------------------------- words that others use, and typos


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "embed iris.csv --n-neighbors 15",
            r"no option --n-neighbors: use --perplexity, the effective number",
        ),
        ("embed iris.csv --n_neighbors=15", r"no option --n_neighbors: use --perplexity"),
        (
            "embed iris.csv --min-dist 0.1",
            r"no option --min-dist: .*--method umap_sampled --set a=1.58 --set b=0.9",
        ),
        ("embed iris.csv --n-components 3", r"use --dimensions, of the map"),
        ("embed iris.csv --random-state 3", r"use --seed"),
        ("compare iris.csv --n-neighbors 15", r"use --perplexity"),
        ("quality iris.csv map.csv --n-neighbors 15", r"use --neighbours"),
        ("embed iris.csv --early-exaggeration 4", r"use --exaggeration"),
        ("embed iris.csv --perplexty 3", r"No such option: --perplexty.*--perplexity"),
        ("embed iris.csv --method nervv", r"did you mean 'nerv'\?"),
        (
            "embed iris.csv --method jse --set kapa=1",
            r"--set kapa: 'jse' has no such parameter, did you mean kappa\?",
        ),
        ("embed iris.csv --set perplexity=3", r"--set perplexity: .* but an option, --perplexity"),
        ("embed iris.csv --set n_neighbors=3", r"--set n_neighbors: .* but an option, --perplexity"),
        ("embed iris.csv --missing dropp", r"--missing dropp: did you mean drop\?"),
        ("embed iris.csv --missing zero", r"--missing zero: it is one of refuse, drop, mean"),
    ],
)
def test_what_was_meant_is_said(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: str, message: str
) -> None:
    assert main(shlex.split(arguments)) == 2
    complaint = capsys.readouterr().err
    assert re.fullmatch(r"error: [^\n]+\n", complaint)
    assert re.search(message, complaint)


def test_no_message_is_longer_than_can_be_read(
    here: Path, capsys: pytest.CaptureFixture[str], stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: StandIn) -> None:
        raise ValueError(f"this cannot be: {list(range(100_000))}")

    monkeypatch.setattr(stand_in, "diagnosis", fail)
    assert main(["embed", "iris.csv"]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("error: this cannot be: [0, 1, 2")
    assert len(complaint) < 700


# -------------------------------------------------------------------------------------------- while it works


def test_what_is_done_is_said_before_it_is_done(
    here: Path, stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    begin = stand_in.__init__

    def watched(self: StandIn, *given: object, **options: object) -> None:
        said.append(capsys.readouterr().out)
        begin(self, *given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(stand_in, "__init__", watched)
    for method, doing in (
        ("tsne", "finding neighbours of 30 rows …"),
        ("mds", "measuring distances of 30 rows …"),
    ):
        assert main(["embed", "iris.csv", "--method", method]) == 0
        assert "iris.csv: 30 rows × 4 columns" in said[-1]
        assert said[-1].endswith(f"{doing}\n")
        assert re.match(r"plan +a plan\n", capsys.readouterr().out)


def test_an_unknown_start_is_refused_before_neighbours_are_searched(
    here: Path, stand_in: type[StandIn], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["embed", "iris.csv", "--start", "pcaa"]) == 2
    assert "finding neighbours" not in capsys.readouterr().out


def test_ctrl_c_before_there_is_a_map_says_that_nothing_was_written(
    here: Path, stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(self: StandIn, *_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stand_in, "__init__", interrupt)
    for is_terminal in (False, True):
        monkeypatch.setattr("sys.stderr.isatty", lambda is_terminal=is_terminal: is_terminal)
        assert main(["embed", "iris.csv"]) == 130
        told = capsys.readouterr().err
        assert told.endswith("interrupted while neighbours were searched: nothing was written\n")
    assert files(here) == {"iris.csv"}


def test_principal_components_have_no_cost_to_tell_of(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["embed", "iris.csv", "--method", "pca"]) == 0
    said = capsys.readouterr().out
    assert "nan" not in said
    assert re.search(r"^result +2 principal components in \S+ s$", said, re.MULTILINE)
