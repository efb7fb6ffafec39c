"""The gradient in its last form: the two springs of a pair as one, where they are alike."""

from __future__ import annotations

from typing import Any

import sympy as sp

from nearfield.derivation.closed import Closed, turned
from nearfield.derivation.indices import Indices
from nearfield.derivation.layout import (
    Group,
    Row,
    Sigma,
    Sign,
    difference,
    equation,
    factor,
    over,
    partial,
    parts_of,
    row,
)
from nearfield.derivation.links import SHARE, D, F, P, Q, S, W, Z, is_total

APART = difference("y_i", "y_j")
SHARES = (P, Q, SHARE, Z, S)  # what may differ between (i, j) and (j, i)


def gradient(closed: Closed) -> tuple[tuple[str], tuple[Any]]:
    """What is said of the gradient, and its equation."""
    if closed.stiffness == 0:
        said = "The cost is the same for all maps, so there is nothing to descend."
        return (said,), (equation(partial("C", "y_i"), 0),)
    if is_symmetric(closed):
        what = "The distances" if closed.links.kernel is None else "The weights"
        what = "P and the kernel" if closed.links.normalized and closed.links.kernel is not None else what
        of = "" if what.startswith("P") else " of the data and of the map"
        said = f"{what}{of} are symmetric, so the two springs of a pair are one."
        springs = _once(closed)
    else:
        ways = _both_ways(closed)
        said = "The two springs of a pair are not alike, so the gradient keeps both"
        said += ", in what they differ by." if ways is not None else "."
        springs = ways or row(2, Sigma("j"), Group(row("k_ij", Sign("+"), "k_ji")), APART)
    return (said,), (equation(partial("C", "y_i"), springs),)


def is_symmetric(closed: Closed) -> bool:
    """Whether k_ij = k_ji, given that the target is symmetric."""
    method = closed.links.method
    alike = method.kernel is None or (method.kernel.facts.symmetric and method.kernel.facts.radial)
    return method.normalization in ("pair", "none") and alike


def _once(closed: Closed) -> Row:
    """4 Σ_j k_ij (y_i - y_j), with constants before the sum."""
    k, index = closed.stiffness, Indices(closed.links)
    if closed.links.scales:
        return row(over(4, "U"), Sigma("j"), Sigma("u"), factor(index.of(k)), APART)
    outer, inner = _constant(k)
    if outer.could_extract_minus_sign():
        outer, inner = -outer, turned(inner)
    return row(4 * outer, Sigma("j"), factor(index.of(inner)), APART)


def _both_ways(closed: Closed) -> Row | None:
    """2 Σ_j (a_ij + a_ji) b_ij (y_i - y_j), if the stiffness is such a product and short."""
    method, index = closed.links.method, Indices(closed.links)
    alike = method.kernel is None or (method.kernel.facts.symmetric and method.kernel.facts.radial)
    if closed.sums or closed.links.scales or not alike or method.normalization == "joint":
        return None
    outer, inner = _constant(closed.stiffness)
    ways = sp.Mul(*(each for each in sp.Mul.make_args(inner) if each.has(*SHARES)))
    both = sp.Mul(*(each for each in sp.Mul.make_args(inner) if not each.has(*SHARES)))
    if ways.has(W, F, D):
        return None
    added = Row((*parts_of(index.of(ways)), Sign("+"), *parts_of(index.of(ways, "ji"))))
    return row(2 * outer, Sigma("j"), Group(added), *([index.of(both)] if both != 1 else []), APART)


def _constant(k: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The factor that is the same for all pairs, and the rest."""
    pairs = {P, Q, SHARE, Z, W, F, D}
    same = [each for each in k.free_symbols if each not in pairs and "_" not in each.name]
    fixed = [each for each in same if not is_total(each)]
    return sp.factor_terms(k).as_independent(*(k.free_symbols - set(fixed)), as_Add=False)
