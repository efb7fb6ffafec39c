"""Projections of rows, compiled by Numba: each row in one fixed order, unlike a product of matrices."""

from nearfield.parallel.compiled import ordered_jit


@ordered_jit
def project(lo, hi, X, centre, axes, out):
    """Of some rows, without the centre, on all axes."""
    for i in range(lo, hi):
        out[i, :] = 0.0
        for c in range(X.shape[1]):
            gap = X[i, c] - centre[c]
            if gap != 0.0:
                for a in range(axes.shape[1]):
                    out[i, a] += gap * axes[c, a]
