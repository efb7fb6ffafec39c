"""Maps made together against separate ones laid on one another: drift of what they share, and what it costs.

    python -m benchmarks.studies.aligning path/to/mnist.npz [draws]

10 000 digits in two halves that share 2000 rows, 6000 each. Separate maps are `align` with strength 0, which
lays them on one another by Procrustes' rotation; both kinds make the same number of iterations.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from benchmarks.shared.data import mnist

ROWS, SHARED = 10_000, 2000
STRENGTHS = (0.1, 0.25, 1.0)


def halves(X: Any, draw: int) -> tuple[list[Any], list[Any]]:
    """Two data sets and the ids of their rows, those that are shared in another order."""
    random = np.random.default_rng(draw)
    rows = random.permutation(len(X))[:ROWS]
    middle = (ROWS - SHARED) // 2 + SHARED
    ids = [random.permutation(each) for each in (rows[:middle], np.r_[rows[:SHARED], rows[middle:]])]
    return [X[each] for each in ids], ids


def figures(X: Any, draw: int) -> None:
    """Drift and KL of maps made together, beside those of separate ones."""
    import nearfield as nf

    datasets, ids = halves(X, draw)
    alone = nf.align(datasets, ids, strength=0, random_state=0)
    print(
        f"draw {draw}, separate maps: KL {', '.join(f'{each:.4f}' for each in alone.cost)},"
        f" drift {alone.drift[0, 1]:.4f} of the radius, {alone.iterations} iterations",
        flush=True,
    )
    for strength in STRENGTHS:
        tied = nf.align(datasets, ids, strength=strength, random_state=0)
        longer = alone
        if tied.iterations != alone.iterations:  # neither is to profit from having gone on for longer
            longer = nf.align(datasets, ids, strength=0, tol=0, max_iter=tied.iterations, random_state=0)
        more = ", ".join(f"{100 * each:+.2f} %" for each in tied.cost / longer.cost - 1)
        print(
            f"  strength {strength:g}: KL {', '.join(f'{each:.4f}' for each in tied.cost)} ({more}),"
            f" drift {tied.drift[0, 1]:.4f}, {tied.drift[0, 1] / longer.drift[0, 1]:.3f} of Procrustes',"
            f" {tied.iterations} iterations",
            flush=True,
        )


def main(path: str, draws: str = "4") -> None:
    """So many draws of the rows."""
    warnings.simplefilter("ignore")
    X, _ = mnist(path)
    for draw in range(int(draws)):
        figures(X, draw)


if __name__ == "__main__":
    main(*sys.argv[1:])
