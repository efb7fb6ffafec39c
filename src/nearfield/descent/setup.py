"""What a descent starts from, station by station: the plan, the target, the engines, the first positions."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nearfield.affinity.beyond import floored
from nearfield.affinity.copies import row_sums
from nearfield.affinity.fuzzy import FuzzyNeighbours
from nearfield.affinity.multiscale import check_scales, scale_perplexities
from nearfield.affinity.rungs import Rungs
from nearfield.affinity.source import Source
from nearfield.affinity.strata import Sampled
from nearfield.affinity.targets import NEIGHBOURS, edges_per_point
from nearfield.affinity.targets import target as target_of
from nearfield.affinity.traits import Traits
from nearfield.algebra.method import Method
from nearfield.descent.filling import fill
from nearfield.descent.guide import TSNE, Guide, joint, needs_guide
from nearfield.descent.ladder import Ladder
from nearfield.descent.optimizers import optimizer
from nearfield.descent.schedule import check_attraction
from nearfield.descent.settings import Settings
from nearfield.descent.stages import Stages
from nearfield.descent.starts import is_projection, random_numbers, start
from nearfield.descent.wide import wide_start
from nearfield.engine.base import Engine
from nearfield.engine.plan import Plan, plan
from nearfield.typing import Array

START = 1e-4  # widths of the kernel, the spread of a start in which all points see each other
TOO_WIDE = 1e8  # widths of the kernel: no point sees another, and the gradient is lost in rounding


@dataclass(frozen=True)
class Setup:
    """What a descent starts from.

    Attributes
    ----------
    method : Method
        Whose map is made, with the scales and the floor that the data call for.
    stages : Stages
        The engines that evaluate the method: one, one for each of its scales, or first that of a guide.
    Y : array (points, dimensions)
        The first positions.
    p_sums : array (points,), optional
        The sum of p at each point, by which hubs are known.
    traits : Traits
        What was noted of the points, for rows that are new in the map.
    graph : sparse array, optional
        UMAP's weights of neighbours, before the least of them were dropped.
    unfolded : bool
        Whether the first positions are a map, however small it is.
    """

    method: Method
    stages: Stages
    Y: Array
    p_sums: Array | None
    traits: Traits = field(default_factory=Traits)
    graph: Any = None
    unfolded: bool = False


def planned(method: Method, source: Source, settings: Settings) -> tuple[Method, Plan]:
    """The method with the scales that its perplexities need, and the plan; slow ones are warned of."""
    perplexities = scale_perplexities(settings.perplexity, method, source.n)
    if perplexities is not None:
        method = _with_scales(method)
    check_attraction(method, settings.attraction)
    if source.labels is not None and method.target_kind == "distances":
        raise ValueError("labels have a say in P, and a cost of distances has none: leave supervision at 0")
    scales = 1 if perplexities is None else len(perplexities)
    neighbours, drawn = edges_per_point(method, source.n, settings.perplexity, scales)
    modes = isinstance(settings.init, str) and settings.init == "spectral"  # of a graph of distances
    chosen = plan(
        method,
        source.n,
        settings.n_components,
        settings.engine,
        euclidean=source.euclidean and not modes,
        columns=source.columns,
        stored=source.stored,
        neighbours=neighbours,
        drawn=drawn,
        scales=scales,
        weighted=source.weights is not None,
        drawable=source.drawable and not modes,
    )
    if chosen.is_slow:
        warnings.warn(f"this will be slow: {chosen}", UserWarning, stacklevel=4)
    return method, chosen


def set_up(method: Method, source: Source, settings: Settings, chosen: Plan) -> Setup:
    """Target, engines and start, as the plan says; with a guide where one may be had and is needed."""
    kind = chosen.kind

    def build(method: Method, target: Any) -> Engine:
        return kind.of(
            method, target, n_jobs=source.n_jobs, accuracy=settings.accuracy, weights=source.weights
        )

    if kind.matches == "data":
        return _of_data(method, source, settings, build(method, source))
    if kind.matches == NEIGHBOURS:
        method = floored(method, source, settings.perplexity)
    if scale_perplexities(settings.perplexity, method, source.n) is not None:
        check_scales(method, source)
    traits = Traits()
    target = target_of(source, method, settings.perplexity, on=kind.matches, traits=traits)
    graph = target if isinstance(settings.perplexity, FuzzyNeighbours) and not source.affinities else None
    if graph is not None:
        target = settings.perplexity.strongest(graph)
    method = _with_parameters_of_points(method, source.n)
    rungs, target = (target, _first(target, method)) if isinstance(target, Rungs) else (None, target)
    whole = target.folded() if isinstance(target, Sampled) else target
    Y = _start(method, source, settings, whole, start_spread(method))
    p_sums = None if method.kernel is None else _p_sums(method, source, whole)
    if rungs is not None and method.climbs:
        return Setup(method, Ladder(method, rungs, build, Y, target), Y, p_sums, traits)
    engine = build(method, target)
    may_guide = settings.optimizer == "auto" and needs_guide(method)
    if may_guide and float(Y.std()) < method.kernel.width:  # type: ignore[union-attr]
        guide = Guide(engine, build(TSNE, joint(method, target, engine.mass)), settings.attraction)
        return Setup(method, guide, Y, p_sums, traits, graph)
    return Setup(method, Stages(engine), Y, p_sums, traits, graph)


def _of_data(method: Method, source: Source, settings: Settings, engine: Engine) -> Setup:
    """Where the target is the data themselves: a cost of distances."""
    spread = None
    if isinstance(settings.init, str) and settings.init == "random":  # as large as the distances call for
        spread = (engine.mean_square / (2 * settings.n_components)) ** 0.5
    distances = source.X if source.given else None
    return Setup(method, Stages(engine), _start(method, source, settings, distances, spread), None)


def _first(rungs: Rungs, method: Method) -> Any:
    """The target to begin with: with the coarsest scale alone, if they enter one by one."""
    return rungs.target(1 if method.climbs else None)


def _start(method: Method, source: Source, settings: Settings, target: Any, spread: float | None) -> Array:
    side = None if settings.optimizer == "auto" else optimizer(settings.optimizer).habits.side
    if side is not None and isinstance(settings.init, str):
        return wide_start(
            settings.init,
            side,
            n_components=settings.n_components,
            random=random_numbers(settings.random_state),
            graph=target,
            data=source.coordinates,
            n_jobs=source.n_jobs,
        )
    Y = start(
        settings.init,
        n=source.n,
        n_components=settings.n_components,
        random=random_numbers(settings.random_state),
        data=source.coordinates,
        target=target,
        is_distance=method.target_kind == "distances",
        spread=spread,
        n_jobs=source.n_jobs,
    )
    put = ~np.isnan(Y[:, 0])
    Y = fill(Y, source, target, method.target_kind == "distances")
    if method.climbs and not Y.std() > 0:
        raise ValueError(
            "init puts all points in one place, and scales are made to its measure: scatter them"
        )
    if method.kernel is None or method.climbs or float(Y.std()) < method.kernel.width:
        return Y
    if side is None and source.coordinates is not None and is_projection(Y[put], source.coordinates[put]):
        return Y * (START * method.kernel.width / (Y[:, 0].std() or Y.std()))  # if the first axis has none
    if np.ptp(Y) > TOO_WIDE * method.kernel.width:
        raise ValueError(
            f"init is {np.ptp(Y) / method.kernel.width:.0e} widths of the kernel across, and points so far"
            f" apart feel nothing of each other: divide it by {Y.std():.0e}"
        )
    return Y


def _p_sums(method: Method, source: Source, P: Any) -> Array:
    """The sum of p at each point, in both directions."""
    sums = row_sums(P, source.weights)
    return sums + row_sums(P.T, source.weights) if method.target_kind == "row" else sums


def _with_parameters_of_points(method: Method, n: int) -> Method:
    """The method with one value per point of every parameter that is learned per point."""
    if not method.learned or method.kernel is None:
        return method
    return method._with(kernel=method.kernel.expanded(n))


def _with_scales(method: Method) -> Method:
    """The method as several perplexities need it.

    A kernel that underflows sees nothing beyond its width, so it gets one width for each of them; a heavy
    tail reaches everywhere as it is.
    """
    if method.scales or method.kernel is None:
        return method
    return method._with(scales="auto" if method.kernel.facts.underflows else "data")


def start_spread(method: Method) -> float | None:
    """The spread of the start: of one kernel so small that all points see each other.

    Distances, and precisions of the data, have the size of the data; other scales are made to measure for
    the start, of whatever size.
    """
    if method.kernel is None or method.scales == "transfer":
        return None
    if method.scales == "auto":
        return 1.0
    return START * method.kernel.width
