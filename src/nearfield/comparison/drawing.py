"""Maps as inline SVG whose colours the page sets, so that one picture serves light and dark.

A point is a dot of a round pen that goes nowhere, `M12 34h0`: ten bytes each. Colours are classes, and so is
the place in the pile: points are drawn in shuffled layers, so that no class covers the others.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from html import escape
from typing import Any
from unicodedata import east_asian_width

import numpy as np

from nearfield.comparison.framing import framed
from nearfield.show.palette import Classes
from nearfield.show.placing import fit, thickest
from nearfield.show.theme import cut, theme
from nearfield.typing import Array

SIDE = 1000  # the width of a map
MARGIN = 35  # on each side, in the same unit
FLATTEST = 0.5  # the least height, of the width
LAYERS = 6  # of dots, so that no class covers the others
MOST_DOTS = 12_000  # above which a map is drawn as pixels
LEVELS = 16  # of a colour scale
LONGEST = 12  # letters of the names of classes
LETTERS, SMALLEST = 44.0, 24.0  # their size in a map, and where there are many


# The widths of letters as shares of their size, the widest first.
_WIDTHS: tuple[tuple[float, Callable[[str], bool]], ...] = (
    (1.05, lambda letter: east_asian_width(letter) in "WF"),
    (0.95, lambda letter: letter in "mwMW@…"),
    (0.8, str.isupper),
    (0.66, lambda _: True),
)


def levels(colours: Classes | Array | None, n: int) -> tuple[Any, list[str]]:
    """The colour class of each point, and the names of these classes: c0, c1, …; numbers are binned."""
    if isinstance(colours, Classes):
        return colours.codes, [f"c{code}" for code in range(len(colours.names))]
    if colours is None:
        return np.zeros(n, dtype=int), ["c0"]
    low, high = scale_ends(colours)
    known = np.isfinite(colours)
    place = np.zeros(n, dtype=int)
    place[known] = np.clip((colours[known] - low) / (high - low) * LEVELS, 0, LEVELS - 1).astype(int)
    place[~known] = LEVELS
    return place, [f"c{code}" for code in range(LEVELS + 1)]


def scale_ends(values: Array) -> tuple[float, float]:
    """The least and the largest of some numbers, which differ."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    return (low, high) if high > low else (low, low + 1.0)


def common_height(maps: list[Array]) -> int:
    """The height that holds all of the maps when they are equally wide: data that are long make flat ones.

    >>> common_height([np.array([[0.0, 0.0], [10.0, 8.0]]), np.array([[0.0, 0.0], [10.0, 3.0]])])
    814
    """
    spans = [np.ptp(framed(Y)[0], axis=0) for Y in maps]
    ratio = max(float(y / x) if x > 0 else 1.0 for x, y in spans)
    return round(float(np.clip(ratio, FLATTEST, 1.0)) * (SIDE - 2 * MARGIN) + 2 * MARGIN)


def dots(Y: Array, colours: Classes | Array | None, height: int, text: str) -> str:
    """A map as SVG.

    Parameters
    ----------
    Y : array (points, 2)
        The map.
    colours : Classes, array or None
        What colours the points.
    height : int
        Of the picture.
    text : str
        What the picture shows, for those who do not see it.
    """
    shown, far = framed(Y)
    places = _fit(shown, height)
    codes, names = levels(colours, len(Y))
    pen = float(np.clip(1.15 * SIDE / np.sqrt(len(Y)) / 1.6, 4, 26))
    layer = np.random.default_rng(0).integers(LAYERS, size=len(Y))
    paths = []
    for each in range(LAYERS):
        for code, name in enumerate(names):
            chosen = places[(layer == each) & (codes == code)]
            if len(chosen):
                way = "".join(f"M{x} {y}h0" for x, y in chosen.tolist())
                paths.append(f'<path class="{name}" d="{way}"/>')
    rings = "".join(f'<circle class="far" cx="{x}" cy="{y}" r="{pen:.0f}"/>' for x, y in places[far].tolist())
    written = _names(places, colours, height) if isinstance(colours, Classes) else ""
    return (
        f'<svg class="map" viewBox="0 0 {SIDE} {height}" role="img" aria-label="{escape(text)}">'
        f'<g class="dots" stroke-width="{pen:.1f}">{"".join(paths)}</g>{rings}{written}</svg>'
    )


