"""A derivation as plain text, LaTeX, Markdown and HTML: one document, four ways to write its blocks."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

from nearfield.derivation.latex import latex
from nearfield.derivation.mathml import mathml
from nearfield.derivation.steps import Step
from nearfield.derivation.text import lines, text

WIDTH = 80  # columns of a terminal
INDENT = 7  # columns before an equation


@dataclass(frozen=True)
class Document:
    """A title, what it is about, the result, and how one gets there."""

    title: str
    about: str
    result: tuple[Any, ...]
    steps: tuple[Step, ...]


def _sentence(step: Step, plain: Callable[[str], str], math: Callable[[Any], str]) -> str:
    """A step's sentence: its words one way, its equations another."""
    return "".join(plain(part) if isinstance(part, str) else math(part) for part in step.sentence).strip()


def as_text(document: Document, width: int = WIDTH) -> str:
    """Plain text with Unicode letters."""
    title = document.title
    blocks = [title, "=" * len(title), "", *textwrap.wrap(document.about, width), ""]
    blocks += [*_indented(document.result, width), ""]
    for number, step in enumerate(document.steps, 1):
        blocks += [f"{number}. {step.title}", ""]
        # An equation within a sentence is not torn apart at the end of a line.
        said = _sentence(step, str, lambda node: text(node).replace(" ", GLUE))
        wrapped = textwrap.wrap(said, width - 3, break_on_hyphens=False)
        blocks += ["   " + line.replace(GLUE, " ") for line in wrapped]
        blocks += ["", *_indented(step.equations, width)] if step.equations else []
        blocks.append("")
    return "\n".join(blocks).rstrip() + "\n"


GLUE = "\u2060"  # no space to textwrap


def _indented(equations: Iterable[Any], width: int) -> list[str]:
    return [" " * INDENT + line for each in equations for line in lines(each, width - INDENT)]


def as_markdown(document: Document) -> str:
    """Markdown with formulas between dollars."""
    blocks = [f"# {document.title}", f"`{document.about}`"]
    blocks += [f"$$\n{latex(equation)}\n$$" for equation in document.result]
    for number, step in enumerate(document.steps, 1):
        blocks.append(f"## {number}. {step.title}")
        blocks.append(_sentence(step, str, lambda node: f"${latex(node)}$"))
        blocks += [f"$$\n{latex(equation)}\n$$" for equation in step.equations]
    return "\n\n".join(blocks) + "\n"


# What has another meaning in LaTeX, or no letter there.
SPECIAL = {each: rf"\{each}" for each in "&%$#_{}"} | {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}"}
SIGNS = {"→": r"\(\to\)", "²": r"\(^2\)", "·": r"\(\cdot\)"}


def _tex(words: str) -> str:
    """Words as LaTeX."""
    return "".join({**SPECIAL, **SIGNS}.get(character, character) for character in words)


def as_latex(document: Document) -> str:
    """A document that compiles as it is."""
    blocks = [
        r"\documentclass{article}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage{amsmath}",
        r"\begin{document}",
        rf"\section*{{{_tex(document.title)}}}",
        _tex(document.about),
        _align(document.result),
    ]
    for number, step in enumerate(document.steps, 1):
        blocks.append(rf"\subsection*{{{number}. {_tex(step.title)}}}")
        blocks.append(_sentence(step, _tex, lambda node: f"${latex(node)}$"))
        blocks += [_align(step.equations)] if step.equations else []
    return "\n".join([*blocks, r"\end{document}", ""])


def _align(equations: Iterable[Any]) -> str:
    """Equations under each other, aligned at their first sign of equality."""
    rows = " \\\\\n".join(latex(equation).replace(" = ", " &= ", 1) for equation in equations)
    return f"\\begin{{align*}}\n{rows}\n\\end{{align*}}"


STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fdfdfb; --faint: #6b6b66; --line: #dcdcd4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e4de; --paper: #17181a; --faint: #9a9a92; --line: #36373a; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.6 Georgia, serif; }
article { max-width: 44rem; margin: 0 auto; padding: 3rem 1.25rem 5rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .4rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h2 span { color: var(--faint); margin-right: .5em; font-variant-numeric: tabular-nums; }
p { margin: .4rem 0 .8rem; }
p.about { color: var(--faint); }
.result { border: 1px solid var(--line); border-radius: 6px; padding: .6rem 1rem; margin: 1.2rem 0; }
.equation { overflow-x: auto; overflow-y: hidden; padding: .35rem 0; }
math { font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math",
  "DejaVu Math TeX Gyre", math; font-size: 1.08em; }
math[display="block"] { width: max-content; margin: 0 auto; }
""".strip()


def html_body(document: Document) -> str:
    """The article of an HTML page."""
    blocks = [f"<h1>{escape(document.title)}</h1>", f'<p class="about">{escape(document.about)}</p>']
    blocks += ['<div class="result">', *map(_block, document.result), "</div>"]
    for number, step in enumerate(document.steps, 1):
        blocks.append(f"<h2><span>{number}</span>{escape(step.title)}</h2>")
        blocks.append(f"<p>{_sentence(step, escape, mathml)}</p>")
        blocks += map(_block, step.equations)
    return "<article>\n" + "\n".join(blocks) + "\n</article>"


def _block(equation: Any) -> str:
    return f'<div class="equation">{mathml(equation, block=True)}</div>'


def as_html(document: Document) -> str:
    """A page that needs no network and no script."""
    title = escape(document.title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{STYLE}\n</style>\n</head>\n"
        f"<body>\n{html_body(document)}\n</body>\n</html>\n"
    )
