"""The names of classes, each where its class lies, none on top of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.show.palette import Classes
from nearfield.show.theme import extent, literal, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHARE = 0.3  # of the axes, which names cover at most


def name_classes(ax: Axes, Y: np.ndarray, classes: Classes, ink: str, ground: str) -> None:
    """Write the name of each class at the median of its points, moved aside where names would overlap.

    Where all together would cover too much of the map, none is written.
    """
    from matplotlib.colors import to_rgb
    from matplotlib.patheffects import withStroke

    anchors = np.array([np.median(Y[classes.codes == code], axis=0) for code in range(classes.named)])
    halo = [withStroke(linewidth=3, foreground=ground)]
    width, height = extent(ax)
    size = float(np.clip(min(width, height) / 22, 7.5, 11 if classes.named <= 10 else 9.5))
    most = int(np.clip(0.4 * width / (0.6 * size), 3, 24))
    texts = []
    for anchor, name, colour in zip(anchors, classes.names, classes.colours, strict=False):
        # Towards the ink, for contrast with the points below.
        tone = 0.35 * np.array(to_rgb(colour)) + 0.65 * np.array(to_rgb(ink))
        axes: Any = ax
        text = axes.text(
            *anchor, literal(name, most, middle=True), color=tone, ha="center", va="center", zorder=10
        )
        text.set(fontsize=size, fontweight="bold", path_effects=halo)
        texts.append(text)
    if Y.shape[1] == 3 or len(texts) < 2:
        return  # three dimensions can be turned: what overlaps here does not overlap there

    settle(ax)  # the room that a text takes depends on the layout
    boxes = [text.get_window_extent() for text in texts]
    centres = np.array([[(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2] for box in boxes])
    halves = np.array([[box.width / 2 + 1, box.height / 2 + 1] for box in boxes])
    area = ax.get_window_extent()
    if 4 * np.prod(halves, axis=1).sum() > _SHARE * area.width * area.height:
        for text in texts:  # they would hide the map, and the legend has them too
            text.remove()
        return
    moved = spread(centres, halves, np.array([area.p0, area.p1]))
    back = ax.transData.inverted()
    for text, anchor, start, end, half in zip(texts, anchors, centres, moved, halves, strict=True):
        if np.array_equal(start, end):
            continue
        text.set_position(back.transform(end))
        if np.hypot(*(end - start)) > 1.5 * half[1]:
            line = np.array([anchor, back.transform(end)])
            ax.plot(*line.T, color=ink, linewidth=0.6, alpha=0.6, zorder=9, scalex=False, scaley=False)


def spread(centres: np.ndarray, halves: np.ndarray, area: np.ndarray, rounds: int = 300) -> np.ndarray:
    """Push boxes apart, each pair along the way that is shorter, until none overlap; keep them in the area.

    Examples
    --------
    >>> import numpy as np
    >>> area = np.array([[0.0, 0.0], [100.0, 100.0]])
    >>> spread(np.array([[50.0, 50.0], [50.0, 52.0]]), np.full((2, 2), 3.0), area)
    array([[50., 48.],
           [50., 54.]])
    """
    centres = centres.astype(float)
    for _ in range(rounds):
        quiet = True
        for i in range(len(centres)):
            for j in range(i):
                apart = centres[i] - centres[j]
                overlap = halves[i] + halves[j] - np.abs(apart)
                if overlap.min() <= 1e-6:
                    continue
                quiet = False
                k = int(overlap.argmin())
                push = np.copysign(overlap[k] / 2, apart[k])
                centres[i, k] += push
                centres[j, k] -= push
        centres = np.clip(centres, area[0] + halves, area[1] - halves)
        if quiet:
            break
    return centres
