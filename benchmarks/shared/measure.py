"""What a map is judged by, in code that belongs to no library.

Exact KL, sampled R_NX AUC, accuracy of the labels of neighbours, and exact forces at a sample of points.
"""

from __future__ import annotations

from typing import Any

import faiss
import numba
import numpy as np


def exact_neighbours(X: Any, k: int) -> tuple[Any, Any]:
    """The k true nearest neighbours of every point and their squared distances."""
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    squared, indices = index.search(X, k + 1)
    rows = np.arange(len(X))[:, None]
    squared = np.where(indices == rows, -1.0, squared.astype(np.float64))  # the point itself comes first
    order = np.argsort(squared, axis=1, kind="stable")[:, 1:]
    return np.take_along_axis(indices, order, 1), np.take_along_axis(squared, order, 1)


@numba.njit(parallel=True, cache=True)
def _rows_of_p(squared, perplexity):
    n, k = squared.shape
    P = np.empty((n, k))
    for i in numba.prange(n):
        d = squared[i] - squared[i, 0]
        beta, low, high = 1.0, 0.0, -1.0
        for _ in range(200):
            w = np.exp(-beta * d)
            s = w.sum()
            gap = np.log(s) + beta * (w * d).sum() / s - np.log(perplexity)
            if abs(gap) < 1e-8:
                break
            if gap > 0:
                low = beta
                beta = beta * 2 if high < 0 else (beta + high) / 2
            else:
                high = beta
                beta = (beta + low) / 2
        P[i] = w / s
    return P


def joint_p(X: Any, perplexity: float = 30.0) -> Any:
    """The joint P of t-SNE on the exact 3·perplexity nearest neighbours, as a sparse matrix."""
    from scipy.sparse import csr_array

    k = int(3 * perplexity)
    indices, squared = exact_neighbours(np.ascontiguousarray(X, dtype=np.float32), k)
    P = _rows_of_p(squared, perplexity)
    n = len(X)
    P = csr_array((P.ravel(), indices.ravel(), np.arange(0, n * k + 1, k)), (n, n))
    return csr_array((P + P.T) / (2 * n))


@numba.njit(parallel=True, cache=True)
def _z(Y):
    n = len(Y)
    total = 0.0
    for i in numba.prange(n):
        part = 0.0
        for j in range(n):
            f = 0.0
            for c in range(Y.shape[1]):
                f += (Y[i, c] - Y[j, c]) ** 2
            part += 1 / (1 + f)
        total += part - 1
    return total


def kl_divergence(P: Any, Y: Any) -> float:
    """KL(P‖Q) of t-SNE by a direct sum over all pairs in float64."""
    Y = np.ascontiguousarray(Y, dtype=np.float64)
    edges = P.tocoo()
    f = ((Y[edges.row] - Y[edges.col]) ** 2).sum(axis=1)
    return float(np.sum(edges.data * (np.log(edges.data) + np.log1p(f))) + np.log(_z(Y)))


def rnx_auc(X: Any, Y: Any, sample: int = 800, seed: int = 0) -> float:
    """The area under R_NX over log K, from the ranks that a sample of points sees among all others."""
    random = np.random.default_rng(seed)
    n = len(X)
    X, Y = np.asarray(X, dtype=np.float32), np.asarray(Y, dtype=np.float32)
    counts = np.zeros(n)
    chosen = random.choice(n, min(sample, n), replace=False)
    for i in chosen:
        ranks = []
        for points in (X, Y):
            squared = ((points - points[i]) ** 2).sum(axis=1)
            squared[i] = -1
            rank = np.empty(n, np.int64)
            rank[np.argsort(squared, kind="stable")] = np.arange(n)
            ranks.append(rank)
        counts += np.bincount(np.delete(np.maximum(*ranks), i), minlength=n)
    K = np.arange(1, n - 1)
    Q = np.cumsum(counts)[1 : n - 1] / (K * len(chosen))
    R = ((n - 1) * Q - K) / (n - 1 - K)
    return float(np.sum(R / K) / np.sum(1 / K))


def neighbour_accuracy(points: Any, labels: Any, k: int = 10) -> float:
    """The share of points whose label is the one that most of their k nearest neighbours have."""
    from scipy.spatial import KDTree

    points = np.asarray(points, dtype=np.float64)
    if points.shape[1] <= 3:
        indices = KDTree(points).query(points, k + 1, workers=-1)[1]
        own = indices == np.arange(len(points))[:, None]
        own[~own.any(axis=1), -1] = True  # among many coincident points its own index may be missing
        indices = indices[~own].reshape(len(points), k)
    else:
        indices = exact_neighbours(np.ascontiguousarray(points, dtype=np.float32), k)[0]
    classes, labels = np.unique(labels, return_inverse=True)
    votes = (labels[indices][:, :, None] == np.arange(len(classes))).sum(axis=1)
    return float(np.mean(votes.argmax(axis=1) == labels))


@numba.njit(parallel=True, cache=True)
def _repulsion(Y, rows):
    total = np.zeros((len(rows), Y.shape[1]))
    for r in numba.prange(len(rows)):
        i = rows[r]
        for j in range(len(Y)):
            f = 0.0
            for c in range(Y.shape[1]):
                f += (Y[i, c] - Y[j, c]) ** 2
            w = 1 / (1 + f)
            for c in range(Y.shape[1]):
                total[r, c] += w * w * (Y[i, c] - Y[j, c])
    return total


def forces(P: Any, Y: Any, rows: Any) -> tuple[Any, Any]:
    """The two parts of t-SNE's gradient at some points, by direct sums over all others in float64.

    Attraction 4 Σ p w (y_i - y_j), and repulsion -4 Σ w² (y_i - y_j) / Z.
    """
    Y = np.ascontiguousarray(Y, dtype=np.float64)
    edges = P[rows].tocoo()
    apart = Y[rows][edges.row] - Y[edges.col]
    springs = (4 * edges.data / (1 + (apart**2).sum(axis=1)))[:, None] * apart
    attraction = np.zeros((len(rows), Y.shape[1]))
    np.add.at(attraction, edges.row, springs)
    return attraction, -4 * _repulsion(Y, np.asarray(rows)) / _z(Y)
