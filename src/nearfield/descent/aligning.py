"""Maps that stay comparable: several data sets, mapped together, with the points that they share tied.

Maps that are made separately and laid on one another afterwards differ in what no rotation mends: groups that
went to other sides, a cluster in two halves. Here the maps unfold side by side, iteration by iteration, and
what they share holds them together on the way: one descent of the sum of all costs and of the ties between.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nearfield.algebra.method import Method
from nearfield.checks import whole
from nearfield.defaults import MAX_ITER
from nearfield.descent.descent import RECORD
from nearfield.descent.optimizers import Momentum
from nearfield.descent.progress import Progress
from nearfield.descent.run import Run
from nearfield.descent.settings import check_one_run
from nearfield.io.maps import Map
from nearfield.parallel import one_blas_thread
from nearfield.steer.base import positive
from nearfield.steer.ties import WIDTH, Tie, Ties, radius
from nearfield.typing import Array

STRENGTH = 0.25  # what MNIST's maps share drifts less than a fifth as far, for some 1.7 % more KL


@dataclass(frozen=True, eq=False, repr=False)
class Aligned:
    """Several maps that were made together.

    Attributes
    ----------
    maps : list of Map
        In the order of the data, in common coordinates: ``maps[0].Y`` and the others go on the same axes.
    cost : array (maps,)
        Of each, without the ties.
    drift : array (maps, maps)
        How far the points that two maps share are apart, root mean square, in units of the maps' radius; NaN
        for two that share none. With ``strength=0`` it is what Procrustes' rotation leaves of separate maps.
    iterations : int
        That each made.
    converged, interrupted : bool
        Whether all came to rest; whether Ctrl-C ended it.
    """

    maps: list[Map]
    cost: Array
    drift: Array
    iterations: int
    converged: bool
    interrupted: bool

    def __repr__(self) -> str:
        sizes = ", ".join(str(len(each.Y)) for each in self.maps)
        method = self.maps[0].parameters["method"]
        furthest = np.nanmax(self.drift)
        told = f"drift at most {furthest:.2g} of the radius, {self.iterations} iterations"
        return f"<Aligned maps of {method}: {sizes} points, {told}>"


class Together:
    """Runs that iterate side by side, with ties between them.

    Parameters
    ----------
    runs : list of Run
        Before their first iteration.
    ties : Ties
        Which of their points are the same.
    strength : float
        Of the ties; 0 is none at all.
    """

    def __init__(self, runs: list[Run], ties: Ties, strength: float) -> None:
        self.runs, self.ties, self.strength = runs, ties, strength
        self.lay()
        for k, run in enumerate(runs if strength > 0 else ()):
            run.add(Tie(ties, k, strength))

    @property
    def iteration(self) -> int:
        """How many iterations each has made."""
        return self.runs[0].iteration

    def latest(self, name: str) -> float:
        """The sum over the maps of what was last written to a column of their histories."""
        return sum(run.latest(name) for run in self.runs)

    @one_blas_thread()
    def lay(self) -> list[Array]:
        """The maps as they are now, in common coordinates."""
        maps = [run.Y for run in self.runs]
        self.ties.lay(maps, [dot(run, self.strength) for run in self.runs])
        return self.ties.laid(maps)

    def iterate(self, tol: float | None) -> bool:
        """Make one iteration of each; whether all of them have come to rest."""
        if self.strength > 0:
            self.lay()
        due = (self.iteration + 1) % RECORD == 0
        rests = [run.converge(run.iteration + 1, tol=tol if due else 0.0) for run in self.runs]
        return all(rests)


def dot(run: Run, strength: float) -> float:
    """The radius below which a map is a dot yet, and its size is taken for this.

    That is the width of the kernel; costs of distances, and scales made to measure, start at their full size.
    Momentum's steps have a fixed rate, and ties stiffer than the map's own springs would tear at it: there it
    is so many widths that none is.
    """
    method = run.method
    if method.kernel is None or method.climbs or method.precisions != (1.0,):
        return 0.0
    steps = run.phase_at(run.iteration).optimizer == Momentum.name
    return float(method.kernel.width) * (max(1.0, 2 * strength / WIDTH**2) if steps else 1.0)


def align(
    datasets: Sequence[Any],
    ids: Sequence[Any] | None = None,
    method: str | Method = "tsne",
    *,
    strength: float = STRENGTH,
    init: Any = "pca",
    max_iter: int = MAX_ITER,
    tol: float | None = None,
    verbose: bool = False,
    **options: Any,
) -> Aligned:
    """Map several data sets together, so that what they share lies in the same place.

    The maps minimise the sum of their costs and of ties: a point that several data sets have is drawn, in
    each map, to the mean of its places in all of them. Ties act from the first iteration on, and hold what
    hardly differs; a point whose neighbours are others from one data set to the next may go where it belongs.

    Parameters
    ----------
    datasets : list of array, sparse matrix or data frame
        Two or more, each as `Run` takes it; they may have other rows, other columns, or be the same at
        several times. Distances, neighbours or affinities if `metric` says so.
    ids : list of sequence, optional
        What each row of each data set stands for, by numbers or text: rows of the same id are tied. Rows may
        be in any order, and need not be in all data sets. By default the data sets have the same rows in the
        same order.
    method : str or Method
        A name of the catalogue, or a composition.
    strength : float
        Of the ties, in units of the force that a point feels anyway, whatever the number of points. 0 makes
        separate maps, and lays them on one another by Procrustes' rotation.
    init : {'pca', 'random', 'spectral'} or list
        The start of all maps, or one for each.
    max_iter : int
        A ceiling on the iterations.
    tol : float, optional
        All end when each has come to rest; see `Run.converge`.
    verbose : bool
        Whether to show progress.
    **options
        Further options of `Run`, the same for all.

    Returns
    -------
    Aligned
        The maps in common coordinates, their costs, and how far shared points are apart. Ctrl-C keeps what is
        there.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(90, 5))
    >>> aligned = nf.align([X[:60], X[30:]], ids=[range(60), range(30, 90)], perplexity=10, random_state=0)
    >>> [each.Y.shape for each in aligned.maps], aligned.cost.shape
    ([(60, 2), (60, 2)], (2,))
    >>> aligned.drift[0, 1] < nf.align([X[:60], X[30:]], [range(60), range(30, 90)], perplexity=10,
    ...     strength=0, random_state=0).drift[0, 1]
    np.True_
    """
    check_one_run("align", options)
    datasets = _several(datasets)
    strength, max_iter = positive("strength", strength, least=0), whole("max_iter", max_iter, 1)
    counts = [_count(k, X) for k, X in enumerate(datasets)]
    ties = Ties(_checked(ids, counts))
    inits = list(init) if isinstance(init, (list, tuple)) else [init] * len(datasets)
    if len(inits) != len(datasets):
        raise ValueError(f"init has {len(inits)} starts for {len(datasets)} data sets: give one for each")
    runs = [
        _run(k, X, method, start, options) for k, (X, start) in enumerate(zip(datasets, inits, strict=True))
    ]
    together = Together(runs, ties, strength)
    converged = interrupted = False
    with Progress(max_iter, f"align {len(runs)} maps", bool(verbose)) as progress:
        try:
            while not converged and together.iteration < max_iter:
                converged = together.iterate(tol)
                if together.iteration % RECORD == 0:
                    progress(together)
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        warnings.warn(
            f"interrupted at iteration {together.iteration}: these are the maps so far",
            UserWarning,
            stacklevel=2,
        )
    for k, run in enumerate(runs):
        trouble = run.diagnosis()
        if trouble:
            warnings.warn(f"map {k}: {trouble}", UserWarning, stacklevel=2)
    return _result(together, strength, converged, interrupted)


def _result(together: Together, strength: float, converged: bool, interrupted: bool) -> Aligned:
    laid, runs = together.lay(), together.runs
    maps = []
    for run, Y in zip(runs, laid, strict=True):
        made = run.map()  # without its session, to which the other maps belong
        parameters = made.parameters | {"strength": strength}
        maps.append(replace(made, Y=Y, parameters=parameters, session={}, arrays=[]))
    cost = np.array([run.cost for run in runs])
    return Aligned(maps, cost, drifts(laid, together.ties), together.iteration, converged, interrupted)


def drifts(maps: Sequence[Array], ties: Ties) -> Array:
    """How far the points that two maps share are apart, for all pairs; see `Aligned.drift`.

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    >>> drifts([square, square + [0.0, 2.0**0.5]], Ties([[1, 2, 3, 4]] * 2)).round(6)
    array([[0., 1.],
           [1., 0.]])
    """
    found = np.zeros((len(maps), len(maps)))
    for a in range(len(maps)):
        for b in range(a):
            here, there = ties.shared(a, b)
            unit = np.hypot(radius(maps[a]), radius(maps[b])) / 2**0.5
            gaps = maps[a][here] - maps[b][there]
            apart = np.sqrt(np.mean(np.sum(gaps * gaps, axis=1))) / unit if len(here) and unit > 0 else np.nan
            found[a, b] = found[b, a] = apart
    return found


def _several(datasets: Any) -> list[Any]:
    if not isinstance(datasets, (list, tuple)) or len(datasets) < 2:
        raise ValueError(
            "align takes a list of two data sets or more, such as align([X1, X2], ids=[ids1, ids2])"
        )
    return list(datasets)


def _count(k: int, X: Any) -> int:
    """The number of points of a data set; neighbours are a tuple of indices and distances."""
    shape = np.shape(X[0]) if isinstance(X, tuple) and X else getattr(X, "shape", None) or np.shape(X)
    if not shape:
        raise ValueError(f"data set {k} must be an array of points and columns, got {type(X).__name__}")
    return int(shape[0])


def _checked(ids: Any, counts: list[int]) -> list[list[Any]]:
    """The ids of each data set as plain values, or one line about what is wrong with them."""
    if ids is None:
        if len(set(counts)) > 1:
            told = ", ".join(str(each) for each in counts)
            raise ValueError(f"the data sets have {told} rows: say by ids which of them are the same")
        return [list(range(counts[0]))] * len(counts)
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__len__") or len(ids) != len(counts):
        raise ValueError(f"ids must be a list of {len(counts)}, the ids of each data set")
    found = []
    for k, (own, n) in enumerate(zip(ids, counts, strict=True)):
        try:
            named = np.asarray(own).tolist() if hasattr(own, "dtype") else list(own)
        except TypeError:
            raise ValueError(f"ids of data set {k} must be a sequence of {n}, got {own!r}") from None
        if len(named) != n:
            raise ValueError(f"data set {k} has {n} rows, but {len(named)} ids: give one to each")
        rows: dict[Any, int] = {}
        for row, each in enumerate(named):
            if not isinstance(each, (str, int, float, np.generic)) or each != each:
                raise ValueError(f"ids must be numbers or text, got {each!r} in row {row} of data set {k}")
            if rows.setdefault(each, row) != row:
                raise ValueError(f"rows {rows[each]} and {row} of data set {k} have the same id, {each!r}")
        found.append(named)
    return found


def _run(k: int, X: Any, method: str | Method, init: Any, options: dict[str, Any]) -> Run:
    """The run of a data set; what is wrong with it is told with its number."""
    try:
        return Run(X, method, init=init, **options)
    except ValueError as error:
        raise ValueError(f"data set {k}: {error}") from error
