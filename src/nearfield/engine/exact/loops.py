"""The hot loops over pairs of points, compiled by Numba.

Coordinates are laid out (dimension, point), so that the innermost loop runs over contiguous memory and
vectorises. Every function works on a range of rows and releases the GIL; `threads.spread` hands them out.
`reassoc` lets sums be vectorised; infinities and NaN keep their meaning.
"""

import numpy as np

from nearfield.parallel.compiled import inlined, jit


@inlined
def row_squares(i, Yt, f):
    """f_j = |y_i - y_j|² for all j."""
    f[:] = 0.0
    for c in range(Yt.shape[0]):
        y, column = Yt[c, i], Yt[c]
        for j in range(Yt.shape[1]):
            gap = y - column[j]
            f[j] += gap * gap


@jit
def squared_distances(lo, hi, Yt, out):
    """out[i - lo, j] = |y_i - y_j|²."""
    for i in range(lo, hi):
        row_squares(i, Yt, out[i - lo])


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


@inlined
def row_of(i, P, starts, columns, out):
    """Row i of P, or of a sparse one, whose numbers P is a column of: these are put where they belong."""
    if len(starts) == 0:
        return P[i]
    out[:] = 0.0
    for e in range(starts[i], starts[i + 1]):
        out[columns[e]] = P[e, 0]
    return out


@inlined
def tail_weights(i, Yt, alpha, beta, by_row, x, w):
    """x_j = 1 + αβ f_ij and w_j = w(f_ij) of the heavy-tailed family, for all j; w_i = 0.

    `by_row` takes the Gaussian's w relative to that of the nearest point, which cannot underflow;
    returned is the logarithm of what w was divided by.
    """
    n = Yt.shape[1]
    row_squares(i, Yt, x)
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


@inlined
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
def tail_pair(lo, hi, Yt, P, starts, columns, alpha, beta, want_value, attraction, repulsion):
    """Cross-entropy, heavy-tailed, pair: both parts of the gradient in one pass, S and -Σ p log w.

    attraction_i = Σ_j p_ij u_ij (y_i - y_j) and repulsion_i = Σ_j w_ij u_ij (y_i - y_j), u = β/(1+αβf).
    """
    dimensions, n = Yt.shape
    x, w, own = np.empty(n), np.empty(n), np.empty(n)
    S = 0.0
    crossed = 0.0
    for i in range(lo, hi):
        p = row_of(i, P, starts, columns, own)
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
def tail_point(lo, hi, Yt, P, starts, columns, alpha, beta, exaggeration, want_value, gradient):
    """Cross-entropy, heavy-tailed, point: the gradient, Σ_i M_i log S_i and -Σ p log w.

    The row's sum M_i of p multiplies q, should it not be one.
    """
    dimensions, n = Yt.shape
    x, w, own = np.empty(n), np.empty(n), np.empty(n)
    logs = 0.0
    crossed = 0.0
    for i in range(lo, hi):
        p = row_of(i, P, starts, columns, own)
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
def least_squares(lo, hi, Yt, R, exponent, gradient):
    """Σ r^e (r - d)² over the rows, and 4 Σ_j r^e (d - r)/d (y_i - y_j) at each; R is symmetric.

    Duplicates have weight 0 where e < 0, and coincident points pull in no direction.
    """
    dimensions, n = Yt.shape
    k = np.empty(n)
    value = 0.0
    for i in range(lo, hi):
        r = R[i]
        row_squares(i, Yt, k)
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
    """Σ r^e (r - d)² over ties of points on a ring to those `offsets` further on, and its gradient.

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
                d, target = np.sqrt(k[a]), unit * r[a]
                gap = d - target
                weight = 1.0
                if exponent != 0.0:
                    weight = 0.0
                    if target > 0.0:
                        weight = 1.0 / target if exponent == -1.0 else target**exponent
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
