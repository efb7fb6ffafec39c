"""UMAP's kernel."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from nearfield.algebra.costs.divergences import positive
from nearfield.algebra.kernels.base import Kernel
from nearfield.algebra.parts import STEEPEST, part

__all__ = ["UMAP"]


@part
class UMAP(Kernel):
    """1/(1 + a f^b) (McInnes et al. 2018); a = b = 1 is the Cauchy kernel."""

    a: float = 1.0
    b: float = 1.0
    name: ClassVar = "umap"
    formula: ClassVar = r"\frac{1}{1 + a f^b}"
    derivative_formula: ClassVar = r"-a b f^{b-1} w^2"
    expression: ClassVar = "1/(1 + a*f**b)"
    underflows: ClassVar = False

    def __post_init__(self) -> None:
        positive("a", self.a)
        positive("b", self.b, most=STEEPEST)

    @property
    def power(self) -> tuple[float, float]:
        """By which a fused loop knows it."""
        return self.a, self.b

    @property
    def width(self) -> float:
        return float(self.a ** (-0.5 / self.b))

    def value(self, f: Any) -> Any:
        return 1 / (1 + self.a * np.power(f, self.b))

    def log(self, f: Any) -> Any:
        return -np.log1p(self.a * np.power(f, self.b))

    def log_derivative(self, f: Any) -> Any:
        # f^(b-1) is infinite at f = 0 for b < 1, where there is nothing to pull along: take 0
        f = np.asarray(f, dtype=float)
        apart = f > 0
        power = np.where(apart, np.power(np.where(apart, f, 1.0), self.b - 1), 1.0 if self.b == 1 else 0.0)
        return -self.a * self.b * power * self.value(f)
