"""New points over a map: where they are drawn, in which colours, and that the legend names them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from nearfield import show
from nearfield.show.newcomers import UNLIKE
from nearfield.show.theme import DARK, LIGHT

RANDOM = np.random.default_rng(0)
CLASSES = RANDOM.integers(3, size=80)


def of(dimensions: int) -> tuple[np.ndarray, Any]:
    """A map, and points that are new in it."""
    Y = RANDOM.normal(size=(80, dimensions))
    return Y, SimpleNamespace(Y=RANDOM.normal(size=(9, dimensions)) + 4, novelty=np.linspace(0, 1, 9))


def entries(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("dimensions", [2, 3])
def test_new_points_lie_over_the_others_where_they_are(dimensions: int) -> None:
    Y, placed = of(dimensions)
    ax: Any = show.map(Y, CLASSES, new=placed)
    old, new = ax.collections
    drawn = new.get_offsets() if dimensions == 2 else np.column_stack(new._offsets3d)
    assert_allclose(np.asarray(drawn), placed.Y)
    assert new.get_zorder() > old.get_zorder()
    assert entries(ax) == ["0", "1", "2", "new"]
    ax.figure.draw_without_rendering()
    limits = [getattr(ax, f"get_{name}lim")() for name in "xyz"[:dimensions]]
    for (low, high), places in zip(limits, placed.Y.T, strict=True):
        assert low < places.min()
        assert places.max() < high


def test_in_one_dimension_they_stand_on_the_line() -> None:
    Y, placed = of(1)
    ax: Any = show.map(Y, new=placed)
    old, new = ax.collections
    assert_allclose(new.get_offsets()[:, 0], placed.Y[:, 0])
    assert np.ptp(new.get_offsets()[:, 1]) == 0
    assert new.get_offsets()[0, 1] == old.get_offsets()[:, 1].min()


@pytest.mark.parametrize("dark", [False, True])
def test_they_have_a_colour_of_their_own_or_that_of_their_novelty(dark: bool) -> None:
    Y, placed = of(2)
    look = DARK if dark else LIGHT
    ax: Any = show.map(Y, CLASSES, new=placed, dark=dark)
    assert_allclose(ax.collections[1].get_facecolors(), [to_rgba(look.ground)])
    assert_allclose(ax.collections[1].get_edgecolors(), [to_rgba(look.ink)])
    ax = show.map(Y, CLASSES, new=placed, novelty=True, dark=dark)
    ax.figure.draw_without_rendering()
    colours = ax.collections[1].get_facecolors()
    assert_allclose(colours[0], to_rgba(look.ground), atol=1e-6)
    assert_allclose(colours[-1], to_rgba(UNLIKE), atol=1e-6)
    (bar,) = [each for each in ax.figure.axes if each is not ax]
    assert bar.get_ylabel() == "novelty"


def test_plain_coordinates_and_no_labels_will_do() -> None:
    Y, placed = of(2)
    ax: Any = show.map(Y, new=placed.Y)
    assert entries(ax) == ["new"]
    assert len(ax.collections) == 2
    assert show.map(Y, new=placed.Y, legend=False).get_legend() is None
    assert show.map(Y).get_legend() is None


def test_on_axes_that_were_given_and_beside_numbers() -> None:
    Y, placed = of(2)
    ax: Any = Figure(figsize=(6, 4)).add_subplot()
    assert show.map(Y, RANDOM.random(80), ax=ax, new=placed, novelty=True) is ax
    labels = {each.get_ylabel() for each in ax.figure.axes if each is not ax}
    assert labels == {"label", "novelty"}


@pytest.mark.parametrize(
    ("new", "novelty", "message"),
    [
        (np.zeros((3, 3)), False, "new points need 2 coordinates each, as the map has"),
        (np.zeros(3), False, "new points need 2 coordinates each"),
        (np.full((3, 2), np.nan), False, "not finite"),
        (np.zeros((3, 2)), True, r"novelty is known of what model\.place gives"),
    ],
)
def test_what_cannot_be_drawn_is_refused(new: Any, novelty: bool, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        show.map(np.zeros((4, 2)) + np.arange(4)[:, None], new=new, novelty=novelty)


def test_an_empty_batch_is_drawn_as_nothing() -> None:
    Y, _ = of(2)
    ax: Any = show.map(Y, new=np.empty((0, 2)))
    assert len(ax.collections[1].get_offsets()) == 0
