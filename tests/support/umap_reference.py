"""UMAP's weights and curves as umap-learn computes them, kept in a file that the tests compare with.

umap-learn is not among what the tests need. Where it is installed (0.5.12 made the file that is kept):

    python tests/support/umap_reference.py tests/affinity/umap_reference.npz
"""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

CASES = {  # n_neighbors, local_connectivity, set_op_mix_ratio
    "default": (15, 1.0, 1.0),
    "few": (5, 1.0, 1.0),
    "connected": (15, 2.5, 1.0),
    "unconnected": (10, 0.0, 1.0),
    "intersected": (10, 1.0, 0.3),
}
CURVES = [(1.0, 0.1), (1.0, 0.0), (1.0, 0.5), (2.0, 0.25), (0.5, 0.1)]  # spread, min_dist


def data():
    """Some digits, of which three are there four times and one twenty times."""
    X = load_digits().data[:150]
    return np.vstack([X, X[:3], X[:3], X[:3], np.repeat(X[3:4], 19, axis=0)])


def nearest(X, k):
    """The k nearest, the point itself first."""
    distances, indices = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(X).kneighbors(X)
    for i, row in enumerate(indices):  # of equal points any may have come first
        at = np.flatnonzero(row == i)
        row[at[0] if len(at) else -1], row[0] = row[0], i
    return indices, distances


def reference():
    """What umap-learn says."""
    from umap.umap_ import find_ab_params, fuzzy_simplicial_set

    X, found = data(), {}
    for name, (k, connectivity, ratio) in CASES.items():
        indices, distances = nearest(X, k)
        graph, _, _ = fuzzy_simplicial_set(
            X,
            k,
            np.random.RandomState(0),
            "euclidean",
            knn_indices=indices,
            knn_dists=distances,
            local_connectivity=connectivity,
            set_op_mix_ratio=ratio,
        )
        found[name] = graph.toarray().astype(np.float32)
    found["curves"] = np.array([find_ab_params(*each) for each in CURVES])
    return found


if __name__ == "__main__":
    np.savez_compressed(sys.argv[1], **reference())
