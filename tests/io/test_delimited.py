"""Text tables as people write them: doubtful headers, decimal commas, words for numbers and for nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from nearfield.io.cells import Kind, read_cell, read_column
from nearfield.io.tables import read_table
from support.tables import Write


@pytest.mark.parametrize(
    "word", ["", " ", "NA", "?", "null", "NULL", "NaN", "-nan", "N/A", "None", "<NA>", "#N/A"]
)
def test_words_for_missing_are_nan_alike(write: Write, word: str) -> None:
    table = read_table(write(f"a,b,l\n1,{word},{word}\n2,5,7\n"), label="l")
    assert_array_equal(table.X, [[1, np.nan], [2, 5]])
    assert_array_equal(table.labels, [np.nan, 7])


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("1e3\n0.5\n0.7\n", "add --header"),
        ("a,2.5\n0.1,0.2\n0.3,0.5\n", "though '2.5' is a number: add --no-header"),
        ("0,1,2\n2,0,1\n1,2,0\n", "though '0' is a number: add --no-header"),
        ("NULL,oak\n7.5,elm\n3.7,ash\n", "though 'NULL' stands for nothing: add --no-header"),
        ("496,b-1,290\n304,oak,404\n", "though '496' is a number: add --no-header"),
        ("town,20,30\nUlm,10,40\nBonn,40,20\n", "though '20' is a number: add --no-header"),
        ("oak\t629\nelm\t3\nash\t42\n", "though '629' is a number: add --no-header"),
        ("town,2019,2020\nUlm,10,40\nBonn,40,20\n", None),
        ("0.5,0.2\n0.4,0.3\n0.7,0.1\n", None),
        ("a,2019\n0.4,0.3\n0.7,0.1\n", None),
    ],
)
def test_a_doubtful_header_is_said_to_be_and_can_be_told(write: Write, text: str, doubt: str | None) -> None:
    path = write(text)
    rows = text.count("\n")
    assert any("add --" in note for note in read_table(path).notes) == (doubt is not None)
    assert doubt is None or any(doubt in note for note in read_table(path).notes)
    assert len(read_table(path, header=True).X) == rows - 1
    if not text[0].isalpha():
        assert len(read_table(path, header=False).X) == rows


def test_a_name_that_was_taken_for_a_cell_is_told_of(write: Write) -> None:
    with pytest.raises(ValueError, match=r"'oops' is not a number: .*or add --header if it is a name"):
        read_table(write("oops,2\n1,2\n2,3\n"), header=False)


@pytest.mark.parametrize(
    ("text", "X"),
    [
        ("a;b\n1,5;2\n-,25;4\n", [[1.5, 2], [-0.25, 4]]),
        ("a\tb\n1,5e-2\t3,\n1.234,5\t4\n", [[0.015, 3], [1234.5, 4]]),
        ("1,5;2,5\n3,5;4,5\n", [[1.5, 2.5], [3.5, 4.5]]),
        ("1,5|2,5\n3,5|4,5\n", [[1.5, 2.5], [3.5, 4.5]]),
        ('a,b\n"1,5",2\n"2,5",3\n', [[1.5, 2], [2.5, 3]]),
        ("a;b\n1,234;0,5\n2,345;0,25\n", [[1.234, 0.5], [2.345, 0.25]]),  # b says what a means
        ("a\n1,5\n2,5\n", [[1.5], [2.5]]),
    ],
)
def test_decimal_commas_are_read_and_told_of(write: Write, text: str, X: list[list[float]]) -> None:
    table = read_table(write(text))
    assert_array_equal(table.X, X)
    assert any("read decimal commas in the column" in note for note in table.notes)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\nFalse\nFalse\nTrue\n", ("a,b",)),  # most lines are not split
        ("yes\t[0.5, 1, 2, 3]\t338\nno\t[1, 0, 2, 9]\t233\n", ("x1", "x3")),  # commas split them alike too
        ("a|b\n1,5|2\n3,5|4\n", ("a", "b")),
        ("Berlin, DE;5\nParis, FR;7\nBerlin, DE;8\n", ("x2",)),
    ],
)
def test_the_delimiter_is_what_makes_sense_of_the_cells(
    write: Write, text: str, names: tuple[str, ...]
) -> None:
    assert read_table(write(text)).names == names


def test_a_ragged_line_does_not_change_the_delimiter(write: Write) -> None:
    text = '"395";"-1,8";"3"\n"-21";"1,3"\n"7";"?";"4"\n"6";"2,5";"5"\n'
    with pytest.raises(ValueError, match=r"line 2 has 2 cells where the first line has 3"):
        read_table(write(text))


def test_what_is_wrong_between_blanks_is_named(write: Write) -> None:
    with pytest.raises(ValueError, match=r"line 4 has 1 cells where the first line has 2"):
        read_table(write('"a" "b"\n"1" "2"\n"3" "4"\n"5"\n', "t.txt"))
    assert read_table(write("my name\n5\n7\n", "t.txt")).names == ("my name",)


def test_decimal_commas_between_blanks(write: Write) -> None:
    assert_array_equal(read_table(write("1,5 2,5 \n3,5 4,5 \n", "t.txt")).X, [[1.5, 2.5], [3.5, 4.5]])


def test_true_and_false_are_one_and_nought(write: Write) -> None:
    table = read_table(write("a,b,c,d,e\n1,true,TRUE,yes,yes\n5,False,NA,No,perhaps\n3,,False,yes,no\n"))
    assert table.names == ("a", "b", "c", "d")
    assert_array_equal(table.X, [[1, 1, 1, 1], [5, 0, np.nan, 0], [3, np.nan, 0, 1]])
    assert table.notes == (
        "read true and false as 1 and 0 in the columns 'b', 'c'",
        "read yes and no as 1 and 0 in the column 'd'",
        "left out the text column 'e'",
    )
    with pytest.raises(ValueError, match=r"column 'e', row 1 \(line 3\): 'perhaps' is not a number"):
        read_table(write("a,e\n1,yes\n2,perhaps\n"), columns="e")


def test_columns_of_lists_are_named_as_such(write: Write, tmp_path: Path) -> None:
    notes = read_table(write('a,v,w\n1,"[0.1, 0.2]","(1, 2)"\n2,"[3 1e-4]",x\n')).notes
    assert notes == ("left out the column of lists 'v'", "left out the text column 'w'")
    columns = {"a": [1, 2], "v": [["x", "y"], ["z"]], "w": [[1, 2], [3]]}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    notes = read_table(tmp_path / "t.parquet").notes
    assert notes == ("left out the column of lists 'v'", "left out the column of uneven lists 'w'")


def test_columns_of_dates_are_named_as_such(write: Write) -> None:
    rows = "1,2020-01-02,31.12.1999,10:30,2020-01-02\n2,NA,1.1.2000,11:45:01,soon\n"
    table = read_table(write(f"a,when,born,at,due\n{rows}"))
    assert table.names == ("a",)
    assert table.notes == (
        "left out the columns of dates 'when', 'born', 'at'",
        "left out the text column 'due'",
    )


def test_messages_stay_short(write: Write) -> None:
    long = "n" * 5000
    table = read_table(write(f"a,{long}\n1,{long}\n2,b\n"))
    assert max(map(len, table.notes)) < 100
    for text, options in ((f"a,{long}\n1,2\n2,x\n3,4\n", {}), (f"{long},{long}\n1,2\n", {"label": long})):
        with pytest.raises(ValueError, match="n…") as caught:
            read_table(write(text), **options)
        assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("# a b\n1 2\n3 5\n", ("a", "b")),  # as np.savetxt writes names
        ("#a b\n1 2\n3 5\n", ("#a", "b")),
        ("# of the lake\n# in 2020, twice\na;b\n1;2\n3;5\n", ("a", "b")),
        ("# of the lake\n1 2\n3 5\n", ("x1", "x2")),
        ("#f00 0.5 2\n#0f0 0.7 5\n", ("x2", "x3")),  # colours
        ("#;Name;b\n5;u;2\n3;v;5\n", ("#", "b")),
    ],
)
def test_lines_that_begin_with_a_hash(write: Write, text: str, names: tuple[str, ...]) -> None:
    table = read_table(write(text, "t.txt"))
    assert table.names == names
    assert_array_equal(table.X[:, -1], [2, 5])


NUMBERS = ["3", "0.5", "1e5", "1,5", "-0,5", ",5", "1,", "1,e5", " 2,5 ", "1,234", "12,345", "1.234,5", "inf"]
OTHERS = ["", "nan", "NA", "1e400", "1,5e400", "yes", "[1]", "1_2", "x"]


@given(st.lists(st.sampled_from(NUMBERS + OTHERS), min_size=1, max_size=6))
def test_a_column_is_read_as_its_cells_are(cells: list[str]) -> None:
    numbers, kinds, point = read_column(cells)
    assert kinds.tolist() == [read_cell(cell)[0] for cell in cells]
    assert_array_equal(numbers, [read_cell(cell)[1] for cell in cells])
    if not np.isin(kinds, (Kind.HUGE, Kind.COMMA, Kind.EITHER)).any():
        assert point == any("." in cell and read_cell(cell)[0] is Kind.NUMBER for cell in cells)


@pytest.mark.parametrize(("rows", "wrong"), [(14, 7), (2, 1)])
def test_a_line_that_lacks_cells_does_not_make_a_decimal_comma_the_delimiter(
    rows: int, wrong: int, write: Write
) -> None:
    lines = [f"{i},{100 + i};{i},5;oak;{i}" for i in range(rows)]
    lines[wrong] = f"{wrong},{100 + wrong};{wrong},5;?"
    with pytest.raises(ValueError, match=f"line {wrong + 1} has 3 cells where the first line has 4"):
        read_table(write("\n".join(lines)))
