"""`nearfield embed --pins`: points that are put somewhere."""

from __future__ import annotations

import pytest

from nearfield.cli import main
from nearfield.io.tables import read_map
from support.commands import QUICK


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
        ("id,y1,y2,y3\nf10,1,2,3\n", "pins.csv has 3 coordinates of each point: the map has 2"),
        ("id,y1\nf10,1\n", "pins.csv has 1 coordinates of each point"),
        ("id,y1,y2\nf10,ten,2\n", "pins.csv: column 'y1'"),
        ("id,x,y\nf10,1,2\n", "pins.csv: a map has the columns"),
        ("y1,y2\n1,2\n", "add a column id"),
        ("id,y1,y2\nf10,inf,2\n", "pins.csv: the place of 'f10' must be finite"),
    ],
)
def test_pins_that_cannot_be_set_are_refused_with_one_line(pins, message, here, capsys):
    (here / "pins.csv").write_text(pins)
    assert main(["embed", "iris.csv", "--id", "who", "-o", "map.csv", "--pins", "pins.csv", *QUICK]) == 2
    told = capsys.readouterr().err.strip()
    assert message in told
    assert "\n" not in told
    assert not (here / "map.csv").exists()


def test_an_earlier_map_is_taken_by_its_ids_whatever_the_order_of_its_rows(here):
    arguments = ["embed", "iris.csv", "--id", "who", "--label", "species", *QUICK]
    assert main([*arguments, "-o", "first.csv"]) == 0
    head, *rows = (here / "first.csv").read_text().splitlines()
    (here / "turned.csv").write_text("\n".join([head, *reversed(rows)]) + "\n")
    again = [*arguments[:-1], "1"]
    for start in ("first", "turned"):
        assert main([*again, "--start", f"{start}.csv", "-o", f"from-{start}.csv"]) == 0
    assert (here / "from-first.csv").read_text() == (here / "from-turned.csv").read_text()


def test_a_start_of_other_points_is_refused(here, capsys):
    arguments = ["embed", "iris.csv", "--id", "who", *QUICK]
    assert main([*arguments, "-o", "first.csv"]) == 0
    (here / "other.csv").write_text((here / "first.csv").read_text().replace("f", "g"))
    capsys.readouterr()
    assert main([*arguments, "--start", "other.csv", "-o", "second.csv"]) == 2
    assert "lacks the ids" in capsys.readouterr().err
    assert not (here / "second.csv").exists()


def test_the_pins_are_not_written_over(here, capsys):
    (here / "pins.csv").write_text("id,y1,y2\nf10,1,2\n")
    assert main(["embed", "iris.csv", "--id", "who", "-o", "pins.csv", "--pins", "pins.csv", *QUICK]) == 2
    assert "would replace the pins" in capsys.readouterr().err


def test_pins_that_were_not_reached_are_not_told_of(here, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("nearfield.descent.progress.Progress.__call__", interrupted)
    (here / "pins.csv").write_text("id,y1,y2\nf10,1,2\n")
    assert main(["embed", "iris.csv", "--id", "who", "-o", "map.csv", "--pins", "pins.csv", *QUICK]) == 130
    told = capsys.readouterr()
    assert "no point is pinned yet" in told.err
    assert "as pins.csv says" not in told.out + told.err
