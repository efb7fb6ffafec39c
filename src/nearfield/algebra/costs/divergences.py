"""Divergences between probabilities; those that are also proper between bare weights say so."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from nearfield.algebra.costs.base import Cost
from nearfield.algebra.costs.facts import LimitTerm, log_terms, power_term
from nearfield.algebra.expressions import Tree, parse
from nearfield.algebra.parts import LEAST, STEEPEST, TINY, part
from nearfield.typing import Array

__all__ = ["KL", "AlphaBeta", "ChiSquare", "Hellinger", "JensenShannon", "NeRV", "ReverseKL", "Square"]

MIXED = 1e-6  # a share of p or q in their mixture that float32 can tell from none
PROBABILITIES = frozenset({"probabilities"})


def within(name: str, value: float, low: float, high: float) -> None:
    """Refuse a parameter outside of its closed interval."""
    if not low <= value <= high:
        raise ValueError(f"{name} must be between {low:g} and {high:g}, got {value!r}")


def positive(name: str, value: Any, least: float = LEAST, most: float = 1 / LEAST) -> None:
    """Refuse a parameter, or one of each point, that is not a positive number such as float32 can square."""
    values = np.asarray(value, dtype=float)
    if not np.all((values > 0) & (values < np.inf)):
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    if not np.all((values >= least) & (values <= most)):
        wrong = values[(values < least) | (values > most)].flat[0]
        raise ValueError(f"{name} must be a number between {least:g} and {most:g}, got {wrong:g}")


@part
class KL(Cost):
    """Kullback-Leibler divergence of Q from P: dear are neighbours that the map tears apart."""

    name: ClassVar = "kl"
    domains: ClassVar = PROBABILITIES
    formula: ClassVar = r"p \log\frac{p}{q}"
    derivative_formula: ClassVar = r"-\frac{p}{q}"
    limit_formula: ClassVar = r"0"
    expression: ClassVar = "p*log(p/q)"
    cross_entropy: ClassVar = True

    def value(self, p: Array, q: Array) -> Array:
        return p * np.log(np.maximum(p, TINY) / q)

    def derivative(self, p: Array, q: Array) -> Array:
        return -p / q

    def limit(self) -> tuple[LimitTerm, ...]:
        return ()


@part
class ReverseKL(Cost):
    """Kullback-Leibler divergence of P from Q: dear are strangers that the map puts together.

    It is infinite where p = 0 and q > 0, so p is taken to be at least `floor`.
    """

    floor: float = 1e-16
    name: ClassVar = "reverse-kl"
    domains: ClassVar = PROBABILITIES
    formula: ClassVar = r"q \log\frac{q}{p}"
    derivative_formula: ClassVar = r"\log\frac{q}{p} + 1"
    limit_formula: ClassVar = r"\log\frac{q}{\delta} + 1"
    expression: ClassVar = "q*log(q/p)"
    infinite_at_zero: ClassVar = True

    def __post_init__(self) -> None:
        positive("floor", self.floor, least=0.0)

    def value(self, p: Array, q: Array) -> Array:
        return q * np.log(q / np.maximum(p, self.floor))

    def derivative(self, p: Array, q: Array) -> Array:
        return np.log(q / np.maximum(p, self.floor)) + 1

    def limit(self) -> tuple[LimitTerm, ...]:
        return (*log_terms(1.0), power_term(1 - np.log(self.floor)))


@part
class NeRV(Cost):
    """λ KL(P‖Q) + (1-λ) KL(Q‖P): λ = 1 weighs recall, λ = 0 precision (Venna et al. 2010)."""

    lam: float = 0.5
    floor: float = 1e-16
    name: ClassVar = "nerv"
    domains: ClassVar = PROBABILITIES
    formula: ClassVar = r"\lambda p \log\frac{p}{q} + (1-\lambda) q \log\frac{q}{p}"
    derivative_formula: ClassVar = r"-\lambda\frac{p}{q} + (1-\lambda)\left(\log\frac{q}{p} + 1\right)"
    limit_formula: ClassVar = r"(1-\lambda)\left(\log\frac{q}{\delta} + 1\right)"
    expression: ClassVar = "lam*p*log(p/q) + (1 - lam)*q*log(q/p)"

    def __post_init__(self) -> None:
        within("lam", self.lam, 0, 1)
        positive("floor", self.floor, least=0.0)

    @property
    def infinite_at_zero(self) -> bool:
        """Unless there is nothing of the reverse divergence, λ = 1."""
        return self.lam < 1

    def value(self, p: Array, q: Array) -> Array:
        return self.lam * KL().value(p, q) + (1 - self.lam) * ReverseKL(self.floor).value(p, q)

    def derivative(self, p: Array, q: Array) -> Array:
        return self.lam * KL().derivative(p, q) + (1 - self.lam) * ReverseKL(self.floor).derivative(p, q)

    def limit(self) -> tuple[LimitTerm, ...]:
        rest = 1 - self.lam
        if rest == 0:
            return ()
        return (*log_terms(rest), power_term(rest * (1 - np.log(self.floor))))


@part
class JensenShannon(Cost):
    """KL(P‖Z)/(1-κ) + KL(Q‖Z)/κ with Z = κP + (1-κ)Q (Lee et al. 2013).

    κ = 0 is KL(P‖Q) and κ = 1 is KL(Q‖P), exactly: with L(x, t) = log(1 + t (x-1))/t the divergence is
    -p L(q/p, 1-κ) - q L(p/q, κ), and L is smooth down to t = 0. At the ends it has the terms ±(q - p), which
    sum to nothing for probabilities and make it proper for bare weights.
    """

    kappa: float = 0.5
    floor: float = 1e-16
    name: ClassVar = "js"
    formula: ClassVar = r"\frac{1}{1-\kappa} p \log\frac{p}{z} + \frac{1}{\kappa} q \log\frac{q}{z}"
    derivative_formula: ClassVar = r"\frac{1}{\kappa}\log\frac{q}{z}"
    limit_formula: ClassVar = r"\frac{1}{\kappa}\log\frac{1}{1-\kappa}"
    expression: ClassVar = (
        "p*log(p/(kappa*p + (1 - kappa)*q))/(1 - kappa) + q*log(q/(kappa*p + (1 - kappa)*q))/kappa"
    )

    def __post_init__(self) -> None:
        within("kappa", self.kappa, 0, 1)
        positive("floor", self.floor, least=0.0)

    @property
    def infinite_at_zero(self) -> bool:
        """Only the reverse divergence, κ = 1, is infinite at p = 0."""
        return self.kappa == 1

    @property
    def mixture(self) -> float | None:
        """But for the ends, where the logarithm is another one, or none at all."""
        return self.kappa if MIXED < self.kappa < 1 - MIXED else None

    def _floored(self, p: Array) -> Array:
        return np.maximum(p, self.floor if self.kappa == 1 else TINY)

    def value(self, p: Array, q: Array) -> Array:
        p = self._floored(p)
        return -p * mixed_log(q / p, 1 - self.kappa) - q * mixed_log(p / q, self.kappa)

    def derivative(self, p: Array, q: Array) -> Array:
        return -mixed_log(self._floored(p) / q, self.kappa)

    def expressed(self) -> Tree:
        ends = {0.0: "p*log(p/q) - p + q", 1.0: "q*log(q/p) - q + p"}
        return parse(ends.get(self.kappa, self.expression), ("p", "q"), ("kappa",))

    def limit(self) -> tuple[LimitTerm, ...]:
        if self.kappa == 1:
            return (*log_terms(1.0), power_term(-np.log(self.floor)))
        return (power_term(-float(mixed_log(np.zeros(()), self.kappa))),)


def mixed_log(ratio: Array, t: float) -> Array:
    """log(1 - t + t ratio)/t, which is ratio - 1 at t = 0; written so that no t in [0, 1] loses digits."""
    if t < 1e-40:  # which float32 takes for 0
        return ratio - 1
    return (np.log((1 - t) + t * ratio) if t > 0.1 else np.log1p(t * (ratio - 1))) / t


@part
class Square(Cost):
    """Half the squared difference of the probabilities."""

    name: ClassVar = "square"
    formula: ClassVar = r"\tfrac12 (p - q)^2"
    derivative_formula: ClassVar = r"q - p"
    limit_formula: ClassVar = r"q"
    expression: ClassVar = "(p - q)**2/2"
    degree: ClassVar = 2.0

    def value(self, p: Array, q: Array) -> Array:
        return 0.5 * (p - q) ** 2

    def derivative(self, p: Array, q: Array) -> Array:
        return q - p

    def limit(self) -> tuple[LimitTerm, ...]:
        return (power_term(1.0, 1.0),)


@part
class ChiSquare(Cost):
    """Neyman's χ²: (p - q)²/q, harsher than KL on neighbours torn apart."""

    name: ClassVar = "chi2"
    formula: ClassVar = r"\frac{(p - q)^2}{q}"
    derivative_formula: ClassVar = r"1 - \frac{p^2}{q^2}"
    limit_formula: ClassVar = r"1"
    expression: ClassVar = "(p - q)**2/q"

    def value(self, p: Array, q: Array) -> Array:
        return (p - q) ** 2 / q

    def derivative(self, p: Array, q: Array) -> Array:
        return 1 - (p / q) ** 2

    def limit(self) -> tuple[LimitTerm, ...]:
        return (power_term(1.0),)


