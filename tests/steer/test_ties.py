"""Ties: whose points are the same, how maps are laid on one another, and the slope of what draws them."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from nearfield.steer.base import Measure
from nearfield.steer.ties import Tie, Ties, radius, rigid

RANDOM = np.random.default_rng(0)


def turned(Y, angle=1.0, shift=(3.0, -2.0), mirror=False):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return (Y * [1, -1 if mirror else 1]) @ turn + shift


@pytest.mark.parametrize("mirror", [False, True])
def test_maps_that_are_turned_shifted_and_mirrored_are_laid_on_one_another(mirror):
    Y = RANDOM.normal(size=(20, 2))
    ties = Ties([list(range(20)), list(range(5, 20)), list(range(10))])
    maps = [Y, turned(Y[5:], mirror=mirror), turned(Y[:10], -2.0, (0, 9), mirror=not mirror)]
    ties.lay(maps)
    for laid, own in zip(ties.laid(maps), (Y, Y[5:], Y[:10]), strict=True):
        np.testing.assert_allclose(laid, own, atol=1e-12)
    for k, (rows, places) in enumerate(zip(ties.rows, ties.places, strict=True)):
        np.testing.assert_allclose(maps[k][rows], places, atol=1e-12)  # nobody is drawn anywhere


def test_a_map_in_itself_keeps_its_size():
    Y = RANDOM.normal(size=(20, 2))
    turn, shift = rigid(3 * Y, Y)
    np.testing.assert_allclose(radius(3 * Y @ turn + shift), 3 * radius(Y))


def test_places_are_the_means_over_the_maps_that_have_a_point():
    ties = Ties([["a", "b", "c"], ["c", "a", "x"], ["b", "y", "a"]])
    assert ties.count == 3
    maps = [RANDOM.normal(size=(3, 2)) for _ in range(3)]
    ties.lay(maps)
    one, two, three = ties.laid(maps)
    np.testing.assert_allclose(ties.places[0][0], (one[0] + two[1] + three[2]) / 3)
    np.testing.assert_allclose(ties.places[0][2], (one[2] + two[0]) / 2)
    assert [each.tolist() for each in ties.rows] == [[0, 1, 2], [0, 1], [0, 2]]


def test_whoever_shares_nothing_with_anybody_is_named():
    with pytest.raises(ValueError, match=r"^data sets 0 and 2 share no ids, nor by way of others: [^\n]*$"):
        Ties([[1, 2], [2, 3], [4, 5]])
    assert Ties([[1, 2], [4, 5], [2, 4]]).order == [0, 2, 1]  # by way of the third


@pytest.mark.parametrize("strength", [0.01, 0.3, 10.0])
@pytest.mark.parametrize("least", [0.0, 9.0])
def test_the_slope_is_that_of_the_value(strength, least):
    ties = Ties([list(range(6)), list(range(2, 8))])
    maps = [RANDOM.normal(size=(6, 2)), RANDOM.normal(size=(6, 2))]
    ties.lay(maps, [least, least])
    tie = Tie(ties, 1, strength).measured(Measure(0.1, 5.0))
    value, rows, slopes = tie.evaluate(maps[1])
    assert value > 0
    assert rows.tolist() == [0, 1, 2, 3]
    found = np.zeros((6, 2))
    found[rows] = slopes
    numeric = approx_fprime(maps[1].ravel(), lambda z: tie.evaluate(z.reshape(6, 2))[0], 1e-7)
    np.testing.assert_allclose(found.ravel(), numeric, atol=1e-6 * np.abs(numeric).max() + 1e-9)


def test_the_pull_is_as_strong_whatever_the_size_of_the_map():
    ties = Ties([list(range(9))] * 2)
    maps = [RANDOM.normal(size=(9, 2)), RANDOM.normal(size=(9, 2))]
    found = []
    for size in (1.0, 100.0):
        ties.lay([size * Y for Y in maps])
        found.append(Tie(ties, 0, 0.3).evaluate(size * maps[0])[2])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)
