"""What becomes of ∂c/∂q as p → 0, and whether it separates into terms c(S) g(w) that make potentials."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from nearfield.derivation.brackets import derivative, is_tidied, tidy
from nearfield.derivation.links import FLOOR, Links, P, Q, S, W, Z


@dataclass(frozen=True)
class Limit:
    """∂c/∂q as p → 0.

    Attributes
    ----------
    value : Expr or None
        The limit; None where it is infinite and the cost has no floor.
    floored : bool
        Whether it is infinite but for the floor δ on p, which stands in `value`.
    terms : tuple of (Expr, Expr) or None
        c(S) and g(w) of the terms that it separates into; None where it does not.
    """

    value: sp.Expr | None
    floored: bool
    terms: tuple[tuple[sp.Expr, sp.Expr], ...] | None

    @property
    def fields(self) -> tuple[sp.Expr, ...]:
        """The functions g(w) that are no constants: each needs potentials of its own."""
        return tuple(dict.fromkeys(g for _, g in self.terms or () if g != 1))


def limit(links: Links) -> Limit | None:
    """The limit of ∂c/∂q as p → 0 at the values of the parameters; None where algebra does not tell."""
    if not is_tidied(links.cost) or any(power.exp.has(P, Q) for power in links.cost.atoms(sp.Pow)):
        return None
    G, mixture = derivative(links.cost)
    if mixture is not None:
        G = G.xreplace({Z: mixture})
    value, floored = sp.S.Zero, False
    for term in _terms(G):
        at_zero = _at_zero(term, links)
        if at_zero is None and not links.floored:
            return Limit(None, False, None)
        floored |= at_zero is None
        value += term.xreplace({P: FLOOR}) if at_zero is None else at_zero
    value, _ = tidy(value)
    return Limit(value, floored, _separated(value, links.normalized))


def _terms(expression: sp.Expr) -> list[sp.Expr]:
    return list(sp.Add.make_args(sp.expand_mul(sp.expand_log(expression, force=True))))


def _at_zero(term: sp.Expr, links: Links) -> sp.Expr | None:
    """The limit of p^e log(p)^m g(p, q) with a g that is continuous at p = 0; None if infinite."""
    exponent, logs, rest = sp.S.Zero, 0, sp.S.One
    for factor in sp.Mul.make_args(sp.powsimp(sp.expand_power_base(term))):
        base, power = factor.as_base_exp()
        if base == P:
            exponent += power
        elif base == sp.log(P):
            logs += 1
        else:
            rest *= factor
    try:
        at = rest.xreplace({P: sp.S.Zero})
    except ValueError:  # what is infinite has no place in max and min
        return None
    if at.has(sp.oo, sp.zoo, sp.nan):
        return None
    size = float(
        exponent.subs({each: value for each, value in links.values.items() if each in exponent.free_symbols})
    )
    if size > 0:
        return sp.S.Zero
    return at if size == 0 and not logs else None


def _separated(value: sp.Expr, normalized: bool) -> tuple[tuple[sp.Expr, sp.Expr], ...] | None:
    """The terms c(S) g(w) of the limit at q = w/S; of bare weights S is 1."""
    total = sp.S.One if not normalized else S
    found: dict[sp.Expr, sp.Expr] = {}
    for term in _terms(sp.expand_power_base(value.xreplace({Q: W / total}), force=True)):
        c, g = term.as_independent(W, as_Add=False)
        if g.has(S):
            return None
        found[g] = found.get(g, sp.S.Zero) + c
    return tuple((c, g) for g, c in found.items() if c != 0)
