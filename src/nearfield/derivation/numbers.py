"""The derived formulas as numbers: what the closed form gives at a map, against which it can be tested.

Nothing here is shared with the engines: weights, sums and springs are computed from the formulas alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from nearfield.algebra.parts import TINY
from nearfield.derivation.closed import TOTAL, Closed
from nearfield.derivation.links import (
    MASS_I,
    MASS_J,
    PRECISION,
    SHARE,
    D,
    F,
    P,
    Q,
    S,
    W,
    Z,
    letter,
    number,
)
from nearfield.typing import Array

Values = dict[sp.Symbol, Any]


def evaluate(closed: Closed, Y: Any, target: Any) -> tuple[Array, dict[str, Any]]:
    """The gradient, and the derivatives in the learned parameters, of the closed form at Y."""
    Y = np.asarray(Y, dtype=float)
    method = closed.links.method
    gaps = Y[:, None] - Y[None]
    with np.errstate(all="ignore"):
        values = _quantities(closed, np.sqrt((gaps**2).sum(-1)), np.asarray(target, dtype=float))
        scales = method.precisions
        each = [_of_scale(closed, values, beta) for beta in scales]
        if closed.links.normalized or closed.links.kernel is not None:
            shares = [scale[SHARE] for scale in each]
            values[Q] = np.mean(shares, axis=0)
            if method.normalization == "joint":
                values[Q] = (values[Q] + values[Q].T) / 2
        else:
            values[Q] = values[F]
        if closed.mixture is not None:
            values[Z] = number(closed.mixture, values)
        K, parameters = np.zeros(gaps.shape[:2]), dict.fromkeys(method.learned, 0.0)
        for scale in each:
            here = {**values, **scale}
            for symbol, term in closed.sums.items():
                here[symbol] = _summed(closed, _pairs(term, here))
            k = _pairs(closed.stiffness, here) / len(each)
            # Coincident points have no direction to be pulled in; duplicates (r = 0) count for nothing.
            k[~np.isfinite(k) & ((values[D] == 0) | (values[P] == 0))] = 0.0
            K += k
            for theta, rate in closed.learned.items():
                at = rate.xreplace({F: PRECISION * F}) if closed.links.scales else rate
                pairs = _pairs(closed.spring * at, here) / len(each)
                name = closed.links.names[theta]
                of_points = np.ndim(closed.links.values[theta]) > 0
                parameters[name] += pairs.sum(axis=1) if of_points else pairs.sum()
    return 2 * np.einsum("ij,ijc->ic", K + K.T, gaps), parameters


def _pairs(expression: sp.Expr, values: Values) -> Array:
    """An expression at every pair, even if it is the same at all of them."""
    return _off(np.broadcast_to(number(expression, values), values[D].shape))


def _off(values: Any) -> Array:
    """A matrix with nothing on its diagonal, where there are no pairs."""
    values = np.array(values, dtype=float)
    np.fill_diagonal(values, 0.0)
    return values


def _quantities(closed: Closed, d: Array, target: Array) -> Values:
    """What all scales have in common; on the diagonal, 1."""
    links, n = closed.links, len(d)
    method, one = links.method, np.eye(n)
    values: Values = {letter("N"): n}
    for symbol, value in links.values.items():
        values[symbol] = np.asarray(value)[:, None] if np.ndim(value) else float(value)
    d = d + one
    f = np.broadcast_to(number(links.transform, {**values, D: d}), d.shape)
    p = target
    if links.kernel is None:
        p = _off(np.broadcast_to(number(links.transform, {**values, D: p}), d.shape))
        if links.normalized:
            p = p / (p.sum() if method.normalization == "pair" else p.sum(axis=1, keepdims=True))
    else:
        mass = method.kernel.bound_to(p.sum(axis=1)).mass if method.kernel is not None else None
        if mass is not None:
            values[MASS_I], values[MASS_J] = mass[:, None], mass[None, :]
        i = np.arange(n)
        cost = method.cost.bound_to(p.sum(axis=1), n).between(i[:, None], i)
        for symbol in links.values:
            if links.names[symbol] in cost.facts.bound:
                values[symbol] = getattr(cost, links.names[symbol])
        p = np.maximum(p, getattr(method.cost, "floor", TINY) if links.floored else TINY)
    values[TOTAL] = _off(p).sum()
    return values | {D: d, F: f, P: p * (1 - one) + one}


def _of_scale(closed: Closed, values: Values, beta: float) -> Values:
    """Weights, their sums and their shares of them, of one precision."""
    links = closed.links
    if links.kernel is None:
        w = values[F]
    else:
        w = np.broadcast_to(number(links.kernel, {**values, F: beta * values[F]}), values[F].shape)
    if not links.normalized:
        return {W: w, SHARE: w, PRECISION: beta}
    total = _summed(closed, _off(w))
    return {W: w, S: total, SHARE: w / total, PRECISION: beta}


def _summed(closed: Closed, pairs: Array) -> Any:
    """The sum over a row, or over all pairs."""
    return pairs.sum(axis=1, keepdims=True) if closed.links.method.normalization == "point" else pairs.sum()
