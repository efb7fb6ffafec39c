"""Several perplexities at once: P is the mean over scales, which enter a descent from coarse to fine.

Each perplexity K_h gives a P_h of its own, and P is their mean: neighbourhoods of all sizes are kept, and no
perplexity has to be chosen. The kernel of the map may have one precision for each. See Lee, Peluffo-Ordóñez
and Verleysen (2015), "Multi-scale similarities in stochastic neighbour embedding".
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from nearfield.affinity import loops
from nearfield.affinity.distances import check_apart, distances
from nearfield.affinity.given import distance_graph
from nearfield.affinity.perplexity import calibrate
from nearfield.algebra.method import Method
from nearfield.algebra.parts import Array
from nearfield.io.checks import check_count
from nearfield.threads import spread

MULTISCALE = "multiscale"


def ladder(n: int) -> Array:
    """The perplexities 2, 4, 8, … up to about half of the points.

    Examples
    --------
    >>> ladder(100)
    array([ 2.,  4.,  8., 16., 32., 64.])
    """
    highest = max(1, round(np.log2(n / 2)))
    return np.unique(np.minimum(2.0 ** np.arange(1, highest + 1), n - 1))


def several(perplexity: Any, method: Method, n: int) -> Array | None:
    """The perplexities of a multi-scale target, rising; None if there is but one.

    Examples
    --------
    >>> import nearfield as nf
    >>> several([5, 50], nf.method("tsne"), 100)
    array([ 5., 50.])
    >>> several(30, nf.method("tsne"), 100) is None
    True
    """
    if perplexity is None and isinstance(method.scales, str):
        perplexity = MULTISCALE
    if isinstance(perplexity, str):
        if perplexity != MULTISCALE:
            raise ValueError(
                f"perplexity must be a number, a list of numbers or {MULTISCALE!r}, got {perplexity!r}"
            )
        check_count(n)
        return ladder(n)
    if not isinstance(perplexity, (list, tuple)):
        return None
    if not perplexity or not all(isinstance(k, Real) and not isinstance(k, bool) for k in perplexity):
        raise ValueError(f"a list of perplexities must hold numbers, got {perplexity!r}")
    values = np.array(perplexity, dtype=np.float64)
    if not np.all(np.diff(values) > 0):
        raise ValueError(f"perplexities must rise, without repetition, got {list(perplexity)}: sort them")
    if not values[0] >= 1:
        raise ValueError(f"perplexities must be at least 1, got {values[0]:g}")
    if not values[-1] <= n - 1:
        raise ValueError(f"perplexity {values[-1]:g} is more than the {n - 1} others that a point has")
    return values


def rungs(
    method: Method,
    X: Any,
    perplexities: Array,
    *,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    weights: Array | None = None,
) -> Rungs:
    """The scales of some data, which have to be known pair by pair."""
    if method.target_kind == "distances":
        raise ValueError("a cost of distances has no perplexity, and so no scales")
    if weights is not None:
        raise ValueError("weights go with one perplexity: repeat the rows, or choose one")
    if isinstance(metric, str) and metric == "affinity":
        raise ValueError("a ready P has its scales in it already: leave out perplexity")
    if distance_graph(X, metric) is not None:
        raise ValueError("several perplexities need the distances of all pairs, and a graph has only some")
    squared = distances(X, metric, metric_params, n_jobs, squared=True)
    check_apart(squared)
    return Rungs(method, squared, perplexities, n_jobs)


class Rungs:
    """The scales of a data set, and P averaged over those that have entered so far, the coarsest first.

    Parameters
    ----------
    method : Method
        What the target is for.
    squared : array (points, points)
        Squared distances.
    perplexities : array
        Rising.

    Attributes
    ----------
    beta : array (scales, points)
        The precision of each point at each scale; infinite where a row is uniform over ties.
    """

    def __init__(
        self, method: Method, squared: Array, perplexities: Array, n_jobs: int | None = None
    ) -> None:
        self.method, self.squared, self.perplexities, self.n_jobs = method, squared, perplexities, n_jobs
        self.beta = np.array([calibrate(squared.copy(), k, n_jobs=n_jobs).beta for k in perplexities])
        self.entered = 0
        self._sum = np.zeros_like(squared)

    def __len__(self) -> int:
        return len(self.perplexities)

    def _enter(self) -> None:
        self.entered += 1
        normalized = self.method.target_kind != "weights"
        arguments = (self.squared, self.beta[-self.entered], normalized, self._sum)
        spread(loops.add_scale, len(self.squared), *arguments, n_jobs=self.n_jobs)

    def climb(self) -> Array:
        """The target after the next scale has entered."""
        self._enter()
        P, bare = self._sum / self.entered, self.method.target_kind == "weights"
        if self.method.target_kind != "row":
            spread(loops.symmetrise, len(P), P, 0.5 if bare else 0.5 / len(P), n_jobs=self.n_jobs)
        return P

    def top(self) -> Array:
        """The target with all scales."""
        while self.entered < len(self) - 1:
            self._enter()
        return self.climb()

    def exponent(self, n_components: int) -> float:
        """How fast a neighbourhood's radius has to grow in the map: e = min(2, max(1, D/P)).

        D is the intrinsic dimension of the data where it is the largest: the growth of log2 K over that of
        half the logarithm of the radius τ = 1/β, from scale to scale, in the mean over the points.
        """
        growth = np.diff(np.log2(self.perplexities))[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            spreading = -np.diff(np.log2(self.beta), axis=0)
            dimensions = np.where(np.isfinite(spreading) & (spreading > 0), 2 * growth / spreading, np.nan)
        known = [row[np.isfinite(row)].mean() for row in dimensions if np.isfinite(row).any()]
        return float(min(2.0, max(1.0, max(known, default=1.0) / n_components)))

    def precisions(self, Y: Array) -> tuple[float, ...]:
        """The precisions of the map's kernel, for a map that starts at Y: from the finest to the coarsest.

        β_h = 2^(2/P) (K_max/K_h)^(2e/P)/v, with v the mean variance of the axes.
        """
        P, v = Y.shape[1], float(Y.var(axis=0).mean())
        ratio = self.perplexities[-1] / self.perplexities
        beta = 2 ** (2 / P) * ratio ** (2 * self.exponent(P) / P) / v
        return tuple(beta.tolist())
