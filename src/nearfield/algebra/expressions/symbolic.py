"""Between our tree and SymPy's expressions, node by node; no text is ever handed over."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from nearfield.algebra.expressions.limits import LARGEST
from nearfield.algebra.expressions.tree import CONSTANTS, Apply, Name, Number, Tree, fold


def symbol(name: str) -> Any:
    """The symbol of a name: a positive number, as all our variables are."""
    import sympy

    return sympy.Symbol(name, positive=True)


def symbolic(tree: Tree) -> Any:
    """The tree as a SymPy expression; decimal fractions become exact ones.

    Examples
    --------
    >>> from nearfield.algebra.expressions import parse
    >>> symbolic(parse("0.5*p*log(p/q)", ("p", "q")))
    p*log(p/q)/2
    """
    import sympy

    functions = {
        "+": sympy.Add,
        "-": lambda a, b: a - b,
        "*": sympy.Mul,
        "/": lambda a, b: a / b,
        "**": sympy.Pow,
        "neg": lambda a: -a,
        "log": sympy.log,
        "log1p": lambda a: sympy.log(1 + a),
        "exp": sympy.exp,
        "expm1": lambda a: sympy.exp(a) - 1,
        "sqrt": sympy.sqrt,
        "abs": sympy.Abs,
        "max": sympy.Max,
        "min": sympy.Min,
        "sign": sympy.sign,
        "step": sympy.Heaviside,
    }
    constants = {CONSTANTS["pi"]: sympy.pi, CONSTANTS["e"]: sympy.E}

    def of(node: Tree, inside: tuple[Any, ...]) -> Any:
        if isinstance(node, Number):
            if node.value in constants:
                return constants[node.value]
            exact = Fraction(repr(node.value))
            return sympy.Rational(exact.numerator, exact.denominator)
        if isinstance(node, Name):
            return symbol(node.name)
        assert isinstance(node, Apply)
        return functions[node.function](*inside)

    return fold(tree, of)


def from_symbolic(expression: Any) -> Tree:
    """A SymPy expression as a tree.

    Examples
    --------
    >>> from nearfield.algebra.expressions import parse
    >>> print(from_symbolic(symbolic(parse("p*log(p/q)", ("p", "q"))).diff(symbol("q"))))
    -p/q
    """
    import sympy

    if expression.is_Symbol:
        return Name(str(expression.name))
    if expression.is_Integer and abs(expression) <= LARGEST:
        return Number(int(expression))
    if expression.is_number:
        return _number(expression)
    if expression.is_Add:
        return _sum(expression)
    if expression.is_Mul:
        return _product(expression)
    if expression.is_Pow:
        return _power(expression.base, expression.exp)
    names = {
        sympy.log: "log",
        sympy.exp: "exp",
        sympy.Abs: "abs",
        sympy.Max: "max",
        sympy.Min: "min",
        sympy.sign: "sign",
        sympy.Heaviside: "step",
    }
    if expression.func not in names:
        raise ValueError(f"{expression.func} cannot be computed")
    arguments = expression.args
    if expression.func is sympy.Heaviside:
        arguments = arguments[:1]
    if expression.func is sympy.log and arguments[0].is_Add and 1 in arguments[0].args:
        return Apply("log1p", (from_symbolic(arguments[0] - 1),))
    return Apply(names[expression.func], tuple(from_symbolic(each) for each in arguments))


def _number(expression: Any) -> Tree:
    try:
        value = complex(expression)
    except OverflowError:
        value = complex(math.inf)
    if value.imag or not math.isfinite(value.real):
        raise ValueError(f"it holds {value}, which is no ordinary number")
    return Number(value.real)


def _sum(expression: Any) -> Tree:
    """Positive terms first, and the others taken away; e^x - 1 without the loss of its digits."""
    import sympy

    terms = sorted(expression.args, key=lambda term: bool(term.could_extract_minus_sign()))
    for sign in (1, -1):
        power = next((term for term in terms if isinstance(sign * term, sympy.exp)), None)
        if power is not None and -sign in terms:
            terms = [term for term in terms if term not in (power, -sign)]
            found = Apply("expm1", (from_symbolic((sign * power).args[0]),))
            result: Tree = found if sign == 1 else Apply("neg", (found,))
            break
    else:
        result = from_symbolic(terms.pop(0))
    for term in terms:
        if term.could_extract_minus_sign():
            result = Apply("-", (result, from_symbolic(-term)))
        else:
            result = Apply("+", (result, from_symbolic(term)))
    return result


def _product(expression: Any) -> Tree:
    """A fraction, so that it takes one division whatever the number of negative powers."""
    from sympy import Integer

    negative = bool(expression.could_extract_minus_sign())
    if negative:
        expression = -expression
    factors = expression.args if expression.is_Mul else (expression,)
    above: list[Any] = []
    below: list[Any] = []
    for factor in factors:
        if factor.is_Rational and not factor.is_Integer and max(factor.p, factor.q) < 1000:
            above += [] if factor.p == 1 else [Integer(factor.p)]
            below.append(Integer(factor.q))
        elif factor.is_Pow and factor.exp.could_extract_minus_sign():
            below.append(1 / factor)
        else:
            above.append(factor)
    top = _multiplied(above, negative)
    return Apply("/", (top, _multiplied(below))) if below else top


def _multiplied(factors: list[Any], negative: bool = False) -> Tree:
    result = from_symbolic(factors[0]) if factors else Number(1)
    if negative:
        result = Number(-result.value) if isinstance(result, Number) else Apply("neg", (result,))
    for factor in factors[1:]:
        result = Apply("*", (result, from_symbolic(factor)))
    return result


def _power(base: Any, exponent: Any) -> Tree:
    if exponent.could_extract_minus_sign():
        return Apply("/", (Number(1), from_symbolic(1 / base**exponent)))
    if exponent.is_Rational and (exponent.p, exponent.q) == (1, 2):
        return Apply("sqrt", (from_symbolic(base),))
    return Apply("**", (from_symbolic(base), from_symbolic(exponent)))
