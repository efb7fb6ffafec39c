"""Starts as wide as a map: they fill a box along every axis, as those of UMAP do.

The spectral one takes the slowest modes of the graph's normalized Laplacian. A graph that falls apart has no
such modes but those that tell its parts from each other; so each part has its own, around a place for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import cKDTree

from nearfield.descent.starts import FAINT, largest_eigenvectors, principal_components
from nearfield.parallel import one_blas_thread
from nearfield.typing import Array

NOISE = 1e-5  # of the box, that tells points in one place from each other
FEW = 4  # points of a part, up to which they have no modes worth the name


def wide_start(
    init: str,
    side: float,
    *,
    n_components: int,
    random: np.random.RandomState,
    graph: Any,
    data: Any = None,
    n_jobs: int | None = None,
) -> Array:
    """Positions in a box of this side: "spectral", "pca" or "random".

    Without data, "pca" is "spectral".
    """
    n = graph.shape[0]
    if init == "random":
        Y = random.uniform(size=(n, n_components))
    elif init == "pca" and data is not None:
        Y = principal_components(data, n_components, random, n_jobs)
    else:
        Y = modes_of_parts(graph, n_components, random, data)
    Y = Y * (side / np.abs(Y).max())
    return boxed(Y + NOISE * side * random.standard_normal(Y.shape), side)


def boxed(Y: Array, side: float) -> Array:
    """Positions stretched along every axis so that they fill a box of this side.

    Examples
    --------
    >>> boxed(np.array([[0.0, 1.0], [1.0, 1.5], [4.0, 2.0]]), 10.0).tolist()
    [[0.0, 0.0], [2.5, 5.0], [10.0, 10.0]]
    """
    low, high = np.nanmin(Y, axis=0), np.nanmax(Y, axis=0)  # rows of NaN have no place yet
    return side * (Y - low) / np.where(high > low, high - low, 1.0)


@one_blas_thread()
def modes_of_parts(graph: Any, n_components: int, random: np.random.RandomState, data: Any = None) -> Array:
    """The slowest modes of each connected part of a graph, the parts being apart from each other."""
    graph = sparse.csr_array(graph)
    count, part = csgraph.connected_components(graph, directed=False)
    if count == 1 and graph.shape[0] > n_components + 1:
        return _modes(graph, n_components, random)
    places = _places(part, count, n_components, random, data)
    # Half of the way to the nearest other part is what each has for itself.
    rooms = cKDTree(places).query(places, 2)[0][:, 1] / 2 if count > 1 else np.ones(1)
    Y = np.empty((graph.shape[0], n_components))
    by_part = np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part))[:-1])
    for k, members in enumerate(by_part):
        if len(members) <= max(FEW, n_components + 1):
            within = random.uniform(-1, 1, size=(len(members), n_components))
        else:
            within = _modes(graph[members][:, members], n_components, random)
        Y[members] = places[k] + within * (rooms[k] / np.abs(within).max())
    return Y


def _modes(graph: Any, n_components: int, random: np.random.RandomState) -> Array:
    """Eigenvectors of D^(-1/2) V D^(-1/2) with the largest eigenvalues but one."""
    root = 1 / np.sqrt(np.maximum(np.asarray(graph.sum(axis=1), dtype=np.float64).ravel(), 1e-140))
    scaled = sparse.csr_array(sparse.diags_array(root) @ graph @ sparse.diags_array(root))
    return largest_eigenvectors(scaled, n_components + 1, random)[1][:, 1:]


def _places(part: Any, count: int, n_components: int, random: np.random.RandomState, data: Any) -> Array:
    """Where the parts are: few of them on both ends of the axes, many as their means are in the data."""
    ends = np.vstack([np.eye(n_components), -np.eye(n_components)])
    if count <= len(ends):
        return ends[:count]
    scattered = random.standard_normal((count, n_components))
    if data is None:
        return scattered
    members = sparse.csr_array((np.ones(len(part)), (part, np.arange(len(part)))), (count, len(part)))
    means = members @ data
    means = (means.toarray() if sparse.issparse(means) else means) / members.sum(axis=1)[:, None]
    places = principal_components(means, n_components, random)
    return places + FAINT * places[:, 0].std() * scattered
