r"""What a formula of the documentation computes to, so that it can be held against the code.

Only as much LaTeX as the formulas need: numbers, letters, Greek letters, subscripts, powers, \frac, \log,
\sqrt, brackets, and products without a sign. A function takes the factor that follows it.

>>> round(evaluate(r"p \log\frac{p}{q}", {"p": 0.5, "q": 0.25}), 6)
0.346574
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

TOKEN = re.compile(r"\\left|\\right|\\[a-zA-Z]+(?:_\w)?|[a-zA-Z](?:_\w)?|\d|[-+/^(){}]")


def evaluate(formula: str, values: Mapping[str, Any]) -> Any:
    """The value of a formula in which every letter has a value."""
    reader = _Reader(formula, values)
    result = reader.sum()
    if reader.tokens:
        raise ValueError(f"{formula}: cannot read on from {reader.tokens[0]!r}")
    return result


class _Reader:
    def __init__(self, formula: str, values: Mapping[str, Any]) -> None:
        found = TOKEN.findall(formula)
        if "".join(found) != re.sub(r"\s+", "", formula):
            raise ValueError(f"{formula}: not all of it can be read")
        self.tokens = [token for token in found if token not in (r"\left", r"\right")]
        self.values = values

    def peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def take(self, expected: str = "") -> str:
        token = self.tokens.pop(0) if self.tokens else ""
        if expected and token != expected:
            raise ValueError(f"expected {expected!r}, found {token!r}")
        return token

    def sum(self) -> Any:
        total = self.product()
        while self.peek() in ("+", "-"):
            total = total + self.product() if self.take() == "+" else total - self.product()
        return total

    def product(self) -> Any:
        if self.peek() == "-":
            self.take()
            return -self.product()
        total = self.factor()
        while self.peek() not in ("", "+", "-", ")", "}"):
            if self.peek() == "/":
                self.take()
                total = total / self.factor()
            else:
                total = total * self.factor()
        return total

    def factor(self) -> Any:
        base = self.atom()
        if self.peek() == "^":
            self.take()
            base = np.power(base, self.atom())
        return base

    def atom(self) -> Any:
        token = self.take()
        if token in ("(", "{"):
            inner = self.sum()
            self.take(")" if token == "(" else "}")
            return inner
        if token in (r"\frac", r"\tfrac"):
            above = self.atom()
            return above / self.atom()
        if token == r"\log":
            return np.log(self.factor())
        if token == r"\sqrt":
            return np.sqrt(self.atom())
        if token[0].isdigit():
            return float(token)  # of one digit: \tfrac12 is a half
        if token not in self.values:
            raise ValueError(f"{token!r} has no value")
        return self.values[token]
