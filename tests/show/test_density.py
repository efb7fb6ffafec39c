"""Very many points: all of them count, and what is drawn is an image of their density."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from nearfield import show
from nearfield.show.density import blended, tone
from nearfield.show.palette import GREY, OKABE_ITO, classes_or_numbers
from nearfield.show.points import MANY
from nearfield.show.theme import DARK, LIGHT


def plenty(count, dimensions=2):
    return np.random.default_rng(0).normal(size=(count, dimensions))


def test_above_a_hundred_thousand_points_their_density_is_drawn():
    few, many = plenty(MANY), plenty(MANY + 1)
    assert (len(show.map(few).collections), len(show.map(few).images)) == (1, 0)
    assert (len(show.map(many).collections), len(show.map(many).images)) == (0, 1)
    # Who asks for points gets points.
    assert len(show.map(many, size=1).collections) == 1
    assert len(show.map(many, density=False).collections) == 1
    assert len(show.map(few[:50], density=True).images) == 1


def test_an_image_lies_where_the_points_are_and_has_their_colours():
    Y = np.array([[0.0, 0.0]] * 50 + [[10.0, 4.0]] * 50)
    ax = show.map(Y, ["left"] * 50 + ["right"] * 50, density=True, names=False)
    (image,) = ax.images
    pixels, (left, right, bottom, top) = image.get_array(), image.get_extent()
    assert left < 0 < 10 < right
    assert bottom < 0 < 4 < top
    for point, colour in (((0, 0), OKABE_ITO[0]), ((10, 4), OKABE_ITO[1])):
        column = int((point[0] - left) / (right - left) * pixels.shape[1])
        row = int((point[1] - bottom) / (top - bottom) * pixels.shape[0])
        around = pixels[row - 1 : row + 2, column - 1 : column + 2]  # to the rounding of places
        assert np.abs(around - to_rgb(colour)).max(axis=2).min() < 0.02
    np.testing.assert_allclose(pixels[0, 0], to_rgb(LIGHT.ground))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["left", "right"]


def add_up(place):
    return lambda weights: np.bincount(place, weights)


def test_colours_of_classes_blend_and_numbers_are_means():
    place = np.array([0, 0, 1, 1, 2])
    total = np.array([2.0, 2.0, 1.0])
    shades, _ = blended(add_up(place), total, classes_or_numbers(list("aabab")), LIGHT)
    a, b = (np.array(to_rgb(colour)) for colour in OKABE_ITO[:2])
    np.testing.assert_allclose(shades, [a, np.sqrt((a**2 + b**2) / 2), b])
    numbers = np.array([1.0, 3.0, 5.0, np.nan, np.nan])
    shades, scale = blended(add_up(place), total, numbers, DARK)
    assert scale.get_clim() == (2.0, 5.0)
    grey = np.array(to_rgb(GREY))
    low, high = scale.to_rgba([2.0, 5.0])[:, :3]
    np.testing.assert_allclose(shades, [low, (high + grey) / 2, grey])


def test_means_keep_the_digits_of_large_numbers():
    Y = plenty(5000)
    (bar,) = show.map(Y, 1.7e9 + Y[:, 0], density=True).figure.axes[1:]
    low, high = bar.get_ylim()
    assert -5 < low - 1.7e9 < -2
    assert 2 < high - 1.7e9 < 5


def test_the_tone_rises_from_nothing_to_all():
    strength = tone(np.array([0.0, 1.0, 2.0, 4.0, 1000.0, 1e6]), 1.0, 0.3)
    assert strength[0] == 0
    assert strength[1] == 0.3
    assert strength[-1] == 1
    assert np.all(np.diff(strength) > 0)


def test_three_dimensions_have_one_point_for_each_cube_with_points():
    Y = np.array([[0.0, 0.0, 0.0]] * 3 + [[0.0, 0.0, 0.01], [9.0, 9.0, 9.0]])
    ax = show.map(Y, density=True)
    (points,) = ax.collections
    x, y, z = points._offsets3d
    np.testing.assert_allclose(np.sort(z), [0.0025, 9.0])
    assert len(x) == len(y) == 2


@pytest.mark.parametrize("values", [None, "classes", "numbers"])
def test_piles_of_very_many_points_are_as_high_as_their_number(values):
    x = np.concatenate([np.zeros(9000), np.ones(3000)])[:, None]
    labels = {"classes": ["a"] * 6000 + ["b"] * 6000, "numbers": np.linspace(0, 1, 12000)}.get(values)
    ax = show.map(x, labels, names=False)
    (image,) = ax.images
    filled = ~np.all(np.isclose(image.get_array(), to_rgb(LIGHT.ground)), axis=2)
    heights = filled.sum(axis=0)
    assert heights[0] == len(filled)
    assert heights[-1] == pytest.approx(len(filled) / 3, abs=1)
    assert not heights[1:-1].any()
    if values == "classes":  # a below, two thirds of the first pile
        column = image.get_array()[:, 0]
        assert np.isclose(column, to_rgb(OKABE_ITO[0])).all(axis=1).mean() == pytest.approx(2 / 3, abs=0.01)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("Y", [np.zeros((5, 3)), np.ones((1, 3)), np.eye(3) * 1e-300, np.eye(3) * 1e200])
def test_the_density_of_next_to_nothing(Y, dimensions):
    for labels in (None, np.arange(len(Y)) + 0.5, list("abcde")[: len(Y)]):
        ax = show.map(Y[:, :dimensions], labels, density=True)
        assert len(ax.images) + len(ax.collections) == 1
        ax.figure.draw_without_rendering()


def test_a_million_points_are_drawn_as_a_picture():
    """What takes seconds is drawn as one image: no mark for each point."""
    Y, labels = plenty(1_000_000), np.arange(1_000_000) % 10
    ax = show.map(Y, labels.astype(str))
    ax.figure.canvas.draw()
    assert len(ax.images) == 1
    assert sum(len(each.get_offsets()) for each in ax.collections) <= 10  # the legend's at the most
