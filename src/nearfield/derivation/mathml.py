"""Equations as MathML, which browsers set without a script."""

from __future__ import annotations

from html import escape
from typing import Any

from nearfield.derivation.layout import (
    Call,
    Fraction,
    Group,
    Name,
    Number,
    Power,
    Root,
    Row,
    Sigma,
    Sign,
)

BRACKETS = ("()", "[]", "{}")
SPACE = '<mspace width="0.17em"></mspace>'  # as thin as that of LaTeX


def mathml(node: Any, block: bool = False) -> str:
    """The equation as a <math> element, on a line of its own if it is a block.

    >>> from nearfield.derivation.layout import row
    >>> mathml(row("w_ij"))
    '<math><msub><mi>w</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub></math>'
    """
    display = ' display="block"' if block else ""
    return f"<math{display}>{_inner(node)}</math>"


def _inner(node: Any) -> str:
    """A row's parts without an element around them."""
    return "".join(map(element, node.parts)) if isinstance(node, Row) else element(node)


def element(node: Any) -> str:
    """One element for a node."""
    if isinstance(node, Name):
        letter = _letter(node)
        return f"<msub>{letter}{_index(node.index)}</msub>" if node.index else letter
    if isinstance(node, Number):
        return f"<mn>{node.text}</mn>"
    if isinstance(node, Sign):
        form = ' form="prefix"' if node.unary else ""
        return f"<mo{form}>{escape(node.text)}</mo>"
    if isinstance(node, Row):
        return f"<mrow>{_inner(node)}</mrow>"
    if isinstance(node, Fraction):
        return f"<mfrac>{element(node.above)}{element(node.below)}</mfrac>"
    if isinstance(node, Power):
        return f"<msup>{element(node.base)}{element(node.exponent)}</msup>"
    if isinstance(node, Root):
        return f"<msqrt>{_inner(node.body)}</msqrt>"
    if isinstance(node, Group):
        return _bracketed(node.body, BRACKETS[node.level])
    if isinstance(node, Call):
        if node.function == "exp":
            return f"<msup><mi>e</mi>{element(node.argument)}</msup>"
        argument = node.argument
        inner = SPACE + element(argument) if isinstance(argument, Fraction) else _bracketed(argument, "()")
        return f"<mrow>{SPACE}<mi>{node.function}</mi>{inner}</mrow>"
    assert isinstance(node, Sigma)
    return f'<munder><mo movablelimits="false">∑</mo>{_index(node.index)}</munder>{SPACE}'


def _bracketed(body: Any, pair: str) -> str:
    left, right = (f'<mo fence="true" stretchy="true">{each}</mo>' for each in pair)
    return f"<mrow>{left}{_inner(body)}{right}</mrow>"


def _letter(node: Name) -> str:
    letter = node.text.rstrip("′")
    primes = node.text[len(letter) :]
    over = letter.endswith("\u0304")
    if letter.endswith(" "):
        return f"<mi>{letter.strip()}</mi>{SPACE}"
    if node.upright:
        written = f'<mi mathvariant="normal">{escape(letter)}</mi>'
    elif over:
        written = f'<mover accent="true"><mi>{letter[0]}</mi><mo>¯</mo></mover>'
    else:
        written = f"<mi>{escape(letter)}</mi>"
    return f"<msup>{written}<mo>{primes}</mo></msup>" if primes else written


def _index(index: str) -> str:
    letters = [f"<mi>{letter}</mi>" if letter.isalpha() else f"<mo>{letter}</mo>" for letter in index]
    return letters[0] if len(letters) == 1 else f"<mrow>{''.join(letters)}</mrow>"
