"""Whether a map depends on the number format or the unit of its data.

    python -m benchmarks.studies.units --data path/to/mnist.npz [--only jse,umap] [--points 1500]

Each method of one scale on the mesh: float32 columns, the same values as float64, and a thousand times and a
thousandth of them.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from benchmarks.shared.data import mnist
from benchmarks.shared.measure import rnx_auc
from benchmarks.shared.tables import table

BOUND = 0.005


def main() -> None:
    """Write a table to the terminal."""
    import nearfield as nf
    from nearfield.engine.mesh.one_scale import Mesh
    from nearfield.engine.task import Task

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="MNIST as npz (OpenML mnist_784)")
    parser.add_argument("--points", type=int, default=1500)
    parser.add_argument("--only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X = mnist(options.data)[0][: options.points].copy()
    usual = [name for name in nf.methods() if not nf.method(name).scales]
    usual = [name for name in usual if Mesh.obstacle(Task(nf.method(name))) is None]
    forms = (X, X.astype(np.float64), np.float32(1000) * X, X / np.float32(1000))
    rows, worst = [], 0.0
    for name in options.only.split(",") if options.only else usual:
        maps = [nf.Embedder(name, random_state=0, engine="mesh").fit_transform(form) for form in forms]
        auc = [rnx_auc(X, Y) for Y in maps]
        off = max(abs(each - auc[0]) for each in auc)
        worst = max(worst, off)
        same = "yes" if np.array_equal(maps[0], maps[1]) else "no"
        rows.append([name, same, *(f"{each:.4f}" for each in auc), "met" if off <= BOUND else "missed"])
        print(*rows[-1], flush=True)
    header = ["", "equal bits, float64", "AUC, float32", "float64", "× 1000", "÷ 1000", f"within {BOUND:g}"]
    print(table(header, rows), f"\nLargest difference: {worst:.4f}")


if __name__ == "__main__":
    main()
