"""A map as a picture: the points in the colours of their labels, the classes named where they lie."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.io.files import check_writable, replacing
from nearfield.show.names import name_classes
from nearfield.show.palette import GREY, ONLY, Classes, classes_or_numbers
from nearfield.show.piles import pile

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

_INK, _GROUND, _FAINT = "#1A1A1A", "#FFFFFF", "#C8C8C8"
_INK_WHEN_DARK, _GROUND_WHEN_DARK, _FAINT_WHEN_DARK = "#ECECEC", "#14161A", "#4A4D55"


def map(
    Y: Any,
    labels: Any = None,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    size: float | None = None,
    alpha: float | None = None,
    legend: bool = True,
    names: bool = True,
    dark: bool = False,
) -> Axes:
    """Draw a map.

    Text, truth values and up to twenty different whole numbers are taken as classes; other numbers get a
    colour scale. Two and three dimensions are drawn as they are; in one dimension the points are piled up
    where they lie, so that each is seen.

    Parameters
    ----------
    Y : array of shape (N, 1), (N, 2) or (N, 3), estimator or map
        The coordinates, or an object that has them as `embedding_` or `Y`.
    labels : sequence of length N, optional
        What colours the points. Empty text, None and NaN are points without a label, in grey.
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
    names : bool
        Whether the names of the classes, if they are no more than twenty, stand where the classes lie.
    dark : bool
        Whether the background is dark.

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
    Y = _coordinates(Y)
    if labels is not None and len(labels) != len(Y):
        raise ValueError(f"the map has {len(Y)} points but there are {len(labels)} labels")
    colours = None if labels is None else classes_or_numbers(labels, dark)
    ink, ground = (_INK_WHEN_DARK, _GROUND_WHEN_DARK) if dark else (_INK, _GROUND)
    if ax is None:
        ax = _new_axes(Y, ground)
    elif (Y.shape[1] == 3) != hasattr(ax, "get_zlim"):
        raise ValueError("a map of three dimensions, and only that, needs axes with projection='3d'")

    piled = Y.shape[1] == 1
    if piled:
        keys = colours.codes if isinstance(colours, Classes) else colours
        Y, fitting = pile(Y[:, 0], keys, *_extent(ax))
        opacity = 1.0  # no point lies on another
    else:
        fitting = _fitting_size(len(Y), *_extent(ax))
        opacity = float(np.clip(0.9 - 0.1 * np.log10(len(Y) / 1000), 0.5, 0.9))
    points = _draw(
        ax, Y, colours, fitting if size is None else size, opacity if alpha is None else alpha, dark
    )
    _frame(ax, Y, piled, dark)
    if title is not None:
        ax.set_title(_literal(title), loc="left", color=ink, fontsize=12, pad=10)
    if legend and isinstance(colours, Classes):
        _explain_classes(ax, colours, ink)
    elif legend and colours is not None:
        _explain_numbers(ax, points, ink)
    if names and isinstance(colours, Classes) and 1 < colours.total <= 20:
        name_classes(ax, Y, colours, ink, ground)
    return ax


def save(picture: Axes | Figure, path: str | os.PathLike[str], dpi: float = 200) -> None:
    """Save a picture, whole or not at all.

    Parameters
    ----------
    picture : matplotlib Axes or Figure
        What `map` has returned, or the figure it is part of.
    path : path-like
        A `.png`, `.pdf`, `.svg` or any other file that Matplotlib can write; it is replaced if it exists.
    dpi : float
        Dots per inch, also of the points in a vector format.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import nearfield as nf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nf.show.save(nf.show.map(np.eye(2)), Path(folder) / "map.png")
    ...     (Path(folder) / "map.png").read_bytes()[1:4]
    b'PNG'
    """
    path = check_picture_path(path)
    figure: Any = getattr(picture, "figure", picture)
    with replacing(path) as scratch:
        figure.savefig(
            scratch, dpi=dpi, bbox_inches="tight", pad_inches=0.15, facecolor=figure.get_facecolor()
        )


def check_picture_path(path: str | os.PathLike[str]) -> Path:
    """Make sure, before the work, that `save` will be able to write this file.

    Examples
    --------
    >>> from nearfield.show import check_picture_path
    >>> check_picture_path("map.xyz")
    Traceback (most recent call last):
    ...
    ValueError: cannot save a picture as map.xyz: use .png, .pdf or .svg
    """
    from matplotlib.backend_bases import FigureCanvasBase

    path = Path(path)
    if path.suffix.lower().lstrip(".") not in FigureCanvasBase.get_supported_filetypes():
        raise ValueError(f"cannot save a picture as {path}: use .png, .pdf or .svg")
    return check_writable(path)


def _coordinates(Y: Any) -> np.ndarray:
    """Return the coordinates that an array, an estimator or a map stands for."""
    for attribute in ("embedding_", "Y"):
        Y = getattr(Y, attribute, Y)
    Y = np.asarray(Y, dtype=float)
    if Y.ndim != 2 or Y.shape[1] not in (1, 2, 3) or not len(Y):
        raise ValueError(f"one, two or three dimensions can be drawn, not the shape {Y.shape}: try Y[:, :2]")
    if not np.isfinite(Y).all():
        raise ValueError("the map has coordinates that are not finite: leave those points out")
    return Y


