"""The hot loops of implicit steps, compiled by Numba.

`axes` has as many items as there are dimensions: a tuple, so that the compiler knows their number.
"""

from nearfield.parallel.compiled import jit


@jit
def stiffened(lo, hi, axes, indptr, indices, k, rate, x, out):
    """The product (1 + rate L) x, with L the Laplacian of the stiffness k."""
    two, three = len(axes) == 2, len(axes) == 3
    for i in range(lo, hi):
        if two or three:
            a, b, c = 0.0, 0.0, 0.0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                a += k[e] * (x[i, 0] - x[j, 0])
                b += k[e] * (x[i, 1] - x[j, 1])
                if three:
                    c += k[e] * (x[i, 2] - x[j, 2])
            out[i, 0] = x[i, 0] + rate * a
            out[i, 1] = x[i, 1] + rate * b
            if three:
                out[i, 2] = x[i, 2] + rate * c
            continue
        for d in range(x.shape[1]):
            a = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                a += k[e] * (x[i, d] - x[indices[e], d])
            out[i, d] = x[i, d] + rate * a


@jit
def stiffness(lo, hi, indptr, k, rate, out):
    """The diagonal of 1 + rate L."""
    for i in range(lo, hi):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += k[e]
        out[i] = 1.0 + rate * total
