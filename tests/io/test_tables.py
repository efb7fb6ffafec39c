"""Tables are understood as a person would, what is doubtful is said, what is wrong is refused in one line."""

from __future__ import annotations

import builtins
import csv
import shlex
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from nearfield.io import delimited
from nearfield.io.datasets import digits, iris
from nearfield.io.tables import check_map_path, read_map, read_table, write_map
from support.tables import Write

# ------------------------------------------------------------ text tables that differ in form, not in content

SAME = {
    "comma": ("a,b,kind\n1,2.5,x\n3,-4e-1,y\n", "t.csv"),
    "semicolon": ("a;b;kind\n1;2.5;x\n3;-4e-1;y\n", "t.csv"),
    "tab": ("a\tb\tkind\n1\t2.5\tx\n3\t-4e-1\ty\n", "t.tsv"),
    "tab in a .csv": ("a\tb\tkind\n1\t2.5\tx\n3\t-4e-1\ty\n", "t.csv"),
    "blanks in a .txt": ("a b kind\n1   2.5 x\n3 -4e-1 y\n", "t.txt"),
    "byte order mark": ("\ufeffa,b,kind\n1,2.5,x\n3,-4e-1,y\n", "t.csv"),
    "Windows lines": ("a,b,kind\r\n1,2.5,x\r\n3,-4e-1,y\r\n", "t.csv"),
    "no last newline": ("a,b,kind\n1,2.5,x\n3,-4e-1,y", "t.csv"),
    "blank lines": ("\na,b,kind\n\n1,2.5,x\n\n3,-4e-1,y\n\n", "t.csv"),
    "quotes": ('"a","b","kind"\n"1","2.5","x"\n"3","-4e-1","y"\n', "t.csv"),
    "blanks after commas": ('a, b, kind\n1, 2.5, "x"\n3, -4e-1, y \n', "t.csv"),
    "capital extension": ("a,b,kind\n1,2.5,x\n3,-4e-1,y\n", "t.CSV"),
}


@pytest.mark.parametrize("form", SAME)
def test_form_does_not_matter(write: Write, form: str) -> None:
    table = read_table(write(*SAME[form]), label="kind")
    assert_array_equal(table.X, [[1, 2.5], [3, -0.4]])
    assert table.X.dtype == np.float64
    assert table.names == ("a", "b")
    assert table.labels is not None
    assert table.labels.tolist() == ["x", "y"]
    assert table.ids is None
    assert table.notes == ()


def test_quoted_cells_hold_delimiters_newlines_and_quotes(write: Write) -> None:
    table = read_table(write('a,name\n1,"Ray, ""the\nfish"""\n2,cod\n'), id="name")
    assert table.ids is not None
    assert table.ids.tolist() == ['Ray, "the\nfish"', "cod"]


@pytest.mark.parametrize(
    ("text", "rows", "names"),
    [
        ("1,2\n3,4\n", 2, ("x1", "x2")),
        ("1,,3\n4,5,6\n", 2, ("x1", "x2", "x3")),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n", 2, ("x1", "x2")),  # the UCI archive's iris.data
        ("T,2,8,2\nI,5,12,3\n", 2, ("x2", "x3", "x4")),  # and its letters
        ("0,1,2\n7,8,9\n", 1, ("0", "1", "2")),  # as pandas writes a frame without names
        (",0,1\n0,7,8\n1,9,7\n", 2, ("0", "1")),  # and with its index
        ("town,2019,2020\nUlm,7,8\n", 1, ("2019", "2020")),
        ("0,1\n1,0\n", 2, ("x1", "x2")),
        ("a,inf,c\n1,2,3\n4,5,6\n", 2, ("a", "inf", "c")),
        ("a,1e3,nan\n1,2,3\n4,5,6\n", 2, ("a", "1e3", "nan")),
        ("yes,2.5\n0.5,0.7\n0.1,0.2\n", 2, ("yes", "2.5")),  # above numbers, no word is a number
        ("39,State-gov,13\n50,Private,9\n38,State-gov,13\n", 3, ("x1", "x3")),  # UCI's adult.data
        ("sample,400.5,401,401.5\ns,0.1,0.2,0.3\nt,0.2,0.3,0.1\n", 2, ("400.5", "401", "401.5")),
        ("True,3\nFalse,4\n", 2, ("x1", "x2")),
        ("flag,3\ntrue,4\nfalse,5\n", 2, ("flag", "3")),
        ("true,1\nyes,4\nno,5\n", 2, ("true", "1")),
        ("[1, 2];3\n[2, 3];4\n", 2, ("x2",)),  # a list is no name
        ("2019;2020\nred;1\nblue;2\n", 2, ("2020",)),  # a number above text is one
        ("nan,nan\n1,2\n", 2, ("x1", "x2")),
        (",,\na,b,c\n1,2,3\n", 1, ("a", "b", "c")),  # an empty line of a spreadsheet
        (",\n1,2\n3,4\n", 3, ("x1", "x2")),  # which is a row where there is no header
    ],
)
def test_header_or_data(write: Write, text: str, rows: int, names: tuple[str, ...]) -> None:
    table = read_table(write(text))
    assert len(table.X) == rows
    assert table.names == names
    assert any("no header" in note for note in table.notes) == (names[0].startswith("x"))


