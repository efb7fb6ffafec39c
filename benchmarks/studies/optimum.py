"""Whether a method stays close to the principal components for want of descent, or by its nature.

    python -m benchmarks.studies.optimum --data path/to/mnist.npz [--points 10000] [--only ssne,asne]

The map of the mesh engine, and t-SNE's finished map at the size at which it costs the method least, go on
over all pairs in float64, by L-BFGS. If neither gets further from the principal components than the mesh did,
it is the method's own optimum that is so close.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.shared.data import mnist
from benchmarks.shared.measure import rnx_auc
from benchmarks.shared.minima import problem
from benchmarks.shared.tables import table

NAMES = ("ssne", "asne", "wssne", "gkl", "ee")  # Gaussian kernels, which crowd


def continued(exact: Any, X: Any, Y: Any, iterations: int) -> tuple[float, float]:
    """Cost and AUC of a map that goes on over all pairs."""
    from nearfield.descent.optimizers import LBFGS
    from nearfield.descent.schedule import Phase

    z, lbfgs = exact.pack(Y), LBFGS()
    for _ in range(iterations):
        z, _ = lbfgs.step(z, exact, Phase(None), True)
        if lbfgs.at_rest:
            break
    return float(exact(z).cost), rnx_auc(X, exact.map_of(z))


def main() -> None:
    """Write a table to the terminal."""
    import nearfield as nf
    from nearfield.descent.starts import principal_components

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="MNIST as npz (OpenML mnist_784)")
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--only", default=",".join(NAMES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X = mnist(options.data)[0][: options.points].copy()
    projected = rnx_auc(X, principal_components(X, 2, np.random.RandomState(0)))
    tsne = nf.TSNE(random_state=0).fit_transform(X)
    rows = []
    for name in options.only.split(","):
        began, exact = time.perf_counter(), problem(name, X)
        Y = nf.Embedder(name, random_state=0).fit_transform(X)
        sizes = np.geomspace(0.02, 0.3, 7) * exact.engine.method.kernel.width
        other = min((s * tsne for s in sizes), key=lambda Y: exact(exact.pack(Y)).cost)
        before = float(exact(exact.pack(Y)).cost), rnx_auc(X, Y)
        ends = [before, *(continued(exact, X, start, options.iterations) for start in (Y, other))]
        rows.append([name, *(f"{cost:.6g}, {auc - projected:+.3f}" for cost, auc in ends)])
        print(name, rows[-1][1:], f"{time.perf_counter() - began:.0f} s", flush=True)
    header = ["cost, AUC above PCA", "mesh", "mesh, then all pairs", "t-SNE's map, then all pairs"]
    print(table(header, rows))


if __name__ == "__main__":
    main()
