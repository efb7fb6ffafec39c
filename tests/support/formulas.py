"""Formulas at random: what a person might write, and what only a machine would; the same for the same seed.

Each is a kind ("cost" or "kernel"), a text and its parameters. `outcomes` tells what the library makes of
them, in a process that can be ended where one of them has no end.
"""

import multiprocessing
import random
from collections.abc import Iterable, Iterator
from typing import Any

from nearfield import costs, kernels

Case = tuple[str, str, dict[str, float]]

ORDINARY = ("1", "2", "3", "10", "0.5", "0.1", "1.5", "0.25", "0.377")
# Digits, exponents and roots with which exact arithmetic takes for ever, if one lets it.
ODD = (
    *("0", "64", "63.5", "0.997", "0.123456789012345", "1234567890123456789", "3.3333333333333335"),
    *("1e300", "1e-300", "1e16", "1e-16", "1e100", "1e-5", "7e22", "9" * 60, "pi", "e"),
)
POWERS = (
    *("2", "3", "7", "17", "-1", "-2", "(1/3)", "(5/6)", "lam"),
    *("0.5", "1.5", "-0.5", "0.3", "-0.7", "0.123", "(0.5+0)"),
)
VALUES = (0.5, 0.3, 2, 1e-300, 0.1234567890123)  # of lam
LETTERS = {"probabilities": ("p", "q"), "weights": ("v", "w"), "distances": ("r", "d")}
# What a formula may be a part of, so that many are not refused at the first look.
AROUND = {
    "cost": (
        "{0}",
        "{0}*log({0}/{1})",
        "({0} - {1})**2",
        "{p}*log({p}/{q}) + {0}",
        "{q}*log({q}/{p}) + {0}",
        "{p}*{0}/{q}",
        "({p} - {q})**2*{0}",
        "{p}*log({p}/({p} + {q}*{0}))",
        "max({p}, {q})*{0}",
        "-{p}*log({q}) + {0}",
        "({p}/({q} + {0}))**7*exp(-{1}*{q})",
    ),
    "kernel": (
        "{0}",
        "exp(-{0})",
        "exp(-f*{0})",
        "1/(1 + {0})",
        "(1 + f*{0})**(-{1})",
        "exp(-f) + exp(-{0})",
        "exp(-f*{0}) + exp(-f*{1}) + exp(-0.789*f)",
        "1/(1 + f**{0})",
        "exp(-f)*{0}",
        "{0}/(1 + f)",
        "1/({0} + f)**2",
        "exp(-log1p({0}))",
        "log1p(1/(1 + {0}))",
        "min(1, {0}/(1 + f))",
        "1/((1 + f + {0})**17 + ({1} + sqrt(f))**7)",
    ),
}


class Writer:
    """Writes formulas in some names, of numbers that are odd more or less often."""

    def __init__(self, names: tuple[str, ...], chance: random.Random) -> None:
        self.names, self.chance = names, chance
        self.oddness = chance.choice((0.0, 0.1, 0.5))

    def formula(self, depth: int) -> str:
        """A formula with so many levels of brackets, at the most."""
        chance = self.chance
        if depth <= 0 or chance.random() < 0.15:
            return self.leaf()
        kind = chance.random()
        if kind < 0.6:
            operator = chance.choice("++-**//")
            return f"({self.formula(depth - 1)}{operator}{self.formula(depth - 1)})"
        if kind < 0.78:
            return f"({self.formula(depth - 1)})**{chance.choice(POWERS)}"
        if kind < 0.95:
            function = chance.choice(("log", "log1p", "exp", "expm1", "sqrt", "abs"))
            return f"{function}({self.formula(depth - 1)})"
        return f"{chance.choice(('max', 'min'))}({self.formula(depth - 1)}, {self.formula(depth - 1)})"

    def leaf(self) -> str:
        """A name or a number."""
        chance = self.chance
        if chance.random() < 0.6:
            return chance.choice((*self.names, *self.names, "lam"))
        return chance.choice(ODD if chance.random() < self.oddness else ORDINARY)


def formula(seed: int) -> Case:
    """The kind, the text and the parameters of the formula of this number."""
    chance = random.Random(seed)
    kind = chance.choice(("cost", "kernel"))
    names = LETTERS[chance.choice(tuple(LETTERS))] if kind == "cost" else ("f",)
    writer = Writer(names, chance)
    depth = chance.choice((1, 1, 2, 2, 3, 4, 5, 6))
    around = chance.choice(AROUND[kind])
    text = around.format(writer.formula(depth), writer.formula(depth), p=names[0], q=names[-1])
    return kind, text, {"lam": chance.choice(VALUES)} if "lam" in text else {}


def outcome(kind: str, text: str, parameters: dict[str, float]) -> str:
    """Whether it was built, refused, or failed in any other way, and why."""
    try:
        {"cost": costs, "kernel": kernels}[kind].Expression(text, **parameters)
    except (ValueError, TypeError) as error:
        return f"refused: {error}"
    except Exception as error:
        return f"failed: {type(error).__name__}: {error}"
    return "built"


def outcomes(cases: Iterable[Case], patience: float = 120.0) -> Iterator[str]:
    """The outcome of each; "no end" of what takes longer than anybody waits for."""
    context, worker = multiprocessing.get_context("spawn"), None
    for case in cases:
        if worker is None:
            ours, theirs = context.Pipe()
            worker = context.Process(target=_answer, args=(theirs,), daemon=True)
            worker.start()
        ours.send(case)
        if ours.poll(patience):
            yield ours.recv()
            continue
        worker.kill()
        worker.join()
        worker = None
        yield "no end"
    if worker is not None:
        ours.send(None)
        worker.join()


def _answer(pipe: Any) -> None:
    while (case := pipe.recv()) is not None:
        pipe.send(outcome(*case))
