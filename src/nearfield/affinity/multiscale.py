"""Several perplexities at once: P is the mean over scales, which enter a descent from coarse to fine.

Each perplexity K_h gives a P_h of its own, and P is their mean: neighbourhoods of all sizes are kept, and no
perplexity has to be chosen. The kernel of the map may have one precision for each. See Lee, Peluffo-Ordóñez
and Verleysen (2015), "Multi-scale similarities in stochastic neighbour embedding".
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from nearfield.affinity.rungs import OfAllPairs, OfStrata, Rungs
from nearfield.affinity.source import Source
from nearfield.affinity.strata import strata
from nearfield.algebra.method import Method
from nearfield.checks import check_count
from nearfield.typing import Array

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


def scale_perplexities(perplexity: Any, method: Method, n: int) -> Array | None:
    """The perplexities of a multi-scale target, rising; None if there is but one.

    Examples
    --------
    >>> import nearfield as nf
    >>> scale_perplexities([5, 50], nf.method("tsne"), 100)
    array([ 5., 50.])
    >>> scale_perplexities(30, nf.method("tsne"), 100) is None
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


def check_scales(method: Method, source: Source) -> None:
    """Refuse what cannot have several perplexities."""
    if method.target_kind == "distances":
        raise ValueError("a cost of distances has no perplexity, and so no scales")
    if source.weights is not None:
        raise ValueError("weights go with one perplexity: repeat the rows, or choose one")
    if source.affinities:
        raise ValueError("a ready P has its scales in it already: leave out perplexity")
    if source.graph is not None:
        raise ValueError("several perplexities need the distances of all pairs, and a graph has only some")


def rungs(method: Method, source: Source, perplexities: Any, *, sampled: bool = False) -> Rungs:
    """The scales of some data, of all pairs or, `sampled`, on the strata of their neighbours."""
    check_scales(method, source)
    if sampled:
        return OfStrata(method, strata(source), perplexities, source.n_jobs, source.labels)
    squared = source.distances(squared=True)
    return OfAllPairs(method, squared, perplexities, source.n_jobs, labels=source.labels)
