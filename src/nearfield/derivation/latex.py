"""Equations as LaTeX."""

from __future__ import annotations

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

COMMANDS = {
    "α": r"\alpha",
    "β": r"\beta",
    "γ": r"\gamma",
    "δ": r"\delta",
    "ε": r"\epsilon",
    "θ": r"\theta",
    "κ": r"\kappa",
    "λ": r"\lambda",
    "ν": r"\nu",
    "π": r"\pi",
    "∂": r"\partial",
}
SIGNS = {"−": "-", "→": r"\to", "‖": r"\Vert", "∈": r"\in", "·": r"\cdot", "≥": r"\ge", "≈": r"\approx"}
BRACKETS = (("(", ")"), ("[", "]"), (r"\{", r"\}"))
MEAN = "\u0304"  # the bar over the letter before it
FUNCTIONS = {"log", "exp", "max", "min"}


def latex(node: Any) -> str:
    r"""The equation without its delimiters.

    >>> from nearfield.derivation.layout import equation, row
    >>> latex(equation("q_ij", Fraction(row("w_ij"), row("S"))))
    'q_{ij} = \\frac{w_{ij}}{S}'
    """
    if isinstance(node, Name):
        return _name(node)
    if isinstance(node, Number):
        return node.text
    if isinstance(node, Sign):
        sign = SIGNS.get(node.text, node.text)
        return sign if node.unary else f" {sign} "
    if isinstance(node, Row):
        return _row(node)
    if isinstance(node, Fraction):
        return rf"\frac{{{latex(node.above)}}}{{{latex(node.below)}}}"
    if isinstance(node, Power):
        return f"{latex(node.base)}^{{{latex(node.exponent)}}}"
    if isinstance(node, Root):
        return rf"\sqrt{{{latex(node.body)}}}"
    if isinstance(node, Group):
        left, right = BRACKETS[node.level]
        return rf"\left{left}{latex(node.body)}\right{right}"
    if isinstance(node, Call):
        return _call(node)
    assert isinstance(node, Sigma)
    return rf"\sum_{{{node.index}}}"


def _name(node: Name) -> str:
    letter = node.text
    primes = letter.count("′")
    letter = letter.rstrip("′")
    if letter.strip() in FUNCTIONS:
        return rf"\{letter.strip()}"
    if node.upright:
        letter = letter.replace("‖", r" \Vert ")
        letter = rf"\mathrm{{{letter}}}" if letter.isalpha() and len(letter) > 1 else letter
    elif letter.endswith(MEAN):
        letter = rf"\bar {letter[0]}"
    letter = COMMANDS.get(letter, letter)
    return letter + "'" * primes + (f"_{{{node.index}}}" if node.index else "")


def _call(node: Call) -> str:
    function = rf"\{node.function}" if node.function in FUNCTIONS else rf"\mathrm{{{node.function}}}"
    if node.function == "exp":
        return f"e^{{{latex(node.argument)}}}"
    if isinstance(node.argument, Fraction):
        return f"{function}{latex(node.argument)}"
    return rf"{function}\left({latex(node.argument)}\right)"


def _row(node: Row) -> str:
    out = ""
    for part in map(latex, node.parts):
        # A command must not run into the letter after it; what a divergence is of follows its name closely.
        out += part if not out or part.startswith("(") else f" {part}"
    return " ".join(out.split())
