"""Random formulas as costs and kernels: refused in one line, or with the derivative that they should have."""

from __future__ import annotations

import re
from random import Random

from support.formulas import formula

STRANGE = "()+-*/., pqfe019_^%[]{}'\"\\:=<>!&|~@#$`\n\t\x00é²−∞"
# Numbers beside which a difference of two values has no digits left.
ODD = re.compile(r"\de-?\d|\d{10}")
DISTANCES, WEIGHTS = re.compile(r"\b[rd]\b"), re.compile(r"\b[vw]\b")


def case(dice: Random) -> list[str]:
    """A cost or a kernel of one's own, looked at and used."""
    kind, text, parameters = formula(dice.randrange(10**9))
    if dice.random() < 0.1:
        text = damaged(dice, text)
    given = "".join(f", {name}={value!r}" for name, value in parameters.items())
    if dice.random() < 0.02:  # a parameter that is not in it, or none that is
        given = "" if given else ", lam=0.3"
    return (_cost if kind == "cost" else _kernel)(dice, text, given)


def damaged(dice: Random, text: str) -> str:
    """A text with a piece taken out, doubled, or replaced."""
    for _ in range(dice.choice((1, 2, 4))):
        a, b = sorted(dice.randrange(len(text) + 1) for _ in range(2))
        b = min(b, a + 4)
        strange = "".join(dice.choice(STRANGE) for _ in range(2))
        text = dice.choice((text[:a] + text[b:], text[:b] + text[a:], text[:a] + strange + text[b:])) or "p"
    return text


def _cost(dice: Random, text: str, given: str) -> list[str]:
    lines = [
        f"cost = nf.costs.Expression({text!r}{given})",
        f"again = nf.costs.Expression(cost.written{given})",
        "assert again == cost and repr(again) == repr(cost)",
    ]
    if not ODD.search(text):
        lines += [
            "p, q = np.array([0.02, 0.1, 0.3, 0.7]), np.array([0.05, 0.2, 0.13, 0.6])",
            "h = 1e-6 * q",
            "with np.errstate(all='ignore'): a, b = cost.value(p, q - h), cost.value(p, q + h)",
            "slope = (b - a) / (2 * h)",
            "with np.errstate(all='ignore'): size = np.abs(a) / q + np.abs(slope)",
            "kept = np.isfinite(slope) & (size < 1e6)",
            "gap = np.abs(cost.derivative(p, q) - slope)",
            "np.testing.assert_array_less(gap[kept], 1e-4 * size[kept] + 1e-6)",
        ]
    kernel = dice.choice(("Student()", "Gaussian()"))
    if DISTANCES.search(text):
        lines.append("method = nf.Method(cost)")
    elif WEIGHTS.search(text):
        lines.append(f'method = nf.Method(cost, nf.kernels.{kernel}, "none")')
    else:
        lines.append(f'method = nf.Method(cost, nf.kernels.{kernel}, "{dice.choice(("pair", "point"))}")')
    return lines + _used(dice)


def _kernel(dice: Random, text: str, given: str) -> list[str]:
    lines = [
        f"kernel = nf.kernels.Expression({text!r}{given})",
        f"assert nf.kernels.Expression(kernel.written{given}) == kernel",
    ]
    if not ODD.search(text):
        lines += [
            "f = np.array([0.01, 0.3, 1.0, 5.0, 40.0])",
            "a, b = kernel.value(f - 1e-5 * f), kernel.value(f + 1e-5 * f)",
            "with np.errstate(all='ignore'): slope = (b - a) / (2e-5 * f)",
            "kept = np.isfinite(slope) & (kernel.value(f) > 1e-200)",
            "size = np.abs(slope) + kernel.value(f) / f",
            "gap = np.abs(kernel.derivative(f) - slope)",
            "np.testing.assert_array_less(gap[kept], (1e-3 * size)[kept] + 1e-9)",
        ]
    cost, normalization = dice.choice(("KL()", "JensenShannon(0.3)")), dice.choice(("pair", "point"))
    lines.append(f'method = nf.Method(nf.costs.{cost}, kernel, "{normalization}")')
    return lines + _used(dice)


def _used(dice: Random) -> list[str]:
    """What the method is used for: a few iterations on some engine, or its gradient derived."""
    if dice.random() < 0.35:
        return ["found = nf.derive(method)", "assert str(found) and found.latex() and found.html()"]
    engine = dice.choice(("auto", "exact", "mesh"))
    return [
        "X = np.random.default_rng(0).normal(size=(25, 4))",
        f'run = nf.Run(X, method, engine="{engine}", perplexity=5, random_state=0)',
        "run.step(5)",
        'assert np.isfinite(run.Y).all(), "the map is not finite"',
    ]