def test_text_and_empty_columns_are_left_out_and_named(write: Write) -> None:
    table = read_table(write("name,a,site,gap,b\nu,1,p,,2\nv,3,q,,4\n"))
    assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.notes == ("left out the text columns 'name', 'site'", "left out the empty column 'gap'")


def test_names_with_underscores_between_digits_are_text(write: Write) -> None:
    # float("1_2") is 12 in Python, but a well on a plate in a table.
    table = read_table(write("well,a\n1_1,5\n1_2,6\n"))
    assert table.names == ("a",)


def test_empty_cells_are_nan(write: Write) -> None:
    table = read_table(write("a,b\n1,\n,nan\n3,4\n"))
    assert_array_equal(table.X, [[1, np.nan], [np.nan, np.nan], [3, 4]])


def test_columns_in_the_order_asked_for(write: Write) -> None:
    path = write('a,b,"c, in mm"\n1,2,3\n4,5,6\n')
    assert_array_equal(read_table(path, columns="b,a").X, [[2, 1], [5, 4]])
    assert_array_equal(read_table(path, columns='"c, in mm",b,a').X, [[3, 2, 1], [6, 5, 4]])
    assert_array_equal(read_table(path, columns=["c, in mm"]).X, [[3], [6]])
    assert read_table(path, columns="a,b", label="b").names == ("a",)


@pytest.mark.parametrize(
    ("cells", "expected", "kind"),
    [
        (["3", "1"], [3, 1], "i"),
        (["2.5", "1"], [2.5, 1.0], "f"),
        (["a", "1"], ["a", "1"], "U"),
        (["007", "012"], ["007", "012"], "U"),
        (["True", "False"], [True, False], "b"),
        (["", "1"], [np.nan, 1.0], "f"),
        (["10000000000000000000000", "1"], [1e22, 1.0], "f"),
    ],
)
def test_types_of_labels(write: Write, cells: list[str], expected: list[Any], kind: str) -> None:
    labels = read_table(write(f"a,l\n1,{cells[0]}\n2,{cells[1]}\n"), label="l").labels
    assert labels is not None
    assert labels.dtype.kind == kind
    assert_array_equal(labels, expected)


def test_ids_never_become_floats(write: Write) -> None:
    ids = read_table(write("a,i\n1,1.50\n2,2\n"), id="i").ids
    assert ids is not None
    assert ids.tolist() == ["1.50", "2"]


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_row_numbers_that_pandas_wrote_are_left_out(write: Write, name: str) -> None:
    table = read_table(write(f"{name},a,b\n7,0.5,1\n3,0.7,2\n5,0.1,9\n"))
    assert table.names == ("a", "b")
    assert any("which numbers the rows: --id" in note for note in table.notes)


@pytest.mark.parametrize("name", ["Id", "id", "index", "row_id", "ROW", "PassengerId", "customer ID"])
def test_a_column_that_numbers_the_rows_is_left_out_and_offered_as_id(write: Write, name: str) -> None:
    path = write(f"{name},a\n4,0.5\n2,0.7\n9,0.1\n")
    table = read_table(path)
    assert table.names == ("a",)
    assert table.ids is None
    assert table.notes == (
        f"left out the column '{name}', which numbers the rows: --id {shlex.quote(name)} makes it the id",
    )
    assert read_table(path, columns=f"{name},a").names == (name, "a")  # as was asked for
    assert read_table(write(f"{name},a\n4,0.5\n2,0.7\n4,0.1\n")).names == (name, "a")  # no two are equal
    assert read_table(write(f"{name},a\n4.5,0.5\n2,0.7\n9,0.1\n")).names == (name, "a")


def test_a_named_column_that_counts_is_kept_and_remarked_upon(write: Write) -> None:
    table = read_table(write("depth,a\n1,0.5\n2,0.7\n3,0.1\n"))
    assert table.names == ("depth", "a")
    assert read_table(write("acid,a\n1,0.5\n2,0.7\n")).names == ("acid", "a")
    assert table.notes == (
        "the column 'depth' just counts the rows: if it is no measurement, make it the id, --id depth",
    )