@part
class Hellinger(Cost):
    """The squared Hellinger distance, symmetric in P and Q and bounded."""

    name: ClassVar = "hellinger"
    formula: ClassVar = r"(\sqrt p - \sqrt q)^2"
    derivative_formula: ClassVar = r"1 - \sqrt{p/q}"
    limit_formula: ClassVar = r"1"
    expression: ClassVar = "(sqrt(p) - sqrt(q))**2"

    def value(self, p: Array, q: Array) -> Array:
        return (np.sqrt(p) - np.sqrt(q)) ** 2

    def derivative(self, p: Array, q: Array) -> Array:
        return 1 - np.sqrt(p / q)

    def limit(self) -> tuple[LimitTerm, ...]:
        return (power_term(1.0),)


@part
class AlphaBeta(Cost):
    """The alpha-beta divergence (Cichocki, Cruces and Amari 2011), with its singular cases.

    a = b = 1 is the squared difference, a = 1, b = 0 is KL and a = 0, b = 1 is reverse KL (both in
    their generalized form). Where a ≤ 0 or a + b ≤ 0 it is infinite at p = 0, and p is at least `floor`.
    """

    a: float = 1.0
    b: float = 1.0
    floor: float = 1e-16
    name: ClassVar = "alpha-beta"
    formula: ClassVar = r"-\frac{1}{ab}\left(p^a q^b - \frac{a}{a+b} p^{a+b} - \frac{b}{a+b} q^{a+b}\right)"
    derivative_formula: ClassVar = r"-\frac{1}{a} q^{b-1} \left(p^a - q^a\right)"
    limit_formula: ClassVar = r"\frac{1}{a} q^{a+b-1}"
    expression: ClassVar = "(a*p**(a + b)/(a + b) + b*q**(a + b)/(a + b) - p**a*q**b)/(a*b)"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.a) and np.isfinite(self.b)):
            raise ValueError(f"a and b must be finite numbers, got a={self.a!r}, b={self.b!r}")
        within("a", self.a, -STEEPEST, STEEPEST)
        within("b", self.b, -STEEPEST, STEEPEST)
        positive("floor", self.floor, least=0.0)
        if min(self.a, self.a + self.b) * np.log(self.floor) > -np.log(TINY):
            raise ValueError(
                f"a={self.a!r} and b={self.b!r} make numbers beyond {1 / TINY:.0e} of the least p: take a"
                f" floor above {self.floor:g}"
            )

    @property
    def degree(self) -> float:
        """The sum of a and b."""
        return self.a + self.b

    @property
    def infinite_at_zero(self) -> bool:
        """Whether p needs the floor."""
        return self.a <= 0 or self.a + self.b <= 0

    def _floored(self, p: Array) -> Array:
        return np.maximum(p, self.floor if self.infinite_at_zero else TINY)

    def value(self, p: Array, q: Array) -> Array:
        a, b, p = self.a, self.b, self._floored(p)
        if vanishes(a) and vanishes(b):
            return 0.5 * np.log(p / q) ** 2
        if vanishes(b):
            return (p**a * a * np.log(p / q) - p**a + q**a) / a**2
        if vanishes(a):
            return (q**b * b * np.log(q / p) - q**b + p**b) / b**2
        if vanishes(a + b):
            return (a * np.log(q / p) + (p / q) ** a - 1) / a**2
        return -(p**a * q**b - a / (a + b) * p ** (a + b) - b / (a + b) * q ** (a + b)) / (a * b)

    def derivative(self, p: Array, q: Array) -> Array:
        # -(1/a) q^(b-1) (p^a - q^a), written so that a → 0 is smooth
        ratio = np.log(self._floored(p) / q)
        slope = ratio if vanishes(self.a) else np.expm1(self.a * ratio) / self.a
        return -(q ** (self.a + self.b - 1)) * slope

    def expressed(self) -> Tree:
        a, b, text = self.a, self.b, self.expression
        if vanishes(a) and vanishes(b):
            text = "log(p/q)**2/2"
        elif vanishes(b):
            text = "(a*p**a*log(p/q) - p**a + q**a)/a**2"
        elif vanishes(a):
            text = "(b*q**b*log(q/p) - q**b + p**b)/b**2"
        elif vanishes(a + b):
            text = "(a*log(q/p) + (p/q)**a - 1)/a**2"
        return parse(text, ("p", "q"), ("a", "b"))

    def limit(self) -> tuple[LimitTerm, ...] | None:
        a, b = self.a, self.b
        if vanishes(a):
            return (*log_terms(1.0, b - 1), power_term(-np.log(self.floor), b - 1))
        if a < 0:
            return None  # a negative power of the floor drowns all else
        terms = (power_term(1 / a, a + b - 1),)
        return (*terms, power_term(-(self.floor**a) / a, b - 1)) if self.infinite_at_zero else terms


def vanishes(x: float) -> bool:
    """Whether the general formula would lose its digits to cancellation: use the limit instead."""
    return abs(x) < 1e-9
