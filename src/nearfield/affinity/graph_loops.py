"""The hot loops on graphs of neighbours, compiled by Numba.

Matrices M are in compressed rows: row i is at indptr[i] … indptr[i+1].
"""

from nearfield.parallel.compiled import jit


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

    starts[i] … starts[i+1] is column i of M, with the rows and where its values are.
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
def joint(lo, hi, indptr, forth, back, ahead, behind, multiplicity, factor, P, joint_multiplicity):
    """Factor (p_j|i + p_i|j) of every pair, and how many pairs it stands for.

    `ahead` is p_j|i and `behind` p_i|j of the pairs as they were drawn from i. A pair that was drawn from
    one end alone stands for as many as the share of p that this end has in it.
    """
    for at in range(indptr[lo], indptr[hi]):
        a, b = forth[at], back[at]
        both = ahead[a] + behind[a] if a >= 0 else ahead[b] + behind[b]
        drawn = 0.0
        if a >= 0:
            drawn += multiplicity[a] * ahead[a]
        if b >= 0:
            drawn += multiplicity[b] * ahead[b]
        P[at] = factor * both
        joint_multiplicity[at] = drawn / both if both > 0 else 0.0
