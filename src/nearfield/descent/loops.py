"""What is done to all variables at every iteration, and to rows before the first, compiled by Numba."""

import numpy as np

from nearfield.parallel.compiled import ordered_jit

# Steps are stable where rate × stiffness is below 2 (1 + m)/(1 + 2 LOOK_AHEAD m): some 4 for the heavy ball,
# which damps nothing, 4/3 for Nesterov's, and 8/3 for this: an eighth off a stiff mode at every step.
LOOK_AHEAD = 0.25


@ordered_jit
def gained_step(gradient, rate, momentum, z, velocity, gains):
    """Gains grow where gradient and velocity agree on the way down, and shrink where they do not."""
    for k in range(len(z)):
        g, v = gradient[k], velocity[k]
        gain = gains[k] * 0.8 if np.sign(g) == np.sign(v) else gains[k] + 0.2
        gains[k] = max(gain, 0.01)
        velocity[k] = momentum * v - rate[k] * gains[k] * g
        z[k] += velocity[k]


@ordered_jit
def accelerated_step(gradient, rate, momentum, z, velocity):
    """A step that looks ahead by a share of what the velocity changes: 0 is the heavy ball, 1 Nesterov's."""
    for k in range(len(z)):
        before = velocity[k]
        velocity[k] = momentum * before - rate[k] * gradient[k]
        z[k] += velocity[k] + LOOK_AHEAD * momentum * (velocity[k] - before)


@ordered_jit
def totals(Y, weights):
    """The sum of the points along each axis, and behind them the weights'; one weight is that of all."""
    one, found = len(weights) == 1, np.zeros(Y.shape[1] + 1)
    for c in range(Y.shape[1]):
        total, mass = 0.0, 0.0
        for i in range(Y.shape[0]):
            weight = weights[0 if one else i]
            total += weight * Y[i, c]
            mass += weight
        found[c], found[-1] = total, mass
    return found


@ordered_jit
def shift(Y, totals):
    """Move the points so that their mean is zero, by the totals of all."""
    for c in range(Y.shape[1]):
        mean = totals[c] / totals[-1]
        for i in range(Y.shape[0]):
            Y[i, c] -= mean


@ordered_jit
def project(lo, hi, X, centre, axes, out):
    """Project rows without the centre on axes, each in one fixed order, unlike a product of matrices."""
    for i in range(lo, hi):
        out[i, :] = 0.0
        for c in range(X.shape[1]):
            gap = X[i, c] - centre[c]
            if gap != 0.0:
                for a in range(axes.shape[1]):
                    out[i, a] += gap * axes[c, a]
