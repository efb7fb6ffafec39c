"""The hot loops along the edges of the neighbour graph, compiled by Numba.

Points are float32; sums over rows are float64. `axes` has as many items as there are dimensions: a tuple, so
that the compiler knows their number.
"""

import numpy as np

from nearfield.engine.arithmetic import exp, log, logarithm
from nearfield.parallel.compiled import jit

f32 = np.float32

SMALL = np.float32(1e-30)  # of a q that counts


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
def lengths(rows, indptr, indices, Y, f):
    """|y_i - y_j|² of the edges of some rows, one after the other."""
    at = 0
    for i in rows:
        for e in range(indptr[i], indptr[i + 1]):
            j, total = indices[e], f32(0)
            for c in range(Y.shape[1]):
                gap = Y[i, c] - Y[j, c]
                total += gap * gap
            f[at] = total
            at += 1


@jit
def sums_of_rows(rows, indptr, indices, values, copies):
    """The sum of the edges' values of some rows, each for every copy of its end but the row's own point."""
    out, at = np.empty(rows.shape[0]), 0
    counted = copies.shape[0] > 0
    for k in range(rows.shape[0]):
        total = 0.0
        for e in range(indptr[rows[k]], indptr[rows[k] + 1]):
            j = indices[e]
            total += values[at] * ((copies[j] - (j == rows[k])) if counted else 1.0)
            at += 1
        out[k] = total
    return out


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


@jit
def scale_edges(
    lo,
    hi,
    axes,
    indptr,
    indices,
    p,
    multiplicity,
    Y,
    kappa,
    alpha,
    beta,
    nearest,
    logs,
    extra,
    want_value,
    mirrored,
    gradient,
    bracket,
):
    """The springs of a divergence along the edges at several scales of a heavy-tailed kernel (α, β of each).

    G - G0 is -p/q̄ of a cross-entropy (κ = 0), and -log(1 + κ/(1-κ) p/q̄)/κ of the Jensen-Shannon divergence;
    each scale has its share of it by its q, and the rate β/(1+αβf). S is exp(logs - β nearest) of each point
    and scale, or in one row of all points. An edge counts `multiplicity` times, or once if there is none.
    Returned are the costs, less what is linear in q or does not depend on it, and, if there is `extra`
    attraction, Σ p times the mean of log w.
    """
    two, three = len(axes) > 1, len(axes) > 2
    scales = beta.shape[0]
    longest = 0
    for i in range(lo, hi):
        longest = max(longest, indptr[i + 1] - indptr[i])
    x_gap, y_gap, z_gap = np.empty(longest, f32), np.empty(longest, f32), np.empty(longest, f32)
    f, q, rate, total = (
        np.empty(longest, f32),
        np.empty((scales, longest), f32),
        np.empty(longest, f32),
        np.empty(longest, f32),
    )
    strength, amount, ratio = np.empty(longest, f32), np.ones(longest, f32), np.empty(longest, f32)
    counted, mixed = multiplicity.shape[0] > 0, kappa > 0.0
    kappa_, per_scale = f32(kappa), f32(1.0 / scales)
    odds = f32(kappa / (1.0 - kappa))
    tailed = alpha > 0.0
    widest = np.argmin(beta)
    crossed = 0.0
    attraction = 0.0
    factor = f32(4) if mirrored else f32(2)
    for i in range(lo, hi):
        start = indptr[i]
        m = indptr[i + 1] - start
        columns, weights = indices[start : start + m], p[start : start + m]
        row = 0 if mirrored else i
        x = Y[i, 0]
        y = Y[i, 1] if two else f32(0)
        z = Y[i, 2] if three else f32(0)
        for e in range(m):
            j = columns[e]
            x_gap[e] = x - Y[j, 0]
            f[e] = x_gap[e] * x_gap[e]
            if two:
                y_gap[e] = y - Y[j, 1]
                f[e] += y_gap[e] * y_gap[e]
            if three:
                z_gap[e] = z - Y[j, 2]
                f[e] += z_gap[e] * z_gap[e]
        total[:m] = f32(0)
        rate[:m] = f32(0)
        for u in range(scales):
            share, b, least, level = q[u], beta[u], nearest[row, u], logs[row, u]
            if tailed:
                for e in range(m):
                    share[e] = exp(-log(f32(1) + f32(alpha) * b * f[e]) / f32(alpha) - level)
            else:
                for e in range(m):
                    share[e] = exp(-b * (f[e] - least) - level)
            if u == widest:  # what is far beyond all scales is left to it
                for e in range(m):
                    share[e] = max(share[e], SMALL)
            for e in range(m):
                total[e] += share[e]
                rate[e] += share[e] * (b / (f32(1) + f32(alpha) * b * f[e]) if tailed else b)
        if counted:
            amount[:m] = multiplicity[start : start + m]
        for e in range(m):
            total[e] *= per_scale
            ratio[e] = weights[e] / total[e]
            strength[e] = log(f32(1) + odds * ratio[e]) / kappa_ if mixed else ratio[e]
            rate[e] *= amount[e] * strength[e] * per_scale
        if extra != f32(0):
            pulled = f32(0)
            for u in range(scales):
                b = beta[u] * per_scale
                for e in range(m):
                    each = amount[e] * weights[e]
                    stiff = b / (f32(1) + f32(alpha) * beta[u] * f[e]) if tailed else b
                    rate[e] += extra * each * stiff
                    if tailed:
                        pulled -= each * np.log1p(f32(alpha) * beta[u] * f[e]) * per_scale / f32(alpha)
                    else:
                        pulled -= each * b * f[e]
            attraction += float(pulled)
        for u in range(scales):
            part = f32(0)
            for e in range(m):
                part += amount[e] * strength[e] * q[u, e]
            bracket[i, u] = -part
        pull_x, pull_y, pull_z = f32(0), f32(0), f32(0)
        for e in range(m):
            rate[e] *= factor
            pull_x += rate[e] * x_gap[e]
            pull_y += rate[e] * y_gap[e] if two else f32(0)
            pull_z += rate[e] * z_gap[e] if three else f32(0)
        if not mirrored:
            for e in range(m):
                j = columns[e]
                gradient[j, 0] -= rate[e] * x_gap[e]
                if two:
                    gradient[j, 1] -= rate[e] * y_gap[e]
                if three:
                    gradient[j, 2] -= rate[e] * z_gap[e]
        gradient[i, 0] += pull_x
        if two:
            gradient[i, 1] += pull_y
        if three:
            gradient[i, 2] += pull_z
        if want_value:
            part = f32(0)
            if mixed:
                for e in range(m):
                    rest = log(kappa_ + (f32(1) - kappa_) / ratio[e]) / (f32(1) - kappa_)
                    part -= amount[e] * (weights[e] * rest + total[e] * strength[e])
            else:
                for e in range(m):
                    part -= amount[e] * weights[e] * log(total[e])
            crossed += float(part)
    return crossed, attraction
