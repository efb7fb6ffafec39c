"""The hot loops of calibration, compiled by Numba."""

import numba
import numpy as np

jit = numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})


@jit
def calibrate(lo, hi, squared, skip_self, perplexity, normalized, beta, dimension):
    """Turn rows of squared distances into p_j|i of the asked perplexity, in place.

    The entropy H falls monotonically with log β, with slope -Var_p(β d²), so Newton's method on log β,
    kept within a bracket, takes a handful of steps. Distances are measured from the nearest point and in
    units of their mean, so that data of any scale look alike. More ties for the nearest point than the
    perplexity make H unattainable: the row is then uniform over the ties, and β infinite.
    With `normalized` False the nearest point has weight 1 and the others are relative to it.
    """
    columns = squared.shape[1]
    for i in range(lo, hi):
        row = squared[i]
        own = i if skip_self else -1
        target = np.log(perplexity[i])
        nearest = row[1 if own == 0 else 0]
        for j in range(columns):
            if j != own:
                nearest = min(nearest, row[j])
        tie = nearest * (1 + 1e-12)  # what rounding makes of equal distances
        mean = 0.0
        ties = 0
        for j in range(columns):
            if j != own:
                mean += row[j] - nearest
                ties += row[j] <= tie
        mean /= columns - (1 if skip_self else 0)
        if mean == 0.0 or ties > perplexity[i]:
            for j in range(columns):
                row[j] = (1.0 / ties if normalized else 1.0) if row[j] <= tie and j != own else 0.0
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
                if j != own:
                    e = scale * (row[j] - nearest)
                    w = np.exp(-e)
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
            if j == own:
                row[j] = 0.0
            else:
                row[j] = np.exp(-scale * (row[j] - nearest)) / (total if normalized else 1.0)


@jit
def symmetrise(lo, hi, P, factor):
    """P ← factor (P + Pᵀ) in place; the chunk owns the pairs i < j with i in its rows."""
    n = P.shape[0]
    for i in range(lo, hi):
        for j in range(i + 1, n):
            mean = factor * (P[i, j] + P[j, i])
            P[i, j] = mean
            P[j, i] = mean
        P[i, i] = 0.0


@jit
def leave_out_self(lo, hi, X, found, indices, squared):
    """The first k of k + 1 found neighbours that are not the point itself, sorted by distance."""
    k = indices.shape[1]
    for i in range(lo, hi):
        m = 0
        for e in range(k + 1):
            j = found[i, e]
            if j == i or j < 0 or m == k:
                continue
            total = 0.0
            for c in range(X.shape[1]):
                gap = X[i, c] - X[j, c]
                total += gap * gap
            at = m  # insertion: what came in order stays so but for rounding
            while at > 0 and squared[i, at - 1] > total:
                squared[i, at] = squared[i, at - 1]
                indices[i, at] = indices[i, at - 1]
                at -= 1
            squared[i, at] = total
            indices[i, at] = j
            m += 1
        for e in range(m, k):  # fewer were found: repeat the last, with no weight to speak of
            indices[i, e] = indices[i, m - 1]
            squared[i, e] = squared[i, m - 1]


@jit
def sort_rows(lo, hi, indices, values):
    """Sort each row by index, its values along with it."""
    for i in range(lo, hi):
        order = np.argsort(indices[i])
        indices[i] = indices[i][order]
        values[i] = values[i][order]


@jit
def transpose(indices, values, starts, rows, transposed):
    """The columns of a matrix with k entries in each row, in the order of the rows; starts is overwritten.

    starts[j] is where column j begins; afterwards it is where it ends.
    """
    n, k = indices.shape
    for i in range(n):
        for e in range(k):
            j = indices[i, e]
            at = starts[j]
            rows[at] = i
            transposed[at] = values[i, e]
            starts[j] = at + 1


@jit
def merged_lengths(lo, hi, indices, starts, rows, lengths):
    """How many distinct columns row i of M + Mᵀ has; starts[i] … starts[i+1] is column i of M."""
    k = indices.shape[1]
    for i in range(lo, hi):
        a, b, stop, count = 0, starts[i], starts[i + 1], 0
        while a < k or b < stop:
            if b == stop or (a < k and indices[i, a] < rows[b]):
                a += 1
            elif a == k or rows[b] < indices[i, a]:
                b += 1
            else:
                a += 1
                b += 1
            count += 1
        lengths[i] = count


@jit
def merge(lo, hi, indices, values, starts, rows, transposed, factor, indptr, out_indices, out_values):
    """The rows of factor (M + Mᵀ)."""
    k = indices.shape[1]
    for i in range(lo, hi):
        a, b, stop, at = 0, starts[i], starts[i + 1], indptr[i]
        while a < k or b < stop:
            if b == stop or (a < k and indices[i, a] < rows[b]):
                j, value = indices[i, a], values[i, a]
                a += 1
            elif a == k or rows[b] < indices[i, a]:
                j, value = rows[b], transposed[b]
                b += 1
            else:
                j, value = indices[i, a], values[i, a] + transposed[b]
                a += 1
                b += 1
            out_indices[at] = j
            out_values[at] = factor * value
            at += 1
