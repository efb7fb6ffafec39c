"""Part 3: time against the number of points, up to a million."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared.apart import attempt
from benchmarks.shared.data import as_many, mnist
from benchmarks.shared.libraries import times, warm
from benchmarks.shared.sizes import Sizes
from benchmarks.shared.tables import bounded, count, failed, figure, table

TITLE = "Time against the number of points"
PEERS = ("openTSNE", "umap-learn", "PaCMAP")
FITTED_FROM = 10_000  # points, below which an iteration has costs that do not grow
EXPONENT, MILLION_MINUTES, MILLION_MEMORY = 1.1, 12.0, 6.0


def whole_run(X: Any) -> dict[str, Any]:
    """A run to convergence in two pieces, what comes before the first iteration and the iterations."""
    import nearfield as nf

    warm(X)
    began = time.perf_counter()
    run = nf.Run(X, "tsne", random_state=0)
    ready = time.perf_counter()
    converged = run.converge()
    ended = time.perf_counter()
    return {
        "seconds": ended - began,
        "preparation": ready - began,
        "iterations": run.iteration,
        "per_iteration": (ended - ready) / run.iteration,
        "converged": converged,
        "engine": run.plan.engine,
    }


def run(sizes: Sizes, path: str | None) -> dict[str, Any]:
    """Nearfield at every size, its peers at those that they share."""
    everything = mnist(path)[0][: sizes.points]
    found: dict[str, Any] = {}
    for n in sizes.growth:
        X = as_many(everything, n)
        row = {"nearfield": attempt(f"{count(n)} · nearfield", whole_run, X=X)}
        for name in PEERS if n in sizes.shared else ():
            row[name] = attempt(f"{count(n)} · {name}", times, name=name, X=X)
            row[name].pop("Y", None)
        found[str(n)] = row
    return found


def exponent(found: dict[str, Any]) -> tuple[float, int, int] | None:
    """Of the time of an iteration: the slope of its logarithm, and the sizes that it was fitted between."""
    ours = {int(n): row["nearfield"] for n, row in found.items()}
    points = {n: row["per_iteration"] for n, row in ours.items() if "error" not in row}
    large = {n: seconds for n, seconds in points.items() if n >= FITTED_FROM}
    points = large if len(large) > 1 else points
    if len(points) < 2:
        return None
    slope = np.polyfit(np.log(list(points)), np.log(list(points.values())), 1)[0]
    return float(slope), min(points), max(points)


def report(found: dict[str, Any], pictures: Path) -> str:
    """The table, the picture, the exponent and the largest run."""
    from benchmarks.shared.plots import growth_picture

    text = (
        "MNIST; above 70 000 points rows drawn with replacement plus Gaussian noise of 0.05 of the columns'"
        " mean deviation, float32. Each run in a process of its own that has compiled: end to end, and the"
        " time of an iteration over the whole run, after neighbours, P and start. Seconds, where nothing else"
        " is said.\n\n"
    )
    text += table(
        ["points", "nearfield", "preparation", "iterations", "ms an iteration", "peak GB", *PEERS],
        [_row(int(n), row) for n, row in found.items()],
    )
    growth_picture(found, exponent(found), pictures / "growth.png")
    text += f"\n![Time against the number of points]({pictures.name}/growth.png)\n\n"
    return text + _bounds(found)


def _row(n: int, row: dict[str, Any]) -> list[str]:
    ours = row["nearfield"]
    if "error" in ours:
        cells = [failed(ours), *["–"] * 4]
    else:
        iterations = f"{ours['iterations']}{'' if ours['converged'] else ', not converged'}"
        cells = [f"{ours['seconds']:.2f}", f"{ours['preparation']:.2f}", iterations]
        cells += [f"{1000 * ours['per_iteration']:.2f}", figure(ours["memory"])]
    for name in PEERS:
        peer = row.get(name, {"seconds": [None]})
        cells.append(failed(peer) if "error" in peer else figure(peer["seconds"][-1]))
    return [count(n), *cells]


def _bounds(found: dict[str, Any]) -> str:
    """What was to be kept: the exponent, and time and memory of a million."""
    rows, fitted = [], exponent(found)
    if fitted is not None:
        slope, low, high = fitted
        what = f"exponent of the time of an iteration, {count(low)} to {count(high)}"
        bound = EXPONENT if low >= FITTED_FROM and high >= 1_000_000 else None
        rows.append([what, *bounded(slope, at_most=bound, form="{:.3f}")])
    million = found.get("1000000", {}).get("nearfield")
    if million is not None:
        good = "error" not in million
        minutes = million["seconds"] / 60 if good else None
        rows.append(["a million points, minutes", *bounded(minutes, at_most=MILLION_MINUTES, form="{:.1f}")])
        memory = million["memory"] if good else None
        rows.append(["a million points, peak GB", *bounded(memory, at_most=MILLION_MEMORY)])
    return table(["", "measured", "at most", ""], rows)
