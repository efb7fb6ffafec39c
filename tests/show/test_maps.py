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
from nearfield.show.palette import COLOURS, GREY, OKABE_ITO, Classes, classes_or_numbers, lighter
from nearfield.show.piles import pile
from nearfield.show.theme import DARK, LIGHT


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


def rgb(colours: tuple[str, ...]) -> np.ndarray:
    return np.array([[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in colours])


def light(colours: tuple[str, ...]) -> np.ndarray:
    """The relative luminance of colours, as WCAG defines it."""
    share = rgb(colours) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_the_first_colours_are_those_of_okabe_and_ito_and_all_differ() -> None:
    assert COLOURS[:8] == OKABE_ITO
    known = rgb((*COLOURS, GREY, "#FFFFFF"))
    distances = np.linalg.norm(known[:, None] - known[None], axis=2) + 999 * np.eye(len(known))
    assert len(COLOURS) == 40
    assert distances.min() > 40


def test_every_colour_is_seen_on_its_ground() -> None:
    assert np.min(1.05 / (light(COLOURS) + 0.05)) > 2
    dark = tuple(lighter(colour) for colour in COLOURS)
    assert np.min((light(dark) + 0.05) / (light((DARK.ground,)) + 0.05)) > 3
    scale = tuple(to_hex(colour) for colour in LIGHT.scale()(np.linspace(0, 1, 20)))
    assert np.min(1.05 / (light(scale) + 0.05)) > 1.8


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
    labels = [f"c{k}" for k in range(60) for _ in range(k + 1)]
    classes = classes_or_numbers(labels)
    assert isinstance(classes, Classes)
    assert classes.names == (*(f"c{k}" for k in range(21, 60)), "other")
    assert classes.colours == (*COLOURS[:39], GREY)
    assert np.sum(classes.codes == 39) == sum(range(1, 22))


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


def test_a_legend_and_a_colour_bar_say_what_the_labels_are() -> None:
    import pandas as pd

    Y, labels = blobs(60, 3)
    assert show.map(Y, pd.Series(labels, name="kind")).get_legend().get_title().get_text() == "kind"
    assert show.map(Y, labels, legend_title="kind").get_legend().get_title().get_text() == "kind"
    assert show.map(Y, labels).get_legend().get_title().get_text() == ""
    for numbers, title in ((pd.Series(Y[:, 0], name="length"), "length"), (Y[:, 0], "label")):
        assert show.map(Y, numbers).figure.axes[1].get_ylabel() == title
        assert show.map(Y, numbers, legend_title="width").figure.axes[1].get_ylabel() == "width"


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