# ------------------------------------------------------------------------------------- what is wrong is named

WRONG = {
    "a few text cells": (
        "age,b\n1,2\n3,4\n old,6\n7,8\n",
        {},
        r"column 'age', row 2 \(line 4\): 'old' is not a number: mend",
    ),
    "asked-for text": (
        "name,b\nu,2\nv,4\n",
        {"columns": "name"},
        r"column 'name', row 0 .*'u' is not a number",
    ),
    "commas of two meanings": (
        "a;b\n1,234;2\n2,345;4\n",
        {},
        r"column 'a', row 0 \(line 2\): '1,234' may have a decimal comma or one between thousands",
    ),
    "commas and points": (
        "a;b\n1,5;2\n2,5;1.234\n",
        {},
        r"column 'a', row 0 \(line 2\): '1,5' has a decimal comma, but there are points in the column 'b'",
    ),
    "thousands": ("a;b\n1,234,567;2\n2;4\n", {}, r"'1,234,567' is not a number"),
    "too large": ("a,b\n1,2\n-1e400,4\n", {}, r"row 1 \(line 3\): '-1e400' is too large"),
    "too large, and empty": ("a,b\n,2\n1e400,4\n", {}, r"row 1 \(line 3\): '1e400' is too large"),
    "a cell that has no end": (
        "a,b\n1,2\n3," + "z" * 200_000 + "\n",
        {},
        r"line 3 cannot be read \(field larger",
    ),
    "a line above the table": (
        "A table\na,b,c\n1,2,3\n",
        {},
        r"line 2 has 3 cells where the first line has 1",
    ),
    "ragged": ("a,b\n1,2\n3\n", {}, r"line 3 has 1 cells where the first line has 2"),
    "unknown label": ("length,b\n1,2\n", {"label": "Lenght"}, r"no column 'Lenght': did you mean 'length'\?"),
    "unknown column": ("a,b\n1,2\n", {"columns": "a,zzz"}, r"no column 'zzz': there are 'a', 'b'"),
    "an array of no archive": ("a,b\n1,2\n", {"array": "X"}, r"only \.npz files have arrays to pick from"),
    "ambiguous": ("a,a,b\n1,2,3\n", {"columns": "a"}, r"2 columns are called 'a'"),
    "header only": ("a,b\n", {}, r"has no rows"),
    "empty": ("", {}, r"is empty"),
    "blank": ("\n\n", {}, r"is empty"),
    "no numbers": ("a,b\nx,y\n", {}, r"has no numeric column \(left out the text columns 'a', 'b'\)"),
    "open quote": ('a,b\n1,"2\n3,4\n', {}, r"line 3 cannot be read .*: look for a stray quote"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_named_in_one_line(write: Write, what: str) -> None:
    text, options, message = WRONG[what]
    with pytest.raises(ValueError, match=message) as caught:
        read_table(write(text), **options)
    assert "\n" not in str(caught.value)


def test_other_encodings(write: Write) -> None:
    with pytest.raises(ValueError, match="save it as UTF-8"):
        read_table(write("Größe,b\n1,2\n", encoding="latin-1"))


def test_a_missing_file_a_directory_an_unknown_extension(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file .*gone\.csv"):
        read_table(tmp_path / "gone.csv")
    with pytest.raises(IsADirectoryError, match="is a directory: name a file in it"):
        read_table(tmp_path)
    (tmp_path / "data.xlsx").touch()
    with pytest.raises(ValueError, match=r"cannot read .*xlsx: use one of \.csv, \.tsv"):
        read_table(tmp_path / "data.xlsx")


# ---------------------------------------------------------------------------------------------- large tables


def test_mistakes_are_found_beyond_the_first_block(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_CELLS_AT_ONCE", 6)
    text = "a,b\n" + "".join(f"{i},{i / 2}\n" for i in range(20))
    assert_array_equal(read_table(write(text)).X, [[i, i / 2] for i in range(20)])
    with pytest.raises(ValueError, match=r"column 'b', row 20 \(line 22\): 'x' is not"):
        read_table(write(text + "20,x\n21,y\n"))
    with pytest.raises(ValueError, match=r"line 22 has 3 cells"):
        read_table(write(text + "20,1,2\n"))


def test_memory_stays_near_that_of_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_CELLS_AT_ONCE", 2**14)
    X = np.random.default_rng(0).integers(0, 256, (6000, 200))
    with open(tmp_path / "large.csv", "w", newline="") as stream:
        csv.writer(stream).writerows(X.tolist())
    tracemalloc.start()
    table = read_table(tmp_path / "large.csv")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert_array_equal(table.X, X)
    # Neither the text as a whole, which is eight times as large, nor a second copy of the numbers.
    assert peak < 1.9 * table.X.nbytes


# --------------------------------------------------------------------------------------------- NumPy, Parquet


def test_npy(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.arange(6, dtype=np.int16).reshape(2, 3))
    table = read_table(tmp_path / "X.npy", columns="x3,x1", label="x2")
    assert_array_equal(table.X, [[2, 0], [5, 3]])
    assert table.X.dtype == np.float64
    assert_array_equal(table.labels, [1, 4])


def test_npz(tmp_path: Path) -> None:
    X, y, who = np.eye(3)[:, :2], np.array(["p", "q", "r"]), np.array([7, 8, 9])
    np.savez(tmp_path / "a.npz", X=X, y=y, who=who, other=np.zeros((5, 5)))
    table = read_table(tmp_path / "a.npz", id="who")
    assert_array_equal(table.X, X)
    assert_array_equal(table.labels, y)
    assert_array_equal(table.ids, who)
    assert_array_equal(read_table(tmp_path / "a.npz", label="who").labels, who)
    assert read_table(tmp_path / "a.npz", id="y").labels is None
    np.savez(tmp_path / "b.npz", data=X, scale=1.0)
    assert_array_equal(read_table(tmp_path / "b.npz").X, X)
    np.savez(tmp_path / "c.npz", train=X, test=X)
    with pytest.raises(ValueError, match=r"holds the tables 'train', 'test': pick one, as --array train"):
        read_table(tmp_path / "c.npz")
    with pytest.raises(ValueError, match=r"no array 'tset': did you mean 'test'\?"):
        read_table(tmp_path / "c.npz", array="tset")
    np.savez(tmp_path / "d.npz", images=np.zeros((3, 2, 2)))
    with pytest.raises(
        ValueError, match=r"holds 'images' \(3×2×2\): save it as rows, images\.reshape\(3, -1\)"
    ):
        read_table(tmp_path / "d.npz")


def test_arrays_that_are_not_used_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    names = np.array([None, "b", "c"])
    np.savez(
        path, X=np.eye(3), y=np.arange(3), who=np.arange(3), test=np.zeros((5, 3)), scale=2.0, names=names
    )
    assert read_table(path).notes == (
        "left out the arrays 'who' (3), 'test' (5×3), 'scale' (one value), 'names' (Python objects)",
    )
    table = read_table(path, array="test")
    assert table.X.shape == (5, 3)
    assert table.labels is None
    assert "'X' (3×3)" in table.notes[0]
    with pytest.raises(ValueError, match=r"the array 'who' of .*a\.npz has the shape \(3,\): it needs two"):
        read_table(path, array="who")
    np.savez(path, data=np.eye(3))
    assert read_table(path).notes == ("read the array 'data'",)
    with pytest.raises(ValueError, match=r"leave out --header"):
        read_table(path, header=True)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3), r"shape \(3,\): it needs two dimensions"),
        (np.array([["a"]]), r"it needs real numbers"),
        (np.zeros((2, 2), dtype=complex), r"holds complex128: it needs real numbers"),
        (np.array([[None]]), r"holds Python objects"),
        (np.zeros((0, 3)), r"has no rows"),
    ],
)
def test_arrays_that_are_no_tables(tmp_path: Path, array: np.ndarray, message: str) -> None:
    np.save(tmp_path / "X.npy", array)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "X.npy")


