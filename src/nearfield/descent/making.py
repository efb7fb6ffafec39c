"""What a descent starts from: the target, the engine that evaluates it, and the first positions."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.affinity.beyond import beyond
from nearfield.affinity.copies import seen
from nearfield.affinity.graph import near, sparse_target
from nearfield.affinity.multiscale import rungs, several
from nearfield.affinity.perplexity import check_perplexity
from nearfield.affinity.rungs import Rungs
from nearfield.affinity.source import Source
from nearfield.affinity.strata import Sampled
from nearfield.affinity.targets import target as dense_target
from nearfield.algebra.method import Method
from nearfield.descent.guide import Guide, needs_guide
from nearfield.descent.ladder import Ladder
from nearfield.descent.stages import Stages
from nearfield.descent.starts import start
from nearfield.engine.base import Engine
from nearfield.engine.exact.chain import Exact
from nearfield.engine.plan import Plan, plan
from nearfield.typing import Array

DOT = 1e-4  # widths of the kernel across: all points see each other


@dataclass(frozen=True)
class Made:
    """What a descent starts from.

    Attributes
    ----------
    stages : Stages
        The engines that evaluate the method: one, one for each of its scales, or first that of a guide.
    method : Method
        Whose map is made.
    Y : array (points, dimensions)
        The first positions.
    pull : array (points,), optional
        The sum of p at each point, by which hubs are known.
    """

    stages: Stages
    method: Method
    Y: Array
    pull: Array | None


def planned(
    method: Method, source: Source, perplexity: Any, n_components: int, engine: str, init: Any
) -> tuple[Method, Any, Plan]:
    """The method with the scales that its perplexities need, these, and the plan; slow ones are warned of."""
    perplexities = several(perplexity, method, source.n)
    if perplexities is not None:
        method = _with_scales(method)
    modes = isinstance(init, str) and init == "spectral"  # of a graph of distances, which moments are not
    chosen = plan(
        method,
        source.n,
        n_components,
        engine,
        euclidean=source.euclidean and not modes,
        columns=source.columns,
        stored=source.stored,
        perplexity=perplexity,
        scales=1 if perplexities is None else len(perplexities),
        weighted=source.weights is not None,
        drawable=not modes and source.drawable,
    )
    if chosen.is_slow:
        warnings.warn(f"this will be slow: {chosen}", UserWarning, stacklevel=4)
    return method, perplexities, chosen


def make(
    method: Method,
    source: Source,
    perplexity: Any,
    perplexities: Any,
    chosen: Plan,
    *,
    n_components: int,
    init: Any,
    random: Any,
    accuracy: float,
    guided: bool,
) -> Made:
    """Target, engine and start, as the plan says; with a guide where one may be had and is needed."""
    n, kind = source.n, chosen.kind or Exact
    scale = _start_scale(method)
    engine: Engine | None = None
    target: Any = None
    steps: Rungs | None = None

    def build(method: Method, target: Any) -> Engine:
        return kind.of(method, target, n_jobs=source.n_jobs, accuracy=accuracy, weights=source.weights)

    if kind.matches == "data":
        engine = build(method, source)
        if isinstance(init, str) and init == "random":  # as large as the distances call for
            scale = (engine.mean_square / (2 * n_components)) ** 0.5
        target = source.X if source.given else None
    elif perplexities is not None:
        neighbours = kind.matches == "neighbours"
        options = {**source.distances, "weights": source.weights, "sampled": neighbours}
        steps = rungs(method, source.X, perplexities, **options)
        target = steps.climb() if method.climbs else steps.top()
    else:
        make_target = dense_target
        if kind.matches == "neighbours":
            method, make_target = _with_floor(method, source, perplexity), sparse_target
        options = {**source.distances, "weights": source.weights}
        target = make_target(method, source.X, perplexity=perplexity, **options)
    method = _with_parameters_of_points(method, n)
    whole = target.folded() if isinstance(target, Sampled) else target
    Y = start(
        init,
        n=n,
        n_components=n_components,
        random=random,
        data=source.coordinates,
        target=whole,
        is_distance=method.target_kind == "distances",
        scale=scale,
        n_jobs=source.n_jobs,
    )
    pull = None
    if target is not None and method.kernel is not None:
        pull = seen(whole, source.weights)
        if method.target_kind == "row":  # the others of a symmetric one pull as much
            pull = pull + seen(whole.T, source.weights)
    if steps is not None and method.climbs:
        return Made(Ladder(method, steps, build, Y, target), method, Y, pull)
    engine = engine or build(method, target)
    if guided and needs_guide(method) and float(Y.std()) < method.kernel.width:  # type: ignore[union-attr]
        return Made(Guide(engine, target, build), method, Y, pull)
    return Made(Stages(engine), method, Y, pull)


def _with_parameters_of_points(method: Method, n: int) -> Method:
    """The method with one value per point of every parameter that is learned per point."""
    if not method.learned or method.kernel is None:
        return method
    return method._with(kernel=method.kernel.expanded(n))


def _with_floor(method: Method, source: Source, perplexity: Any) -> Method:
    """The method as a sparse target needs it, in which p is not known beyond the neighbours.

    A cost that is infinite at p = 0 is given what p is there on average for its floor.
    """
    if not method.cost.facts.infinite_at_zero or not source.drawable:
        return method
    perplexities = check_perplexity(perplexity, source.n)
    k = int(np.ceil(near(method) * perplexities.max()))
    floor = beyond(method, source.X, k, perplexities, **source.distances)
    return method._with(cost=method.cost._with(floor=floor))


def _with_scales(method: Method) -> Method:
    """The method as several perplexities need it.

    A kernel that underflows sees nothing beyond its width, so it gets one width for each of them; a heavy
    tail reaches everywhere as it is.
    """
    if method.scales or method.kernel is None:
        return method
    return method._with(scales="auto" if method.kernel.facts.underflows else "data")


def _start_scale(method: Method) -> float | None:
    """How large the start is: of one kernel so small that all points see each other.

    Distances, and precisions of the data, have the size of the data; other scales are made to measure for
    the start, of whatever size.
    """
    if method.kernel is None or method.scales == "transfer":
        return None
    if method.scales == "auto":
        return 1.0
    return DOT * method.kernel.width
