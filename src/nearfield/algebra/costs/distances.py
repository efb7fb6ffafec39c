"""Costs of distances: r in the data, d in the map (either may be transformed or normalized first)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from nearfield.algebra.costs.base import Cost
from nearfield.algebra.parts import part
from nearfield.typing import Array

__all__ = ["SStress", "Sammon", "Stress"]

DISTANCES = frozenset({"distances"})


@part
class Stress(Cost):
    """Metric MDS: the squared difference of the distances; on transformed distances, of those."""

    name: ClassVar = "stress"
    domains: ClassVar = DISTANCES
    formula: ClassVar = r"(r - d)^2"
    derivative_formula: ClassVar = r"-2 (r - d)"
    expression: ClassVar = "(p - q)**2"
    degree: ClassVar = 2.0
    least_squares: ClassVar = 0.0
    power_difference: ClassVar = 1.0

    def value(self, p: Array, q: Array) -> Array:
        return (p - q) ** 2

    def derivative(self, p: Array, q: Array) -> Array:
        return 2 * (q - p)


@part
class SStress(Cost):
    """The squared difference of the squared distances: large distances rule."""

    name: ClassVar = "sstress"
    domains: ClassVar = DISTANCES
    formula: ClassVar = r"(r^2 - d^2)^2"
    derivative_formula: ClassVar = r"-4 d (r^2 - d^2)"
    expression: ClassVar = "(p**2 - q**2)**2"
    degree: ClassVar = 4.0
    power_difference: ClassVar = 2.0

    def value(self, p: Array, q: Array) -> Array:
        return (p**2 - q**2) ** 2

    def derivative(self, p: Array, q: Array) -> Array:
        return 4 * q * (q**2 - p**2)


@part
class Sammon(Cost):
    """Sammon's error: the stress of each pair over its distance, all over the sum of the distances.

    Pairs of duplicates (r = 0) have weight 0.
    """

    name: ClassVar = "sammon"
    domains: ClassVar = DISTANCES
    formula: ClassVar = r"\frac{(r - d)^2}{r}"
    derivative_formula: ClassVar = r"-2 \frac{r - d}{r}"
    expression: ClassVar = "(p - q)**2/p"
    least_squares: ClassVar = -1.0

    def value(self, p: Array, q: Array) -> Array:
        return np.where(p > 0, (p - q) ** 2 / np.where(p > 0, p, 1.0), 0.0)

    def derivative(self, p: Array, q: Array) -> Array:
        return np.where(p > 0, 2 * (q - p) / np.where(p > 0, p, 1.0), 0.0)

    def factor(self, p_sum: float) -> float:
        return 1 / p_sum if p_sum > 0 else 1.0
