"""The hot loops over pairs of points, compiled by Numba.

Coordinates are laid out (dimension, point), so that the innermost loop runs over contiguous memory and
vectorises. Every function works on a range of rows and releases the GIL; `threads.spread` hands them out.
`reassoc` lets sums be vectorised; infinities and NaN keep their meaning.
"""

import numba
import numpy as np

jit = numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})

# 2^t for -½ ≤ t ≤ ½, highest power first.
_t = 0.5 * np.cos(np.pi * (np.arange(60) + 0.5) / 60)
EXP = np.polynomial.Polynomial.fit(_t, np.exp2(_t), 12).convert().coef[::-1].copy()
PER_LOG_TWO, LOG_TWO = 1 / np.log(2), np.log(2)
ROOT_HALF = np.int64(np.float64(np.sqrt(0.5)).view(np.int64))
LOWEST = -700.0  # whose exponential is still a float64
NOTHING = 41.0  # whose negative's exponential is lost beside 1
FEW = 4  # times fewer points than there are, of which a list is quicker than all


@jit
def squared_distances(lo, hi, Yt, out):
    """out[i - lo, j] = |y_i - y_j|²."""
    dimensions, n = Yt.shape
    for i in range(lo, hi):
        row = out[i - lo]
        row[:] = 0.0
        for c in range(dimensions):
            y, column = Yt[c, i], Yt[c]
            for j in range(n):
                gap = y - column[j]
                row[j] += gap * gap


@jit
def springs(lo, hi, Yt, stiffness, gradient):
    """Add 2 Σ_j k_ij (y_i - y_j) at i, and its counterpart at every j, to the gradient (dimension, point)."""
    dimensions, n = Yt.shape
    for i in range(lo, hi):
        k = stiffness[i - lo]
        for c in range(dimensions):
            y, column, g = Yt[c, i], Yt[c], gradient[c]
            total = 0.0
            for j in range(n):
                pull = 2.0 * k[j] * (y - column[j])
                total += pull
                g[j] -= pull
            g[i] += total


@jit
def dense_rows(lo, hi, indptr, indices, data, out):
    """The rows lo … hi of a CSR matrix as a dense block."""
    for i in range(lo, hi):
        row = out[i - lo]
        row[:] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            row[indices[e]] += data[e]


@jit
def tail_weights(i, Yt, alpha, beta, by_row, x, w):
    """x_j = 1 + αβ f_ij and w_j = w(f_ij) of the heavy-tailed family, for all j; w_i = 0.

    `by_row` takes the Gaussian's w relative to that of the nearest point, which cannot underflow;
    returned is the logarithm of what w was divided by.
    """
    dimensions, n = Yt.shape
    x[:] = 0.0
    for c in range(dimensions):
        y, column = Yt[c, i], Yt[c]
        for j in range(n):
            gap = y - column[j]
            x[j] += gap * gap
    nearest = 0.0
    if alpha == 0.0:
        if by_row:
            nearest = x[1 if i == 0 else 0]
            for j in range(n):
                if j != i:
                    nearest = min(nearest, x[j])
        for j in range(n):
            w[j] = np.exp(-beta * (x[j] - nearest))
    scale = alpha * beta
    for j in range(n):
        x[j] = 1.0 + scale * x[j]
    if alpha == 1.0:
        for j in range(n):
            w[j] = 1.0 / x[j]
    elif alpha > 0.0:
        power = -1.0 / alpha
        for j in range(n):
            w[j] = x[j] ** power
    w[i] = 0.0
    return -beta * nearest


@jit
def log_weights(i, Yt, alpha, beta, x, p):
    """-Σ_j p_ij log w_ij, given x from `tail_weights`."""
    total = 0.0
    n = Yt.shape[1]
    if alpha > 0.0:
        for j in range(n):
            if p[j] > 0.0:
                total += p[j] * np.log(x[j])
        return total / alpha
    for c in range(Yt.shape[0]):
        y, column = Yt[c, i], Yt[c]
        for j in range(n):
            gap = y - column[j]
            total += p[j] * gap * gap
    return total * beta


