"""Very many points as a density: those of a pixel are counted, and it looks as strong as their logarithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.ndimage import gaussian_filter

from nearfield.show.palette import GREY, Classes
from nearfield.show.theme import Theme, extent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

PIXELS_PER_POINT = 200 / 72  # the dots per inch of a saved picture
_MOST_PIXELS = 2000  # of a side
_VOXELS = 90  # of the longest side of a cube
_WIDTH = 0.75  # standard deviation of a point in pixels


def density_image(
    ax: Axes, Y: np.ndarray, colours: Classes | np.ndarray | None, look: Theme
) -> tuple[ScalarMappable, np.ndarray]:
    """Draw points of two dimensions as an image; for what is returned see `points.draw`."""
    from matplotlib.colors import to_rgb

    room = np.minimum(np.multiply(extent(ax), PIXELS_PER_POINT), _MOST_PIXELS)
    low = Y.min(axis=0)
    pixel = float(np.max(np.ptp(Y, axis=0) / np.maximum(room, 8))) or 1.0
    rim = 4  # pixels around, for the width of the points there
    cells = ((Y - low) / pixel).astype(np.int64) + rim
    columns, rows = (cells.max(axis=0) + rim + 1).tolist()
    place = cells[:, 1] * columns + cells[:, 0]

    def on_pixels(weights: np.ndarray | None) -> np.ndarray:
        counted = np.bincount(place, weights, minlength=rows * columns).reshape(rows, columns)
        return gaussian_filter(counted.astype(float), _WIDTH, mode="constant")

    total = on_pixels(None)
    shades, scale = blended(on_pixels, total, colours, look)
    opacity = tone(total, 1 / (2 * np.pi * _WIDTH**2), faintest(colours))[..., None]
    image = opacity * shades + (1 - opacity) * np.array(to_rgb(look.ground))
    left, bottom = low - rim * pixel
    right, top = left + columns * pixel, bottom + rows * pixel
    put_image(ax, image, (left, right, bottom, top))
    return scale, Y


def put_image(ax: Axes, image: np.ndarray, where: tuple[float, float, float, float], **style: Any) -> None:
    """Put an image on axes; unlike imshow it leaves limits and aspect to others."""
    from matplotlib.image import AxesImage

    picture = AxesImage(ax, extent=where, origin="lower", **{"interpolation": "antialiased", **style})
    picture.set_data(np.clip(image, 0, 1))
    picture.set_zorder(1)
    ax.add_image(picture)
    ax.update_datalim([(where[0], where[2]), (where[1], where[3])])
    ax.autoscale_view()


def density_points(
    ax: Any, Y: np.ndarray, colours: Classes | np.ndarray | None, look: Theme
) -> tuple[ScalarMappable, np.ndarray]:
    """Draw points of three dimensions as one for each small cube that holds some, in the middle of these."""
    low = Y.min(axis=0)
    side = float(np.ptp(Y, axis=0).max()) / _VOXELS or 1.0
    cells = np.minimum(((Y - low) / side).astype(np.int64), _VOXELS - 1)
    _, place = np.unique(cells @ np.array([1, _VOXELS, _VOXELS**2]), return_inverse=True)

    def on_cubes(weights: np.ndarray | None) -> np.ndarray:
        return np.bincount(place.reshape(-1), weights).astype(float)

    total = on_cubes(None)
    middles = np.column_stack([on_cubes(column) for column in (Y - low).T]) / total[:, None] + low
    shades, scale = blended(on_cubes, total, colours, look)
    strength = tone(total, 1.0, faintest(colours))
    width, height = extent(ax)
    ax.scatter(
        *middles.T,
        s=(0.8 * min(width, height) / _VOXELS) ** 2 * np.clip(strength, 0.2, 1),
        c=np.column_stack([shades, 0.75 * strength]),
        linewidths=0,
        depthshade=False,
        rasterized=True,
    )
    return scale, Y


def blended(
    add_up: Any, total: np.ndarray, colours: Classes | np.ndarray | None, look: Theme
) -> tuple[np.ndarray, ScalarMappable]:
    """Return the colour of each cell: the mean light of its classes, that of its mean, or by its points.

    Parameters
    ----------
    add_up : function
        That adds up weights of points by cell; None is a weight of one.
    total : ndarray
        How many points each cell has.
    colours : Classes, ndarray of numbers or None
        What colours the points.
    look : Theme
        The colours besides those of the points.

    Returns
    -------
    shades : ndarray (…, 3)
        Red, green and blue from 0 to 1; of meaning where there are points.
    scale : matplotlib ScalarMappable
        The scale of colours, of meaning where they are numbers.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize, to_rgb

    scale = ScalarMappable(Normalize(0, 1), look.scale())
    there = np.maximum(total, 1e-9)[..., None]
    if isinstance(colours, Classes):
        # Light adds up, and is about the square of the numbers that stand for colours.
        light = np.array([to_rgb(colour) for colour in colours.colours]) ** 2
        added = np.stack([add_up(light[colours.codes, k]) for k in range(3)], axis=-1)
        return np.sqrt(np.clip(added / there, 0, 1)), scale
    if colours is None:
        return look.ramp()(np.log1p(total) / max(np.log1p(total.max()), 1e-9))[..., :3], scale
    known = ~np.isnan(colours)
    count = add_up(known.astype(float))
    means = add_up(np.where(known, colours, 0.0)) / np.maximum(count, 1e-9)
    shown = means[count > 0.05]
    if shown.size:
        scale.set_clim(float(shown.min()), float(shown.max()))
    share = np.clip(count[..., None] / there, 0, 1)
    return share * scale.to_rgba(means)[..., :3] + (1 - share) * np.array(to_rgb(GREY)), scale


def faintest(colours: Classes | np.ndarray | None) -> float:
    """Return the opacity of a lone point; numbers have to be read by their colour, which must not pale."""
    return 0.65 if isinstance(colours, np.ndarray) else 0.35


def tone(total: np.ndarray, lone: float, least: float) -> np.ndarray:
    """Return how strong each cell looks, by the logarithm of its points: thin and thick both are seen.

    Parameters
    ----------
    total : ndarray
        How many points each cell has.
    lone : float
        What a cell has of a point that is alone.
    least : float
        How strong that looks.

    Examples
    --------
    >>> import numpy as np
    >>> tone(np.array([0.0, 0.5, 1.0, 10.0, 100.0]), lone=1.0, least=0.2).round(1)
    array([0. , 0.1, 0.2, 0.6, 1. ])
    """
    some = total[total >= lone]
    most = max(float(np.percentile(some, 95)) if some.size else lone, 2 * lone)
    above = np.log(np.maximum(total, lone) / lone) / np.log(most / lone)
    return np.clip(np.where(total < lone, least * total / lone, least + (1 - least) * above), 0, 1)
