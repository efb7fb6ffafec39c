"""What a hand holds: points that were taken up by a drag, and the way on which they were led."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.io.schema import LONGEST
from nearfield.steer.base import Indices
from nearfield.steer.log import Entry
from nearfield.typing import Array


@dataclass(frozen=True, eq=False)
class Held:
    """Points in the hand.

    Attributes
    ----------
    entry : Entry
        Of the log: while it is the last one, they are held.
    pins : array
        Who they are.
    places : array (pins, dimensions)
        Where they were put first, from which moves are counted.
    """

    entry: Entry
    pins: Indices
    places: Array


def check_way(way: Any, dimensions: int, since: int) -> Array:
    """A way as rows of an iteration and a shift, or one line about what is wrong with it.

    Examples
    --------
    >>> check_way([(12, 0.5, 1)], 2, since=10)
    array([[12. ,  0.5,  1. ]])
    >>> check_way([(5, 0.5, 1)], 2, since=10)
    Traceback (most recent call last):
    ...
    ValueError: the iterations of a way must be whole, in order, and from 10 up
    """
    try:
        moves = np.array(way, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("way must be rows of numbers: an iteration, and how far it led") from None
    if not moves.size:
        return np.zeros((0, 1 + dimensions))
    if moves.ndim != 2 or moves.shape[1] != 1 + dimensions:
        raise ValueError(f"way must have the shape (moves, {1 + dimensions}), got {moves.shape}")
    if not np.all(np.isfinite(moves)):
        raise ValueError("way must be finite: there is NaN or infinity in it")
    iterations = np.concatenate([[since], moves[:, 0]])
    if np.any(iterations % 1) or np.any(np.diff(iterations) < 0) or iterations[-1] > LONGEST:
        raise ValueError(f"the iterations of a way must be whole, in order, and from {since} up")
    return moves
