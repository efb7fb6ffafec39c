"""Axes, labels and lines of the page's charts."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nearfield.comparison.charts import BOTTOM, LEFT, RIGHT, SIZES, TOP, Axis, axis, beside, curves, trade
from nearfield.comparison.drawing import text_size
from nearfield.comparison.style import LINES, dash


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8))
def test_an_axis_holds_its_values_and_has_some_round_ticks(values):
    found = axis(values, 0.0, 100.0, room=0.1)
    places = found(np.array(values))
    assert np.all((places >= -1e-9) & (places <= 100 + 1e-9))
    assert 1 <= len(found.ticks) <= 8
    assert all(found.low - 1e-9 <= tick <= found.high + 1e-9 for tick in found.ticks)
    assert Axis(0, 1, 5, 10)(0.5) == 7.5


@given(
    st.lists(
        st.tuples(st.floats(LEFT, RIGHT), st.floats(TOP, BOTTOM), st.text("ab汉W", min_size=1, max_size=12)),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(sorted(SIZES)),
)
def test_names_beside_dots_cover_neither_each_other_nor_a_dot(dots, room):
    letters, dot = SIZES[room]
    places, names = np.array([each[:2] for each in dots]), [each[2] for each in dots]
    found = beside(places, names, letters, dot)
    assert found is not None
    share, at, _ = found
    halves = share * np.array([text_size(name, letters) for name in names]) / 2
    for i in range(len(dots)):
        for j in range(i):
            assert np.any(np.abs(at[i] - at[j]) >= halves[i] + halves[j] - 1e-5)
        assert np.all(np.any(np.abs(at[i] - places) >= halves[i] + dot - 1e-5, axis=1))


def test_a_chart_has_its_names_for_a_screen_and_for_a_phone():
    points = [(f"m{k}", f"method {k}", 0.5 + 0.004 * k, 0.6 + 0.01 * (k % 3)) for k in range(12)]
    text = trade(points, "a chart", "right", "up")
    for room in SIZES:
        part = text.partition(f'<g class="{room}"')[2].partition("</g>")[0]
        assert re.findall(r">([^<]+)</text>", part) == [name for _, name, *_ in points]


def test_marks_below_an_axis_are_few_on_a_phone():
    K = np.array([1, 100_000])
    text = curves([("m0", K, np.array([0.5, 0.1]))], "a chart")
    marks = re.findall(r'class="(below[^"]*)"[^>]*>(\d+)<', text)
    assert [number for kind, number in marks if "minor" not in kind] == [str(10**k) for k in range(6)]
    assert len(marks) == 11


def test_lines_of_two_dozen_methods_differ():
    assert len({(k % len(LINES), dash(k)) for k in range(24)}) == 24
