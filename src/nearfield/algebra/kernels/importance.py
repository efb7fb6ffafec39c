"""Kernels weighted by the importance of the two points."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from nearfield.algebra.expressions import Tree
from nearfield.algebra.kernels.base import Kernel, KernelFacts
from nearfield.algebra.kernels.tails import Student
from nearfield.algebra.parts import TINY, part
from nearfield.typing import Array

__all__ = ["ImportanceWeighted"]


@part
class ImportanceWeighted(Kernel):
    """m_i m_j w(f), where m_i is the sum of row i of P (Yang, Peltonen and Kaski 2014).

    Parameters
    ----------
    base : Kernel
        The kernel that is weighted.
    mass : array or None
        The m_i; None takes them from the target.
    """

    base: Kernel = Student()
    mass: Any = None
    name: ClassVar = "importance"
    formula: ClassVar = r"m_i m_j w(f)"
    derivative_formula: ClassVar = r"m_i m_j w'(f)"

    @cached_property
    def facts(self) -> KernelFacts:
        """Those of the kernel that is weighted, but that masses may exceed 1, and no loop knows of them."""
        return replace(self.base.facts, within_one=False, tail=None)

    @property
    def profile(self) -> Kernel:
        return self.base

    @property
    def width(self) -> float:
        return self.base.width

    def expressed(self) -> Tree:
        """The kernel that is weighted, without the masses, which are constants of a pair."""
        return self.base.expressed()

    def log(self, f: Any) -> Any:
        return self.base.log(f) + (0.0 if self.mass is None else np.log(self.mass))

    def log_derivative(self, f: Any) -> Any:
        return self.base.log_derivative(f)

    def value(self, f: Any) -> Any:
        return self.base.value(f) * (1.0 if self.mass is None else self.mass)

    def parameter_derivative(self, name: str, f: Any) -> Any:
        return self.base.parameter_derivative(name, f)

    def between(self, i: Any, j: Any) -> Self:
        mass = None if self.mass is None else self.mass[i] * self.mass[j]
        return self._with(base=self.base.between(i, j), mass=mass)

    def bound_to(self, row_sums: Array) -> Self:
        return self if self.mass is not None else replace(self, mass=np.maximum(row_sums, TINY))
