"""Rows that are added to a map: where they begin, and what becomes of the points that are there."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.descent.beginning import Beginning
from nearfield.descent.descent import Descent
from nearfield.descent.placing import Reference
from nearfield.steer.penalties import penalty
from nearfield.steer.steering import Steering
from nearfield.typing import Array

OLD = ("fixed", "soft", "free")  # what becomes of the points that are there


def check_old(old: Any) -> str:
    """What becomes of the points that are there, or a refusal."""
    if not isinstance(old, str) or old not in OLD:
        raise ValueError(f"old must be one of {', '.join(OLD)}, got {old!r}")
    return old


def with_places(reference: Reference, rows: Any) -> Array:
    """The map with places for some more rows, or with NaN where the method can place none."""
    Y = reference.held.Y
    if reference.obstacle is None:
        return np.vstack([Y, reference.transform(rows)[0]])
    return np.vstack([Y, np.full((rows.shape[0], Y.shape[1]), np.nan)])


def extended(
    begun: Beginning, before: Descent, reference: Reference, rows: Any, weights: Any, old: str
) -> tuple[Beginning, Descent, Steering]:
    """What a run begins with after rows were added, its descent, and what it is to be steered by.

    Parameters
    ----------
    begun, before : Beginning, Descent
        Of the run without them.
    reference : Reference
        What places the rows in its map.
    rows, weights
        What is added, as `Source.check_rows` returns it.
    old : {"fixed", "soft", "free"}
        Whether the points that are there are pinned, softly pinned, or free.
    """
    if before.iteration < before.unfolded_at:
        left = before.unfolded_at - before.iteration
        raise ValueError(f"extend: the map has not unfolded yet: make {left} iterations more")
    start = with_places(reference, begun.source.seen_by_old(rows))
    more = begun.extended(rows, weights, start, before)
    descent, n = more.descent(), begun.source.n
    Y = np.vstack([before.Y, more.setup.Y[n:]])
    descent.follow(before, Y)
    steering = descent.steering
    free = np.setdiff1d(np.arange(n), list(steering.pins))
    if old != "free" and len(free):
        steering, *_ = steering.pin(
            free,
            Y[free],
            follow=None,
            neighbours="map",
            weights="one",
            pull_by=penalty("student"),
            soft=old == "soft",
            Y=Y,
            engine=descent.problem.engine,
            measure=descent.measure(),
        )
    return more, descent, steering
