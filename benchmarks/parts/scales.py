"""Part 7: several scales at once, large perplexities, and distances on drawn pairs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.shared.apart import attempt
from benchmarks.shared.data import digits, mnist
from benchmarks.shared.measure import rnx_auc
from benchmarks.shared.sizes import Sizes
from benchmarks.shared.tables import bounded, count, failed, figure, table

TITLE = "All scales, large perplexities, and distances"
# Data, points, method, engine, the least R_NX AUC and the most seconds.
MAPS = (
    ("digits", 1797, "msasne", "exact", 0.600, 12.0),
    ("digits", 1797, "msasne", "mesh", 0.595, 6.0),
    ("MNIST", 2_000, "msasne", "mesh", 0.530, 8.0),
    ("MNIST", 10_000, "msasne", "mesh", 0.465, 40.0),
    ("MNIST", 70_000, "msasne", "mesh", 0.40, 360.0),
)
OTHERS = ("mssne", "msjse", "mstsne", "tsne")  # on the digits, for comparison
LARGE, NEARBY, PER_ITERATION = 1000.0, 30.0, 3.0
DRAWN, CLOSE = 5_000, 0.02
MOST_SECONDS, MOST_MEMORY = 300.0, 4.0
JUDGED, JUDGE_SECONDS, JUDGE_MEMORY = 10_000, 20.0, 1.0
SAMPLE = 2_000  # rows of large maps that the AUC is taken from


def embedded(X: Any, method: str, engine: str) -> dict[str, Any]:
    """A map, after another one of few points that compiles everything, and how long it took."""
    import nearfield as nf

    nf.Embedder(method, engine=engine, random_state=0).fit(X[:: max(1, len(X) // 800)])
    began = time.perf_counter()
    model = nf.Embedder(method, engine=engine, random_state=0).fit(X)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "iterations": model.n_iter_, "Y": model.embedding_, "plan": str(model.plan_)}


def iterations(X: Any, perplexity: float) -> dict[str, Any]:
    """What preparing t-SNE takes at a perplexity, and an iteration after the first hundred."""
    import nearfield as nf

    began = time.perf_counter()
    run = nf.Run(X, "tsne", perplexity=perplexity, random_state=0)
    prepared = time.perf_counter() - began
    run.step(100)
    began = time.perf_counter()
    run.step(100)
    return {"prepared": prepared, "each": (time.perf_counter() - began) / 100}


def distances(X: Any, method: str, engine: str) -> dict[str, Any]:
    """A map of distances and how long it took."""
    import nearfield as nf

    began = time.perf_counter()
    model = nf.Embedder(method, engine=engine, random_state=0).fit(X)
    return {"seconds": time.perf_counter() - began, "iterations": model.n_iter_, "Y": model.embedding_}


def judged(X: Any, Y: Any) -> dict[str, Any]:
    """How long the library takes for all ranks."""
    import nearfield as nf

    nf.quality(X[:300], Y[:300])
    began = time.perf_counter()
    auc = nf.quality(X, Y).auc
    return {"seconds": time.perf_counter() - began, "auc": float(auc)}


def stress(X: Any, Y: Any, sammon: bool) -> float:
    """Σ (r - d)² over all pairs, or Σ (r - d)²/r over Σ r, in float64 and a block of rows at a time."""
    total = weight = 0.0
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    for lo in range(0, len(X), 500):
        r, d = (
            np.sqrt(np.maximum(((Z[lo : lo + 500, None] - Z[None]) ** 2).sum(axis=2), 0.0)) for Z in (X, Y)
        )
        gap = (r - d) ** 2
        total += np.divide(gap, r, out=np.zeros_like(r), where=r > 0).sum() if sammon else gap.sum()
        weight += r.sum()
    return float(total / weight if sammon else total)


def run(sizes: Sizes, path: str | None) -> dict[str, Any]:
    """Every row of the tables."""
    small, _ = digits(sizes.digits)
    large = mnist(path)[0][: sizes.points].copy()
    data = {"digits": small, "MNIST": large}
    maps = []
    wanted = [*MAPS, *(("digits", 1797, name, "mesh", None, None) for name in OTHERS)]
    for name, n, method, engine, *_ in wanted:
        X = data[name][:n]
        label, given = f"{name} {count(len(X))} · {method}, {engine}", {"method": method, "engine": engine}
        found = attempt(label, embedded, X=X, **given)
        if "Y" in found:
            found["auc"] = rnx_auc(X, found.pop("Y"), sample=len(X) if len(X) <= 10_000 else SAMPLE)
        maps.append({"data": name, "points": len(X), "method": method, "engine": engine, **found})
    each = {
        str(int(k)): attempt(f"perplexity {k:g}", iterations, X=large, perplexity=k)
        for k in (NEARBY, LARGE)
        if 3 * k < len(large)
    }
    part = large[:DRAWN]
    pairs = {}
    for method in ("mds", "sammon"):
        for engine in ("exact", "pairs"):
            found = attempt(f"{method}, {engine}", distances, X=part, method=method, engine=engine)
            if "Y" in found:
                found["stress"] = stress(part, found.pop("Y"), method == "sammon")
            pairs[f"{method} {engine}"] = found
    whole = attempt("mds of all", distances, X=large, method="mds", engine="pairs")
    whole.pop("Y", None)
    X = large[:JUDGED]
    ranks = attempt("R_NX of all", judged, X=X, Y=np.ascontiguousarray(X[:, :2]))
    return {"maps": maps, "each": each, "pairs": pairs, "whole": whole, "ranks": ranks, "points": len(large)}


def report(found: dict[str, Any], pictures: Any) -> str:
    """Four tables."""
    bounds = {(name, n, method, engine): (auc, s) for name, n, method, engine, auc, s in MAPS}
    rows = []
    for row in found["maps"]:
        label = [row["data"], count(row["points"]), row["method"], row["engine"]]
        if "error" in row:
            rows.append([*label, failed(row), *["–"] * 6])
            continue
        auc, seconds = bounds.get((row["data"], row["points"], row["method"], row["engine"]), (None, None))
        cells = bounded(row["auc"], at_least=auc, form="{:.3f}", bound_form="{:.3f}")
        cells += bounded(row["seconds"], at_most=seconds, form="{:.1f}")
        rows.append([*label, *cells, str(row["iterations"])])
    header = ["data", "points", "method", "engine", "R_NX AUC", "at least", "", "seconds", "at most", ""]
    text = (
        "R_NX AUC by code apart from the library: exact up to 10 000 points, from"
        f" {count(SAMPLE)} rows against all points above. Seconds of a warm call, end to end.\n\n"
    )
    text += table([*header, "iterations"], rows)
    return text + _iterations(found) + _pairs(found)


def _iterations(found: dict[str, Any]) -> str:
    each = found["each"]
    near, far = each.get(str(int(NEARBY)), {}), each.get(str(int(LARGE)), {})
    if "each" not in near or "each" not in far:
        return ""
    bound = PER_ITERATION if found["points"] == 70_000 else None
    ratio = bounded(far["each"] / near["each"], at_most=bound, form="{:.2f} ×", bound_form="{:g} ×")
    rows = [
        [f"perplexity {k}", f"{row['prepared']:.1f}", f"{1000 * row['each']:.1f}", *cells]
        for k, row, cells in ((NEARBY, near, ["1.00 ×", "–", "–"]), (LARGE, far, ratio))
    ]
    title = f"\nt-SNE of MNIST {count(found['points'])} × 50.\n\n"
    return title + table(["", "preparation, s", "iteration, ms", "ratio", "at most", ""], rows)


def _pairs(found: dict[str, Any]) -> str:
    rows = []
    for method in ("mds", "sammon"):
        exact, drawn = (found["pairs"][f"{method} {engine}"] for engine in ("exact", "pairs"))
        if "error" in exact or "error" in drawn:
            rows.append([method, failed(exact if "error" in exact else drawn), *["–"] * 5])
            continue
        excess = drawn["stress"] / exact["stress"] - 1
        cells = bounded(100 * excess, at_most=100 * CLOSE, form="{:+.2f} %", bound_form="{:g} %")
        rows.append([method, figure(exact["seconds"], "{:.1f}"), figure(drawn["seconds"], "{:.1f}"), *cells])
    text = f"\nMNIST {count(DRAWN)} × 50: stress over all pairs of maps made on all, and on drawn pairs.\n\n"
    text += table(["", "all pairs, s", "drawn pairs, s", "stress above", "at most", ""], rows)
    whole, ranks, rows = found["whole"], found["ranks"], []
    full = found["points"] == 70_000
    for what, row, seconds, memory in (
        (f"`mds` of {count(found['points'])} points", whole, MOST_SECONDS, MOST_MEMORY),
        (f"`nf.quality`, all ranks of {count(JUDGED)} points", ranks, JUDGE_SECONDS, JUDGE_MEMORY),
    ):
        if "error" in row:
            rows.append([what, failed(row), *["–"] * 5])
            continue
        cells = bounded(row["seconds"], at_most=seconds if full else None, form="{:.1f}")
        rows.append([what, *cells, *bounded(row["memory"], at_most=memory if full else None)])
    return text + "\n" + table(["", "seconds", "at most", "", "GB", "at most", ""], rows)
