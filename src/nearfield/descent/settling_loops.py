"""The hot loop that settles new points under a cross-entropy with a heavy tail, compiled by Numba.

One row at a time from its start to where it rests, in float64: nothing of it depends on the rows beside.
It is what `nearfield.descent.settling.settle` does to any cost, whose result is the same but for rounding.
"""

import numpy as np

from nearfield.engine.arithmetic import logarithm64
from nearfield.engine.mesh.laid_loops import read_one, stencil
from nearfield.parallel.compiled import inlined, jit


@inlined
def summed_one(place, Y, charges, factor, alpha, beta, gradient):
    """The potential at a place beyond the grid, point by point, and its gradient."""
    value = 0.0
    gradient[:] = 0.0
    for j in range(Y.shape[0]):
        s = 0.0
        for c in range(Y.shape[1]):
            gap = place[c] - Y[j, c]
            s += gap * gap
        if alpha == 1.0:  # Student's, by far the most usual, needs no power
            w = 1.0 / (1.0 + beta * s)
            rate = -beta * w
        elif alpha > 0.0:
            w, rate = (1.0 + alpha * beta * s) ** (-1.0 / alpha), -beta / (1.0 + alpha * beta * s)
        else:
            w, rate = np.exp(-beta * s), -beta
        w *= factor * charges[j] if len(charges) else factor
        value += w
        for c in range(Y.shape[1]):
            gradient[c] += 2.0 * w * rate * (place[c] - Y[j, c])
    return value


@inlined
def cost_at(place, there, p, level, kernel, field, buffers, gradient):
    """Value and stiffness of one point at a place, and its gradient."""
    alpha, beta = kernel
    Y, charges, factor, origin, per_cell, grids, levels = field
    gaps, lengths, springs, first, w, d, value, force = buffers
    dimensions, m = there.shape
    inside = grids.shape[0] > 0
    for c in range(dimensions):
        if inside:
            u = (place[c] - origin[c]) * per_cell
            inside = 0.0 <= u < grids.shape[4 - dimensions + c] - 4
    if inside:
        read_one(place, origin, per_cell, grids, levels, first, w, d, value, force)
    else:
        value[0] = summed_one(place, Y, charges, factor, alpha, beta, force[0])
    for e in range(m):
        lengths[e] = 0.0
    for c in range(dimensions):
        here, along, to = place[c], gaps[c], there[c]
        for e in range(m):
            along[e] = here - to[e]
            lengths[e] += along[e] * along[e]
    stiffness, crossed = 0.0, 0.0
    for e in range(m):
        lengths[e] = 1.0 + alpha * beta * lengths[e]
        springs[e] = p[e] * beta / lengths[e]
        stiffness += springs[e]
    for c in range(dimensions):
        along, pull = gaps[c], 0.0
        for e in range(m):
            pull += springs[e] * along[e]
        gradient[c] = 4.0 * pull + force[0, c]
    if alpha > 0.0:
        logarithm64(lengths)
        for e in range(m):
            crossed += p[e] * lengths[e]
        crossed /= alpha
    else:
        for c in range(dimensions):
            for e in range(m):
                crossed += springs[e] * gaps[c, e] * gaps[c, e]
    return level + 2.0 * crossed + value[0], 4.0 * stiffness


@inlined
def up_to(places, weights, limit):
    """How many places do not exceed a limit, and their weight."""
    count, share = 0, 0.0
    for e in range(len(places)):
        count += places[e] <= limit
        share += weights[e] if places[e] <= limit else 0.0
    return count, share


@inlined
def middle(places, weights):
    """The weighted median: the first place up to which half of the weight lies.

    What it may be is halved until one is left, or equal ones: that is quicker than to put all in order.
    """
    low, high = np.min(places), np.max(places)
    below, least = up_to(places, weights, low)
    within, total = up_to(places, weights, high)
    if least >= 0.5 * total:
        return low
    while within - below > 1:
        between = low + 0.5 * (high - low)
        if not low < between < high:
            break
        count, share = up_to(places, weights, between)
        if share >= 0.5 * total:
            high, within = between, count
        else:
            low, below = between, count
    for e in range(len(places)):
        if low < places[e] <= high:
            return places[e]
    return high


