"""Pictures on a map: where their points lie, none on another, framed in the colour of the class."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from nearfield import show
from nearfield.show.palette import OKABE_ITO
from nearfield.show.thumbnails import thin

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("count", [1, 150, 20_000])
def test_thinned_points_are_apart_and_all_others_near_one(count):
    Y = RANDOM.normal(size=(count, 2))
    chosen = thin(Y, 0.2)
    apart = np.abs(Y[chosen][:, None] - Y[chosen]).max(axis=2) + 9 * np.eye(len(chosen))
    assert apart.min() >= 0.2
    nearest = np.array([np.abs(Y[chosen] - y).max(axis=1).min() for y in Y])
    assert nearest.max() < 0.2 + 0.05  # no room left, to the cells of the grid


def test_pictures_lie_on_their_points_and_do_not_overlap():
    Y = RANDOM.normal(size=(500, 2))
    labels = np.arange(500) % 3
    pictures = np.arange(500)[:, None, None] * np.ones((1, 4, 4))
    ax = show.images(Y, pictures, labels)
    frames = ax.collections[-1]
    boxes = np.array([image.get_extent() for image in ax.images])
    assert 20 < len(boxes) < 500
    numbers = [int(image.get_array()[0, 0]) for image in ax.images]
    np.testing.assert_allclose((boxes[:, 0] + boxes[:, 1]) / 2, Y[numbers, 0])
    np.testing.assert_allclose((boxes[:, 2] + boxes[:, 3]) / 2, Y[numbers, 1])
    for i, (left, right, bottom, top) in enumerate(boxes):
        for other in boxes[:i]:
            assert right <= other[0] or other[1] <= left or top <= other[2] or other[3] <= bottom
    colours = [to_hex(colour).upper() for colour in frames.get_edgecolors()]
    assert colours == [OKABE_ITO[labels[k]] for k in numbers]
    # All of them within the axes.
    (low, high), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert low <= boxes[:, 0].min() < boxes[:, 1].max() <= high
    assert bottom <= boxes[:, 2].min() < boxes[:, 3].max() <= top


def test_shapes_and_colours():
    Y = np.array([[0.0, 0.0], [5.0, 0.0], [5.0, 5.0]])
    pictures = [np.zeros((2, 4)), np.zeros((4, 4, 3)), np.zeros((4, 2, 4), dtype=np.uint8)]
    ax = show.images(Y, pictures, [0.5, 1.5, np.nan], size=20, dark=True, title="Shapes")
    sides = [
        (right - left) / (top - bottom) for left, right, bottom, top in (i.get_extent() for i in ax.images)
    ]
    np.testing.assert_allclose(sides, [2, 1, 0.5])
    assert ax.get_title(loc="left") == "Shapes"


def test_larger_pictures_are_fewer():
    Y = RANDOM.normal(size=(500, 2))
    counts = [len(show.images(Y, np.zeros((500, 3, 3)), size=size).images) for size in (10, 20, 40)]
    assert counts[0] > counts[1] > counts[2] > 0


def test_only_pictures_that_are_drawn_are_read():
    class Lazy:
        def __init__(self):
            self.read = set()

        def __len__(self):
            return 2000

        def __getitem__(self, k):
            self.read.add(int(k))
            return np.zeros((3, 3))

    lazy = Lazy()
    ax = show.images(RANDOM.normal(size=(2000, 2)), lazy)
    assert len(lazy.read | {0}) <= len(ax.images) + 1 < 1000


def test_what_is_no_picture():
    Y = np.zeros((5, 2))
    with pytest.raises(ValueError, match=r"not the shape \(64,\): try images.reshape\(-1, 8, 8\)"):
        show.images(Y, np.zeros((5, 64)))
    with pytest.raises(ValueError, match=r"not the shape \(2, 2, 7\)"):
        show.images(Y, np.zeros((5, 2, 2, 7)))
    with pytest.raises(ValueError, match="5 points but there are 4 images"):
        show.images(Y, np.zeros((4, 2, 2)))
    with pytest.raises(ValueError, match="two dimensions, not 3"):
        show.images(np.zeros((5, 3)), np.zeros((5, 2, 2)))
