"""How fine a grid is laid over a map, and from which distance on: whatever costs the least."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft

from nearfield.engine.base import RunAway
from nearfield.engine.mesh.field_loops import NODES
from nearfield.parallel.together import ALONE, Together

CUTOFFS = (0.0, 2.0, 3.0, 4.5, 6.0)  # in widths of the kernel
WIDER = (9.0, 13.5, 20.0, 30.0)  # where the grid travels, a coarser one is worth more near sums
SAMPLE = 4096  # points that the crowding of a map is judged by
GROWTH = 1.1  # from one size of the grid to the next
LEAST = 20  # nodes of half an axis
MOST = 2**25  # nodes that a grid may have: a gigabyte and a half, with all that is computed on it
FREE = 2**15  # nodes that cost next to nothing
FINEST = 0.05  # of the width: finer spacing gains nothing in float32
# What a node of the grid costs, a point that looks for near ones, and a pair of near points, in
# nanoseconds; only the ratios matter.
NODE, POINT, PAIR = 8.0, 60.0, 0.4


def choose(
    Y: Any,
    low: Any,
    high: Any,
    width: float,
    accuracy: float,
    splits: Callable[[float], bool],
    n: int,
    together: Together = ALONE,
) -> tuple[float, float]:
    """The cutoff, and with it the spacing, that costs the least for a map like this.

    `splits` says whether the near part of all functions can be summed with a cutoff. The grid is transformed
    by all of those who have the n points, while each sums up what is near its own.
    """
    sample = together.all_rows(Y[:: -(-n // SAMPLE)]) - low
    crowded = near_pairs(sample, 3 * width) * (n / len(sample)) ** 2
    best = (np.inf, 0.0, 0.0)
    for widths in CUTOFFS if together.alone else (*CUTOFFS, *WIDER):
        cutoff, spacing = widths * width, spacing_of(widths, width, accuracy)
        nodes = np.prod(np.array(nodes_of((high - low) / spacing), dtype=np.float64))
        if nodes > MOST or (cutoff > 0 and not splits(cutoff)):
            continue
        pairs = crowded * (widths / 3) ** Y.shape[1]
        near = POINT * n + PAIR * pairs if cutoff > 0 else 0.0
        best = min(best, (NODE * float(nodes) + near / together.size, cutoff, spacing))
    _, cutoff, spacing = best
    if not spacing:
        raise RunAway(
            f"the map is {np.max(high - low) / width:.3g} times as wide as the kernel: it has run"
            " away; lower learning_rate, or leave it at 'auto'"
        )
    # Where nodes cost nothing, finer ones: the force within one cell needs the curvature to be right.
    while cutoff == 0 and spacing > FINEST * width:
        count, finer = (float(np.prod(nodes_of((high - low) * by / spacing))) for by in (1.0, 1.5))
        if finer > max(FREE, count):
            break
        spacing /= 1.5
    return cutoff, spacing


def spacing_of(widths: float, width: float, accuracy: float) -> float:
    """The spacing that gives the accuracy with a cutoff of so many widths.

    Measured on Student's and Gaussian kernels: cubic splines err by at most 0.29 (h/width)³ of the
    force without a cutoff, and by some 0.04/c (2.5 h/c)³ with one at c widths.
    """
    if widths == 0:
        return width * (accuracy / 0.29) ** (1 / 3)
    return width * widths * min(0.5, (accuracy * widths / 0.04) ** (1 / 3) / 2.5)


def nodes_of(cells: Any) -> list[int]:
    """How many nodes each axis needs: twice the span, with room for the splines.

    Halfway round, where the function meets itself, it has an edge, which splines carry on for a dozen
    nodes: in a small map they must not reach the points.
    """
    return [2 * max(int(c) + NODES + 2, LEAST) for c in cells]


def near_pairs(points: Any, cutoff: float) -> float:
    """How many ordered pairs are in neighbouring cells of this size, judged by the crowd in each cell."""
    key = np.zeros(len(points), np.int64)
    for column in points.T:
        key = key * 2**20 + (column / cutoff).astype(np.int64)
    _, crowd = np.unique(key, return_counts=True)
    return float(3.0 ** points.shape[1] * np.sum(crowd * (crowd - 1.0)))


def quick_length(need: int) -> int:
    """An even length that FFTs are quick at, one of few, so that a growing map seldom changes its grid."""
    step = int(np.ceil(np.log(need) / np.log(GROWTH)))
    return 2 * int(scipy.fft.next_fast_len(int(np.ceil(GROWTH**step / 2)), real=True))
