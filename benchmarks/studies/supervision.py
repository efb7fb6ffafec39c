"""Labels of half of the points in P: what they do for the other half, and what they cost in neighbours kept.

    python -m benchmarks.studies.supervision --data path/to/mnist.npz [--rows 5000] [--draws 3]

Half of the labels are given. The other half is told by a vote of the 10 nearest labelled points in the map,
and R_NX is told of the points without a label, in whose own rows of P nothing was changed.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from benchmarks.shared.data import mnist

STRENGTHS = (0.0, 0.25, 0.5, 0.75, 0.9)


def figures(X: Any, y: Any, half: Any, strength: float) -> tuple[float, float, float]:
    """The accuracy of the other half, and R_NX AUC of that half and of the labelled one."""
    from sklearn.neighbors import KNeighborsClassifier

    import nearfield as nf

    given = np.where(half, y.astype(np.int64), -1)
    Y = nf.TSNE(supervision=strength, random_state=0).fit_transform(X, given)
    vote = KNeighborsClassifier(10).fit(Y[half], y[half])
    points = nf.quality(X, Y, sample=len(X)).points
    return vote.score(Y[~half], y[~half]), points.auc[~half].mean(), points.auc[half].mean()


def main() -> None:
    """Print a line for each strength: means over draws of the rows and of the half."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", required=True, help="MNIST as an npz with X and y")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y = mnist(given.data)
    print(f"{given.rows} rows of MNIST, half of the labels given, {given.draws} draws")
    for strength in STRENGTHS:
        found = []
        for draw in range(given.draws):
            random = np.random.default_rng(draw)
            rows = random.permutation(len(X))[: given.rows]
            half = random.random(given.rows) < 0.5
            found.append(figures(X[rows].astype(np.float64), y[rows], half, strength))
        accuracy, others, labelled = np.mean(found, axis=0)
        print(
            f"  supervision {strength:4.2f}: 10-NN accuracy of the other half {accuracy:.4f},"
            f" R_NX AUC {others:.4f} (labelled half {labelled:.4f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