def _new_axes(Y: np.ndarray, ground: str) -> Axes:
    """Return axes in a figure of their own, which belongs to no window and to no global state."""
    from matplotlib.figure import Figure

    if Y.shape[1] == 1:
        width, height = 8.0, 3.2
    elif Y.shape[1] == 2:
        # As high and wide as the map is, within reason, and an inch for the legend.
        spans = np.maximum(np.ptp(Y, axis=0), 1e-300)
        steepness = np.clip(spans[1] / spans[0], 0.45, 1.8)
        width, height = 6 * min(1, 1 / steepness) + 1, 6 * min(1, steepness)
    else:
        width, height = 7.0, 6.0
    figure = Figure(figsize=(width, height), facecolor=ground, layout="constrained")
    return figure.add_subplot(projection="3d" if Y.shape[1] == 3 else None)


def _extent(ax: Axes) -> tuple[float, float]:
    """Return width and height of the axes in points."""
    box = ax.get_window_extent()
    inch = ax.figure.dpi
    return box.width / inch * 72, box.height / inch * 72


def _fitting_size(count: int, width: float, height: float) -> float:
    """Return the area of a point with which all together would cover about an eighth of the axes."""
    return float(np.clip(0.13 * width * height / count, 0.5, 34))


def _draw(
    ax: Axes,
    Y: np.ndarray,
    colours: Classes | np.ndarray | None,
    size: float,
    alpha: float,
    dark: bool,
) -> Artist:
    count = len(Y)
    # In a shuffled but fixed order, so that no class covers the others; what has no label lies below.
    order = np.random.default_rng(0).permutation(count)
    if isinstance(colours, Classes):
        order = order[np.argsort(colours.codes[order] < colours.named, kind="stable")]
        how: dict[str, Any] = {"c": np.array(colours.colours)[colours.codes[order]]}
    elif colours is not None:
        order = order[np.argsort(~np.isnan(colours[order]), kind="stable")]
        # plotnonfinite draws what is NaN in the colour the scale has for it.
        how = {"c": colours[order], "cmap": _scale(dark), "plotnonfinite": True}
    else:
        how = {"color": ONLY}
    few = count <= 500 and Y.shape[1] < 3
    if Y.shape[1] == 3:
        how["depthshade"] = count <= 20000
    axes: Any = ax
    return axes.scatter(
        *Y[order].T,
        s=size,
        alpha=alpha,
        linewidths=0.5 if few else 0,
        edgecolors=(_GROUND_WHEN_DARK if dark else _GROUND) if few else "none",
        rasterized=True,
        **how,
    )


def _scale(dark: bool) -> Colormap:
    """Return viridis without the end that would vanish in the background."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    colours = matplotlib.colormaps["viridis"](np.linspace(0.15 if dark else 0.0, 1.0 if dark else 0.95, 256))
    return ListedColormap(colours).with_extremes(bad=GREY)


def _frame(ax: Axes, Y: np.ndarray, piled: bool, dark: bool) -> None:
    """Take away what a map has no use for, ticks and frame, and give all directions the same scale."""
    axes: Any = ax
    faint = _FAINT_WHEN_DARK if dark else _FAINT
    axes.set_facecolor(_GROUND_WHEN_DARK if dark else _GROUND)
    if Y.shape[1] == 3:
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.set_ticklabels([])
            axis.set_pane_color((0, 0, 0, 0))
            axis.line.set_color(faint)
            axis._axinfo["grid"].update(color=faint, linewidth=0.4)
            axis._axinfo["tick"].update(inward_factor=0, outward_factor=0)
        # The same scale in all directions, and a cube around it.
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
        axes.set_aspect("equal", adjustable="box", anchor="SW")
    else:
        axes.margins(0.04)
        axes.set_aspect("equal", adjustable="datalim")


def _explain_classes(ax: Axes, classes: Classes, ink: str) -> None:
    from matplotlib.lines import Line2D

    rows = max(4, int(_extent(ax)[1] / 15))  # that many fit beside the axes
    handles = [
        Line2D([], [], marker="o", linestyle="none", markersize=6, markeredgewidth=0, color=colour)
        for colour in classes.colours
    ]
    ax.legend(
        handles,
        [_literal(name) for name in classes.names],
        ncols=-(-len(handles) // rows),
        columnspacing=1.0,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0,
        frameon=False,
        handletextpad=0.2,
        fontsize=9.5,
        labelcolor=ink,
    )


def _explain_numbers(ax: Axes, points: Any, ink: str) -> None:
    bar: Any = ax.figure.colorbar(points, ax=ax, shrink=0.6, aspect=28, pad=0.02)
    bar.solids.set_alpha(1)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=ink, labelsize=9, length=0)


def _literal(text: str) -> str:
    """Keep Matplotlib from reading dollars as mathematics, and cut what is long."""
    text = text if len(text) <= 40 else text[:39] + "…"
    return text.replace("$", r"\$")
