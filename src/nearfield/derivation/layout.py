"""How an equation is built, whatever it is written in: a small tree, and SymPy's expressions as such trees.

The trees exist because SymPy keeps neither the order of factors nor the places of brackets, and a formula
that people are to recognise needs both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from nearfield.derivation.brackets import negative
from nearfield.derivation.links import is_total


@dataclass(frozen=True)
class Name:
    """A letter with an index, slanted; or a word, upright."""

    text: str
    index: str = ""
    upright: bool = False


@dataclass(frozen=True)
class Number:
    """A number."""

    text: str


@dataclass(frozen=True)
class Sign:
    """An operator or relation between its neighbours; a sign without space where `unary`."""

    text: str
    unary: bool = False


@dataclass(frozen=True)
class Row:
    """Parts side by side."""

    parts: tuple[Any, ...]


@dataclass(frozen=True)
class Fraction:
    """One over the other."""

    above: Any
    below: Any


@dataclass(frozen=True)
class Power:
    """A base and its exponent."""

    base: Any
    exponent: Any


@dataclass(frozen=True)
class Root:
    """A square root."""

    body: Any


@dataclass(frozen=True)
class Group:
    """Something in brackets."""

    body: Any

    @property
    def level(self) -> int:
        """0 for round brackets, 1 for square ones, 2 for braces: by what is within."""
        return min(2, _depth(self.body))


@dataclass(frozen=True)
class Call:
    """A function and its argument."""

    function: str
    argument: Any


@dataclass(frozen=True)
class Sigma:
    """The sign of a sum over an index."""

    index: str


def parts_of(node: Any) -> tuple[Any, ...]:
    """The parts of a row, or the node itself."""
    return node.parts if isinstance(node, Row) else (node,)


def is_sum(node: Any) -> bool:
    """Whether a node needs brackets as a factor."""
    return isinstance(node, Row) and any(isinstance(part, Sign) for part in node.parts)


def factor(node: Any) -> Any:
    """A node as a factor."""
    return Group(node) if is_sum(node) else node


def _depth(node: Any) -> int:
    if isinstance(node, Row):
        return max((_depth(part) for part in node.parts), default=0)
    if isinstance(node, Group):
        return 1 + _depth(node.body)
    if isinstance(node, Call):
        return 1 + _depth(node.argument)
    if isinstance(node, Fraction):
        return max(_depth(node.above), _depth(node.below))
    return _depth(node.base) if isinstance(node, Power) else 0


def row(*parts: Any) -> Row:
    """Parts side by side; SymPy's expressions and strings such as "y_i" are laid out."""
    return Row(tuple(laid(part) for part in parts))


def equation(left: Any, right: Any, *more: Any) -> Row:
    """Left = right = …"""
    return chained(left, right, *more, sign="=")


def partial(above: Any, below: Any) -> Fraction:
    """∂above/∂below."""
    return Fraction(row(Name("∂"), above), row(Name("∂"), below))


def over(above: Any, below: Any) -> Fraction:
    """above/below."""
    return Fraction(laid(above), laid(below))


def chained(*parts: Any, sign: str = "→") -> Row:
    """A → b → c."""
    out: list[Any] = [laid(parts[0])]
    for part in parts[1:]:
        out += [Sign(sign), laid(part)]
    return Row(tuple(out))


def difference(a: str, b: str) -> Group:
    """(a - b), such as the direction y_i - y_j."""
    return Group(row(a, Sign("−"), b))


def laid(what: Any) -> Any:
    """A node, whatever was given."""
    if isinstance(what, str):
        return name(what)
    if isinstance(what, int):
        return Number(str(what))
    return of(what) if isinstance(what, sp.Basic) else what


def name(text: str) -> Any:
    """The node of a symbol's name: p_ij has the index ij, KL_i(Q‖P) is a function."""
    letter, _, index = text.partition("_")
    if text.startswith(("KL(", "KL_")):
        index, _, arguments = index.partition("(") if index else ("", "", letter.partition("(")[2])
        return Row((Name("KL", index, True), Name(f"({arguments}", upright=True)))
    return Name(letter, index, upright=letter.isascii() and letter.isalpha() and len(letter) > 1)


def of(expression: sp.Expr) -> Any:
    """A SymPy expression as a node."""
    if expression.is_Add:
        return _sum(expression)
    if expression.is_Mul:
        return _product(expression)
    if expression.is_Rational and not expression.is_Integer:
        fraction = Fraction(Number(str(abs(expression.p))), Number(str(expression.q)))
        return fraction if expression > 0 else Row((Sign("−", True), fraction))
    if expression.is_Number:
        text = str(expression) if expression.is_Integer else f"{float(expression):g}"
        return Row((Sign("−", True), Number(text[1:]))) if text.startswith("-") else Number(text)
    if expression.is_Symbol:
        return name(expression.name)
    if isinstance(expression, sp.exp):
        return Call("exp", of(expression.args[0]))
    if expression.is_Pow:
        return _power(expression)
    if expression.is_Function:
        function = {"Heaviside": "step", "Abs": "abs", "Max": "max", "Min": "min"}
        called = type(expression).__name__
        arguments: list[Any] = []
        for argument in expression.args[: 1 if called == "Heaviside" else None]:
            arguments += [*([Sign(",")] if arguments else []), of(argument)]
        return Call(
            function.get(called, called), arguments[0] if len(arguments) == 1 else Row(tuple(arguments))
        )
    return Name({"pi": "π", "E": "e", "oo": "∞"}.get(str(expression), str(expression)), upright=True)


