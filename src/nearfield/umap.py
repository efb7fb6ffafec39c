"""UMAP with the names of umap-learn: swap the import, keep the code."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from numbers import Real
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from scipy.optimize import curve_fit

from nearfield.affinity.fuzzy import FuzzyNeighbours
from nearfield.algebra.costs import NegativeSampling
from nearfield.algebra.kernels import UMAP as Kernel
from nearfield.algebra.method import Method
from nearfield.checks import whole
from nearfield.defaults import epochs
from nearfield.descent.finish import finish
from nearfield.descent.flow import Flow
from nearfield.descent.run import Run
from nearfield.descent.settings import OPTIONS, option, parameters, shared, takes_options
from nearfield.descent.starts import check_positions
from nearfield.descent.wide import boxed
from nearfield.estimators import _MapEstimator

FEWEST = 10  # epochs, up to which weights are dropped as if there were as many as usual
CURVE = 300  # places at which the kernel is fitted
SIDE = Flow.habits.side or 1.0


@takes_options
@dataclass(eq=False, repr=False)
class UMAP(_MapEstimator):
    """UMAP with the names of umap-learn: swap the import, keep the code.

    What umap-learn's program minimises by drawing points at random is minimised here in expectation, without
    drawing any: the map is the same at every run, on any number of threads. See the page on UMAP.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    embedding_, graph_
        As in `umap.UMAP`: the map, and the weights of neighbours.
    cost_, converged_, interrupted_, history_, plan_, method_, n_iter_, learning_rate_
        As in `Embedder`.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> nf.UMAP(n_neighbors=10, n_epochs=50, random_state=0).fit_transform(X).shape
    (60, 2)
    """

    n_neighbors: int = option(15, "int", "How many neighbours a point has, itself included.")
    _: KW_ONLY
    n_components: int = field(default=2, metadata=OPTIONS["n_components"])
    metric_kwds: dict[str, Any] | None = option(
        None, "dict, optional", "Further arguments of the metric.", parameters
    )
    n_epochs: int | None = option(
        None,
        "int, optional",
        "How many steps are made, of a rate that falls to nothing: 500, and 200 for more than 10 000 points.",
    )
    learning_rate: float = option(1.0, "float", "The rate of the first step.")
    init: Any = option(
        "spectral",
        "{'spectral', 'pca', 'random'} or array (points, n_components)",
        "The starting positions, which are stretched along every axis to fill a box of side 10.",
    )
    min_dist: float = option(0.1, "float", "How near points may come to each other, in units of `spread`.")
    spread: float = option(1.0, "float", "The distance over which weights in the map fall.")
    set_op_mix_ratio: float = option(
        1.0, "float", "From 0, the intersection of what two points see of each other, to 1, the union."
    )
    local_connectivity: float = option(
        1.0, "float", "The rank of the neighbour up to whose distance all have weight 1."
    )
    repulsion_strength: float = option(1.0, "float", "By how much repulsion is stronger than attraction.")
    negative_sample_rate: float = option(
        5, "float", "How many points would be drawn to repel for each edge: it is what repulsion goes with."
    )
    a: float | None = option(
        None, "float, optional", "Of the kernel 1/(1 + a d^2b); by default from `min_dist`."
    )
    b: float | None = option(None, "float, optional", "As `a`.")
    precomputed_knn: Any = option(
        None,
        "tuple (indices, distances), optional",
        "Neighbours that are known, the points themselves first; what comes after the two is ignored.",
    )
    # What the others have and umap-learn has under another name, or not at all.
    perplexity: ClassVar[Any] = None  # type: ignore[misc]
    metric_params: ClassVar[Any] = None  # type: ignore[misc]
    optimizer: ClassVar[str] = Flow.name  # type: ignore[misc]
    max_iter: ClassVar[int | None] = None  # type: ignore[misc]
    tol: ClassVar[float | None] = 0.0  # type: ignore[misc]

    def _asked(self) -> tuple[str | Method, dict[str, Any]]:
        steps = None if self.n_epochs is None else whole("n_epochs", self.n_epochs, 1)
        knn = self.precomputed_knn
        if knn is not None and (not isinstance(knn, tuple) or len(knn) < 2):
            raise ValueError(
                "precomputed_knn must be a tuple (indices, distances), the points themselves first"
            )
        fuzzy = FuzzyNeighbours(
            self.n_neighbors,
            self.local_connectivity,
            self.set_op_mix_ratio,
            None if steps is None or steps <= FEWEST else 1 / steps,
            None if knn is None or knn[0] is None else (np.asarray(knn[0]), np.asarray(knn[1])),
        )
        init = self.init
        if not isinstance(init, str):
            if not np.ndim(init):
                raise ValueError(f"init must be 'spectral', 'pca', 'random' or an array, got {init!r:.80}")
            init = boxed(check_positions(init, len(init), self.n_components), SIDE)
        options = shared(self) | {"perplexity": fuzzy, "metric_params": self.metric_kwds, "init": init}
        return self._method(), options | {"optimizer": self.optimizer, "exaggeration": 1, "rate_iter": steps}

    def _method(self) -> Method:
        """The composition."""
        for name in ("negative_sample_rate", "repulsion_strength"):
            _check_number(name, getattr(self, name))
        if self.a is not None and self.b is not None:
            _check_number("a", self.a)
            _check_number("b", self.b)
        rate = self.negative_sample_rate * self.repulsion_strength
        a, b = curve(self.spread, self.min_dist) if self.a is None or self.b is None else (self.a, self.b)
        return Method(NegativeSampling(rate), Kernel(a, b), "none")

    def _finished(self, run: Run, pins: dict[int, Any] | None = None) -> Self:
        steps = epochs(len(run.Y)) if self.n_epochs is None else self.n_epochs
        _, interrupted = finish(
            run,
            steps,
            title=type(self).__name__,
            shown=bool(self.verbose),
            callback=self.callback,
            pins=pins,
            exactly=True,
            tol=0.0,
        )
        self.graph_ = run.graph
        return self._keep(run, run.iteration >= steps, interrupted)

    def inverse_transform(self, X: Any) -> NoReturn:
        """Is not there: a map of this kind cannot be turned round; `place` names a point's neighbours."""
        raise NotImplementedError(
            "nearfield.UMAP has no inverse_transform: take the neighbours that place(X) gives, and their mean"
        )

    def update(self, X: Any) -> NoReturn:
        """Is called `extend` here."""
        raise NotImplementedError("nearfield.UMAP has no update: use extend(X), which adds rows to the map")


def curve(spread: float, min_dist: float) -> tuple[float, float]:
    """The a and b with which 1/(1 + a d^2b) comes nearest to 1 up to `min_dist` and a fall over `spread`.

    Examples
    --------
    >>> a, b = curve(1.0, 0.1)
    >>> round(a, 3), round(b, 3)
    (1.577, 0.895)
    """
    _check_number("spread", spread)
    _check_number("min_dist", min_dist)
    if spread == 0 or min_dist > spread:
        raise ValueError(f"min_dist must be at most spread, which is positive; got {min_dist} and {spread}")
    d = np.linspace(0, 3 * spread, CURVE)
    wanted = np.where(d < min_dist, 1.0, np.exp(-(d - min_dist) / spread))
    # In units of the spread, and of the logarithms of a and b, which are positive.
    found, _ = curve_fit(
        lambda t, a, b: 1 / (1 + np.exp(a) * t ** (2 * np.exp(b))), d / spread, wanted, (0.0, 0.0)
    )
    b = float(np.exp(found[1]))
    return float(np.exp(found[0]) / spread ** (2 * b)), b


def _check_number(name: str, value: Any) -> None:
    """Refuse what is no number from 0 up."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name} must be a number from 0 up, got {value!r:.80}")
