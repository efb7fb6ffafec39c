"""The tree of a formula: numbers, names, and operators or functions of these; plain data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# How tightly each operator binds; "neg" is the minus before a term.
PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3, "**": 4}
# What may be called in a text, and how many arguments it takes; None is two or more.
FUNCTIONS: dict[str, int | None] = {
    "log": 1,
    "log1p": 1,
    "exp": 1,
    "expm1": 1,
    "sqrt": 1,
    "abs": 1,
    "max": None,
    "min": None,
}
# What derivatives bring in beside: the slopes of abs, max and min.
SLOPES = {"sign": 1, "step": 1}
CONSTANTS = {"pi": math.pi, "e": math.e}


class Tree:
    """A formula; see `Number`, `Name` and `Apply`."""

    def __iter__(self) -> Iterator[Tree]:
        return iter(())

    def names(self) -> frozenset[str]:
        """The names that stand in it."""
        return frozenset().union(*(each.names() for each in self))

    def replaced(self, known: Mapping[str, Tree]) -> Tree:
        """The formula with other formulas in place of some names."""
        return self


@dataclass(frozen=True)
class Number(Tree):
    """A number; whole ones stay whole."""

    value: int | float

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Name(Tree):
    """A variable or a parameter."""

    name: str

    def names(self) -> frozenset[str]:
        """The name itself."""
        return frozenset((self.name,))

    def replaced(self, known: Mapping[str, Tree]) -> Tree:
        """What stands for the name."""
        return known.get(self.name, self)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Apply(Tree):
    """An operator of `PRECEDENCE` or a function of `FUNCTIONS` and `SLOPES`, with its arguments."""

    function: str
    arguments: tuple[Tree, ...]

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.arguments)

    def replaced(self, known: Mapping[str, Tree]) -> Tree:
        """The same of its arguments."""
        return Apply(self.function, tuple(each.replaced(known) for each in self.arguments))

    def __str__(self) -> str:
        if self.function not in PRECEDENCE:
            return f"{self.function}({', '.join(map(str, self.arguments))})"
        own = PRECEDENCE[self.function]
        if self.function == "neg":
            return f"-{_within(self.arguments[0], own)}"
        left, right = self.arguments
        if self.function == "**":  # binds to the right, and tighter than the minus before it
            return f"{_within(left, own + 1)}**{_within(right, own)}"
        gap = " " if own == 1 else ""
        return f"{_within(left, own)}{gap}{self.function}{gap}{_within(right, own + 1)}"


def _within(tree: Tree, least: int) -> str:
    """A part of a formula, in brackets if it binds less tightly than it must."""
    own = 9
    if isinstance(tree, Apply):
        own = PRECEDENCE.get(tree.function, own)
    elif isinstance(tree, Number) and tree.value < 0:
        own = PRECEDENCE["neg"]
    return f"({tree})" if own < least else str(tree)


def fold(tree: Tree, of: Callable[[Tree, tuple[Any, ...]], Any]) -> Any:
    """The result of a function of each node and of the results for its arguments, from the leaves up."""
    return of(tree, tuple(fold(each, of) for each in tree))


def every(tree: Tree) -> Iterator[Tree]:
    """The tree and all that is in it."""
    yield tree
    for each in tree:
        yield from every(each)
