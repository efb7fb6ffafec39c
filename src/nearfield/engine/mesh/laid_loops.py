"""The hot loop that reads potentials off a grid, compiled by Numba: in float64, one place at a time."""

import numpy as np

from nearfield.parallel.compiled import inlined, jit

NODES = 4  # of a cubic B-spline along an axis


@inlined
def spline(s, w, d):
    """The cubic B-spline's four weights at the fraction s of a cell, and their derivatives."""
    t = 1.0 - s
    w[0] = t * t * t / 6.0
    w[1] = (4.0 - 6.0 * s * s + 3.0 * s * s * s) / 6.0
    w[2] = (1.0 + 3.0 * (s + s * s - s * s * s)) / 6.0
    w[3] = s * s * s / 6.0
    d[0] = -t * t / 2.0
    d[1] = (3.0 * s * s - 4.0 * s) / 2.0
    d[2] = (1.0 + 2.0 * s - 3.0 * s * s) / 2.0
    d[3] = s * s / 2.0


@inlined
def stencil():
    """Buffers: first nodes, weights and derivatives; a missing axis, in front, has one node of weight 1."""
    first = np.zeros(3, np.int64)
    w, d = np.zeros((3, NODES)), np.zeros((3, NODES))
    w[:, 0] = 1.0
    return first, w, d


@inlined
def read_one(place, origin, per_cell, grids, levels, first, w, d, value, gradient):
    """All potentials at one place within the grid, and their gradients."""
    dimensions = place.shape[0]
    missing = 3 - dimensions
    for c in range(dimensions):
        u = (place[c] - origin[c]) * per_cell
        cell = int(u)
        first[missing + c] = cell
        spline(u - cell, w[missing + c], d[missing + c])
    deep = NODES if dimensions > 2 else 1
    high = NODES if dimensions > 1 else 1
    for t in range(grids.shape[0]):
        v, g0, g1, g2 = 0.0, 0.0, 0.0, 0.0
        for a in range(deep):
            plain, along, across = 0.0, 0.0, 0.0
            for b in range(high):
                r, s = 0.0, 0.0
                for e in range(NODES):
                    z = np.float64(grids[t, first[0] + a, first[1] + b, first[2] + e])
                    r += w[2, e] * z
                    s += d[2, e] * z
                plain += w[1, b] * r
                along += w[1, b] * s
                across += d[1, b] * r
            v += w[0, a] * plain
            g2 += w[0, a] * along
            g1 += w[0, a] * across
            g0 += d[0, a] * plain
        value[t] = v + levels[t]
        gradient[t, dimensions - 1] = g2 * per_cell
        if dimensions > 1:
            gradient[t, dimensions - 2] = g1 * per_cell
        if dimensions > 2:
            gradient[t, 0] = g0 * per_cell


@jit
def read(lo, hi, places, origin, per_cell, grids, levels, value, gradient):
    """All potentials at some places within the grid, and their gradients."""
    first, w, d = stencil()
    for i in range(lo, hi):
        read_one(places[i], origin, per_cell, grids, levels, first, w, d, value[i], gradient[i])
