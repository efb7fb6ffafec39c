"""Every class put elsewhere by one point of it: how far its followers come, while pulled and when settled.

    python -m benchmarks.studies.places [--data mnist.npz] [--settle 500] [--follow class]

The point in the middle of each class is pinned in three places: *near*, as far away as the map's RMS radius
R; *far*, outside of the map; and *in* the middle of another class. As many follow as the class has members,
nearest in the map, or with `--follow class` its members. A map of ten thousand rows of MNIST, or of the
digits, is at rest before; it comes to rest while it is pulled, and again when the pull has faded.

*natural* is the way of the followers if they are moved as they are, without being drawn together: what a
class that settles as wide as before can reach, since way is measured by distances to the pin.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import nearfield as nf
from benchmarks.shared.tables import bounded, table
from benchmarks.studies.drags import central, radius
from benchmarks.studies.studios import rows_from, to_rest

POINTS = 10_000
WAY, SETTLED = 0.9, 0.85  # what is hoped for


def places(Y: Any, point: int, other: Any) -> dict[str, Any]:
    """Where a class is put: near, far, and in another class."""
    middle, at = Y.mean(axis=0), Y[point]
    outward = (at - middle) / np.linalg.norm(at - middle)
    reach = np.linalg.norm(Y - middle, axis=1).max()
    return {
        "near": at + np.array([0.0, radius(Y)]),
        "far": middle + 1.3 * reach * outward,
        "in": Y[central(Y, other, 1)[0]],
    }


def put(run: Any, point: int, place: Any, follow: Any, settle: int) -> tuple[Any, dict[str, float]]:
    """One class put somewhere: its followers, and the ways of their median; the run is left as it was."""
    before = run.Y
    run.pin(point, place, follow=follow)
    who = run.followers[point]
    gaps = np.linalg.norm(before[who] - place, axis=1)

    def way(Y: Any) -> float:
        return float(np.median(1 - np.linalg.norm(Y[who] - place, axis=1) / gaps))

    ways = {"natural": way(before - before[point] + place)}
    to_rest(run)
    ways["pulled"] = way(run.Y)
    run.settle(settle)
    to_rest(run)
    ways["settled"] = way(run.Y)
    run.undo()
    run.undo()
    return who, ways


def study(data: str | None, settle: int, by_class: bool) -> str:
    """The table of all classes and places."""
    given = rows_from(data, POINTS)
    labels = np.asarray(given.labels)
    run = nf.Run(given.mapped, random_state=0)
    to_rest(run)
    classes, rows = np.unique(labels), []
    for k, kind in enumerate(classes):
        members = np.flatnonzero(labels == kind)
        point = int(central(run.Y, members, 1)[0])
        other = np.flatnonzero(labels == classes[(k + 3) % len(classes)])
        follow = members[members != point] if by_class else len(members)
        for name, place in places(run.Y, point, other).items():
            who, ways = put(run, point, place, follow, settle)
            gap = np.linalg.norm(run.Y[point] - place) / radius(run.Y)
            share = float(np.mean(labels[who] == kind))
            cells = [str(kind), name, f"{gap:.2f} R", f"{share:.2f}", f"{ways['natural']:.2f}"]
            cells += bounded(ways["pulled"], at_least=WAY) + bounded(ways["settled"], at_least=SETTLED)
            rows.append(cells)
            print(*cells, flush=True)
    head = ["class", "put", "how far", "followers of it", "natural"]
    return table([*head, "way", "at least", "", "settled", "at least", ""], rows)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--data", help="MNIST as an npz; without it, the digits")
    options.add_argument("--settle", type=int, default=500, help="iterations in which the pull fades")
    options.add_argument("--follow", choices=("nearest", "class"), default="nearest")
    given = options.parse_args()
    print(study(given.data, given.settle, given.follow == "class"))


if __name__ == "__main__":
    main()
