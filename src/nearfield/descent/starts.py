"""Where the points are before the first iteration."""

from __future__ import annotations

from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from nearfield.checks import finite, numbers
from nearfield.parallel import one_blas_thread, over_chunks
from nearfield.parallel.together import ALONE, Together
from nearfield.typing import Array

STARTS = ("pca", "random", "spectral")
SMALL = 2**20  # numbers, as many as are soon made dense
COLUMNS = 1000  # of the data, up to which their covariance is quicker than a singular value decomposition
LOOKED_AT = 2000  # rows at least, by which a projection of the data is known
LINEAR = 1e-4  # of its norm that it may miss, for the sake of float32
FEW = 1000  # points, whose eigenvectors are had all at once within a second
RESTARTS = 300  # of Lanczos' iteration, which comes to its end within a few dozen or not at all
POWERS = 300  # multiplications by a matrix, after which what is small has gone
FAINT = 1e-2  # of the spread of the first axis: the noise of others


def random_numbers(random_state: Any) -> np.random.RandomState:
    """The source of random numbers that a `random_state` stands for, as scikit-learn takes it.

    Examples
    --------
    >>> int(random_numbers(0).randint(100))
    44
    """
    if random_state is None or random_state is np.random:
        return np.random.mtrand._rand
    if isinstance(random_state, np.random.RandomState):
        return random_state
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return np.random.RandomState(int(random_state))
    raise ValueError(f"random_state must be None, a whole number or a RandomState, got {random_state!r}")


def start(
    init: Any,
    *,
    n: int,
    n_components: int,
    random: np.random.RandomState,
    data: Any = None,
    target: Any = None,
    is_distance: bool = False,
    spread: float | None = None,
    n_jobs: int | None = None,
) -> Array:
    """Starting positions.

    Parameters
    ----------
    init : {"pca", "random", "spectral"} or array
        Principal components (without data, of a target of distances: classical scaling, which is the same
        thing, and of any other the same as "spectral"); Gaussian noise; the slowest modes of the neighbour
        graph; or the positions themselves.
    data : array or sparse matrix, optional
        The data that the principal components are of.
    target : array or sparse matrix
        P, weights or distances (`is_distance`).
    spread : float, optional
        The standard deviation that the first axis is given; None leaves the positions as they are.
        Positions given as an array are not scaled.
    """
    if not isinstance(init, str):
        return check_positions(init, n, n_components)
    if init not in STARTS:
        raise ValueError(f"init must be one of {', '.join(STARTS)}, or an array, got {init!r}")
    if init == "random" or n <= n_components + 1:
        Y = random.standard_normal((n, n_components))
    elif init == "pca" and data is not None:
        Y = principal_components(data, n_components, random, n_jobs)
    elif init == "pca" and is_distance:
        Y = classical_scaling(target, n_components, random)
    else:  # P or weights without data have no principal components, but the graph's modes serve as well
        graph = np.exp(-((target / np.median(target[target > 0])) ** 2)) if is_distance else target
        Y = graph_modes(graph, n_components, random)
    if init == "random" and spread is None and is_distance:
        spread = float(np.sqrt(np.mean(np.square(target)) / (2 * n_components)))
    present = Y[:, 0].std()
    return Y if spread is None or present == 0 else Y * (spread / present)


def check_positions(init: Any, n: int, n_components: int) -> Array:
    """Positions of the user's own, as float64; a row of NaN says that its point is free."""
    Y = np.array(init, dtype=np.float64)
    if Y.shape != (n, n_components):
        raise ValueError(f"init must have shape ({n}, {n_components}), got {Y.shape}")
    free: Any = np.isnan(Y).all(axis=1)
    if free.all():
        raise ValueError("init puts no point anywhere, all its rows are NaN: leave it out")
    finite(np.where(free[:, None], 0.0, Y), what="init")
    numbers(Y[~free], what="init")
    return Y


@one_blas_thread()
def is_projection(Y: Array, data: Any) -> bool:
    """Whether positions are a linear function of the data's columns: a start, however wide, and no map yet.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> is_projection(X[:, :2] - X[:, 3:], X), is_projection(np.tanh(X[:, :2]), X)
    (True, False)
    """
    n, columns = data.shape
    if columns > n // 2:  # of so many columns anything is a linear function
        return False
    rows = np.unique(np.linspace(0, n - 1, min(n, max(LOOKED_AT, 4 * columns))).astype(int))
    X = data[rows].toarray() if sparse.issparse(data) else np.asarray(data[rows], dtype=np.float64)
    X, Y = X - X.mean(axis=0), Y[rows] - Y[rows].mean(axis=0)
    found = np.linalg.lstsq(X, Y, rcond=None)[0]
    return bool(np.linalg.norm(X @ found - Y) <= LINEAR * np.linalg.norm(Y))


@one_blas_thread()
def principal_components(
    data: Any,
    n_components: int,
    random: np.random.RandomState,
    n_jobs: int | None = None,
    together: Together = ALONE,
) -> Array:
    """The leading principal components; axes that the data do not have are filled with faint noise.

    Rows that several processes have are dense, and of no more columns than have a covariance.
    """
    kept = min(n_components, *data.shape)
    if sparse.issparse(data) and (kept == min(data.shape) or data.shape[0] * data.shape[1] <= SMALL):
        data = data.toarray()
    if sparse.issparse(data):
        Y = _of_sparse(data, kept, random)
    elif data.shape[1] <= min(together.sum(data.shape[0]), COLUMNS):
        Y = _of_covariance(data, kept, n_jobs, together)
    else:
        Y = _of_solver(data, kept, random.randint(2**31 - 1))
    if not together.spread(Y) > 0:
        raise ValueError(f"all {len(Y)} points are equal: there is nothing to map, check the columns")
    return _filled(Y, n_components, random)


