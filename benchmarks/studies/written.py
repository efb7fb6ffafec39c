"""Costs and kernels written as text against the built-in ones: seconds an iteration on the mesh, in turns.

python -m benchmarks.studies.written --data path/to/mnist.npz [--points 70000]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import nearfield as nf
from benchmarks.shared.data import as_many, mnist
from nearfield.affinity.source import Source
from nearfield.affinity.targets import NEIGHBOURS, target
from nearfield.algebra.method import Method
from nearfield.engine.mesh.scales import mesh

ROUNDS = 9
C, K = nf.costs, nf.kernels
BUILT_IN = [
    Method(C.KL(), K.Student(), "pair"),
    Method(C.JensenShannon(0.3), K.Student(), "pair"),
    Method(C.ChiSquare(), K.Student(), "pair"),
    Method(C.Hellinger(), K.Gaussian(), "point"),
    Method(C.ReverseKL(), K.Student(), "pair"),
    Method(C.NeRV(0.3), K.Gaussian(), "point"),
    Method(C.AlphaBeta(0.7, 0.5), K.Student(), "pair"),
    Method(C.Square(), K.UMAP(1.2, 0.9), "pair"),
    Method(C.LargeVis(), K.Student(), "none"),
    Method(C.CrossEntropy(), K.UMAP(1.2, 0.9), "none"),
]


def as_text(method: Method) -> Method:
    """The same method with its cost and its kernel as text."""
    kernel, domain = method.kernel, "weights" if method.normalization == "none" else "probabilities"
    texts = [part.expressed() for part in (method.cost, kernel)]
    values = [
        {name: getattr(part, name) for name in text.names() - {"p", "q", "f"}}
        for part, text in zip((method.cost, kernel), texts, strict=True)
    ]
    cost = C.Expression(str(texts[0]), domain=domain, **values[0])
    return Method(cost, K.Expression(str(texts[1]), **values[1]), method.normalization)


def main() -> None:
    """Print a line for each method: both times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="MNIST as npz (OpenML mnist_784)")
    parser.add_argument("--points", type=int, default=70_000)
    options = parser.parse_args()
    n = options.points
    X = as_many(mnist(options.data)[0], n)
    Y = 25 * X[:, :2] / X[:, 0].std() + np.random.default_rng(0).normal(size=(n, 2))
    targets = {method.target_kind: method for method in BUILT_IN}
    found = {kind: target(Source.of(X), method, 30, on=NEIGHBOURS) for kind, method in targets.items()}
    for method in BUILT_IN:
        engines = [mesh(each, found[method.target_kind]) for each in (method, as_text(method))]
        times: list[list[float]] = [[], []]
        for _ in range(1 + ROUNDS):
            for engine, taken in zip(engines, times, strict=True):
                start = time.perf_counter()
                engine.evaluate(Y, want_value=False)
                taken.append(time.perf_counter() - start)
        built_in, written = (1000 * float(np.median(taken[1:])) for taken in times)
        print(
            f"{method}: {built_in:.0f} ms, as text {written:.0f} ms, {written / built_in:.2f} times",
            flush=True,
        )


if __name__ == "__main__":
    main()