@pytest.mark.parametrize("name", ["t.npy", "t.npz", "t.parquet"])
@pytest.mark.parametrize("content", ["", "a,b\n1,2\n"])
def test_files_that_are_not_what_their_extension_says(write: Write, name: str, content: str) -> None:
    with pytest.raises(ValueError, match=r"is not a (file that NumPy has written|Parquet file)"):
        read_table(write(content, name))


def test_parquet(tmp_path: Path) -> None:
    columns = {
        "n": ["u", "v", None],
        "sepal.length": [1.5, None, 2.5],
        "b": [1, 2, 9],
        "k": [4, None, 5],
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", label="k")
    assert_array_equal(table.X, [[1.5, 1], [np.nan, 2], [2.5, 9]])
    assert table.names == ("sepal.length", "b")
    assert table.notes == ("left out the text column 'n'",)
    assert_array_equal(table.labels, [4, np.nan, 5])
    assert_array_equal(read_table(tmp_path / "t.parquet", label="n").labels, ["u", "v", ""])
    assert_array_equal(read_table(tmp_path / "t.parquet", columns="b,k").X[0], [1, 4])
    with pytest.raises(ValueError, match="column 'n' holds string and not numbers"):
        read_table(tmp_path / "t.parquet", columns="n")


def test_parquet_of_whole_numbers_that_are_too_long(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"n": [2**53 + 1, 3], "b": [1, 2]}), tmp_path / "t.parquet")
    assert_array_equal(read_table(tmp_path / "t.parquet").X, [[2.0**53, 1], [3, 2]])


