"""The links of the chain as SymPy expressions, and the letters they are written in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from nearfield.algebra.costs.base import Cost
from nearfield.algebra.expressions import from_symbolic, numeric, symbolic
from nearfield.algebra.expressions.budget import DEGREE, has_low_roots, has_short_numbers, is_small
from nearfield.algebra.kernels.base import Kernel
from nearfield.algebra.method import Method
from nearfield.algebra.transforms import Transform


def total(name: str) -> sp.Symbol:
    """A sum that is named: it may be negative, which is how it is told from all other letters."""
    return sp.Symbol(name, real=True)


def is_total(symbol: sp.Symbol) -> bool:
    """Whether a symbol stands for a sum."""
    return symbol.is_positive is None


def letter(name: str) -> sp.Symbol:
    """A positive quantity."""
    return sp.Symbol(name, positive=True)


P, Q, W, F, D, S, Z = map(letter, "pqwfdSz")
SHARE = letter("s")  # w/S where q is not that: joint normalization, or the mean of several scales
MASS_I, MASS_J = letter("m_i"), letter("m_j")
PRECISION = letter("β_u")  # of a scale
FLOOR = letter("δ")

# The letters of parameters that have one; others are called by their names.
LETTERS = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "epsilon": "ε",
    "kappa": "κ",
    "lam": "λ",
    "nu": "ν",
    "dof": "ν",
    "exponent": "t",
    "floor": "δ",
    "rate": "m",
    "share": "h",
}
# Letters that have a meaning of their own here, so that a parameter of that name gets a prime.
TAKEN = frozenset("pqrvgwfdsSzyCGkRTNUijuδ")


@dataclass(frozen=True)
class Links:
    """A method as SymPy expressions.

    Attributes
    ----------
    method : Method
        What is written.
    cost : Expr
        c in `P` and `Q`.
    kernel : Expr or None
        w in `F`; None for a cost of distances.
    transform : Expr
        f in `D`.
    values : dict
        The values of the letters that stayed letters.
    put_in : dict
        The values of those that did not, because the formulas are simpler so.
    names : dict
        The names of the parameters behind the letters.
    """

    method: Method
    cost: sp.Expr
    kernel: sp.Expr | None
    transform: sp.Expr
    values: dict[sp.Symbol, Any]
    put_in: dict[sp.Symbol, Any]
    names: dict[sp.Symbol, str]

    @property
    def scales(self) -> bool:
        """Whether Q is a mean over several precisions."""
        return self.method.climbs or self.method.precisions != (1.0,)

    @property
    def normalized(self) -> bool:
        """Whether there is a sum that w is divided by."""
        return self.method.normalization != "none"

    @property
    def target_letter(self) -> str:
        """The letter of what the data have: p of probabilities, v of weights, r and g of distances."""
        if self.normalized:
            return "p"
        if self.kernel is not None:
            return "v"
        return "r" if self.transform == D else "g"

    @property
    def map_letter(self) -> str:
        """The letter of what is compared with it."""
        if self.normalized:
            return "q"
        if self.kernel is not None:
            return "w"
        return "d" if self.transform == D else "f"

    @property
    def floored(self) -> bool:
        """Whether the cost reckons with p no less than a floor."""
        return bool(self.method.cost.facts.infinite_at_zero) and hasattr(self.method.cost, "floor")


@cache
def log_derivative(kernel: sp.Expr) -> sp.Expr:
    """w'/w, written with w where that is shorter: -w for Student's kernel, -β w^α for heavy tails."""
    if not is_simplified(kernel):
        return sp.diff(kernel, F) / kernel
    rate = sp.factor(sp.simplify(sp.diff(kernel, F) / kernel))
    base, exponent = kernel.as_base_exp()
    if base == sp.E or exponent.has(F) or base == F:
        return rate
    # w = b^e, so that 1/b is w^(-1/e)
    with_w = sp.cancel(exponent * sp.diff(base, F)) * W ** sp.cancel(-1 / exponent)
    return with_w if sp.count_ops(with_w) <= sp.count_ops(rate) else rate


@cache
def is_simplified(kernel: sp.Expr) -> bool:
    """Whether w'/w is small enough to be simplified; what is not, is left as it is differentiated."""
    rate = sp.diff(kernel, F) / kernel
    high = any(abs(number.p) > DEGREE for number in rate.atoms(sp.Rational))
    if high and any(log.is_number for log in rate.atoms(sp.log)):
        return False  # SymPy makes the logarithm of 2^1000 of 1000 log 2
    return is_small(rate, letters=True)


