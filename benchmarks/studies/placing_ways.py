"""Ways of placing new points in a finished t-SNE map, by where the points end up.

    python -m benchmarks.studies.placing_ways path/to/mnist.npz

Settled: the method's own cost of the point is minimised, by BFGS, with 90 neighbours as in the fit, or with
fewer. Descent: the same cost, by 250 plain steps of the gradient over the stiffness. Median: the start alone.
Fixed point: from the median, y ← Σ p w y_j / Σ p w over the neighbours, without any repulsion, with p of the
point alone or of both.

The digits and blobs here are other draws than those that `benchmarks.studies.placing` reports. Accuracy and
neighbours kept are of 2000 new rows; displacement is of 1000 fitted rows that are taken out and placed again.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.shared.data import mnist
from nearfield.affinity.fitted import Ties
from nearfield.descent.placing import HeldMap, Reference
from nearfield.descent.settling import LONGEST, median, settled_tails
from nearfield.engine.placed import PlacedCost

FITTED, NEW, OUT = 18_000, 2000, 1000
NEAR, VOTERS = 30, 10
PERPLEXITY, NEIGHBOURS = 30.0, 90
STEPS = 250
DRAWS = 77  # a seed of its own: what is chosen here is reported on other draws

Way = Callable[[HeldMap, Ties], Any]


def settled(held: HeldMap, ties: Ties) -> Any:
    """As `transform` does it."""
    return settled_tails(held, ties)[0]


def start(held: HeldMap, ties: Ties) -> Any:
    """The weighted median of the neighbours' places."""
    return median(ties, held.Y)


def descent(held: HeldMap, ties: Ties) -> Any:
    """Plain steps down the same cost, from the median."""
    cost, y, rows = PlacedCost(held, ties), start(held, ties), np.arange(len(ties.indices))
    longest = LONGEST * held.method.require_kernel().width
    for _ in range(STEPS):
        _, gradient, stiffness = cost.at(rows, y)
        step = gradient / stiffness[:, None]
        length = np.linalg.norm(step, axis=1, keepdims=True)
        y = y - step * np.minimum(1.0, longest / np.maximum(length, 1e-300))
    return y


def fixed_point(held: HeldMap, ties: Ties, *, both: bool) -> Any:
    """Where each is the mean of its neighbours by p w; repulsion has no part in it."""
    p = ties.ahead + ties.back if both else ties.ahead
    y, places = start(held, ties), held.Y[ties.indices]
    for _ in range(STEPS):
        gaps = y[:, None, :] - places
        pw = p / (1 + (gaps**2).sum(axis=2))
        y = (pw[..., None] * places).sum(axis=1) / pw.sum(axis=1, keepdims=True)
    return y


WAYS: dict[str, tuple[int, Way]] = {
    "settled": (NEIGHBOURS, settled),
    "settled, 60 neighbours": (60, settled),
    "settled, 45 neighbours": (45, settled),
    "settled, 30 neighbours": (31, settled),
    "descent": (NEIGHBOURS, descent),
    "median": (NEIGHBOURS, start),
    "fixed point, own p": (NEIGHBOURS, lambda held, ties: fixed_point(held, ties, both=False)),
    "fixed point, both p": (NEIGHBOURS, lambda held, ties: fixed_point(held, ties, both=True)),
}


def placed(way: str, reference: Reference, rows: Any) -> Any:
    """The places of some rows."""
    k, place = WAYS[way]
    fitted, held = reference.fitted, reference.held
    held.around()
    return place(held, fitted._calibrated(*fitted.nearest(rows, k), [PERPLEXITY], False))


def figures(name: str, X: Any, y: Any) -> None:
    """Fit, place in every way, and tell."""
    from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

    import nearfield as nf

    old, new = X[:FITTED], X[FITTED : FITTED + NEW]
    run = nf.Run(old, "tsne", perplexity=PERPLEXITY, random_state=0, engine="mesh")
    run.converge()
    Y = run.Y.astype(np.float64)
    out = np.random.default_rng(DRAWS).permutation(FITTED)[:OUT]
    kept = np.setdiff1d(np.arange(FITTED), out)
    held = nf.Run(old[kept], "tsne", perplexity=PERPLEXITY, init=Y[kept], engine="mesh").reference()
    radius = np.sqrt(np.sum((Y - Y.mean(axis=0)) ** 2, axis=1).mean())
    votes, near = KNeighborsClassifier(VOTERS).fit(Y, y[:FITTED]), NearestNeighbors(n_neighbors=NEAR)
    there = near.fit(old).kneighbors(new, return_distance=False)
    near.fit(Y)
    print(f"{name}: accuracy, share of {NEAR} neighbours kept, displacement in radii (median, mean)")
    for way in WAYS:
        places = placed(way, run.reference(), new)
        here = near.kneighbors(places, return_distance=False)
        share = np.mean([np.intersect1d(*both).size / NEAR for both in zip(there, here, strict=True)])
        moved = np.linalg.norm(placed(way, held, old[out]) - Y[out], axis=1) / radius
        right = votes.score(places, y[FITTED : FITTED + NEW])
        told = f"{right:.4f}  {share:.4f}  {np.median(moved):.5f}  {np.mean(moved):.5f}"
        print(f"  {way:24} {told}", flush=True)


def blobs() -> tuple[Any, Any]:
    """Forty clusters of unequal width in 20 dimensions, which overlap."""
    random = np.random.default_rng(DRAWS)
    y = random.integers(40, size=FITTED + NEW)
    widths = random.uniform(0.5, 2.0, size=(40, 1))
    return 2 * random.normal(size=(40, 20))[y] + widths[y] * random.normal(size=(len(y), 20)), y


def main(path: str) -> None:
    """Both kinds of data."""
    warnings.simplefilter("ignore")
    X, y = mnist(path)
    order = np.random.default_rng(DRAWS).permutation(len(X))[: FITTED + NEW]
    figures("digits", X[order], np.asarray(y)[order].astype(int))
    figures("blobs", *blobs())


if __name__ == "__main__":
    main(*sys.argv[1:])
