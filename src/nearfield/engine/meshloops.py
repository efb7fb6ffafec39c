"""The hot loops of the mesh, compiled by Numba: points to grid and back, and sums over a spectrum.

Maps of one and two dimensions are treated as three-dimensional with axes of one cell: there the stencil has
one node of weight one. So one loop serves all three. Points are float32; sums are float64.
"""

import numba
import numpy as np

jit = numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})
f32 = np.float32
NODES = 4  # of a cubic B-spline along an axis


@jit
def spline(s, w, d):
    """The cubic B-spline's four weights at the fraction s of a cell, and their derivatives."""
    one, two, three, four, six = f32(1), f32(2), f32(3), f32(4), f32(6)
    t, s2, s3 = one - s, s * s, s * s * s
    w[0] = t * t * t / six
    w[1] = (four - six * s2 + three * s3) / six
    w[2] = (one + three * (s + s2 - s3)) / six
    w[3] = s3 / six
    d[0] = -t * t / two
    d[1] = (three * s2 - four * s) / two
    d[2] = (one + two * s - three * s2) / two
    d[3] = s2 / two


@jit
def place(Y, i, origin, per_cell, first, w, d):
    """The first node and the weights along every axis for point i; axes that are missing come first."""
    dimensions = Y.shape[1]
    missing = 3 - dimensions
    for c in range(dimensions):
        u = (Y[i, c] - origin[c]) * per_cell
        cell = int(u)
        first[missing + c] = cell
        spline(u - f32(cell), w[missing + c], d[missing + c])


@jit
def stencil():
    """Buffers of a stencil: first nodes, weights and derivatives; a missing axis has one node of weight 1."""
    first = np.zeros(3, np.int64)
    w = np.zeros((3, NODES), f32)
    d = np.zeros((3, NODES), f32)
    w[:, 0] = f32(1)
    return first, w, d


@jit
def deposit(Y, charges, origin, per_cell, grid):
    """Add every point's charge to the nodes around it; no charges stand for ones."""
    first, w, d = stencil()
    dimensions = Y.shape[1]
    deep = NODES if dimensions > 2 else 1
    high = NODES if dimensions > 1 else 1
    uniform = charges.shape[0] == 0
    for i in range(Y.shape[0]):
        place(Y, i, origin, per_cell, first, w, d)
        charge = f32(1) if uniform else charges[i]
        for a in range(deep):
            for b in range(high):
                c = charge * w[0, a] * w[1, b]
                row = grid[first[0] + a, first[1] + b]
                for e in range(NODES):
                    row[first[2] + e] += c * w[2, e]


@jit
def gather(lo, hi, Y, origin, per_cell, grid, value, gradient):
    """The potential and its gradient at the points, by the spline and its analytic derivative."""
    first, w, d = stencil()
    dimensions = Y.shape[1]
    deep = NODES if dimensions > 2 else 1
    high = NODES if dimensions > 1 else 1
    for i in range(lo, hi):
        place(Y, i, origin, per_cell, first, w, d)
        v = f32(0)
        g0 = f32(0)
        g1 = f32(0)
        g2 = f32(0)
        for a in range(deep):
            plain = f32(0)
            along = f32(0)
            across = f32(0)
            for b in range(high):
                row = grid[first[0] + a, first[1] + b]
                r = f32(0)
                s = f32(0)
                for e in range(NODES):
                    z = row[first[2] + e]
                    r += w[2, e] * z
                    s += d[2, e] * z
                plain += w[1, b] * r
                along += w[1, b] * s
                across += d[1, b] * r
            v += w[0, a] * plain
            g2 += w[0, a] * along
            g1 += w[0, a] * across
            g0 += d[0, a] * plain
        value[i] = v
        gradient[i, dimensions - 1] = g2 * per_cell
        if dimensions > 1:
            gradient[i, dimensions - 2] = g1 * per_cell
        if dimensions > 2:
            gradient[i, 0] = g0 * per_cell


@jit
def energy(lo, hi, transformed, spectrum, last):
    """Σ |ρ̂|² ŵ over rows of a half spectrum: what Σ_ij w_ij is, by Parseval's theorem.

    All columns but the first and, for an even length, the last stand for two.
    """
    total = 0.0
    columns = spectrum.shape[2]
    for a in range(lo, hi):
        for b in range(spectrum.shape[1]):
            row, weights = transformed[a, b], spectrum[a, b]
            part = 0.0
            for c in range(columns):
                z = row[c]
                part += weights[c] * (z.real * z.real + z.imag * z.imag)
            z = row[0]
            part -= 0.5 * weights[0] * (z.real * z.real + z.imag * z.imag)
            if last:
                z = row[columns - 1]
                part -= 0.5 * weights[columns - 1] * (z.real * z.real + z.imag * z.imag)
            total += part
    return 2.0 * total


@jit
def sort_into_cells(Y, origin, per_cell, shape, cells, starts, order):
    """Points in the order of the cells they lie in: order, and where each cell starts in it."""
    n, dimensions = Y.shape
    starts[:] = 0
    for i in range(n):
        cell = 0
        for c in range(dimensions):
            cell = cell * shape[c] + int((Y[i, c] - origin[c]) * per_cell)
        cells[i] = cell
        starts[cell + 1] += 1
    for cell in range(starts.shape[0] - 1):
        starts[cell + 1] += starts[cell]
    for i in range(n):
        cell = cells[i]
        order[starts[cell]] = i
        starts[cell] += 1
    for cell in range(starts.shape[0] - 1, 0, -1):
        starts[cell] = starts[cell - 1]
    starts[0] = 0


