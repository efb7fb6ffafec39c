"""The points of a map on its axes: one by one, piled up, or as a density where they are very many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.show.density import density_image, density_points
from nearfield.show.palette import GREY, Classes
from nearfield.show.piles import pile, pile_image
from nearfield.show.theme import Theme, extent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY = 100_000  # points, above which their density is drawn
MANY_ON_A_LINE = 10_000  # the same in one dimension, where piles of points would be pale
_DENSE: dict[int, Any] = {1: pile_image, 2: density_image, 3: density_points}


def draw(
    ax: Axes,
    Y: np.ndarray,
    colours: Classes | np.ndarray | None,
    look: Theme,
    *,
    size: float | None = None,
    alpha: float | None = None,
    density: bool | None = None,
) -> tuple[Any, np.ndarray]:
    """Draw points in the colours of classes or numbers.

    Returns
    -------
    drawn : matplotlib artist or ScalarMappable
        What a colour bar explains, if the colours stand for numbers.
    where : ndarray
        Where the points are drawn: Y, or in one dimension their piles.
    """
    if density is None:
        many = MANY_ON_A_LINE if Y.shape[1] == 1 else MANY
        density = len(Y) > many and size is None and alpha is None
    if density:
        return _DENSE[Y.shape[1]](ax, Y, colours, look)
    if Y.shape[1] == 1:
        keys = colours.codes if isinstance(colours, Classes) else colours
        Y, fitting = pile(Y[:, 0], keys, *extent(ax))
        opacity = 1.0  # no point lies on another
    else:
        fitting = _fitting_size(len(Y), *extent(ax))
        opacity = float(np.clip(0.9 - 0.1 * np.log10(len(Y) / 1000), 0.5, 0.9))
    return _scatter(
        ax, Y, colours, fitting if size is None else size, opacity if alpha is None else alpha, look
    ), Y


def _fitting_size(count: int, width: float, height: float) -> float:
    """Return the area of a point with which all together would cover about an eighth of the axes."""
    return float(np.clip(0.13 * width * height / count, 0.5, 34))


def _scatter(
    ax: Axes,
    Y: np.ndarray,
    colours: Classes | np.ndarray | None,
    size: float,
    alpha: float,
    look: Theme,
) -> Any:
    count = len(Y)
    # In a shuffled but fixed order, so that no class covers the others; what has no label lies below.
    order = np.random.default_rng(0).permutation(count)
    if isinstance(colours, Classes):
        order = order[np.argsort(colours.codes[order] < colours.named, kind="stable")]
        how: dict[str, Any] = {"c": np.array(colours.colours)[colours.codes[order]]}
    elif colours is not None:
        order = order[np.argsort(~np.isnan(colours[order]), kind="stable")]
        # plotnonfinite draws what is NaN in the colour the scale has for it.
        how = {"c": colours[order], "cmap": look.scale().with_extremes(bad=GREY), "plotnonfinite": True}
    else:
        how = {"color": look.only}
    few = count <= 500 and Y.shape[1] < 3
    if Y.shape[1] == 3:
        how["depthshade"] = count <= 20000
    axes: Any = ax
    return axes.scatter(
        *Y[order].T,
        s=size,
        alpha=alpha,
        linewidths=0.5 if few else 0,
        edgecolors=look.ground if few else "none",
        rasterized=True,
        **how,
    )
