"""`nearfield embed --pins`: points that are put somewhere."""

from __future__ import annotations

import pytest

from commands import QUICK
from nearfield.cli import main
from nearfield.io.tables import read_map


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
