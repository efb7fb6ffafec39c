"""The quality of several maps at all scales: R_NX over the number of neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.show.theme import as_chart, entitle, legend_beside, new_axes, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 400  # values of K that a curve is drawn through


def quality(
    maps: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
    dark: bool = False,
    **how: Any,
) -> Axes:
    """Draw R_NX(K) of one or several maps: which neighbourhoods they keep, from the finest to the coarsest.

    1 is a perfect map and 0 a random one. K is on a logarithmic axis, so the area under a curve is what the
    legend gives as AUC; the best map comes first there.

    Parameters
    ----------
    maps : dict of name to map, or one map
        Each what `nearfield.quality` returned; or coordinates, an estimator or a map, which need `X`.
    X : array, sparse matrix or data frame, optional
        The data that the maps were made of, if they are not judged yet.
    ax : matplotlib Axes, optional
        Where to draw; by default in a new figure, `ax.figure`.
    title : str, optional
        A line above the picture.
    legend : bool
        Whether the names and areas stand beside the picture.
    dark : bool
        Whether the background is dark.
    **how
        Further arguments of `nearfield.quality`, such as `metric`, `sample` and `n_jobs`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> ax = nf.show.quality({"two columns": X[:, :2], "one": X[:, :1]}, X)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0.41 two columns', '0.16 one']
    """
    judged = _judged(maps, X, how)
    look = theme(dark)
    own = ax is None
    ax = new_axes(5.6, 4.2) if ax is None else ax
    curves = []
    for k, (name, each) in enumerate(judged.items()):
        K = np.unique(np.geomspace(1, len(each.rnx), _MOST).astype(int))
        (curve,) = ax.plot(K, each.rnx[K - 1], linewidth=1.8, zorder=3, **look.line(k))
        curves.append((each.auc, name, curve))
    as_chart(ax, look, "neighbours K", r"$R_\mathrm{NX}(K)$")
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda K, _: f"{K:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}"))
    longest = max(len(each.rnx) for each in judged.values())
    ax.set_xlim(1, max(longest, 2))
    lowest = min(float(np.percentile(each.rnx, 1)) for each in judged.values())
    ax.set_ylim(min(0.0, max(lowest - 0.03, -1.0)), 1.0)
    if ax.get_ylim()[0] < 0:
        ax.axhline(0, color=look.faint, linewidth=1.0, zorder=2)
    if legend:
        curves.sort(key=lambda each: -each[0])
        handles, names = [curve for *_, curve in curves], [name for _, name, _ in curves]
        areas = [f"{round(auc, 2) + 0.0:.2f}" for auc, *_ in curves]
        legend_beside(ax, handles, names, look, figures=areas, title="AUC", grow=own)
    entitle(ax, title, look)
    return ax


def _judged(maps: Any, X: Any, how: dict[str, Any]) -> dict[str, Any]:
    """The maps by name, all of them judged."""
    if not isinstance(maps, Mapping):
        maps = {"map": maps}
    if not maps:
        raise ValueError("there is no map to draw: pass a dict of maps by name")
    bare = [name for name, each in maps.items() if not hasattr(each, "rnx")]
    if bare and X is None:
        raise ValueError(
            f"{bare[0]!r} is not judged yet: pass the data as X, or what nearfield.quality returned"
        )
    if how and not bare:
        raise ValueError(f"the maps are judged already: leave out {', '.join(how)}")

    def judge(each: Any) -> Any:
        from nearfield.judge.quality import quality as figures

        return figures(X, each, **how)

    return {str(name): judge(each) if name in bare else each for name, each in maps.items()}
