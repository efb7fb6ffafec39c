"""Weights as UMAP has them: each point sees its neighbours in a measure of its own, and views are united.

See McInnes, Healy and Melville (2018). They stand in the place of those that a perplexity gives.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.fuzzy_loops import memberships
from nearfield.affinity.given import as_matrix, distance_graph, nearest_stored
from nearfield.affinity.neighbours import Neighbours, neighbours
from nearfield.affinity.source import Source
from nearfield.affinity.space import squarable
from nearfield.affinity.traits import NEAREST, Traits
from nearfield.checks import check_count, whole
from nearfield.defaults import epochs
from nearfield.parallel import over_chunks
from nearfield.typing import Array


@dataclass(frozen=True)
class FuzzyNeighbours:
    """What makes UMAP's weights of data; it is passed as `perplexity`, for costs of bare weights.

    With o the distance to the nearest neighbour that is not at 0, a_ij = exp(-max(0, r_ij - o_i)/σ_i) sums to
    log2 k over the others among the k = `n_neighbors` nearest, the point itself being one of them. The
    weights are s (a + aᵀ - a aᵀ) + (1 - s) a aᵀ, element by element.

    Parameters
    ----------
    n_neighbors : int
        How many neighbours a point has, itself included; of fewer points, all but one.
    local_connectivity : float
        The rank of the neighbour whose distance is o; it and all that are nearer have a = 1.
    set_op_mix_ratio : float
        s: from 0, the intersection of what two points see, to 1, the union.
    least : float or None
        Weights below this share of the largest are dropped when a map is made; None is one over the number of
        UMAP's epochs, within which so weak an edge would not be visited.
    known : (array, array), optional
        Indices and distances (points, k) of the nearest, the points themselves first, where they were found
        elsewhere; -1 is an empty place.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> V = nf.method("umap_sampled").target(X, perplexity=nf.FuzzyNeighbours(10))
    >>> V.shape, float(V.max()) == 1.0
    ((100, 100), True)
    """

    n_neighbors: int = 15
    local_connectivity: float = 1.0
    set_op_mix_ratio: float = 1.0
    least: float | None = 0.0
    known: tuple[Array, Array] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        whole("n_neighbors", self.n_neighbors, 2)
        if not _is_number(self.local_connectivity) or not 0 <= self.local_connectivity < np.inf:
            raise ValueError(f"local_connectivity must be 0 or more, got {self.local_connectivity!r}")
        for name in ("set_op_mix_ratio", "least"):
            value = getattr(self, name)
            if value is None and name == "least":
                continue
            if not _is_number(value) or not 0 <= value <= 1:
                raise ValueError(f"{name} must be between 0 and 1, got {value!r}")

    def others(self, n: int) -> int:
        """How many neighbours each of n points has beside itself."""
        return max(1, min(self.n_neighbors, n - 1) - 1)

    def graph(self, source: Source, traits: Traits | None = None) -> Any:
        """The weights of all pairs of neighbours, in float32, symmetric."""
        check_count(source.n)
        if source.weights is not None:
            raise ValueError("UMAP's weights know of no copies: repeat the rows, or leave out weights")
        k = self.others(source.n)
        if source.graph is not None:
            k = min(k, int(np.diff(source.graph.indptr).max()))
        found = neighbours(source, k) if self.known is None else self._found(source, k)
        if traits is not None and k >= NEAREST:
            traits.unit = found.unit
            traits.note_spacing(found.indices[:, :NEAREST], found.squared[:, :NEAREST])
        a = self.seen(np.sqrt(found.squared.astype(np.float64)), source.n, source.n_jobs)
        if source.labels is not None:
            source.labels.discount(a, found.indices, bare=True)
        there = a > 0
        indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        rows = sparse.csr_array((a[there].astype(np.float32), found.indices[there], indptr), (source.n,) * 2)
        rows.sort_indices()
        columns = sparse.csr_array(rows.T)
        both = rows * columns
        united, s = rows + columns - both, np.float32(self.set_op_mix_ratio)
        v = sparse.csr_array(united if s == 1 else s * united + (1 - s) * both)
        v.eliminate_zeros()
        return v

    def _found(self, source: Source, k: int) -> Neighbours:
        """The neighbours that are known, as a search would give them; or what is wrong with them."""
        indices, distances = (np.asarray(each) for each in self.known or ())
        if indices.shape != distances.shape or indices.ndim != 2 or len(indices) != source.n:
            raise ValueError(
                f"precomputed_knn must be indices and distances of {source.n} rows, got shapes"
                f" {indices.shape} and {distances.shape}"
            )
        if indices.shape[1] < k + 1:
            raise ValueError(
                f"precomputed_knn has {indices.shape[1]} neighbours a point, itself included, and"
                f" n_neighbors={k + 1} needs {k + 1}: give it more, or lower n_neighbors"
            )
        given = (indices, np.asarray(distances, dtype=np.float64))
        graph = distance_graph(as_matrix(given, "precomputed"), "precomputed")
        found = nearest_stored(graph, k, source.n_jobs, np.float32)
        return Neighbours(*found, 1.0, "as they were given", 1 / squarable(graph.data.max()))

    def seen(self, distances: Array, n: int, n_jobs: int | None = None, mean: float | None = None) -> Array:
        """What rows see of their neighbours, nearest first; the distances are overwritten.

        Parameters
        ----------
        distances : array (rows, k)
            Infinite at the end of a row of fewer.
        n : int
            How many points there are in all.
        mean : float, optional
            The mean distance of all rows, the points themselves counted; by default it is taken.
        """
        there = np.isfinite(distances)
        if mean is None:
            mean = float(distances[there].sum() / (there.sum() + len(distances)))
        goal = float(np.log2(self.others(n) + 1))
        arguments = (np.ascontiguousarray(distances), goal, float(self.local_connectivity), mean)
        over_chunks(memberships, len(distances), *arguments, n_jobs=n_jobs)
        return arguments[0]

    def strongest(self, graph: Any) -> Any:
        """The weights without the least, which a map would not notice."""
        least = 1 / epochs(graph.shape[0]) if self.least is None else self.least
        if least == 0 or not graph.nnz:
            return graph
        kept = graph.copy()
        kept.data[kept.data < least * kept.data.max()] = 0.0
        kept.eliminate_zeros()
        return kept


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