def links(method: Method) -> Links:
    """Write a method in SymPy.

    A parameter stays a letter unless its value makes the formulas simpler: a whole number in an exponent
    (Student's one degree of freedom), 0 or 1 in a cost, and a precision of 1 beside those of the scales.
    """
    known = {P, Q, F, D}
    values: dict[sp.Symbol, Any] = {}
    put_in: dict[sp.Symbol, Any] = {}
    names: dict[sp.Symbol, str] = {}
    scales = method.climbs or method.precisions != (1.0,)

    def written(part: Any, plain: bool, index: str = "") -> sp.Expr:
        expression = expressed(part)
        learned = getattr(part, "learned", ())
        for symbol in sorted(expression.free_symbols - known, key=str):
            name = str(symbol)
            value = value_of(part, name)
            called = LETTERS.get(name, name.replace("_", ""))
            while called in TAKEN or letter(called + index) in names:
                called += "′"
            of_pairs = name in getattr(part.facts, "bound", ()) if isinstance(part, Cost) else False
            named = letter(called + ("_ij" if of_pairs else index))
            names[named] = name
            expression = expression.subs(symbol, named)
            if of_pairs:  # which the target gives
                values[named] = value
                continue
            whole = not index and name not in learned and float(value).is_integer()
            exponent = any(named in power.exp.free_symbols for power in expression.atoms(sp.Pow))
            if whole and (exponent or (plain and float(value) in (0.0, 1.0))):
                put_in[named] = int(value)
                expression = expression.subs(named, int(value))
            else:
                values[named] = value
        return expression

    cost = written(method.cost, plain=True)
    kernel = None
    if method.kernel is not None:
        profile = method.kernel.profile
        per_point = not profile.facts.symmetric or not profile.facts.radial
        kernel = written(profile, plain=scales, index="_i" if per_point else "")
        if profile is not method.kernel:
            kernel = MASS_I * MASS_J * kernel
    transform = written(method.transform, plain=True)
    return Links(method, cost, kernel, transform, values, put_in, names)


def expressed(part: Any) -> sp.Expr:
    """A cost, kernel or transform in SymPy, with the names of its parameters."""
    if not getattr(part, "expression", "") and not isinstance(getattr(part, "written", None), str):
        kind = next(kind for kind in (Cost, Kernel, Transform) if isinstance(part, kind)).__name__
        instead = f", or use nearfield.{kind.lower()}s.Expression" if kind != "Transform" else ""
        raise ValueError(
            f"{part!r} cannot be derived, because only its numbers are known: set `expression`, its formula"
            f" as text, in the class{instead}"
        )
    tree = part.expressed()
    if not has_low_roots(tree):
        raise ValueError(
            f"{part!r} cannot be derived, because an exponent in it has too many digits for exact algebra:"
            " make it a parameter, which stays a letter"
        )
    try:
        expression = symbolic(tree)
    except ValueError:
        raise ValueError(
            f"{part!r} cannot be derived, because max or min in it is taken of what is infinite"
        ) from None
    if not has_short_numbers(expression):
        raise ValueError(
            f"{part!r} cannot be derived, because a constant in it has too many digits for exact algebra:"
            " make it a parameter, which stays a letter"
        )
    return _with_real_slopes(expression)


def _with_real_slopes(expression: sp.Expr) -> sp.Expr:
    """The same with sqrt(x²) for the |x| of which SymPy cannot tell that x is real, as everything here is."""
    return expression.replace(
        lambda e: isinstance(e, sp.Abs) and e.args[0].is_extended_real is None,
        lambda e: sp.sqrt(e.args[0] ** 2),
    )


def value_of(part: Any, name: str) -> Any:
    """The value of a parameter: a field, or one of those that a formula was given."""
    written = getattr(part, "parameters", None)
    return written[name] if isinstance(written, dict) and name in written else getattr(part, name)


def number(expression: sp.Expr, values: dict[sp.Symbol, Any]) -> Any:
    """An expression at these values."""
    if not expression.free_symbols:
        return np.float64(expression)
    names = sorted(expression.free_symbols, key=str)
    try:
        tree = from_symbolic(expression)
    except ValueError as error:
        raise ValueError(f"what is derived cannot be computed: {error}") from None
    return numeric(tree, tuple(each.name for each in names))(*(values[each] for each in names))
