"""The value of a formula on arrays, by walking its tree; what occurs twice is computed once."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nearfield.algebra.expressions.tree import Apply, Name, Number, Tree

PRODUCTS = 6  # the highest whole power that is a product

# Functions of plain numbers, with which constants are computed once and for all.
SCALAR: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "neg": operator.neg,
    "log": math.log,
    "log1p": math.log1p,
    "exp": math.exp,
    "expm1": math.expm1,
    "sqrt": math.sqrt,
    "abs": abs,
    "max": max,
    "min": min,
    "sign": lambda x: math.copysign(1.0, x) if x else 0.0,
    "step": lambda x: 0.5 * (1 + (math.copysign(1.0, x) if x else 0.0)),
}


def constant(function: str, values: Sequence[float]) -> float:
    """A function of plain numbers; not a number where it is undefined or overflows."""
    try:
        value = SCALAR[function](*values)
    except (ArithmeticError, ValueError):
        return math.nan
    return math.nan if isinstance(value, complex) else float(value)


def _power(x: Any, n: Any) -> Any:
    """x^n; small whole and half powers without a logarithm, which is what makes powers slow."""
    if not isinstance(n, float) or not abs(n) <= PRODUCTS or 2 * n != int(2 * n):
        return np.power(x, n)
    if n < 0:
        return 1 / _power(x, -n)
    whole = int(n)
    result = np.sqrt(x) if n != whole else None
    square = x
    while whole:
        if whole & 1:
            result = square if result is None else result * square
        whole >>= 1
        square = square * square if whole else square
    return np.ones_like(x) if result is None else result


def _largest(*values: Any) -> Any:
    result = values[0]
    for each in values[1:]:
        result = np.maximum(result, each)
    return result


def _least(*values: Any) -> Any:
    result = values[0]
    for each in values[1:]:
        result = np.minimum(result, each)
    return result


ARRAY: dict[str, Callable[..., Any]] = SCALAR | {
    "**": _power,
    "log": np.log,
    "log1p": np.log1p,
    "exp": np.exp,
    "expm1": np.expm1,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "max": _largest,
    "min": _least,
    "sign": np.sign,
    "step": lambda x: 0.5 * (1 + np.sign(x)),
}

EXACT = frozenset({"+", "-", "*", "/", "neg"})  # arithmetic, of which fractions remain fractions


def without_constants(tree: Tree) -> Tree:
    """The formula with numbers in place of log(2) and the like, with which algebra takes long.

    Examples
    --------
    >>> from nearfield.algebra.expressions import parse
    >>> print(without_constants(parse("p*sqrt(4) + 1/3", ("p",))))
    p*2.0 + 1/3
    """
    if not isinstance(tree, Apply):
        return tree
    if tree.function not in EXACT and not tree.names():
        return Number(float(numeric(tree, ("x",))(0.0)))
    return Apply(tree.function, tuple(without_constants(each) for each in tree))


Instruction = tuple[Callable[..., Any], tuple[int, ...]]


def numeric(tree: Tree, variables: Sequence[str]) -> Callable[..., Any]:
    """A function of arrays, in the order of the variables; float32 stays float32.

    Examples
    --------
    >>> from nearfield.algebra.expressions import parse
    >>> f = numeric(parse("p*log(p/q)", ("p", "q")), ("p", "q"))
    >>> float(f(np.e, 1.0)) == np.e
    True
    """
    unknown = sorted(tree.names() - set(variables))
    if unknown:
        raise ValueError(f"{tree} has no value for {', '.join(unknown)}")
    slots: dict[Tree, int] = {Name(name): place for place, name in enumerate(variables)}
    constants: dict[int, float] = {}
    instructions: list[tuple[int, Instruction]] = []

    def place(part: Tree) -> int:
        if part in slots:
            return slots[part]
        if isinstance(part, Apply):
            inside = tuple(place(each) for each in part.arguments)
            here = slots[part] = len(slots)
            if all(each in constants for each in inside):
                constants[here] = constant(part.function, [constants[each] for each in inside])
            else:
                instructions.append((here, (ARRAY[part.function], inside)))
            return here
        assert isinstance(part, Number)
        here = slots[part] = len(slots)
        constants[here] = float(part.value)
        return here

    result, count = place(tree), len(variables)
    start = [constants.get(here) for here in range(count, len(slots))]

    def function(*values: Any) -> Any:
        at: list[Any] = [*values, *start]
        for here, (apply, inside) in instructions:
            at[here] = apply(*(at[each] for each in inside))
        if result in constants:  # a constant has the shape of what it is asked for
            return np.zeros_like(values[0]) + constants[result]
        return at[result]

    return function
