"""`nearfield page`."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from nearfield.io.tables import write_map
from support.browser import until


@pytest.fixture
def mapped(here):
    """A folder with a table of thirty irises, and a map of them in another order."""
    order = np.arange(30)[::-1]
    ids = np.array([f"f{i}" for i in range(0, 150, 5)])[order]
    write_map(here / "map.csv", np.column_stack([order, -order]), ids=ids, labels=["m"] * 30)
    return here


def told(path):
    """What a page holds besides its arrays."""
    found = re.search(r'id="nearfield-data">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found[1])


def columns(path):
    return [(each["name"], each["kind"]) for each in told(path)["columns"]]


def test_a_map_alone_makes_a_page(mapped, capsys):
    assert main(["page", "map.csv"]) == 0
    assert "wrote   map.html (0.1 MB)" in capsys.readouterr().out
    assert told(mapped / "map.html")["title"] == "map"
    assert columns(mapped / "map.html") == [("label", "classes"), ("id", "classes")]


def test_the_rows_of_the_data_are_shown_in_the_maps_order(mapped, tab):
    options = [
        "--data",
        "iris.csv",
        "--id",
        "who",
        "--label",
        "species",
        "--out",
        "page.html",
        "--title",
        "Iris",
    ]
    assert main(["page", "map.csv", *options, "--quiet"]) == 0
    names = ["species", "id", "a", "b", "c", "d"]
    assert [name for name, _ in columns(mapped / "page.html")] == names
    tab.goto((mapped / "page.html").as_uri())
    until(tab, "window.nearfield !== undefined")
    tab.mouse.move(*tab.evaluate("nearfield.screen(0)"))  # the last row of the data
    assert tab.locator(".nf-card dt").all_inner_texts() == names
    last = (mapped / "iris.csv").read_text().splitlines()[-1].split(",")
    numbers = [f"{float(cell):g}" for cell in last[1:5]]
    assert tab.locator(".nf-card dd").all_inner_texts() == [last[5], last[0], *numbers]


def test_texts_are_shown_and_columns_chosen(mapped):
    given = ["page", "map.csv", "--data", "iris.csv", "--id", "who", "--quiet"]
    main([*given, "--out", "a.html"])
    assert ("species", "classes") in columns(mapped / "a.html")
    main(
        [
            "page",
            "map.csv",
            "--data",
            "iris.csv",
            "--id",
            "who",
            "--columns",
            "species,b",
            "-q",
            "-o",
            "b.html",
        ]
    )
    assert [name for name, _ in columns(mapped / "b.html")] == ["label", "id", "species", "b"]


def test_rows_may_be_images(mapped):
    main(["page", "map.csv", "--data", "iris.csv", "--id", "who", "--images", "2x2", "-q", "-o", "a.html"])
    assert told(mapped / "a.html")["images"]["shape"] == [2, 2, 1]
    assert "a" not in [name for name, _ in columns(mapped / "a.html")]


def test_saved_maps_are_shown(mapped):
    nf.Map(np.eye(2)).save(mapped / "two.nfmap")
    assert main(["page", "two.nfmap", "--quiet"]) == 0
    assert columns(mapped / "two.html") == []


def test_what_is_left_out_is_named(mapped, capsys):
    rows = "\n".join(f"{i},{np.random.default_rng(i).bytes(450).hex()}" for i in range(60))
    (mapped / "long.csv").write_text(f"id,text\n{rows}\n")
    write_map(mapped / "m.csv", np.random.default_rng(0).normal(size=(60, 2)))
    given = ["page", "m.csv", "--data", "long.csv", "--id", "id", "--out", "small.html"]
    assert main([*given, "--max-size", "100kB"]) == 0
    assert "left out of small.html" in capsys.readouterr().err
    assert (mapped / "small.html").stat().st_size <= 100_000
    assert told(mapped / "small.html")["left_out"][0].startswith("text (")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], "there is no file none.csv"),
        (["map.csv", "--out", "map.png"], "ends in .html"),
        (["map.csv", "--label", "species"], "add --data TABLE"),
        (["map.csv", "--data", "iris.csv"], "say with --id which column of iris.csv"),
        (["map.csv", "--data", "iris.csv", "--id", "a"], "iris.csv lacks the ids 'f145'"),
        (["map.csv", "--data", "iris.csv", "--id", "who", "--images", "9x9"], "takes 81 columns of numbers"),
        (["map.csv", "--data", "iris.csv", "--id", "who", "--images", "nine"], "such as 28x28"),
        (["map.csv", "--data", "iris.csv", "--id", "who", "--columns", "speces"], "did you mean 'species'"),
        (["map.csv", "--max-size", "much"], "is no size"),
        (["map.csv", "--max-size", "1kB"], "max_size"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(mapped, capsys, arguments, message):
    before = {each.name for each in mapped.iterdir()}
    assert main(["page", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert {each.name for each in mapped.iterdir()} == before