@jit
def near(lo, hi, Yt, charges, cells, starts, shape, per_unit, tables, slopes, value, gradient):
    """Short-ranged sums over the cells around each point, of each table: Σ_j c_j R(f_ij) and its gradient.

    Points are sorted by cell, so that the cells of a row are one range of them. Tables hold R and R' at
    equal steps of f and end in zeros; a point finds itself among the others, at R(0).
    """
    dimensions = Yt.shape[0]
    count, entries = tables.shape
    last = f32(entries - 2)
    nx = shape[2]
    longest = 0
    for cell in range(starts.shape[0] - 1):
        longest = max(longest, starts[min(cell + 3, starts.shape[0] - 1)] - starts[cell])
    f, pulls = np.empty(longest, f32), np.empty(longest, f32)
    for i in range(lo, hi):
        cell = cells[i]
        x, y, z = cell % nx, (cell // nx) % shape[1], cell // (nx * shape[1])
        for u in range(max(z - 1, 0), min(z + 2, shape[0])):
            for v in range(max(y - 1, 0), min(y + 2, shape[1])):
                row = (u * shape[1] + v) * nx
                start = starts[row + max(x - 1, 0)]
                m = starts[row + min(x + 1, nx - 1) + 1] - start
                for e in range(m):
                    f[e] = f32(0)
                for c in range(dimensions):
                    here, others = Yt[c, i], Yt[c, start : start + m]
                    for e in range(m):
                        gap = here - others[e]
                        f[e] += gap * gap
                weights = charges[start : start + m]
                for t in range(count):
                    table, slope = tables[t], slopes[t]
                    total = f32(0)
                    for e in range(m):
                        at = min(f[e] * per_unit, last)
                        k = np.uint32(at)  # unsigned, so that no index is taken to count from the end
                        rest = at - f32(k)
                        following = k + np.uint32(1)
                        total += weights[e] * (table[k] + rest * (table[following] - table[k]))
                        pulls[e] = f32(2) * weights[e] * (slope[k] + rest * (slope[following] - slope[k]))
                    value[t, i] += total
                    for c in range(dimensions):
                        here, others = Yt[c, i], Yt[c, start : start + m]
                        pull = f32(0)
                        for e in range(m):
                            pull += pulls[e] * (here - others[e])
                        gradient[t, i, c] += pull


@jit
def tail_edges(lo, hi, indptr, indices, p, Y, alpha, beta, want_value, gradient):
    """Σ_e p β/(1+αβf) (y_i - y_j) for each row, and -Σ p log w.

    Neighbours' coordinates are gathered first, so that the arithmetic on them vectorises.
    """
    dimensions = Y.shape[1]
    longest = 0
    for i in range(lo, hi):
        longest = max(longest, indptr[i + 1] - indptr[i])
    gaps = np.empty((dimensions, longest), f32)
    x = np.empty(longest, f32)
    scale = f32(alpha * beta)
    strength = f32(beta)
    crossed = 0.0
    for i in range(lo, hi):
        start = indptr[i]
        m = indptr[i + 1] - start
        columns, weights = indices[start : start + m], p[start : start + m]
        for c in range(dimensions):
            y, gap = Y[i, c], gaps[c]
            for e in range(m):
                gap[e] = y - Y[columns[e], c]
        for e in range(m):
            x[e] = gaps[0, e] * gaps[0, e]
        for c in range(1, dimensions):
            gap = gaps[c]
            for e in range(m):
                x[e] += gap[e] * gap[e]
        if want_value:
            part = f32(0)
            if alpha > 0.0:
                for e in range(m):
                    part += weights[e] * np.log(f32(1) + scale * x[e])
                crossed += part / alpha
            else:
                for e in range(m):
                    part += weights[e] * x[e]
                crossed += part * beta
        for e in range(m):
            x[e] = weights[e] * strength / (f32(1) + scale * x[e])
        for c in range(dimensions):
            gap = gaps[c]
            pull = f32(0)
            for e in range(m):
                pull += x[e] * gap[e]
            gradient[i, c] = pull
    return crossed


@jit
def edge_distances(lo, hi, indptr, indices, Y, out):
    """|y_i - y_j|² of the edges of rows lo … hi."""
    dimensions = Y.shape[1]
    base = indptr[lo]
    for i in range(lo, hi):
        start = indptr[i]
        m = indptr[i + 1] - start
        columns, x = indices[start : start + m], out[start - base : start - base + m]
        x[:] = f32(0)
        for c in range(dimensions):
            y = Y[i, c]
            for e in range(m):
                gap = y - Y[columns[e], c]
                x[e] += gap * gap


@jit
def edge_springs(lo, hi, indptr, indices, Y, k, gradient):
    """Add 2 Σ_e k_e (y_i - y_j) at i, and its counterpart at j."""
    dimensions = Y.shape[1]
    base = indptr[lo]
    for i in range(lo, hi):
        for c in range(dimensions):
            y = Y[i, c]
            total = f32(0)
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                pull = f32(2) * k[e - base] * (y - Y[j, c])
                total += pull
                gradient[j, c] -= pull
            gradient[i, c] += total


@jit
def row_sums(lo, hi, indptr, values, out):
    """The sum of the edges' values of each row."""
    base = indptr[lo]
    for i in range(lo, hi):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += values[e - base]
        out[i] = total
