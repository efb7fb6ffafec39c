"""Maps as inline SVG whose colours the page sets, so that one picture serves light and dark.

A point is a dot of a round pen that goes nowhere, `M12 34h0`: ten bytes each. Colours are classes, and so is
the place in the pile: points are drawn in shuffled layers, so that no class covers the others.
"""

from __future__ import annotations

import base64
import io
from html import escape
from typing import Any

import numpy as np

from nearfield.algebra.parts import Array
from nearfield.show.names import spread
from nearfield.show.palette import Classes

SIDE = 1000  # of the square that a map is drawn in
MARGIN = 35
LAYERS = 6
MOST_DOTS = 12_000  # above which a map is drawn as pixels
LEVELS = 16  # of a colour scale
NAMED = 20  # classes whose names are written into the map
LETTER, LINE = 26, 46  # width and height of the text in a map
LOOKED_AT = 300  # points of a class, to find its middle


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


def dots(Y: Array, colours: Classes | Array | None, text: str) -> str:
    """A map as SVG.

    Parameters
    ----------
    Y : array (points, 2)
        The map.
    colours : Classes, array or None
        What colours the points.
    text : str
        What the picture shows, for those who do not see it.
    """
    places = _fit(Y)
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
    written = _names(places, colours) if isinstance(colours, Classes) else ""
    return (
        f'<svg class="map" viewBox="0 0 {SIDE} {SIDE}" role="img" aria-label="{escape(text)}">'
        f'<g class="dots" stroke-width="{pen:.1f}">{"".join(paths)}</g>{written}</svg>'
    )


def pixels(Y: Array, labels: Any, text: str) -> str:
    """A map of many points as two small PNG files, for light and for dark."""
    light, dark = (_png(Y, labels, dark) for dark in (False, True))
    source = f'<source media="(prefers-color-scheme: dark)" srcset="{dark}">'
    return f'<picture>{source}<img class="map" src="{light}" alt="{escape(text)}"></picture>'


def _fit(Y: Array) -> Any:
    """The map in the middle of the square, as large as it can be, in whole units; y grows downwards."""
    low, high = Y.min(axis=0), Y.max(axis=0)
    span = float((high - low).max()) or 1.0
    places = ((Y - (low + high) / 2) / span * [1, -1]) * (SIDE - 2 * MARGIN) + SIDE / 2
    return np.rint(places).astype(int)


def _names(places: Any, classes: Classes) -> str:
    """The names of the classes amid their points, moved apart."""
    if not 1 < classes.total <= NAMED:
        return ""
    shown = [name if len(name) <= 18 else name[:17] + "…" for name in classes.names[: classes.named]]
    centres = np.array([_amid(places[classes.codes == code]) for code in range(classes.named)])
    halves = np.array([[LETTER * len(name) / 2 + 4, LINE / 2] for name in shown])
    centres = spread(centres, halves, np.array([[0.0, 0.0], [SIDE, SIDE]]))
    texts = [
        f'<text x="{x:.0f}" y="{y:.0f}">{escape(name)}</text>'
        for (x, y), name in zip(centres.tolist(), shown, strict=True)
    ]
    return f'<g class="names">{"".join(texts)}</g>'


def _amid(points: Any) -> Any:
    """The point that is nearest to the others, few far ones counting little: in the largest piece of a group.

    >>> _amid(np.array([[0, 0], [1, 0], [2, 0], [90, 0], [91, 0]])).tolist()
    [1, 0]
    """
    some = points[np.random.default_rng(0).permutation(len(points))[:LOOKED_AT]].astype(float)
    apart = np.sqrt(np.linalg.norm(some[:, None] - some[None, :], axis=2))
    return some[np.argmin(apart.sum(axis=1))]


def _png(Y: Array, labels: Any, dark: bool) -> str:
    from matplotlib.figure import Figure
    from PIL import Image

    from nearfield.show.maps import map

    figure = Figure(figsize=(4, 4), dpi=150)
    ax = figure.add_axes((0, 0, 1, 1))
    map(Y, labels, ax=ax, legend=False, dark=dark)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", transparent=True)
    small = io.BytesIO()
    # 128 colours are all that dots in a few colours need, in a quarter of the bytes.
    Image.open(picture).quantize(128, method=Image.Quantize.FASTOCTREE).save(small, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(small.getvalue()).decode()}"
