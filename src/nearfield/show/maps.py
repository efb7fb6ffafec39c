"""A map as a picture: the points in the colours of their labels, the classes named where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.show.names import name_classes
from nearfield.show.newcomers import NAME, draw_new, explained, newcomers
from nearfield.show.palette import Classes, classes_or_numbers
from nearfield.show.points import draw
from nearfield.show.theme import (
    Theme,
    colour_bar,
    entitle,
    legend_beside,
    new_axes,
    put_on_ground,
    settle,
    theme,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def map(
    Y: Any,
    labels: Any = None,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    size: float | None = None,
    alpha: float | None = None,
    legend: bool = True,
    legend_title: str | None = None,
    names: bool = True,
    dark: bool = False,
    density: bool | None = None,
    new: Any = None,
    novelty: bool = False,
) -> Axes:
    """Draw a map.

    Text, truth values and up to twenty different whole numbers are taken as classes, of which the forty
    largest have a colour of their own; other numbers have a colour bar. Two and three dimensions are drawn
    as they are; in one dimension the points are piled up where they lie, so that each is seen. Above 100 000
    points the picture shows how dense they are, as an image: classes in blended colours, numbers as means.

    Parameters
    ----------
    Y : array of shape (N, 1), (N, 2) or (N, 3), estimator or map
        The coordinates, or an object that has them as `embedding_` or `Y`.
    labels : sequence of length N, or the name of a column of `nearfield.diagnose`, optional
        What colours the points. Empty text, None and NaN are points without a label, in grey. A name such as
        "novelty" or "cost" is looked up for the points of a fitted model.
    ax : matplotlib Axes, optional
        Where to draw; three dimensions need `projection="3d"`. By default in a new figure, `ax.figure`.
    title : str, optional
        A line above the picture.
    size : float, optional
        The area of a point in points²; by default what suits their number.
    alpha : float, optional
        The opacity of a point, 0 to 1; by default what suits their number.
    legend : bool
        Whether the colours are explained beside the picture.
    legend_title : str, optional
        What the labels are, above the legend or beside the colour bar; by default the name that `labels` has
        if it is a column of a data frame.
    names : bool
        Whether the names of the classes, if they are no more than forty, stand where the classes lie.
    dark : bool
        Whether the background is dark.
    density : bool, optional
        Whether to draw how dense the points are, not each of them; by default above 100 000 points, if
        neither `size` nor `alpha` is given.
    new : what `model.place` gives, or an array of coordinates, optional
        Points that are new in the map, drawn over it as diamonds.
    novelty : bool
        Whether their colour says how unlike the fitted points they are.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> import nearfield as nf
    >>> Y = np.random.default_rng(0).normal(size=(100, 2))
    >>> ax = nf.show.map(Y, labels=Y[:, 0] > 0, title="Two halves")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['False', 'True']
    """
    if isinstance(labels, str):
        from nearfield.judge.diagnosing import column

        legend_title = labels if legend_title is None else legend_title
        labels = column(Y, labels)
    Y = coordinates(Y)
    if labels is not None and len(labels) != len(Y):
        raise ValueError(f"the map has {len(Y)} points but there are {len(labels)} labels")
    colours = None if labels is None else classes_or_numbers(labels, dark)
    heading = column_name(labels) if legend_title is None else legend_title
    look = theme(dark)
    own = ax is None
    added, unlike = (None, None) if new is None else newcomers(new, Y.shape[1], novelty)
    ax = axes_for(Y if added is None else np.vstack([Y, added]), ax)
    put_on_ground(ax, look)
    if legend and (isinstance(colours, Classes) or added is not None):
        classes = colours if isinstance(colours, Classes) else None
        more = [] if added is None else [(explained(look), NAME)]
        explain_classes(ax, classes, look, title=heading if classes else None, grow=own, more=more)
        if Y.shape[1] < 3:
            settle(ax)  # the room that is left tells the size of the points
    drawn, where = draw(ax, Y, colours, look, size=size, alpha=alpha, density=density)
    over = None if added is None else draw_new(ax, added, unlike, look, float(where[:, -1].min()))
    reach = where if added is None or added.shape[1] == 1 else np.vstack([where, added])
    frame(ax, reach, Y.shape[1] == 1, look)
    entitle(ax, title, look)
    if legend and isinstance(colours, np.ndarray):
        colour_bar(ax, drawn, look, label=heading or "label", grow=own)
    if legend and novelty and over is not None:
        colour_bar(ax, over, look, label="novelty", grow=own)
    if names and isinstance(colours, Classes) and 1 < colours.total == colours.named:
        name_classes(ax, where, colours, look.ink, look.ground)
    return ax


def coordinates(Y: Any) -> np.ndarray:
    """Return the coordinates that an array, an estimator or a map stands for."""
    for attribute in ("embedding_", "Y"):
        Y = getattr(Y, attribute, Y)
    Y = np.asarray(Y, dtype=float)
    if Y.ndim != 2 or Y.shape[1] not in (1, 2, 3) or not len(Y):
        raise ValueError(f"one, two or three dimensions can be drawn, not the shape {Y.shape}: try Y[:, :2]")
    if not np.isfinite(Y).all():
        raise ValueError("the map has coordinates that are not finite: leave those points out")
    return Y


def column_name(labels: Any) -> str | None:
    """Return what labels are called if they are a column of a data frame.

    Examples
    --------
    >>> import pandas as pd
    >>> column_name(pd.Series([1.4, 4.7], name="petal length")), column_name([1.4, 4.7])
    ('petal length', None)
    """
    name = getattr(labels, "name", None)
    return str(name) if name is not None and str(name) else None


def axes_for(Y: np.ndarray, ax: Axes | None) -> Axes:
    """Return the axes that were given, if the map can be drawn there, or new ones as the map needs them."""
    if ax is not None:
        if (Y.shape[1] == 3) != hasattr(ax, "get_zlim"):
            raise ValueError("a map of three dimensions, and only that, needs axes with projection='3d'")
        return ax
    if Y.shape[1] == 1:
        return new_axes(7.5, 3.2)
    if Y.shape[1] == 3:
        return new_axes(6.0, 6.0, projection="3d")
    # As high and wide as the map is, within reason.
    spans = np.maximum(np.ptp(Y, axis=0), 1e-300)
    steepness = float(np.clip(spans[1] / spans[0], 0.45, 1.8))
    return new_axes(6 * min(1, 1 / steepness), 6 * min(1, steepness))


def frame(ax: Axes, Y: np.ndarray, piled: bool, look: Theme) -> None:
    """Take away what a map has no use for, ticks and frame, and give all directions the same unit."""
    axes: Any = ax
    faint = look.faint
    if Y.shape[1] == 3:
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.set_ticklabels([])
            axis.set_pane_color((0, 0, 0, 0))
            axis.line.set_color(faint)
            axis._axinfo["grid"].update(color=faint, linewidth=0.4)
            axis._axinfo["tick"].update(inward_factor=0, outward_factor=0)
        # The same unit in all directions, and a cube around it.
        middle, reach = (Y.min(axis=0) + Y.max(axis=0)) / 2, max(np.ptp(Y, axis=0).max() / 2, 1e-12) * 1.02
        axes.set(**{f"{name}lim": (m - reach, m + reach) for name, m in zip("xyz", middle, strict=True)})
        axes.set_box_aspect((1, 1, 1), zoom=1.15)
        return
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    if piled:
        axes.margins(x=0.02)
        axes.set_ylim(0, Y[:, 1].max() + Y[:, 1].min())
        axes.spines["bottom"].set(visible=True, color=faint)
        axes.set_aspect("equal", adjustable="box", anchor="NW")
    else:
        axes.margins(0.04)
        axes.set_aspect("equal", adjustable="datalim")


def explain_classes(
    ax: Axes,
    classes: Classes | None,
    look: Theme,
    title: str | None = None,
    grow: bool = False,
    more: Sequence[tuple[Any, str]] = (),
) -> None:
    """Name the classes beside the axes, each with a dot of its colour, and what there is more."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], marker="o", linestyle="none", markersize=6, markeredgewidth=0, color=colour)
        for colour in (classes.colours if classes else ())
    ]
    names = [*(classes.names if classes else ()), *(name for _, name in more)]
    legend_beside(ax, [*handles, *(each for each, _ in more)], names, look, title=title, grow=grow)
