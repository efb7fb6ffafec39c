"""The libraries: each makes a map with its defaults, on all cores."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

LIBRARIES = (
    "nearfield",
    "openTSNE",
    "scikit-learn",
    "scikit-learn-intelex",
    "scranpy",
    "umap-learn",
    "PaCMAP",
)
TSNE = LIBRARIES[:5]  # which have a KL to compare
COMPILED = ("nearfield", "umap-learn", "PaCMAP")  # whose first call compiles
WARM = 2000  # points of a first map, after which everything is compiled


def make_map(name: str, X: Any) -> Any:
    """The map that a library makes."""
    if name == "nearfield":
        import nearfield as nf

        return nf.TSNE(random_state=0).fit_transform(X)
    if name == "openTSNE":
        from openTSNE import TSNE

        return np.asarray(TSNE(n_jobs=os.cpu_count(), random_state=0).fit(X))
    if name == "scikit-learn":
        from sklearn.manifold import TSNE

        return TSNE(n_jobs=-1, random_state=0).fit_transform(X)
    if name == "scikit-learn-intelex":
        from sklearnex.manifold import TSNE

        return TSNE(n_jobs=os.cpu_count(), random_state=0).fit_transform(X)
    if name == "scranpy":  # which takes points as columns
        import scranpy

        return scranpy.run_tsne(np.ascontiguousarray(X.T, dtype=np.float64), num_threads=os.cpu_count())
    if name == "umap-learn":
        from umap import UMAP

        return UMAP(n_jobs=-1).fit_transform(X)
    if name == "PaCMAP":
        from pacmap import PaCMAP

        return PaCMAP().fit_transform(X)
    raise ValueError(f"no library is called {name!r}")


def times(name: str, X: Any, calls: int | None = None) -> dict[str, Any]:
    """The seconds of each call, two for a library that compiles, and the last map."""
    seconds, Y = [], None
    for _ in range(calls or (2 if name in COMPILED else 1)):
        began = time.perf_counter()
        Y = make_map(name, X)
        seconds.append(time.perf_counter() - began)
    return {"seconds": seconds, "Y": np.asarray(Y)}


def warm(X: Any, n_components: int = 2) -> None:
    """Let nearfield compile: a whole small t-SNE map."""
    import nearfield as nf

    nf.Run(X[:WARM], "tsne", n_components=n_components, random_state=0).converge(150)
