"""The hot loops of the search for neighbours, compiled by Numba."""

import numpy as np

from nearfield.parallel.compiled import inlined, jit


@jit
def leave_out_self(lo, hi, X, asking, rows, found, indices, squared):
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
                gap = asking[i, c] - X[j, c]
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


@inlined
def squared_between(X, j, row):
    """The squared distance of a point and another row."""
    total = np.float32(0)
    for c in range(X.shape[1]):
        gap = row[c] - X[j, c]
        total += gap * gap
    return total


@jit
def squared_to_all(lo, hi, X, asking, squared):
    """The squared distances of some other rows to all points."""
    for i in range(lo, hi):
        for j in range(X.shape[0]):
            squared[i, j] = squared_between(X, j, asking[i])


@jit
def squared_apart(X, asking, others, out):
    """The squared distances of some rows to some points each."""
    for a in range(len(asking)):
        for e in range(others.shape[1]):
            out[a, e] = squared_between(X, others[a, e], asking[a])


@jit
def nearest_first(lo, hi, indptr, columns, distances, indices, squared):
    """The neighbours that the rows of a sparse matrix hold, nearest first; empty entries are at the end."""
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
