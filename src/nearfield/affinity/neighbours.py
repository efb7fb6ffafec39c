"""The nearest neighbours of every point: exact where that is quick, else approximate with measured recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from nearfield.affinity.space import space
from nearfield.parallel import one_blas_thread


@dataclass(frozen=True)
class Neighbours:
    """Neighbours and squared distances, nearest first, without the points themselves.

    Where a point has fewer than k, the places at the end of its row are at infinity.

    Attributes
    ----------
    indices : array of int32 (points, k)
        The neighbours.
    squared : array of float32 (points, k)
        Their squared distances.
    recall : float
        The share of the true neighbours among them, measured on a sample; 1 where they are exact.
    how : str
        How they were found, in a few words.
    """

    indices: Any
    squared: Any
    recall: float
    how: str


@one_blas_thread()
def neighbours(
    X: Any,
    k: int,
    *,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Neighbours:
    """The k nearest neighbours of every row of X.

    Euclidean and cosine distances are fast at any size; other metrics of scikit-learn are computed for all
    pairs, in blocks. The result does not depend on `n_jobs`.

    Examples
    --------
    >>> import numpy as np
    >>> found = neighbours(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> found.indices.ravel(), found.squared.ravel()
    (array([1, 0, 1], dtype=int32), array([1., 1., 4.], dtype=float32))
    """
    n = X.shape[0]
    if not 1 <= k <= n - 1:
        raise ValueError(f"a point has {n - 1} others, so k cannot be {k}")
    where = space(X, metric, metric_params)
    indices, squared, recall, how = where.nearest(k, n_jobs)
    share_out(indices, squared)
    return Neighbours(indices, squared, recall, how)


def share_out(indices: Any, squared: Any) -> None:
    """Give equal points of which there are more than k different neighbours among each other, in place.

    Any k of them are nearest; but a search finds the same k for all, and those would be tied to all others
    by so many springs that the map is torn. So each names k at random, and is named by k.
    """
    n, k = indices.shape
    equal = (squared == 0).all(axis=1)
    if not equal.any():
        return
    pairs = (np.repeat(np.flatnonzero(equal), k), indices[equal].ravel())
    graph = sparse.csr_array((np.ones(len(pairs[0]), np.int8), pairs), (n, n))
    _, group = csgraph.connected_components(graph, directed=False)
    random = np.random.default_rng(0)
    for large in np.flatnonzero(np.bincount(group) > k):
        members = np.flatnonzero(group == large)
        steps = 1 + random.choice(len(members) - 1, k, replace=False)  # around a ring of the members
        places = np.flatnonzero(equal[members])
        indices[members[places]] = members[(places[:, None] + steps) % len(members)]
