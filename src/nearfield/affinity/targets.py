"""What the map is to match: joint or row P, bare weights, or distances, made of a source by one function."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity import loops
from nearfield.affinity.copies import row_sums, seen, without_own
from nearfield.affinity.edges import NEGLIGIBLE, graph_target
from nearfield.affinity.fuzzy import FuzzyNeighbours
from nearfield.affinity.multiscale import rungs, scale_perplexities
from nearfield.affinity.neighbours import neighbours
from nearfield.affinity.perplexity import calibrate, check_perplexity
from nearfield.affinity.rungs import OfStrata
from nearfield.affinity.source import Source
from nearfield.affinity.strata import edge_count, pay, strata
from nearfield.affinity.traits import Traits
from nearfield.algebra.method import Method
from nearfield.checks import check_count
from nearfield.defaults import PERPLEXITY
from nearfield.parallel import over_chunks
from nearfield.typing import Array

ALL_PAIRS, NEIGHBOURS = "all pairs", "neighbours"  # what a target is made on
# Times the perplexity: so many neighbours hold all but a trace of p. More of them bring all methods closer to
# the map of all pairs; t-SNE and its kin, which are to be quick, do with fewer.
TIMES_OF_TSNE, TIMES = 3, 5


def target(
    source: Source,
    method: Method,
    perplexity: Any = None,
    *,
    on: str = ALL_PAIRS,
    traits: Traits | None = None,
) -> Any:
    """The target of a method.

    ===============  ==================================================================================
    joint P          (row + rowᵀ)/2N, for pair and joint normalization; sums to one
    row P            p_j|i = exp(-β_i d²)/Σ, for point normalization; every row sums to one
    weights          (v + vᵀ)/2 with v = p_j|i over the largest of its row, for bare weights: the
                     nearest neighbour has weight 1, however far it is in many dimensions
    distances        as they are, for a cost of distances
    ===============  ==================================================================================

    Parameters
    ----------
    source : Source
        The data, distances, a graph of neighbours, or a ready P, which is normalized as the method needs it.
        With weights the target is that between single copies: a joint P is (row + rowᵀ)/2Σm, and the
        diagonal is between two equal rows.
    method : Method
        What the target is for.
    perplexity : float, array, list, "multiscale" or FuzzyNeighbours, optional
        Effective number of neighbours, of all points or, as an array, of each; a list, or "multiscale" for
        2, 4, 8, … up to half of the points, averages over them; `FuzzyNeighbours` for weights as UMAP has
        them. By default the method's own: 30, or a third of few neighbours, or all scales.
    on : {"all pairs", "neighbours"}
        All pairs in float64, or in float32 the nearest neighbours alone. Three to five times the perplexity
        hold all but a trace of p; where that is more than strata have, which reach as far as any perplexity,
        it is those. Of neighbours that are given, the nearest are taken, as many as would be searched for.
    traits : Traits, optional
        Where to note what placing other rows asks for later.

    Returns
    -------
    array, csr_array, Sampled or Rungs
        Sparse on neighbours, and where a sparse P or the distances of some pairs were given; on strata a
        `Sampled`; of several perplexities `Rungs`, from which it is had scale by scale.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> P = target(Source.of(np.random.default_rng(0).normal(size=(20, 5))), nf.method("tsne"), 5)
    >>> P.shape, round(float(P.sum()), 12)
    ((20, 20), 1.0)
    """
    sparsely = on == NEIGHBOURS
    if source.views:
        return _of_views(source, method, perplexity, on, traits)
    if source.affinities:
        P = source.X
        if source.labels is not None:
            P = source.labels.discounted(check_target(method, P, source.weights), source.weights)
        P = normalize(method, P, source.weights)
        if not sparsely:
            return P
        P = sparse.csr_array(P)
        P.data[P.data < NEGLIGIBLE / source.n] = (
            0.0  # which float32 might take for 0, whose logarithm is none
        )
        P.eliminate_zeros()
        return P
    if method.target_kind == "distances":
        return source.distances()
    if isinstance(perplexity, FuzzyNeighbours):
        if method.target_kind != "weights":
            raise ValueError("UMAP's weights are for costs of bare weights, such as 'umap_sampled' or 'umap'")
        return perplexity.graph(source, traits)
    perplexities = scale_perplexities(perplexity, method, source.n)
    if perplexities is not None:
        return rungs(method, source, perplexities, sampled=sparsely)
    perplexities = check_perplexity(perplexity, source.n, _others(source))
    if source.graph is not None:
        _warn_of_graph(source.graph, perplexity, perplexities)
    if sparsely:
        return _on_neighbours(source, method, perplexities, traits)
    if source.graph is not None:
        counts = np.diff(source.graph.indptr)
        found = neighbours(source, counts.max(), dtype=np.float64)
        P = graph_target(method, found, perplexities, source.n_jobs, source.weights, traits, source.labels)
        return P.toarray() if counts.min() == source.n - 1 else P
    return _of_all_pairs(source, method, perplexities, traits)


def _of_views(source: Source, method: Method, perplexity: Any, on: str, traits: Traits | None) -> Any:
    """The mean of what the views ask for, each calibrated on its own."""
    if method.target_kind == "distances":
        raise ValueError("a cost of distances takes one view: give the data alone, or a method with a kernel")
    if isinstance(perplexity, FuzzyNeighbours):
        raise ValueError("UMAP's weights are of one view: give the data alone, or 'umap' with a perplexity")
    if scale_perplexities(perplexity, method, source.n) is not None:
        raise ValueError("a mix of views takes one perplexity: give a number, and a method of one scale")
    largest = float(np.max(check_perplexity(perplexity, source.n, _others(source))))
    if on == NEIGHBOURS and pay(source.n, neighbour_count(method, largest, source.n - 1)):
        raise ValueError(f"perplexity {largest:g} is too large for a mix of views: try {PERPLEXITY:.0f}")
    noted = [Traits() for _ in source.views]
    found = None
    for view, share, each in zip(source.views, source.shares, noted, strict=True):
        P = target(view, method, perplexity, on=on, traits=each)
        P *= P.dtype.type(share)
        found = P if found is None else found + P
    if traits is not None:
        traits.views = noted
    return sparse.csr_array(found) if sparse.issparse(found) else found


def neighbour_count(method: Method, perplexities: Any, most: int) -> int:
    """How many neighbours a method is given, of those that there are at most.

    Examples
    --------
    >>> import nearfield as nf
    >>> neighbour_count(nf.method("tsne"), 30, 1000), neighbour_count(nf.method("jse"), 30, 1000)
    (90, 150)
    """
    times = TIMES_OF_TSNE if method.bounded_cross_entropy else TIMES
    return int(min(most, np.ceil(times * np.max(perplexities))))


def edges_per_point(method: Method, n: int, perplexity: Any = None, scales: int = 1) -> tuple[int, int]:
    """How many neighbours of a point a target on neighbours holds: the nearest, or else those of strata.

    Examples
    --------
    >>> import nearfield as nf
    >>> edges_per_point(nf.method("tsne"), 70_000), edges_per_point(nf.method("tsne"), 70_000, 3000)
    ((90, 0), (0, 216))
    """
    if isinstance(perplexity, FuzzyNeighbours):
        return perplexity.others(n), 0
    known = isinstance(perplexity, (Real, np.ndarray))
    largest = float(np.max(perplexity, initial=1.0)) if known else PERPLEXITY
    if np.isnan(largest):  # which is refused elsewhere, as is more than there are points
        largest = PERPLEXITY
    nearest = neighbour_count(method, min(largest, n), n - 1)
    return (0, edge_count(n)) if scales > 1 or pay(n, nearest) else (nearest, 0)


def _on_neighbours(source: Source, method: Method, perplexities: Array, traits: Traits | None) -> Any:
    """P or weights on the nearest neighbours, or on strata of them where those would be too many.

    Copies are no neighbours more: with weights, as many distinct points are taken as without.
    """
    most = source.n - 1 if source.graph is None else np.diff(source.graph.indptr).max()
    k = neighbour_count(method, perplexities, most)
    if source.graph is None and source.weights is None and pay(source.n, k):
        return OfStrata(method, strata(source), [perplexities], source.n_jobs, source.labels).target()
    found = neighbours(source, k)
    return graph_target(method, found, perplexities, source.n_jobs, source.weights, traits, source.labels)


def _of_all_pairs(source: Source, method: Method, perplexities: Array, traits: Traits | None = None) -> Array:
    """P or weights of all pairs, as a matrix."""
    n, weights, bare = source.n, source.weights, method.target_kind == "weights"
    copies = None if weights is None else np.broadcast_to(weights, (n, n))
    squared = source.distances(squared=True)
    if traits is not None:
        traits.note_all_pairs(squared)
        if weights is not None:
            traits.note_copies(weights)
    found = calibrate(squared, perplexities, normalized=not bare, copies=copies, n_jobs=source.n_jobs)
    if traits is not None:
        traits.note_calibrated(found, weights, np.arange(n))
    P = found.rows
    if source.labels is not None:
        source.labels.discount(P, None, None if weights is None else seen(weights), bare=bare)
    if method.target_kind != "row":
        factor = 0.5 if bare else 0.5 / source.n_copies
        over_chunks(loops.symmetrise, n, P, factor, n_jobs=source.n_jobs)
    return P


def _warn_of_graph(graph: Any, perplexity: Any, perplexities: Array) -> None:
    """Say what a person may not have meant: few neighbours, or closeness in place of distances."""
    if perplexity is None and perplexities.min() < PERPLEXITY:
        fewest, due = int(np.diff(graph.indptr).min()), TIMES_OF_TSNE * PERPLEXITY
        warnings.warn(
            f"the graph has as few as {fewest} neighbours a point, and so perplexity"
            f" {perplexities.min():.3g}: give it {due:.0f} for perplexity {PERPLEXITY:.0f},"
            " or set perplexity",
            UserWarning,
            stacklevel=6,
        )
    largest = np.maximum.reduceat(graph.data, graph.indptr[:-1])
    if graph.data.min() == graph.data.max() or (graph.data.max() == 1 and np.mean(largest == 1) > 0.5):
        warnings.warn(
            "what the graph holds looks like connectivities, which are largest for the nearest, and is taken"
            " as distances: pass metric='affinity' for connectivities, or a graph with mode='distance'",
            UserWarning,
            stacklevel=6,
        )


def _others(source: Source) -> Any:
    """How many neighbours a point has to choose from: all others, or those in a graph, and all copies."""
    graph, weights = source.graph, source.weights
    if graph is None:
        return source.n - 1 if weights is None else weights.sum() - 1
    if weights is None:
        return np.diff(graph.indptr)
    return np.add.reduceat(weights[graph.indices], graph.indptr[:-1]) + weights - 1


def normalize(method: Method, P: Any, weights: Array | None = None) -> Any:
    """A user's own P or weights, normalized as the method needs them: joint, by row, or just symmetric."""
    if method.target_kind == "distances":
        raise ValueError("a cost of distances takes distances, not affinities: use metric='precomputed'")
    P = check_target(method, P, weights)
    check_count(P.shape[0])
    sums = row_sums(P, weights)
    empty = np.flatnonzero(sums == 0)
    if len(empty):
        raise ValueError(f"point {empty[0]} has no neighbour in P ({len(empty)} such rows): leave it out")
    if method.target_kind == "row":
        return sparse.csr_array(sparse.diags_array(1 / sums) @ P) if sparse.issparse(P) else P / sums[:, None]
    P = P + P.T
    if method.target_kind == "weights":
        return P / 2.0
    return P / (P.sum() if weights is None else weights @ row_sums(P, weights))