@jit
def tail_pair(lo, hi, Yt, P, alpha, beta, want_value, attraction, repulsion):
    """Cross-entropy, heavy-tailed, pair: both parts of the gradient in one pass, S and -Σ p log w.

    attraction_i = Σ_j p_ij u_ij (y_i - y_j) and repulsion_i = Σ_j w_ij u_ij (y_i - y_j), u = β/(1+αβf).
    """
    dimensions, n = Yt.shape
    x, w = np.empty(n), np.empty(n)
    S = 0.0
    crossed = 0.0
    for i in range(lo, hi):
        p = P[i]
        tail_weights(i, Yt, alpha, beta, False, x, w)
        if want_value:
            crossed += log_weights(i, Yt, alpha, beta, x, p)
        total = 0.0
        for j in range(n):
            total += w[j]
            x[j] = beta / x[j]
            w[j] *= x[j]
            x[j] *= p[j]
        S += total
        for c in range(dimensions):
            y, column = Yt[c, i], Yt[c]
            pull = 0.0
            push = 0.0
            for j in range(n):
                gap = y - column[j]
                pull += x[j] * gap
                push += w[j] * gap
            attraction[c, i] = pull
            repulsion[c, i] = push
    return S, crossed


@jit
def tail_point(lo, hi, Yt, P, alpha, beta, exaggeration, want_value, gradient):
    """Cross-entropy, heavy-tailed, point: the gradient, Σ_i M_i log S_i and -Σ p log w.

    The row's sum M_i of p multiplies q, should it not be one.
    """
    dimensions, n = Yt.shape
    x, w = np.empty(n), np.empty(n)
    logs = 0.0
    crossed = 0.0
    for i in range(lo, hi):
        p = P[i]
        shift = tail_weights(i, Yt, alpha, beta, True, x, w)
        if want_value:
            crossed += log_weights(i, Yt, alpha, beta, x, p)
        S = 0.0
        M = 0.0
        for j in range(n):
            S += w[j]
            M += p[j]
        logs += M * (np.log(S) + shift)
        share = M / S
        for j in range(n):
            w[j] = 2.0 * (exaggeration * p[j] - share * w[j]) * beta / x[j]
        for c in range(dimensions):
            y, column, g = Yt[c, i], Yt[c], gradient[c]
            total = 0.0
            for j in range(n):
                pull = w[j] * (y - column[j])
                total += pull
                g[j] -= pull
            g[i] += total
    return logs, crossed


@jit
def exponential(x):
    """Numbers up to 0 replaced by e^x, to some 1e-15 of it; unlike calls of the system's, it vectorises."""
    for j in range(len(x)):
        power = max(x[j], LOWEST) * PER_LOG_TWO
        whole = np.floor(power + 0.5)
        t = power - whole
        series = EXP[0]
        for k in range(1, EXP.shape[0]):
            series = series * t + EXP[k]
        x[j] = series * np.int64((np.int64(whole) + 1023) << 52).view(np.float64)


@jit
def logarithm(x):
    """Positive numbers replaced by their logarithms, to some 1e-15; see `exponential`.

    With the rest of the exponent between √½ and √2, log m is 2 artanh((m-1)/(m+1)), a short series.
    """
    for j in range(len(x)):
        bits = np.float64(x[j]).view(np.int64)
        exponent = (bits - ROOT_HALF) >> 52
        m = np.int64(bits - (exponent << 52)).view(np.float64)
        t = (m - 1.0) / (m + 1.0)
        square, series = t * t, 0.0
        for k in range(21, 0, -2):
            series = series * square + 1.0 / k
        x[j] = exponent * LOG_TWO + 2.0 * t * series


@jit
def bells(i, Yt, beta, squarings, by_row, level, f, w, columns, count):
    """w_u = exp(-β_u (f_ij - level)) for all scales u, from the narrowest to the widest; w_i is left out.

    Where a scale sees few points, only these are kept: `count` of them, in `columns`; a count of -1 is all.
    `by_row` takes the level from the nearest point, which is returned. Where each precision is a power of
    two to the power of `squarings` times the next, they follow from the widest by squaring.
    """
    dimensions, n = Yt.shape
    scales = len(beta)
    f[:] = 0.0
    for c in range(dimensions):
        y, column = Yt[c, i], Yt[c]
        for j in range(n):
            gap = y - column[j]
            f[j] += gap * gap
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
            exponential(row[:m])
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
            exponential(row)
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
    dimensions, n = Yt.shape
    least, f = np.inf, np.empty(n)
    for i in range(lo, hi):
        f[:] = 0.0
        for c in range(dimensions):
            y, column = Yt[c, i], Yt[c]
            for j in range(n):
                gap = y - column[j]
                f[j] += gap * gap
        for j in range(n):
            if j != i:
                least = min(least, f[j])
    return least


