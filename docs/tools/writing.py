"""Markdown, as the reference pages are written in it."""

from __future__ import annotations

from collections.abc import Iterable

NOTE = "<!-- Written by docs/tools/generate.py from the code. Change the code, then run: make docs -->"


def page(title: str, *blocks: str) -> str:
    """A whole page."""
    return "\n\n".join([NOTE, f"# {title}", *(block for block in blocks if block)]) + "\n"


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


def math(formula: str) -> str:
    """A formula within a line."""
    return f"${formula}$" if formula else ""


def display(*formulas: str) -> str:
    """Formulas on a line of their own."""
    return "$$\n" + r" \qquad ".join(formulas) + "\n$$"


def link(text: str, page: str, anchor: str = "") -> str:
    """A link to a heading of a page of the reference."""
    return f"[{text}]({page}.md{'#' + anchor.lower() if anchor else ''})"


def yes(value: bool) -> str:
    """A truth value for people."""
    return "yes" if value else "no"
