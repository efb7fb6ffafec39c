"""The bracket G - Σ G q that a normalization leaves of the cost's derivative, in closed form.

One mechanism serves every cost. G q is split into what is a multiple of p, what is a multiple of q, and a
rest. The first two sum to their factors, because p and q sum to one. The rest is written with logarithms of
ratios, and its sum is a divergence where it has the form of one, and otherwise a sum with a name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import sympy as sp

from nearfield.algebra.expressions.budget import is_small
from nearfield.derivation.links import SHARE, P, Q, Z, number, total


@dataclass(frozen=True)
class Bracket:
    """What the normalization makes of G.

    Attributes
    ----------
    derivative : Expr
        G.
    product : Expr
        G times the share of its sum, sorted into the terms that the sum is taken of.
    mean : Expr
        Its sum.
    spring : Expr
        share · (G - mean): the stiffness but for the kernel's w'/w.
    sums : dict
        What the symbols in `mean` and `spring` that stand for sums are the sums of.
    mixture : Expr or None
        What z stands for, if it occurs.
    """

    derivative: sp.Expr
    product: sp.Expr
    mean: sp.Expr
    spring: sp.Expr
    sums: dict[sp.Symbol, sp.Expr] = field(default_factory=dict)
    mixture: sp.Expr | None = None


def derivative(cost: sp.Expr) -> tuple[sp.Expr, sp.Expr | None]:
    """∂c/∂q, written shortly, and the mixture of p and q that is called z in it."""
    return _tidied(cost) or (sp.diff(cost, Q), None)


def is_tidied(cost: sp.Expr) -> bool:
    """Whether ∂c/∂q is written shortly; otherwise it is left as it is differentiated."""
    return _tidied(cost) is not None


@cache
def _tidied(cost: sp.Expr) -> tuple[sp.Expr, sp.Expr | None] | None:
    """∂c/∂q written shortly, and its mixture; None if it is too large for that."""
    found = sp.diff(cost, Q)
    if not is_small(found, letters=True):
        return None
    short, mixture = tidy(found)
    # Logarithms are taken apart as if all within them were positive; it shows where it is not.
    return None if short.has(sp.I) else (short, mixture)


def tidy(expression: sp.Expr) -> tuple[sp.Expr, sp.Expr | None]:
    """Collect logarithms into ratios, and call a mixture of p and q within them z."""
    expression = _without_signs(expression)
    expression = sp.expand_log(expression, force=True)  # what is within a logarithm is positive
    expression = expression.replace(
        lambda e: isinstance(e, sp.log) and e.args[0].is_Add and not _is_mixture(e.args[0]),
        lambda e: sp.expand_log(sp.log(_positive(sp.factor(e.args[0]))), force=True),
    )
    expression = expression.replace(
        lambda e: isinstance(e, sp.log) and _parts(e.args[0]) not in (None, 1),
        lambda e: sp.log(_parts(e.args[0])) + sp.log(sp.expand(e.args[0] / _parts(e.args[0]))),
    )
    mixture = next((log.args[0] for log in _logs(expression) if _is_mixture(log.args[0])), None)
    # Logarithms as unknowns: what is linear in them is sorted by them.
    unknowns = {log: sp.Dummy() for log in _logs(expression)}
    plain = expression.xreplace(unknowns)
    factors = {log: sp.diff(plain, unknown) for log, unknown in unknowns.items()}
    if any(factor.has(*unknowns.values()) for factor in factors.values()):
        return expression, mixture  # a product of logarithms
    rest = shortest(plain.xreplace(dict.fromkeys(unknowns.values(), sp.S.Zero)))
    logs = _ratios({log: shortest(factor) for log, factor in factors.items()})
    if mixture is not None:
        logs = logs.xreplace({sp.log(mixture): sp.log(Z)}).replace(
            lambda e: isinstance(e, sp.log) and e.has(mixture), lambda e: e.xreplace({mixture: Z})
        )
    return rest + logs, mixture


def _without_signs(expression: sp.Expr) -> sp.Expr:
    """The same with x² sign(x) as x |x|, where that leaves nothing to divide by."""
    inner = {sign.args[0] for sign in expression.atoms(sp.sign)}
    plain = shortest(expression.replace(sp.sign, lambda x: sp.Abs(x) / x)) if inner else expression
    below = sp.fraction(sp.together(plain))[1]
    return expression if any(below.has(x, -x) for x in inner) else plain


def _positive(product: sp.Expr) -> sp.Expr:
    """The same with the sign of -(κ - 1) within the bracket."""
    factors = list(sp.Mul.make_args(product))
    turned = next((k for k, factor in enumerate(factors) if factor.is_Add and negative(factor)), None)
    if turned is None or not factors[0].is_negative:
        return product
    factors[turned], factors[0] = -factors[turned], -factors[0]
    return sp.Mul(*factors)


def _logs(expression: sp.Expr) -> list[sp.Expr]:
    return sorted(expression.atoms(sp.log), key=sp.default_sort_key)


def _is_mixture(argument: sp.Expr) -> bool:
    """Whether it is a p + b q with a + b = 1."""
    return _parts(argument) == 1


def _parts(argument: sp.Expr) -> sp.Expr | None:
    """The number a + b if the argument is a p + b q: p + q is twice a mixture; None if it is not."""
    if not argument.is_Add or not argument.has(P) or not argument.has(Q):
        return None
    a, b = sp.diff(argument, P), sp.diff(argument, Q)
    if a.has(P, Q) or b.has(P, Q) or sp.expand(argument - a * P - b * Q) != 0:
        return None
    number = sp.expand(a + b)
    return number if number.is_number and number > 0 else None


def _ratios(factors: dict[sp.Expr, sp.Expr]) -> sp.Expr:
    """Σ factor · log, with a log a - a log b written as a log(a/b)."""
    total, left = sp.S.Zero, {log: factor for log, factor in factors.items() if factor != 0}
    while left:
        log, factor = left.popitem()
        opposite = next((other for other in left if sp.expand(left[other] + factor) == 0), None)
        if opposite is None:
            total += factor * log
            continue
        del left[opposite]
        if negative(factor):
            log, opposite, factor = opposite, log, -factor
        total += factor * sp.log(log.args[0] / opposite.args[0])
    return total


def negative(expression: sp.Expr) -> bool:
    """Whether an expression looks negative: λ - 1 does, since shares are below 1."""
    with np.errstate(all="ignore"):
        return bool(number(expression, dict.fromkeys(expression.free_symbols, np.float64(0.3))) < 0)


def shortest(expression: sp.Expr) -> sp.Expr:
    """The shortest of a few ways to write an expression."""
    if expression.is_Atom:
        return expression
    ways = [expression, sp.expand(expression), sp.cancel(expression)]
    ways += [sp.Add(*(sp.cancel(term) for term in sp.Add.make_args(expression)))]
    ways += [sp.factor(way) for way in ways[2:3] if way.count_ops() < 60]
    best = min((sp.powsimp(way) for way in ways), key=_length)
    return sp.Add(*map(_collected, sp.Add.make_args(best)))


def _collected(term: sp.Expr) -> sp.Expr:
    """A fraction with its denominator as a polynomial in p and q."""
    above, below = sp.fraction(term)
    return above / sp.collect(below, [P, Q]) if below.is_Add else term


def _length(expression: sp.Expr) -> tuple[int, int]:
    return int(sp.count_ops(expression)), len(str(expression))


@cache
def bracket(cost: sp.Expr, share: sp.Symbol = Q, *, pair_share: sp.Symbol | None = None) -> Bracket:
    """Derive share · (G - Σ G share).

    Parameters
    ----------
    cost : Expr
        c in p and q.
    share : Symbol
        What is summed with: q itself, or the q of one scale, in which case q is the mean over scales.
    pair_share : Symbol, optional
        What stands before the bracket, where it is not the same: w/S of joint normalization.
    """
    G, mixture = derivative(cost)
    if is_tidied(cost):
        of_p, of_q, rest = _sorted(G, share)
    else:
        of_p, of_q, rest = sp.S.Zero, sp.S.Zero, [(sp.S.One, G * share)]
    product = of_p * P + of_q * share + sp.Add(*(factor * term for factor, term in rest))
    mean, spring = of_p + of_q, of_p * (P - share)
    sums: dict[sp.Symbol, sp.Expr] = {}
    for factor, term in rest:
        symbol, sign = _named(term, share, sum(each.name.startswith("R") for each in sums))
        sums[symbol] = sign * term
        mean += sign * factor * symbol
        if all(map(_has_factor(share), sp.Add.make_args(term))):
            inner = sp.Add(*(each / share for each in sp.Add.make_args(term)))
            spring += factor * share * (inner - sign * symbol)
        else:
            spring += factor * (term - sign * share * symbol)
    if pair_share is not None:
        spring = spring * pair_share / share
    return Bracket(G, product, mean, spring, sums, mixture)


def _has_factor(share: sp.Symbol) -> Callable[[sp.Expr], bool]:
    """Whether a term is something times the share."""

    def has(term: sp.Expr) -> bool:
        power = sp.sympify(term.as_powers_dict()[share])
        return bool(power.is_number) and bool(power >= 1)

    return has


def is_multiple(term: sp.Expr, quantity: sp.Symbol) -> bool:
    """Whether a term is a constant times a quantity."""
    return term != 0 and not (term / quantity).has(P, Q, SHARE, Z)


def _sorted(G: sp.Expr, share: sp.Symbol) -> tuple[sp.Expr, sp.Expr, list[tuple[sp.Expr, sp.Expr]]]:
    """G · share as multiples of p and of the share, and a rest: factors, and what they are factors of."""
    of_p = of_q = sp.S.Zero
    rest: dict[sp.Expr, sp.Expr] = {}
    for part in sp.Add.make_args(G):
        outer, inner = part.as_independent(P, Q, Z, as_Add=False)
        terms = [sp.powsimp(each * share) for each in sp.Add.make_args(sp.expand_mul(inner))]
        if not any(is_multiple(term, each) for term in terms for each in (P, share)):
            terms = [sp.powsimp(inner * share)]  # there is nothing to be had from multiplying out
        for each in terms:
            number, term = each.as_independent(P, Q, share, Z, as_Add=False)
            factor = outer * number
            if term == share:
                of_q += factor
            elif term == P:
                of_p += factor
            elif -factor in rest:
                rest[-factor] -= term
            else:
                rest[factor] = rest.get(factor, sp.S.Zero) + _collected(term)
    return of_p, sp.factor_terms(of_q), [(factor, term) for factor, term in rest.items() if term != 0]


def _named(term: sp.Expr, share: sp.Symbol, count: int) -> tuple[sp.Symbol, int]:
    """The symbol of the sum of a term, and its sign: the divergence that it is, or a name of its own."""
    for first, of in ((share, "Q"), (P, "P")):
        for other, name in ((P, "P"), (Q, "Q"), (Z, "Z")):
            if first == other or (share != Q and first == share):
                continue
            for sign, log in ((1, sp.log(first / other)), (-1, sp.log(other / first))):
                if term == first * log:
                    return total(f"KL({of}‖{name})"), sign
                if term == -first * log:
                    return total(f"KL({of}‖{name})"), -sign
    return total("R" + "′" * count), 1