def check_target(method: Method, target: Any, weights: Array | None = None) -> Any:
    """The target as float64 with a zero diagonal, or as a canonical CSR, or a reason why not.

    With weights, the diagonal of a point that has copies is kept: it is that between two of them.
    A dense one that is so already is not copied, so whoever calls must not write to it.
    """
    what = {"distances": "a distance matrix", "weights": "weights"}.get(method.target_kind, "P")
    if sparse.issparse(target):
        if method.target_kind == "distances":
            raise ValueError("a cost of distances needs all pairs: pass a dense distance matrix")
        p = sparse.csr_array(target, dtype=np.float64, copy=True)
        p.sum_duplicates()
        p.eliminate_zeros()
    else:
        p = np.asarray(target, dtype=np.float64)
    if p.ndim != 2 or p.shape[0] != p.shape[1]:
        raise ValueError(f"{what} must be square, one row and one column per point, got shape {p.shape}")
    p = without_own(p, weights)
    values = p.data if sparse.issparse(p) else p
    if not np.all(np.isfinite(values)):
        row = _first_row(p, ~np.isfinite(values))
        raise ValueError(f"{what} contains NaN or infinity in row {row}: leave out such points")
    if values.size and values.min() < 0:
        row = _first_row(p, values < 0)
        raise ValueError(f"{what} contains negative values in row {row}: they must be 0 or more")
    return p


def _first_row(p: Any, wrong: Any) -> int:
    """The first row with a value that is wrong; of a sparse array, among its stored values."""
    if sparse.issparse(p):
        return int(np.searchsorted(p.indptr, np.argmax(wrong), side="right")) - 1
    return int(np.argmax(wrong.any(axis=1)))


def is_symmetric(p: Any) -> bool:
    """Whether a matrix equals its transpose but for rounding; dense ones are compared block by block."""
    if sparse.issparse(p):
        gap = abs(p - p.T)
        return gap.nnz == 0 or float(gap.max()) <= 1e-10 * float(abs(p).max())
    n, largest = p.shape[0], float(p.max(initial=0.0))
    step = max(1, 2**20 // max(n, 1))
    return all(
        np.abs(p[lo : lo + step] - p[:, lo : lo + step].T).max(initial=0.0) <= 1e-10 * largest
        for lo in range(0, n, step)
    )
