"""New points in a finished map, beside others': seconds, accuracy, neighbours kept, displacement, novelty.

    python -m benchmarks.studies.placing path/to/mnist.npz [nearfield|openTSNE|umap|pacmap|novelty|growth …]

60 000 digits are fitted and 10 000 placed; seconds are the median of some calls. Displacement: 1000 fitted
points are taken out, the others stay where they are, and those are placed as if they were new; how far from
where they were, in radii of the map. Growth: 100 000 rows with noise are placed; the map of all 70 000, to
compare with; and `extend` by 1000 rows.
"""

from __future__ import annotations

import copy
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.shared.data import mnist

FITTED, PLACED, OUT, MANY = 60_000, 10_000, 1000, 100_000
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


def umap_fit(X: Any) -> tuple[Any, Place]:
    """The same with umap-learn's defaults."""
    import umap

    made = umap.UMAP().fit(X)
    return made.embedding_, made.transform


def pacmap_fit(X: Any) -> tuple[Any, Place]:
    """The same with PaCMAP's defaults, which keeps what it needs only if asked to."""
    import pacmap

    made = pacmap.PaCMAP(save_tree=True)
    Y = made.fit_transform(X.copy())
    return Y, lambda rows: made.transform(rows.copy(), basis=X)


LIBRARIES: dict[str, tuple[Any, Any]] = {
    "nearfield": (nearfield_fit, nearfield_held),
    "openTSNE": (opentsne_fit, opentsne_held),
    "umap": (umap_fit, None),
    "pacmap": (pacmap_fit, None),
}


def figures(name: str, X: Any, y: Any) -> None:
    """Fit, place, and tell."""
    from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

    fit, held = LIBRARIES[name]
    old, new = X[:FITTED], X[FITTED : FITTED + PLACED]
    Y, place = fit(old)
    place(new[:2])  # what is compiled, and laid once
    seconds, alone = timed(place, new, 5), timed(place, new[:1], 50)
    placed = np.array(place(new))
    votes = KNeighborsClassifier(VOTERS).fit(Y, y[:FITTED])
    near = NearestNeighbors(n_neighbors=NEAR)
    there = near.fit(old).kneighbors(new, return_distance=False)
    here = near.fit(Y).kneighbors(placed, return_distance=False)
    share = np.mean([np.intersect1d(*both).size / NEAR for both in zip(there, here, strict=True)])
    print(
        f"{name}: {PLACED} placed in {seconds:.3f} s, one in {1e3 * alone:.1f} ms;"
        f" accuracy {votes.score(placed, y[FITTED : FITTED + PLACED]):.4f}"
        f" (the map's own {votes.score(Y, y[:FITTED]):.4f}), {share:.4f} of {NEAR} neighbours kept"
    )
    if held is None:
        return
    out = np.random.default_rng(1).permutation(FITTED)[:OUT]
    kept = np.setdiff1d(np.arange(FITTED), out)
    radius = np.sqrt(np.sum((Y - Y.mean(axis=0)) ** 2, axis=1).mean())
    moved = np.linalg.norm(np.array(held(old[kept], Y[kept])(old[out])) - Y[out], axis=1)
    print(
        f"{name}: {OUT} taken out and placed are displaced by {np.median(moved) / radius:.5f} radii in the"
        f" median, {np.mean(moved) / radius:.5f} in the mean; {np.median(moved):.3f} in the unit of the map,"
        f" whose radius is {radius:.1f}"
    )


def growth(X: Any, y: Any) -> None:
    """Many rows, the map of all of them, and rows that are added for good."""
    from sklearn.neighbors import KNeighborsClassifier

    import nearfield as nf

    model = nf.TSNE(random_state=0).fit(X[:FITTED])
    model.transform(X[-2:])
    random = np.random.default_rng(2)
    many = X[random.integers(len(X), size=MANY)] + random.normal(0, 0.1, (MANY, X.shape[1])).astype(X.dtype)
    print(f"growth: {MANY} placed in {timed(model.transform, many):.2f} s")
    whole = nf.TSNE(random_state=0).fit_transform(X)
    votes = KNeighborsClassifier(VOTERS).fit(whole[:FITTED], y[:FITTED])
    print(f"growth: accuracy of the {PLACED} in a map of all: {votes.score(whole[FITTED:], y[FITTED:]):.4f}")
    before, more = model.embedding_, X[FITTED : FITTED + 1000]
    radius = np.sqrt(np.sum((before - before.mean(axis=0)) ** 2, axis=1).mean())
    for old in ("fixed", "soft"):
        grown = copy.deepcopy(model)
        seconds = timed(lambda rows, grown=grown, old=old: grown.extend(rows, old=old), more)
        votes = KNeighborsClassifier(VOTERS).fit(grown.embedding_[:FITTED], y[:FITTED])
        right = votes.score(grown.embedding_[FITTED:], y[FITTED : FITTED + 1000])
        same = np.array_equal(grown.embedding_[:FITTED], before)
        print(
            f"growth: extended by 1000, {old}, in {seconds:.1f} s: old points moved by at most"
            f" {grown.moved_.max() / radius:.4f} radii, {np.median(grown.moved_) / radius:.5f} in the median"
            f" ({'equal bits' if same else 'not equal'}); accuracy {right:.4f}"
        )


def timed(place: Place, rows: Any, calls: int = 1) -> float:
    """Seconds of a call: the median of so many, or of as many as a quarter of a minute has room for."""
    taken: list[float] = []
    while len(taken) < calls and sum(taken) < 15:
        start = time.perf_counter()
        place(rows)
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


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
        if part in ("novelty", "growth"):
            {"novelty": novelty, "growth": growth}[part](X, y)
        else:
            figures(part, X, y)


if __name__ == "__main__":
    main(*sys.argv[1:])
