"""Where the points are before the first iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

from nearfield.algebra.parts import Array
from nearfield.io.checks import finite

STARTS = ("pca", "random", "spectral")


def start(
    init: Any,
    *,
    n: int,
    n_components: int,
    random: np.random.RandomState,
    data: Any = None,
    target: Any = None,
    is_distance: bool = False,
    scale: float | None = None,
) -> Array:
    """Starting positions.

    Parameters
    ----------
    init : {"pca", "random", "spectral"} or array
        Principal components (of distances without data: classical scaling, which is the same thing);
        Gaussian noise; the slowest modes of the neighbour graph; or the positions themselves.
    data : array or sparse matrix, optional
        The data that the principal components are of.
    target : array or sparse matrix
        P, weights or distances (`is_distance`).
    scale : float, optional
        The standard deviation that the first axis is given; None leaves the positions as they are.
        Positions given as an array are never scaled.
    """
    if not isinstance(init, str):
        return check_positions(init, n, n_components)
    if init not in STARTS:
        raise ValueError(f"init must be one of {', '.join(STARTS)}, or an array, got {init!r}")
    if init == "random" or n <= n_components + 1:
        Y = random.standard_normal((n, n_components))
    elif init == "pca" and data is not None:
        Y = principal_components(data, n_components, random)
    elif init == "pca" and is_distance:
        Y = classical_scaling(target, n_components, random)
    else:  # P or weights without data have no principal components, but the graph's modes serve as well
        graph = np.exp(-((target / np.median(target[target > 0])) ** 2)) if is_distance else target
        Y = graph_modes(graph, n_components, random)
    spread = Y[:, 0].std()
    if init == "random" and scale is None and is_distance:
        scale = float(np.sqrt(np.mean(np.square(target)) / (2 * n_components)))
    return Y if scale is None or spread == 0 else Y * (scale / spread)


def check_positions(init: Any, n: int, n_components: int) -> Array:
    """Positions of the user's own, as float64."""
    Y = np.array(init, dtype=np.float64)
    if Y.shape != (n, n_components):
        raise ValueError(f"init must have shape ({n}, {n_components}), got {Y.shape}")
    finite(Y, what="init")
    return Y


def principal_components(data: Any, n_components: int, random: np.random.RandomState) -> Array:
    """The leading principal components; axes that the data do not have are filled with faint noise."""
    from sklearn.decomposition import PCA

    seed = random.randint(2**31 - 1)
    kept = min(n_components, *data.shape)
    solver = "auto"
    if sparse.issparse(data):  # which this solver centres without making them dense, for all axes but one
        thin = kept < min(data.shape)
        data, solver = (sparse.csr_matrix(data), "arpack") if thin else (data.toarray(), "auto")
    # Whatever scikit-learn is set to give out, an array is needed here.
    pca = PCA(kept, svd_solver=solver, random_state=seed).set_output(transform="default")
    Y = pca.fit_transform(data.astype(np.float64))
    if not Y.std() > 0:
        raise ValueError(f"all {len(Y)} points are equal: there is nothing to map, check the columns")
    return _filled(Y, n_components, random)


def classical_scaling(D: Array, n_components: int, random: np.random.RandomState) -> Array:
    """Torgerson's scaling: the principal components that points at these distances would have."""
    B = -0.5 * D**2
    B -= B.mean(axis=0)
    B -= B.mean(axis=1, keepdims=True)
    values, vectors = eigsh(B, n_components, which="LA", v0=random.standard_normal(len(D)))
    order = np.argsort(values)[::-1]
    Y = vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0))
    return _filled(Y[:, Y.std(axis=0) > 0], n_components, random)


def graph_modes(P: Any, n_components: int, random: np.random.RandomState) -> Array:
    """The slowest modes of a random walk on the neighbour graph (Laplacian eigenmaps)."""
    P = P + P.T
    degree = np.asarray(P.sum(axis=1), dtype=float).ravel()
    root = 1 / np.sqrt(np.maximum(degree, 1e-140))
    scaled = sparse.diags_array(root) @ P @ sparse.diags_array(root)
    values, vectors = eigsh(scaled, n_components + 1, which="LA", v0=random.standard_normal(len(root)))
    order = np.argsort(values)[::-1][1:]  # the first is the constant one
    return vectors[:, order] * root[:, None]


def _filled(Y: Array, n_components: int, random: np.random.RandomState) -> Array:
    missing = n_components - Y.shape[1]
    if missing <= 0:
        return Y
    size = 1e-2 * Y[:, 0].std() if Y.shape[1] else 1.0
    return np.hstack([Y, size * random.standard_normal((len(Y), missing))])
