"""New points in a finished map, beside openTSNE's: seconds, accuracy, neighbours kept, displacement, novelty.

    python -m benchmarks.studies.placing path/to/mnist.npz [nearfield|openTSNE|novelty …]

60 000 digits are fitted and 10 000 placed. Displacement: 2000 fitted points are taken out, the others stay
where they are, and those are placed as if they were new; how far from where they were, in the map's own unit.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.shared.data import mnist

FITTED, PLACED, OUT = 60_000, 10_000, 2000
NEAR, VOTERS = 30, 10
WITHOUT, ASKED = 18_000, 2000  # fitted without one class, and asked about of either kind

Place = Callable[[Any], Any]


def nearfield_fit(X: Any) -> tuple[Any, Place]:
    """A map, and what places rows in it."""
    import nearfield as nf

    model = nf.TSNE(random_state=0).fit(X)
    return model.embedding_, model.transform


def nearfield_held(X: Any, Y: Any) -> Place:
    """What places rows among points that lie at Y: a run that has made no iteration."""
    import nearfield as nf

    reference = nf.Run(X, "tsne", init=Y).reference()
    return lambda rows: reference.transform(rows)[0]


def opentsne_fit(X: Any) -> tuple[Any, Place]:
    """The same with openTSNE's defaults, on all cores."""
    import openTSNE

    made = openTSNE.TSNE(random_state=0, n_jobs=os.cpu_count()).fit(X)
    return np.array(made), _unmoved(made)


def opentsne_held(X: Any, Y: Any) -> Place:
    """Likewise."""
    import openTSNE

    ties = openTSNE.affinity.PerplexityBasedNN(X, perplexity=30, n_jobs=os.cpu_count(), random_state=0)
    return _unmoved(openTSNE.TSNEEmbedding(Y.copy(), ties, n_jobs=os.cpu_count(), random_state=0))


def _unmoved(made: Any) -> Place:
    """What places rows in a map as it was: openTSNE's `transform` moves the map, too."""
    before = np.array(made)

    def place(rows: Any) -> Any:
        found = np.array(made.transform(rows))
        return found + (before - np.array(made)).mean(axis=0)

    return place


LIBRARIES = {
    "nearfield": (nearfield_fit, nearfield_held),
    "openTSNE": (opentsne_fit, opentsne_held),
}


def figures(name: str, X: Any, y: Any) -> None:
    """Fit, place, and tell."""
    from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

    fit, held = LIBRARIES[name]
    old, new = X[:FITTED], X[FITTED : FITTED + PLACED]
    Y, place = fit(old)
    place(new[:2])  # what is compiled, and laid once
    seconds = timed(place, new)
    placed = np.array(place(new))
    votes = KNeighborsClassifier(VOTERS).fit(Y, y[:FITTED])
    near = NearestNeighbors(n_neighbors=NEAR)
    there = near.fit(old).kneighbors(new, return_distance=False)
    here = near.fit(Y).kneighbors(placed, return_distance=False)
    share = np.mean([np.intersect1d(*both).size / NEAR for both in zip(there, here, strict=True)])
    out = np.random.default_rng(1).permutation(FITTED)[:OUT]
    kept = np.setdiff1d(np.arange(FITTED), out)
    moved = np.linalg.norm(np.array(held(old[kept], Y[kept])(old[out])) - Y[out], axis=1)
    print(
        f"{name}: {PLACED} placed in {seconds:.2f} s, one in {1e3 * timed(place, new[:1]):.1f} ms;"
        f" accuracy {votes.score(placed, y[FITTED : FITTED + PLACED]):.4f}"
        f" (the map's own {votes.score(Y, y[:FITTED]):.4f}), {share:.4f} of {NEAR} neighbours kept;"
        f" displaced by {np.median(moved):.3f} in the median, {np.mean(moved):.3f} in the mean"
    )


def timed(place: Place, rows: Any) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    place(rows)
    return time.perf_counter() - start


def novelty(X: Any, y: Any) -> None:
    """How well a class that was not fitted is told from those that were; it needs no finished map."""
    from sklearn.metrics import roc_auc_score

    import nearfield as nf

    found = []
    for digit in np.unique(y):
        others, own = np.flatnonzero(y != digit), np.flatnonzero(y == digit)[:ASKED]
        rows = np.concatenate([others[WITHOUT : WITHOUT + ASKED], own])
        model = nf.TSNE(random_state=0, max_iter=1).fit(X[others[:WITHOUT]])
        found.append(roc_auc_score(y[rows] == digit, model.place(X[rows]).novelty))
    told = ", ".join(f"{area:.3f}" for area in found)
    print(f"novelty: AUC {np.mean(found):.4f} in the mean over the classes ({told})")


def main(path: str, *parts: str) -> None:
    """All parts, or some."""
    warnings.simplefilter("ignore")
    X, y = mnist(path)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], np.asarray(y)[order].astype(int)
    for part in parts or ("nearfield", "novelty"):
        if part == "novelty":
            novelty(X, y)
        else:
            figures(part, X, y)


if __name__ == "__main__":
    main(*sys.argv[1:])
