"""The hot loop that makes memberships of distances, compiled by Numba."""

import numpy as np

from nearfield.parallel.compiled import jit

HALVINGS = 64  # of the interval in which a width lies
CLOSE = 1e-6  # to the sum that is asked for
LEAST = 1e-3  # of the mean distance, that a width has


@jit
def memberships(lo, hi, distances, goal, connected, mean_of_all):
    """Distances to neighbours, nearest first, replaced by exp(-max(0, r - o)/σ); infinite ones by 0.

    o is the distance to the neighbour of rank `connected` among those that are not at 0, between ranks in
    proportion, and σ is such that the row sums to `goal`; but at least a little of the mean distance, the
    point itself counted, or of that of all rows where o is 0.
    """
    for i in range(lo, hi):
        row = distances[i]
        there, zeros, total = 0, 0, 0.0
        for r in row:
            if r < np.inf:
                there += 1
                total += r
                zeros += r == 0
        apart = there - zeros
        nearest = 0.0
        if apart > 0 and apart < connected:
            nearest = row[there - 1]
        elif apart > 0:
            rank = int(np.floor(connected))
            share = connected - rank
            below = row[zeros + rank - 1] if rank > 0 else 0.0
            nearest = below
            if share > 0 and zeros + rank < there:
                nearest += share * (row[zeros + rank] - below)
        low, high, width = 0.0, np.inf, 1.0
        for _ in range(HALVINGS):
            reached = 0.0
            for e in range(there):
                reached += np.exp(-max(0.0, row[e] - nearest) / width)
            if abs(reached - goal) < CLOSE:
                break
            if reached > goal:
                high = width
            else:
                low = width
            width = 2 * width if high == np.inf else (low + high) / 2
        mean = total / (there + 1) if nearest > 0 else mean_of_all
        width = max(width, LEAST * mean)
        for e in range(there):
            beyond = row[e] - nearest
            row[e] = np.exp(-beyond / width) if beyond > 0 else 1.0
        row[there:] = 0.0
