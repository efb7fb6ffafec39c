"""The update of momentum in one pass over the variables, compiled by Numba."""

import numba
import numpy as np

jit = numba.njit(nogil=True, cache=True, error_model="numpy")


@jit
def momentum_step(gradient, rate, momentum, z, velocity, gains):
    """Gains grow where gradient and velocity agree on the way down, and shrink where they do not."""
    for k in range(len(z)):
        g, v = gradient[k], velocity[k]
        gain = gains[k] * 0.8 if np.sign(g) == np.sign(v) else gains[k] + 0.2
        gains[k] = max(gain, 0.01)
        velocity[k] = momentum * v - rate[k] * gains[k] * g
        z[k] += velocity[k]
