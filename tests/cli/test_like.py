"""`nearfield embed --like`: a map that starts as an earlier one, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nearfield.cli import main
from nearfield.io.tables import read_map, write_map
from support.commands import QUICK, StandIn, files


def test_old_points_start_where_they_were_and_new_ones_are_free(
    here: Path, stand_in: type[StandIn], capsys: pytest.CaptureFixture[str]
) -> None:
    old = np.arange(24.0).reshape(12, 2)
    ids = [f"f{i}" for i in range(50, 100, 5)] + ["gone", "lost"]
    write_map("old.csv", old, ids=ids)
    assert main(["embed", "iris.csv", "--id", "who", "--like", "old.csv", "-o", "new.csv"]) == 0
    said = capsys.readouterr().out
    assert "old.csv: 10 points start where they were, 20 amid their neighbours, 2 are gone" in said
    init = stand_in.given["init"]
    assert init.shape == (30, 2)
    np.testing.assert_array_equal(init[10:20], old[:10])
    assert np.isnan(init[:10]).all()
    assert np.isnan(init[20:]).all()


def test_without_ids_rows_are_known_by_their_numbers(here: Path, stand_in: type[StandIn]) -> None:
    old = np.arange(50.0).reshape(25, 2)
    np.save("old.npy", old)
    write_map("old.csv", old)
    for name in ("old.npy", "old.csv"):
        assert main(["embed", "iris.csv", "--like", name, "-o", "new.csv", "-q"]) == 0
        np.testing.assert_array_equal(stand_in.given["init"][:25], old)
        assert np.isnan(stand_in.given["init"][25:]).all()


def test_what_has_not_changed_stays_about_where_it_was(here: Path) -> None:
    lines = (here / "iris.csv").read_text().splitlines()
    (here / "fewer.csv").write_text("\n".join(lines[:26]) + "\n")
    assert main(["embed", "fewer.csv", "--id", "who", "-o", "old.csv", "-q", "--perplexity", "5"]) == 0
    options = ["--id", "who", "--like", "old.csv", "-o", "new.csv", "-q", *QUICK]
    assert main(["embed", "iris.csv", *options]) == 0
    old, new = read_map("old.csv")[0], read_map("new.csv")[0]
    assert new.shape == (30, 2)
    assert np.isfinite(new).all()
    moved = np.linalg.norm(new[:25] - old, axis=1)
    assert np.median(moved) < 0.5 * old.std()


@pytest.mark.parametrize(
    ("ids", "dimensions", "more", "message"),
    [
        (["a", "b", "c"], 2, [], "old.csv and iris.csv have no id in common: say with --id"),
        (["f0", "f0", "f5"], 2, [], "old.csv has several rows with the id 'f0'"),
        (["f0", "f5", "f10"], 3, [], "--like old.csv has 3 dimensions, but the map will have 2"),
        (["f0", "f5", "f10"], 2, ["--start", "random"], "--like and --start both say where points start"),
        (["f0", "f5", "f10"], 2, ["-o", "old.csv"], "would replace the map that it is to be like"),
    ],
)
def test_what_is_like_nothing_is_refused(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    ids: list[str],
    dimensions: int,
    more: list[str],
    message: str,
) -> None:
    write_map("old.csv", np.arange(3.0 * dimensions).reshape(3, dimensions), ids=ids)
    before = files(here)
    assert main(["embed", "iris.csv", "--id", "who", "--like", "old.csv", "-q", *more]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert files(here) == before
