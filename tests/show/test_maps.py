"""Pictures of maps: what is drawn, in which colours, and that nothing overlaps or is cut off."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from nearfield import show
from nearfield.show.names import spread
from nearfield.show.palette import COLOURS, GREY, OKABE_ITO, Classes, classes_or_numbers
from nearfield.show.piles import pile


@pytest.fixture(autouse=True)
def _no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def blobs(count: int, classes: int, dimensions: int = 2) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    labels = np.arange(count) % classes
    return random.normal(size=(classes, dimensions))[labels] * 8 + random.normal(
        size=(count, dimensions)
    ), labels


def entries(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def drawn(ax: Any) -> Any:
    (points,) = ax.collections
    return points


# ------------------------------------------------------------------------------------------------ palette


def test_the_first_colours_are_those_of_okabe_and_ito_and_all_differ() -> None:
    assert COLOURS[:8] == OKABE_ITO
    rgb = np.array(
        [[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in (*COLOURS, GREY, "#FFFFFF")]
    )
    distances = np.linalg.norm(rgb[:, None] - rgb[None], axis=2) + 999 * np.eye(len(rgb))
    assert distances.min() > 40


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["b", "a", "b"], ("a", "b")),
        ([True, False, True], ("False", "True")),
        ([3, -1, 10], ("-1", "3", "10")),
        ([3.0, 1.0, 3.0], ("1", "3")),
        (["c10", "c2", "c10"], ("c2", "c10")),
        (["x", "", None], ("x", "no label")),
        ([1.0, np.nan, 2.0], ("1", "2", "no label")),
        (np.array([1, None, 2], dtype=object), ("1", "2", "no label")),
        (np.array(["a", float("nan"), "b"], dtype=object), ("a", "b", "no label")),
    ],
)
def test_what_names_classes(labels: Any, names: tuple[str, ...]) -> None:
    classes = classes_or_numbers(labels)
    assert isinstance(classes, Classes)
    assert classes.names == names
    assert [classes.names[code] for code in classes.codes] == [
        "no label" if label in ("", None) or label != label else str(label).removesuffix(".0")
        for label in labels
    ]
    assert (classes.colours[-1] == GREY) == (names[-1] == "no label")


@pytest.mark.parametrize("labels", [[0.5, 1.0], np.arange(21), [0.5, np.nan, np.inf]])
def test_what_is_a_number(labels: Any) -> None:
    numbers = classes_or_numbers(labels)
    assert isinstance(numbers, np.ndarray)
    known = np.isfinite(labels)
    assert_array_equal(numbers[known], np.asarray(labels)[known])
    assert np.isnan(numbers[~known]).all()


def test_of_too_many_classes_the_largest_keep_their_colours() -> None:
    labels = [f"c{k}" for k in range(40) for _ in range(k + 1)]
    classes = classes_or_numbers(labels)
    assert isinstance(classes, Classes)
    assert classes.names == (*(f"c{k}" for k in range(21, 40)), "other")
    assert classes.colours == (*COLOURS[:19], GREY)
    assert np.sum(classes.codes == 19) == sum(range(1, 22))


# -------------------------------------------------------------------------------------------------- maps


def test_points_and_colours_belong_together() -> None:
    Y, labels = blobs(60, 3)
    points = drawn(show.map(Y, labels))
    where = {tuple(y): label for y, label in zip(Y, labels, strict=True)}
    assert len(points.get_offsets()) == 60
    for offset, colour in zip(points.get_offsets(), points.get_facecolors(), strict=True):
        assert to_hex(colour).upper() == OKABE_ITO[where[tuple(offset)]]


@pytest.mark.parametrize("source", ["array", "embedding_", "Y", "frame"])
def test_what_has_coordinates(source: str) -> None:
    import pandas as pd

    Y = np.random.default_rng(0).normal(size=(9, 2))
    sources = {"array": Y, "frame": pd.DataFrame(Y)}
    points = drawn(show.map(sources.get(source, SimpleNamespace(**{source: Y}))))
    assert_array_equal(np.sort(points.get_offsets(), axis=0), np.sort(Y, axis=0))


@pytest.mark.parametrize("count", [1, 2, 150, 1797, 70000])
def test_more_points_are_smaller_and_rasterized(count: int) -> None:
    points = drawn(show.map(np.random.default_rng(0).normal(size=(count, 2))))
    assert points.get_rasterized()
    area = points.get_sizes()[0] * count
    assert 0.5 <= points.get_sizes()[0] <= 34
    assert area < 0.2 * (6 * 72) ** 2


def test_size_and_alpha_can_be_set() -> None:
    points = drawn(show.map(np.eye(3)[:, :2], size=7, alpha=0.25))
    assert points.get_sizes()[0] == 7
    assert points.get_alpha() == 0.25


def test_equal_scale_and_no_ticks() -> None:
    ax = show.map(blobs(100, 3)[0])
    assert ax.get_aspect() == 1
    assert list(ax.get_xticks()) == []
    assert list(ax.get_yticks()) == []


def test_legend_names_and_title_are_optional() -> None:
    Y, labels = blobs(90, 3)
    ax = show.map(Y, labels, title="Costs $5 to $6")
    assert entries(ax) == ["0", "1", "2"]
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]
    assert ax.get_title(loc="left") == r"Costs \$5 to \$6"
    ax = show.map(Y, labels, legend=False, names=False)
    assert ax.get_legend() is None
    assert len(ax.texts) == 0


def test_names_stand_at_the_medians() -> None:
    Y = np.array([[0, 0], [1, 1], [2, 9], [50, 50], [51, 52], [60, 53]], dtype=float)
    ax = show.map(Y, list("aaabbb"))
    assert_allclose([text.get_position() for text in ax.texts], [[1, 1], [51, 52]])


def test_no_names_beyond_twenty_classes() -> None:
    Y, labels = blobs(210, 21)
    ax = show.map(Y, [f"c{label}" for label in labels])
    assert len(ax.texts) == 0
    assert entries(ax)[-1] == "other"
    assert len(entries(ax)) == 20


def test_numbers_have_a_scale_and_gaps_are_grey() -> None:
    Y = np.random.default_rng(0).normal(size=(30, 2))
    values = Y[:, 0].copy()
    values[:3] = np.nan
    ax = show.map(Y, values)
    assert ax.get_legend() is None
    assert len(ax.figure.axes) == 2
    ax.figure.draw_without_rendering()
    colours = [to_hex(colour).upper() for colour in drawn(ax).get_facecolors()]
    assert len(drawn(ax).get_offsets()) == 30
    assert colours.count(GREY) == 3
    assert colours[:3] == [GREY] * 3  # drawn first, below the others
    low, high = drawn(ax).get_clim()
    assert (low, high) == (np.nanmin(values), np.nanmax(values))


def test_three_dimensions() -> None:
    Y, labels = blobs(60, 3, dimensions=3)
    ax: Any = show.map(Y, labels)
    assert ax.name == "3d"
    spans = [np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim()), np.ptp(ax.get_zlim())]
    assert_allclose(spans, spans[0])
    flat = Figure().add_subplot()
    with pytest.raises(ValueError, match="projection='3d'"):
        show.map(Y, ax=flat)
    with pytest.raises(ValueError, match="projection='3d'"):
        show.map(Y[:, :2], ax=ax)


def test_one_dimension_shows_every_point() -> None:
    Y, labels = blobs(500, 3, dimensions=1)
    offsets = np.asarray(drawn(show.map(Y, labels)).get_offsets())
    assert len(np.unique(offsets.round(9), axis=0)) == 500


@pytest.mark.parametrize("count", [1, 2, 150, 5000])
def test_piles_fit_and_stand_where_the_points_lie(count: int) -> None:
    x = np.random.default_rng(0).normal(size=count)
    Y, size = pile(x, None, width=400, height=150)
    span = np.ptp(x) or 1.0
    columns = len(np.unique(Y[:, 0].round(9)))
    step = 2 * Y[:, 1].min()
    assert np.abs(Y[:, 0] - x).max() <= step / 2 + 1e-9
    assert columns * np.sqrt(size) <= 400
    assert Y[:, 1].max() / step * np.sqrt(size) <= 150
    assert Y[:, 0].min() >= x.min() - 1e-9
    assert np.ptp(Y[:, 0]) <= span + 1e-9


def test_piles_are_ordered_by_class() -> None:
    Y, _ = pile(np.zeros(4), np.array([2, 0, 1, 0]), width=100, height=100)
    assert np.argsort(Y[:, 1]).tolist() == [1, 3, 2, 0]


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (np.zeros((3, 4)), r"not the shape \(3, 4\): try Y\[:, :2\]"),
        (np.zeros(3), r"not the shape \(3,\)"),
        (np.zeros((0, 2)), r"not the shape \(0, 2\)"),
        (np.array([[0, np.nan]]), "not finite"),
    ],
)
def test_what_cannot_be_drawn(Y: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        show.map(Y)


def test_labels_must_fit() -> None:
    with pytest.raises(ValueError, match="3 points but there are 2 labels"):
        show.map(np.zeros((3, 2)), ["a", "b"])


# ------------------------------------------------------------------------------------- overlaps and clipping


def test_names_never_overlap() -> None:
    random = np.random.default_rng(0)
    labels = np.arange(400) % 20
    ax = show.map(random.normal(size=(400, 2)), [f"class {label}" for label in labels])  # all on one heap
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    area = ax.get_window_extent()
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert area.contains(box.x0, box.y0)
        assert area.contains(box.x1, box.y1)


def test_boxes_that_do_not_overlap_stay() -> None:
    centres = np.array([[10.0, 10.0], [30.0, 10.0]])
    area = np.array([[0.0, 0.0], [100.0, 100.0]])
    assert_array_equal(spread(centres, np.full((2, 2), 4.0), area), centres)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_touches_the_edge_of_the_picture(tmp_path: Path, dimensions: int, dark: bool) -> None:
    from matplotlib.image import imread

    Y, labels = blobs(400, 40, dimensions)
    names = [f"quite a long name of a class {label}" for label in labels]
    show.save(show.map(Y, names, title="Title", dark=dark), tmp_path / "map.png", dpi=60)
    image = imread(tmp_path / "map.png")[:, :, :3]
    ground = image[0, 0]
    assert (ground.mean() < 0.2) == dark
    for edge in (image[0], image[-1], image[:, 0], image[:, -1]):
        assert_allclose(edge, np.broadcast_to(ground, edge.shape), atol=0.02)
    assert np.ptp(image) > 0.5


# -------------------------------------------------------------------------------------------------- saving


@pytest.mark.parametrize(("name", "head"), [("m.png", b"\x89PNG"), ("m.pdf", b"%PDF"), ("m.svg", b"<?xml")])
def test_save(tmp_path: Path, name: str, head: bytes) -> None:
    ax = show.map(*blobs(50, 2))
    show.save(ax, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(head)
    show.save(ax.figure, tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_failed_save_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ax = show.map(np.eye(2))

    def fail(path: Path, **_: Any) -> None:
        Path(path).write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(ax.figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        show.save(ax, tmp_path / "map.png")
    assert list(tmp_path.iterdir()) == []


def test_matplotlib_is_imported_late_and_pyplot_never() -> None:
    program = (
        "import sys, numpy as np; from nearfield import show; assert 'matplotlib' not in sys.modules\n"
        "show.map(np.eye(3)[:, :2], list('abc')); print('matplotlib.pyplot' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
