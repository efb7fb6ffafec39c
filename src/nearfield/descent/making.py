"""What a descent starts from: the target, the engine that evaluates it, and the first positions."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.beyond import beyond
from nearfield.affinity.copies import seen
from nearfield.affinity.graph import near, sparse_target
from nearfield.affinity.multiscale import rungs, several
from nearfield.affinity.perplexity import check_perplexity
from nearfield.affinity.strata import Sampled
from nearfield.affinity.targets import target as dense_target
from nearfield.algebra.method import Method
from nearfield.algebra.parts import Array
from nearfield.descent.guide import Guide, needs_guide
from nearfield.descent.ladder import Ladder
from nearfield.descent.starts import start
from nearfield.engine.base import Engine
from nearfield.engine.exact import exact
from nearfield.engine.moments import Moments
from nearfield.engine.pairs import Pairs
from nearfield.engine.plan import Plan, plan
from nearfield.engine.scales import mesh

DOT = 1e-4  # widths of the kernel across: all points see each other


@dataclass(frozen=True)
class Data:
    """The data of a run, and how they are to be taken."""

    X: Any
    metric: Any
    metric_params: dict[str, Any] | None
    perplexity: Any
    weights: Array | None
    n_jobs: int | None

    @property
    def given(self) -> bool:
        """Whether distances or affinities were given in place of coordinates."""
        return isinstance(self.metric, str) and self.metric in ("precomputed", "affinity")

    @property
    def plain(self) -> bool:
        """Whether Euclidean distances of coordinates are meant."""
        return isinstance(self.metric, str) and self.metric == "euclidean" and not self.metric_params

    @property
    def drawable(self) -> bool:
        """Whether neighbours of every rank can be drawn: not from some distances, or from affinities."""
        return not self.given or (self.metric == "precomputed" and not sparse.issparse(self.X))

    @property
    def distances(self) -> dict[str, Any]:
        """How distances are taken."""
        return {"metric": self.metric, "metric_params": self.metric_params, "n_jobs": self.n_jobs}


@dataclass(frozen=True)
class Made:
    """What a descent starts from.

    Attributes
    ----------
    engine : Engine
        What evaluates the method, the first of its scales, or its guide.
    method : Method
        Whose map is made.
    Y : array (points, dimensions)
        The first positions.
    pull : array (points,), optional
        The sum of p at each point, by which hubs are known.
    stages : Ladder or Guide, optional
        The engines that follow one another.
    """

    engine: Engine
    method: Method
    Y: Array
    pull: Array | None
    stages: Ladder | Guide | None


def planned(
    method: Method, data: Data, n_components: int, engine: str, init: Any
) -> tuple[Method, Any, Plan]:
    """The method with the scales that its perplexities need, these, and the plan; slow ones are warned of."""
    perplexities = several(data.perplexity, method, data.X.shape[0])
    if perplexities is not None:
        method = _with_scales(method)
    modes = isinstance(init, str) and init == "spectral"  # of a graph of distances, which moments are not
    chosen = plan(
        method,
        data.X.shape[0],
        n_components,
        engine,
        euclidean=data.plain and not modes,
        columns=0 if data.given and sparse.issparse(data.X) else data.X.shape[1],
        stored=data.X.nnz if sparse.issparse(data.X) else None,
        perplexity=data.perplexity,
        scales=1 if perplexities is None else len(perplexities),
        weighted=data.weights is not None,
        drawable=not modes and data.drawable,
    )
    if chosen.is_slow:
        warnings.warn(f"this will be slow: {chosen}", UserWarning, stacklevel=4)
    return method, perplexities, chosen


def make(
    method: Method,
    data: Data,
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
    n, weights = data.X.shape[0], data.weights
    scale, ladder = _start_scale(method), None
    target: Any = None

    def build(method: Method, target: Any) -> Engine:
        if chosen.engine == "mesh":
            return mesh(method, target, data.n_jobs, accuracy, weights)
        return exact(method, target, data.n_jobs, weights)

    engine: Engine | None = None
    if chosen.engine == "moments":
        moments = Moments(method, data.X, data.n_jobs)
        if isinstance(init, str) and init == "random":  # as large as the distances call for
            scale = (moments.mean_square / (2 * n_components)) ** 0.5
        engine = moments
    elif chosen.engine == "pairs":
        pairs = Pairs(method, data.X, **data.distances)
        if isinstance(init, str) and init == "random":
            scale = (pairs.mean_square / (2 * n_components)) ** 0.5
        engine, target = pairs, data.X if data.given else None
    elif perplexities is not None:
        steps = rungs(
            method, data.X, perplexities, **data.distances, weights=weights, sampled=chosen.engine == "mesh"
        )
        if method.climbs:
            ladder = Ladder(method, steps, build)
        target = steps.climb() if ladder is not None else steps.top()
    else:
        if chosen.engine == "mesh":
            method = _with_floor(method, data)
        make_target = sparse_target if chosen.engine == "mesh" else dense_target
        target = make_target(method, data.X, perplexity=data.perplexity, **data.distances, weights=weights)
    method = _with_parameters_of_points(method, n)
    if engine is None and ladder is None:
        engine = build(method, target)
    whole = target.folded() if isinstance(target, Sampled) else target
    Y = start(
        init,
        n=n,
        n_components=n_components,
        random=random,
        data=None if data.given else data.X,
        target=whole,
        is_distance=method.target_kind == "distances",
        scale=scale,
        n_jobs=data.n_jobs,
    )
    if ladder is not None:
        engine = ladder.begin(Y, target)
    pull = None
    if target is not None and method.kernel is not None:
        pull = seen(whole, weights)
        if method.target_kind == "row":  # the others of a symmetric one pull as much
            pull = pull + seen(whole.T, weights)
    stages: Ladder | Guide | None = ladder
    if guided and needs_guide(method) and float(Y.std()) < method.kernel.width:  # type: ignore[union-attr]
        stages = Guide(engine, target, build)  # type: ignore[arg-type]
        engine = stages.at(0)
    return Made(engine, method, Y, pull, stages)  # type: ignore[arg-type]


def _with_parameters_of_points(method: Method, n: int) -> Method:
    """The method with one value per point of every parameter that is learned per point."""
    if not method.learned or method.kernel is None:
        return method
    return method._with(kernel=method.kernel.expanded(n))


def _with_floor(method: Method, data: Data) -> Method:
    """The method as a sparse target needs it, in which p is not known beyond the neighbours.

    A cost that is infinite at p = 0 is given what p is there on average for its floor.
    """
    if not method.cost.infinite_at_zero or not data.drawable:
        return method
    n = data.X.shape[0]
    perplexities = check_perplexity(data.perplexity, n)
    k = int(np.ceil(near(method) * perplexities.max()))
    floor = beyond(method, data.X, k, perplexities, **data.distances)
    return method._with(cost=method.cost._with(floor=floor))


def _with_scales(method: Method) -> Method:
    """The method as several perplexities need it.

    A kernel that underflows sees nothing beyond its width, so it gets one width for each of them; a heavy
    tail reaches everywhere as it is.
    """
    if method.scales or method.kernel is None:
        return method
    return method._with(scales="auto" if method.kernel.underflows else "data")


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
