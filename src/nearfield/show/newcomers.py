"""Points that are new in a map, drawn over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.show.theme import Theme, extent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKER = "D"
NAME = "new"
UNLIKE = "#D55E00"  # of what is as new as can be


def newcomers(new: Any, dimensions: int, novelty: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """The places of new points, and how unlike the fitted ones they are, if that is to be shown."""
    Y = np.asarray(getattr(new, "Y", new), dtype=float)
    if Y.ndim != 2 or Y.shape[1] != dimensions:
        raise ValueError(
            f"new points need {dimensions} coordinates each, as the map has, got shape {Y.shape}"
        )
    if not np.isfinite(Y).all():
        raise ValueError("new points have coordinates that are not finite: leave those points out")
    if not novelty:
        return Y, None
    found = getattr(new, "novelty", None)
    if found is None:
        raise ValueError("novelty is known of what model.place gives: pass that as new")
    return Y, np.asarray(found, dtype=float)


def draw_new(ax: Axes, Y: np.ndarray, unlike: np.ndarray | None, look: Theme, height: float) -> Any:
    """Draw new points, with rims so that they are seen on whatever they lie; in one dimension at a height."""
    from matplotlib.colors import LinearSegmentedColormap

    width, tall = extent(ax)
    how: dict[str, Any] = {"color": look.ground}
    order = np.arange(len(Y))
    if unlike is not None:  # those that are the least alike on top
        order = np.argsort(unlike, kind="stable")
        scale = LinearSegmentedColormap.from_list("novelty", [look.ground, UNLIKE])
        how = {"c": unlike[order], "cmap": scale, "vmin": 0.0, "vmax": 1.0}
    places = Y[order]
    if Y.shape[1] == 1:
        places = np.column_stack([places[:, 0], np.full(len(places), height)])
    if Y.shape[1] == 3:
        how["depthshade"] = False
    axes: Any = ax
    size = float(np.clip(0.1 * width * tall / max(len(Y), 1), 3, 40))
    return axes.scatter(
        *places.T,
        s=size,
        marker=MARKER,
        linewidths=0.7 if len(Y) <= 2000 else 0.2,
        edgecolors=look.ink,
        rasterized=True,
        zorder=3,
        **how,
    )


def explained(look: Theme) -> Any:
    """What stands for new points in a legend."""
    from matplotlib.lines import Line2D

    rim: dict[str, Any] = {"markeredgewidth": 0.7, "markeredgecolor": look.ink}
    return Line2D([], [], marker=MARKER, linestyle="none", markersize=5, color=look.ground, **rim)
