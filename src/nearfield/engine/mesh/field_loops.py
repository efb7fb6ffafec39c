"""The hot loops of the mesh, compiled by Numba: points to grid and back, and sums over a spectrum.

Maps of one and two dimensions are treated as three-dimensional with axes of one cell: there the stencil has
one node of weight one. So one loop serves all three. Points are float32; sums are float64.
"""

import numpy as np

from nearfield.parallel.compiled import inlined, jit

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


@inlined
def place(Y, i, axes, origin, per_cell, first, w, d):
    """The first node and the weights along every axis for point i; axes that are missing come first."""
    missing = 3 - len(axes)
    for c in range(len(axes)):
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
def extent(Y, low, high):
    """The lowest and the highest coordinate of all points, along each axis."""
    for c in range(Y.shape[1]):
        least, most = Y[0, c], Y[0, c]
        for i in range(1, Y.shape[0]):
            y = Y[i, c]
            if y < least:
                least = y
            if y > most:
                most = y
        low[c], high[c] = least, most


@jit
def deposit(lo, hi, axes, Y, charges, origin, per_cell, grids):
    """Add the charges of some parts of the points to the nodes around them, each part to a grid of its own.

    The parts are of equal length, as many as there are grids; no charges stand for ones.
    """
    n, parts = Y.shape[0], grids.shape[0]
    for part in range(lo, hi):
        grids[part] = f32(0)
        add_charges(
            n * part // parts, n * (part + 1) // parts, axes, Y, charges, origin, per_cell, grids[part]
        )


@inlined
def add_charges(lo, hi, axes, Y, charges, origin, per_cell, grid):
    """Add the charges of the points from lo to hi to the nodes around them."""
    first, w, d = stencil()
    deep = NODES if len(axes) > 2 else 1
    high = NODES if len(axes) > 1 else 1
    uniform = charges.shape[0] == 0
    for i in range(lo, hi):
        place(Y, i, axes, origin, per_cell, first, w, d)
        charge = f32(1) if uniform else charges[i]
        for a in range(deep):
            for b in range(high):
                c = charge * w[0, a] * w[1, b]
                row = grid[first[0] + a, first[1] + b]
                start = np.uint64(first[2])
                for e in range(NODES):
                    row[start + np.uint64(e)] += c * w[2, e]


@jit
def gather(lo, hi, axes, Y, origin, per_cell, grid, value, gradient):
    """The potential and its gradient at the points, by the spline and its analytic derivative."""
    first, w, d = stencil()
    dimensions = len(axes)
    deep = NODES if dimensions > 2 else 1
    high = NODES if dimensions > 1 else 1
    for i in range(lo, hi):
        place(Y, i, axes, origin, per_cell, first, w, d)
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
                start = np.uint64(first[2])
                r = f32(0)
                s = f32(0)
                for e in range(NODES):
                    z = row[start + np.uint64(e)]
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
def filtered(lo, hi, transformed, factor, spectrum, out, add):
    """Rows lo … hi of factor times ρ̂ ŵ, put into or added to what is there."""
    scale = f32(factor)
    for a in range(lo, hi):
        rho, w, row = transformed[a], spectrum[a], out[a]
        if add:
            for c in range(w.shape[0]):
                row[c] += rho[c] * (scale * w[c])
        else:
            for c in range(w.shape[0]):
                row[c] = rho[c] * (scale * w[c])


@jit
def energy(lo, hi, transformed, spectrum):
    """Σ |ρ̂|² ŵ over rows of a half spectrum: what Σ_ij w_ij is, by Parseval's theorem.

    All columns but the first and the last stand for two (lengths are even).
    """
    total = 0.0
    columns = spectrum.shape[1]
    for a in range(lo, hi):
        row, weights = transformed[a], spectrum[a]
        part = 0.0
        for c in range(columns):
            z = row[c]
            part += weights[c] * (z.real * z.real + z.imag * z.imag)
        z = row[0]
        part -= 0.5 * weights[0] * (z.real * z.real + z.imag * z.imag)
        z = row[columns - 1]
        part -= 0.5 * weights[columns - 1] * (z.real * z.real + z.imag * z.imag)
        total += part
    return 2.0 * total


@jit
def sort_into_cells(Y, origin, per_cell, shape, cells, starts, order, ordered, columns):
    """Points in the order of the cells they lie in: their order, where each cell starts in it, and they."""
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
        at = starts[cell]
        starts[cell] += 1
        order[at] = i
        for c in range(dimensions):
            ordered[at, c] = Y[i, c]
            columns[c, at] = Y[i, c]
    for cell in range(starts.shape[0] - 1, 0, -1):
        starts[cell] = starts[cell - 1]
    starts[0] = 0


@jit
def put_back(lo, hi, order, value, gradient, value_there, gradient_there):
    """Potential and gradient of sorted points in the order that the points had before."""
    for at in range(lo, hi):
        i = order[at]
        value_there[i] = value[at]
        for c in range(gradient.shape[1]):
            gradient_there[i, c] = gradient[at, c]
