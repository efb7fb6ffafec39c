"""The hot loops along edges that attract, with a kernel 1/(1 + a f^b), compiled by Numba.

Points are float32. `axes` has as many items as there are dimensions: a tuple, so that the compiler knows
their number.
"""

import numpy as np

from nearfield.engine.arithmetic import exp, log, logarithm
from nearfield.parallel.compiled import jit

f32 = np.float32

NEAREST = np.float32(1e-30)  # squared: nearer than this there is no direction to be pulled in


@jit
def power_edges(lo, hi, axes, indptr, indices, p, Y, a, b, want_value, gradient):
    """Σ_e p a b f^(b-1)/(1 + a f^b) (y_i - y_j) for each row, and Σ p log(1 + a f^b).

    Neighbours' coordinates are gathered first, so that the arithmetic on them vectorises.
    """
    two, three = len(axes) > 1, len(axes) > 2
    longest = 0
    for i in range(lo, hi):
        longest = max(longest, indptr[i + 1] - indptr[i])
    x_gap, y_gap, z_gap = np.zeros(longest, f32), np.zeros(longest, f32), np.zeros(longest, f32)
    f, rest = np.empty(longest, f32), np.empty(longest, f32)
    scale, strength, power = f32(a), f32(a * b), f32(b)
    crossed = 0.0
    for i in range(lo, hi):
        start = indptr[i]
        m = indptr[i + 1] - start
        columns, weights = indices[start : start + m], p[start : start + m]
        x = Y[i, 0]
        y = Y[i, 1] if two else f32(0)
        z = Y[i, 2] if three else f32(0)
        for e in range(m):
            j = columns[e]
            x_gap[e] = x - Y[j, 0]
            if two:
                y_gap[e] = y - Y[j, 1]
            if three:
                z_gap[e] = z - Y[j, 2]
        pull_x, pull_y, pull_z = f32(0), f32(0), f32(0)
        for e in range(m):
            f[e] = max(x_gap[e] * x_gap[e] + y_gap[e] * y_gap[e] + z_gap[e] * z_gap[e], NEAREST)
            to_power = exp(power * log(f[e]))
            rest[e] = f32(1) + scale * to_power
            k = weights[e] * strength * to_power / (f[e] * rest[e])
            pull_x += k * x_gap[e]
            pull_y += k * y_gap[e]
            pull_z += k * z_gap[e]
        gradient[i, 0] = pull_x
        if two:
            gradient[i, 1] = pull_y
        if three:
            gradient[i, 2] = pull_z
        if want_value:
            logarithm(rest, m)
            part = f32(0)
            for e in range(m):
                part += weights[e] * rest[e]
            crossed += float(part)
    return crossed


@jit
def power_stiffness(lo, hi, axes, indptr, indices, p, Y, a, b, factor, nearest, k):
    """The stiffness of the edges, factor p a b f^(b-1)/(1 + a f^b), with f no less than `nearest`."""
    two, three = len(axes) > 1, len(axes) > 2
    scale, strength, power = f32(a), f32(factor * a * b), f32(b)
    for i in range(lo, hi):
        start, stop = indptr[i], indptr[i + 1]
        x = Y[i, 0]
        y = Y[i, 1] if two else f32(0)
        z = Y[i, 2] if three else f32(0)
        for e in range(start, stop):
            j = indices[e]
            gap = x - Y[j, 0]
            f = gap * gap
            if two:
                gap = y - Y[j, 1]
                f += gap * gap
            if three:
                gap = z - Y[j, 2]
                f += gap * gap
            k[e] = max(f, nearest)
        for e in range(start, stop):
            to_power = exp(power * log(k[e]))
            k[e] = p[e] * strength * to_power / (k[e] * (f32(1) + scale * to_power))
