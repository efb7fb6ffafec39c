"""A derivation as plain text, LaTeX, Markdown and HTML: one document, four ways to write its blocks."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

from nearfield.algebra.derive.latex import latex
from nearfield.algebra.derive.mathml import mathml
from nearfield.algebra.derive.steps import Step
from nearfield.algebra.derive.text import lines, text

WIDTH = 80  # columns of a terminal


def _sentence(step: Step, plain: Callable[[str], str], math: Callable[[Any], str]) -> str:
    """A step's sentence: its words one way, its equations another."""
    return "".join(plain(part) if isinstance(part, str) else math(part) for part in step.sentence).strip()


def as_text(title: str, about: str, steps: Iterable[Step], width: int = WIDTH) -> str:
    """Plain text with Unicode letters."""
    blocks = [title, "=" * len(title), "", *textwrap.wrap(about, width), ""]
    for number, step in enumerate(steps, 1):
        blocks.append(f"{number}. {step.title}")
        # An equation within a sentence is not torn apart at the end of a line.
        said = _sentence(step, str, lambda node: text(node).replace(" ", "\u00a0"))
        blocks += [line.replace("\u00a0", " ") for line in _wrapped(said, width)]
        for equation in step.equations:
            blocks += ["", *("       " + line for line in lines(equation, width - 8))]
        blocks.append("")
    return "\n".join(blocks).rstrip() + "\n"


def _wrapped(said: str, width: int) -> list[str]:
    """Lines of a paragraph; textwrap would break at spaces that are not to be broken."""
    out, line = [], "  "
    for word in said.split(" "):
        if len(line) + 1 + len(word) > width and line.strip():
            out.append(line)
            line = "  "
        line += (" " if line.strip() else " ") + word if line.strip() else " " + word
    return [*out, line]


def as_markdown(title: str, about: str, steps: Iterable[Step], level: int = 1) -> str:
    """Markdown with formulas between dollars."""
    blocks = [f"{'#' * level} {title}", about]
    for number, step in enumerate(steps, 1):
        blocks.append(f"{'#' * (level + 1)} {number}. {step.title}")
        blocks.append(_sentence(step, str, lambda node: f"${latex(node)}$"))
        blocks += [f"$$\n{latex(equation)}\n$$" for equation in step.equations]
    return "\n\n".join(blocks) + "\n"


# What LaTeX has no letter for, or another meaning of.
SPECIAL = {"→": r"$\to$", "²": r"$^2$", "∂": r"$\partial$", "·": r"$\cdot$", "_": r"\_", "‖": r"$\Vert$"}
GREEK = {"α": "alpha", "β": "beta", "ν": "nu"}


def _tex(words: str) -> str:
    """Words as LaTeX."""
    for sign, written in {**SPECIAL, **{letter: rf"$\{name}$" for letter, name in GREEK.items()}}.items():
        words = words.replace(sign, written)
    return words.replace("$$", "")


def as_latex(title: str, about: str, steps: Iterable[Step]) -> str:
    """A document that compiles as it is."""
    blocks = [
        r"\documentclass{article}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage{amsmath}",
        r"\begin{document}",
        rf"\section*{{{_tex(title)}}}",
        _tex(about),
    ]
    for number, step in enumerate(steps, 1):
        blocks.append(rf"\subsection*{{{number}. {_tex(step.title)}}}")
        blocks.append(_sentence(step, _tex, lambda node: f"${latex(node)}$"))
        if step.equations:
            rows = " \\\\\n".join(_aligned(latex(equation)) for equation in step.equations)
            blocks.append(f"\\begin{{align*}}\n{rows}\n\\end{{align*}}")
    return "\n".join([*blocks, r"\end{document}", ""])


def _aligned(equation: str) -> str:
    """An equation with the mark at which those of a step are aligned."""
    return equation.replace(" = ", " &= ", 1)


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
.equation { overflow-x: auto; overflow-y: hidden; padding: .35rem 0; }
math { font-size: 1.08em; }
math[display="block"] { width: max-content; margin: 0 auto; }
""".strip()


def html_body(title: str, about: str, steps: Iterable[Step]) -> str:
    """The article of an HTML page."""
    blocks = [f"<h1>{escape(title)}</h1>", f'<p class="about">{escape(about)}</p>']
    for number, step in enumerate(steps, 1):
        blocks.append(f"<h2><span>{number}</span>{escape(step.title)}</h2>")
        blocks.append(f"<p>{_sentence(step, escape, mathml)}</p>")
        blocks += [f'<div class="equation">{mathml(each, block=True)}</div>' for each in step.equations]
    return "<article>\n" + "\n".join(blocks) + "\n</article>"


def as_html(title: str, about: str, steps: Sequence[Step]) -> str:
    """A page that needs no network and no script."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{STYLE}\n</style>\n</head>\n"
        f"<body>\n{html_body(title, about, steps)}\n</body>\n</html>\n"
    )
