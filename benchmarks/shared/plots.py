"""The pictures of the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from benchmarks.shared.tables import count

COLOURS = {  # of Okabe and Ito, which the colour-blind can tell apart
    "nearfield": "#d55e00",
    "openTSNE": "#0072b2",
    "scikit-learn": "#009e73",
    "umap-learn": "#cc79a7",
    "PaCMAP": "#e69f00",
}


def curves_picture(curves: dict[str, Any], title: str, path: Path) -> None:
    """KL against seconds; the maps under exaggeration, far above, are cut off."""
    figure, axes = plt.subplots(figsize=(6.4, 4.0))
    for name, curve in curves.items():
        axes.plot(curve["seconds"], curve["kl"], "o-", ms=4, color=COLOURS[name], label=name)
    lowest = min(min(curve["kl"]) for curve in curves.values())
    highest = max(max(curve["kl"]) for curve in curves.values())
    axes.set_ylim(lowest - 0.05 * lowest, min(highest, 2.5 * lowest))
    axes.set(xscale="log", xlabel="seconds", ylabel="exact KL", title=title)
    axes.legend(frameon=False)
    _save(figure, path)


def growth_picture(found: dict[str, Any], fitted: tuple[float, int, int] | None, path: Path) -> None:
    """Seconds end to end of every library, and nearfield's seconds an iteration."""
    figure, (whole, each) = plt.subplots(1, 2, figsize=(9.6, 4.0))
    every = [(int(n), name, value) for n, row in found.items() for name, value in row.items()]
    good = {(n, name): value for n, name, value in every if "error" not in value}
    for name, colour in COLOURS.items():
        points = [(n, value["seconds"]) for (n, who), value in good.items() if who == name]
        if points:
            seconds = [s[-1] if isinstance(s, list) else s for _, s in points]
            whole.loglog([n for n, _ in points], seconds, "o-", ms=4, color=colour, label=name)
    points = [(n, value["per_iteration"]) for (n, who), value in good.items() if who == "nearfield"]
    if points:
        each.loglog(*zip(*points, strict=True), "o", ms=5, color=COLOURS["nearfield"], label="nearfield")
    if fitted is not None:
        slope, low, high = fitted
        n, seconds = np.array([(n, s) for n, s in points if low <= n <= high]).T
        level = np.exp(np.mean(np.log(seconds) - slope * np.log(n)))
        label = f"exponent {slope:.2f} from {count(low)}"
        each.loglog(n, level * n**slope, "-", color="#555555", lw=1, label=label)
    whole.set(xlabel="points", ylabel="seconds, end to end")
    each.set(xlabel="points", ylabel="seconds an iteration")
    for axes in (whole, each):
        if axes.has_data():
            axes.legend(frameon=False)
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