def pixels(Y: Array, labels: Any, height: int, text: str) -> str:
    """A map of many points as two small PNG files, for light and for dark."""
    light, dark = (_png(Y, labels, height, dark) for dark in (False, True))
    source = f'<source media="(prefers-color-scheme: dark)" srcset="{dark}">'
    return f'<picture>{source}<img class="map" src="{light}" alt="{escape(text)}"></picture>'


def _fit(Y: Array, height: int) -> Any:
    """The map in the middle of the picture, as large as it can be, in whole units; y grows downwards."""
    low, high = Y.min(axis=0), Y.max(axis=0)
    room = np.array([SIDE, height]) - 2.0 * MARGIN
    span = float(np.max((high - low) / room)) or 1.0
    places = (Y - (low + high) / 2) / span * [1, -1] + np.array([SIDE, height]) / 2
    return np.rint(places).astype(int)


def _names(places: Any, classes: Classes, height: int) -> str:
    """The names of the classes on their points, none on another, with lines to those that stand aside."""
    if not 1 < classes.total == classes.named:
        return ""
    shown = [cut(name, LONGEST, middle=True) for name in classes.names]
    groups = [thickest(places[classes.codes == code].astype(float)) for code in range(classes.named)]
    halves = np.array([text_size(name, LETTERS) for name in shown]) / 2
    found = fit(groups, halves, np.array([[0.0, 0.0], [SIDE, height]]), SMALLEST / LETTERS)
    if found is None:
        return ""  # they would hide the map, and the legend has them too
    share, anchors, centres = found
    lines = [
        f'<path class="lead" d="M{a:.0f} {b:.0f}L{x:.0f} {y:.0f}"/>'
        for (a, b), (x, y) in zip(anchors.tolist(), centres.tolist(), strict=True)
        if (a, b) != (x, y)
    ]
    texts = [
        f'<text x="{x:.0f}" y="{y:.0f}">{escape(name)}</text>'
        for (x, y), name in zip(centres.tolist(), shown, strict=True)
    ]
    return f'{"".join(lines)}<g class="names" font-size="{share * LETTERS:.0f}">{"".join(texts)}</g>'


def text_size(text: str, letters: float) -> tuple[float, float]:
    """The width and height that a bold text takes in most fonts, of letters of a size; rather more than less.

    >>> text_size("ab", 10.0)[0] < text_size("AB", 10.0)[0] < text_size("汉字", 10.0)[0]
    True
    """
    width = sum(next(width for width, of in _WIDTHS if of(letter)) for letter in text)
    return letters * (width + 0.2), 1.15 * letters


def _png(Y: Array, labels: Any, height: int, dark: bool) -> str:
    from matplotlib.figure import Figure
    from PIL import Image

    from nearfield.show.maps import map

    figure = Figure(figsize=(4, 4 * height / SIDE), dpi=150)
    ax = figure.add_axes((0, 0, 1, 1))
    shown, far = framed(Y)
    # Larger than in a picture of its own: it is shown small.
    map(shown, labels, ax=ax, legend=False, dark=dark, size=float(np.clip(4e4 / len(Y), 0.6, 3)))
    ax.scatter(
        shown[far, 0],
        shown[far, 1],
        s=14,
        facecolors="none",
        edgecolors=theme(dark).ink,
        linewidths=0.7,
        zorder=5,
    )
    picture = io.BytesIO()
    figure.savefig(picture, format="png", transparent=True)
    small = io.BytesIO()
    # 128 colours are all that dots in a few colours need, in a quarter of the bytes.
    Image.open(picture).quantize(128, method=Image.Quantize.FASTOCTREE).save(small, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(small.getvalue()).decode()}"
