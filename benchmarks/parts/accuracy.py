"""Part 5: how far the forces on the mesh are from direct sums, on the way of a run."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from benchmarks.shared.apart import attempt
from benchmarks.shared.data import mnist
from benchmarks.shared.measure import forces, joint_p
from benchmarks.shared.sizes import Sizes
from benchmarks.shared.tables import bounded, count, figure, table

TITLE = "Errors of the force"
BOUND, AT = 3e-2, 70_000
ACCURACIES = (1e-2, 1e-4)  # the default, and a fine one


def errors(X: Any, sample: int) -> dict[str, Any]:
    """Run t-SNE, and compare the gradients at its start, in its middle and at its end."""
    import nearfield as nf

    run = nf.Run(X, "tsne", random_state=0)
    kept = [(0, run.Y)]
    run.converge(callback=lambda run: kept.append((run.iteration, run.Y)))
    P = joint_p(X)
    rows = np.sort(np.random.default_rng(0).choice(len(X), min(sample, len(X)), replace=False))
    gradients: dict[str, Callable[[Any], Any]] = {
        f"nearfield, {accuracy:g}": _nearfield(P, accuracy) for accuracy in ACCURACIES
    }
    with suppress(ImportError):
        gradients["openTSNE"] = _opentsne(P)
    found = []
    for label, k in (("start", 0), ("early", min(5, len(kept) - 1)), ("middle", len(kept) // 2), ("end", -1)):
        iteration, Y = kept[k]
        attraction, repulsion = forces(P, Y, rows)
        for name, gradient in gradients.items():
            error = _error(gradient, Y, rows, attraction, repulsion)
            found.append({"when": label, "iteration": iteration, "by": name, **error})
    return {"points": len(X), "sample": len(rows), "rows": found}


def _error(gradient: Any, Y: Any, rows: Any, attraction: Any, repulsion: Any) -> dict[str, float]:
    """Over the norm of the repulsion: of all sampled points together, and of the worst of them."""
    seconds = []
    for _ in range(4):
        began = time.perf_counter()
        found = gradient(Y)[rows]
        seconds.append(time.perf_counter() - began)
    wrong = np.linalg.norm(found - attraction - repulsion, axis=1)
    usual = np.sqrt(np.mean(np.sum(repulsion**2, axis=1)))
    return {
        "error": float(np.sqrt(np.mean(wrong**2)) / usual),
        "worst": float(wrong.max() / usual),
        "seconds": statistics.median(seconds[1:]),
    }


def _nearfield(P: Any, accuracy: float) -> Callable[[Any], Any]:
    """The mesh engine's gradient."""
    import nearfield as nf
    from nearfield.engine.mesh.one_scale import Mesh

    mesh = Mesh(nf.method("tsne"), P, accuracy=accuracy)
    return lambda Y: mesh.evaluate(Y, want_value=False).gradient


def _opentsne(P: Any) -> Callable[[Any], Any]:
    """Its gradient by interpolation, at its defaults; it leaves out the factor 4."""
    from openTSNE.tsne import kl_divergence_fft
    from scipy.sparse import csr_matrix

    P = csr_matrix(P)
    grid = {"n_interpolation_points": 3, "min_num_intervals": 50, "ints_in_interval": 1}

    def gradient(Y: Any) -> Any:
        return 4 * kl_divergence_fft(np.ascontiguousarray(Y), P, 1, grid, n_jobs=os.cpu_count())[1]

    return gradient


def run(sizes: Sizes, path: str | None) -> dict[str, Any]:
    """One process does it all."""
    X = mnist(path)[0][: sizes.points].copy()
    found = attempt("errors of the force", errors, X=X, sample=sizes.sample)
    if "error" in found:
        raise RuntimeError(found["error"])
    return found


def report(found: dict[str, Any], pictures: Any) -> str:
    """A row for each moment and each way."""
    text = (
        f"A t-SNE run of MNIST, {count(found['points'])} × 50: the gradient against direct sums over all"
        f" pairs in float64 at {count(found['sample'])} points, the difference over the norm of the repulsion"
        " there (root mean square; the worst point beside it). nearfield at its default accuracy of 0.01,"
        " which is what the bound is for, and at 0.0001; openTSNE's interpolation on the same maps.\n\n"
    )
    rows = []
    for row in found["rows"]:
        judged = row["by"] == f"nearfield, {ACCURACIES[0]:g}" and found["points"] >= AT
        cells = bounded(row["error"], at_most=BOUND if judged else None, form="{:.1e}", bound_form="{:.0e}")
        when = f"{row['when']}, iteration {row['iteration']}"
        rows.append([when, row["by"], *cells, f"{row['worst']:.1e}", figure(1000 * row["seconds"], "{:.1f}")])
    return text + table(["", "", "error", "at most", "", "worst point", "ms"], rows)
