"""Where a map is good and where it is not: a figure of each point, on the map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.show.maps import axes_for, coordinates, frame
from nearfield.show.palette import GREY, Classes
from nearfield.show.points import draw
from nearfield.show.theme import colour_bar, entitle, extent, put_on_ground, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FIGURES = {
    "stress": "stress of the point",
    "auc": "R_NX AUC of the point",
    "neighbours_kept": "share of neighbours kept",
    "trustworthiness": "trustworthiness of the point",
    "continuity": "continuity of the point",
}
_ENDS = (2, 98)  # per cent of the points, between which the colours differ


def stress(
    X: Any,
    Y: Any,
    figure: str = "stress",
    *,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
    dark: bool = False,
    **how: Any,
) -> Axes:
    """Draw a map with each point in the colour of how well it lies.

    Points that were not looked at, of more than 20 000, are grey. The colours leave out the last 2 % at both
    ends, so that a few points do not take all the colours.

    Parameters
    ----------
    X : array, sparse matrix or data frame; or Quality
        The data, or what `nearfield.quality` returned for this map.
    Y : array (points, 1 to 3), estimator or map
        The coordinates, or an object that has them as `embedding_` or `Y`.
    figure : {"stress", "auc", "neighbours_kept", "trustworthiness", "continuity"}
        Which figure of the points; of stress, less is better, and of all others more.
    ax : matplotlib Axes, optional
        Where to draw; three dimensions need `projection="3d"`. By default in a new figure, `ax.figure`.
    title : str, optional
        A line above the picture.
    legend : bool
        Whether the colours are explained beside the picture.
    dark : bool
        Whether the background is dark.
    **how
        Further arguments of `nearfield.quality`, such as `metric`, `n_neighbors` and `sample`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> ax = nf.show.stress(X, X[:, :2])
    >>> ax.figure.axes[1].get_ylabel()
    'stress of the point'
    """
    if figure not in _FIGURES:
        raise ValueError(f"figure must be one of {', '.join(_FIGURES)}, got {figure!r}")
    Y = coordinates(Y)
    points = _judged(X, Y, how).points
    values = np.asarray(getattr(points, figure), dtype=float)
    if points.index[-1] >= len(Y):
        raise ValueError(
            f"what was judged has more points than the map, which has {len(Y)}: pass its own figures"
        )
    look, own = theme(dark), ax is None
    ax = axes_for(Y, ax)
    put_on_ground(ax, look)
    drawn = _draw(ax, Y, points.index, values, look)
    entitle(ax, title, look)
    if legend:
        colour_bar(ax, drawn, look, label=_FIGURES[figure], extend="both", grow=own)
    return ax


def _judged(X: Any, Y: np.ndarray, how: dict[str, Any]) -> Any:
    """Return X if it is a judgement, and else that of the map."""
    if hasattr(X, "points"):
        if how:
            raise ValueError(f"the map is judged already: leave out {', '.join(how)}")
        return X
    from nearfield.judge.quality import quality

    return quality(X, Y, **how)


def _draw(ax: Axes, Y: np.ndarray, index: np.ndarray, values: np.ndarray, look: Any) -> Any:
    """Draw the points that have a value in its colour, on top of all others in grey."""
    if len(index) == len(Y):
        drawn, where = draw(ax, Y, values, look, density=False)
    else:
        grey = Classes(np.zeros(len(Y), dtype=int), ("",), (GREY,), 0, 0)
        _, where = draw(ax, Y, grey, look)
        for faint in (*ax.collections, *ax.images):
            faint.set_alpha(0.35)
        width, height = extent(ax)
        axes: Any = ax
        drawn = axes.scatter(
            *where[index].T,
            c=values,
            s=float(np.clip(0.06 * width * height / len(index), 1.5, 20)),
            cmap=look.scale(),
            linewidths=0,
            rasterized=True,
            zorder=4,
        )
    known = values[np.isfinite(values)]
    if known.size:
        drawn.set_clim(*np.percentile(known, _ENDS))
    frame(ax, where, Y.shape[1] == 1, look)
    return drawn
