"""The hot loops along the edges of the neighbour graph, compiled by Numba.

Points are float32; sums over rows are float64. `axes` has as many items as there are dimensions: a tuple, so
that the compiler knows their number.
"""

import numba
import numpy as np

jit = numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})
f32 = np.float32

# log(1 + t)/t for √½ ≤ 1 + t ≤ √2, highest power first.
_t = 0.06 + 0.355 * np.cos(np.pi * (np.arange(40) + 0.5) / 40)
LOG = np.polynomial.Polynomial.fit(_t, np.log1p(_t) / _t, 8).convert().coef[::-1].astype(np.float32)
LOG_TWO = np.float32(np.log(2))
ROOT_HALF = np.int32(np.float32(np.sqrt(0.5)).view(np.int32))


@jit
def logarithm(x, m):
    """The first m numbers of x, positive and finite, replaced by their logarithms, to float32's precision.

    The exponent is read from the bits and the rest, between √½ and √2, goes through a polynomial: unlike a
    call of the system's logarithm this vectorises.
    """
    for e in range(m):
        bits = np.float32(x[e]).view(np.int32)
        exponent = (bits - ROOT_HALF) >> 23
        t = np.int32(bits - (exponent << 23)).view(np.float32) - f32(1)
        series = f32(LOG[0])
        for k in range(1, LOG.shape[0]):
            series = series * t + f32(LOG[k])
        x[e] = series * t + f32(exponent) * LOG_TWO


@jit
def tail_edges(lo, hi, axes, indptr, indices, p, Y, alpha, beta, want_value, gradient):
    """Σ_e p β/(1+αβf) (y_i - y_j) for each row, and -Σ p log w.

    Neighbours' coordinates are gathered first, so that the arithmetic on them vectorises.
    """
    two, three = len(axes) > 1, len(axes) > 2
    longest = 0
    for i in range(lo, hi):
        longest = max(longest, indptr[i + 1] - indptr[i])
    there_x, there_y, there_z = np.empty(longest, f32), np.empty(longest, f32), np.empty(longest, f32)
    logs = np.empty(longest, f32)
    scale, strength = f32(alpha * beta), f32(beta)
    crossed = 0.0
    for i in range(lo, hi):
        start = indptr[i]
        m = indptr[i + 1] - start
        columns, weights = indices[start : start + m], p[start : start + m]
        for e in range(m):
            j = columns[e]
            there_x[e] = Y[j, 0]
            if two:
                there_y[e] = Y[j, 1]
            if three:
                there_z[e] = Y[j, 2]
        x = Y[i, 0]
        y = Y[i, 1] if two else f32(0)
        z = Y[i, 2] if three else f32(0)
        pull_x, pull_y, pull_z = f32(0), f32(0), f32(0)
        for e in range(m):
            x_gap = x - there_x[e]
            y_gap = y - there_y[e] if two else f32(0)
            z_gap = z - there_z[e] if three else f32(0)
            k = weights[e] * strength / (f32(1) + scale * (x_gap * x_gap + y_gap * y_gap + z_gap * z_gap))
            pull_x += k * x_gap
            pull_y += k * y_gap
            pull_z += k * z_gap
        gradient[i, 0] = pull_x
        if two:
            gradient[i, 1] = pull_y
        if three:
            gradient[i, 2] = pull_z
        if want_value:
            for e in range(m):
                x_gap = x - there_x[e]
                y_gap = y - there_y[e] if two else f32(0)
                z_gap = z - there_z[e] if three else f32(0)
                logs[e] = x_gap * x_gap + y_gap * y_gap + z_gap * z_gap
            if alpha > 0.0:
                for e in range(m):
                    logs[e] = f32(1) + scale * logs[e]
                logarithm(logs, m)
            part = f32(0)
            for e in range(m):
                part += weights[e] * logs[e]
            crossed += part / alpha if alpha > 0.0 else part * beta
    return crossed


@jit
def edge_gaps(lo, hi, axes, indptr, indices, Y, gaps, f):
    """y_i - y_j along each axis and |y_i - y_j|², of the edges of rows lo … hi."""
    two, three = len(axes) > 1, len(axes) > 2
    base = indptr[lo]
    gaps_x = gaps[0]
    gaps_y, gaps_z = gaps[1 if two else 0], gaps[2 if three else 0]
    for i in range(lo, hi):
        x = Y[i, 0]
        y = Y[i, 1] if two else f32(0)
        z = Y[i, 2] if three else f32(0)
        for e in range(indptr[i], indptr[i + 1]):
            j, at = indices[e], e - base
            gaps_x[at] = x - Y[j, 0]
            if two:
                gaps_y[at] = y - Y[j, 1]
            if three:
                gaps_z[at] = z - Y[j, 2]
    for e in range(indptr[hi] - base):
        total = gaps_x[e] * gaps_x[e]
        if two:
            total += gaps_y[e] * gaps_y[e]
        if three:
            total += gaps_z[e] * gaps_z[e]
        f[e] = total


@jit
def edge_springs(lo, hi, indptr, gaps, k, gradient):
    """Add 4 Σ_e k_e (y_i - y_j) at i: each edge is there both ways, and each end takes both on itself."""
    base = indptr[lo]
    for i in range(lo, hi):
        start, stop = indptr[i] - base, indptr[i + 1] - base
        stiffness = k[start:stop]
        for c in range(gaps.shape[0]):
            gap, total = gaps[c, start:stop], f32(0)
            for e in range(stop - start):
                total += stiffness[e] * gap[e]
            gradient[i, c] += f32(4) * total


@jit
def edge_springs_both_ways(lo, hi, axes, indptr, indices, gaps, k, gradient):
    """Add 2 Σ_e k_e (y_i - y_j) at i, and its counterpart at j."""
    two, three = len(axes) > 1, len(axes) > 2
    base = indptr[lo]
    gaps_x = gaps[0]
    gaps_y, gaps_z = gaps[1 if two else 0], gaps[2 if three else 0]
    for i in range(lo, hi):
        pull_x, pull_y, pull_z = f32(0), f32(0), f32(0)
        for e in range(indptr[i], indptr[i + 1]):
            j, at = indices[e], e - base
            stiffness = f32(2) * k[at]
            x = stiffness * gaps_x[at]
            pull_x += x
            gradient[j, 0] -= x
            if two:
                y = stiffness * gaps_y[at]
                pull_y += y
                gradient[j, 1] -= y
            if three:
                z = stiffness * gaps_z[at]
                pull_z += z
                gradient[j, 2] -= z
        gradient[i, 0] += pull_x
        if two:
            gradient[i, 1] += pull_y
        if three:
            gradient[i, 2] += pull_z


@jit
def row_sums(lo, hi, indptr, values, out):
    """The sum of the edges' values of each row."""
    base = indptr[lo]
    for i in range(lo, hi):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += values[e - base]
        out[i] = total


@jit
def weigh_rows(lo, hi, indptr, p):
    """The sum of each row of P, and Σ p log p over all of them."""
    sums, entropy = np.zeros(hi - lo), 0.0
    for i in range(lo, hi):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            value = np.float64(p[e])
            if value > 0:
                total += value
                entropy += value * np.log(value)
        sums[i - lo] = total
    return sums, entropy
