"""Whatever is finite passes, whatever is not is refused with the rows and the column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from nearfield.checks import finite

BAD = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
FORMS = [np.asarray, sparse.csr_array, sparse.csc_matrix, sparse.coo_array]
shapes = st.tuples(st.integers(1, 12), st.integers(1, 5))
numbers = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("form", FORMS)
@given(X=shapes.flatmap(lambda shape: arrays.arrays(float, shape, elements=numbers)))
def test_finite_values_pass_even_where_their_sum_is_not(form, X):
    assert finite(form(X)) is None


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
def test_every_row_that_is_not_finite_is_counted_and_the_first_are_named(form, data):
    rows, columns = data.draw(shapes)
    X = np.ones((rows, columns))
    bad = sorted(data.draw(st.sets(st.integers(0, rows - 1), min_size=1)))
    column = data.draw(st.integers(0, columns - 1))
    value = data.draw(st.sampled_from(sorted(BAD)))
    X[bad, column] = BAD[value]
    with pytest.raises(ValueError, match="fill in or leave out such rows") as refusal:
        finite(form(X))
    message = str(refusal.value)
    assert "\n" not in message
    assert f"({len(bad)} of {rows})" in message
    assert f"{', '.join(map(str, bad[:5]))}{', …' if len(bad) > 5 else ''}, column {column}:" in message
    assert ("NaN" if value == "nan" else "infinity") in message


@pytest.mark.parametrize("form", FORMS)
def test_columns_are_called_by_their_names(form):
    X = np.ones((3, 2))
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match="row 2, column 'petal width'"):
        finite(form(X), ["sepal length", "petal width"])


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.float16])
def test_numbers_of_other_types_pass(dtype):
    assert finite(np.ones((3, 2), dtype=dtype)) is None


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_short_floats_are_looked_at_too(dtype):
    X = np.ones((3, 2), dtype=dtype)
    X[1, 0] = np.nan
    with pytest.raises(ValueError, match="row 1, column 0"):
        finite(X)


def test_nothing_at_all_is_finite():
    assert finite(np.zeros((0, 3))) is None
    assert finite(sparse.csr_array((4, 3))) is None
