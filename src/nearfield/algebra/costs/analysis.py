"""What a cost that was written as text, or as functions, turns out to be: the facts an engine plans by.

Nothing is looked up by name. SymPy gives the derivative and the limit at p = 0; that a cost *is* the
cross-entropy, a mixture or a least-squares cost is found by comparing values at scattered points, which for
such formulas is as good as a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from nearfield.algebra.costs.divergences import KL, JensenShannon
from nearfield.algebra.costs.facts import CostFacts, LimitTerm, log_terms, power_term
from nearfield.algebra.costs.floors import (
    FLOORED,
    Function,
    added,
    by_ratio,
    floored_terms,
    guarded,
    tiny,
    weighing_nothing,
)
from nearfield.algebra.expressions import Number, Tree, from_symbolic, numeric, symbolic
from nearfield.algebra.expressions.budget import is_simple
from nearfield.algebra.expressions.deriving import lean, limit_at_zero, powers_and_logs
from nearfield.algebra.expressions.numeric import without_constants
from nearfield.algebra.expressions.slopes import slope
from nearfield.algebra.expressions.symbolic import symbol
from nearfield.algebra.expressions.written import rounded
from nearfield.checks import SQUARABLE

FindLimit = Callable[[Function, Function, str], tuple[LimitTerm, ...] | None]


@dataclass(frozen=True)
class Analysed:
    """A cost in numbers, and its facts."""

    value: Function
    derivative: Function
    facts: CostFacts


def text_analysed(tree: Tree, domain: str, floor: float) -> Analysed:
    """What a formula in p and q turns out to be."""
    p, q = points(domain)
    tree = without_constants(tree)
    terms = floored_terms(tree, q)
    infinite = any(FLOORED in term.names() for term in terms)
    tree = added(terms) if infinite else tree

    def at(function: Any) -> Function:
        return guarded(function, floor, infinite, domain)

    value, derivative = (at(numeric(each, ("p", FLOORED, "q"))) for each in (tree, slope(tree, "q")))
    check_pairs(value, derivative, p, q)
    limit: FindLimit = _limit_of_function
    if is_simple(tree.replaced({FLOORED: Number(floor)})):
        expression = symbolic(tree)
        rate = lean(expression.diff(symbol("q")))
        shorter = at(by_ratio(expression)), at(by_ratio(rate))
        if same(shorter[1](p, q), derivative(p, q)):
            (value, derivative), limit = shorter, partial(_limit, rate, floor)
    return Analysed(value, derivative, _facts(value, derivative, limit, infinite, domain))


def functions_analysed(
    value: Any, derivative: Any, parameters: dict[str, float], domain: str, floor: float
) -> Analysed:
    """What a function of p and q turns out to be, with its derivative."""
    p, q = points(domain)

    def at(function: Any) -> Function:
        return lambda p, q: function(p, q, **parameters)

    with np.errstate(all="ignore"):
        at_zero = [np.asarray(at(f)(np.zeros_like(q), q)) for f in (value, derivative)]
    infinite = not all(each.dtype.kind in "fiu" and np.isfinite(each).all() for each in at_zero)

    def floored(function: Any) -> Function:
        inner = at(function)
        if domain == "distances":
            return weighing_nothing(inner) if infinite else inner
        return (lambda p, q: inner(np.maximum(p, floor), q)) if infinite else inner

    value, derivative = floored(value), floored(derivative)
    check_pairs(value, derivative, p, q)
    facts = _facts(value, derivative, _limit_of_function, infinite, domain)
    return Analysed(value, derivative, facts)


def points(domain: str) -> tuple[Any, Any]:
    """Scattered p and q, at which costs are compared."""
    steps = np.arange(1, 121)
    p, q = (steps * 0.6180339887498949) % 1, (steps * 0.7548776662466927) % 1
    if domain == "distances":
        return 1e3 ** (2 * p - 1), 1e3 ** (2 * q - 1)
    return np.where(steps % 2, p, p**8), np.where(steps % 3, q, q**8)


def check_pairs(value: Function, derivative: Function, p: Any, q: Any) -> None:
    """Refuse a cost that is undefined somewhere, or that no map can change."""
    with np.errstate(all="ignore"):
        found = {"it": np.asarray(value(p, q)), "its derivative in q": np.asarray(derivative(p, q))}
    for what, at in found.items():
        if np.shape(at) != np.shape(q) or at.dtype.kind not in "fiu":
            raise ValueError(f"{what} must be a real number for each pair")
        bad = np.flatnonzero(~np.isfinite(at))
        if len(bad):
            i = bad[0]
            raise ValueError(f"{what} is not finite: it is {at[i]:g} at p = {p[i]:.3g}, q = {q[i]:.3g}")
    if not at.any():
        raise ValueError("it does not depend on q, and no map is better than another")
    size = float(np.median(np.abs(at[at != 0])))
    if not 1 / SQUARABLE <= size <= SQUARABLE:
        raise ValueError(
            f"its derivative in q is of size {size:.1g}, whose square no number can hold: divide it by"
            f" {size:.0e}"
        )


# The limit at p = 0 -----------------------------------------------------------------------------------------

DROWNING = 1e5  # a logarithm of the floor is below; a negative power of it is beyond, and drowns all else
W = np.array([1e-3, 0.02, 0.1, 0.3, 0.5, 0.7, 0.95])  # weights at which limits are compared


def _limit(
    rate: Any, floor: float, value: Function, derivative: Function, domain: str
) -> tuple[LimitTerm, ...] | None:
    """The separable terms of the derivative as p → 0, if there are such."""
    p, p0, q = (symbol(name) for name in ("p", FLOORED, "q"))
    G0 = limit_at_zero(rate.subs(p0, symbolic(Number(floor))), p)
    if G0 is None:
        return _limit_of_function(value, derivative, domain)
    at = numeric(from_symbolic(G0), ("q",))(W)
    if not np.allclose(at, derivative(np.zeros_like(W), W), rtol=1e-6, atol=1e-9):
        return None
    found = powers_and_logs(G0, q)
    if found is None or any(k > 1 for _, k in found):
        return _bare_term(value, derivative, domain)
    if rate.has(p0) and max(map(abs, found.values()), default=0.0) > DROWNING:
        return None
    terms: list[LimitTerm] = []
    for (m, k), c in found.items():
        terms += log_terms(c, m) if k else [power_term(c, m)]
    return _complete(tuple(terms), value)


def _limit_of_function(value: Function, derivative: Function, domain: str) -> tuple[LimitTerm, ...] | None:
    """The same where there is no formula: a constant, a power, or whatever it is for bare weights."""
    G0 = np.asarray(derivative(np.zeros_like(W), W), dtype=float)
    if np.abs(G0).max() > DROWNING:
        return None
    if not G0.any():
        return _complete((), value)
    if np.all(G0 != 0):
        m = rounded(float(np.log(G0[-1] / G0[0]) / np.log(W[-1] / W[0]))) if G0[-1] / G0[0] > 0 else 0.0
        c = rounded(float(G0[-1] / W[-1] ** m))
        if np.allclose(c * W**m, G0, rtol=1e-9, atol=0):
            return _complete((power_term(c, m),), value)
    return _bare_term(value, derivative, domain)


def _bare_term(value: Function, derivative: Function, domain: str) -> tuple[LimitTerm, ...] | None:
    """The limit as one term, which for bare weights (S = 1) any function of w is; its integral is C(0, w)."""
    if domain != "weights":
        return None

    def integral(w: Any) -> Any:
        w = np.maximum(w, tiny(w))
        return value(np.zeros_like(w), w)

    def rate(w: Any) -> Any:
        w = np.maximum(w, tiny(w))
        return derivative(np.zeros_like(w), w)

    ends = np.abs(integral(np.array([1e-10, 1e-20, 1e-30])))
    grows = not bool(np.isfinite(ends).all() and ends[2] <= 1.01 * ends[1] + 1e-9)
    term = LimitTerm(lambda S: np.ones_like(S), rate, integral, grows=grows)
    return _complete((term,), value)


def _complete(terms: tuple[LimitTerm, ...], value: Function) -> tuple[LimitTerm, ...] | None:
    """The terms, if their integrals are C(0, q): pairs that are no neighbours cost nothing at q = 0."""
    if any(term.grows for term in terms):
        return terms  # for which there are no fields anyway
    at = sum((term.coefficient(1.0) * term.integral(W) for term in terms), np.zeros_like(W))
    nothing = abs(float(value(np.zeros(1), np.full(1, 1e-30))[0])) < 1e-9
    return terms if nothing and np.allclose(at, value(np.zeros_like(W), W), rtol=1e-6, atol=1e-9) else None


# Known costs ------------------------------------------------------------------------------------------------


@np.errstate(all="ignore")
def _facts(
    value: Function, derivative: Function, find_limit: FindLimit, infinite: bool, domain: str
) -> CostFacts:
    p, q = points(domain)
    limit = None if domain == "distances" else find_limit(value, derivative, domain)
    C, G = np.asarray(value(p, q)), np.asarray(derivative(p, q))
    far = [np.isfinite(f(p[:8], np.full(8, s))).all() for f in (value, derivative) for s in (1.5, 50.0)]
    distances = domain == "distances"
    return CostFacts(
        domains=frozenset((domain,)),
        limit=limit,
        cross_entropy=domain == "probabilities" and same(C, KL().value(p, q)),
        mixture=None if distances else _mixture(C, G, limit, p, q),
        least_squares=_least_squares(value, C, p, q) if distances else None,
        power_difference=_power_difference(value, C, p, q) if distances else None,
        degree=_degree(value, C, p, q),
        within_one=not all(far),
        infinite_at_zero=infinite and not distances,
        attracts=domain == "weights" and same(C - value(np.zeros_like(p), q), -p * np.log(q)),
    )


def same(a: Any, b: Any) -> bool:
    """Whether two costs are one, by their values at scattered points."""
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-12))


def _mixture(C: Any, G: Any, limit: Any, p: Any, q: Any) -> float | None:
    """The κ of the Jensen-Shannon divergence that the cost is: the limit at p = 0 tells it."""
    if limit is None or len(limit) != 1 or not limit[0].constant:
        return None
    c = float(limit[0].coefficient(1.0))
    if not 1 + 1e-6 < c < 13:
        return None
    from scipy.optimize import brentq  # which takes longer to import than all the rest

    kappa = rounded(float(brentq(lambda k: -np.log1p(-k) / k - c, 1e-7, 1 - 1e-7, xtol=1e-15)))
    known = JensenShannon(kappa)
    return kappa if same(G, known.derivative(p, q)) and same(C, known.value(p, q)) else None


def _least_squares(value: Function, C: Any, p: Any, q: Any) -> float | None:
    at = float(value(np.full(1, 2.0), np.ones(1))[0])  # 2^e
    e = rounded(float(np.log2(at))) if at > 0 else 0.0
    return e if abs(e) <= 8 and same(C / (p**e * (p - q) ** 2), 1.0) else None


def _power_difference(value: Function, C: Any, p: Any, q: Any) -> float | None:
    at = float(value(np.full(1, 2.0), np.ones(1))[0])  # (2^e - 1)²
    e = rounded(float(np.log2(1 + np.sqrt(at)))) if at > 0 else 0.0
    return e if 0 < e <= 8 and same(C / (p**e - q**e) ** 2, 1.0) else None


def _degree(value: Function, C: Any, p: Any, q: Any) -> float:
    """How the cost scales; that of costs whose attraction and repulsion scale apart counts as 1."""
    ratios = value(p / 2, q / 2) / C
    ratio = float(np.median(ratios))
    uniform = np.allclose(ratios, ratio, rtol=1e-6)
    return rounded(-float(np.log2(ratio))) if uniform and ratio > 0 else 1.0
