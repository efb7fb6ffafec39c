"""Small cases that reach every compiled loop of the package, and which of the loops they have reached.

As a program it prints the loops that no case has reached; the tests run it where indices are checked.
"""

import ast
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import nearfield as nf
from nearfield.descent.preparing import Preparation
from nearfield.engine import surroundings

SOURCE = Path(nf.__file__).parent
MANY = 150  # points, from which on new ones are placed by a grid here
ENGINES = {
    "exact": ("tsne", "ssne", "jse", "nerv", "itsne", "mds", "sstress", "sammon", "mstsne", "msjse"),
    "mesh": ("tsne", "ssne", "jse", "nerv", "wtsne", "umap", "umap_sampled", "mstsne", "msjse"),
    "pairs": ("mds",),
    "moments": ("sstress",),
}


def loops() -> set[tuple[str, str]]:
    """File and name of every function that is compiled."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and any(
                word in ast.unparse(d) for d in node.decorator_list for word in ("jit", "inlined")
            ):
                found.add((str(path), node.name))
    return found


def data(n: int = 40) -> np.ndarray:
    """A few points, two of which are equal."""
    X = np.random.default_rng(n).normal(size=(n, 4))
    X[7] = X[3]
    return X


def step(X: Any, method: Any, **options: Any) -> None:
    """A run of two iterations."""
    nf.Run(X, method, random_state=0, n_jobs=1, **options).step(2)


def every_engine() -> None:
    """Methods of each kind on the engines that take them."""
    for engine, names in ENGINES.items():
        for name in names:
            step(data(), name, engine=engine, perplexity="multiscale" if name.startswith("ms") else 5)
    for n_components in (1, 3):
        for name in ("tsne", "jse"):
            step(data(), name, engine="mesh", perplexity=5, n_components=n_components)


def closed_forms() -> None:
    """What the exact engine has loops of its own for."""
    KL, Gaussian = nf.costs.KL(), nf.kernels.Gaussian()
    for normalization in ("pair", "point"):
        step(data(), nf.Method(KL, nf.kernels.Student(), normalization), engine="exact")
        for scales in ((4.0, 1.0), (5.0, 1.0)):
            step(
                data(), nf.Method(KL, Gaussian, normalization, scales=scales), engine="exact", exaggeration=1
            )


def given() -> None:
    """Graphs and affinities in place of data, and rows that count more than once."""
    X = data()
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))
    order = np.argsort(D, axis=1)[:, 1:13]
    step((order, np.take_along_axis(D, order, axis=1)), "tsne", metric="precomputed", perplexity=4)
    step(sparse.csr_array(np.exp(-D) * (D < 4)), "jse", metric="affinity", engine="exact")
    for n_components in (1, 2, 3):
        how = {"perplexity": nf.FuzzyNeighbours(6), "optimizer": "flow", "n_components": n_components}
        step(X, "umap_sampled", engine="mesh", **how)
    step(X, "tsne", weights=np.linspace(1, 3, len(X)), engine="mesh", perplexity=5)


def bits() -> None:
    """Rows of bits, many of which are set or few, old and new."""
    random = np.random.default_rng(0)
    for share in (0.5, 0.01):
        X = (random.random((40, 200)) < share).astype(float)
        X[np.arange(40), np.arange(40)] = 1  # none is empty
        for engine in ("exact", "mesh"):
            step(X, "tsne", metric="jaccard", engine=engine, perplexity=5)
        model = nf.Embedder("tsne", metric="hamming", engine="exact", perplexity=5, max_iter=2, n_jobs=1)
        for each in (X, sparse.csr_array(X)):
            model.fit(each).place(1 - X[:3])


def crowds() -> None:
    """Maps so wide that near points are added up one by one."""
    X = data(300)
    for n_components in (1, 2, 3):
        init = 40 * np.tanh(X[:, :n_components])
        step(X, "tsne", engine="mesh", init=init, n_components=n_components, perplexity=5)
        step(X, "ssne", engine="mesh", init=init, n_components=n_components, perplexity=5)


def judged() -> None:
    """How good a map is."""
    X = data()
    for metric in ("euclidean", "manhattan"):
        nf.quality(X, X[:, :2], labels=np.arange(len(X)) % 3, metric=metric)


def placed() -> None:
    """Where new rows go, in maps of few points and of many."""
    surroundings.FEWEST, few, many = MANY - 1, data(), data(MANY)
    for X, engine in ((few, "exact"), (sparse.csr_array(few), "exact"), (many, "mesh")):
        model = nf.Embedder("tsne", engine=engine, perplexity=5, random_state=0, max_iter=2, n_jobs=1).fit(X)
        model.transform(X[:3] * 1.01)
    nf.Embedder("tasne", engine="mesh", perplexity=5, max_iter=2, n_jobs=1).fit(many).transform(
        many[:3] * 1.01
    )


def prepared() -> None:
    """What becomes of a table before it is mapped."""
    Preparation.of(data(), components=2).rows(data()[:3])


if __name__ == "__main__":
    reached = set()
    watch = lambda frame, *_: reached.add((frame.f_code.co_filename, frame.f_code.co_name))  # noqa: E731
    sys.setprofile(watch)
    threading.setprofile(watch)
    warnings.simplefilter("ignore")
    for case in (every_engine, closed_forms, given, bits, crowds, judged, placed, prepared):
        case()
    sys.setprofile(None)
    for path, name in sorted(loops() - reached):
        print(Path(path).relative_to(SOURCE), name)
