"""Sparse targets: P and weights on a graph of neighbours, near-linear in time and memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.edges import graph_target
from nearfield.affinity.given import as_matrix, distance_graph, nearest
from nearfield.affinity.neighbours import neighbours
from nearfield.affinity.perplexity import check_perplexity
from nearfield.affinity.rungs import OfStrata
from nearfield.affinity.strata import pay, strata
from nearfield.affinity.targets import normalize, others
from nearfield.algebra.method import Method
from nearfield.typing import Array

# Times the perplexity: so many neighbours hold all but a trace of p. More of them bring all methods closer to
# the map of all pairs; t-SNE and its kin, which are to be quick, do with fewer.
NEAR, FURTHER = 3, 5


def near(method: Method) -> int:
    """How many neighbours a method is given, in perplexities."""
    return NEAR if method.bounded_cross_entropy else FURTHER


def sparse_target(
    method: Method,
    X: Any,
    *,
    perplexity: Any = None,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    weights: Array | None = None,
) -> Any:
    """The target of a method on the nearest neighbours alone, or on strata of them, in float32.

    Three to five times the perplexity hold all but a trace of p. Where that is more than strata have, which
    reach as far as any perplexity, it is those (a `Sampled`). Of neighbours that are given, the nearest are
    taken, as many as would be searched for; fewer are used as they are. Copies are no neighbours more: with
    weights, as many distinct points are taken as without.
    See `nearfield.affinity.targets.target` for the kinds of targets and the arguments.
    """
    X = as_matrix(X, metric)
    if isinstance(metric, str) and metric == "affinity":
        return sparse.csr_array(normalize(method, X, weights))
    n = X.shape[0]
    graph = distance_graph(X, metric)
    most = n - 1 if graph is None else np.diff(graph.indptr).max()
    perplexities = check_perplexity(perplexity, n, others(n, graph, weights))
    k = int(min(most, np.ceil(near(method) * perplexities.max())))
    if graph is None and weights is None and pay(n, k):
        drawn = strata(X, metric=metric, metric_params=metric_params, n_jobs=n_jobs)
        return OfStrata(method, drawn, [perplexities], n_jobs).top()
    if graph is not None:
        found = nearest(graph, k, n_jobs)
    else:
        found = neighbours(X, k, metric=metric, metric_params=metric_params, n_jobs=n_jobs)
    return graph_target(method, found, perplexities, n_jobs, weights)
