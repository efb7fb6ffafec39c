"""Neighbours by other metrics than the Euclidean: seconds, and whether they are exact.

    python -m benchmarks.studies.metrics [ROWS]

Jaccard's distance of 50 000 rows of 2048 bits, 5 % of them set, by default, held to all pairs of a sample of
rows and to scikit-learn's search on 5000 of them; then correlation and Hellinger's distance of 70 000 rows of
50 columns, beside Euclidean distances of the same rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from nearfield.affinity.neighbours import Neighbours, neighbours
from nearfield.affinity.source import Source

K = 90  # neighbours, as a perplexity of 30 asks for
FEW = 5_000  # rows that scikit-learn is given
CHECKED = 20  # rows whose neighbours are held to all distances
COLUMNS = 50
TIMES = 3  # of which the shortest counts


def bits(rows: int) -> Any:
    """Fingerprints: 2048 bits, 5 % of them set, in a few hundred families."""
    random = np.random.default_rng(0)
    family = random.random((300, 2048)) < 0.05
    kept = random.random((rows, 2048)) < 0.5
    other = random.random((rows, 2048)) < 0.025
    return (family[random.integers(300, size=rows)] & kept) | other


def counts(rows: int) -> Any:
    """Counts of words, by topics."""
    random = np.random.default_rng(0)
    topics = random.gamma(0.3, size=(40, COLUMNS)) + 1e-3
    return random.poisson(20 * topics[random.integers(40, size=rows)]) + 1.0


def shortest(search: Callable[[], Any]) -> tuple[Any, float]:
    """What a search finds, and the seconds of the quickest of some."""
    took = []
    for _ in range(TIMES):
        began = time.perf_counter()
        found = search()
        took.append(time.perf_counter() - began)
    return found, min(took)


def is_exact(found: Neighbours, X: Any) -> bool:
    """Whether the distances found for a sample of rows are the smallest of all, by plain arithmetic."""
    for i in np.linspace(0, len(X) - 1, CHECKED).astype(int):
        both, either = (X[i] & X).sum(axis=1), (X[i] | X).sum(axis=1)
        D = 1 - both / either
        D[i] = np.inf
        if not np.allclose(np.sqrt(found.squared[i]) * found.unit, np.sort(D)[:K], atol=1e-6):
            return False
    return True


def of_bits(rows: int) -> None:
    """Jaccard's distance, dense and sparse, and scikit-learn's."""
    X = bits(rows)
    neighbours(Source.of(X[:100], "jaccard"), 5)  # compiles
    for name, data in (("dense", X), ("sparse", sparse.csr_array(X))):
        found, seconds = shortest(lambda data=data: neighbours(Source.of(data, "jaccard"), K))
        exact = "exact" if is_exact(found, X) else "NOT EXACT"
        print(f"jaccard, {rows} × 2048 bits, {name}: {seconds:.1f} s, {exact} ({found.how})")
    few = X[:FEW]
    _, ours = shortest(lambda: neighbours(Source.of(few, "jaccard"), K))
    theirs = NearestNeighbors(n_neighbors=K + 1, metric="jaccard", n_jobs=-1).fit(few)
    began = time.perf_counter()
    theirs.kneighbors(few)
    seconds = time.perf_counter() - began
    print(
        f"jaccard, {FEW} rows: {ours:.2f} s, scikit-learn's {seconds:.1f} s: {seconds / ours:.0f} × as fast"
    )


def of_rows(rows: int) -> None:
    """Correlation and Hellinger's distance beside Euclidean ones, in turns."""
    X = counts(rows)
    took: dict[str, list[float]] = {"euclidean": [], "correlation": [], "hellinger": []}
    for _ in range(TIMES):
        for metric, seconds in took.items():
            began = time.perf_counter()
            found = neighbours(Source.of(X, metric), K)
            seconds.append(time.perf_counter() - began)
            print(f"  {metric}: {seconds[-1]:.1f} s, {found.how}", flush=True)
    base = min(took["euclidean"])
    for metric, seconds in took.items():
        print(
            f"{metric}, {rows} × {COLUMNS}: {min(seconds):.1f} s, {min(seconds) / base:.2f} × the Euclidean"
        )


def main(rows: str = "50000") -> None:
    """All of them; fewer rows for a trial."""
    of_bits(int(rows))
    of_rows(int(rows) * 7 // 5)


if __name__ == "__main__":
    main(*sys.argv[1:])
