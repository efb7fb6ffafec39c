"""Equations as plain text with Unicode letters, for a terminal."""

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

BRACKETS = ("()", "[]", "{}")
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def text(node: Any) -> str:
    """The equation on one line.

    >>> from nearfield.derivation.layout import equation, row
    >>> text(equation("q_ij", Fraction(row("w_ij"), row("S"))))
    'q_ij = w_ij/S'
    """
    if isinstance(node, Name):
        return node.text + (f"_{node.index}" if node.index else "")
    if isinstance(node, Number):
        return node.text
    if isinstance(node, Sign):
        return node.text if node.unary else f"{node.text} " if node.text == "," else f" {node.text} "
    if isinstance(node, Row):
        return _row(node)
    if isinstance(node, Fraction):
        return f"{_factor(node.above)}/{_factor(node.below, below=True)}"
    if isinstance(node, Power):
        exponent = text(node.exponent)
        small = exponent.isdigit()
        if not small and not _single(node.exponent):
            exponent = f"({exponent})"
        return text(node.base) + (exponent.translate(SUPERSCRIPT) if small else f"^{exponent}")
    if isinstance(node, Root):
        return f"√{text(node.body)}" if _single(node.body) else f"√({text(node.body)})"
    if isinstance(node, Group):
        return BRACKETS[node.level][0] + text(node.body) + BRACKETS[node.level][1]
    if isinstance(node, Call):
        return f"{node.function}({text(node.argument)})"
    assert isinstance(node, Sigma)
    return f"Σ_{node.index}"


def _row(node: Row) -> str:
    out = ""
    previous: Any = None
    for k, part in enumerate(node.parts):
        written = text(part)
        followed = k + 1 < len(node.parts) and not isinstance(node.parts[k + 1], Sign)
        if isinstance(part, Fraction) and followed:
            written = f"({written})"  # or what follows would seem to be below the line
        if previous is not None and not _touches(previous, part):
            out += " "
        out += written
        previous = part
    return out


def _touches(previous: Any, part: Any) -> bool:
    """Whether there is no space between two neighbours."""
    if isinstance(part, Sign) or isinstance(previous, Sign):
        return True
    if isinstance(part, Name) and part.text.startswith("("):
        return True  # what a divergence is of
    if isinstance(previous, Name) and (previous.text == "∂" or previous.text.endswith(" ")):
        return True
    return isinstance(part, Group) and isinstance(previous, Group)


def _single(node: Any) -> bool:
    """Whether something needs no brackets beside a fraction's line."""
    if isinstance(node, Row):
        inner = [part for part in node.parts if not (isinstance(part, Name) and part.text == "∂")]
        if len(inner) == 2 and isinstance(inner[0], Name) and inner[0].upright:
            return True
        return len(inner) == 1 and _single(inner[0])
    return not isinstance(node, Fraction)


def _factor(node: Any, below: bool = False) -> str:
    written = text(node)
    if _single(node):
        return written
    if not below and isinstance(node, Row) and not any(isinstance(part, Sign) for part in node.parts):
        return written  # a product above the line reads well without
    return f"({written})"


def lines(node: Any, width: int) -> list[str]:
    """The equation on as many lines as its length takes, broken before the outermost signs."""
    rest, out = text(node), []
    while len(rest) > width:
        place = _break(rest, width)
        if place is None:
            break
        out.append(rest[:place].rstrip())
        rest = "    " + rest[place:]
    return [*out, rest]


def _break(line: str, width: int) -> int | None:
    """The last of the outermost signs that the line can be broken before."""
    depth, best, place = 0, 99, None
    for k, character in enumerate(line[:width]):
        depth += (character in "([{") - (character in ")]}")
        if character in "=+−" and line[k - 1 : k + 2] == f" {character} " and k > 24 and depth <= best:
            best, place = depth, k
    return place
