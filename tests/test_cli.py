"""The command line: what it writes, what it says, and how it refuses."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import nearfield
from nearfield.cli import main
from nearfield.io.datasets import iris
from nearfield.io.tables import read_map, write_map

QUICK = ["--perplexity", "5", "--max-iter", "40"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder with a table of thirty irises."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEARFIELD_TRACEBACK", raising=False)
    flowers = iris()
    assert flowers.labels is not None
    rows = [f"f{i},{','.join(map(str, flowers.X[i]))},{flowers.labels[i]}" for i in range(0, 150, 5)]
    (tmp_path / "iris.csv").write_text("\n".join(["who,a,b,c,d,species", *rows]) + "\n")
    return tmp_path


class StandIn:
    """Takes the place of `Run`: notes what it was given, and lays the points on a line."""

    given: dict[str, Any]
    X: np.ndarray
    cost, iteration, plan = 0.25, 7, "a plan"

    def __init__(self, X: np.ndarray, method: Any, **given: Any) -> None:
        type(self).X, type(self).given = X, {"method": method, **given}
        self.Y = np.arange(2.0 * len(X)).reshape(len(X), 2)

    def converge(self, max_iter: int, callback: Any) -> bool:
        type(self).given["max_iter"] = max_iter
        return True

    def diagnosis(self) -> None:
        """Nothing is wrong."""


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> type[StandIn]:
    class Fresh(StandIn):
        pass

    assert nearfield.Embedder  # which takes the true one when it is imported
    monkeypatch.setattr("nearfield.descent.run.Run", Fresh)  # which the command imports on use
    return Fresh


def files(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


# ------------------------------------------------------------------------------------------------- embed


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
    assert main(["embed", str(elsewhere), "--quiet", "--perplexity", "5"]) == 0
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


# ---------------------------------------------------------------------------------------------- refusals

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
    "NaN": (table(holes), ["X.npy"], r"NaN in rows 3, 7"),
    "infinity": (table(endless), ["X.npy"], r"inf.* in row 5"),
    "text in a numeric column": (
        lambda folder: (folder / "t.csv").write_text("age,b\n1,2\nn/a,3\n4,5\n"),
        ["t.csv"],
        r"column 'age', row 1 \(line 3\): 'n/a' is not a number",
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
    "an unknown start": (None, ["iris.csv", "--start", "pcaa", *QUICK], r"pcaa"),
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
    assert capsys.readouterr().err == "error: no space left on device\n"
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


# --------------------------------------------------------------------------------------- the other commands


def test_methods_lists_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["name", "cost", "kernel", "normalization", "description"]
    assert [line.split()[0] for line in lines[1:]] == nearfield.methods()
    jse = next(line for line in lines if line.startswith("jse "))
    assert jse.split()[1:4] == ["JensenShannon", "Gaussian", "point"]


def test_methods_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "--json"]) == 0
    about = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(about) == nearfield.methods()
    assert about["nerv"]["parameters"]["lam"] == 0.5
    assert about["mds"]["kernel"] is None
    assert all(row["description"] for row in about.values())


def test_check_prints_the_error_in_three_dimensions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "jse", "--set", "kappa=0.3", "--points", "12"]) == 0
    said = capsys.readouterr().out
    assert "JensenShannon(kappa=0.3)" in said
    rows = [line.split() for line in said.splitlines()[2:]]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert all(float(row[1]) < 1e-6 and row[-1] == "passed" for row in rows)


def test_check_fails_with_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(method: Any, *, n_points: int, n_components: int, random_state: int) -> SimpleNamespace:
        return SimpleNamespace(error=0.5, net_force=0.0, torque=0.0, passed=n_components != 2)

    monkeypatch.setitem(vars(nearfield), "check", wrong)
    assert main(["check", "tsne"]) == 1
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()[2:]] == [
        "passed",
        "FAILED",
        "passed",
    ]


def test_demo(here: Path, stand_in: type[StandIn], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    assert files(here / "demo") == {"map.png", "map.csv"}
    Y, _, labels = read_map("demo/map.csv")
    assert len(Y) == 1797
    assert_array_equal(np.unique(labels), np.arange(10))
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 3
    assert "1797" in said[0]
    assert "map.png" in said[1]
    assert said[2].startswith("Next: nearfield ")


def test_demo_refuses_a_file_in_place_of_its_folder(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--out", "iris.csv"]) == 2
    assert capsys.readouterr().err == "error: iris.csv is a file: name a folder with --out\n"


# ------------------------------------------------------------------------------------------- the program


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nearfield", *arguments], capture_output=True, text=True, check=False
    )


def test_version_and_help() -> None:
    assert run("--version").stdout == f"nearfield {nearfield.__version__}\n"
    for arguments in ((), ("--help",)):
        result = run(*arguments)
        assert result.returncode == 0
        for command in ("embed", "methods", "check", "demo"):
            assert command in result.stdout


def test_an_unknown_command_exits_with_2() -> None:
    result = run("embd")
    assert result.returncode == 2
    assert re.fullmatch(r"error: No such command 'embd'[^\n]*\n", result.stderr)


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from nearfield.cli import main; main(['--help'])\n"
        "print({'numpy', 'scipy', 'sklearn', 'matplotlib', 'numba', 'pyarrow'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "set()"


def test_pins_are_set_by_id_and_an_earlier_map_is_gone_on_from(here):
    assert main(["embed", "iris.csv", "--id", "who", "--label", "species", "-o", "first.csv", *QUICK]) == 0
    (here / "pins.csv").write_text("id,y1,y2\nf10,30.5,-2\nf0,1,2\n")
    arguments = ["embed", "iris.csv", "--id", "who", "--label", "species", "-o", "second.csv", *QUICK]
    assert main([*arguments, "--pins", "pins.csv", "--start", "first.csv"]) == 0
    Y, ids, _ = read_map("second.csv")
    assert Y[ids.tolist().index("f10")].tolist() == [30.5, -2]
    assert Y[ids.tolist().index("f0")].tolist() == [1, 2]


def test_pins_are_set_by_the_number_of_a_row(here):
    (here / "pins.csv").write_text("id,y1,y2\n3,30.5,-2\n")
    arguments = ["embed", "iris.csv", "--columns", "a,b,c,d", "-o", "map.csv"]
    assert main([*arguments, "--pins", "pins.csv", *QUICK]) == 0
    assert read_map("map.csv")[0][3].tolist() == [30.5, -2]


@pytest.mark.parametrize(
    ("pins", "message"),
    [
        ("id,y1,y2\nf11,1,2\n", "unknown id 'f11'"),
        ("id,y1,y2\nf10,1,2\nf10,2,2\n", "the id 'f10' is there twice"),
        ("id,y1,y2,y3\nf10,1,2,3\n", "must have the shape (1, 2), got (1, 3)"),
        ("y1,y2\n1,2\n", "add a column id"),
        ("id,y1,y2\nf10,inf,2\n", "must be finite"),
    ],
)
def test_pins_that_cannot_be_set_are_refused_with_one_line(pins, message, here, capsys):
    (here / "pins.csv").write_text(pins)
    assert main(["embed", "iris.csv", "--id", "who", "-o", "map.csv", "--pins", "pins.csv", *QUICK]) == 2
    told = capsys.readouterr().err.strip()
    assert message in told
    assert "\n" not in told
    assert not (here / "map.csv").exists()
