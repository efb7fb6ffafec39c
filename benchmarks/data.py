"""The data of the benchmarks: the digits, MNIST, and as many points like MNIST's as are wanted."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

NOISE = 0.05  # of the columns' mean deviation, for rows that are drawn more than once


def digits(n: int) -> tuple[Any, Any]:
    """The first n of scikit-learn's 1797 digits, 64 columns, and their labels."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X[:n].astype(np.float32), y[:n]


@lru_cache(maxsize=1)
def mnist(path: str | Path | None) -> tuple[Any, Any]:
    """The first 50 principal components of MNIST, and the labels.

    The file is an npz with `X` (70000, 784) uint8 and `y`, training set first; OpenML has the same data as
    ``mnist_784``.
    """
    if path is None or not Path(path).is_file():
        raise ValueError("this part needs MNIST as an npz: make bench DATA=path/to/mnist.npz")
    with np.load(path) as file:
        X, y = file["X"].astype(np.float32) / 255, file["y"]
    X -= X.mean(axis=0)
    _, vectors = np.linalg.eigh((X.T @ X) / len(X))
    return np.ascontiguousarray(X @ vectors[:, ::-1][:, :50]), y


def as_many(X: Any, n: int, seed: int = 0) -> Any:
    """The first n rows of X; of more than it has, rows drawn with replacement plus a little noise."""
    if n <= len(X):
        return X[:n].copy()
    random = np.random.default_rng(seed)
    drawn = X[random.integers(len(X), size=n)]
    noise = random.standard_normal(drawn.shape, dtype=np.float32)
    noise *= np.float32(NOISE * X.std(axis=0).mean())
    drawn += noise
    return drawn
