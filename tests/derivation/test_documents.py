"""A derivation reads well wherever it is read: terminal, LaTeX, Markdown, browser, notebook."""

import re
import xml.etree.ElementTree as xml
from html.parser import HTMLParser

import pytest
import sympy as sp

import nearfield as nf
from nearfield.derivation.latex import latex
from nearfield.derivation.layout import equation, of, over, row
from nearfield.derivation.links import P, Q, letter
from nearfield.derivation.mathml import mathml
from nearfield.derivation.text import lines, text

SOME = ["tsne", "jse", "msnerv", "itsne", "nsammon", "umap"]


@pytest.fixture(scope="module")
def found():
    return {name: nf.derive(name) for name in nf.methods()}


def test_a_step_for_each_link_and_what_follows_from_them(found):
    assert [step.title for step in found["jse"].steps] == [
        "The chain",
        "C → q",
        "q → w",
        "w → f",
        "f → d",
        "d → y",
        "The general stiffness",
        "The sum in the bracket",
        "The closed form",
        "The gradient",
        "Where p = 0",
        "The fast engine",
        "The check",
    ]
    assert [step.title for step in found["gkl"].steps][:3] == ["The chain", "C → w", "w → f"]
    assert [step.title for step in found["mds"].steps][:4] == ["The chain", "C → d", "d → d²", "d → y"]
    assert "The parameter nu" in [step.title for step in found["itsne"].steps]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_text_fits_the_terminal(found, width):
    for name, derivation in found.items():
        assert max(map(len, derivation.text(width).splitlines())) <= width, name


@pytest.mark.parametrize("name", nf.methods())
def test_every_step_has_a_sentence_and_all_formats_have_every_step(found, name):
    derivation = found[name]
    formats = [str(derivation), derivation.latex(), derivation.markdown(), derivation.html()]
    counts = [
        len(re.findall(pattern, written, flags=re.MULTILINE))
        for pattern, written in zip((r"^\d+\. ", r"^\\subsection\*", r"^## ", r"^<h2>"), formats, strict=True)
    ]
    assert counts == [len(derivation.steps)] * 4
    for step in derivation.steps:
        said = "".join(part if isinstance(part, str) else text(part) for part in step.sentence).strip()
        assert said[0].isupper(), said
        assert said.endswith("."), said


@pytest.mark.parametrize("name", nf.methods())
def test_latex_is_balanced_and_has_no_letters_that_it_lacks(found, name):
    written = found[name].latex()
    assert written.isascii()
    assert written.count(r"\left") == written.count(r"\right")
    for opening, closing in ("{}", "()", "[]"):
        plain = re.sub(r"\\[{}()\[\]]", "", written)
        assert plain.count(opening) == plain.count(closing)
    assert written.count(r"\begin{align*}") == written.count(r"\end{align*}") > 5
    assert written.startswith(r"\documentclass")


class Balance(HTMLParser):
    """Whether every element that opens is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", nf.methods())
def test_the_page_is_sound_and_needs_nothing_else(found, name):
    page = found[name].html()
    parser = Balance()
    parser.feed(page)
    assert parser.open == []
    assert not {"script", "link", "img"} & parser.seen
    assert "://" not in page
    assert "prefers-color-scheme: dark" in page
    for formula in re.findall(r"<math.*?</math>", page):
        for fraction in xml.fromstring(formula).iter():
            arity = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2}.get(fraction.tag)
            assert arity is None or len(fraction) == arity, formula


@pytest.mark.parametrize("name", SOME)
def test_markdown_has_its_dollars_in_pairs(found, name):
    written = found[name].markdown()
    assert written.count("$") % 2 == 0
    assert not re.search(r"\$\s*\$(?!\n)", written.replace("$$", ""))


def test_a_notebook_gets_a_page_and_a_line_says_what_it_is(found):
    derivation = found["tsne"]
    assert derivation._repr_html_().startswith("<article>")
    assert derivation._repr_markdown_() == derivation.markdown()
    assert repr(derivation) == "<derivation of tsne: ∂C/∂y_i = 4 Σ_j (p_ij − q_ij) w_ij (y_i − y_j)>"


def test_the_result_stands_at_the_top(found):
    top = str(found["nerv"]).partition("1. The chain")[0]
    assert "k_ij = β {λ (p_ij − q_ij) + (1 − λ) q_ij [log(p_ij/q_ij) + KL_i(Q‖P)]}" in top
    assert "k_ij" not in str(found["tsne"]).partition("1. The chain")[0]


LAM = letter("λ")


@pytest.mark.parametrize(
    ("expression", "plain", "typeset"),
    [
        (2 * Q - 2 * P, "2 (q − p)", r"2 \left(q - p\right)"),
        ((1 - LAM) * Q, "(1 − λ) q", r"\left(1 - \lambda\right) q"),
        ((LAM - 1) * Q, "−(1 − λ) q", r"- \left(1 - \lambda\right) q"),
        (P / (Q * LAM), "p/(λ q)", r"\frac{p}{\lambda q}"),
        (-P / 2 - Q / 2, "−(p + q)/2", r"- \frac{p + q}{2}"),
        (P**2 * Q**LAM, "p² q^λ", r"p^{2} q^{\lambda}"),
        (P ** (LAM - 1), "p^(λ − 1)", r"p^{\lambda - 1}"),
        ((P + Q) ** -2, "1/(p + q)²", r"\frac{1}{\left(p + q\right)^{2}}"),
    ],
)
def test_expressions_are_written_as_people_write_them(expression, plain, typeset):
    p, q = letter("p_ij"), letter("q_ij")
    indexed = of(expression.xreplace({P: p, Q: q}))
    assert text(indexed).replace("_ij", "") == plain
    assert latex(indexed).replace("_{ij}", "") == typeset


def test_a_long_equation_breaks_before_its_outermost_signs():
    long = equation("k_ij", sum(letter(f"a_{k}") * sp.log(P + Q) for k in "bcdefgh"))
    broken = lines(long, 40)
    assert len(broken) > 2
    assert all(len(line) <= 40 for line in broken)
    assert all(line.startswith("    + ") for line in broken[1:])
    assert " ".join(line.strip() for line in broken) == text(long)
    assert lines(long, 200) == [text(long)]


def test_a_fraction_before_a_factor_has_brackets_in_text_only():
    part = row(over("q_ij", "κ"), "w_ij")
    assert text(part) == "(q_ij/κ) w_ij"
    assert latex(part) == r"\frac{q_{ij}}{\kappa} w_{ij}"
    assert "(" not in mathml(part)
