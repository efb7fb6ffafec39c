"""`nearfield methods`, `check` and `demo`."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import nearfield
from nearfield.cli import main
from nearfield.io.tables import read_map
from support.commands import StandIn, files


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
