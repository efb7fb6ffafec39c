"""How large a formula may be, so that deriving and evaluating it takes no more than a moment."""

from __future__ import annotations

from nearfield.algebra.expressions.numeric import constant
from nearfield.algebra.expressions.tree import Apply, Name, Number, Tree, fold

NODES = 300  # of a tree, at most
DEGREE = 64.0  # of a polynomial: what expanding it takes goes by that
LARGEST = 1e300  # value of a constant


def check_size(tree: Tree) -> None:
    """Refuse what has too many parts, too high a power, or a number that is out of range or undefined."""
    if fold(tree, lambda _, inside: 1 + sum(inside)) > NODES:
        raise ValueError(f"it has more than {NODES} numbers, names and operators")
    fold(tree, _degree)


def _degree(tree: Tree, inside: tuple[tuple[float, float | None], ...]) -> tuple[float, float | None]:
    """An upper bound of the degree of a formula as a polynomial, and its value if it is a constant."""
    if isinstance(tree, Number):
        return 0.0, float(tree.value)
    if isinstance(tree, Name):
        return 1.0, None
    assert isinstance(tree, Apply)
    degrees, values = [each[0] for each in inside], [each[1] for each in inside]
    known = [value for value in values if value is not None]
    if len(known) == len(values):
        return 0.0, _constant(tree.function, known)
    if tree.function == "/" and values[1] == 0:
        raise ValueError("it divides by zero")
    if tree.function == "**":
        power = values[1]
        degree = degrees[0] * max(1.0, abs(power)) if power is not None else sum(degrees)
        if degree > DEGREE or (power is not None and abs(power) > DEGREE):
            raise ValueError(f"it has a power beyond {DEGREE:g}")
        return degree, None
    degree = sum(degrees) if tree.function in "*/" else max(degrees)
    if degree > DEGREE:
        raise ValueError(f"it has a power beyond {DEGREE:g}")
    return degree, None


def _constant(function: str, values: list[float]) -> float:
    """The value of a function of constants, which must be an ordinary number."""
    value = constant(function, values)
    if not abs(value) <= LARGEST:
        raise ValueError("it has a constant that is undefined or too large")
    return value
