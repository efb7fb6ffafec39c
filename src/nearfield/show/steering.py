"""Pictures of steering: cost, penalty and gradient over the iterations, and a map before and after a move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.show.maps import coordinates, map
from nearfield.show.palette import OKABE_ITO

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CURVES = {"cost": "cost", "penalty": "penalty", "gradient_norm": "gradient norm"}
_MARKED = {"pin": OKABE_ITO[3], "unpin": OKABE_ITO[0], "settle": OKABE_ITO[2]}
_OTHER, _WAY, _MOST = "#9A9A9A", "#1A1A1A", 300  # the most ways that are drawn


def history(run: Any, *, axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw cost, penalty and gradient norm over the iterations, with the moves marked.

    Parameters
    ----------
    run : Run
        What was steered; or any object that has a `history`, and perhaps a `log`.
    axes : three matplotlib Axes, optional
        Where to draw; by default one above the other in a new figure.

    Returns
    -------
    list of three matplotlib Axes

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> run = nf.Run(np.random.default_rng(0).normal(size=(60, 5)), random_state=0)
    >>> run.step(100)
    >>> run.pin(3, (20, 0))
    >>> run.step(50)
    >>> [ax.get_ylabel() for ax in nf.show.history(run)]
    ['cost', 'penalty', 'gradient norm']
    """
    if axes is None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.0, 6.0), layout="constrained")
        axes = list(figure.subplots(3, 1, sharex=True))
    if len(axes) != 3:
        raise ValueError(f"three axes are needed, for cost, penalty and gradient norm, got {len(axes)}")
    rows, last = run.history, 0
    for ax, (name, title) in zip(axes, _CURVES.items(), strict=True):
        if not len(rows["iteration"]):
            raise ValueError("nothing has been recorded yet: make some iterations first")
        ax.plot(rows["iteration"], rows[name], color=OKABE_ITO[0], linewidth=1.2)
        ax.set_ylabel(title)
        ax.spines[["top", "right"]].set_visible(False)
        last = int(rows["iteration"][-1])
    if np.all(rows["gradient_norm"] > 0):
        axes[2].set_yscale("log")
    _mark(axes, getattr(run, "log", ()), last)
    axes[2].set_xlabel("iteration")
    return list(axes)


def _mark(axes: Sequence[Axes], log: Iterable[Any], last: int) -> None:
    """A line for each command; what undo went back from is not on the curves, and not marked."""
    for entry in log:
        if entry.command in ("undo", "redo") or entry.iteration > last:
            continue
        colour = _MARKED.get(entry.command, _OTHER)
        for ax in axes:
            ax.axvline(entry.iteration, color=colour, linewidth=0.8, linestyle="--", zorder=0)
        axes[0].annotate(
            entry.command,
            (entry.iteration, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(2, -2),
            textcoords="offset points",
            color=colour,
            fontsize=8,
            rotation=90,
            va="top",
        )


def before_after(
    before: Any,
    after: Any,
    labels: Any = None,
    *,
    pins: Mapping[int, Any] | Iterable[int] | None = None,
    followers: Mapping[int, Any] | None = None,
    axes: Sequence[Axes] | None = None,
    **style: Any,
) -> list[Axes]:
    """Draw two maps beside each other, with the moved points ringed and the way of their neighbours.

    Parameters
    ----------
    before, after : array (N, 2), estimator, map or Run
        The maps.
    labels : sequence of length N, optional
        What colours the points.
    pins : sequence of int, optional
        The points that were moved; by default those that are pinned in `after`.
    followers : dict of int to array, optional
        Who followed each of them; by default as in `after`.
    axes : two matplotlib Axes, optional
        Where to draw; by default in a new figure.
    **style
        Further arguments of `nearfield.show.map`.

    Returns
    -------
    list of two matplotlib Axes

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> run = nf.Run(np.random.default_rng(0).normal(size=(60, 5)), random_state=0)
    >>> run.step(100)
    >>> before = run.Y
    >>> run.pin(3, (20, 0))
    >>> run.step(50)
    >>> [ax.get_title(loc="left") for ax in nf.show.before_after(before, run)]
    ['before', 'after']
    """
    pins = list(getattr(after, "pins", ()) if pins is None else pins)
    followers = getattr(after, "followers", {}) if followers is None else followers
    maps = [coordinates(before), coordinates(after)]
    if maps[0].shape != maps[1].shape or maps[0].shape[1] != 2:
        shapes = " and ".join(str(Y.shape) for Y in maps)
        raise ValueError(f"two maps of the same points in two dimensions are needed, got the shapes {shapes}")
    if axes is None:
        from matplotlib.figure import Figure

        axes = list(Figure(figsize=(12.0, 5.5), layout="constrained").subplots(1, 2))
    if len(axes) != 2:
        raise ValueError(f"two axes are needed, for before and after, got {len(axes)}")
    for ax, Y, title in zip(axes, maps, ("before", "after"), strict=True):
        map(Y, labels, ax=ax, title=title, **{"legend": title == "after", **style})
        ax.scatter(Y[pins, 0], Y[pins, 1], s=60, facecolors="none", edgecolors=_WAY, linewidths=1.4, zorder=5)
    who = np.unique(np.concatenate([np.zeros(0, int), *(followers.get(int(i), ()) for i in pins)])).astype(
        int
    )
    shown = who[:: max(1, -(-len(who) // _MOST))]
    for j in shown:
        axes[1].plot(*np.stack([maps[0][j], maps[1][j]]).T, color=_WAY, linewidth=0.4, alpha=0.35, zorder=1)
    return list(axes)
