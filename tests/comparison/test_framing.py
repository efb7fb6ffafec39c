"""A few points far outside are drawn at the border and told of; what is a map is drawn as it is."""

from __future__ import annotations

import re

import numpy as np
import pytest

import nearfield as nf
from nearfield.comparison.drawing import dots
from nearfield.comparison.framing import far_points, framed, told
from nearfield.comparison.page import page
from support.comparisons import Seen

RANDOM = np.random.default_rng(0)


def places(text: str) -> np.ndarray:
    return np.array(re.findall(r"M(\d+) (\d+)h0", text), dtype=float)


@pytest.mark.parametrize("n", [20, 150, 3000])
def test_two_points_far_outside_do_not_shrink_the_rest(n):
    Y = RANDOM.normal(size=(n, 2))
    Y[[3, n - 1]] = [[400.0, 0.0], [-3.0, 900.0]]
    shown, far = framed(Y)
    assert far.tolist() == [3, n - 1]
    rest = np.delete(Y, far, axis=0)
    np.testing.assert_array_equal(np.delete(shown, far, axis=0), rest)  # as they are
    assert np.ptp(rest, axis=0).max() > 0.85 * np.ptp(shown, axis=0).max()
    assert shown[3, 0] == shown[:, 0].max()
    assert shown[n - 1, 1] == shown[:, 1].max()
    drawn = places(dots(Y, None, 1000, "a map"))
    assert np.ptp(np.sort(drawn, axis=0)[2:-2], axis=0).max() > 500
    assert dots(Y, None, 1000, "a map").count('class="far"') == 2


@pytest.mark.parametrize(
    "Y",
    [
        RANDOM.normal(size=(2000, 2)),
        RANDOM.uniform(size=(50, 2)),
        np.repeat([[0.0, 0.0], [50.0, 0.0]], [90, 10], axis=0) + RANDOM.normal(size=(100, 2)),
        np.eye(2)[[0, 1, 0, 1]] * [1, 1000],
        np.zeros((30, 2)),
    ],
    ids=["normal", "uniform", "a small group", "four points", "one place"],
)
def test_what_is_no_outlier_is_drawn_where_it_is(Y):
    shown, far = framed(Y)
    assert not len(far)
    np.testing.assert_array_equal(shown, Y)
    assert told(far) == ""


def test_the_report_tells_of_them(monkeypatch):
    X = RANDOM.normal(size=(60, 4))
    X[[5, 40]] = [[300.0, 0, 0, 0], [0, -200.0, 0, 0]]
    found = nf.compare(X, ["pca", "mds"])
    line = "2 points lie far outside, and are drawn at the border with a ring: rows 5 and 40, counted from 0."
    assert Seen(page(found)).text.count(line) == 2
    monkeypatch.setattr("nearfield.comparison.page.MOST_DOTS", 10)
    assert Seen(page(found)).text.count(line) == 2


def test_rows_are_listed_up_to_six():
    assert told(np.array([7])).endswith("with a ring: row 7, counted from 0.")
    assert told(np.arange(9)).endswith("with a ring: rows 0, 1, 2, 3, 4, 5, …, counted from 0.")
    assert far_points(np.ones((1, 2))).tolist() == []
