"""The hot loops over pairs of points, compiled by Numba; each works on the rows of some query points.

No `fastmath` here: a distance has to come out the same wherever its pair stands in the loop, or duplicates
would no longer be ties.
"""

import numpy as np

from nearfield.parallel.compiled import ordered_inlined, ordered_jit

TILE = 512  # columns at a time, which the cache keeps while all rows of a block pass by
BITS = 12  # of the key that one pass of the radix sort looks at


@ordered_jit
def euclidean(Xt, queries, squared, out):
    """The distances out[q, j] from the queries to all points; Xt is laid out (column, point)."""
    dimensions, n = Xt.shape
    for start in range(0, n, TILE):
        stop = min(start + TILE, n)
        for q in range(len(queries)):
            row = out[q, start:stop]
            row[:] = 0.0
            for c in range(dimensions):
                x, column = Xt[c, queries[q]], Xt[c, start:stop]
                for j in range(stop - start):
                    gap = x - column[j]
                    row[j] += gap * gap
            if not squared:
                for j in range(stop - start):
                    row[j] = np.sqrt(row[j])


@ordered_inlined
def sort_others(distances, own, keys, order, spare_keys, spare_order):
    """Fill `order` with all points but `own`, nearest first, ties by their index.

    A radix sort, which is stable, of the bits of the distances: those of non-negative numbers are in the
    order of the numbers. They are counted from the smallest, so that few passes do.
    """
    bits = distances.view(np.uint64)
    lowest, highest = ~np.uint64(0), np.uint64(0)
    m = 0
    for j in range(len(distances)):
        if j != own:
            lowest, highest = min(lowest, bits[j]), max(highest, bits[j])
            keys[m] = bits[j]
            order[m] = j
            m += 1
    for e in range(m):
        keys[e] -= lowest
    first = order
    starts = np.empty((1 << BITS) + 1, np.uint32)
    mask, shift, span = np.uint64((1 << BITS) - 1), np.uint64(0), highest - lowest
    while shift < np.uint64(64) and span >> shift > np.uint64(0):
        starts[:] = 0
        for e in range(m):
            starts[((keys[e] >> shift) & mask) + np.uint64(1)] += np.uint32(1)
        for digit in range(1 << BITS):
            starts[digit + 1] += starts[digit]
        for e in range(m):
            digit = (keys[e] >> shift) & mask
            at = starts[digit]
            starts[digit] = at + np.uint32(1)
            spare_keys[at] = keys[e]
            spare_order[at] = order[e]
        keys, spare_keys = spare_keys, keys
        order, spare_order = spare_order, order
        shift += np.uint64(BITS)
    for e in range(m):
        first[e] = order[e]


@ordered_inlined
def vote(order, k, codes, votes):
    """The class that most of the k nearest have, of several the one that comes first; -1 if none has any."""
    for e in range(k):
        if codes[order[e]] >= 0:
            votes[codes[order[e]]] += 1
    winner, most = -1, 0
    for e in range(k):
        code = codes[order[e]]
        if code >= 0 and votes[code] > most:
            winner, most = code, votes[code]
    for e in range(k):
        if codes[order[e]] >= 0:
            votes[codes[order[e]]] = 0
    return winner


@ordered_jit
def judge_rows(
    queries, data, mapped, k, auc_terms, factor, data_edges, map_edges, codes, votes, counts, joint, rows
):
    """Compare the distances from each query in the data with those in the map.

    Parameters
    ----------
    queries : array of int (queries,)
        The points.
    data, mapped : array (queries, points)
        Their distances to all points.
    k : int
        How many neighbours trustworthiness, continuity and labels look at.
    auc_terms : array (points,)
        What a pair with max(ρ, r) = m adds to the AUC of its row.
    factor : float
        By which distances in the map are multiplied before they are compared with those in the data.
    data_edges, map_edges : array
        The upper ends of the levels into which distances are sorted for their correlation.
    codes, votes : array of int
        The class of each point, or no entry at all; scratch, one zero for each class.
    counts : array of int (points,)
        Incremented: how many pairs have max(ρ, r) = m.
    joint : array of int (data levels, map levels)
        Incremented: how many pairs have distances of these levels.
    rows : array (queries, 10)
        Filled: AUC, neighbours kept, excess ranks of false and of lost neighbours, Σr², Σd², Σ(r - ad)²,
        Σd(r - ad), and whether the vote in map and data finds the class (NaN for points without one).
    """
    n = data.shape[1]
    keys, spare_keys = np.empty(n - 1, np.uint64), np.empty(n - 1, np.uint64)
    order, spare_order = np.empty(n - 1, np.uint32), np.empty(n - 1, np.uint32)
    nearest = np.empty(k, np.uint32)
    rank, level = np.empty(n, np.int32), np.empty(n, np.int32)
    for q in range(len(queries)):
        own = queries[q]
        r, d = data[q], mapped[q]
        sort_others(r, own, keys, order, spare_keys, spare_order)
        at = 0
        for e in range(n - 1):
            j = order[e]
            while at < len(data_edges) and data_edges[at] < r[j]:
                at += 1
            rank[j] = e + 1
            level[j] = at
        for e in range(k):
            nearest[e] = order[e]
        sort_others(d, own, keys, order, spare_keys, spare_order)
        at = 0
        auc = 0.0
        kept, false, lost = 0, 0, 0
        for e in range(n - 1):
            j = order[e]
            while at < len(map_edges) and map_edges[at] < d[j]:
                at += 1
            joint[level[j], at] += 1
            in_data, in_map = rank[j], e + 1
            worse = max(in_data, in_map)
            counts[worse] += 1
            auc += auc_terms[worse]
            if worse <= k:
                kept += 1
            elif in_map <= k:
                false += in_data - k
            elif in_data <= k:
                lost += in_map - k
        rows[q, 0], rows[q, 1], rows[q, 2], rows[q, 3] = auc, kept, false, lost
        rr, dd, squares, slope = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            gap = r[j] - factor * d[j]
            rr += r[j] * r[j]
            dd += d[j] * d[j]
            squares += gap * gap
            slope += d[j] * gap
        rows[q, 4], rows[q, 5], rows[q, 6], rows[q, 7] = rr, dd, squares, slope
        if len(codes) == 0 or codes[own] < 0:
            rows[q, 8], rows[q, 9] = np.nan, np.nan
        else:
            rows[q, 8] = 1.0 if vote(order, k, codes, votes) == codes[own] else 0.0
            rows[q, 9] = 1.0 if vote(nearest, k, codes, votes) == codes[own] else 0.0
