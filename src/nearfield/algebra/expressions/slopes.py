"""The derivative of a tree, by the rules of the schoolbook.

SymPy finds shorter ones, and for some formulas takes for ever; this one is always there.
"""

from __future__ import annotations

from nearfield.algebra.expressions.tree import Apply, Name, Number, Tree

ZERO, ONE = Number(0), Number(1)


def slope(tree: Tree, name: str) -> Tree:
    """∂ tree/∂ name.

    Examples
    --------
    >>> from nearfield.algebra.expressions import parse
    >>> print(slope(parse("p*log(q) + q**3", ("p", "q")), "q"))
    p/q + 3*q**2
    """
    if isinstance(tree, Name):
        return ONE if tree.name == name else ZERO
    if not isinstance(tree, Apply):
        return ZERO
    parts = tree.arguments
    slopes = tuple(slope(each, name) for each in parts)
    if all(each == ZERO for each in slopes):
        return ZERO
    if tree.function in ("max", "min"):
        return _of_extremum(tree.function, parts, slopes)
    if len(parts) == 1:
        return _of_function(tree, parts[0], slopes[0])
    (a, b), (da, db) = parts, slopes
    if tree.function == "+":
        return add(da, db)
    if tree.function == "-":
        return subtract(da, db)
    if tree.function == "*":
        return add(multiply(da, b), multiply(a, db))
    if tree.function == "/":
        return subtract(divide(da, b), divide(multiply(a, db), multiply(b, b)))
    if db == ZERO:
        return multiply(multiply(b, power(a, subtract(b, ONE))), da)
    return multiply(tree, add(multiply(db, Apply("log", (a,))), divide(multiply(b, da), a)))


def logarithm(tree: Tree) -> Tree:
    """Log tree, taken of the factors of products and of the bases of powers, which underflow less.

    Examples
    --------
    >>> from nearfield.algebra.expressions import parse
    >>> print(logarithm(parse("exp(-f)/(1 + f)**0.7", ("f",))))
    -f - 0.7*log1p(f)
    """
    if tree == ONE:
        return ZERO
    if not isinstance(tree, Apply):
        return Apply("log", (tree,))
    parts = tree.arguments
    if tree.function == "exp":
        return parts[0]
    if tree.function == "*":
        return add(logarithm(parts[0]), logarithm(parts[1]))
    if tree.function == "/":
        return subtract(logarithm(parts[0]), logarithm(parts[1]))
    if tree.function == "**":
        return multiply(parts[1], logarithm(parts[0]))
    if tree.function == "sqrt":
        return divide(logarithm(parts[0]), Number(2))
    if tree.function == "+" and ONE in parts:
        return Apply("log1p", (parts[1] if parts[0] == ONE else parts[0],))
    return Apply("log", (tree,))


def _of_function(tree: Apply, x: Tree, dx: Tree) -> Tree:
    """The chain rule."""
    if tree.function == "neg":
        return subtract(ZERO, dx)
    if tree.function == "log":
        return divide(dx, x)
    if tree.function == "log1p":
        return divide(dx, add(ONE, x))
    if tree.function == "sqrt":
        return divide(dx, multiply(Number(2), tree))
    if tree.function in ("exp", "expm1"):
        return multiply(Apply("exp", (x,)), dx)
    if tree.function == "abs":
        return multiply(Apply("sign", (x,)), dx)
    return ZERO  # sign and step are flat but for the corner


def _of_extremum(function: str, parts: tuple[Tree, ...], slopes: tuple[Tree, ...]) -> Tree:
    """The slope of the one that is largest, or least; where two are, the mean."""
    (first, *others), (slope_of_first, *slopes_of_others) = parts, slopes
    if not others:
        return slope_of_first
    rest = Apply(function, tuple(others)) if len(others) > 1 else others[0]
    ahead = subtract(first, rest) if function == "max" else subtract(rest, first)
    wins = Apply("step", (ahead,))
    slope_of_rest = _of_extremum(function, tuple(others), tuple(slopes_of_others))
    return add(multiply(wins, slope_of_first), multiply(subtract(ONE, wins), slope_of_rest))


# Operators that leave out what does nothing ----------------------------------------------------------------


def add(a: Tree, b: Tree) -> Tree:
    """A + b."""
    if a == ZERO:
        return b
    return a if b == ZERO else Apply("+", (a, b))


def subtract(a: Tree, b: Tree) -> Tree:
    """A - b."""
    if b == ZERO:
        return a
    if isinstance(a, Number) and isinstance(b, Number):
        return Number(a.value - b.value)
    return Apply("neg", (b,)) if a == ZERO else Apply("-", (a, b))


def multiply(a: Tree, b: Tree) -> Tree:
    """A b."""
    if ZERO in (a, b):
        return ZERO
    if a == ONE:
        return b
    if isinstance(b, Apply) and b.function == "/" and b.arguments[0] == ONE:
        return divide(a, b.arguments[1])
    return a if b == ONE else Apply("*", (a, b))


def divide(a: Tree, b: Tree) -> Tree:
    """A / b."""
    return ZERO if a == ZERO else Apply("/", (a, b))


def power(a: Tree, b: Tree) -> Tree:
    """A to the power of b."""
    return a if b == ONE else Apply("**", (a, b))