def test_a_frame_that_pandas_wrote(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [0.5, 0.25], "b": [1, 2]}, index=[17, 3])
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv")
    for name in ("t.parquet", "t.csv"):
        table = read_table(tmp_path / name)
        assert_array_equal(table.X, [[0.5, 1], [0.25, 2]])


def test_without_pyarrow_the_message_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.parquet").touch()
    original = builtins.__import__

    def without(name: str, *arguments: Any, **keywords: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ModuleNotFoundError(name)
        return original(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    for action in (read_table, check_map_path):
        with pytest.raises(ImportError, match=r'pip install "nearfield\[data\]"'):
            action(tmp_path / "t.parquet")


# --------------------------------------------------------------------------------------------------- maps

finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=30)
@given(rows=st.lists(st.lists(finite, min_size=3, max_size=3), min_size=1, max_size=5))
@pytest.mark.parametrize("extension", [".csv", ".tsv", ".parquet"])
def test_maps_come_back_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, extension: str, rows: list[list[float]]
) -> None:
    path = tmp_path_factory.mktemp("map") / f"map{extension}"
    write_map(path, np.array(rows))
    Y, ids, labels = read_map(path)
    assert_array_equal(Y, rows)
    assert_array_equal(ids, np.arange(len(rows)))
    assert labels is None


@pytest.mark.parametrize("extension", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize(
    ("ids", "labels"),
    [
        (["a,b", 'c"d'], ["x\ty", "line\nbreak"]),
        ([5, 3], [1, 2]),
        (["007", "8"], [0.5, np.nan]),
        (None, [True, False]),
    ],
)
def test_ids_and_labels_come_back(tmp_path: Path, extension: str, ids: Any, labels: Any) -> None:
    path = tmp_path / f"map{extension}"
    write_map(path, np.eye(2), ids=ids, labels=labels)
    _, read_ids, read_labels = read_map(path)
    assert_array_equal(read_ids, [0, 1] if ids is None else ids)
    assert_array_equal(read_labels, labels)


@pytest.mark.parametrize("width", [1, 2, 11])
def test_the_columns_of_a_map(tmp_path: Path, width: int) -> None:
    Y = np.random.default_rng(0).normal(size=(4, width))
    write_map(tmp_path / "map.csv", Y, labels=list("abcd"))
    header = (tmp_path / "map.csv").read_text().splitlines()[0]
    assert header == ",".join(["id", *(f"y{k + 1}" for k in range(width)), "label"])
    assert_array_equal(read_map(tmp_path / "map.csv")[0], Y)


def test_coordinates_alone(tmp_path: Path) -> None:
    np.save(tmp_path / "Y.npy", np.eye(3)[:, :2])
    Y, ids, labels = read_map(tmp_path / "Y.npy")
    assert_array_equal(Y, np.eye(3)[:, :2])
    assert ids is None
    assert labels is None


def test_a_table_that_is_no_map(write: Write) -> None:
    with pytest.raises(ValueError, match="a map has the columns id, y1, y2 …, but this file has 'a', 'b'"):
        read_map(write("a,b\n1,2\n"))


@pytest.mark.parametrize(
    ("Y", "more", "message"),
    [
        (np.zeros(3), {}, r"Y has the shape \(3,\)"),
        (np.zeros((3, 2)), {"labels": ["a"]}, r"3 rows, but label has the shape \(1,\)"),
        (np.zeros((3, 2)), {"ids": [[1], [2], [3]]}, r"3 rows, but id has the shape \(3, 1\)"),
    ],
)
def test_maps_that_do_not_fit_leave_no_file(tmp_path: Path, Y: np.ndarray, more: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write_map(tmp_path / "map.csv", Y, **more)
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------------------ data sets


def test_data_sets() -> None:
    numbers, flowers = digits(), iris()
    assert numbers.X.shape == (1797, 64)
    assert len(numbers.names) == 64
    assert_array_equal(np.unique(numbers.labels), np.arange(10))
    assert flowers.X.shape == (150, 4)
    assert_array_equal(np.unique(flowers.labels), ["setosa", "versicolor", "virginica"])
