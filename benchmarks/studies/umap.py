"""nf.UMAP beside umap-learn: seconds, neighbours and labels kept, whether it is the same map, equal bits.

python -m benchmarks.studies.umap --data path/to/mnist.npz [--points 70000] [--seeds 3]
python -m benchmarks.studies.umap --keep docs/tools/umap_digits.npz

umap-learn has to be installed. With `--keep` its map of the digits, from the start of nf.UMAP, is kept for
the picture of the documentation.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from scipy.spatial import procrustes

import nearfield as nf
from benchmarks.shared.data import digits, mnist

SAMPLE = 1000  # points that a map of many is judged from


def start(X: Any) -> Any:
    """Where nf.UMAP begins."""
    model = nf.UMAP(random_state=0)
    method, options = model._asked()
    return nf.Run(X, method, **options).Y


def theirs(X: Any, seed: int, init: Any = "spectral") -> Any:
    """The map of umap-learn."""
    import umap

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return umap.UMAP(random_state=seed, init=init).fit_transform(X)


def unseeded(X: Any) -> Any:
    """The same without a seed, which is when it uses all cores."""
    import umap

    return umap.UMAP().fit_transform(X)


def second_call(make: Any, X: Any) -> float:
    """Seconds of the second of two calls: what is compiled was compiled by the first."""
    make(X[: min(len(X), 5000)])
    begun = time.perf_counter()
    make(X)
    return time.perf_counter() - begun


def judged(X: Any, Y: Any, y: Any) -> tuple[float, float]:
    """10-NN accuracy in the map, and R_NX AUC."""
    found = nf.quality(X, Y, y, sample=min(SAMPLE, len(X)))
    return float(found.label_accuracy), float(found.auc)


def alike(name: str, X: Any, seeds: int) -> None:
    """How far nf.UMAP's map is from umap-learn's of the same start, and these from each other."""
    init = start(X)
    maps = [theirs(X, seed, init) for seed in range(seeds)]
    own = nf.UMAP(random_state=0).fit_transform(X)
    between = [procrustes(a, b)[2] for k, a in enumerate(maps) for b in maps[:k]]
    to = [procrustes(each, own)[2] for each in maps]
    ratio = np.mean(to) / np.mean(between)
    print(
        f"{name}: Procrustes distance to umap-learn's maps {np.mean(to):.4f}, between them"
        f" {np.mean(between):.4f}, ratio {ratio:.2f}"
    )


def swiss_roll(n: int) -> Any:
    """A sheet that is rolled up."""
    from sklearn.datasets import make_swiss_roll

    return make_swiss_roll(n, random_state=0)[0]


def main() -> None:
    """Print a line for each comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="MNIST as npz (OpenML mnist_784)")
    parser.add_argument("--points", type=int, default=70_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--keep", help="where to keep umap-learn's map of the digits")
    options = parser.parse_args()
    if options.keep:
        X, _ = digits(1797)
        np.savez_compressed(options.keep, Y=theirs(X, 0, start(X)).astype(np.float32))
        return
    X, y = (each[: options.points] for each in mnist(options.data))
    ours, other = second_call(lambda X: nf.UMAP().fit(X), X), second_call(unseeded, X)
    print(f"MNIST {len(X)}: {ours:.1f} s, umap-learn {other:.1f} s, {other / ours:.1f} times faster")
    one, two = (nf.UMAP(random_state=0, n_jobs=n).fit_transform(X) for n in (1, 2))
    print(f"equal bits on one thread and on two: {np.array_equal(one, two)}")
    accuracy, auc = judged(X, two, y)
    figures = np.array([judged(X, theirs(X, seed), y) for seed in range(options.seeds)])
    their_accuracy, their_auc = figures.mean(axis=0)
    print(f"10-NN accuracy {accuracy:.4f}, umap-learn {their_accuracy:.4f} on average")
    print(f"R_NX AUC {auc:.4f}, umap-learn {their_auc:.4f} on average")
    alike("digits", digits(1797)[0], options.seeds)
    alike("MNIST 10 000", X[:10_000], options.seeds)
    alike("swiss roll 3000", swiss_roll(3000), options.seeds)


if __name__ == "__main__":
    main()
