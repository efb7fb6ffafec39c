"""The cost of a new point's own row, as a function of its place: for maps of several scales.

The row is normalized by itself, scale by scale, over the points that it is tied to, each of which stands for
so many: q̄_j = (1/U) Σ_u w_uj/S_u with S_u = Σ_j c_j w_uj. What the other rows would say of the point is left
out; of N rows its own is the one that tells where it belongs. No field is needed, and kernels may be as
narrow as they like.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.affinity.fitted import Ties
from nearfield.algebra.kernels.base import Kernel
from nearfield.algebra.method import Method
from nearfield.engine.surroundings import squares
from nearfield.typing import Array

LEAST = 1e-300  # of q, whose logarithm is taken


class OwnRowCost:
    """The cost of new points' own rows, each on its own, in a map that is held.

    Parameters
    ----------
    method : Method
        Whose cost it is, with the precisions of its scales.
    Y : array (points, dimensions)
        The map.
    ties : Ties
        What ties the points to it.
    attraction : float
        How many times as strong it is as in the method itself, which then has one scale.
    """

    def __init__(self, method: Method, Y: Array, ties: Ties, attraction: float = 1.0) -> None:
        self.method, self.Y, self.indices, self.attraction = method, Y, ties.indices, attraction
        self.there = np.isfinite(ties.squared)
        self.multiplicity = np.where(self.there, ties.multiplicity, 0.0)
        rows = (self.multiplicity * ties.ahead).sum(axis=1, keepdims=True)
        self.p = ties.ahead / np.where(rows > 0, rows, 1.0)
        self.kernel = _of_neighbours(method.require_kernel().profile, ties)

    def at(self, rows: Any, y: Array) -> tuple[Array, Array, Array]:
        """Value and gradient of some of the points at y, and the stiffness of what holds them there."""
        cost, c, p = self.method.cost, self.multiplicity[rows], self.p[rows]
        gaps = y[:, None, :] - self.Y[self.indices[rows]]
        f, slope = self.method.transform.of_square(squares(gaps))
        kernel = self.kernel.between(rows, None)
        shares, rates = [], []  # q and the derivative of log w in the squared distance, of each scale
        for precision in self.method.precisions:
            log = np.where(self.there[rows], kernel.log(precision * f), -np.inf)
            w = np.exp(log - log.max(axis=1, keepdims=True))
            shares.append(w / (c * w).sum(axis=1, keepdims=True))
            rates.append(precision * kernel.log_derivative(precision * f) * slope)
        scales = len(shares)
        q = np.maximum(sum(shares) / scales, LEAST)
        G = cost.derivative(p, q)
        value = (c * cost.value(p, q)).sum(axis=1)
        k = np.zeros_like(q)
        for share, rate in zip(shares, rates, strict=True):
            mean = (c * G * share).sum(axis=1, keepdims=True)
            k += 2 * c * share * rate * (G - mean) / scales
        if self.attraction != 1:
            more = (1 - self.attraction) * c * p
            value += (more * np.where(more != 0, kernel.log(f), 0.0)).sum(axis=1)
            k += 2 * more * rates[0]
        pulls = [(k * gaps[..., axis]).sum(axis=1) for axis in range(y.shape[1])]
        return value, np.stack(pulls, axis=1), np.abs(k).sum(axis=1)


def _of_neighbours(kernel: Kernel, ties: Ties) -> Kernel:
    """The kernel with parameters of the new points: the means of their neighbours', by p."""
    share = ties.multiplicity * ties.ahead
    share = share / np.maximum(share.sum(axis=1, keepdims=True), LEAST)
    return kernel.mapped(lambda values: (share * values[ties.indices]).sum(axis=1)[:, None])
