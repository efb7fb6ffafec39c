"""What cannot be done is said in one line, and nothing is left behind."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nearfield.cli import main
from support.commands import QUICK, StandIn, files

Prepare = Callable[[Path], Any]


def table(rows: Any) -> Prepare:
    return lambda folder: np.save(folder / "X.npy", np.asarray(rows, dtype=float))


ring = np.column_stack([np.cos(np.arange(12.0)), np.sin(np.arange(12.0))])
lopsided = np.arange(144.0).reshape(12, 12) * (1 - np.eye(12))
holes = ring.copy()
holes[[3, 7], 1] = np.nan
endless = ring.copy()
endless[5, 0] = np.inf

REFUSED: dict[str, tuple[Prepare | None, list[str], str]] = {
    "NaN": (
        table(holes),
        ["X.npy"],
        r"2 numbers are missing, in 2 of 12 rows: row 3 column 'x2', row 7 column 'x2'",
    ),
    "infinity": (table(endless), ["X.npy"], r"inf.* in row 5"),
    "text in a numeric column": (
        lambda folder: (folder / "t.csv").write_text("age,b\n1,2\nold,3\n4,5\n"),
        ["t.csv"],
        r"column 'age', row 1 \(line 3\): 'old' is not a number",
    ),
    "fewer points than the perplexity needs": (table(ring), ["X.npy", "--perplexity", "30"], r"perplexity"),
    "one point": (table(ring[:1]), ["X.npy"], r"one row only: a map needs at least two"),
    "zero points": (table(ring[:0]), ["X.npy"], r"has no rows"),
    "all points equal": (table(np.ones((20, 3))), ["X.npy"], r"all 20 points are equal"),
    "constant data in many columns": (table(np.ones((20, 120))), ["X.npy"], r"all 20 points are equal"),
    "distances that are all zero": (
        table(np.zeros((20, 20))),
        ["X.npy", "--metric", "precomputed"],
        r"all 20 points are equal",
    ),
    "an unknown method": (None, ["iris.csv", "--method", "tsme"], r"'tsme'.*did you mean 'tsne'\?"),
    "an unknown parameter": (None, ["iris.csv", "--set", "kappa=1"], r"'tsne' has no parameter 'kappa'"),
    "a parameter that is no number": (
        None,
        ["iris.csv", "--set", "dof=x"],
        r"dof=x: it is a number, such as",
    ),
    "a parameter without value": (None, ["iris.csv", "--set", "dof"], r"--set takes name=value"),
    "a negative perplexity": (None, ["iris.csv", "--perplexity", "-3"], r"perplexity"),
    "a perplexity that is no number": (None, ["iris.csv", "--perplexity", "x"], r"'--perplexity'"),
    "an unknown metric": (None, ["iris.csv", "--metric", "eucledian"], r"eucledian"),
    "an unknown engine": (None, ["iris.csv", "--engine", "warp"], r"engine .*'warp'"),
    "an unknown start": (
        None,
        ["iris.csv", "--start", "pcaa"],
        r"--start pcaa: use pca, random, spectral, or a",
    ),
    "distances that are not square": (
        table(np.ones((12, 5))),
        ["X.npy", "--metric", "precomputed", *QUICK],
        r"square.*\(12, 5\)|\(12, 5\).*square",
    ),
    "distances that are not symmetric": (
        table(lopsided),
        ["X.npy", "--metric", "precomputed", *QUICK],
        r"symmetric",
    ),
    "distances standardized": (
        table(lopsided),
        ["X.npy", "--metric", "precomputed", "--standardize"],
        r"leave out --standardize",
    ),
    "a missing file": (None, ["gone.csv"], r"there is no file gone\.csv"),
    "a directory as data": (lambda folder: (folder / "d.csv").mkdir(), ["d.csv"], r"d\.csv is a directory"),
    "a missing folder": (None, ["iris.csv", "--out", "gone/map.csv"], r"folder gone does not exist"),
    "a missing folder for the picture": (None, ["iris.csv", "--plot", "gone/m.png"], r"folder gone does not"),
    "an unknown extension": (None, ["iris.csv", "--out", "map.xls"], r"use \.csv, \.tsv or \.parquet"),
    "an unknown picture": (None, ["iris.csv", "--plot", "map.xls"], r"use \.png, \.pdf or \.svg"),
    "the data as output": (None, ["iris.csv", "--out", "./iris.csv"], r"would replace the data"),
    "a picture of four dimensions": (
        None,
        ["iris.csv", "--dimensions", "4", "--plot", "m.png"],
        r"three dim",
    ),
    "an unknown label": (
        None,
        ["iris.csv", "--label", "specie"],
        r"no column 'specie': did you mean 'species'",
    ),
    "too many components": (None, ["iris.csv", "--pca", "9"], r"--pca 9 is more than"),
    "an unknown option": (None, ["iris.csv", "--metod", "tsne"], r"--metod"),
    "no data": (None, [], r"Missing argument"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_gets_one_line_and_leaves_no_file(
    here: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    prepare, arguments, message = REFUSED[what]
    if prepare is not None:
        prepare(here)
    before = files(here)
    assert main(["embed", *arguments]) == 2
    complaint = capsys.readouterr().err
    assert re.fullmatch(r"error: [^\n]+\n", complaint)
    assert re.search(message, complaint)
    assert files(here) == before


def test_outputs_are_checked_before_the_data_are_read(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["embed", "gone.csv", "--out", "gone/map.csv"]) == 2
    assert "folder gone does not exist" in capsys.readouterr().err


def test_a_write_that_fails_leaves_no_half_file(
    here: Path, stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import csv

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(csv, "writer", full)
    assert main(["embed", "iris.csv"]) == 2
    told = "cannot write iris-map.csv (no space left on device): what was there is as it was"
    assert capsys.readouterr().err == f"error: {told}; make room, or choose another place\n"
    assert files(here) == {"iris.csv"}


def test_a_defect_of_the_program_is_not_blamed_on_the_user(
    here: Path, stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: StandIn) -> None:
        raise AssertionError("a defect")

    monkeypatch.setattr(stand_in, "diagnosis", fail)
    with pytest.raises(AssertionError, match="a defect"):
        main(["embed", "iris.csv"])


def test_the_traceback_can_be_asked_for(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEARFIELD_TRACEBACK", "1")
    with pytest.raises(ValueError, match="tsme"):
        main(["embed", "iris.csv", "--method", "tsme"])
