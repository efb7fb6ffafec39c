"""`nearfield embed`: what it writes, and what it says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import nearfield
from nearfield.cli import main
from nearfield.io.tables import read_map, write_map
from support.commands import QUICK, StandIn, files


def test_embed_writes_map_and_picture_and_says_so(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--label", "species", "--id", "who", "--out", "map.csv", "--plot", "map.png"]
    assert main(["embed", "iris.csv", *options, *QUICK]) == 0
    Y, ids, labels = read_map("map.csv")
    assert Y.shape == (30, 2)
    assert np.isfinite(Y).all()
    assert ids is not None
    assert ids.tolist() == [f"f{i}" for i in range(0, 150, 5)]
    assert_array_equal(np.unique(labels), ["setosa", "versicolor", "virginica"])
    assert (here / "map.png").read_bytes().startswith(b"\x89PNG")
    assert files(here) == {"iris.csv", "map.csv", "map.png"}
    said = capsys.readouterr().out
    assert "iris.csv: 30 rows × 4 columns" in said
    assert "tsne: KL() · Student(dof=1.0) · pair" in said
    assert re.search(r"^plan +exact engine", said, re.MULTILINE)
    assert re.search(r"cost \S+ after 40 iterations in \S+ s", said)
    assert re.search(r"^wrote +map.csv, map.png$", said, re.MULTILINE)


def test_the_same_seed_gives_the_same_map_and_another_another(here: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        options = ["--start", "random", "--seed", str(seed), "-o", f"{name}.csv", "-q"]
        assert main(["embed", "iris.csv", *QUICK, *options]) == 0
    assert (here / "a.csv").read_bytes() == (here / "b.csv").read_bytes()
    assert (here / "a.csv").read_bytes() != (here / "c.csv").read_bytes()


def test_quiet_is_quiet_and_the_default_name_is_in_the_current_folder(
    here: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "flowers.csv"
    elsewhere.write_text((here / "iris.csv").read_text())
    assert main(["embed", str(elsewhere), "--quiet", "--perplexity", "9"]) == 0
    assert files(here) == {"iris.csv", "flowers-map.csv"}
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == ""


@pytest.mark.parametrize("extension", ["tsv", "parquet"])
def test_other_tables_in_and_out(here: Path, stand_in: type[StandIn], extension: str) -> None:
    np.savez("data.npz", X=np.arange(12.0).reshape(4, 3) ** 2, y=list("abab"))
    assert main(["embed", "data.npz", "--out", f"map.{extension}"]) == 0
    Y, _, labels = read_map(f"map.{extension}")
    assert_array_equal(Y, np.arange(8).reshape(4, 2))
    assert labels is not None
    assert labels.tolist() == list("abab")


def test_options_reach_the_run(here: Path, stand_in: type[StandIn]) -> None:
    options = "--method jse --set kappa=0.3 --perplexity 7 --metric cosine --dimensions 3 --max-iter 9"
    more = "--start random --engine exact --seed 4 --jobs 1 --quiet"
    assert main(["embed", "iris.csv", *options.split(), *more.split()]) == 0
    assert stand_in.given == {
        "method": nearfield.method("jse", kappa=0.3),
        "perplexity": 7.0,
        "metric": "cosine",
        "n_components": 3,
        "max_iter": 9,
        "init": "random",
        "engine": "exact",
        "random_state": 4,
        "n_jobs": 1,
    }


def test_what_was_not_said_is_left_to_the_run(here: Path, stand_in: type[StandIn]) -> None:
    assert main(["embed", "iris.csv"]) == 0
    assert set(stand_in.given) == {"method", "n_components", "random_state", "max_iter"}
    assert stand_in.given["max_iter"] == nearfield.Embedder().max_iter


def test_columns_and_standardize(here: Path, stand_in: type[StandIn]) -> None:
    assert main(["embed", "iris.csv", "--columns", "d,b", "--standardize"]) == 0
    assert stand_in.X.shape == (30, 2)
    assert_allclose(stand_in.X.mean(axis=0), 0, atol=1e-12)
    assert_allclose(stand_in.X.std(axis=0), 1)


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        (100, [], 100),
        (101, [], 50),
        (101, ["--pca", "0"], 101),
        (101, ["--pca", "30"], 30),
        (20, ["--pca", "3"], 3),
        (101, ["--metric", "cosine"], 101),
    ],
)
def test_many_columns_are_reduced_and_it_says_so(
    here: Path,
    stand_in: type[StandIn],
    capsys: pytest.CaptureFixture[str],
    columns: int,
    options: list[str],
    expected: int,
) -> None:
    np.save("X.npy", np.random.default_rng(0).normal(size=(60, columns)))
    assert main(["embed", "X.npy", *options]) == 0
    assert stand_in.X.shape == (60, expected)
    said = f"reduced {columns} columns to {expected} principal components"
    assert (said in capsys.readouterr().out) == (columns != expected)


def test_fewer_rows_than_components(here: Path, stand_in: type[StandIn]) -> None:
    np.save("X.npy", np.random.default_rng(0).normal(size=(20, 200)))
    assert main(["embed", "X.npy"]) == 0
    assert stand_in.X.shape == (20, 20)


def test_distances_are_never_reduced(here: Path, stand_in: type[StandIn]) -> None:
    np.save("D.npy", np.ones((120, 120)) - np.eye(120))
    assert main(["embed", "D.npy", "--metric", "precomputed"]) == 0
    assert stand_in.X.shape == (120, 120)


def test_start_from_a_map(here: Path, stand_in: type[StandIn], capsys: pytest.CaptureFixture[str]) -> None:
    Y = np.random.default_rng(0).normal(size=(30, 2))
    write_map("start.csv", Y)
    assert main(["embed", "iris.csv", "--start", "start.csv"]) == 0
    assert_array_equal(stand_in.given["init"], Y)
    assert main(["embed", "iris.csv", "--start", "start.csv", "--dimensions", "3"]) == 2
    assert "has the shape (30, 2), but the map will have (30, 3)" in capsys.readouterr().err


def test_ctrl_c_writes_the_map_so_far(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    iterate = nearfield.Run._iterate

    def interrupt(run: nearfield.Run) -> None:
        if run.iteration >= 20:
            raise KeyboardInterrupt
        iterate(run)

    monkeypatch.setattr(nearfield.Run, "_iterate", interrupt)
    assert main(["embed", "iris.csv", "--out", "map.csv", "--plot", "map.png", *QUICK]) == 130
    assert read_map("map.csv")[0].shape == (30, 2)
    assert files(here) == {"iris.csv", "map.csv", "map.png"}
    captured = capsys.readouterr()
    assert "after 20 iterations" in captured.out
    assert "warning: interrupted at iteration 20: this is the map so far" in captured.err


def test_ctrl_c_elsewhere_writes_nothing(
    here: Path, stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(self: StandIn) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stand_in, "diagnosis", interrupt)
    assert main(["embed", "iris.csv"]) == 130
    assert files(here) == {"iris.csv"}


def test_warnings_are_one_line(
    here: Path, stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import warnings

    def warn(self: StandIn) -> None:
        warnings.warn("mind\nthe gap", UserWarning, stacklevel=1)

    monkeypatch.setattr(stand_in, "diagnosis", warn)
    assert main(["embed", "iris.csv", "--quiet"]) == 0
    assert capsys.readouterr().err == "warning: mind the gap\n"


def test_settings_of_a_run_are_options(here: Path) -> None:
    """Those that the command does not name itself, with what the settings say of them."""
    given = "--engine exact --optimizer lbfgs --exaggeration 2 --exaggeration-iter 20 --accuracy 0.05"
    assert main(["embed", "iris.csv", "--max-iter", "30", "-q", *given.split()]) == 0


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("--engine steam", "engine must be one of"),
        ("--accuracy 7", "accuracy must be between 1e-6 and 0.3, got 7"),
        ("--learning-rate fast", "learning_rate must be 'auto' or a positive number, got 'fast'"),
    ],
)
def test_what_a_setting_refuses_is_said(given: str, expected: str, here: Path, capsys) -> None:
    assert main(["embed", "iris.csv", *given.split()]) == 2
    assert expected in capsys.readouterr().err


def test_labels_have_a_say_if_they_are_asked(here, capsys):
    options = ["embed", "iris.csv", "--label", "species", "--id", "who", *QUICK, "-q"]
    assert main([*options, "--out", "a.csv"]) == 0
    assert main([*options, "--out", "b.csv", "--supervision", "0.8"]) == 0
    assert (here / "a.csv").read_text() != (here / "b.csv").read_text()
    assert main(["embed", "iris.csv", "--supervision", "0.8"]) == 2
    assert "--label NAME" in capsys.readouterr().err


def test_a_quick_map_ends_sooner(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("points.npy", np.random.default_rng(0).normal(size=(400, 5)))
    counts = []
    for option in ([], ["--quick"]):
        assert main(["embed", "points.npy", *option]) == 0
        counts.append(int(re.search(r"after (\d+) iterations", capsys.readouterr().out)[1]))
    assert counts[1] < counts[0]
