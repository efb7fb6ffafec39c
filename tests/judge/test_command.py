"""`nearfield quality`: rows find each other, data are prepared as by `embed`, refusals name the fix."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.io.tables import write_map

X = np.random.default_rng(5).normal(size=(40, 3)).round(6)
KIND = np.arange(40) % 3
Y = X[:, :2] + KIND[:, None]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Stand in a folder with a table of forty rows, `who` and `kind` among its columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEARFIELD_TRACEBACK", raising=False)
    rows = [f"r{i},{','.join(map(str, X[i].tolist()))},{KIND[i]}" for i in range(40)]
    (tmp_path / "data.csv").write_text("\n".join(["who,a,b,c,kind", *rows]) + "\n")
    return tmp_path


def figures(arguments, capsys):
    assert main(["quality", *arguments, "--json", "-"]) == 0
    return json.loads(capsys.readouterr().out)


def test_it_prints_the_table_of_the_library(here, capsys):
    write_map("map.csv", Y, ids=[f"r{i}" for i in range(40)])
    assert main(["quality", "data.csv", "map.csv", "--id", "who", "--label", "kind"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("read    data.csv: 40 rows × 3 columns\n")
    assert said.endswith(f"{nf.quality(X, Y, KIND)}\n")


def test_rows_find_each_other_by_their_ids(here, capsys):
    order = np.random.default_rng(0).permutation(40)
    expected = nf.quality(X, Y, KIND).to_dict()
    options = ["--label", "kind"]
    write_map("named.csv", Y[order], ids=[f"r{i}" for i in order])
    write_map("numbered.csv", Y[order], ids=order, labels=KIND[order])
    np.save("bare.npy", Y)
    for arguments in (["named.csv", "--id", "who"], ["numbered.csv"], ["bare.npy"]):
        found = figures(["data.csv", *arguments, *options], capsys)
        assert {name: found[name] for name in expected} == expected
    # The labels of the map serve where none are named.
    found = figures(["data.csv", "numbered.csv", "--columns", "a,b,c"], capsys)
    assert found["label_accuracy"] == expected["label_accuracy"]


def test_data_are_prepared_as_for_embed(here, capsys):
    np.save("wide.npy", np.random.default_rng(0).normal(size=(60, 120)) * np.arange(1, 121))
    for options in ([], ["--pca", "5"], ["--standardize"]):
        arguments = ["wide.npy", "--method", "pca", "--dimensions", "5", "-o", "m.csv", "-q", *options]
        assert main(["embed", *arguments]) == 0
        judged = figures(["wide.npy", "m.csv", *options], capsys)
        # Five components kept of five are all there is to keep.
        assert (judged["auc"] > 0.9999) == (options == ["--pca", "5"])
        assert main(["quality", "wide.npy", "m.csv", *options]) == 0
        assert "principal components" in capsys.readouterr().out


def test_options_reach_the_library(here, capsys):
    np.save("map.npy", Y)
    options = ["--metric", "manhattan", "--neighbours", "4", "--sample", "20", "--seed", "3", "--jobs", "1"]
    found = figures(["data.csv", "map.npy", "--label", "kind", *options], capsys)
    expected = nf.quality(X, Y, KIND, metric="manhattan", n_neighbors=4, sample=20, random_state=3).to_dict()
    assert {name: found[name] for name in expected} == expected


def test_json_to_a_file_and_quiet(here, capsys):
    np.save("map.npy", Y)
    arguments = ["quality", "data.csv", "map.npy", "--label", "kind", "--json", "out.json"]
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert json.loads((here / "out.json").read_text())["auc"] == nf.quality(X, Y).auc
    assert main(arguments) == 0
    assert capsys.readouterr().out.endswith("wrote   out.json\n")


def names(rows):
    return [f"r{i}" for i in rows]


REFUSED = {
    "fewer rows": (
        lambda: write_map("map.csv", Y[:38], ids=names(range(38))),
        ["--id", "who", "--label", "kind"],
        r"map\.csv lacks the ids 'r38', 'r39' \(40 and 38 rows\): pass the data",
    ),
    "other rows": (
        lambda: write_map("map.csv", Y, ids=names(range(1, 41))),
        ["--id", "who", "--label", "kind"],
        r"map\.csv lacks the ids 'r0' and data\.csv lacks the ids 'r40'",
    ),
    "more rows": (
        lambda: write_map("map.csv", np.vstack([Y, Y[:1]])),
        ["--label", "kind"],
        r"data\.csv lacks the ids '40' \(40 and 41 rows\)",
    ),
    "ids that the data were read without": (
        lambda: write_map("map.csv", Y, ids=names(range(40))),
        ["--label", "kind"],
        r"names its rows 'r0', 'r1', 'r2' and 37 more: say with --id which column of data\.csv",
    ),
    "an id twice": (
        lambda: write_map("map.csv", Y, ids=names([*range(39), 3])),
        ["--id", "who", "--label", "kind"],
        r"map\.csv has several rows with the id 'r3'",
    ),
    "labels among the measurements": (
        lambda: write_map("map.csv", Y, labels=KIND),
        [],
        r"the column 'kind' holds the labels of the map: add --label kind",
    ),
    "ids among the measurements": (
        lambda: (
            Path("data.csv").write_text("number,a\n" + "".join(f"{7 * i % 40},{i**2}\n" for i in range(40))),
            write_map("map.csv", Y, ids=[7 * i % 40 for i in range(40)]),
        ),
        [],
        r"the column 'number' holds the ids of the map: add --id number",
    ),
    "a map without ids of another length": (
        lambda: np.save("map.npy", Y[:9]),
        ["--label", "kind"],
        r"data\.csv has 40 rows but map\.npy has 9",
    ),
    "no map": (lambda: None, [], r"there is no file map\.csv"),
    "data in place of a map": (
        lambda: (write_map("map.csv", Y), write_map("x.csv", Y)),
        ["--json", "map.csv"],
        r"--json map\.csv would replace what is judged",
    ),
    "a missing folder": (lambda: None, ["--json", "gone/out.json"], r"folder gone does not exist"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_gets_one_line_and_leaves_no_file(here, capsys, what):
    prepare, options, message = REFUSED[what]
    prepare()
    before = {file.name for file in here.iterdir()}
    mapped = "map.npy" if "map.npy" in before else "map.csv"
    assert main(["quality", "data.csv", mapped, *options]) == 2
    complaint = capsys.readouterr().err
    assert re.fullmatch(r"error: [^\n]+\n", complaint)
    assert re.search(message, complaint)
    assert {file.name for file in here.iterdir()} == before
