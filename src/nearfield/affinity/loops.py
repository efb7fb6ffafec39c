"""The hot loops of calibration, and of the keys by which rows are known again, compiled by Numba."""

import numpy as np

from nearfield.parallel.compiled import inlined, jit


@inlined
def copies_seen(copies, i, j, own):
    """How many copies of the point in column j a copy of point i sees; without weights one, but of itself."""
    if copies is None:
        return 0 if j == own else 1
    return copies[i, j] - 1.0 if j == own else copies[i, j]


@jit
def calibrate(lo, hi, squared, skip_self, perplexity, normalized, beta, dimension, copies):
    """Turn rows of squared distances into p_j|i of the asked perplexity, in place.

    The entropy H falls monotonically with log β, with slope -Var_p(β d²), so Newton's method on log β,
    kept within a bracket, takes a handful of steps. Distances are measured from the nearest point and in
    units of their mean, so that data of any scale look alike. More ties for the nearest point than the
    perplexity make H unattainable: the row is then uniform over the ties, and β infinite.
    With `normalized` False the nearest point has weight 1 and the others are relative to it.
    Places at the end of a row that are infinitely far are empty: their p is 0.
    A column stands for so many copies of its point, and p is that of one of them; None is one each.
    """
    for i in range(lo, hi):
        row = squared[i]
        columns = len(row)
        while columns > 0 and row[columns - 1] == np.inf:
            columns -= 1
            row[columns] = 0.0
        if columns == 0:
            beta[i], dimension[i] = np.inf, 0.0
            continue
        own = i if skip_self else -1
        target = np.log(perplexity[i])
        nearest = row[columns - 1]
        others = 0
        for j in range(columns):
            c = copies_seen(copies, i, j, own)
            others += c
            if c > 0 and (others == c or row[j] < nearest):
                nearest = row[j]
        tie = nearest * (1 + 1e-12)  # what rounding makes of equal distances
        mean = 0.0
        ties = 0
        for j in range(columns):
            c = copies_seen(copies, i, j, own)
            if c > 0:
                mean += c * (row[j] - nearest)
                ties += c * (row[j] <= tie)
        mean /= others
        if mean == 0.0 or ties > perplexity[i]:
            for j in range(columns):
                tied = row[j] <= tie and copies_seen(copies, i, j, own) > 0
                row[j] = (1.0 / ties if normalized else 1.0) if tied else 0.0
            beta[i] = np.inf
            dimension[i] = 0.0
            continue
        log_beta, low, high = 0.0, -1e300, 1e300
        total = 1.0
        variance = 0.0
        for _ in range(200):
            precision = np.exp(log_beta) / mean
            total = 0.0
            first = 0.0
            second = 0.0
            for j in range(columns):
                c = copies_seen(copies, i, j, own)
                if c > 0:
                    e = precision * (row[j] - nearest)
                    w = c * np.exp(-e)
                    total += w
                    first += w * e
                    second += w * e * e
            first /= total
            variance = second / total - first * first
            gap = np.log(total) + first - target
            if abs(gap) < 1e-11:
                break
            if gap > 0:
                low = log_beta
            else:
                high = log_beta
            step = gap / variance if variance > 1e-12 else 0.0
            following = log_beta + step
            if step == 0.0 or not low < following < high or abs(step) > 6.0:
                if low < -1e299:
                    following = high - 4.0
                elif high > 1e299:
                    following = low + 4.0
                else:
                    following = 0.5 * (low + high)
            if following == log_beta or abs(following) > 690.0:
                break
            log_beta = following
        precision = np.exp(log_beta) / mean
        beta[i] = precision
        dimension[i] = 2.0 * variance
        for j in range(columns):
            if copies_seen(copies, i, j, own) > 0:
                row[j] = np.exp(-precision * (row[j] - nearest)) / (total if normalized else 1.0)
            else:
                row[j] = 0.0


