"""Formulas in p and q as functions that are defined at p = 0: with a floor on p in terms that need one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nearfield.algebra.expressions import Apply, Name, Tree, from_symbolic, numeric, slope
from nearfield.algebra.expressions.deriving import lean
from nearfield.algebra.expressions.symbolic import symbol
from nearfield.algebra.parts import TINY

Function = Callable[[Any, Any], Any]

FLOORED = "p0"  # the name of max(p, floor)
TINY32 = 1e-30  # as TINY, for float32


# Terms that are infinite at p = 0 ---------------------------------------------------------------------------


def floored_terms(tree: Tree, q: Any) -> list[Tree]:
    """The terms whose sum the tree is; in those that are infinite at p = 0, max(p, floor) stands for p."""
    return [_floored(term) if _grows_at_zero(term, q) else term for term in _terms(tree)]


def _terms(tree: Tree) -> list[Tree]:
    """The terms of a sum; constant factors before a sum in brackets go into it."""
    if not isinstance(tree, Apply):
        return [tree]
    if tree.function == "neg":
        return [Apply("neg", (each,)) for each in _terms(tree.arguments[0])]
    if tree.function in ("+", "-", "*", "/"):
        left, right = tree.arguments
        if tree.function == "+":
            return _terms(left) + _terms(right)
        if tree.function == "-":
            return _terms(left) + [Apply("neg", (each,)) for each in _terms(right)]
        if not right.names():
            return [Apply(tree.function, (each, right)) for each in _terms(left)]
        if tree.function == "*" and not left.names():
            return [Apply("*", (left, each)) for each in _terms(right)]
    return [tree]


def added(terms: list[Tree]) -> Tree:
    """The sum of terms."""
    total = terms[0]
    for term in terms[1:]:
        total = Apply("+", (total, term))
    return total


def _floored(term: Tree) -> Tree:
    return term.replaced({"p": Name(FLOORED)})


def _grows_at_zero(term: Tree, q: Any) -> bool:
    """Whether a term or its derivative in q is unbounded as p → 0.

    Between three p at equal ratios, what is bounded changes less and less, and a logarithm always as much.
    """
    if "p" not in term.names():
        return False
    for tree in (term, slope(term, "q")):
        function = numeric(tree, ("p", "q"))
        with np.errstate(all="ignore"):
            at = np.array([function(np.full_like(q, p), q) for p in (1e-40, 1e-80, 1e-120)])
            first, second = np.abs(np.diff(at, axis=0))
        if not np.isfinite(at).all() or np.any((second > 0.9 * first) & (second > 1e-9)):
            return True
    return False


# Values in numbers ------------------------------------------------------------------------------------------


def by_ratio(expression: Any) -> Callable[[Any, Any, Any], Any]:
    """A function of p, max(p, floor) and q, of the ratio p/q if that takes fewer operations.

    Divergences are functions of the ratio but for a factor, and powers of p and of q leave float32
    where those of the ratio do not.
    """
    p, p0, q = (symbol(name) for name in ("p", FLOORED, "q"))
    scaled = lean(expression.subs({p: p * q, p0: p0 * q}, simultaneous=True))
    if scaled.count_ops() > expression.count_ops():
        return numeric(from_symbolic(expression), ("p", FLOORED, "q"))
    function = numeric(from_symbolic(scaled), ("p", FLOORED, "q"))
    return lambda p, p0, q: function(p / q, None if p0 is None else p0 / q, q)


def guarded(function: Callable[[Any, Any, Any], Any], floor: float, infinite: bool, domain: str) -> Function:
    """A function of p and q, in their type, that is defined at 0 and, but for distances, in its gaps."""
    if domain == "distances" and infinite:
        return weighing_nothing(lambda p, q: function(p, p, q))

    def plain(p: Any, q: Any) -> Any:
        low = np.maximum(p, tiny(q))
        return function(low, np.maximum(p, floor) if infinite else None, q)

    def defined(p: Any, q: Any) -> Any:
        with np.errstate(all="ignore"):
            result = plain(p, q)
            if np.isfinite(result).all() or domain == "distances":
                return result
            # What left float32 has room in float64; what is undefined in a place, such as (1 - p) log(1 - p)
            # at 1, is what it is beside it.
            nowhere = ~np.isfinite(result)
            p, q = (np.asarray(each, dtype=np.float64) for each in (p, q))
            p, q = (np.where(nowhere, np.nextafter(each, 0.0), each) for each in (p, q))
            return plain(p, q)

    return defined


def tiny(values: Any) -> float:
    """What stands for 0 in the type of these values."""
    return TINY32 if getattr(values, "dtype", None) == np.float32 else TINY


def weighing_nothing(function: Function) -> Function:
    """A cost of distances that is infinite for duplicates (r = 0): they weigh nothing, as in Sammon's."""

    def weighing(p: Any, q: Any) -> Any:
        apart = np.asarray(p) > 0
        with np.errstate(all="ignore"):
            return np.where(apart, function(np.where(apart, p, 1.0), q), 0.0)

    return weighing
