"""The names of classes: on their points, apart from each other, and as many as there are classes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist

from nearfield import show
from nearfield.show.placing import place, thickest

RANDOM = np.random.default_rng(0)
AREA = np.array([[0.0, 0.0], [100.0, 80.0]])


def ring(radius: float, count: int = 200) -> np.ndarray:
    angles = RANDOM.uniform(0, 2 * np.pi, count)
    return radius * np.column_stack([np.cos(angles), np.sin(angles)]) + RANDOM.normal(size=(count, 2)) * 0.1


def seen(ax: Any) -> dict[str, Any]:
    """The boxes of the names that are seen once the picture is drawn."""
    ax.figure.canvas.draw()
    return {text.get_text(): text.get_window_extent() for text in ax.texts if text.get_visible()}


def assert_apart(ax: Any, count: int) -> None:
    boxes, area = list(seen(ax).values()), ax.get_window_extent()
    assert len(boxes) == count
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert area.contains(box.x0, box.y0)
        assert area.contains(box.x1, box.y1)


def assert_on_points(ax: Any, Y: np.ndarray, labels: np.ndarray) -> None:
    for name, box in seen(ax).items():
        points = ax.transData.transform(Y[labels == name])
        assert box.count_contains(points) > 0, name


def test_the_name_of_a_ring_is_not_in_its_empty_middle() -> None:
    Y = np.concatenate([ring(5), ring(9)])
    labels = np.repeat(["inner", "outer"], 200)
    ax = show.map(Y, labels)
    assert_on_points(ax, Y, labels)
    radii = {text.get_text(): float(np.hypot(*text.get_position())) for text in ax.texts}
    assert radii == {"inner": pytest.approx(5, abs=0.5), "outer": pytest.approx(9, abs=0.5)}


def test_a_class_in_two_pieces_has_its_name_on_the_larger_one() -> None:
    pieces = np.repeat([[0.0, 0.0], [10.0, 0.0]], [70, 50], axis=0)
    Y = pieces + RANDOM.normal(size=(120, 2)) * 0.5
    ax = show.map(np.concatenate([Y, Y + np.array([0, 5])]), ["a"] * 120 + ["b"] * 120)
    assert [text.get_position()[0] for text in ax.texts] == pytest.approx([0, 0], abs=1)


@pytest.mark.parametrize("classes", [2, 20, 40])
def test_classes_that_are_mixed_have_all_their_names_and_none_on_another(classes: int) -> None:
    Y, codes = RANDOM.normal(size=(800, 2)), np.arange(800) % classes
    labels = np.array([f"class {code}" for code in codes])
    ax = show.map(Y, labels)
    assert_apart(ax, classes)
    assert_on_points(ax, Y, labels)


def test_forty_classes_in_a_line_have_names_beside_it_with_lines_that_lead_there() -> None:
    Y = np.repeat(np.column_stack([np.arange(40.0), np.tile([0.0, 20.0], 20)]), 5, axis=0)
    ax = show.map(Y, np.repeat([f"the class {k}" for k in range(40)], 5), legend=False)
    assert_apart(ax, 40)
    assert min(text.get_fontsize() for text in ax.texts) >= 6


def test_names_stay_apart_when_the_axes_become_smaller() -> None:
    left, right = Figure(figsize=(9, 4.5), layout="constrained").subplots(1, 2)
    Y, codes = RANDOM.normal(size=(400, 2)), np.arange(400) % 20
    labels = np.array([f"class {code}" for code in codes])
    show.map(Y, labels, ax=left, legend=False)
    show.map(Y, labels, ax=right, legend_title="a legend that takes the room of both")
    assert_apart(left, 20)


def test_a_picture_with_names_can_be_sent_to_another_process() -> None:
    ax = show.map(RANDOM.normal(size=(400, 2)), [f"class {k % 20}" for k in range(400)])
    (again,) = pickle.loads(pickle.dumps(ax.figure)).axes
    assert_apart(again, 20)


def test_no_names_beyond_forty_classes() -> None:
    Y = RANDOM.normal(size=(410, 2))
    ax = show.map(Y, [f"c{k % 41}" for k in range(410)])
    assert len(ax.texts) == 0
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "other"


@given(
    st.lists(st.tuples(st.integers(0, 2**31), st.integers(1, 30), st.floats(0, 40)), min_size=1, max_size=12),
    st.floats(1, 12),
)
def test_boxes_are_apart_within_the_area_and_on_their_group_or_led_to_it(
    drawn: list[tuple[int, int, float]], half: float
) -> None:
    groups = []
    for seed, count, size in drawn:
        random = np.random.default_rng(seed)
        spread = size * random.normal(size=(count, 2))
        groups.append(np.clip(random.uniform(*AREA) + spread, *AREA))
    halves = np.array([[half * (1 + k % 3), half] for k in range(len(groups))])
    found = place([thickest(group) for group in groups], halves, AREA)
    if found is None:
        assert len(groups) > 1
        return
    anchors, centres = found
    assert np.all(centres - halves >= AREA[0] - 1e-6)
    assert np.all(centres + halves <= AREA[1] + 1e-6)
    for i in range(len(groups)):
        for j in range(i):
            assert np.any(np.abs(centres[i] - centres[j]) >= halves[i] + halves[j] - 1e-6)
        near = cdist(anchors[[i]], np.clip(groups[i], AREA[0] + halves[i], AREA[1] - halves[i])).min()
        assert min(near, cdist(anchors[[i]], groups[i]).min()) < 1e-9