@inlined
def joint(ahead, back, multiplicity, n, S, p, logs):
    """The p of both directions of one point, of all copies, and the part of its cost that no place changes.

    Of a point that no other sees, p is its own twice.
    """
    m, seen, level = len(p), 0.0, 0.0
    for e in range(m):
        seen = max(seen, back[e])
    for e in range(m):
        p[e] = (ahead[e] + (back[e] if seen > 0.0 else ahead[e])) / (2.0 * n)
        logs[e] = max(p[e], 1e-300) * S
        p[e] *= multiplicity[e]
    logarithm64(logs)
    for e in range(m):
        level += p[e] * logs[e]
    return 2.0 * level


@jit
def settle_tails(lo, hi, indices, ahead, back, multiplicity, whole, kernel, field, limits, found, costs):
    """Where some points come to rest, and their costs there; `limits` are those of `settle`.

    Of the `whole` map are given the number of points, S and the attraction.
    """
    width, many_starts, passes, rests, longest, enough, shorter = limits
    Y = field[0]
    dimensions, m = Y.shape[1], indices.shape[1]
    first, w, d = stencil()
    value, force = np.empty(1), np.empty((1, dimensions))
    buffers = (np.empty((dimensions, m)), np.empty(m), np.empty(m), first, w, d, value, force)
    there, tied, own, p = np.empty((dimensions, m)), np.empty(m), np.empty(m), np.empty(m)
    y, step, change, turned = np.empty((4, dimensions))
    gradient, after, H = np.empty(dimensions), np.empty(dimensions), np.empty((dimensions, dimensions))
    for i in range(lo, hi):
        for e in range(m):
            tied[e] = ahead[i, e] + back[i, e]
            own[e] = multiplicity[i, e] * ahead[i, e]
            for c in range(dimensions):
                there[c, e] = Y[indices[i, e], c]
        level = joint(ahead[i], back[i], multiplicity[i], whole[0], whole[1], p, buffers[1])
        for e in range(m):  # but not in the level, which p log p is in
            p[e] *= whole[2]
        for c in range(dimensions):
            y[c] = middle(there[c], own)
        least, stiffness = cost_at(y, there, p, level, kernel, field, buffers, gradient)
        for _ in range(min(many_starts, m)):
            most = np.argmax(tied)
            tied[most] = -1.0
            step[:] = there[:, most]
            cost, stiff = cost_at(step, there, p, level, kernel, field, buffers, after)
            if cost < least:
                least, stiffness = cost, stiff
                y[:], gradient[:] = step, after
        steepness = 0.0
        for c in range(dimensions):
            steepness += gradient[c] * gradient[c]
        H[:] = 0.0
        for c in range(dimensions):
            H[c, c] = 1.0 / max(stiffness, np.sqrt(steepness) / (longest * width), 1e-300)
        share = 1.0
        for _ in range(passes):
            slope, length = 0.0, 0.0
            for a in range(dimensions):
                step[a] = 0.0
                for b in range(dimensions):
                    step[a] -= H[a, b] * gradient[b]
                slope += step[a] * gradient[a]
                length += step[a] * step[a]
            length = np.sqrt(length)
            scale = share * min(1.0, longest * width / max(length, 1e-300))
            if not (scale * length > rests * width and slope < 0.0 and np.isfinite(slope)):
                break
            for c in range(dimensions):
                step[c] *= scale
                y[c] += step[c]
            cost, _stiff = cost_at(y, there, p, level, kernel, field, buffers, after)
            if not cost <= least + enough * scale * slope:
                for c in range(dimensions):
                    y[c] -= step[c]
                share *= shorter
                continue
            share, along, steps, changes = 1.0, 0.0, 0.0, 0.0
            for c in range(dimensions):
                change[c] = after[c] - gradient[c]
                along += step[c] * change[c]
                steps += step[c] * step[c]
                changes += change[c] * change[c]
            if along > 1e-12 * np.sqrt(steps * changes):
                bend = 0.0
                for a in range(dimensions):
                    turned[a] = 0.0
                    for b in range(dimensions):
                        turned[a] += H[a, b] * change[b]
                    bend += change[a] * turned[a]
                factor = (1.0 + bend / along) / along
                for a in range(dimensions):
                    for b in range(dimensions):
                        H[a, b] += factor * step[a] * step[b]
                        H[a, b] -= (step[a] * turned[b] + turned[a] * step[b]) / along
            least = cost
            gradient[:] = after
        found[i], costs[i] = y, least
