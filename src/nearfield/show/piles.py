"""A map of one dimension: the points piled up where they lie, like a histogram made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.show.density import PIXELS_PER_POINT, put_image
from nearfield.show.palette import GREY, Classes
from nearfield.show.theme import Theme, extent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMN = 1.5  # the width of a column of very many points, in points of a letter


def pile(
    x: np.ndarray, keys: np.ndarray | None, width: float, height: float, largest: float = 6.5
) -> tuple[np.ndarray, float]:
    """Pile up points in columns that are one point wide, and choose the largest points that fit.

    Parameters
    ----------
    x : array of shape (N,)
        Where the points lie.
    keys : array of shape (N,) or None
        What orders the points of a column from below, classes or numbers.
    width, height : float
        The room there is, in units of the size of a point.
    largest : float
        The size that points are at most.

    Returns
    -------
    Y : ndarray of shape (N, 2)
        The piles, in the units of `x` both ways.
    size : float
        The area of a point.

    Examples
    --------
    >>> import numpy as np
    >>> Y, size = pile(np.array([0.0, 0.0, 1.0, 4.0]), None, width=50, height=20, largest=10)
    >>> Y.tolist()
    [[0.0, 0.5], [0.0, 1.5], [1.0, 0.5], [4.0, 0.5]]
    """
    low, span = float(x.min()), float(np.ptp(x)) or 1.0

    def columns(count: int) -> np.ndarray:
        return np.rint((x - low) / span * (count - 1)).astype(int)

    def diameter(count: int) -> float:
        return min(largest, width / count, height / np.bincount(columns(count)).max())

    counts = np.unique(np.geomspace(max(2, width / largest), 4 * width, 60).astype(int))
    count = max(counts.tolist(), key=diameter)
    column = columns(count)

    _, rank = _ranks(x, keys, column)
    step = span / (count - 1)
    return np.column_stack([low + column * step, (rank + 0.5) * step]), (0.92 * diameter(count)) ** 2


def pile_image(
    ax: Axes, Y: np.ndarray, colours: Classes | np.ndarray | None, look: Theme
) -> tuple[Any, np.ndarray]:
    """Draw very many points of one dimension as an image: the same piles, as high as the axes allow.

    For what is returned see `points.draw`.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import to_rgb

    x, (width, height) = Y[:, 0], extent(ax)
    low, span = float(x.min()), float(np.ptp(x)) or 1.0
    count = max(2, int(width / _COLUMN))
    column = np.minimum(((x - low) / span * count).astype(int), count - 1)
    order, rank = _ranks(x, colours.codes if isinstance(colours, Classes) else colours, column)
    sizes = np.bincount(column, minlength=count)
    top = 0.96 * span * height / width  # as high as the axes are, in units of x
    step = top / sizes.max()

    scale = ScalarMappable(cmap=look.scale().with_extremes(bad=GREY))
    if isinstance(colours, Classes):
        shades = np.array([to_rgb(colour) for colour in colours.colours])[colours.codes]
    elif colours is not None:
        scale.set_clim(float(np.nanmin(colours)), float(np.nanmax(colours)))
        shades = scale.to_rgba(colours)[:, :3]
    else:
        shades = np.broadcast_to(np.array(to_rgb(look.only)), (len(x), 3))
    rows = max(2, int(height * PIXELS_PER_POINT))
    at = ((np.arange(rows) + 0.5) / rows * sizes.max()).astype(int)[:, None]  # whose turn it is, in each row
    there = at < sizes
    firsts = np.cumsum(sizes) - sizes
    image = shades[order[np.where(there, firsts + at, 0)]]
    image[~there] = to_rgb(look.ground)
    put_image(ax, image, (low, low + span, 0.0, top), interpolation="nearest")
    return scale, np.column_stack([low + (column + 0.5) * span / count, (rank + 0.5) * step])


def _ranks(x: np.ndarray, keys: np.ndarray | None, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points in the order of columns, keys and places; and of each the rank in its column."""
    order = np.lexsort((x, keys, column) if keys is not None else (x, column))
    rank = np.empty(len(x), dtype=int)
    rank[order] = np.arange(len(x)) - np.searchsorted(column[order], column[order])
    return order, rank
