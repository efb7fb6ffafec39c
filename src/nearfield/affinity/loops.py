"""The hot loops of calibration, compiled by Numba."""

import numpy as np

from nearfield.parallel.compiled import jit


@jit
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
        number = 0
        for j in range(columns):
            c = copies_seen(copies, i, j, own)
            number += c
            if c > 0 and (number == c or row[j] < nearest):
                nearest = row[j]
        tie = nearest * (1 + 1e-12)  # what rounding makes of equal distances
        mean = 0.0
        ties = 0
        for j in range(columns):
            c = copies_seen(copies, i, j, own)
            if c > 0:
                mean += c * (row[j] - nearest)
                ties += c * (row[j] <= tie)
        mean /= number
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
            scale = np.exp(log_beta) / mean
            total = 0.0
            first = 0.0
            second = 0.0
            for j in range(columns):
                c = copies_seen(copies, i, j, own)
                if c > 0:
                    e = scale * (row[j] - nearest)
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
        scale = np.exp(log_beta) / mean
        beta[i] = scale
        dimension[i] = 2.0 * variance
        for j in range(columns):
            if copies_seen(copies, i, j, own) > 0:
                row[j] = np.exp(-scale * (row[j] - nearest)) / (total if normalized else 1.0)
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
def add_back(lo, hi, indices, squared, number, beta, nearest, total, P):
    """Add the p_i|j that the neighbours j of some rows have of them, to rows of P; see `add_scale`."""
    for i in range(lo, hi):
        for e in range(indices.shape[1]):
            if number[i, e] == 0:
                continue
            j = indices[i, e]
            beyond = max(squared[i, e] - nearest[j], 0.0)
            if np.isinf(beta[j]):
                w = 1.0 if beyond <= 1e-12 * nearest[j] else 0.0
            else:
                w = np.exp(-beta[j] * beyond)
            P[i, e] += w / total[j]


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


@jit
def leave_out_self(lo, hi, X, rows, found, indices, squared):
    """The first k of k + 1 found neighbours that are not the point itself, sorted by distance."""
    k = indices.shape[1]
    for i in range(lo, hi):
        own = rows[i]
        m = 0
        for e in range(k + 1):
            j = found[i, e]
            if j == own or j < 0 or m == k:
                continue
            total = 0.0
            for c in range(X.shape[1]):
                gap = X[own, c] - X[j, c]
                total += gap * gap
            at = m  # insertion: what came in order stays so but for rounding
            while at > 0 and squared[i, at - 1] > total:
                squared[i, at] = squared[i, at - 1]
                indices[i, at] = indices[i, at - 1]
                at -= 1
            squared[i, at] = total
            indices[i, at] = j
            m += 1
        for e in range(m, k):  # fewer were found
            indices[i, e] = own
            squared[i, e] = np.inf


@jit
def squared_between(X, j, row):
    """The squared distance of a point and another row."""
    total = np.float32(0)
    for c in range(X.shape[1]):
        gap = row[c] - X[j, c]
        total += gap * gap
    return total


@jit
def put(indices, squared, m, j, total):
    """Put a point at its place among the m nearest so far; of equally near ones the first index leads."""
    at = m
    while at > 0 and (squared[at - 1] > total or (squared[at - 1] == total and indices[at - 1] > j)):
        if at < len(indices):
            squared[at] = squared[at - 1]
            indices[at] = indices[at - 1]
        at -= 1
    if at < len(indices):
        squared[at] = total
        indices[at] = j


@jit
def search(lo, hi, X, asking, centres, order, starts, searched, indices, squared):
    """The k nearest points to some other rows, in the lists whose centres are nearest.

    Nothing depends on the rows beside, and of equally near points the first ones are taken.
    """
    k = indices.shape[1]
    lists, apart = np.empty(searched, np.int32), np.empty(searched, np.float32)
    for i in range(lo, hi):
        row = asking[i]
        for cell in range(len(centres)):
            total = squared_between(centres, cell, row)
            if cell < searched or total < apart[searched - 1]:
                put(lists, apart, min(cell, searched), cell, total)
        m = 0
        for cell in lists:
            for at in range(starts[cell], starts[cell + 1]):
                j = order[at]
                total = squared_between(X, j, row)
                if m < k or total <= squared[i, k - 1]:
                    put(indices[i], squared[i], m, j, total)
                    m = min(m + 1, k)
        for e in range(m, k):  # fewer were found
            indices[i, e] = 0
            squared[i, e] = np.inf


@jit
def squared_to_all(lo, hi, X, asking, squared):
    """The squared distances of some other rows to all points."""
    for i in range(lo, hi):
        for j in range(X.shape[0]):
            squared[i, j] = squared_between(X, j, asking[i])


@jit
def distances_apart(X, rows, others, out):
    """The Euclidean distances of some rows to some others each."""
    for a in range(len(rows)):
        here = X[rows[a]]
        for e in range(others.shape[1]):
            there, total = X[others[a, e]], np.float32(0)
            for c in range(X.shape[1]):
                gap = here[c] - there[c]
                total += gap * gap
            out[a, e] = np.sqrt(total)


