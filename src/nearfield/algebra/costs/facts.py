"""The facts of a cost: what engines, plan and schedule know of it, above all its limit at p = 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.algebra.parts import TINY


@dataclass(frozen=True)
class LimitTerm:
    """One separable term c(S) g(w) of the limit G0(w/S) of ∂C/∂q as p → 0.

    Attributes
    ----------
    coefficient : callable
        c, a function of the normalizing sum S (which is 1 for bare weights).
    slope : callable
        g, a function of the weight w.
    integral : callable
        H with H' = g, so that H(w(f)) is the potential whose gradient is the force of this term.
    constant : bool
        Whether g is 1, and H therefore w itself.
    grows : bool
        Whether H is unbounded as w → 0, so that far pairs repel the most.
    """

    coefficient: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    integral: Callable[[Any], Any]
    constant: bool = False
    grows: bool = False


def power_term(c: float, m: float = 0.0) -> LimitTerm:
    """The term c q^m; with m = 0 a constant."""
    return LimitTerm(
        (lambda S: c * np.power(S, -m)) if m else (lambda S: c),
        lambda w: np.power(w, m),
        (lambda w: np.log(w)) if m == -1 else (lambda w: np.power(w, m + 1) / (m + 1)),
        constant=m == 0,
        grows=m <= -1,
    )


def log_terms(c: float, m: float = 0.0) -> tuple[LimitTerm, LimitTerm]:
    """The term c q^m log q, which separates into two: log(w/S) = log w - log S."""

    def log(w: Any) -> Any:
        return np.log(np.maximum(w, TINY))  # w^m log w is 0 at w = 0

    def integral(w: Any) -> Any:
        if m == -1:
            return log(w) ** 2 / 2
        return np.power(w, m + 1) * (log(w) / (m + 1) - 1 / (m + 1) ** 2)

    constant = power_term(1.0, m)
    return (
        LimitTerm(lambda S: c * np.power(S, -m), lambda w: np.power(w, m) * log(w), integral, grows=m <= -1),
        LimitTerm(
            lambda S: -c * np.log(S) * constant.coefficient(S),
            constant.slope,
            constant.integral,
            constant.constant,
            constant.grows,
        ),
    )


@dataclass(frozen=True)
class CostFacts:
    """What is known of a cost, and decides how it is computed; whatever its name is, and whoever wrote it.

    Attributes
    ----------
    domains : frozenset of {"probabilities", "weights", "distances"}
        What p and q may be: normalized, bare weights, or distances.
    limit : tuple of LimitTerm, or None
        The separable terms of ∂c/∂q as p → 0; None if they are not known, () if it is 0.
    cross_entropy : bool
        Whether C is Σ p log p - Σ p log q, so that q ∂C/∂q is -p and the gradient has a closed form.
    mixture : float or None
        κ, within 0 and 1, if ∂C/∂q is -log(1 - κ + κ p/q)/κ, which a fused loop knows.
    least_squares : float or None
        e if C is Σ r^e (r - d)², which likewise has a closed form.
    power_difference : float or None
        e if C is Σ (r^e - d^e)². Squared distances (e = 2) are polynomials, whose sums need no pairs.
    degree : float
        C(t p, t q) = t^degree C(p, q): 1 for divergences, which are therefore of the order of Σ p, and for
        costs whose attraction is.
    within_one : bool
        Whether weights must not exceed 1, as in log(1 - w).
    infinite_at_zero : bool
        Whether c or ∂c/∂q is infinite at p = 0 but for a floor on p.
    attracts : bool
        Whether C is -Σ p log q and what it is at p = 0, so that all that edges add is attraction.
    bound : tuple of str
        The parameters that the target gives a value for each point, and a pair the mean of its two.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.costs.Square().facts.degree, nf.costs.Expression("p*log(p/q)").facts.cross_entropy
    (2.0, True)
    """

    domains: frozenset[str] = frozenset({"probabilities", "weights"})
    limit: tuple[LimitTerm, ...] | None = None
    cross_entropy: bool = False
    mixture: float | None = None
    least_squares: float | None = None
    power_difference: float | None = None
    degree: float = 1.0
    within_one: bool = False
    infinite_at_zero: bool = False
    attracts: bool = False
    bound: tuple[str, ...] = ()