def _of_covariance(X: Any, kept: int, n_jobs: int | None, together: Together) -> Array:
    """Principal components by the covariance, added up in the same order on any number of threads."""
    mean = together.sum(X.sum(axis=0, dtype=np.float64)) / together.sum(len(X))
    # Squares of huge or tiny numbers would leave their range.
    largest = float(together.most(max(float(X.max()), -float(X.min())))) or 1.0

    def centred(lo: int, hi: int) -> Array:
        return (X[lo:hi].astype(np.float64) - mean) / largest

    def products(lo: int, hi: int) -> Array:
        rows = centred(lo, hi)
        return rows.T @ rows

    _, axes = np.linalg.eigh(together.sum(sum(over_chunks(products, len(X), n_jobs=n_jobs))))
    axes = axes[:, ::-1][:, :kept]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(kept)])  # of two signs always the same
    Y = np.empty((len(X), kept))

    def project(lo: int, hi: int) -> None:
        Y[lo:hi] = centred(lo, hi) @ axes * largest

    over_chunks(project, len(X), n_jobs=n_jobs)
    return Y


def _of_solver(data: Any, kept: int, seed: int) -> Array:
    """Principal components of very many columns."""
    from sklearn.decomposition import PCA

    # Whatever scikit-learn is set to give out, an array is needed here.
    pca = PCA(kept, random_state=seed).set_output(transform="default")
    with np.errstate(divide="ignore", invalid="ignore"):  # equal points have no variance to explain
        return pca.fit_transform(data.astype(np.float64))


def _of_sparse(data: Any, kept: int, random: np.random.RandomState) -> Array:
    """Principal components of sparse data, which are not made dense."""
    X = sparse.csr_array(data, dtype=np.float64)
    turned, mean = X.T.tocsr(), np.asarray(X.mean(axis=0)).ravel()
    few = X.shape[0] <= X.shape[1]  # rows, whose products are then the smaller matrix

    def centred(v: Any) -> Any:
        return X @ v - mean @ v

    def back(u: Any) -> Any:
        return turned @ u - np.multiply.outer(mean, u.sum(axis=0))

    def products(v: Any) -> Any:
        return centred(back(v)) if few else back(centred(v))

    size = min(X.shape)
    M = LinearOperator((size, size), matvec=products, matmat=products, dtype=np.float64)
    try:
        values, vectors = largest_eigenvectors(M, kept, random)
    except ArpackError:
        return np.zeros((X.shape[0], kept))  # nothing is left of them without their mean
    return vectors * np.sqrt(np.maximum(values, 0.0)) if few else centred(vectors)


@one_blas_thread()
def classical_scaling(D: Array, n_components: int, random: np.random.RandomState) -> Array:
    """Torgerson's scaling: the principal components that points at these distances would have."""
    if not D.max() > 0:
        raise ValueError(f"all {len(D)} points are equal: there is nothing to map, check the distances")
    B = -0.5 * D**2
    B -= B.mean(axis=0)
    B -= B.mean(axis=1, keepdims=True)
    values, vectors = largest_eigenvectors(B, n_components, random)
    Y = vectors * np.sqrt(np.maximum(values, 0.0))
    return _filled(Y[:, Y.std(axis=0) > 0], n_components, random)


@one_blas_thread()
def graph_modes(P: Any, n_components: int, random: np.random.RandomState) -> Array:
    """The slowest modes of a random walk on the neighbour graph (Laplacian eigenmaps), with faint noise.

    On a graph that falls apart, or all but does, the modes are constant on each part, and points in the
    same place could never be told apart: hence the noise.
    """
    P = P + P.T
    degree = np.asarray(P.sum(axis=1), dtype=float).ravel()
    root = 1 / np.sqrt(np.maximum(degree, 1e-140))
    scaled = sparse.diags_array(root) @ P @ sparse.diags_array(root)
    _, vectors = largest_eigenvectors(scaled, n_components + 1, random)
    Y = vectors[:, 1:] * root[:, None]  # the first is the constant one
    return Y + FAINT * Y[:, 0].std() * random.standard_normal(Y.shape)


def largest_eigenvectors(M: Any, count: int, random: np.random.RandomState) -> tuple[Array, Array]:
    """The largest eigenvalues of a symmetric matrix, from the largest down, and their vectors.

    Few points have them all at once. Lanczos' iteration does not come to an end on graphs that fall apart
    into many pieces, or are as long as a chain: there a number of powers gives vectors that serve as well.
    """
    n, first = M.shape[0], random.standard_normal(M.shape[0])
    if n <= FEW:
        values, vectors = np.linalg.eigh(M if isinstance(M, np.ndarray) else M @ np.eye(n))
        values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
        return values, vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(count)])
    try:
        values, vectors = eigsh(M, count, which="LA", v0=first, maxiter=RESTARTS, **_seeded())
    except ArpackNoConvergence:
        vectors = random.standard_normal((n, count))
        for _ in range(POWERS):
            vectors, _ = np.linalg.qr(vectors + M @ vectors)
        values = np.einsum("ij,ij->j", vectors, M @ vectors)
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]


def _seeded() -> dict[str, Any]:
    """What makes `eigsh` go on in the same way every time where it comes to an end too early.

    Where the matrix has fewer directions than are looked at, SciPy from 1.17 on goes on from random numbers.
    """
    return {"rng": np.random.default_rng(0)} if "rng" in signature(eigsh).parameters else {}


def _filled(Y: Array, n_components: int, random: np.random.RandomState) -> Array:
    missing = n_components - Y.shape[1]
    if missing <= 0:
        return Y
    size = FAINT * Y[:, 0].std() if Y.shape[1] else 1.0
    return np.hstack([Y, size * random.standard_normal((len(Y), missing))])
