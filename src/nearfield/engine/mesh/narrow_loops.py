"""The hot loops over points that are close by in the map, compiled by Numba.

Points are sorted into cells. A point looks at its own cell and those around it, and further out only if it
found nothing there that near. Sums are of logarithms, taken relative to the nearest point, so that a point
whom nobody is close to has neighbours as well.
"""

import numpy as np

from nearfield.engine.arithmetic import exponential
from nearfield.parallel.compiled import inlined, jit

f32 = np.float32
AWAY = f32(1e30)  # a squared distance beyond all sight
ENOUGH = f32(7)  # in units of 1/β: what is so much further than the nearest has no weight beside it


@inlined
def around(cell, reach, Yt, axes, starts, shape, there, points):
    """Copy the points of a cell and of those up to `reach` cells away, side by side; how many they are."""
    nx = shape[2]
    x, y, z = cell % nx, (cell // nx) % shape[1], cell // (nx * shape[1])
    m = 0
    for high in range(max(z - reach, 0), min(z + reach + 1, shape[0])):
        for deep in range(max(y - reach, 0), min(y + reach + 1, shape[1])):
            row = (high * shape[1] + deep) * nx
            for e in range(starts[row + max(x - reach, 0)], starts[row + min(x + reach, nx - 1) + 1]):
                for c in range(len(axes)):
                    there[c, m] = Yt[c, e]
                points[m] = e
                m += 1
    return m


@inlined
def squares(i, m, Yt, axes, there, points, f):
    """The squared distances of a point to those that were copied, its own out of sight, and the least."""
    f[:m] = f32(0)
    for c in range(len(axes)):
        here, column = Yt[c, i], there[c]
        for e in range(m):
            gap = here - column[e]
            f[e] += gap * gap
    least = AWAY
    for e in range(m):
        if points[e] == i:
            f[e] = AWAY
        least = min(least, f[e])
    return least


@inlined
def look(i, cell, m, narrow, width, Yt, axes, starts, shape, there, points, f):
    """All points that matter beside the nearest: from the cells around, or from further out if need be.

    `narrow` is the smallest precision that is asked for, `width` that of a cell. Returned are how many there
    are, the least squared distance, and whether the copies of the cell's surroundings were overwritten.
    """
    least = squares(i, m, Yt, axes, there, points, f)
    reach, widest, moved = 1, max(shape[0], shape[1], shape[2]), False
    while reach < widest and least + ENOUGH / narrow > (reach * width) ** 2:
        reach *= 2
        m = around(cell, reach, Yt, axes, starts, shape, there, points)
        least = squares(i, m, Yt, axes, there, points, f)
        moved = True
    return m, least, moved


@inlined
def smallest(active, beta):
    """The smallest of the precisions that are asked for, or 0."""
    found = f32(0)
    for u in range(len(beta)):
        if active[u] and (found == 0 or beta[u] < found):
            found = beta[u]
    return found


@jit
def logarithms(lo, hi, axes, Yt, starts, shape, width, beta, active, nearest, logs):
    """Of the points of cells lo … hi, at the scales that are asked for of each, log Σ_j exp(-β (f_ij - f)).

    f is the squared distance of the nearest: kept apart, no digits are lost where β f is large.
    """
    n = Yt.shape[1]
    there, points, f, w = (
        np.empty((len(axes), n), f32),
        np.empty(n, np.int64),
        np.empty(n, f32),
        np.empty(n, f32),
    )
    for cell in range(lo, hi):
        m, known = 0, False
        for i in range(starts[cell], starts[cell + 1]):
            narrow = smallest(active[i], beta)
            if narrow == 0:
                continue
            if not known:
                m, known = around(cell, 1, Yt, axes, starts, shape, there, points), True
            count, least, moved = look(i, cell, m, narrow, width, Yt, axes, starts, shape, there, points, f)
            known = not moved
            for u in range(len(beta)):
                if not active[i, u]:
                    continue
                for e in range(count):
                    w[e] = -beta[u] * (f[e] - least)
                exponential(w, count)
                total = f32(0)
                for e in range(count):
                    total += w[e]
                nearest[i, u], logs[i, u] = least, np.log(total)


@jit
def springs(lo, hi, axes, Yt, starts, shape, width, beta, active, nearest, logs, strength, gradient):
    """Add the springs k_ij = strength_iu β exp(-β f_ij)/S_iu of the same points and scales, at both ends."""
    n, common = Yt.shape[1], logs.shape[0] == 1
    there, points, f, w = (
        np.empty((len(axes), n), f32),
        np.empty(n, np.int64),
        np.empty(n, f32),
        np.empty(n, f32),
    )
    k = np.empty(n, f32)
    for cell in range(lo, hi):
        m, known = 0, False
        for i in range(starts[cell], starts[cell + 1]):
            narrow = smallest(active[i], beta)
            if narrow == 0:
                continue
            if not known:
                m, known = around(cell, 1, Yt, axes, starts, shape, there, points), True
            count, _, moved = look(i, cell, m, narrow, width, Yt, axes, starts, shape, there, points, f)
            known = not moved
            k[:count] = f32(0)
            for u in range(len(beta)):
                if not active[i, u]:
                    continue
                row = 0 if common else i
                least, level = nearest[row, u], f32(logs[row, u])
                for e in range(count):
                    w[e] = -beta[u] * (f[e] - least) - level
                exponential(w, count)
                pull = f32(2) * f32(strength[row, u]) * beta[u]
                for e in range(count):
                    k[e] += pull * w[e]
            for c in range(len(axes)):
                here, total = Yt[c, i], f32(0)
                for e in range(count):
                    pull = k[e] * (here - there[c, e])
                    total += pull
                    gradient[c, points[e]] -= pull
                gradient[c, i] += total
