"""A spectrum of six maps, each from the one before, against six maps from scratch: time, cost and quality.

    python -m benchmarks.studies.spectrum --data path/to/mnist.npz [--rows 10000] [--repeats 3]

Both ways are run in turn, after a run that compiles; of each the best time counts. Beside the seconds of the
clock those of all cores are told, for machines that have other work to do.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.shared.data import mnist

ATTRACTIONS = (0.5, 1.0, 2.0, 4.0, 10.0, 30.0)


def from_scratch(X: Any) -> list[Any]:
    """Six models, none of which knows of the others."""
    import nearfield as nf

    return [nf.TSNE(attraction=each, random_state=0).fit(X) for each in ATTRACTIONS]


def one_by_one(X: Any) -> Any:
    """The spectrum."""
    import nearfield as nf

    return nf.spectrum(X, ATTRACTIONS, random_state=0)


def timed(make: Any, X: Any) -> tuple[float, float, Any]:
    """Seconds of the clock, seconds of all cores, and what came of it."""
    clock, cores = time.perf_counter(), time.process_time()
    made = make(X)
    return time.perf_counter() - clock, time.process_time() - cores, made


def main() -> None:
    """Print a line for each attraction, and the times."""
    import nearfield as nf

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", required=True, help="MNIST as an npz with X and y")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    X = mnist(given.data)[0][: given.rows].astype(np.float64)
    for make in (from_scratch, one_by_one):
        make(X[:1500])
    best: dict[Any, tuple[float, float, Any]] = {}
    for _ in range(given.repeats):
        for make in (from_scratch, one_by_one):
            found = timed(make, X)
            before = best.get(make, found)
            best[make] = (min(before[0], found[0]), min(before[1], found[1]), found[2])
    models, spectrum = best[from_scratch][2], best[one_by_one][2]
    judged = spectrum.quality(sample=1000)
    print(f"{given.rows} rows of MNIST, 50 components; cost, iterations and R_NX AUC")
    for k, (each, model) in enumerate(zip(ATTRACTIONS, models, strict=True)):
        alone = nf.quality(X, model, sample=1000).auc
        print(
            f"  attraction {each:4g}: from scratch {model.cost_:8.4f} {model.n_iter_:4d} {alone:.4f},"
            f" from the one before {spectrum.costs[k]:8.4f} {spectrum.iterations[k]:4d} {judged[k].auc:.4f}"
        )
    (clock, cores, _), (clock_here, cores_here, _) = best[from_scratch], best[one_by_one]
    print(
        f"from scratch {clock:.2f} s ({cores:.2f} of all cores), spectrum {clock_here:.2f} s"
        f" ({cores_here:.2f}): {clock / clock_here:.2f} times as fast ({cores / cores_here:.2f})"
    )


if __name__ == "__main__":
    main()
