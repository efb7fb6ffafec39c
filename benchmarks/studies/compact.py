"""What the compact form of a model costs: bytes a point, neighbours, and how far placed points land.

    python -m benchmarks.studies.compact path/to/mnist.npz

10 000 digits are fitted and 2000 placed by a model that keeps its rows exactly and by one that keeps them in
bytes. The radius of a map is the root of the mean squared distance from its middle.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared.data import mnist

FITTED, PLACED = 10_000, 2000


def kept(one: Any, other: Any) -> float:
    """The share of the neighbours in one table that are in the other as well, row by row."""
    pairs = zip(one, other, strict=True)
    return float(np.mean([np.intersect1d(*both).size / len(both[0]) for both in pairs]))


def main(path: str) -> None:
    """Fit, save, load, place, and tell."""
    import nearfield as nf

    X, _ = mnist(path)
    X = X[np.random.default_rng(0).permutation(len(X))[: FITTED + PLACED]]
    old, new = X[:FITTED], X[FITTED:]
    model = nf.TSNE(random_state=0).fit(old)
    Y = model.embedding_
    radius = float(np.sqrt(((Y - Y.mean(axis=0)) ** 2).sum(axis=1).mean()))
    opened, sizes = [], []
    with tempfile.TemporaryDirectory() as folder:
        for rows in ("exact", "compact"):
            file = Path(folder) / f"{rows}.nfmap"
            model.save(file, rows)
            opened.append(nf.load(file))
            sizes.append(file.stat().st_size / FITTED)
    exact, compact = (each.place(new) for each in opened)
    wide = [each._reference.fitted.nearest(new, 90)[0] for each in opened]
    apart = np.linalg.norm(exact.Y - compact.Y, axis=1) / radius
    back = all(np.array_equal(each.transform(old), Y) for each in opened)
    print(
        f"{sizes[0]:.0f} and {sizes[1]:.0f} bytes a point; fitted rows come back: {back};"
        f" neighbours kept: {kept(exact.neighbours, compact.neighbours):.4f} of 10, {kept(*wide):.4f} of 90;"
        f" apart, in radii: {np.median(apart):.5f} in the median, {np.quantile(apart, 0.95):.5f} (95 %),"
        f" {np.quantile(apart, 0.99):.5f} (99 %), {np.mean(apart > 0.01):.4f} by more than .01;"
        f" novelty {np.abs(exact.novelty - compact.novelty).mean():.4f} in the mean"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
