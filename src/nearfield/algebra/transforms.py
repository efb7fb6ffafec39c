"""Transforms f(d) of the map's distances: what a kernel, or a distance cost, is a function of.

>>> from nearfield import transforms
>>> transforms.Power(1.5)
Power(exponent=1.5)
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from nearfield.algebra.expressions import Tree, parse
from nearfield.algebra.parts import Part, part
from nearfield.typing import Array

__all__ = ["Identity", "Power", "Square", "Transform"]


class Transform(Part):
    """An increasing function f(d) with f(0) = 0; a subclass gives `value` and `derivative`.

    With an `expression` of it in d as text, it can also be derived.
    """

    expression: ClassVar[str] = ""

    def expressed(self) -> Tree:
        """The transform as a tree in d and the parameters' names."""
        return parse(self.expression, ("d",), tuple(self._values()))

    def value(self, d: Array) -> Array:
        """f(d)."""
        raise TypeError(f"{type(self).__name__} does not define value(d)")

    def derivative(self, d: Array) -> Array:
        """df/dd."""
        raise TypeError(f"{type(self).__name__} does not define derivative(d)")

    def of_square(self, s: Array) -> tuple[Array, Array | float]:
        """Both f and df/ds at the squared distances s = d².

        df/ds is (df/dd)/(2d): a spring's pull along y_i - y_j is 2 df/ds times it. Coincident points have
        no direction to be pulled in, so df/ds is 0 there.
        """
        d = np.sqrt(s)
        apart = d > 0
        slope = np.where(apart, self.derivative(d) / np.where(apart, 2 * d, 1.0), 0.0)
        return self.value(d), slope


@part
class Square(Transform):
    """f = d², which every kernel of the catalogue takes."""

    expression: ClassVar = "d**2"

    def value(self, d: Array) -> Array:
        return d * d

    def derivative(self, d: Array) -> Array:
        return 2 * d

    def of_square(self, s: Array) -> tuple[Array, Array | float]:
        return s, 1.0


@part
class Identity(Transform):
    """f = d, which the distance costs take."""

    expression: ClassVar = "d"

    def value(self, d: Array) -> Array:
        return d

    def derivative(self, d: Array) -> Array:
        return np.ones_like(d)


@part
class Power(Transform):
    """f = d^exponent."""

    exponent: float = 2.0
    expression: ClassVar = "d**exponent"

    def __post_init__(self) -> None:
        if not 0 < self.exponent < np.inf:
            raise ValueError(f"the exponent must be a positive number, got {self.exponent!r}")

    def value(self, d: Array) -> Array:
        return d**self.exponent

    def derivative(self, d: Array) -> Array:
        with np.errstate(divide="ignore"):  # infinite at 0 for exponents below 1; of_square leaves that out
            return self.exponent * d ** (self.exponent - 1)
