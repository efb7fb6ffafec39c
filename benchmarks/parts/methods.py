"""Part 4: every method makes its map, at several sizes, beside t-SNE and the principal components."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.shared.apart import attempt
from benchmarks.shared.data import counts, digits, mnist, patches, texts
from benchmarks.shared.libraries import WARM
from benchmarks.shared.measure import rnx_auc
from benchmarks.shared.minima import best, problem
from benchmarks.shared.sizes import Sizes
from benchmarks.shared.tables import bounded, count, failed, figure, table

TITLE = "Every method makes its map"
WAY, AUC, ABOVE, RATIO = 0.97, -0.01, 0.12, 10.0
SMALL = {"digits": 1797, "mnist1500": 1500}  # of which the exact engine's minima are known
OTHERS = {"counts": counts, "texts": texts, "patches": patches}  # which nothing was chosen by
TITLES = {
    "digits": "Digits",
    "counts": "Counts, such as single cells give",
    "texts": "Texts, tf-idf",
    "patches": "Patches of photographs",
}


def fit(name: str, X: Any, mesh: bool, data: str = "") -> dict[str, Any]:
    """The second of two maps (the first, of fewer points, compiles), and what the exact engine says of it."""
    import nearfield as nf

    warnings.simplefilter("ignore")
    options: dict[str, Any] = {"random_state": 0}
    if mesh and nf.method(name).kernel is not None:
        options["engine"] = "mesh"
    nf.Embedder(name, **options).fit(X[:WARM])
    began = time.perf_counter()
    model = nf.Embedder(name, **options).fit(X)
    seconds = time.perf_counter() - began
    Y = model.embedding_
    found = {"seconds": seconds, "iterations": model.n_iter_, "converged": bool(model.converged_)}
    found |= {"cost": model.cost_, "auc": rnx_auc(X, Y), "engine": model.plan_.engine, "size": float(Y.std())}
    if data in SMALL and not nf.method(name).scales:
        exact = problem(name, X)
        z = exact.pack(Y)
        for parameter, place, _ in exact._slices():
            z[place] = np.log(getattr(model.method_.kernel, parameter))
        found["exact"] = exact(z).cost
    return found


def compared(row: dict[str, Any], known: dict[str, float] | None) -> dict[str, float]:
    """How far a map has come on the way to the lowest cost that is known, and its AUC beside that map's."""
    if known is None or "exact" not in row:
        return {}
    way = (known["start"] - row["exact"]) / (known["start"] - known["cost"])
    return {"way": way, "behind": row["auc"] - known["auc"]}


def projection(X: Any) -> float:
    """The AUC of the principal components."""
    from nearfield.descent.starts import principal_components

    return rnx_auc(X, principal_components(X, 2, np.random.RandomState(0)))


def run(sizes: Sizes, path: str | None) -> dict[str, Any]:
    """All methods that have a fast engine at every size, and all of one scale on what has references."""
    import nearfield as nf

    names = ["tsne", *(name for name in nf.methods() if name != "tsne")]
    fast = [name for name in names if not _over_all_pairs(nf.method(name))]
    large: dict[str, Any] = {}
    for n in sizes.maps:  # first, for these are timed, and whoever watches may want the machine back
        large[f"mnist{n}"] = _maps(mnist(path)[0][:n].copy(), fast, f"{count(n)} points")
    small: dict[str, Any] = {}
    for data, n in SMALL.items():
        X = digits(n)[0] if data == "digits" else mnist(path)[0][:n].copy()
        small[data] = _maps(X, names, data, mesh=fast)
    others = {data: _maps(make(sizes.others), fast, data) for data, make in OTHERS.items()}
    return {**small, **large, **others}


def _over_all_pairs(method: Any) -> bool:
    """Whether a method is evaluated over all pairs at any size."""
    from nearfield.engine.plan import plan

    return plan(method, 10_000, 2, euclidean=True).seconds > 0


def _maps(X: Any, names: list[str], data: str, mesh: Sequence[str] = ()) -> dict[str, Any]:
    """The maps of some data by some methods, some of them on the mesh in any case."""
    rows = {
        name: attempt(f"{name}, {data}", fit, name=name, X=X, mesh=name in mesh, data=data) for name in names
    }
    return {"points": len(X), "projection": projection(X), "methods": rows}


def report(found: dict[str, Any], pictures: Any) -> str:
    """A table for each set of data."""
    text = (
        "Defaults, float32 columns, all cores, the mesh engine where a method has it; each map in a process"
        " of its own that has compiled. *Way*: how far the map has come from the start's cost to the lowest"
        " that the exact engine is known to reach with all pairs of P (1000 iterations of L-BFGS from the"
        " same start, or from t-SNE's map; `benchmarks/studies/references.py`). *AUC*: R_NX AUC from the"
        " ranks that 800 points see, above that of the principal components, and beside that of the exact"
        " engine's map."
        " A map that has not unfolded has not converged."
        " Seconds have a bound at 10 000 and 70 000 points only.\n"
    )
    for data, part in found.items():
        rows, base = part["methods"], part["methods"]["tsne"]
        small = data in SMALL
        title = TITLES.get(data, "MNIST")
        text += f"\n### {title}, {count(part['points'])} points\n\n"
        text += f"R_NX AUC of the principal components: {part['projection']:.3f}.\n\n"
        header = [
            "",
            "engine",
            "iterations",
            "converged",
            "seconds",
            "× t-SNE",
            "at most",
            "",
            "AUC",
            "above PCA",
        ]
        header += ["way", "at least", "", "AUC beside", "at least", ""] if small else ["at least", ""]
        text += table(header, [_row(name, row, base, part["projection"], data) for name, row in rows.items()])
    return text


def _row(name: str, row: dict[str, Any], base: dict[str, Any], projected: float, data: str) -> list[str]:
    import nearfield as nf

    small = data in SMALL
    if "error" in row:
        return [name, failed(row), *["–"] * (14 if small else 10)]
    method = nf.method(name)
    one_scale = method.kernel is not None and not method.scales
    timed = not small and data not in OTHERS  # the large ones, which are made first
    slowest = RATIO if one_scale and timed and name != "tsne" else None
    ratio = bounded(row["seconds"] / base["seconds"], at_most=slowest, form="{:.1f} ×", bound_form="{:g} ×")
    converged = "yes" if row["converged"] else "no"
    cells = [name, row["engine"], str(row["iterations"]), converged, f"{row['seconds']:.1f}", *ratio]
    above = row["auc"] - projected
    if not small:
        bound = ABOVE if method.kernel is not None else None  # costs of distances aim at something else
        return [*cells, f"{row['auc']:.3f}", *bounded(above, at_least=bound, form="{:+.3f}")]
    cells += [f"{row['auc']:.3f}", figure(above, "{:+.3f}")]
    beside = compared(row, best(name, data))
    cells += bounded(beside.get("way"), at_least=WAY if beside else None, form="{:.3f}")
    return [*cells, *bounded(beside.get("behind"), at_least=AUC if beside else None, form="{:+.4f}")]
