"""The names of classes, each on the points of its class, none on top of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.show.fonts import drawable, fonts_for
from nearfield.show.palette import Classes
from nearfield.show.theme import extent, literal, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Crowd = tuple[np.ndarray, np.ndarray]  # points, and how thick each of them lies
_SHARE = 0.3  # of the axes, which names cover at most
_SMALLEST = 6.0  # size of letters
_SMALLER = 0.88  # from one size of letters to the next
_LOOKED_AT = 300  # points of a class
_AROUND = 0.1  # of the median squared distance within a class: what lies around a point
_THICK = 0.5  # of the thickest crowd: where a name may stand as well


def name_classes(ax: Axes, Y: np.ndarray, classes: Classes, ink: str, ground: str) -> None:
    """Write the name of each class where its points are thickest and no other name is.

    A name for which there is no room on its points stands beside them, with a line that leads there. Letters
    become smaller until all names fit; where even then they would cover too much of the map, none is seen.
    """
    groups = [thickest(Y[classes.codes == code]) for code in range(classes.named)]
    texts = _write(ax, np.array([points[0] for points, _ in groups]), classes, ink, ground)
    if Y.shape[1] == 2:  # three dimensions can be turned: what overlaps here does not overlap there
        settle(ax)  # the room that there is depends on the layout
        _arranging(ax, groups, texts, ink)


def _arranging(ax: Axes, groups: Sequence[Crowd], texts: list[Any], ink: str) -> None:
    """Arrange names now and whenever the axes have another size, as when a legend comes beside them."""
    from matplotlib.artist import Artist
    from matplotlib.lines import Line2D

    size = texts[0].get_fontsize()
    lines: list[Line2D] = []

    def arrange() -> None:
        boxes = [text.get_window_extent() for text in texts]
        shares = [text.get_fontsize() / size for text in texts]
        halves = np.array([[box.width / 2, box.height / 2] for box in boxes]) / np.array(shares)[:, None]
        area = ax.get_window_extent()
        seen = [(ax.transData.transform(points), crowd) for points, crowd in groups]
        found = fit(seen, halves + 1, np.array([area.p0, area.p1]), _SMALLEST / size)
        lines.clear()
        for text in texts:
            text.set_visible(found is not None)
        if found is None:
            return  # they would hide the map, and the legend has them too
        back = ax.transData.inverted().transform
        for text, anchor, centre in zip(texts, *found[1:], strict=True):
            text.set(position=back(centre), fontsize=found[0] * size)
            if not np.array_equal(anchor, centre):
                line = Line2D(*back([anchor, centre]).T, color=ink, linewidth=0.6, alpha=0.7)
                line.set(marker="o", markevery=[0], markersize=2.5, transform=ax.transData)
                line.set_figure(ax.figure)
                lines.append(line)

    class Arranging(Artist):
        """What is drawn before the names: the lines that lead to them."""

        zorder = 9
        known = extent(ax)

        def draw(self, renderer: Any) -> None:
            if not np.allclose(self.known, extent(ax), atol=0.5):
                self.known = extent(ax)
                arrange()
            for line in lines:
                line.draw(renderer)

    arrange()
    names = Arranging()
    names.set_in_layout(False)
    ax.add_artist(names)


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


def fit(
    groups: Sequence[Crowd],
    halves: np.ndarray,
    area: np.ndarray,
    smallest: float,
    taken: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[float, np.ndarray, np.ndarray] | None:
    """Make names smaller until they can be placed without covering too much of the area.

    Parameters
    ----------
    groups, halves, area, taken
        See `place`.
    smallest : float
        The share of their size that names keep at least.

    Returns
    -------
    tuple or None
        The share of their size that the names keep, and what `place` returns; None where they do not fit.
    """
    share = 1.0
    while True:
        covered = 4 * np.prod(share * halves, axis=1).sum()
        if covered <= _SHARE * np.prod(area[1] - area[0]):
            found = place(groups, share * halves, area, taken)
            if found is not None:
                return share, *found
        if share <= smallest:
            return None
        share = max(_SMALLER * share, smallest)


def place(
    groups: Sequence[Crowd],
    halves: np.ndarray,
    area: np.ndarray,
    taken: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Find a place for a box on each group of points, so that no two boxes overlap.

    Groups that are small come first, for they have the least choice.

    Parameters
    ----------
    groups : sequence of what `thickest` returns, of points in two dimensions
        What the boxes are to stand on.
    halves : ndarray of shape (groups, 2)
        Half the width and height of each box.
    area : ndarray of shape (2, 2)
        Its lower and upper corner: no box stands out of it.
    taken : tuple of ndarray, optional
        Middles and halves of boxes that stand already.

    Returns
    -------
    anchors, centres : ndarray of shape (groups, 2), or None if there is no room
        A point of each group, and the middle of its box: the same where the box stands on the group, and the
        free place that is nearest to the anchor where that is crowded.

    Examples
    --------
    >>> import numpy as np
    >>> ring = 40 * np.array([[np.cos(t), np.sin(t)] for t in np.linspace(0, 6, 50)])
    >>> area = np.array([[-50.0, -50.0], [50.0, 50.0]])
    >>> anchors, centres = place([thickest(ring)] * 2, np.full((2, 2), 5.0), area)
    >>> np.linalg.norm(centres, axis=1).round(6).tolist()
    [40.0, 40.0]
    """
    sizes = [float(np.median(np.linalg.norm(points - points[0], axis=1))) for points, _ in groups]
    anchors, centres = np.array([points[0] for points, _ in groups]), np.empty((len(groups), 2))
    at, wide = (np.empty((0, 2)), np.empty((0, 2))) if taken is None else taken
    for k in np.argsort(sizes, kind="stable").tolist():
        low, high = area[0] + halves[k], area[1] - halves[k]
        if np.any(low > high):
            return None
        points, crowd = groups[k]
        good = np.clip(points[crowd >= _THICK], low, high)
        free = good[_free(good, halves[k], at, wide)]
        if not len(free):
            ways = [np.arange(a, b + 1e-9, halves[k, 1] / 2) for a, b in zip(low, high, strict=True)]
            grid = np.stack(np.meshgrid(*ways), axis=-1).reshape(-1, 2)
            grid = grid[_free(grid, halves[k], at, wide)]
            if not len(grid):
                return None
            free = grid[[np.linalg.norm(grid - anchors[k], axis=1).argmin()]]
        else:
            anchors[k] = free[0]
        centres[k] = free[0]
        at, wide = np.vstack([at, free[:1]]), np.vstack([wide, halves[[k]]])
    return anchors, centres


def _free(at: np.ndarray, half: np.ndarray, centres: np.ndarray, halves: np.ndarray) -> np.ndarray:
    """Where a box would overlap none of those that stand already."""
    gaps = np.abs(at[:, None] - centres[None]) - (half + halves)
    return np.asarray((gaps >= -1e-6).any(axis=2).all(axis=1))  # touching is not overlapping


def thickest(points: np.ndarray) -> Crowd:
    """Return some of the points, those first that have the most others around them, and how many of the most.

    The middle of a group may be empty, as that of a ring is; where its points are thickest some of them lie.

    Examples
    --------
    >>> import numpy as np
    >>> thickest(np.array([[0.0], [1.0], [2.0], [90.0], [91.0]]))[0][0]
    array([1.])
    """
    some = points[np.random.default_rng(0).permutation(len(points))[:_LOOKED_AT]]
    apart = ((some[:, None] - some[None]) ** 2).sum(axis=2)
    around = max(_AROUND * float(np.median(apart)), np.finfo(float).tiny)
    crowd = (1 / (1 + apart / around)).sum(axis=1)
    order = np.argsort(-crowd, kind="stable")
    return some[order], crowd[order] / crowd.max()
