"""Part 2: KL against seconds, for every t-SNE."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared.apart import attempt
from benchmarks.shared.data import mnist
from benchmarks.shared.libraries import warm
from benchmarks.shared.measure import joint_p, kl_divergence
from benchmarks.shared.sizes import Sizes
from benchmarks.shared.tables import count, failed, figure, table

TITLE = "KL against seconds"
SNAPSHOTS = 12  # of a library, whose KL is computed


class Film:
    """Maps on the way, with the seconds that the library has spent so far: taking them is not counted."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.maps: list[Any] = []
        self._paused = 0.0
        self._began = time.perf_counter()

    def take(self, Y: Any) -> None:
        """Keep a map."""
        now = time.perf_counter()
        self.seconds.append(now - self._began - self._paused)
        self.maps.append(np.array(Y, dtype=np.float64))
        self._paused += time.perf_counter() - now

    def thinned(self) -> dict[str, Any]:
        """No more than SNAPSHOTS of them, the last included."""
        last = len(self.maps) - 1
        kept = np.unique(np.linspace(0, last, min(SNAPSHOTS, last + 1)).round().astype(int))
        return {"seconds": [self.seconds[k] for k in kept], "maps": np.stack([self.maps[k] for k in kept])}


def film(name: str, X: Any) -> dict[str, Any]:
    """Snapshots of the map that a library makes, from the call on."""
    return {"nearfield": _nearfield, "openTSNE": _opentsne, "scikit-learn": _sklearn}[name](X).thinned()


def _nearfield(X: Any) -> Film:
    import nearfield as nf

    warm(X)
    film = Film()
    model = nf.Embedder("tsne", random_state=0, callback=lambda run: film.take(run.Y)).fit(X)
    film.take(model.embedding_)
    return film


def _opentsne(X: Any) -> Film:
    from openTSNE import TSNE

    film = Film()
    model = TSNE(
        n_jobs=os.cpu_count(),
        random_state=0,
        callbacks=lambda iteration, error, Y: film.take(Y),
        callbacks_every_iters=50,
    )
    film.take(model.fit(X))
    return film


def _sklearn(X: Any) -> Film:
    """It has no callbacks: what it minimises is wrapped in place."""
    from sklearn.manifold import TSNE, _t_sne

    film, plain, calls = Film(), _t_sne._kl_divergence_bh, 0

    def watched(parameters: Any, *arguments: Any, **keywords: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls % 50 == 0:
            film.take(parameters.reshape(len(X), -1))
        return plain(parameters, *arguments, **keywords)

    _t_sne._kl_divergence_bh = watched
    film.take(TSNE(n_jobs=-1, random_state=0).fit_transform(X))
    return film


def run(sizes: Sizes, path: str | None) -> dict[str, Any]:
    """The curves of every library at every size."""
    everything, _ = mnist(path)
    found = {}
    for n, names in sizes.curves:
        X = everything[:n].copy()
        curves = {name: attempt(f"{count(n)} points · {name}", film, name=name, X=X) for name in names}
        P = joint_p(X)
        for curve in curves.values():
            if "maps" in curve:
                curve["kl"] = [kl_divergence(P, Y) for Y in curve.pop("maps")]
        found[str(n)] = curves
    return found


def seconds_until(curve: dict[str, Any], kl: float) -> float | None:
    """When a curve first falls to this KL, by straight lines between its points; None if it never does."""
    seconds, values = curve["seconds"], curve["kl"]
    for k, value in enumerate(values):
        if value <= kl:
            if k == 0:
                return seconds[0]
            share = (values[k - 1] - kl) / (values[k - 1] - value)
            return seconds[k - 1] + share * (seconds[k] - seconds[k - 1])
    return None


def report(found: dict[str, Any], pictures: Path) -> str:
    """A picture and a table for each size."""
    from benchmarks.shared.plots import curves_picture

    text = (
        "Seconds from the call on, neighbours and P included, without the time that taking the snapshots"
        " took; nearfield in a process that has compiled. KL is exact.\n"
    )
    return "\n".join(
        [text, *(_section(int(n), curves, pictures, curves_picture) for n, curves in found.items())]
    )


def _section(n: int, curves: dict[str, Any], pictures: Path, draw: Any) -> str:
    good = {name: curve for name, curve in curves.items() if "kl" in curve}
    goal = good["openTSNE"]["kl"][-1] if "openTSNE" in good else None
    rows = []
    for name, curve in curves.items():
        if "error" in curve:
            rows.append([name, failed(curve), "–", "–"])
            continue
        reached = None if goal is None else seconds_until(curve, goal)
        rows.append([name, f"{curve['seconds'][-1]:.2f}", f"{curve['kl'][-1]:.4f}", figure(reached)])
    picture = pictures / f"kl-{n}.png"
    text = f"### MNIST, {count(n)} × 50\n\n"
    if good:
        draw(good, f"t-SNE of MNIST, {count(n)} points", picture)
        text += f"![KL against seconds]({pictures.name}/{picture.name})\n\n"
    return text + table(["", "seconds", "exact KL", "seconds until openTSNE's last KL"], rows)
