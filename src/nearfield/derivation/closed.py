"""The stiffness of a composition in closed form: the bracket times w'/w times the transform's slope."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from nearfield.algebra.expressions.budget import is_small
from nearfield.derivation.brackets import Bracket, bracket, derivative, is_tidied, negative
from nearfield.derivation.links import (
    PRECISION,
    SHARE,
    D,
    F,
    Links,
    P,
    Q,
    S,
    letter,
    log_derivative,
)

TOTAL = letter("T")  # the sum of all r, which Sammon's error is divided by


@dataclass(frozen=True)
class Closed:
    """What the gradient is made of.

    Attributes
    ----------
    links : Links
        The composition.
    G : Expr
        ∂c/∂q.
    bracket : Bracket or None
        What the normalization makes of it, if there is one.
    mixture : Expr or None
        What z stands for.
    spring : Expr
        ∂C/∂ log w: the stiffness but for the kernel and the transform.
    rate : Expr or None
        w'/w, if there is a kernel.
    slope : Expr
        (df/dd)/(2d).
    stiffness : Expr
        k; of one scale, where there are several.
    learned : dict
        ∂ log w/∂θ of the parameters that are learned.
    """

    links: Links
    G: sp.Expr
    bracket: Bracket | None
    mixture: sp.Expr | None
    spring: sp.Expr
    rate: sp.Expr | None
    slope: sp.Expr
    stiffness: sp.Expr
    learned: dict[sp.Symbol, sp.Expr]

    @property
    def sums(self) -> dict[sp.Symbol, sp.Expr]:
        """What the symbols that stand for sums are the sums of."""
        return self.bracket.sums if self.bracket is not None else {}


def closed(links: Links) -> Closed:
    """Derive the stiffness."""
    share = SHARE if links.scales else Q
    joint = links.method.normalization == "joint" and not links.scales
    G, mixture = derivative(links.cost)
    normalized = None
    if links.normalized:
        normalized = bracket(links.cost, share, pair_share=SHARE if joint else None)
        spring = normalized.spring
    elif is_tidied(links.cost):
        spring = sp.Add(*(sp.powsimp(share * term) for term in sp.Add.make_args(G)))
    else:
        spring = share * G
    slope = sp.powsimp(sp.cancel(sp.diff(links.transform, D) / (2 * D)))
    if links.kernel is None:
        rate, k = None, _of_distances(links, G, spring, slope, bool(normalized and normalized.sums))
    else:
        rate = log_derivative(links.kernel)
        at = rate.xreplace({F: PRECISION * F}) * PRECISION if links.scales else rate
        k = turned(spring) * -at * slope if negative(at) else spring * at * slope
    k *= constant(links)
    if links.kernel is None and is_tidied(links.cost):
        k = sp.factor_terms(k)
    return Closed(links, G, normalized, mixture, spring, rate, slope, k, _learned(links))


def constant(links: Links) -> sp.Expr:
    """What stands before the cost's sum: 1, or one over the sum of all p."""
    factor = links.method.cost.factor
    if factor(4.0) == 1.0:
        return sp.S.One
    if factor(4.0) != 0.25:
        raise ValueError(
            f"{links.method.cost!r} cannot be derived: its `factor` is neither 1 nor one over the sum of p"
        )
    if links.normalized:  # p sums to one, over all pairs or in every row
        return sp.S.One if links.method.normalization == "pair" else 1 / letter("N")
    return 1 / TOTAL


def _of_distances(links: Links, G: sp.Expr, spring: sp.Expr, slope: sp.Expr, sums: bool) -> sp.Expr:
    """The stiffness where w is f itself, so that w' is 1."""
    if not links.normalized:
        seen = D if links.transform == D else F
        product = (G * slope).xreplace({Q: seen})
        if not is_small(product, letters=True):
            return product
        above, below = sp.fraction(sp.cancel(sp.together(product)))
        return sp.factor_terms(above) / below
    if sums:  # q/f is 1/S
        return sp.Add(*(term / Q for term in sp.Add.make_args(spring))) * slope / S
    return (spring * slope / F).xreplace({F: D} if links.transform == D else {})


def _learned(links: Links) -> dict[sp.Symbol, sp.Expr]:
    if links.kernel is None:
        return {}
    found = {}
    for theta, name in links.names.items():
        if name in links.method.learned and theta in links.kernel.free_symbols:
            log = sp.expand_log(sp.log(links.kernel), force=True)
            found[theta] = sp.Add(*(_simple(term) for term in sp.Add.make_args(sp.diff(log, theta))))
    return found


def _simple(term: sp.Expr) -> sp.Expr:
    ways = (term, sp.factor(sp.cancel(term)))
    return min(ways, key=lambda way: int(sp.count_ops(way)))


def turned(expression: sp.Expr) -> sp.Expr:
    """-expression with the sign within the brackets: -q (log(q/p) - R) is q (log(p/q) + R)."""
    return sp.Add(*map(_turned_term, sp.Add.make_args(expression)))


def _turned_term(term: sp.Expr) -> sp.Expr:
    if term.as_coeff_Mul()[0].is_negative:
        return -term
    factors = list(sp.Mul.make_args(term))
    for k, factor in enumerate(factors):
        if isinstance(factor, sp.log):
            factors[k] = sp.log(1 / factor.args[0])
            return sp.Mul(*factors)
        if factor.is_Add and (factor.has(sp.log) or (factor.has(P) and factor.has(Q, SHARE))):
            factors[k] = turned(factor)
            return sp.Mul(*factors)
    return -term
