"""Rows in which a number is missing are refused, left out or filled in, and it is said which they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from nearfield.io.columns import Table
from nearfield.io.missing import without_missing

nan = np.nan
HOLES = Table(
    np.array([[1, nan, 3], [4, 5, 6], [nan, nan, 9], [7, 8, 1]]),
    ("a", "b", "c"),
    labels=np.array(["p", "q", "r", "s"]),
)


def test_each_missing_number_is_named_by_row_and_column() -> None:
    with pytest.raises(ValueError, match="missing") as caught:
        without_missing(HOLES)
    assert str(caught.value) == (
        "3 numbers are missing, in 2 of 4 rows: row 0 column 'b', row 2 column 'a', row 2 column 'b'; "
        "--missing drop leaves out such rows, --missing mean fills in the mean of the column"
    )


def test_of_many_the_first_are_named_and_the_others_counted() -> None:
    X = np.ones((1000, 400))
    X[:, 7] = nan
    with pytest.raises(ValueError, match=r"row 4 column '7' and 995 more; --missing drop") as caught:
        without_missing(Table(X, tuple(map(str, range(400)))))
    assert len(str(caught.value)) < 300


def test_rows_are_left_out_with_their_labels_and_keep_their_numbers() -> None:
    table = without_missing(HOLES, "drop")
    assert_array_equal(table.X, [[4, 5, 6], [7, 8, 1]])
    assert_array_equal(table.labels, ["q", "s"])
    assert_array_equal(table.ids, [1, 3])
    assert table.notes == ("left out 2 of 4 rows, in which numbers are missing: rows 0, 2",)
    named = Table(HOLES.X, HOLES.names, ids=np.array(["u", "v", "w", "x"]), notes=("read",))
    assert_array_equal(without_missing(named, "drop").ids, ["v", "x"])
    assert without_missing(named, "drop").notes[0] == "read"


def test_the_mean_is_filled_in() -> None:
    table = without_missing(HOLES, "mean")
    assert_array_equal(table.X, [[1, 6.5, 3], [4, 5, 6], [4, 6.5, 9], [7, 8, 1]])
    assert table.ids is None
    assert table.notes == ("filled in 3 missing numbers with the mean of the columns 'a', 'b'",)


def test_what_cannot_be_mended_is_refused() -> None:
    with pytest.raises(ValueError, match=r"all numbers of the column 'b' are missing: leave it out"):
        without_missing(Table(np.array([[1, nan], [2, nan]]), ("a", "b")), "mean")
    with pytest.raises(ValueError, match=r"missing in each of the 2 rows: choose columns without gaps"):
        without_missing(Table(np.array([[1, nan], [nan, 2]]), ("a", "b")), "drop")
    with pytest.raises(ValueError, match=r"--missing is one of refuse, drop, mean"):
        without_missing(HOLES, "median")


@given(arrays(float, (6, 3), elements=st.one_of(st.just(nan), st.floats(-1e6, 1e6))))
def test_what_is_there_is_never_changed(X: np.ndarray) -> None:
    table = Table(np.vstack([X, np.ones(3)]), ("a", "b", "c"))
    dropped, filled = without_missing(table, "drop"), without_missing(table, "mean")
    kept = np.arange(7) if dropped.ids is None else dropped.ids
    assert_array_equal(kept, np.flatnonzero(np.isfinite(table.X).all(axis=1)))
    assert_array_equal(dropped.X, table.X[kept])
    there = np.isfinite(table.X)
    assert_array_equal(filled.X[there], table.X[there])
    assert np.isfinite(filled.X).all()