@jit
def nearest_first(lo, hi, indptr, columns, distances, indices, squared):
    """The neighbours that the rows of a sparse matrix hold, nearest first; empty places are at the end."""
    k = indices.shape[1]
    for i in range(lo, hi):
        start = indptr[i]
        order = np.argsort(distances[start : indptr[i + 1]], kind="mergesort")  # of equals the first column
        for e in range(k):
            if e < len(order):
                indices[i, e] = columns[start + order[e]]
                squared[i, e] = distances[start + order[e]] ** 2
            else:
                indices[i, e] = i
                squared[i, e] = np.inf


# The matrices M below are in compressed rows: row i is at indptr[i] … indptr[i+1].


@jit
def sort_rows(lo, hi, indptr, indices, values):
    """Sort each row by index, its values along with it (Shell's sort, with the gaps of Ciura 2001).

    NumPy's sorts take seconds to compile, and rows are short.
    """
    for i in range(lo, hi):
        start, stop = indptr[i], indptr[i + 1]
        for gap in (1750, 701, 301, 132, 57, 23, 10, 4, 1):
            for e in range(start + gap, stop):
                column, value = indices[e], values[e]
                at = e
                while at >= start + gap and indices[at - gap] > column:
                    indices[at] = indices[at - gap]
                    values[at] = values[at - gap]
                    at -= gap
                indices[at] = column
                values[at] = value


@jit
def transpose(indptr, indices, values, starts, rows, transposed):
    """The columns of M in the order of the rows; starts is overwritten.

    starts[j] is where column j begins; afterwards it is where it ends.
    """
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            at = starts[j]
            rows[at] = i
            transposed[at] = values[e]
            starts[j] = at + 1


@jit
def merged_lengths(lo, hi, indptr, indices, starts, rows, lengths):
    """How many distinct columns row i of M + Mᵀ has; starts[i] … starts[i+1] is column i of M."""
    for i in range(lo, hi):
        a, end, b, stop, count = indptr[i], indptr[i + 1], starts[i], starts[i + 1], 0
        while a < end or b < stop:
            if b == stop or (a < end and indices[a] < rows[b]):
                a += 1
            elif a == end or rows[b] < indices[a]:
                b += 1
            else:
                a += 1
                b += 1
            count += 1
        lengths[i] = count


@jit
def merge(lo, hi, indptr, indices, values, starts, rows, transposed, factor, out_indptr, out_indices, out):
    """The rows of factor (M + Mᵀ)."""
    for i in range(lo, hi):
        a, end, b, stop, at = indptr[i], indptr[i + 1], starts[i], starts[i + 1], out_indptr[i]
        while a < end or b < stop:
            if b == stop or (a < end and indices[a] < rows[b]):
                j, value = indices[a], values[a]
                a += 1
            elif a == end or rows[b] < indices[a]:
                j, value = rows[b], transposed[b]
                b += 1
            else:
                j, value = indices[a], values[a] + transposed[b]
                a += 1
                b += 1
            out_indices[at] = j
            out[at] = factor * value
            at += 1


@jit
def pair_up(lo, hi, indptr, indices, starts, rows, origin, out_indptr, out_indices, forth, back):
    """The columns of M + Mᵀ, and where each value is in M: that from i to j and that from j to i, or -1.

    starts[i] … starts[i+1] is column i of M, with the rows and the places of its values.
    """
    for i in range(lo, hi):
        a, end, b, stop, at = indptr[i], indptr[i + 1], starts[i], starts[i + 1], out_indptr[i]
        while a < end or b < stop:
            forth[at] = back[at] = -1
            here = b == stop or (a < end and indices[a] <= rows[b])
            there = a == end or (b < stop and rows[b] <= indices[a])
            out_indices[at] = indices[a] if here else rows[b]
            if here:
                forth[at] = a
                a += 1
            if there:
                back[at] = origin[b]
                b += 1
            at += 1


@jit
def joint(lo, hi, indptr, forth, back, ahead, behind, number, factor, P, count):
    """Factor (p_j|i + p_i|j) of every pair, and how many pairs it stands for.

    `ahead` is p_j|i and `behind` p_i|j of the pairs as they were drawn from i. A pair that was drawn from
    one end alone stands for as many as the share of p that this end has in it.
    """
    for at in range(indptr[lo], indptr[hi]):
        a, b = forth[at], back[at]
        both = ahead[a] + behind[a] if a >= 0 else ahead[b] + behind[b]
        drawn = 0.0
        if a >= 0:
            drawn += number[a] * ahead[a]
        if b >= 0:
            drawn += number[b] * ahead[b]
        P[at] = factor * both
        count[at] = drawn / both if both > 0 else 0.0


# Rows are known again by two sums of 64 bits over their numbers, each mixed with its column. Zeros add
# nothing, so that dense and sparse rows agree.
STEPS = (np.uint64(30), np.uint64(27), np.uint64(31))
FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # of Steele, Lea and Flood 2014
SALTS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1342543DE82EF95))


@jit
def mixed(bits):
    """64 bits, each of which depends on all that were given."""
    bits = (bits ^ (bits >> STEPS[0])) * FACTORS[0]
    bits = (bits ^ (bits >> STEPS[1])) * FACTORS[1]
    return bits ^ (bits >> STEPS[2])


@jit
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
