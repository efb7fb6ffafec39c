"""Tables that are read some rows at a time are the tables that are read at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nearfield.io import delimited, streams
from nearfield.io.columns import choose
from nearfield.io.streams import chunks, writing
from nearfield.io.tables import read_map, read_table, write_map

NAMES = ("a", "b")


def chosen(names: Any) -> Any:
    return choose(list(names), "kind", NAMES, "who")


def written(folder: Path, suffix: str, rows: int = 50) -> Path:
    random = np.random.default_rng(0)
    columns: dict[str, Any] = {"who": [f"w{i}" for i in range(rows)]}
    columns |= {name: random.normal(size=rows) for name in NAMES}
    columns["kind"] = [f"k{i % 3}" for i in range(rows)]
    path = folder / f"table{suffix}"
    with writing(path) as table:
        for lo in range(0, rows, 7):
            table.write({name: np.asarray(each[lo : lo + 7]) for name, each in columns.items()})
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("rows", [3, 1000])
def test_parts_make_the_whole(
    tmp_path: Path, suffix: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, suffix)
    whole = read_table(path, label="kind", id="who", columns=NAMES)
    monkeypatch.setattr(delimited, "_CELLS_AT_ONCE", 4 * rows)
    parts = list(chunks(path, chosen))
    np.testing.assert_array_equal(np.concatenate([table.X for table, _ in parts]), whole.X)
    assert whole.ids is not None
    assert whole.labels is not None
    assert [each for table, _ in parts for each in table.ids.tolist()] == whole.ids.tolist()  # type: ignore[union-attr]
    assert [each for table, _ in parts for each in table.labels.tolist()] == whole.labels.tolist()  # type: ignore[union-attr]
    shares = [share for _, share in parts]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    if suffix != ".parquet":
        assert len(parts) == -(-50 // rows)


def test_an_array_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.arange(30, dtype=np.int16).reshape(10, 3)
    np.save(tmp_path / "x.npy", X)
    monkeypatch.setattr(streams, "CELLS", 12)
    parts = list(chunks(tmp_path / "x.npy", lambda names: choose(list(names), None, ["x3", "x1"], None)))
    assert [len(table.X) for table, _ in parts] == [4, 4, 2]
    found = np.concatenate([table.X for table, _ in parts])
    np.testing.assert_array_equal(found, X[:, [2, 0]])
    assert parts[0][0].names == ("x3", "x1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3,x\n", r"row 1 \(line 3\): 'x' is not a number"),
        ("a,b\ntrue,2\n1,2\n", r"'true' is not a number"),
        ("a,b\n1,2\n1\n", "line 3 has 1 cells"),
        ("a,b\n1,1e400\n", "too large for a number"),
        ("", "is empty"),
    ],
)
@pytest.mark.parametrize("cells", [2, 1000])
def test_what_is_no_number_is_named_wherever_it_is(
    tmp_path: Path, text: str, message: str, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    monkeypatch.setattr(delimited, "_CELLS_AT_ONCE", cells)
    with pytest.raises(ValueError, match=message):
        list(chunks(path, lambda names: choose(list(names), None, NAMES, None), True))


def test_decimal_commas_and_truths_are_read_as_in_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,5;yes\n2,25;no\n")
    ((table, _),) = chunks(path, lambda names: choose(list(names), None, NAMES, None))
    np.testing.assert_array_equal(table.X, [[1.5, 1], [2.25, 0]])


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_what_is_written_in_parts_reads_as_a_map(tmp_path: Path, suffix: str) -> None:
    Y = np.random.default_rng(0).normal(size=(20, 2))
    with writing(tmp_path / f"parts{suffix}") as table:
        for lo in range(0, 20, 6):
            part = Y[lo : lo + 6]
            table.write({"id": np.arange(lo, lo + len(part)), "y1": part[:, 0], "y2": part[:, 1]})
    write_map(tmp_path / f"whole{suffix}", Y)
    one, two = (read_map(tmp_path / f"{name}{suffix}") for name in ("parts", "whole"))
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_on_the_way_leaves_what_was_there(tmp_path: Path, suffix: str, error: Any) -> None:
    path = tmp_path / f"map{suffix}"
    path.write_text("what was there")

    def half() -> None:
        with writing(path) as table:
            table.write({"id": np.arange(3)})
            raise error

    with pytest.raises(error):
        half()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "what was there"
