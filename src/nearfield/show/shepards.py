"""The Shepard diagram: distances in the map against those in the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from nearfield.checks import finite, whole
from nearfield.show.maps import coordinates
from nearfield.show.theme import SMALL, as_chart, entitle, extent, new_axes, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 40  # of equally many pairs, whose medians and quantiles are drawn
_CELLS = (150, 110)
_BAND = (10, 90)  # per cent
_ROOM = 160  # the width of axes, in points, from which on there are words on them


def shepard(
    X: Any,
    Y: Any,
    *,
    metric: Any = "euclidean",
    sample: int = 1000,
    random_state: Any = 0,
    ax: Axes | None = None,
    title: str | None = None,
    dark: bool = False,
) -> Axes:
    """Draw the distances of pairs in the map against their distances in the data.

    The pairs are drawn as a density, its logarithm as strength; the line is their median and the band holds
    80 % of them. Of a map that keeps the order of distances the line rises and the band is narrow.

    Parameters
    ----------
    X : array, sparse matrix or data frame (points, columns)
        The data; distances if `metric` is "precomputed".
    Y : array (points, dimensions), estimator or map
        The coordinates, or an object that has them as `embedding_` or `Y`.
    metric : str or callable
        Of the data: any metric of scikit-learn, or "precomputed".
    sample : int
        Of how many points, drawn at random, all pairs are taken.
    random_state : int or Generator
        The seed of the sample.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, `ax.figure`.
    title : str, optional
        A line above the picture; by default Spearman's correlation of the distances.
    dark : bool
        Whether the background is dark.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> ax = nf.show.shepard(X, X[:, :2])
    >>> ax.get_title(loc="left")
    'Spearman 0.79'
    """
    from matplotlib.patheffects import withStroke
    from scipy.stats import spearmanr

    in_data, in_map = _distances(X, coordinates(Y), metric, whole("sample", sample, 3), random_state)
    look = theme(dark)
    ax = new_axes(5.6, 4.6) if ax is None else ax
    as_chart(ax, look, "distance in the data", "distance in the map")
    _draw_pairs(ax, in_data, in_map, look)

    line = look.line(1)["color"]
    middle, low, median, high = _quantiles(in_data, in_map)
    ax.plot(middle, median, color=line, linewidth=2, zorder=3)
    ax.fill_between(middle, low, high, color=line, alpha=0.12, linewidth=0, zorder=2)
    for edge in (low, high):
        ax.plot(middle, edge, color=line, linewidth=0.9, zorder=3)
    if extent(ax)[0] > _ROOM:
        # Few pairs are near in the data and far in the map: there is room for words.
        words = ax.text(
            0.02, 0.97, f"median and {_BAND[1] - _BAND[0]} % of the pairs", transform=ax.transAxes
        )
        words.set(va="top", color=line, fontsize=SMALL, zorder=4)
        words.set_path_effects([withStroke(linewidth=3, foreground=look.ground)])
    constant = np.ptp(in_data) == 0 or np.ptp(in_map) == 0
    correlation = np.nan if constant else float(spearmanr(in_data, in_map)[0])
    entitle(ax, f"Spearman {correlation:.2f}" if title is None else title, look)
    return ax


def _distances(
    X: Any, Y: np.ndarray, metric: Any, sample: int, random_state: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of all pairs of a sample of points, in data and map."""
    from nearfield.judge.rows import distance_rows

    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X, dtype=float)
    n = X.shape[0]
    if n != len(Y):
        raise ValueError(f"X has {n} points but Y has {len(Y)}: pass the data that the map was made of")
    if n < 3:
        raise ValueError(f"the diagram needs at least 3 points, got {n}")
    some = (
        np.arange(n) if n <= sample else np.sort(np.random.default_rng(random_state).permutation(n)[:sample])
    )
    X = X[some][:, some] if isinstance(metric, str) and metric == "precomputed" else X[some]
    finite(X, what="X")
    first, second = np.triu_indices(len(some), 1)
    found = []
    for points, measure, name in ((X, metric, "X"), (Y[some], "euclidean", "Y")):
        rows, unit = distance_rows(points, measure, name)
        found.append(rows(np.arange(len(some)))[first, second] * unit)
    return found[0], found[1]


def _draw_pairs(ax: Axes, in_data: np.ndarray, in_map: np.ndarray, look: Any) -> None:
    """Draw how many pairs have these two distances, from the ground to a colour."""
    ends = [float(values.max()) * 1.02 or 1.0 for values in (in_data, in_map)]
    # Distances in high dimension are far from 0: begin where they do, if that spares a third of the room.
    start = float(in_data.min()) * 0.98
    start = start if start > ends[0] / 3 else 0.0
    counts, _, _ = np.histogram2d(in_data, in_map, bins=_CELLS, range=((start, ends[0]), (0.0, ends[1])))
    shown = np.log1p(counts.T) / np.log1p(counts.max())
    ax.imshow(
        np.ma.masked_equal(0.12 * (shown > 0) + 0.88 * shown, 0),
        extent=(start, ends[0], 0.0, ends[1]),
        origin="lower",
        aspect="auto",
        cmap=look.ramp(start=look.ground),
        vmin=0,
        vmax=1.3,  # not to the end, on which the lines would not be seen
        interpolation="nearest",
        zorder=1,
    )


def _quantiles(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the middles of bins of x that hold equally many pairs, and the quantiles of y there."""
    order = np.argsort(x, kind="stable")
    parts = np.array_split(order, min(_BINS, max(1, len(x) // 20)))
    quantiles = np.array([np.percentile(y[part], (_BAND[0], 50, _BAND[1])) for part in parts])
    return np.array([np.median(x[part]) for part in parts]), *quantiles.T
