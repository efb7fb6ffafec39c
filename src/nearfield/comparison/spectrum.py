"""The spectrum of a method: the same map under attraction from strong to weak, side by side.

Strong attraction draws continua out, weak attraction takes clusters apart (Böhm, Berens and Kobak 2022).
Neighbours and P are the same for all, and each map begins where the one before ended, from the strongest
attraction down: a map unfolds further where it is, so that neighbouring maps can be compared point by point.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nearfield.affinity.source import Source
from nearfield.algebra.catalogue import method as named
from nearfield.algebra.method import Method
from nearfield.checks import whole
from nearfield.defaults import MAX_ITER
from nearfield.descent.finish import finish
from nearfield.descent.run import Run
from nearfield.descent.schedule import check_attraction
from nearfield.descent.settings import Settings, check, check_one_run
from nearfield.io.tables import check_map_path
from nearfield.io.written import write_columns
from nearfield.judge.quality import Quality, quality
from nearfield.show.films import animation
from nearfield.show.maps import map as draw_map
from nearfield.show.snapshots import steadied
from nearfield.show.theme import Panels
from nearfield.typing import Array

ATTRACTIONS = (0.5, 1.0, 2.0, 4.0, 10.0, 30.0)
PATIENCE = 20  # iterations that tell whether a map has come to rest which began near it
ACROSS = 3  # maps side by side at most


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """The maps of a method under several attractions.

    Attributes
    ----------
    attractions : tuple of float
        In the order in which they were asked for.
    maps : list of array (points, dimensions)
        One for each, turned so that neighbouring ones lie on one another as well as they can.
    costs : array
        What each has minimised, C - (attraction - 1) Σ p log w: not to be compared with each other.
    iterations : tuple of int
        How many each has made.
    converged : tuple of bool
        Whether each has come to rest.
    method : str
        The name of the method.
    source : Source
        The data.
    interrupted : bool
        Whether Ctrl-C ended it.
    """

    attractions: tuple[float, ...]
    maps: list[Array]
    costs: Array
    iterations: tuple[int, ...]
    converged: tuple[bool, ...]
    method: str
    source: Source = field(repr=False)
    interrupted: bool = False

    def __len__(self) -> int:
        return len(self.maps)

    def __repr__(self) -> str:
        told = ", ".join(f"{each:g}" for each in self.attractions)
        return (
            f"<Spectrum of {self.method}: {len(self.maps[0])} points, attraction {told},"
            f" {sum(self.iterations)} iterations>"
        )

    def at(self, attraction: float) -> Array:
        """The map of one attraction.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> nf.spectrum(np.random.default_rng(0).normal(size=(60, 5)), [1, 4], random_state=0).at(4).shape
        (60, 2)
        """
        if attraction not in self.attractions:
            told = ", ".join(f"{each:g}" for each in self.attractions)
            raise ValueError(f"there is no map of attraction {attraction!r}: there are {told}")
        return self.maps[self.attractions.index(attraction)]

    def quality(self, labels: Any = None, **how: Any) -> list[Quality]:
        """How good each map is, as `nearfield.quality` judges it; `how` are further arguments of that."""
        metric = how.get("metric", self.source.metric)
        if isinstance(metric, tuple) or (self.source.metric_params and "metric" not in how):
            raise ValueError(
                "the figures are of one view and a metric without parameters: name another, as in"
                " quality(metric='euclidean'), or call nearfield.quality with the data and the distances"
            )
        how = {"metric": metric, "n_jobs": self.source.n_jobs, **how}
        return [quality(self.source.X, Y, labels, **how) for Y in self.maps]

    def show(self, labels: Any = None, **style: Any) -> Panels:
        """Draw the maps side by side, each as large as its panel, in the order of `attractions`.

        Parameters
        ----------
        labels : sequence, optional
            What colours the points.
        **style
            Further arguments of `nearfield.show.map`.

        Returns
        -------
        list of matplotlib Axes, which has their `figure`
        """
        from matplotlib.figure import Figure

        across = min(ACROSS, len(self))
        down = -(-len(self) // across)
        figure = Figure(figsize=(4.2 * across, 4.2 * down), layout="constrained")
        flat = {"projection": "3d"} if self.maps[0].shape[1] == 3 else {}
        axes = [figure.add_subplot(down, across, k + 1, **flat) for k in range(len(self))]
        for k, (ax, Y, name) in enumerate(zip(axes, self.maps, self._names(), strict=True)):
            legend = k == min(across, len(self)) - 1  # one for all, at the end of the first row
            draw_map(Y, labels, ax=ax, title=name, **{"legend": legend, "names": False, **style})
        return Panels(axes)

    def film(self, path: str | os.PathLike[str], labels: Any = None, **how: Any) -> Any:
        """Draw the way from the strongest attraction to the weakest as a film, all maps equally large.

        Parameters
        ----------
        path : path-like
            A `.gif`, or an `.mp4` where ffmpeg is installed.
        labels : sequence, optional
            What colours the points.
        **how
            Further arguments of `nearfield.show.animation`.
        """
        order = np.argsort(self.attractions)[::-1]
        maps = [self.maps[k] / max(float(np.abs(self.maps[k]).std()), 1e-300) for k in order]
        names = self._names()
        return animation(maps, path, labels, **{"captions": [names[k] for k in order], **how})

    def save(self, path: str | os.PathLike[str], *, ids: Any = None, labels: Any = None) -> None:
        """Write all maps as one table: `id, attraction, y1, y2[, label]`, row after row, map after map."""
        path = check_map_path(path)
        n, count = len(self.maps[0]), len(self)
        places = np.concatenate(self.maps)
        columns = {
            "id": np.tile(np.arange(n) if ids is None else np.asarray(ids), count),
            "attraction": np.repeat(self.attractions, n),
            **{f"y{axis + 1}": places[:, axis] for axis in range(places.shape[1])},
        }
        if labels is not None:
            columns["label"] = np.tile(np.asarray(labels), count)
        if {len(each) for each in columns.values()} != {n * count}:
            raise ValueError(f"each map has {n} points: give as many ids and labels")
        write_columns(path, columns)

    def _names(self) -> list[str]:
        return [f"attraction {each:g}" for each in self.attractions]


def spectrum(
    X: Any,
    attractions: Sequence[float] = ATTRACTIONS,
    method: str | Method = "tsne",
    *,
    weights: Any = None,
    max_iter: int = MAX_ITER,
    tol: float | None = None,
    verbose: bool = False,
    **options: Any,
) -> Spectrum:
    """Make maps of the same data under several attractions, the strongest first, each from the one before.

    Parameters
    ----------
    X : array, sparse matrix or data frame (points, columns)
        The data; distances, neighbours or affinities if `metric` says so.
    attractions : sequence of float
        How many times as strongly neighbours attract each other as in the method itself, which 1 is: of
        t-SNE, 4 is much like UMAP and 30 like ForceAtlas2.
    method : str or Method
        A name of the catalogue, or a composition, with a kernel.
    weights : array (points,), optional
        How many equal rows each row stands for.
    max_iter : int
        A ceiling on the iterations of each map.
    tol : float, optional
        See `Run.converge`.
    verbose : bool
        Whether to show progress.
    **options
        Further options of `Run`.

    Returns
    -------
    Spectrum
        Ctrl-C keeps the maps that are there.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(80, 5))
    >>> found = nf.spectrum(X, (1, 4, 10), random_state=0)
    >>> [Y.shape for Y in found.maps]
    [(80, 2), (80, 2), (80, 2)]
    >>> bool(found.at(1).std() > found.at(10).std())
    True
    """
    wanted = _checked(attractions, method)
    max_iter = whole("max_iter", max_iter, 1)
    if "attraction" in options:
        raise ValueError("spectrum takes attractions, several of them: leave out attraction")
    check_one_run("spectrum", options)
    run: Run | None = None
    found: dict[float, tuple[Array, float, int, bool]] = {}
    ended = False
    for each in sorted(wanted, reverse=True):
        if run is None:
            run = Run(X, method, weights=weights, attraction=each, **options)
        else:
            run = run.with_attraction(each)
        stop = _sooner(run) if tol is None else {"tol": tol}
        title = f"attraction {each:g}"
        converged, interrupted = finish(run, max_iter, title=title, shown=bool(verbose), **stop)
        found[each] = (run.Y, run.cost, run.iteration, converged)
        ended = ended or interrupted
        if interrupted and len(found) < len(wanted):
            left = ", ".join(f"{each:g}" for each in wanted if each not in found)
            warnings.warn(f"no map was made of attraction {left}", UserWarning, stacklevel=2)
            break
    turned = dict(zip(found, steadied([Y for Y, *_ in found.values()]), strict=True))
    there = tuple(each for each in wanted if each in found)
    costs, iterations, converged_ = zip(*(found[each][1:] for each in there), strict=True)
    name = method if isinstance(method, str) else str(method)
    assert run is not None
    maps = [turned[each] for each in there]
    return Spectrum(there, maps, np.array(costs), iterations, converged_, name, run.source, ended)


def _checked(attractions: Any, method: str | Method) -> tuple[float, ...]:
    """The attractions as numbers, or, before any work, what is wrong with one of them."""
    if isinstance(attractions, (str, bytes)) or not hasattr(attractions, "__len__") or not len(attractions):
        raise ValueError(f"attractions must be several numbers, such as (1, 4, 30), got {attractions!r}")
    wanted = tuple(check(Settings(attraction=each))["attraction"] for each in attractions)
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"attractions must differ, got {', '.join(f'{each:g}' for each in wanted)}")
    composition = named(method) if isinstance(method, str) else method
    if isinstance(composition, Method):
        for each in wanted:
            check_attraction(composition, each)
    return wanted


def _sooner(run: Run) -> dict[str, Any]:
    """The same stop as usual, told from fewer iterations: what is stiff, or near its end, does not circle."""
    tol, patience = run.usual_stop()
    fewer = min(patience, PATIENCE)
    return {"tol": tol * fewer / patience, "patience": fewer}
