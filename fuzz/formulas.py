"""Random formulas as costs and kernels: refused in one line, or with the derivative that they should have."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

FUNCTIONS = ("log", "log1p", "exp", "expm1", "sqrt", "abs")
NUMBERS = ("0", "1", "2", "3", "0.5", "1.5", "1e-3", "1e3", "pi", "e", "lam")
PLAUSIBLE = {
    "pq": (
        "p*log(p/q)",
        "q*log(q/p)",
        "(p - q)**2",
        "p*log(p/q) - p + q",
        "(sqrt(p) - sqrt(q))**2",
        "p/q",
        "q**lam",
    ),
    "f": ("1/(1 + f)", "exp(-f)", "(1 + f/lam)**-lam", "1/(1 + f)**2", "exp(-sqrt(f))", "exp(-f/2)/(1 + f)"),
}


def grown(dice: Random, names: str, depth: int = 4) -> str:
    """A formula that can be read, though it may make no sense as a cost."""
    if depth == 0 or dice.random() < 0.2:
        return dice.choice((*names, *names, dice.choice(NUMBERS)))
    left, right = (grown(dice, names, depth - 1) for _ in range(2))
    return dice.choice(
        (
            f"({left} {dice.choice('+-*/')} {right})",
            f"({left} {dice.choice('+-*/')} {right})",
            f"{dice.choice(FUNCTIONS)}({left})",
            f"({left})**{dice.choice(('2', '3', '0.5', '-1', 'lam'))}",
            f"{dice.choice(('max', 'min'))}({left}, {right})",
            f"-{left}",
        )
    )


def sensible(dice: Random, names: str) -> str:
    """One that makes sense, a sum of two such, or one with a small change."""
    known = PLAUSIBLE[names]
    return dice.choice(
        (
            dice.choice(known),
            f"lam*({dice.choice(known)}) + {dice.choice(known)}",
            f"({dice.choice(known)})*({grown(dice, names, 1)})",
            f"{dice.choice(known)} + 1e-3*({grown(dice, names, 2)})",
        )
    )


def broken(dice: Random, names: str) -> str:
    """One that was damaged: a piece taken out, doubled, or replaced."""
    text = grown(dice, names, 3)
    for _ in range(dice.choice((1, 2, 4))):
        a, b = sorted(dice.randrange(len(text) + 1) for _ in range(2))
        b = min(b, a + 4)
        strange = "".join(
            dice.choice("()+-*/., pqfe019_^%[]{}'\"\\:=<>!&|~@#$`\n\t\x00é²−∞") for _ in range(2)
        )
        text = dice.choice((text[:a] + text[b:], text[:b] + text[a:], text[:a] + strange + text[b:])) or "p"
    return text


# Where texts come from: functions of the dice and of the names of the variables. Others may be added.
TEXTS: list[Callable[[Random, str], str]] = [grown, sensible, sensible, broken]


def case(dice: Random) -> list[str]:
    """A cost or a kernel of one's own, looked at and used."""
    return _cost(dice) if dice.random() < 0.6 else _kernel(dice)


def _cost(dice: Random) -> list[str]:
    text = dice.choice(TEXTS)(dice, "pq")
    given = _parameters(dice, text)
    lines = [f"cost = nf.costs.Expression({text!r}{given})"]
    lines += [
        f"again = nf.costs.Expression(cost.written{given})",
        "assert again == cost and repr(again) == repr(cost)",
        "p, q = np.array([0.02, 0.1, 0.3, 0.7]), np.array([0.05, 0.2, 0.13, 0.6])",
        "h = 1e-6 * q",
        "with np.errstate(all='ignore'): slope = (cost.value(p, q + h) - cost.value(p, q - h)) / (2 * h)",
        "with np.errstate(all='ignore'): size = np.abs(cost.value(p, q)) / q + np.abs(slope)",
        "kept = np.isfinite(slope) & (size < 1e6)",
        "np.testing.assert_array_less(np.abs(cost.derivative(p, q) - slope)[kept], 1e-4 * size[kept] + 1e-6)",
    ]
    kernel, normalization = dice.choice(("Student()", "Gaussian()")), dice.choice(("pair", "point"))
    lines.append(f'method = nf.Method(cost, nf.kernels.{kernel}, "{normalization}")')
    return lines + _used(dice)


def _kernel(dice: Random) -> list[str]:
    text = dice.choice(TEXTS)(dice, "f")
    given = _parameters(dice, text)
    lines = [f"kernel = nf.kernels.Expression({text!r}{given})"]
    lines += [
        f"assert nf.kernels.Expression(kernel.written{given}) == kernel",
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


def _parameters(dice: Random, text: str) -> str:
    """The value of lam where it is in the text; now and then one that is not, or none that is."""
    if ("lam" in text) == (dice.random() < 0.03):
        return ""
    return f", lam={dice.choice((0.3, 1.0, 2, 0.5, -1.0, 0))}"


def _used(dice: Random) -> list[str]:
    """What the method is used for: a few iterations on some engine, or its gradient derived."""
    if dice.random() < 0.15:
        return ["assert str(nf.derive(method))"]
    engine = dice.choice(("auto", "exact", "mesh"))
    return [
        "X = np.random.default_rng(0).normal(size=(25, 4))",
        f'run = nf.Run(X, method, engine="{engine}", perplexity=5, random_state=0)',
        "run.step(5)",
        'assert np.isfinite(run.Y).all(), "the map is not finite"',
    ]
