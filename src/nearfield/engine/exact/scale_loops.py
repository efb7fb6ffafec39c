"""The hot loops over pairs of points at several scales of a Gaussian, compiled by Numba; see `loops`."""

import numpy as np

from nearfield.engine.arithmetic import exponential64, logarithm64
from nearfield.engine.exact.loops import row_of, row_squares
from nearfield.parallel.compiled import inlined, jit

NOTHING = 41.0  # whose negative's exponential is lost beside 1
FEW = 4  # times fewer points than there are, of which a list is quicker than all


@inlined
def bells(i, Yt, beta, squarings, by_row, level, f, w, columns, count):
    """w_u = exp(-β_u (f_ij - level)) for all scales u, from the narrowest to the widest; w_i is left out.

    Where a scale sees few points, only these are kept: `count` of them, in `columns`; a count of -1 is all.
    `by_row` takes the level from the nearest point, which is returned. Where each precision is a power of
    two to the power of `squarings` times the next, they follow from the widest by squaring.
    """
    n, scales = Yt.shape[1], len(beta)
    row_squares(i, Yt, f)
    f[i] = np.inf
    if by_row:
        level = np.inf
        for j in range(n):
            level = min(level, f[j])
    for u in range(scales - 1, -1, -1):
        row, last = w[u], count[u + 1] if u < scales - 1 else -1
        seen, m = columns[u], 0
        reach = level + NOTHING / beta[u]
        if last >= 0:
            for e in range(last):
                j = columns[u + 1, e]
                if f[j] < reach:
                    seen[m] = j
                    m += 1
        else:
            near = 0
            for j in range(n):
                near += f[j] < reach
            if FEW * near < n:
                for j in range(n):
                    if f[j] < reach:
                        seen[m] = j
                        m += 1
        if last >= 0 or m > 0:
            count[u] = m
            for e in range(m):
                row[e] = -beta[u] * (f[seen[e]] - level)
            exponential64(row[:m])
            continue
        count[u] = -1
        if u < scales - 1 and squarings > 0:
            wider = w[u + 1]
            for j in range(n):
                value = wider[j]
                for _ in range(squarings):
                    value *= value
                row[j] = value
        else:
            f[i] = level
            for j in range(n):
                row[j] = -beta[u] * (f[j] - level)
            exponential64(row)
            f[i] = np.inf
        row[i] = 0.0
    return level


@jit
def bell_sums(lo, hi, Yt, beta, squarings, level, S):
    """Add Σ_ij exp(-β_u (f_ij - level)) of each scale."""
    n, scales = Yt.shape[1], len(beta)
    f, w = np.empty(n), np.empty((scales, n))
    columns, count = np.empty((scales, n), np.int32), np.empty(scales, np.int64)
    for i in range(lo, hi):
        bells(i, Yt, beta, squarings, False, level, f, w, columns, count)
        for u in range(scales):
            row, total = w[u, : n if count[u] < 0 else count[u]], 0.0
            for e in range(len(row)):
                total += row[e]
            S[u] += total


@jit
def nearest_pair(lo, hi, Yt):
    """The least squared distance of these points to others."""
    n = Yt.shape[1]
    least, f = np.inf, np.empty(n)
    for i in range(lo, hi):
        row_squares(i, Yt, f)
        for j in range(n):
            if j != i:
                least = min(least, f[j])
    return least


@jit
def scaled_rows(
    lo, hi, Yt, P, starts, places, beta, squarings, by_row, level, S, want_value, pull, push, bracket
):
    """Cross-entropy with Gaussians of several scales: both parts of the springs, and -Σ p log q̄.

    By rows, each has its own S and the springs are complete; otherwise S is given, and what each scale's
    bracket Σ p q_u/q̄ is to be multiplied with is kept apart, in `push`.
    """
    dimensions, n = Yt.shape
    scales = len(beta)
    f, w, total, k, own = np.empty(n), np.empty((scales, n)), np.empty(n), np.empty(n), np.empty(n)
    columns, count = np.empty((scales, n), np.int32), np.empty(scales, np.int64)
    crossed = 0.0
    for i in range(lo, hi):
        p = row_of(i, P, starts, places, own)
        bells(i, Yt, beta, squarings, by_row, level, f, w, columns, count)
        total[:] = 0.0
        k[:] = 0.0
        for u in range(scales):
            dense, seen = count[u] < 0, columns[u]
            row = w[u, : n if dense else count[u]]
            if by_row:
                amount = 0.0
                for e in range(len(row)):
                    amount += row[e]
            else:
                amount = S[u]
            share, stiff = 1.0 / amount, beta[u]
            for e in range(len(row)):
                row[e] *= share
            if dense:
                for j in range(n):
                    total[j] += row[j]
                    k[j] += stiff * row[j]
            else:
                for e in range(len(row)):
                    total[seen[e]] += row[e]
                    k[seen[e]] += stiff * row[e]
        total[i] = 1.0
        if want_value:
            for j in range(n):
                f[j] = max(total[j], 1e-300) / scales
            logarithm64(f)
            part = 0.0
            for j in range(n):
                part -= p[j] * f[j]
            crossed += part
        for j in range(n):
            total[j] = p[j] / max(total[j], 1e-300)
            k[j] *= total[j]
        for u in range(scales):
            dense, seen = count[u] < 0, columns[u]
            row, part = w[u, : n if dense else count[u]], 0.0
            if dense:
                for j in range(n):
                    part += total[j] * row[j]
            else:
                for e in range(len(row)):
                    part += total[seen[e]] * row[e]
            if by_row:
                part *= beta[u]
                if dense:
                    for j in range(n):
                        k[j] -= part * row[j]
                else:
                    for e in range(len(row)):
                        k[seen[e]] -= part * row[e]
                continue
            bracket[u] += part
            for c in range(dimensions):
                y, column, sums = Yt[c, i], Yt[c], 0.0
                if dense:
                    for j in range(n):
                        sums += row[j] * (y - column[j])
                else:
                    for e in range(len(row)):
                        sums += row[e] * (y - column[seen[e]])
                push[u, c, i] = beta[u] * sums
        for c in range(dimensions):
            y, column, sums = Yt[c, i], Yt[c], 0.0
            if by_row:
                g = pull[c]
                for j in range(n):
                    force = 2.0 * k[j] * (y - column[j])
                    sums += force
                    g[j] -= force
                g[i] += sums
            else:
                for j in range(n):
                    sums += k[j] * (y - column[j])
                pull[c, i] = 4.0 * sums
    return crossed
