"""The hot loop of the near sums, compiled by Numba: what points within a cutoff add to the grid's field.

Points are float32 and sorted by cell; those around a cell are copied side by side, so that the arithmetic on
them vectorises. `axes` has as many items as there are dimensions: a tuple, so that the compiler knows their
number.
"""

import numpy as np

from nearfield.parallel.compiled import inlined, jit

f32 = np.float32
SMALL = f32(1e-20)  # in place of a distance of zero
LANES = 16  # float32 numbers that the widest vectors hold


@inlined
def polynomial(coefficients, v, m, out):
    """The polynomial, highest power first, at the first m numbers of v.

    Four powers at a time: what is computed so far is then read and written a fourth as often.
    """
    length = coefficients.shape[0]
    first = coefficients[0]
    if length == 1:
        out[:m] = first
        return
    second = coefficients[1]
    for e in range(m):
        out[e] = first * v[e] + second
    k = 2
    while (length - k) % 4:
        following = coefficients[k]
        for e in range(m):
            out[e] = out[e] * v[e] + following
        k += 1
    while k < length:
        c0, c1, c2, c3 = coefficients[k], coefficients[k + 1], coefficients[k + 2], coefficients[k + 3]
        for e in range(m):
            x = v[e]
            out[e] = (((out[e] * x + c0) * x + c1) * x + c2) * x + c3
        k += 4


@inlined
def crowd(cell, starts, shape):
    """How many points lie in a cell and those around it."""
    nx = shape[2]
    x, y, z = cell % nx, (cell // nx) % shape[1], cell // (nx * shape[1])
    total = 0
    for u in range(max(z - 1, 0), min(z + 2, shape[0])):
        for v in range(max(y - 1, 0), min(y + 2, shape[1])):
            row = (u * shape[1] + v) * nx
            total += starts[row + min(x + 1, nx - 1) + 1] - starts[row + max(x - 1, 0)]
    return total


@jit
def near(
    lo,
    hi,
    axes,
    Yt,
    mine,
    masses,
    own,
    starts,
    shape,
    edge,
    variables,
    heads,
    slopes,
    tails,
    valued,
    forced,
    value,
    gradient,
):
    """Short-ranged sums for the points of cells lo … hi, of several functions: Σ_j m_j R(f_ij), its gradient.

    R(f) = A(v) - T(f - edge) up to the edge, and zero beyond: A and T are polynomials, highest power first,
    `slopes` is A', and v = stretch/(1 + scale f) + shift, or √f for f in it, each function's own. Where
    points have charges of their `own`, the force is that of both ends, Σ_j m_j (own_i + own_j) ∇R(f_ij).
    Only what is asked for is computed: values, forces or both; and of those points only that are `mine`, or
    of all if it is empty.
    """
    nx = shape[2]
    two, three = len(axes) > 1, len(axes) > 2
    mutual, some = own.shape[0] > 0, mine.shape[0] > 0
    longest = LANES
    for cell in range(lo, hi):
        if starts[cell + 1] > starts[cell]:
            longest = max(longest, crowd(cell, starts, shape) + LANES)
    near_x, near_y, near_z = np.empty(longest, f32), np.empty(longest, f32), np.empty(longest, f32)
    weights, charges = np.empty(longest, f32), np.zeros(longest, f32)
    f, u, v, a = (
        np.empty(longest, f32),
        np.empty(longest, f32),
        np.empty(longest, f32),
        np.empty(longest, f32),
    )
    for cell in range(lo, hi):
        if starts[cell + 1] == starts[cell]:
            continue
        x, y, z = cell % nx, (cell // nx) % shape[1], cell // (nx * shape[1])
        m = 0
        for high in range(max(z - 1, 0), min(z + 2, shape[0])):
            for deep in range(max(y - 1, 0), min(y + 2, shape[1])):
                row = (high * shape[1] + deep) * nx
                for e in range(starts[row + max(x - 1, 0)], starts[row + min(x + 1, nx - 1) + 1]):
                    near_x[m] = Yt[0, e]
                    if two:
                        near_y[m] = Yt[1, e]
                    if three:
                        near_z[m] = Yt[2, e]
                    weights[m] = masses[e]
                    if mutual:
                        charges[m] = own[e]
                    m += 1
        while m % LANES:  # points without mass, so that no vector is left half full
            near_x[m], near_y[m], near_z[m], weights[m] = near_x[0], near_y[0], near_z[0], f32(0)
            m += 1
        for i in range(starts[cell], starts[cell + 1]):
            if some and not mine[i]:
                continue
            here_x = Yt[0, i]
            here_y = Yt[1, i] if two else f32(0)
            here_z = Yt[2, i] if three else f32(0)
            here = own[i] if mutual else f32(1)
            for e in range(m):
                x_gap = here_x - near_x[e]
                y_gap = here_y - near_y[e] if two else f32(0)
                z_gap = here_z - near_z[e] if three else f32(0)
                f[e] = min(x_gap * x_gap + y_gap * y_gap + z_gap * z_gap, edge)
            for t in range(heads.shape[0]):
                rooted, scale = variables[t, 0] > 0, variables[t, 1]
                stretch, shift = variables[t, 2], variables[t, 3]
                t3, t2, t1, t0 = tails[t, 0], tails[t, 1], tails[t, 2], tails[t, 3]
                for e in range(m):
                    u[e] = f32(1) / (f32(1) + scale * (np.sqrt(f[e]) if rooted else f[e]))
                    v[e] = stretch * u[e] + shift
                if valued:
                    polynomial(heads[t], v, m, a)
                    total = f32(0)
                    for e in range(m):
                        g = f[e] - edge
                        total += weights[e] * (a[e] - (((t3 * g + t2) * g + t1) * g + t0))
                    value[t, i] = total
                if not forced:
                    continue
                polynomial(slopes[t], v, m, a)
                # Twice dv/df over u², or that over the distance.
                down = (f32(-1) if rooted else f32(-2)) * scale * stretch
                pull_x, pull_y, pull_z = f32(0), f32(0), f32(0)
                for e in range(m):
                    g = f[e] - edge
                    chain = down * u[e] * u[e]
                    if rooted:
                        chain /= np.sqrt(f[e]) + SMALL
                    tail = (f32(6) * t3 * g + f32(4) * t2) * g + f32(2) * t1
                    pull = weights[e] * (here + charges[e]) * (chain * a[e] - tail)
                    pull_x += pull * (here_x - near_x[e])
                    pull_y += pull * (here_y - near_y[e]) if two else f32(0)
                    pull_z += pull * (here_z - near_z[e]) if three else f32(0)
                gradient[t, i, 0] = pull_x
                if two:
                    gradient[t, i, 1] = pull_y
                if three:
                    gradient[t, i, 2] = pull_z
