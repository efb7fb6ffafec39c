"""Small pictures on a map: as many as there is room for, none on top of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.show.maps import coordinates, map
from nearfield.show.palette import GREY, Classes, classes_or_numbers
from nearfield.show.theme import settle, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def images(
    Y: Any,
    images: Any,
    labels: Any = None,
    *,
    size: float | None = None,
    cmap: Any = None,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
    legend_title: str | None = None,
    names: bool = False,
    dark: bool = False,
) -> Axes:
    """Draw a map with pictures of the points: each where its point lies, and only where there is room.

    Points that have no picture stay as faint dots. The frames have the colours of the labels.

    Parameters
    ----------
    Y : array of shape (N, 2), estimator or map
        The coordinates, or an object that has them as `embedding_` or `Y`.
    images : array (N, height, width), (N, height, width, 3 or 4), or a sequence of N such pictures
        Grey values of any range, or colours from 0 to 1, or to 255 if whole numbers. Only those drawn
        are read.
    labels : sequence of length N, optional
        What colours the frames: classes or numbers.
    size : float, optional
        The longer side of a picture in points, 1/72 inch; by default what suits their number.
    cmap : str or matplotlib Colormap, optional
        Of grey values. By default the lowest is the background, which suits drawings such as digits; for
        photographs use "gray".
    ax, title, legend, legend_title, names, dark
        See `nearfield.show.map`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import nearfield as nf
    >>> from sklearn.datasets import load_digits
    >>> digits = load_digits()
    >>> ax = nf.show.images(digits.data[:, [20, 36]], digits.images, digits.target)
    >>> 50 < len(ax.images) < 1797
    True
    """
    Y, pictures = coordinates(Y), images
    if Y.shape[1] != 2:
        raise ValueError(f"pictures are put on maps of two dimensions, not {Y.shape[1]}: make one of two")
    if len(pictures) != len(Y):
        raise ValueError(f"the map has {len(Y)} points but there are {len(pictures)} images")
    check_picture(pictures[0])
    explained: dict[str, Any] = {"legend": legend, "legend_title": legend_title, "names": names}
    ax = map(Y, labels, ax=ax, title=title, dark=dark, **explained)
    for faint in (*ax.collections, *ax.images):
        faint.set_alpha(0.25)
    figure: Any = ax.figure
    settle(ax)  # the room for pictures depends on the layout
    box = ax.get_window_extent()
    if size is None:
        size = float(np.clip(0.62 * np.sqrt(box.width * box.height / len(Y)) / figure.dpi * 72, 12, 40))
    side = size / 72 * figure.dpi * np.ptp(ax.get_xlim()) / box.width  # in units of the map
    chosen = thin(Y, 1.12 * side)
    # The pictures may stand out beyond the outermost points.
    ax.update_datalim(np.concatenate([Y.min(axis=0) - side / 2, Y.max(axis=0) + side / 2]).reshape(2, 2))
    ax.autoscale_view()

    colours = None if labels is None else classes_or_numbers(labels, dark)
    _put(ax, [pictures[k] for k in chosen], Y[chosen], side, _frames(colours, chosen, dark), cmap, dark)
    return ax


def check_picture(picture: Any) -> None:
    """Refuse what is no picture, such as a row of pixels."""
    shape = np.shape(picture)
    if len(shape) == 2 or (len(shape) == 3 and shape[2] in (3, 4)):
        return
    side = int(np.sqrt(shape[0])) if len(shape) == 1 else 0
    fix = f": try images.reshape(-1, {side}, {side})" if side > 1 and side**2 == shape[0] else ""
    raise ValueError(
        f"each image must be (height, width), or with 3 or 4 colours, not the shape {shape}{fix}"
    )


def thin(Y: np.ndarray, side: float) -> np.ndarray:
    """Choose points so that squares of this side around them do not overlap, and nearly as many as can be.

    Examples
    --------
    >>> import numpy as np
    >>> thin(np.array([[0.0, 0.0], [0.4, 0.3], [2.0, 0.0], [0.0, 1.2]]), 1.0).tolist()
    [0, 2, 3]
    """
    # One candidate for each cell of a fine grid is enough, however many points there are.
    cells = np.floor((Y - Y.min(axis=0)) / (side / 4)).astype(np.int64)
    _, candidates = np.unique(cells, axis=0, return_index=True)
    taken: dict[tuple[int, int], int] = {}
    chosen = []
    for k in candidates.tolist():
        x, y = (Y[k] / side).tolist()
        i, j = int(np.floor(x)), int(np.floor(y))
        around = [taken.get((i + a, j + b)) for a in (-1, 0, 1) for b in (-1, 0, 1)]
        if all(other is None or np.abs(Y[other] - Y[k]).max() >= side for other in around):
            taken[i, j] = k
            chosen.append(k)
    return np.array(sorted(chosen), dtype=int)


def _frames(colours: Classes | np.ndarray | None, chosen: np.ndarray, dark: bool) -> list[Any]:
    """Return the colour of the frame of each picture."""
    if isinstance(colours, Classes):
        return [colours.colours[code] for code in colours.codes[chosen]]
    if colours is None:
        return [theme(dark).faint] * len(chosen)
    from matplotlib.cm import ScalarMappable

    scale = ScalarMappable(cmap=theme(dark).scale().with_extremes(bad=GREY))
    scale.set_clim(float(np.nanmin(colours)), float(np.nanmax(colours)))
    return list(scale.to_rgba(colours[chosen]))


def _put(
    ax: Axes, pictures: list[Any], where: np.ndarray, side: float, frames: list[Any], cmap: Any, dark: bool
) -> None:
    """Put each picture at its place, the longer side as given, and a frame around it."""
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.image import AxesImage
    from matplotlib.patches import Rectangle

    look = theme(dark)
    cmap = LinearSegmentedColormap.from_list("ink", [look.ground, look.ink]) if cmap is None else cmap
    greys = [np.asarray(picture) for picture in pictures if np.ndim(picture) == 2]
    low = min((float(each.min()) for each in greys), default=0.0)
    high = max((float(each.max()) for each in greys), default=1.0)
    patches = []
    for picture, (x, y) in zip(pictures, where, strict=True):
        check_picture(picture)
        height, width = np.shape(picture)[:2]
        half = np.array([width, height]) / max(width, height) * side / 2
        area = (x - half[0], x + half[0], y - half[1], y + half[1])
        thumbnail = AxesImage(ax, cmap=cmap, extent=area, origin="upper", interpolation="antialiased")
        thumbnail.set_data(np.asarray(picture))
        thumbnail.set(clim=(low, high if high > low else low + 1), zorder=3)
        thumbnail.set_clip_path(ax.patch)
        ax.add_image(thumbnail)
        patches.append(Rectangle((area[0], area[2]), 2 * half[0], 2 * half[1]))
    ax.add_collection(
        PatchCollection(patches, facecolors="none", edgecolors=frames, linewidths=1.1, zorder=4),
        autolim=False,
    )
