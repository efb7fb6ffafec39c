"""Scripted drags: points of a class put elsewhere, and what becomes of their neighbours and of the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import nearfield as nf

UNFOLDED, PULLED, SETTLED = 500, 250, 250  # iterations before the drag, while pulled, and while it settles


@dataclass(frozen=True)
class Drag:
    """Who is put where: the pinned points and their places, and the class they are of."""

    pins: Any
    places: Any
    of: int


def radius(Y: Any) -> float:
    """The root of the mean squared distance from the centre."""
    return float(np.sqrt(np.mean(np.sum((Y - Y.mean(axis=0)) ** 2, axis=1))))


def central(Y: Any, members: Any, count: int) -> Any:
    """The points of a class that are nearest to its middle (the median, which strays do not move)."""
    gaps = Y[members] - np.median(Y[members], axis=0)
    return members[np.argsort(np.sum(gaps**2, axis=1))[:count]]


def drags(Y: Any, labels: Any, where: str, count: int, choices: int = 10) -> list[Drag]:
    """A class's central points to empty space beyond the map, or into the middle of another class."""
    classes, random = np.unique(labels), np.random.default_rng(0)
    centre, reach = Y.mean(axis=0), np.linalg.norm(Y - Y.mean(axis=0), axis=1).max()
    found = []
    for k in range(choices):
        of = classes[k % len(classes)]
        pins = central(Y, np.flatnonzero(labels == of), count)
        if where == "empty":
            outward = Y[pins[0]] - centre
            place = centre + 1.3 * reach * outward / np.linalg.norm(outward)
        else:
            other = random.choice(classes[classes != of])
            place = Y[central(Y, np.flatnonzero(labels == other), 1)[0]]
        found.append(Drag(pins, Y[pins] - Y[pins[0]] + place, int(of)))
    return found


def way(before: Any, after: Any, pins: Any, places: Any, followers: dict[int, Any]) -> float:
    """The share of the way to its pin's new place that the median follower came."""
    came = [
        1
        - np.linalg.norm(after[followers[int(i)]] - place, axis=1)
        / np.linalg.norm(before[followers[int(i)]] - place, axis=1)
        for i, place in zip(pins, places, strict=True)
    ]
    return float(np.median(np.concatenate(came)))


def stiffly(plain: Any, pins: Any, places: Any) -> Any:
    """An undisturbed map, moved as a whole so that the first pin is in its place."""
    return plain - plain[pins[0]] + places[0]


def kept(after: Any, pins: Any, followers: dict[int, Any]) -> float:
    """The share of a pin's frozen neighbours that are among as many nearest of it now."""
    shares = []
    for i in pins:
        old = followers[int(i)]
        squared = np.sum((after - after[i]) ** 2, axis=1)
        squared[pins] = np.inf
        shares.append(np.isin(old, np.argsort(squared)[: len(old)]).mean())
    return float(np.mean(shares))


def displacement(before: Any, after: Any, who: Any) -> float:
    """The RMS way of some points, after turning and moving the map as a whole onto the one before, over R."""
    A, B = before[who] - before[who].mean(axis=0), after[who] - after[who].mean(axis=0)
    U, _, V = np.linalg.svd(B.T @ A)
    return float(np.sqrt(np.mean(np.sum((B @ U @ V - A) ** 2, axis=1)))) / radius(before)


def unfolded(X: Any, n_jobs: int | None = None) -> Any:
    """A finished map of t-SNE."""
    run = nf.Run(X, "tsne", random_state=0, n_jobs=n_jobs)
    run.step(UNFOLDED)
    return run


def controls(run: Any) -> dict[str, Any]:
    """The same iterations without a drag; the run is left as it was.

    *plain*: as the run would go on by itself. *calm*: with the momentum that a run has while something pulls;
    a point is pinned where it is, and its neighbours are drawn by next to nothing.
    """
    found = {}
    for name in ("plain", "calm"):
        if name == "calm":
            run.pin(0, run.Y[0], penalty=nf.penalties.Student(strength=1e-9))
        else:
            run.settle(0)  # which changes nothing, but can be gone back to
        stages = {}
        for stage, steps in (("pulled", PULLED), ("settled", SETTLED)):
            if stage == "settled":
                run.settle(steps)
            run.step(steps)
            stages[stage] = {"cost": run.cost, "Y": run.Y}
        run.undo()
        run.undo()
        found[name] = stages
    return found


def followed(run: Any, labels: Any, drag: Drag, controls: dict[str, Any], **given: Any) -> dict[str, Any]:
    """One drag, pulled and settled; the run is left as it was.

    Cost and displacement are those above each control. With nobody to follow, the neighbours are those that
    would have.
    """
    before = run.Y
    run.pin(drag.pins, drag.places)
    neighbours = run.followers
    run.undo()
    run.pin(drag.pins, drag.places, **given)
    if given.get("follow", True) is not None:
        neighbours = run.followers
    measures = {}
    rest = np.flatnonzero(labels != drag.of)
    for stage, steps in (("pulled", PULLED), ("settled", SETTLED)):
        if stage == "settled":
            run.settle(steps)
        run.step(steps)
        Y, moved = run.Y, displacement(before, run.Y, rest)
        assert np.array_equal(Y[drag.pins], drag.places)
        stiff = stiffly(controls["plain"][stage]["Y"], drag.pins, drag.places)
        measures[stage] = {
            "way": way(before, Y, drag.pins, drag.places, neighbours),
            "stiff": way(before, stiff, drag.pins, drag.places, neighbours),
            "kept": kept(Y, drag.pins, neighbours),
        }
        for name, stages in controls.items():
            plain = stages[stage]
            measures[stage] |= {
                f"cost, {name}": 100 * (run.cost / plain["cost"] - 1),
                f"moved, {name}": 100 * (moved - displacement(before, plain["Y"], rest)),
            }
    run.undo()
    run.undo()
    assert np.array_equal(run.Y, before)
    return measures


def medians(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of each measure over several drags."""
    return {
        stage: {name: float(np.median([each[stage][name] for each in found])) for name in found[0][stage]}
        for stage in ("pulled", "settled")
    }