# What goes first in a product: numbers, parameters, quantities of pairs, brackets, logarithms.
def _rank(each: sp.Expr) -> tuple[int, str]:
    base = each.as_base_exp()[0]
    if each.is_Number:
        return 0, ""
    if base.is_Add:
        return (2 if not _indexed(base) else 5 if not each.has(sp.log) else 7), str(each)
    if not base.is_Symbol:
        return 8, str(each)
    if is_total(base):
        return 4, str(each)
    if not _indexed(base) or base.name[0] not in "prvgqszdfwS":
        return 1, str(each)
    return (3 if base.name[0] in "prvgqsz" else 6), f"{'prvgqszdfwS'.index(base.name[0]):02d}"


def _indexed(expression: sp.Expr) -> bool:
    return any("_" in symbol.name or is_total(symbol) for symbol in expression.free_symbols)


def _sum(expression: sp.Expr) -> Any:
    if not expression.is_Add:
        return of(expression)
    content, inner = expression.primitive()
    if all(_minus(term) for term in inner.args):
        content, inner = -content, -inner
    if content != 1:  # 2 (q - p) in place of 2 q - 2 p
        sign = (Sign("−", True),) if content < 0 else ()
        above, below = abs(content.p), content.q
        body = _sum(inner)
        if above != 1:
            body = Row((Number(str(above)), Group(body)))
        elif below == 1:
            body = Group(body)
        return Row((*sign, body if below == 1 else Fraction(body, Number(str(below)))))
    terms = sorted(expression.args, key=lambda term: (_minus(term), *_term_rank(term)))
    constant = sp.Add(*(term for term in terms if not _indexed(term)))
    if constant.is_Add and constant != expression and not negative(constant):
        # A constant such as 1 - λ stays together.
        return Row((*parts_of(_sum(constant)), Sign("+"), *parts_of(_sum(expression - constant))))
    parts: list[Any] = []
    for term in terms:
        minus = _minus(term)
        if parts:
            parts.append(Sign("−" if minus else "+"))
        elif minus:
            parts.append(Sign("−", True))
        parts.append(of(_turned(term) if minus else term))
    return Row(tuple(parts))


def _term_rank(term: sp.Expr) -> tuple[int, str]:
    if term.is_Number:
        return 0, ""
    ranks = [_rank(each) for each in sp.Mul.make_args(term) if not each.is_Number]
    sums = any(map(is_total, term.free_symbols))
    return (9 if sums and not term.has(sp.log) else 1), str(sorted(ranks))


def _minus(term: sp.Expr) -> bool:
    """Whether a term is to be taken away: -x, and (λ - 1) x as well."""
    return sum(_is_negative(each) for each in sp.Mul.make_args(term)) % 2 == 1


def _is_negative(each: sp.Expr) -> bool:
    """Whether a factor is a negative number, or looks like one as λ - 1 does."""
    if each.is_Number:
        return bool(each < 0)
    return bool(each.is_Add) and not _indexed(each) and negative(each)


def _turned(term: sp.Expr) -> sp.Expr:
    """The term without its minus."""
    factors = [-each if _is_negative(each) else each for each in sp.Mul.make_args(term)]
    return sp.Mul(*factors, evaluate=len(factors) == 1)


def _product(expression: sp.Expr) -> Any:
    if _minus(expression):
        return Row((Sign("−", True), of(_turned(expression))))
    above: list[sp.Expr] = []
    below: list[sp.Expr] = []
    number = sp.S.One  # that of sums among the factors included
    for each in sp.Mul.make_args(expression):
        if each.is_Rational:
            number *= each
        elif each.is_Add:
            content, inner = each.primitive()
            number *= content
            above.append(inner)
        elif each.is_Pow and each.exp.is_Rational and each.exp < 0:
            below.append(1 / each)
        else:
            above.append(each)
    above += [sp.Integer(number.p)] if number.p != 1 or not above else []
    below += [sp.Integer(number.q)] if number.q != 1 else []
    above.sort(key=_rank)
    below.sort(key=_rank)
    if not below:
        return _factors(above)
    # Long factors stand behind the fraction, unless there is nothing else to go above its line.
    plain = not any(each.is_Add or _indexed(each) for each in below)
    long = [each for each in above if each.has(sp.log) or (plain and each.is_Add and _indexed(each))]
    short = [each for each in above if each not in long]
    if not short and len(long) == 1 and long[0].is_Add and not long[0].has(sp.log):
        short, long = long, []
    fraction = Fraction(_factors(short), _factors(below))
    return Row((fraction, _factors(long, alone=False))) if long else fraction


def _factors(factors: list[sp.Expr], alone: bool = True) -> Any:
    """A product without fractions; a sum that is not alone takes brackets."""
    if not factors:
        return Number("1")
    if len(factors) == 1 and alone:
        return of(factors[0])
    return Row(tuple(factor(of(each)) for each in factors))


def _power(expression: sp.Expr) -> Any:
    base, exponent = expression.base, expression.exp
    if base == sp.E:
        return Call("exp", of(exponent))
    if exponent == sp.Rational(1, 2):
        return Root(of(base))
    if exponent.is_Rational and exponent < 0:
        return Fraction(Number("1"), of(1 / expression))
    bare = base.is_Symbol or (base.is_Number and base > 0)
    return Power(of(base) if bare else Group(of(base)), of(exponent))
