"""Part 4: what an iteration of other methods costs beside t-SNE's, and of three dimensions beside two."""

from __future__ import annotations

import statistics
import time
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.shared.apart import attempt
from benchmarks.shared.data import mnist
from benchmarks.shared.libraries import warm
from benchmarks.shared.sizes import Sizes
from benchmarks.shared.tables import bounded, count, failed, figure, table

TITLE = "Other methods, and three dimensions"
METHODS = ("tsne", "asne", "ssne", "hssne", "tasne", "jse", "tjse", "hlsne", "chsne")
METHOD_RATIO, THREE_RATIO, AT = 3.0, 15.0, 70_000
AWAY = 4.0  # times as wide as the t-SNE map
REPEAT = 5


class Watch:
    """A callback of `Run.converge` that notes the time every ten iterations, and ends a run that runs away.

    On a map that grows without end the grid would take all memory long before the numbers end.
    """

    def __init__(self, largest: float = np.inf) -> None:
        self.largest = largest
        self.noted = [(0, time.perf_counter())]

    def __call__(self, run: Any) -> None:
        self.noted.append((run.iteration, time.perf_counter()))
        if np.std(run.Y) > self.largest:
            raise FloatingPointError(f"ran away by iteration {run.iteration}")

    def late(self) -> float:
        """Seconds an iteration, the median of the last five tens."""
        last = pairwise(self.noted[-REPEAT - 1 :])
        return statistics.median((t1 - t0) / (n1 - n0) for (n0, t0), (n1, t1) in last)


def dimensions(X: Any, n_components: int) -> dict[str, Any]:
    """A whole t-SNE run; the converged map serves the methods below."""
    import nearfield as nf

    warm(X, n_components=n_components)
    run = nf.Run(X, "tsne", n_components=n_components, random_state=0)
    watch = Watch()
    run.converge(callback=watch)
    whole = (watch.noted[-1][1] - watch.noted[0][1]) / run.iteration
    return {"late": watch.late(), "whole": whole, "iterations": run.iteration, "Y": run.Y}


def one(X: Any, Y: Any, name: str, iterations: int) -> dict[str, Any]:
    """A method's own run by momentum, and its gradient alone at the t-SNE map and at its own."""
    import nearfield as nf
    from nearfield.affinity.source import Source
    from nearfield.affinity.targets import NEIGHBOURS, target
    from nearfield.engine.mesh.one_scale import Mesh

    method = nf.method(name)
    found: dict[str, Any] = {}
    run, watch = nf.Run(X, name, optimizer="momentum", random_state=0), Watch(AWAY * np.std(Y))
    try:
        run.converge(iterations, tol=0.0, callback=watch)
        found["late"] = watch.late()
    except (FloatingPointError, MemoryError) as error:
        found["note"] = str(error)
        run = nf.Run(X, name, random_state=0)
        run.converge(iterations, tol=0.0)
    own, width = run.Y, nf.method("tsne").kernel.width
    del run
    engine = Mesh(method, target(Source.of(X), method, on=NEIGHBOURS))
    found["at_own"] = _evaluation(engine, own)
    found["at_tsne"] = _evaluation(engine, Y * (method.kernel.width / width))
    found["spread"] = [float(np.std(own)), float(np.std(Y))]
    return found


def _evaluation(engine: Any, Y: Any) -> float:
    """The median seconds of the gradient, without the first, which makes the grid's spectra."""
    seconds = []
    for _ in range(1 + REPEAT):
        began = time.perf_counter()
        engine.evaluate(Y, want_value=False)
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[1:])


def run(sizes: Sizes, path: str | None) -> dict[str, Any]:
    """T-SNE in two and in three dimensions, then every method on the map in two."""
    X = mnist(path)[0][: sizes.points].copy()
    spaces = {str(d): attempt(f"t-SNE in {d} dimensions", dimensions, X=X, n_components=d) for d in (2, 3)}
    maps = [space.pop("Y", None) for space in spaces.values()]
    if maps[0] is None:
        raise RuntimeError(f"t-SNE itself failed: {spaces['2']['error']}")
    given = {"X": X, "Y": maps[0], "iterations": sizes.iterations}
    rows = {name: attempt(name, one, name=name, **given) for name in METHODS}
    return {"points": len(X), "iterations": sizes.iterations, "dimensions": spaces, "methods": rows}


def report(found: dict[str, Any], pictures: Any) -> str:
    """Two tables, in milliseconds and as ratios to t-SNE."""
    n, rows, spaces = found["points"], found["methods"], found["dimensions"]
    text = (
        f"MNIST, {count(n)} × 50. *Iteration*: by momentum, at the end of {found['iterations']} iterations of"
        " the method's own run, the median of five times ten. *Gradient*: its evaluation alone, the median of"
        " five, at the method's own map and at the converged t-SNE map, scaled by the width of the kernel."
        " Steps of a fixed rate can run away; then the bound is for the gradient at the map that the method's"
        " own optimizer makes.\n\n"
    )
    header = ["", "iteration, ms", "ratio", "at most", "", "gradient at its own map, ms", "ratio"]
    text += table([*header, "gradient at t-SNE's map, ms", "ratio"], [_row(name, rows, n) for name in rows])
    plane, space = spaces["2"], spaces["3"]
    cells = []
    for what, key in (("whole run", "whole"), ("its end", "late")):
        if "error" in space:
            cells.append([what, f"{1000 * plane[key]:.2f}", failed(space), "–", "–", "–"])
            continue
        bound = THREE_RATIO if n >= AT else None
        ratio = bounded(space[key] / plane[key], at_most=bound, form="{:.1f} ×", bound_form="{:g} ×")
        cells.append([what, f"{1000 * plane[key]:.2f}", f"{1000 * space[key]:.2f}", *ratio])
    return text + "\n" + table(["t-SNE, ms an iteration", "2-D", "3-D", "ratio", "at most", ""], cells)


def _row(name: str, rows: dict[str, Any], n: int) -> list[str]:
    row, base = rows[name], rows["tsne"]
    if "error" in row:
        return [name, failed(row), *["–"] * 7]
    bound = METHOD_RATIO if n >= AT and name != "tsne" else None

    def ratio(key: str) -> float | None:
        return row[key] / base[key] if row.get(key) and base.get(key) else None

    judged = ratio("late") if "late" in row else ratio("at_own")
    cells = bounded(judged, at_most=bound, form="{:.2f} ×", bound_form="{:g} ×")
    for key in ("at_own", "at_tsne"):
        cells += [f"{1000 * row[key]:.2f}", figure(ratio(key), "{:.2f} ×")]
    return [name, f"{1000 * row['late']:.2f}" if "late" in row else "ran away", *cells]
