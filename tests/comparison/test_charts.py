"""Axes, labels and lines of the page's charts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nearfield.comparison.charts import Axis, axis, beside
from nearfield.comparison.style import LINES, dash


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8))
def test_an_axis_holds_its_values_and_has_some_round_ticks(values):
    found = axis(values, 0.0, 100.0, room=0.1)
    places = found(np.array(values))
    assert np.all((places >= -1e-9) & (places <= 100 + 1e-9))
    assert 1 <= len(found.ticks) <= 8
    assert all(found.low - 1e-9 <= tick <= found.high + 1e-9 for tick in found.ticks)
    assert Axis(0, 1, 5, 10)(0.5) == 7.5


def test_names_beside_dots_do_not_cover_each_other():
    places = np.array([[300.0, 200.0], [310.0, 190.0], [320.0, 210.0], [700.0, 60.0]])
    names = ["one", "two", "three", "four"]
    at = beside(places, names)
    halves = np.array([[6.0 * len(name), 12.0] for name in names])
    for i in range(4):
        for j in range(i):
            apart = np.abs(at[i] - at[j])
            assert np.any(apart >= (halves[i] + halves[j]) - 1e-9)


def test_lines_of_two_dozen_methods_differ():
    assert len({(k % len(LINES), dash(k)) for k in range(24)}) == 24
