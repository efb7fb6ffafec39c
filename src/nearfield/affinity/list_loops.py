"""The hot loops that search lists of points for the nearest to other rows, compiled by Numba.

A list is laid out column by column, so that distances to many of its points are had at once. A key is the
bits of a distance in front of the number of the point: keys compare as distances do, no two are equal, and
of equally near points the first one has the least. What is chosen is counted, not branched on: which of two
distances is the smaller, no processor can foresee.
"""

import numpy as np

from nearfield.parallel.compiled import inlined, jit

STEP = 4  # columns that are added up at once
TOGETHER = 16  # points of which a whole number is in a list
SHIFT = np.int64(32)  # bits of a key behind those of the distance
POINT = np.int64(2**32 - 1)
FARTHEST = np.finfo(np.float32).max
FIRST = 3  # lists, after each of which the candidates are cut down; then when they have doubled


@inlined
def squared_to_list(row, columns, out):
    """The squared distances of a row to the points of a list."""
    for c in range(0, columns.shape[0], STEP):
        x0, x1, x2, x3 = row[c], row[c + 1], row[c + 2], row[c + 3]
        some = columns[c : c + STEP]
        for e in range(columns.shape[1]):
            g0, g1, g2, g3 = x0 - some[0, e], x1 - some[1, e], x2 - some[2, e], x3 - some[3, e]
            total = g0 * g0 + g1 * g1 + g2 * g2 + g3 * g3
            out[e] = total if c == 0 else out[e] + total


@inlined
def gathered(apart, members, bound, keys, m):
    """Put the keys of the points within a squared distance behind the first m; how many there are then."""
    bits = apart.view(np.int32)
    for e in range(len(apart)):
        keys[m] = (np.int64(bits[e]) << SHIFT) | np.int64(members[e])
        m += apart[e] <= bound
    return m


@inlined
def cut_down(keys, m, k):
    """Leave the k least of the first m keys, in any order; the largest of them."""
    low, high = np.int64(0), np.int64(0)
    for e in range(m):
        high = max(high, keys[e])
    while low < high:  # the least key that k of them do not exceed lies between
        middle = low + ((high - low) >> np.int64(1))
        count = 0
        for e in range(m):
            count += keys[e] <= middle
        if count < k:
            low = middle + 1
        else:
            high = middle
            if count == k:
                break
    kept = 0
    for e in range(m):
        key = keys[e]
        keys[kept] = key
        kept += key <= high
    return high


@inlined
def in_order(keys, m, out):
    """The first m keys, the least first: each goes where as many are as are less."""
    for e in range(m):
        key, less = keys[e], 0
        for f in range(m):
            less += keys[f] < key
        out[less] = key


@jit
def search(lo, hi, asking, centres, cells, values, members, starts, searched, indices, squared):
    """The k nearest points to some other rows, in the lists whose centres are nearest."""
    k, columns, widest = indices.shape[1], asking.shape[1], len(cells)
    for cell in range(len(starts) - 1):
        widest = max(widest, starts[cell + 1] - starts[cell])
    apart = np.empty(widest, np.float32)
    lists, keys = np.empty(searched, np.int64), np.empty(2 * k + widest + 1, np.int64)
    found, bits = np.empty(k, np.int64), np.empty(1, np.int32)
    distance = bits.view(np.float32)
    around = centres.reshape((columns, len(cells)))
    for i in range(lo, hi):
        row = asking[i]
        squared_to_list(row, around, apart[: len(cells)])
        m = gathered(apart[: len(cells)], cells, FARTHEST, keys, 0)
        cut_down(keys, m, searched)
        in_order(keys, min(m, searched), lists)
        nearest, m, bound = min(m, searched), 0, FARTHEST
        for a in range(nearest):
            cell = lists[a] & POINT
            begin, end = starts[cell], starts[cell + 1]
            here = values[columns * begin : columns * end].reshape((columns, end - begin))
            squared_to_list(row, here, apart[: end - begin])
            m = gathered(apart[: end - begin], members[begin:end], bound, keys, m)
            if m > k and (a < FIRST or m >= 2 * k):
                bits[0], m = cut_down(keys, m, k) >> SHIFT, k
                bound = distance[0]
        if m > k:
            cut_down(keys, m, k)
            m = k
        in_order(keys, m, found)
        for e in range(m):
            bits[0] = found[e] >> SHIFT
            indices[i, e], squared[i, e] = found[e] & POINT, distance[0]
        for e in range(m, k):  # fewer were found
            indices[i, e], squared[i, e] = 0, np.inf
