"""Pictures of steering: cost, penalty and gradient over the iterations, and a map before and after a move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from nearfield.show.maps import coordinates, map
from nearfield.show.palette import GREY
from nearfield.show.theme import SMALL, Panels, Theme, as_chart, entitle, theme
from nearfield.steer.log import in_effect

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CURVES = {"cost": "cost", "penalty": "penalty", "gradient_norm": "gradient norm"}
_MARKED = {"pin": 1, "drag": 1, "unpin": 4, "settle": 2}  # which of the theme's lines
_MOST = 80  # the most ways that are drawn


@overload
def history(
    run: Any, *, ax: Axes, axes: None = None, title: str | None = None, dark: bool = False
) -> Axes: ...


@overload
def history(
    run: Any,
    *,
    ax: None = None,
    axes: Sequence[Axes] | None = None,
    title: str | None = None,
    dark: bool = False,
) -> Panels: ...


def history(
    run: Any,
    *,
    ax: Axes | None = None,
    axes: Sequence[Axes] | None = None,
    title: str | None = None,
    dark: bool = False,
) -> Axes | Panels:
    """Draw cost, penalty and gradient norm over the iterations, with the moves marked.

    Parameters
    ----------
    run : Run or estimator
        What was steered or fitted; or any object that has a `history`, and perhaps a `log`.
    ax : matplotlib Axes, optional
        Where to draw the cost alone.
    axes : three matplotlib Axes, optional
        Where to draw all three; by default one above the other in a new figure.
    title : str, optional
        A line above the picture.
    dark : bool
        Whether the background is dark.

    Returns
    -------
    list of three matplotlib Axes, which has their `figure`; or the one that was given

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
    rows = run.history_ if hasattr(run, "history_") else run.history
    if not rows or not len(rows["iteration"]):
        raise ValueError("nothing has been recorded yet: make some iterations first")
    if ax is not None and axes is not None:
        raise ValueError("pass ax, for the cost alone, or axes, for all three curves, not both")
    if ax is not None:
        drawn = [ax]
    elif axes is None:
        from matplotlib.figure import Figure

        drawn = list(Figure(figsize=(7.0, 6.0), layout="constrained").subplots(3, 1, sharex=True))
    else:
        drawn = list(axes)
        if len(drawn) != 3:
            raise ValueError(f"three axes are needed, for cost, penalty and gradient norm, got {len(drawn)}")
    look = theme(dark)
    for each, (name, label) in zip(drawn, _CURVES.items(), strict=False):
        each.plot(rows["iteration"], rows[name], linewidth=1.4, **look.line(0))
        as_chart(each, look, y=label)
        if not np.any(rows[name]):
            each.set_ylim(0, 1)  # not a little above and below nothing
    if len(drawn) == 3 and np.all(rows["gradient_norm"] > 0):
        drawn[2].set_yscale("log")
    drawn[-1].set_xlabel("iteration")
    as_chart(drawn[-1], look)
    _mark(drawn, getattr(run, "log", ()), int(rows["iteration"][-1]), look)
    drawn[0].figure.align_ylabels(drawn)
    entitle(drawn[0], title, look)
    return Panels(drawn) if ax is None else ax


def _mark(axes: Sequence[Axes], log: Iterable[Any], last: int, look: Theme) -> None:
    """A line wherever commands came; what undo went back from is not on the curves, and not marked."""
    marked: dict[int, list[str]] = {}
    for entry in in_effect(log):
        if entry.iteration <= last:
            commands = marked.setdefault(entry.iteration, [])
            commands += [entry.command] if entry.command not in commands else []
    for iteration, commands in marked.items():
        known = [each for each in commands if each in _MARKED]
        colour = look.line(_MARKED[known[0]])["color"] if known else GREY
        for ax in axes:
            ax.axvline(iteration, color=colour, linewidth=0.8, linestyle="--", zorder=0)
        axes[0].annotate(
            ", ".join(commands),
            (iteration, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(2, -2),
            textcoords="offset points",
            color=colour,
            fontsize=SMALL,
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
) -> Panels:
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
    list of two matplotlib Axes, which has their `figure`

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
    pins = list((getattr(after, "pins", None) or ()) if pins is None else pins)
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
    way = theme(style.get("dark", False)).ink
    for ax, Y, title in zip(axes, maps, ("before", "after"), strict=True):
        map(Y, labels, ax=ax, title=title, **{"legend": title == "after", **style})
        ax.scatter(Y[pins, 0], Y[pins, 1], s=50, facecolors="none", edgecolors=way, linewidths=1.0, zorder=5)
    came = [np.asarray(followers.get(int(i), ()), dtype=int) for i in pins]
    who = np.unique(np.concatenate([np.zeros(0, int), *came]))
    shown = who[:: max(1, -(-len(who) // _MOST))]
    faint = float(np.clip(12 / max(len(shown), 1), 0.12, 0.35))  # many must not hide what they lead through
    for j in shown:
        axes[1].plot(*np.stack([maps[0][j], maps[1][j]]).T, color=way, linewidth=0.5, alpha=faint, zorder=1)
    return Panels(axes)
