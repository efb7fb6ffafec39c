"""`nearfield embed --landmarks`: a map of some rows, written with all of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.io.tables import read_map
from support.chunks import blobs
from support.commands import QUICK, files

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:the map has not unfolded", "ignore:ended at max_iter"),
]
ASKED = ["--landmarks", "100", "--label", "kind", "--id", "who", "--quiet", *QUICK]


@pytest.fixture
def tables(here: Path) -> pd.DataFrame:
    """The same table as Parquet and as CSV, and its numbers as a NumPy file."""
    X = blobs(600)
    frame = pd.DataFrame(X.astype(np.float64), columns=list("abcdef"))
    frame["kind"], frame["who"] = [f"k{i % 3}" for i in range(600)], [f"r{i}" for i in range(600)]
    frame.to_parquet("data.parquet", row_group_size=77)
    frame.to_csv("data.csv", index=False)
    np.save("data.npy", X)
    return frame


def test_a_file_that_is_not_held_gives_the_same_map_as_one_that_is(tables: pd.DataFrame) -> None:
    more = ["--standardize", "--pca", "4", "--save", "model.nfmap"]
    assert main(["embed", "data.parquet", *ASKED, *more, "--out", "one.csv", "--plot", "map.png"]) == 0
    assert main(["embed", "data.csv", *ASKED, *more[:3], "--out", "two.csv"]) == 0
    assert Path("one.csv").read_text() == Path("two.csv").read_text()
    Y, ids, labels = read_map("one.csv")
    assert ids is not None
    assert labels is not None
    assert ids.tolist() == tables["who"].tolist()
    assert labels.tolist() == tables["kind"].tolist()
    assert Path("map.png").stat().st_size > 10_000
    model = nf.load("model.nfmap")
    assert len(model.embedding_) == 100
    assert np.array_equal(model.transform(tables[list("abcdef")]), Y)
    for kind in ("parquet", "csv"):
        asked = ["--label", "kind", "--id", "who", "--sample", "50", "--json", f"{kind}.json", "--quiet"]
        assert main(["quality", f"data.{kind}", "one.csv", *asked]) == 0
    found = [json.loads(Path(f"{kind}.json").read_text()) | {"data": ""} for kind in ("parquet", "csv")]
    assert found[0] == found[1]


def test_rows_of_numpy_are_placed_as_by_the_library(
    tables: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--landmarks", "100", "--landmark-choice", "thinned", *QUICK, "--out", "map.parquet"]
    assert main(["embed", "data.npy", *asked]) == 0
    said = capsys.readouterr().out
    assert "600 rows × 6 columns, some at a time" in said
    assert "made of 100 of 600 rows, chosen fewer where they are dense" in said
    assert "placed  600 rows" in said
    model = nf.TSNE(landmarks=100, landmark_choice="thinned", perplexity=5, max_iter=40, random_state=0)
    assert np.array_equal(read_map("map.parquet")[0], model.fit_transform(blobs(600)))


def test_rows_in_which_numbers_are_missing_are_dropped_or_filled(tables: pd.DataFrame) -> None:
    tables.loc[[5, 300], "b"] = np.nan
    tables.to_parquet("gaps.parquet")
    assert main(["embed", "gaps.parquet", *ASKED, "--missing", "drop", "--out", "dropped.csv"]) == 0
    ids = read_map("dropped.csv")[1]
    assert ids is not None
    assert set(tables["who"]) - set(ids.tolist()) == {"r5", "r300"}
    assert main(["embed", "gaps.parquet", *ASKED, "--missing", "mean", "--out", "filled.csv"]) == 0
    assert len(read_map("filled.csv")[0]) == 600


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--keep", "all"], "--keep goes by all rows"),
        (["--neighbours"], "--neighbours goes by all rows"),
        (["--pins", "pins.csv"], "--pins goes by all rows"),
        (["--metric", "precomputed"], "--landmarks are rows of a table"),
        (["--landmark-choice", "dense"], "--landmark-choice must be 'random' or 'thinned'"),
        (["--columns", "a,kind"], "holds"),
    ],
)
def test_what_cannot_go_with_landmarks_is_refused(
    more: list[str], said: str, tables: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("pins.csv").write_text("id,y1,y2\nr1,0,0\n")
    before = files(Path())
    asked = ["--landmarks", "100", *QUICK, *more]
    assert main(["embed", "data.parquet", *asked]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert files(Path()) == before


def test_a_gap_is_refused_with_its_row(tables: pd.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    tables.loc[417, "b"] = np.nan
    tables.to_parquet("gaps.parquet")
    assert main(["embed", "gaps.parquet", *ASKED]) == 2
    assert "NaN in row 417, column 'b'" in capsys.readouterr().err
