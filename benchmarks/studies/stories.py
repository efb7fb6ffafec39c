"""Drags told to their end, pulled, settled, released: many points, two places at once, strays of a class."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import nearfield as nf
from benchmarks.shared.tables import table
from benchmarks.studies.drags import PULLED, SETTLED, Drag, central, drags, way

RELEASED = 250  # iterations after the pins are taken out
STRAY = 3.0  # times the usual distance from the middle of a class
LEAST = 8  # strays that make a piece of a class


@dataclass(frozen=True)
class Kind:
    """A kind of drag: what it is called, all of its kind, and how their followers are found."""

    name: str
    chosen: list[tuple[Drag, dict[str, Any]]]
    renewed: bool = False  # whether the followers are looked for anew at every iteration


def kinds(Y: Any, labels: Any, choices: int) -> list[Kind]:
    """All kinds, on a map."""
    one, many = (drags(Y, labels, "class", count, choices) for count in (1, 20))
    pairs = drags(Y, labels, "class", 2, choices)
    torn = [_torn(each, other) for each, other in zip(pairs, one[1:] + one[:1], strict=True)]
    return [
        Kind("1 point", [(each, {}) for each in one]),
        Kind("20 points", [(each, {}) for each in many]),
        Kind("2 points, to two places", [(each, {}) for each in torn]),
        Kind("a stray piece, to its class", _strays(Y, labels)),
        Kind("1 point, followers renewed", [(each, {}) for each in one], renewed=True),
    ]


def _torn(drag: Drag, other: Drag) -> Drag:
    """The second of two points goes elsewhere: their common followers cannot be in both places."""
    return Drag(drag.pins, np.stack([drag.places[0], other.places[0]]), drag.of)


def _strays(Y: Any, labels: Any) -> list[tuple[Drag, dict[str, Any]]]:
    """Pieces of classes that lie far from the rest: their middle goes to the middle of the class."""
    found = []
    for of in np.unique(labels):
        members = np.flatnonzero(labels == of)
        middle = np.median(Y[members], axis=0)
        away = np.linalg.norm(Y[members] - middle, axis=1)
        far = members[away > STRAY * np.median(away)]
        if len(far) < LEAST:
            continue
        reach = np.median(away)
        crowd = [np.flatnonzero(np.linalg.norm(Y[far] - Y[i], axis=1) < reach) for i in far]
        piece = far[max(crowd, key=len)]
        if len(piece) >= LEAST:
            pins = central(Y, piece, 1)
            found.append((Drag(pins, middle[None], int(of)), {"follow": np.setdiff1d(piece, pins)}))
    return found


def undisturbed(path: Path, X: Any) -> list[float]:
    """The cost after each stage without a drag."""
    run, costs = nf.Run.load(path, X), []
    for steps in (PULLED, SETTLED, RELEASED):
        run.step(steps)
        costs.append(run.cost)
    return costs


def told(path: Path, X: Any, kind: Kind, drag: Drag, given: dict[str, Any], plain: list[float]) -> Any:
    """The measures of one drag, from the pull to the release."""
    run = nf.Run.load(path, X)
    before, was = run.Y, nf.quality(X, run.Y).points.auc
    run.pin(drag.pins, drag.places, **given)
    followers, stages = run.followers, []
    for stage, steps in (("pulled", PULLED), ("settled", SETTLED), ("released", RELEASED)):
        if stage == "settled":
            run.settle(steps)
        if stage == "released":
            now = nf.quality(X, run.Y).points.auc - was
            run.unpin()
        if kind.renewed and stage == "pulled":
            for _ in range(steps):
                run.step(1)
                run.pin(drag.pins, drag.places, **given)
        else:
            run.step(steps)
        came = way(before, run.Y, drag.pins, drag.places, followers)
        stages.append((came, 100 * (run.cost / plain[len(stages)] - 1)))
    touched = np.union1d(drag.pins, np.concatenate(list(followers.values())))
    rest = np.setdiff1d(np.arange(len(before)), touched)
    return *np.ravel(stages), float(now[touched].mean()), float(now[rest].mean())


def stories(run: Any, X: Any, labels: Any, choices: int) -> str:
    """The table of all kinds, medians over what was chosen of each."""
    rows = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "start.nfmap"
        run.map().save(path)
        plain = undisturbed(path, X)
        for kind in kinds(run.Y, labels, choices):
            found = [told(path, X, kind, drag, given, plain) for drag, given in kind.chosen]
            m = np.median(np.array(found).reshape(-1, 8), axis=0) if found else np.full(8, np.nan)
            cells = [f"{m[k]:.2f}" if k % 2 == 0 else f"{m[k]:+.1f} %" for k in range(6)]
            rows.append([kind.name, str(len(found)), *cells, f"{m[6]:+.3f}", f"{m[7]:+.3f}"])
            print(" ", rows[-1], flush=True)
    stages = [f"{what} {stage}" for stage in ("pulled", "settled", "released") for what in ("way", "cost")]
    return table(["dragged", "choices", *stages, "R_NX AUC of those that moved", "of the rest"], rows)
