"""Costs of bare, un-normalized weights: v in the data, w in the map."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from nearfield.algebra.costs.base import Cost
from nearfield.algebra.costs.divergences import KL, positive, within
from nearfield.algebra.costs.facts import LimitTerm, log_terms, power_term
from nearfield.algebra.parts import part
from nearfield.typing import Array

__all__ = [
    "CrossEntropy",
    "ElasticEmbedding",
    "GeneralizedKL",
    "GeneralizedNeRV",
    "GeneralizedReverseKL",
    "LargeVis",
    "NegativeSampling",
]

WEIGHTS = frozenset({"weights"})


@part
class GeneralizedKL(Cost):
    """The I-divergence: KL with the terms that make it proper when the weights sum to no constant."""

    name: ClassVar = "generalized-kl"
    domains: ClassVar = WEIGHTS
    formula: ClassVar = r"v \log\frac{v}{w} - v + w"
    derivative_formula: ClassVar = r"1 - \frac{v}{w}"
    limit_formula: ClassVar = r"1"
    expression: ClassVar = "p*log(p/q) - p + q"

    def value(self, p: Array, q: Array) -> Array:
        return KL().value(p, q) - p + q

    def derivative(self, p: Array, q: Array) -> Array:
        return 1 - p / q

    def limit(self) -> tuple[LimitTerm, ...]:
        return (power_term(1.0),)


@part
class GeneralizedReverseKL(Cost):
    """The I-divergence the other way round; v is taken to be at least `floor`."""

    floor: float = 1e-16
    name: ClassVar = "generalized-reverse-kl"
    domains: ClassVar = WEIGHTS
    formula: ClassVar = r"w \log\frac{w}{v} - w + v"
    derivative_formula: ClassVar = r"\log\frac{w}{v}"
    limit_formula: ClassVar = r"\log\frac{w}{\delta}"
    expression: ClassVar = "q*log(q/p) - q + p"
    infinite_at_zero: ClassVar = True

    def __post_init__(self) -> None:
        positive("floor", self.floor, least=0.0)

    def value(self, p: Array, q: Array) -> Array:
        p = np.maximum(p, self.floor)
        return q * np.log(q / p) - q + p

    def derivative(self, p: Array, q: Array) -> Array:
        return np.log(q / np.maximum(p, self.floor))

    def limit(self) -> tuple[LimitTerm, ...]:
        return (*log_terms(1.0), power_term(-np.log(self.floor)))


@part
class GeneralizedNeRV(Cost):
    """NeRV on bare weights: λ of the I-divergence and 1-λ of its reverse."""

    lam: float = 0.5
    floor: float = 1e-16
    name: ClassVar = "generalized-nerv"
    domains: ClassVar = WEIGHTS
    formula: ClassVar = (
        r"\lambda\left(v \log\frac{v}{w} - v + w\right) + (1-\lambda)\left(w \log\frac{w}{v} - w + v\right)"
    )
    derivative_formula: ClassVar = r"\lambda\left(1 - \frac{v}{w}\right) + (1-\lambda)\log\frac{w}{v}"
    limit_formula: ClassVar = r"\lambda + (1-\lambda)\log\frac{w}{\delta}"
    expression: ClassVar = "lam*(p*log(p/q) - p + q) + (1 - lam)*(q*log(q/p) - q + p)"

    def __post_init__(self) -> None:
        within("lam", self.lam, 0, 1)
        positive("floor", self.floor, least=0.0)

    @property
    def infinite_at_zero(self) -> bool:
        """Unless there is nothing of the reverse divergence, λ = 1."""
        return self.lam < 1

    def value(self, p: Array, q: Array) -> Array:
        reverse = GeneralizedReverseKL(self.floor)
        return self.lam * GeneralizedKL().value(p, q) + (1 - self.lam) * reverse.value(p, q)

    def derivative(self, p: Array, q: Array) -> Array:
        reverse = GeneralizedReverseKL(self.floor)
        return self.lam * GeneralizedKL().derivative(p, q) + (1 - self.lam) * reverse.derivative(p, q)

    def limit(self) -> tuple[LimitTerm, ...]:
        rest = 1 - self.lam
        if rest == 0:
            return (power_term(1.0),)
        return (*log_terms(rest), power_term(self.lam - rest * np.log(self.floor)))


@part
class ElasticEmbedding(Cost):
    """Springs between neighbours, and λ w of repulsion for every pair (Carreira-Perpiñán 2010).

    With the Gaussian kernel, -v log w is v d² and the cost is Σ v d² + λ Σ exp(-d²).
    """

    lam: float = 0.5
    name: ClassVar = "elastic"
    domains: ClassVar = WEIGHTS
    formula: ClassVar = r"-v \log w + \lambda w"
    derivative_formula: ClassVar = r"\lambda - \frac{v}{w}"
    limit_formula: ClassVar = r"\lambda"
    expression: ClassVar = "-p*log(q) + lam*q"
    attracts: ClassVar = True

    def __post_init__(self) -> None:
        positive("lam", self.lam)

    def value(self, p: Array, q: Array) -> Array:
        return -p * np.log(q) + self.lam * q

    def derivative(self, p: Array, q: Array) -> Array:
        return self.lam - p / q

    def limit(self) -> tuple[LimitTerm, ...]:
        return (power_term(self.lam),)


def _repulsion(w: Array, epsilon: float) -> Array:
    """-log(1 - w), but for the singularity at w = 1: its derivative is 1/(1 - w + ε w)."""
    return -np.log1p(-(1 - epsilon) * w) / (1 - epsilon)


def _repulsion_slope(w: Array, epsilon: float) -> Array:
    return 1 / (1 - (1 - epsilon) * w)


@part
class LargeVis(Cost):
    """-v log w - γ log(1 - w) (Tang et al. 2016), with 1 - w + ε w in place of 1 - w in the repulsion."""

    gamma: float = 0.01
    epsilon: float = 0.1
    name: ClassVar = "largevis"
    domains: ClassVar = WEIGHTS
    formula: ClassVar = r"-v \log w - \gamma \log(1 - w)"
    derivative_formula: ClassVar = r"-\frac{v}{w} + \frac{\gamma}{1 - (1-\epsilon) w}"
    limit_formula: ClassVar = r"\frac{\gamma}{1 - (1-\epsilon) w}"
    expression: ClassVar = "-p*log(q) - gamma*log(1 - (1 - epsilon)*q)/(1 - epsilon)"
    within_one: ClassVar = True
    attracts: ClassVar = True

    def __post_init__(self) -> None:
        positive("gamma", self.gamma)
        within("epsilon", self.epsilon, 1e-6, 0.999)

    def value(self, p: Array, q: Array) -> Array:
        return -p * np.log(q) + self.gamma * _repulsion(q, self.epsilon)

    def derivative(self, p: Array, q: Array) -> Array:
        return -p / q + self.gamma * _repulsion_slope(q, self.epsilon)

    def limit(self) -> tuple[LimitTerm, ...]:
        return (
            LimitTerm(
                lambda S: self.gamma * np.ones_like(S),
                lambda w: _repulsion_slope(w, self.epsilon),
                lambda w: _repulsion(w, self.epsilon),
            ),
        )


@part
class NegativeSampling(Cost):
    """What UMAP's program minimises: attraction along the edges, repulsion between all by their degrees.

    The program draws `rate` points for each edge that it visits and pushes the edge's head away from them. So
    in expectation (Damrich and Hamprecht 2021) a pair repels with the share s of what is drawn,
    (d_i + d_j)/4N with d_i = Σ_j v_ij, which is less by orders of magnitude than the published cross-entropy
    has. As in LargeVis, 1 - w + ε w stands for 1 - w.

    Parameters
    ----------
    rate : float
        How many points are drawn for each edge, times the strength of their repulsion.
    epsilon : float
        The program's force at short range is bounded by clipping; by this, the pressure is the same.
    share : float or array (points,)
        d_i/2N of each point; a number is what it is before the target is known.
    """

    rate: float = 5.0
    epsilon: float = 0.02
    share: Any = 1.0
    name: ClassVar = "negative-sampling"
    domains: ClassVar = WEIGHTS
    formula: ClassVar = r"-v \log w - m s \log(1 - w)"
    derivative_formula: ClassVar = r"-\frac{v}{w} + \frac{m s}{1 - (1-\epsilon) w}"
    limit_formula: ClassVar = r"\frac{m s}{1 - (1-\epsilon) w}"
    expression: ClassVar = "-p*log(q) - rate*share*log(1 - (1 - epsilon)*q)/(1 - epsilon)"
    within_one: ClassVar = True
    attracts: ClassVar = True
    bound: ClassVar = ("share",)

    def __post_init__(self) -> None:
        positive("rate", self.rate)
        within("epsilon", self.epsilon, 1e-6, 0.999)
        if not np.ndim(self.share):
            positive("share", self.share)

    def value(self, p: Array, q: Array) -> Array:
        return -p * np.log(q) + self.rate * self.share * _repulsion(q, self.epsilon)

    def derivative(self, p: Array, q: Array) -> Array:
        return -p / q + self.rate * self.share * _repulsion_slope(q, self.epsilon)

    def limit(self) -> tuple[LimitTerm, ...]:
        return (
            LimitTerm(
                lambda S: self.rate * self.share * np.ones_like(S),
                lambda w: _repulsion_slope(w, self.epsilon),
                lambda w: _repulsion(w, self.epsilon),
            ),
        )

    def bound_to(self, row_sums: Array, n: float) -> Self:
        return self if np.ndim(self.share) else self._with(share=row_sums / (2 * n))

    def joined(self, row_sums: Array, n: float) -> Self:
        return self._with(share=np.concatenate([self.share, row_sums / (2 * n)]))


@part
class CrossEntropy(Cost):
    """The fuzzy-set cross-entropy of UMAP, -v log w - (1-v) log(1 - w), less the entropy of v.

    As in LargeVis, 1 - w + ε w stands for 1 - w, so that coincident points cost a finite amount.
    """

    epsilon: float = 0.1
    name: ClassVar = "cross-entropy"
    domains: ClassVar = WEIGHTS
    formula: ClassVar = r"v \log\frac{v}{w} + (1-v) \log\frac{1-v}{1-w}"
    derivative_formula: ClassVar = r"-\frac{v}{w} + \frac{1-v}{1 - (1-\epsilon) w}"
    limit_formula: ClassVar = r"\frac{1}{1 - (1-\epsilon) w}"
    expression: ClassVar = "p*log(p/q) + (1 - p)*log(1 - p) - (1 - p)*log(1 - (1 - epsilon)*q)/(1 - epsilon)"
    within_one: ClassVar = True

    def __post_init__(self) -> None:
        within("epsilon", self.epsilon, 1e-6, 0.999)

    def value(self, p: Array, q: Array) -> Array:
        rest = 1 - p
        entropy = rest * np.log(np.where(rest > 0, rest, 1.0))
        return KL().value(p, q) + rest * _repulsion(q, self.epsilon) + entropy

    def derivative(self, p: Array, q: Array) -> Array:
        return -p / q + (1 - p) * _repulsion_slope(q, self.epsilon)

    def limit(self) -> tuple[LimitTerm, ...]:
        return LargeVis(1.0, self.epsilon).limit()
