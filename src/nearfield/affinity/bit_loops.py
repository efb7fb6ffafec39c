"""The hot loops of a search among rows of bits, compiled by Numba.

With a and b bits set in two rows and c in both, a + b - 2c differ: that over the number of columns is the
Hamming distance, and over the a + b - c that are set in one of them Jaccard's.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from nearfield.parallel.compiled import inlined, jit

TILE = 8  # rows that ask together, so that a word that was read serves all of them
BLOCK = 256  # rows that are asked together, which the nearest cache holds
CAUTION = 1 + 1e-12  # what rounding may make of a distance before it is divided


def popcount(word):
    """How many bits of a word are set."""
    return int(word).bit_count()


@intrinsic
def _instruction(typing_context, word):
    def build(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@overload(popcount)
def _compiled_popcount(word):
    """Where loops are compiled, a processor counts by itself."""

    def count(word):
        return _instruction(word)  # type: ignore[call-arg]

    return count


@inlined
def shared(asking, words):
    """How many bits two rows share."""
    count = np.uint64(0)
    for w in range(len(words)):
        count += popcount(asking[w] & words[w])
    return count


@inlined
def apart(common, a, b, columns):
    """The distance of two rows: by Hamming of so many columns, or by Jaccard if these are 0."""
    differ = a + b - 2 * common
    whole = columns if columns > 0 else a + b - common
    return differ / whole if whole > 0 else 0.0


@inlined
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


@inlined
def keep_nearest(common, counts, a, own, columns, best, indices, squared):
    """The k nearest to a row that shares so many bits with each; of equally near ones the first."""
    k, m = len(indices), 0
    for j in range(len(common)):
        if j == own:
            continue
        if m == k:
            whole = columns if columns > 0 else a + counts[j] - common[j]
            if a + counts[j] - 2 * common[j] > best[k - 1] * whole * CAUTION:
                continue
        d = apart(common[j], a, counts[j], columns)
        if m < k or d < best[k - 1]:
            put(indices, best, m, j, d)
            m = min(m + 1, k)
    for e in range(k):
        if e < m:
            squared[e] = best[e] * best[e]
        else:  # there are fewer
            indices[e], squared[e] = max(own, 0), np.inf


@inlined
def shared_words(lo, hi, asking, words, common):
    """How many bits some rows share with all points, from words of 64."""
    n = len(words)
    for start in range(0, n, BLOCK):
        for i in range(lo, hi):
            for j in range(start, min(start + BLOCK, n)):
                common[i - lo, j] = shared(asking[i], words[j])


@inlined
def shared_lists(lo, hi, indptr, indices, starts, rows, common):
    """The same from the columns that are set in each row, and the points in which each column is set."""
    common[: hi - lo] = 0
    for i in range(lo, hi):
        for at in range(indptr[i], indptr[i + 1]):
            column = indices[at]
            for e in range(starts[column], starts[column + 1]):
                common[i - lo, rows[e]] += 1


@jit
def nearest_words(lo, hi, asking, words, asked, counts, own, columns, indices, squared):
    """The k nearest points to some rows, by words; `own` is the point that a row is itself, or -1."""
    common, best = np.empty((TILE, len(words)), np.int32), np.empty(indices.shape[1])
    for start in range(lo, hi, TILE):
        end = min(start + TILE, hi)
        shared_words(start, end, asking, words, common)
        for i in range(start, end):
            found = common[i - start]
            keep_nearest(found, counts, asked[i], own[i], columns, best, indices[i], squared[i])


@jit
def nearest_lists(lo, hi, indptr, set_in, starts, rows, asked, counts, own, columns, indices, squared):
    """The same by lists."""
    common, best = np.empty((1, len(counts)), np.int32), np.empty(indices.shape[1])
    for i in range(lo, hi):
        shared_lists(i, i + 1, indptr, set_in, starts, rows, common)
        keep_nearest(common[0], counts, asked[i], own[i], columns, best, indices[i], squared[i])


@jit
def all_words(lo, hi, asking, words, asked, counts, columns, out):
    """The distances of some rows to all points, by words."""
    common = np.empty((TILE, len(words)), np.int32)
    for start in range(lo, hi, TILE):
        end = min(start + TILE, hi)
        shared_words(start, end, asking, words, common)
        for i in range(start, end):
            for j in range(len(words)):
                out[i, j] = apart(common[i - start, j], asked[i], counts[j], columns)


@jit
def all_lists(lo, hi, indptr, set_in, starts, rows, asked, counts, columns, out):
    """The same by lists."""
    common = np.empty((1, len(counts)), np.int32)
    for i in range(lo, hi):
        shared_lists(i, i + 1, indptr, set_in, starts, rows, common)
        for j in range(len(counts)):
            out[i, j] = apart(common[0, j], asked[i], counts[j], columns)
