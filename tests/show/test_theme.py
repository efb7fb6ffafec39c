"""What all pictures share: nothing is cut off or on top of something else, in light and dark."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import nearfield as nf
from nearfield.show.theme import DARK, LIGHT, theme

pytestmark = pytest.mark.slow

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(10, 6))[np.arange(200) % 10] * 4 + RANDOM.normal(size=(200, 6))
Y = X[:, :2]
NAMES = np.array([f"quite a long name of a class, number {k}" for k in range(40)])
TITLE = "A title that goes on and on, much longer than any picture of this size is wide, and then some more"
JUDGED = nf.quality(X, Y)
RUN = nf.Run(X, random_state=0)
RUN.step(30)

KINDS = {
    "two classes": lambda **how: nf.show.map(Y, NAMES[np.arange(200) % 2], **how),
    "ten classes": lambda **how: nf.show.map(Y, NAMES[np.arange(200) % 10], **how),
    "forty classes": lambda **how: nf.show.map(Y, NAMES[np.arange(200) % 40], **how),
    "numbers": lambda **how: nf.show.map(Y, 1e6 * X[:, 2], **how),
    "density": lambda **how: nf.show.map(Y, NAMES[np.arange(200) % 10], density=True, **how),
    "one dimension": lambda **how: nf.show.map(Y[:, :1], NAMES[np.arange(200) % 10], **how),
    "images": lambda **how: nf.show.images(Y, X.reshape(-1, 2, 3), NAMES[np.arange(200) % 10], **how),
    "quality": lambda **how: nf.show.quality(dict.fromkeys(NAMES[:16], JUDGED), **how),
    "shepard": lambda **how: nf.show.shepard(X, Y, **how),
    "stress": lambda **how: nf.show.stress(JUDGED, Y, **how),
    "history": lambda **how: nf.show.history(RUN, **how),
}


def first(drawn: Any) -> Any:
    return drawn[0] if isinstance(drawn, list) else drawn


def outside(figure: Any) -> float:
    """By how many dots anything stands out of the figure."""
    figure.draw_without_rendering()
    box, area = figure.get_tightbbox().transformed(figure.dpi_scale_trans), figure.bbox
    return max(area.x0 - box.x0, area.y0 - box.y0, box.x1 - area.x1, box.y1 - area.y1)


def assert_ground(ax: Any, dark: bool) -> None:
    look = theme(dark)
    assert look is (DARK if dark else LIGHT)
    assert to_hex(ax.get_facecolor()).upper() == look.ground
    assert to_hex(ax.figure.get_facecolor()).upper() == look.ground


# Whether it is dark changes no layout: half of the ways to draw are drawn so.
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_cut_off_in_a_figure_of_its_own(kind: str) -> None:
    ax = first(KINDS[kind](title=TITLE))
    assert outside(ax.figure) < 2
    assert ax.get_title(loc="left").startswith("A title that")
    assert_ground(ax, dark=False)


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_cut_off_on_axes_that_were_given(kind: str, layout: Any) -> None:
    figure = Figure(figsize=(5.6, 4.2) if layout is None else (4.5, 3.2), layout=layout)
    ax = figure.subplots()
    assert KINDS[kind](ax=ax, title=TITLE, dark=layout is None) is ax
    assert outside(figure) < 2
    assert ax.get_window_extent().width > 0.2 * figure.bbox.width
    assert_ground(ax, dark=layout is None)


@pytest.mark.parametrize("kind", ["two classes", "ten classes", "quality"])
def test_a_legend_leaves_the_axes_beside_it_alone(kind: str) -> None:
    left, right = Figure(figsize=(9, 4)).subplots(1, 2)
    KINDS[kind](ax=left)
    left.figure.draw_without_rendering()
    assert left.get_legend().get_window_extent().x1 <= right.get_window_extent().x0


def test_names_that_would_hide_a_small_map_are_left_to_the_legend() -> None:
    ax = Figure(figsize=(2.0, 1.2)).subplots()
    nf.show.map(Y, NAMES[np.arange(200) % 20], ax=ax)
    assert not any(text.get_visible() for text in ax.texts)
    assert len(ax.get_legend().get_texts()) == 20


def test_names_that_are_cut_still_differ() -> None:
    ax = Figure(figsize=(4.5, 3.2)).subplots()
    KINDS["ten classes"](ax=ax)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(set(texts)) == 10
    assert all("…" in text for text in texts)


def test_history_on_one_axes_and_of_an_estimator() -> None:
    ax = Figure().subplots()
    assert nf.show.history(RUN, ax=ax) is ax
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), RUN.history["cost"])
    assert ax.get_xlabel() == "iteration"
    fitted = nf.Embedder(max_iter=60, random_state=0).fit(X)
    np.testing.assert_array_equal(nf.show.history(fitted)[0].lines[0].get_ydata(), fitted.history_["cost"])
    with pytest.raises(ValueError, match="not both"):
        nf.show.history(RUN, ax=ax, axes=[ax, ax, ax])


@pytest.mark.parametrize("kind", KINDS)
def test_axes_in_a_part_of_a_figure(kind: str) -> None:
    figure = Figure(figsize=(9, 4), layout="constrained")
    ax = figure.subfigures(1, 2)[0].subplots()
    assert KINDS[kind](ax=ax, dark=True) is ax
    assert outside(figure) < 2
