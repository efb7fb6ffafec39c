"""How much algebra SymPy is asked for. It has no bound of its own: exp(-f*sqrt(2)) keeps it busy for hours.

What counts is the polynomials that it would make of a formula: how many terms they may have, which goes by
their degree in each of the things that they are polynomials of, and the digits of their coefficients. All
this is bounded here by counting, before anything is multiplied out. A formula beyond the budget is none the
worse; what there is to know of it is then found out in numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from nearfield.algebra.expressions.numeric import EXACT, SCALAR, numeric
from nearfield.algebra.expressions.tree import Apply, Number, Tree, every, fold

LARGE = 60  # operations and names
DIGITS = 100  # of a number, above and below the line: those of 0.1 are 1 and 2
HIGH = 10**5  # the highest root of a number
ROOTS = 6  # the highest root that polynomials are made of: each multiplies their degree
TERMS = 1500  # of a polynomial
DEGREE = 64  # of one in several things: in one alone, terms are all that counts
SUMMANDS = 20  # of what stands in exp: it is the product of as many
COEFFICIENTS = 100  # digits that they may come to
CORNERS = frozenset({"abs", "max", "min", "sign", "step"})


def is_short(tree: Tree) -> bool:
    """Whether a formula has few parts, and no corners."""
    parts = list(every(tree))
    return len(parts) <= LARGE and not any(isinstance(t, Apply) and t.function in CORNERS for t in parts)


def is_simple(tree: Tree) -> bool:
    """Whether SymPy may have a formula at all: it is short, and of ordinary numbers.

    Examples
    --------
    >>> from nearfield.algebra.expressions import parse
    >>> [is_simple(parse(text, ("f",))) for text in ("exp(-0.1*f)", "exp(-1e300*f)", "max(1, f)")]
    [True, False, False]
    """
    numbers = [Fraction(repr(part.value)) for part in every(tree) if isinstance(part, Number)]
    ordinary = all(max(abs(each.numerator), each.denominator) < 10**DIGITS for each in numbers)
    return is_short(tree) and ordinary and has_low_roots(tree)


def has_low_roots(tree: Tree) -> bool:
    """Whether SymPy may write a formula at all: it looks for the roots of numbers as soon as it sees them.

    Examples
    --------
    >>> from nearfield.algebra.expressions import parse
    >>> [has_low_roots(parse(text, ("f",))) for text in ("(f/24)**0.4", "(f/24)**0.4321567", "f**0.4321567")]
    [True, False, True]
    """
    return bool(fold(tree, _root).high <= HIGH)


class Root(NamedTuple):
    """The root that powers within powers come to, the highest of numbers, and whether there are numbers."""

    own: int
    high: int = 1
    numbers: bool = False


def _root(tree: Tree, inside: tuple[Root, ...]) -> Root:
    """Count roots of numbers, such as 24^0.1234567: SymPy looks for the tenmillionth root of 24^1234567."""
    if not isinstance(tree, Apply):
        return Root(1, numbers=isinstance(tree, Number) and abs(tree.value) != 1)
    own = max(each.own for each in inside)
    if tree.function == "**":
        exponent = tree.arguments[1]
        own *= _exact(exponent).denominator if not exponent.names() else 1
        inside = inside[:1]
    numbers = any(each.numbers for each in inside)
    high = max(each.high for each in inside)
    return Root(own, max(high, own) if numbers else high, numbers)


def _exact(constant: Tree) -> Fraction:
    """The value of a constant as a fraction."""
    if isinstance(constant, Apply) and constant.function in EXACT:
        return Fraction(SCALAR[constant.function](*map(_exact, constant)))
    return Fraction(repr(float(numeric(constant, ("x",))(0.0))))


def has_short_numbers(expression: Any) -> bool:
    """Whether the numbers in an expression have so few digits that their products can still be written.

    Examples
    --------
    >>> import sympy
    >>> x = sympy.Symbol("x", positive=True)
    >>> has_short_numbers(x + sympy.Rational(1, 3)), has_short_numbers(x + sympy.Integer(3) ** 5000)
    (True, False)
    """
    import sympy

    return all(max(abs(each.p), each.q) < 10 ** (10 * DIGITS) for each in expression.atoms(sympy.Rational))


def is_small(expression: Any, letters: bool = False) -> bool:
    """Whether it is a matter of a moment to multiply an expression out, to cancel and to factor it.

    With `letters`, powers to an exponent with names in it are allowed: x^a is one more thing that polynomials
    are made of.

    Examples
    --------
    >>> import sympy
    >>> x = sympy.Symbol("x", positive=True)
    >>> is_small((1 + x) ** 9), is_small((1 + x) ** sympy.Rational(1, 7)), is_small((1 + x) ** 10_000)
    (True, False, False)
    """
    import sympy

    if expression.count_ops() > LARGE:
        return False
    powers = [power.exp for power in expression.atoms(sympy.Pow)]
    if letters:
        lettered = [power for power in powers if power.free_symbols]
        numbers = {number for power in lettered for number in power.atoms(sympy.Rational)}
        powers = [power for power in powers if not power.free_symbols] + sorted(numbers)
        if any(abs(number.p) > DEGREE for number in numbers):  # f^(3.3 - a) is f^33 of tenth roots, and f^a
            return False
    if not all(power.is_Rational and power.q <= ROOTS for power in powers):
        return False
    exponents = [each.args[0] for each in expression.atoms(sympy.exp)]
    if any(extent(each).terms > SUMMANDS for each in exponents):
        return False
    found = extent(expression)
    return found.terms <= TERMS and found.digits <= COEFFICIENTS and found.is_low


@dataclass
class Extent:
    """No less than the degrees of a fraction above and below the line, and the digits of its numbers.

    The degrees are in whatever SymPy makes polynomials of: names, roots, logarithms, exponentials.
    """

    above: Counter[Any] = field(default_factory=Counter)
    below: Counter[Any] = field(default_factory=Counter)
    digits: float = 0.0

    @property
    def terms(self) -> int:
        """How many terms there can be, above or below."""
        return math.prod(1 + degree for degree in (self.above | self.below).values())

    @property
    def is_low(self) -> bool:
        """Whether no degree is high, unless it is the only one."""
        degrees = (self.above | self.below).values()
        return len(degrees) == 1 or max(degrees, default=0) <= DEGREE

    def __mul__(self, other: Extent) -> Extent:
        return Extent(self.above + other.above, self.below + other.below, self.digits + other.digits)

    def __add__(self, other: Extent) -> Extent:
        above = (self.above + other.below) | (other.above + self.below)
        return Extent(above, self.below + other.below, self.digits + other.digits)

    def __pow__(self, n: int) -> Extent:
        above, below = (
            Counter({key: abs(n) * degree for key, degree in each.items()})
            for each in (self.above, self.below)
        )
        digits = min(abs(n), 10**200) * self.digits  # beyond all bounds, but a float
        return Extent(*((above, below) if n > 0 else (below, above)), digits)


def has_quick_limit(expression: Any, variable: Any) -> bool:
    """Whether SymPy's way to a limit is short: one of powers and logarithms, and of no exponentials.

    Examples
    --------
    >>> import sympy
    >>> x = sympy.Symbol("x", positive=True)
    >>> has_quick_limit(x * sympy.log(x), x), has_quick_limit(x * sympy.exp(-sympy.log(x) / x), x)
    (True, False)
    """
    import sympy

    exponents = [each.exp for each in expression.atoms(sympy.Pow, sympy.exp)]
    return expression.count_ops() <= LARGE // 2 and not any(each.has(variable) for each in exponents)


def extent(expression: Any) -> Extent:
    """How large polynomials of an expression may become."""
    import sympy

    if expression.is_Rational:
        return Extent(digits=math.log10(max(1, abs(expression.p)) * expression.q))
    if expression.is_Add:
        return sum(map(extent, expression.args[1:]), extent(expression.args[0]))
    if expression.is_Mul:
        return math.prod(map(extent, expression.args[1:]), start=extent(expression.args[0]))
    if expression.is_Pow and expression.exp.is_Integer:
        return extent(expression.base) ** int(expression.exp)
    if expression.is_Pow and expression.exp.is_Rational:
        return Extent(Counter({(expression.base, expression.exp.q): 1})) ** int(expression.exp.p)
    if isinstance(expression, sympy.exp):
        found = Extent()
        for summand in sympy.Add.make_args(sympy.expand(expression.args[0])):
            # exp(-2.5 f) is the fifth power of exp(-f/2), and what x^5 would be.
            factor, rest = summand.as_coeff_Mul()
            found *= Extent(Counter({(sympy.exp, rest, factor.q): 1})) ** int(factor.p)
        return found
    return Extent(Counter({expression: 1}))