@jit
def scaled_rows(lo, hi, Yt, P, beta, squarings, by_row, level, S, want_value, pull, push, bracket):
    """Cross-entropy with Gaussians of several scales: both parts of the springs, and -Σ p log q̄.

    By rows, each has its own S and the springs are complete; otherwise S is given, and what each scale's
    bracket Σ p q_u/q̄ is to be multiplied with is kept apart, in `push`.
    """
    dimensions, n = Yt.shape
    scales = len(beta)
    f, w, total, k = np.empty(n), np.empty((scales, n)), np.empty(n), np.empty(n)
    columns, count = np.empty((scales, n), np.int32), np.empty(scales, np.int64)
    crossed = 0.0
    for i in range(lo, hi):
        p = P[i]
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
            logarithm(f)
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


@jit
def least_squares(lo, hi, Yt, R, exponent, gradient):
    """Σ r^e (r - d)² over the rows, and 4 Σ_j r^e (d - r)/d (y_i - y_j) at each; R is symmetric.

    Duplicates have weight 0 where e < 0, and coincident points pull in no direction.
    """
    dimensions, n = Yt.shape
    k = np.empty(n)
    value = 0.0
    for i in range(lo, hi):
        r = R[i]
        k[:] = 0.0
        for c in range(dimensions):
            y, column = Yt[c, i], Yt[c]
            for j in range(n):
                gap = y - column[j]
                k[j] += gap * gap
        total = 0.0
        if exponent == 0.0:
            for j in range(n):
                d = np.sqrt(k[j])
                gap = d - r[j]
                total += gap * gap
                k[j] = 4.0 * gap / d if d > 0.0 else 0.0
        else:
            for j in range(n):
                d = np.sqrt(k[j])
                gap = d - r[j]
                weight = 0.0
                if r[j] > 0.0:
                    weight = 1.0 / r[j] if exponent == -1.0 else r[j] ** exponent
                total += weight * gap * gap
                k[j] = 4.0 * weight * gap / d if d > 0.0 else 0.0
        value += total
        for c in range(dimensions):
            y, column = Yt[c, i], Yt[c]
            pull = 0.0
            for j in range(n):
                pull += k[j] * (y - column[j])
            gradient[c, i] = pull
    return value


@jit
def ring_least_squares(lo, hi, ring, R, offsets, unit, exponent, gradient):
    """Σ r^e (r - d)² over ties of points on a ring to those `offsets` places on, and its gradient.

    R holds the distances in some unit, offset by offset. See `least_squares` for what is at zero.
    """
    dimensions, n = ring.shape
    k = np.empty(n)
    value = 0.0
    for at in range(lo, hi):
        offset, r = offsets[at], R[at]
        for part in range(2):  # up to where the ring closes, and from there on
            start, stop, shift = (0, n - offset, offset) if part == 0 else (n - offset, n, offset - n)
            k[start:stop] = 0.0
            for c in range(dimensions):
                here, there = ring[c, start:stop], ring[c, start + shift : stop + shift]
                s = k[start:stop]
                for a in range(stop - start):
                    gap = here[a] - there[a]
                    s[a] += gap * gap
            total = 0.0
            for a in range(start, stop):
                d, wanted = np.sqrt(k[a]), unit * r[a]
                gap = d - wanted
                weight = 1.0
                if exponent != 0.0:
                    weight = 0.0
                    if wanted > 0.0:
                        weight = 1.0 / wanted if exponent == -1.0 else wanted**exponent
                total += weight * gap * gap
                k[a] = 2.0 * weight * gap / d if d > 0.0 else 0.0
            value += total
            for c in range(dimensions):
                here, there = ring[c, start:stop], ring[c, start + shift : stop + shift]
                pull, push = gradient[c, start:stop], gradient[c, start + shift : stop + shift]
                s = k[start:stop]
                for a in range(stop - start):
                    force = s[a] * (here[a] - there[a])
                    pull[a] += force
                    push[a] -= force
    return value
