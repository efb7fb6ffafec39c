"""The data of the benchmarks: the digits, MNIST, as many points like its as are wanted, and other kinds."""

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


def counts(n: int) -> Any:
    """A table of counts such as single cells give: 24 types in 6 families, 400 genes, depths that vary.

    Counts are Poisson draws around rates that differ from cell to cell, scaled to equal depth, and their
    logarithms are taken, as is usual.
    """
    random = np.random.default_rng(11)
    families, types = random.normal(size=(6, 400)), random.normal(size=(24, 400))
    kind = random.choice(24, n, p=random.dirichlet(np.full(24, 2.0)))
    course = random.random((n, 1)) * random.normal(size=(24, 400))[kind]  # cells differ along a course
    rates = np.exp(0.8 * families[kind % 6] + 0.6 * types[kind] + 0.6 * course)
    depth = np.exp(random.normal(np.log(2000), 0.5, size=(n, 1)))
    drawn = random.poisson(depth * rates / rates.sum(axis=1, keepdims=True))
    return np.log1p(1e4 * drawn / np.maximum(drawn.sum(axis=1, keepdims=True), 1)).astype(np.float32)


def texts(n: int) -> Any:
    """Vectors such as texts give: 40 subjects over 1500 words, two a text; tf-idf, rows of length one."""
    random = np.random.default_rng(12)
    words = 1 / np.arange(1, 1501)  # Zipf's law
    subjects = np.array([random.dirichlet(500 * words / words.sum() + 1e-3) for _ in range(40)])
    shares = np.zeros((n, 40))
    for _ in range(2):
        shares[np.arange(n), random.integers(40, size=n)] += random.random(n)
    shares /= shares.sum(axis=1, keepdims=True)
    drawn = np.array(
        [
            random.multinomial(length, share @ subjects)
            for length, share in zip(random.integers(60, 400, size=n), shares, strict=True)
        ]
    )
    weighed = drawn * np.log(n / np.maximum((drawn > 0).sum(axis=0), 1))
    return (weighed / np.linalg.norm(weighed, axis=1, keepdims=True)).astype(np.float32)


def patches(n: int) -> Any:
    """Patches of 8 × 8 pixels in colour, from the two photographs that come with scikit-learn."""
    from sklearn.datasets import load_sample_images

    random = np.random.default_rng(13)
    images = [image.astype(np.float32) / 255 for image in load_sample_images().images]
    rows = []
    for i in range(n):
        image = images[i % 2]
        y, x = (int(random.integers(side - 8)) for side in image.shape[:2])
        rows.append(image[y : y + 8, x : x + 8].ravel())
    return np.array(rows, dtype=np.float32)


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
