"""The lowest costs that the exact engine is known to reach, which maps are held against.

    python -m benchmarks.studies.references --data path/to/mnist.npz [--only jse,umap]

Each method of one scale, on the digits and on the first 1500 of MNIST: 1000 iterations of SciPy's L-BFGS-B
over all pairs in float64, from the start that the method would have (principal components, very small) and
from t-SNE's map at the size at which it costs the least. Hours, all in all; what is in the file is not done
again. Writes references.json.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from benchmarks.shared.data import digits, mnist
from benchmarks.shared.measure import rnx_auc
from benchmarks.shared.minima import FILE, known, problem

SMALL = 1e-4  # of the kernel's width: the start whose cost the way is measured from


def datasets(path: str | None) -> dict[str, Any]:
    """What the references are of."""
    return {"digits": digits(1797)[0], "mnist1500": mnist(path)[0][:1500].copy()}


def small_start(X: Any, problem: Any) -> Any:
    """The principal components; for a kernel, so small that all points see each other."""
    from nearfield.descent.starts import principal_components

    Y = principal_components(X, 2, np.random.RandomState(0))
    kernel = problem.engine.method.kernel
    return Y if kernel is None else Y * (SMALL * kernel.width / Y[:, 0].std())


def lowest(problem: Any, Y: Any) -> tuple[Any, float, int]:
    """Where L-BFGS-B gets from Y: the map, its cost, and the iterations."""
    from scipy.optimize import minimize

    unit = problem.natural_rate  # so that its first step, of length one, is within reason

    def function(z: Any) -> tuple[float, Any]:
        here = problem(z)
        return unit * here.value, unit * here.gradient

    options = {"maxiter": 1000, "maxfun": 1300, "maxcor": 10, "ftol": 1e-12, "gtol": 0}
    found = minimize(function, problem.pack(Y), jac=True, method="L-BFGS-B", options=options)
    return problem.map_of(found.x), float(problem(found.x).cost), int(found.nit)


def reference(name: str, X: Any) -> dict[str, Any]:
    """The cost of the start, and costs and AUC of both minima."""
    import nearfield as nf

    exact = problem(name, X)
    Y = small_start(X, exact)
    starts = {"pca": Y}
    if exact.engine.method.kernel is not None:
        tsne = nf.TSNE(random_state=0).fit_transform(X)
        sizes = np.geomspace(0.02, 2, 15) * exact.engine.method.kernel.width
        starts["tsne"] = min((s * tsne for s in sizes), key=lambda Y: exact(exact.pack(Y)).cost)
    found: dict[str, Any] = {"start": exact(exact.pack(Y)).cost}
    for start, Y in starts.items():
        Y, cost, iterations = lowest(exact, Y)
        found[start] = {"cost": cost, "auc": round(rnx_auc(X, Y), 4), "iterations": iterations}
    return found


def main() -> None:
    """Compute what is missing, and write it down after each."""
    import nearfield as nf

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="MNIST as npz (OpenML mnist_784)")
    parser.add_argument("--only", help="some methods, by name")
    options = parser.parse_args()
    several = [name for name in nf.methods() if nf.method(name).scales]
    names = options.only.split(",") if options.only else [n for n in nf.methods() if n not in several]
    for name in names:
        for data, X in datasets(options.data).items():
            done = known()
            expected = {"pca"} if nf.method(name).kernel is None else {"pca", "tsne"}
            if expected <= set(done.get(data, {}).get(name, {})):
                continue
            done.setdefault(data, {})[name] = reference(name, X)
            FILE.write_text(json.dumps(done, indent=1, sort_keys=True) + "\n")
            print(data, name, done[data][name], flush=True)


if __name__ == "__main__":
    main()