@jit
def add_scale(lo, hi, squared, skip_self, beta, normalized, copies, P, nearest, total):
    """Add the p_j|i of known precisions to rows of P; with an infinite one they are uniform over ties.

    Noted are each row's least squared distance, and what its weights relative to it were divided by.
    """
    n = squared.shape[1]
    w = np.empty(n)
    for i in range(lo, hi):
        row, own = squared[i], i if skip_self else -1
        least = np.inf
        for j in range(n):
            if copies_seen(copies, i, j, own) > 0:
                least = min(least, row[j])
        tied = np.isinf(beta[i])
        tie = least * (1 + 1e-12)
        divisor = 0.0
        for j in range(n):
            c = copies_seen(copies, i, j, own)
            if c == 0:
                w[j] = 0.0
            elif tied:
                w[j] = 1.0 if row[j] <= tie else 0.0
            else:
                w[j] = np.exp(-beta[i] * (row[j] - least))
            divisor += c * w[j]
        divisor = divisor if normalized else 1.0
        nearest[i], total[i] = least, divisor
        for j in range(n):
            P[i, j] += w[j] / divisor


@jit
def add_back(lo, hi, indices, squared, multiplicity, beta, nearest, total, P):
    """Add the p_i|j that the neighbours j of some rows have of them, to rows of P; see `add_scale`."""
    for i in range(lo, hi):
        for e in range(indices.shape[1]):
            if multiplicity[i, e] == 0:
                continue
            j = indices[i, e]
            beyond = max(squared[i, e] - nearest[j], 0.0)
            if np.isinf(beta[j]):
                w = 1.0 if beyond <= 1e-12 * nearest[j] else 0.0
            else:
                w = np.exp(-beta[j] * beyond)
            P[i, e] += w / total[j]


@jit
def seen_back(lo, hi, indices, squared, beta, nearest, total, normalized, same, seen):
    """p_i|j: how the points j that are near some rows would see each of these, one row more beside theirs.

    A point of infinite precision sees whoever is as near as its nearest, but for a share that is the `same`.
    """
    for i in range(lo, hi):
        for e in range(indices.shape[1]):
            j = indices[i, e]
            if squared[i, e] == np.inf:
                seen[i, e] = 0.0
                continue
            beyond = max(squared[i, e] - nearest[j], 0.0)
            if np.isinf(beta[j]):
                w = 1.0 if beyond <= same * nearest[j] else 0.0
            else:
                w = np.exp(-beta[j] * beyond)
            seen[i, e] = w / (total[j] + w) if normalized else w


@jit
def symmetrise(lo, hi, P, factor):
    """P ← factor (P + Pᵀ) in place; the chunk owns the pairs i < j with i in its rows."""
    n = P.shape[0]
    for i in range(lo, hi):
        for j in range(i + 1, n):
            mean = factor * (P[i, j] + P[j, i])
            P[i, j] = mean
            P[j, i] = mean
        P[i, i] *= 2.0 * factor


# Rows are known again by two sums of 64 bits over their numbers, each mixed with its column. Zeros add
# nothing, so that dense and sparse rows agree.
STEPS = (np.uint64(30), np.uint64(27), np.uint64(31))
FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # of Steele, Lea and Flood 2014
SALTS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1342543DE82EF95))


@inlined
def mixed(bits):
    """64 bits, each of which depends on all that were given."""
    bits = (bits ^ (bits >> STEPS[0])) * FACTORS[0]
    bits = (bits ^ (bits >> STEPS[1])) * FACTORS[1]
    return bits ^ (bits >> STEPS[2])


@inlined
def key_of(column, number, lane):
    """What a number in a column adds to one of the two sums."""
    return mixed(mixed(np.uint64(column + 1) * SALTS[lane]) ^ np.float64(number).view(np.uint64))


@jit
def row_keys(lo, hi, X, keys):
    """The two sums of dense rows."""
    for i in range(lo, hi):
        first, second = np.uint64(0), np.uint64(0)
        for c in range(X.shape[1]):
            number = np.float64(X[i, c])
            if number != 0.0:
                first += key_of(c, number, 0)
                second += key_of(c, number, 1)
        keys[i, 0], keys[i, 1] = first, second


@jit
def sparse_row_keys(lo, hi, indptr, columns, values, keys):
    """The same of sparse rows."""
    for i in range(lo, hi):
        first, second = np.uint64(0), np.uint64(0)
        for e in range(indptr[i], indptr[i + 1]):
            number = np.float64(values[e])
            if number != 0.0:
                first += key_of(columns[e], number, 0)
                second += key_of(columns[e], number, 1)
        keys[i, 0], keys[i, 1] = first, second
