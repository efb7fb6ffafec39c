"""The names of classes, each on the points of its class, none on top of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.show.fonts import drawable, fonts_for
from nearfield.show.palette import Classes
from nearfield.show.placing import thickest
from nearfield.show.theme import extent, literal, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def name_classes(ax: Axes, Y: np.ndarray, classes: Classes, ink: str, ground: str) -> None:
    """Write the name of each class where its points are thickest and no other name is.

    A name for which there is no room on its points stands beside them, with a line that leads there. Letters
    become smaller until all names fit; where even then they would cover too much of the map, none is seen.
    """
    groups = [thickest(Y[classes.codes == code]) for code in range(classes.named)]
    texts = _write(ax, np.array([points[0] for points, _ in groups]), classes, ink, ground)
    if Y.shape[1] == 2:  # three dimensions can be turned: what overlaps here does not overlap there
        from nearfield.show.arranging import Arranging

        settle(ax)  # the room that there is depends on the layout
        Arranging(ax, groups, texts, ink)


def _write(ax: Axes, places: np.ndarray, classes: Classes, ink: str, ground: str) -> list[Any]:
    """Write the names at these places, in a size that suits the axes."""
    from matplotlib.colors import to_rgb
    from matplotlib.patheffects import withStroke

    width, height = extent(ax)
    largest = next(size for size, most in ((11.0, 10), (9.5, 20), (8.0, len(places))) if len(places) <= most)
    size = float(np.clip(min(width, height) / 22, 7.5, largest))
    most = int(np.clip(0.4 * width / (0.6 * size), 3, 24))
    texts = []
    for place, name, colour in zip(places, classes.names, classes.colours, strict=False):
        # Towards the ink, for contrast with the points below.
        tone = 0.35 * np.array(to_rgb(colour)) + 0.65 * np.array(to_rgb(ink))
        axes: Any = ax
        text = axes.text(*place, literal(drawable(name), most, middle=True), color=tone, zorder=10)
        text.set(ha="center", va="center", fontsize=size, fontweight="bold", family=fonts_for(name))
        text.set(clip_on=True, in_layout=False)
        text.set_path_effects([withStroke(linewidth=3, foreground=ground)])
        texts.append(text)
    return texts
