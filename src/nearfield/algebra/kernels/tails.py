"""The heavy-tailed family (1 + αβf)^(-1/α): Gaussian at α = 0, Cauchy at α = β = 1, Student between.

With L(x, t) = log(1 + t x)/t the whole family is log w = -L(βf, α), and its log-derivative
-β/(1 + αβf) needs no branch at all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from nearfield.algebra.costs.divergences import positive, within
from nearfield.algebra.expressions import Tree, parse
from nearfield.algebra.kernels.base import Kernel
from nearfield.algebra.parts import STEEPEST, part, scaled_log1p

__all__ = ["Gaussian", "HeavyTailed", "Inhomogeneous", "Student"]


class Tail(Kernel):
    """The family in terms of α and β, which its members give in their own parameters."""

    @property
    def alpha_beta(self) -> tuple[Any, Any]:
        raise TypeError(f"{type(self).__name__} does not define alpha_beta")

    @property
    def underflows(self) -> bool:
        return bool(np.any(np.asarray(self.alpha_beta[0]) < 0.1))

    @property
    def tail(self) -> tuple[float, float] | None:
        alpha, beta = self.alpha_beta
        return (float(alpha), float(beta)) if np.ndim(alpha) == np.ndim(beta) == 0 else None

    @property
    def width(self) -> float:
        alpha, beta = (np.asarray(value, dtype=float) for value in self.alpha_beta)
        t = np.clip(alpha, 1e-12, 500.0)  # (2^α - 1)/α is log 2 at α = 0, and no number at a thousand
        return float(np.median(np.sqrt(np.expm1(t * np.log(2)) / (t * beta))))

    def log(self, f: Any) -> Any:
        alpha, beta = self.alpha_beta
        return -scaled_log1p(beta * f, alpha)

    def log_derivative(self, f: Any) -> Any:
        alpha, beta = self.alpha_beta
        return -beta / (1 + alpha * beta * f)

    def value(self, f: Any) -> Any:
        alpha, beta = self.alpha_beta
        if np.ndim(alpha) == 0 and alpha == 1:  # the common case, without a logarithm
            return 1 / (1 + beta * f)
        return np.exp(self.log(f))


@part
class Gaussian(Tail):
    """exp(-β f)."""

    beta: float = 1.0
    name: ClassVar = "gaussian"
    formula: ClassVar = r"e^{-\beta f}"
    derivative_formula: ClassVar = r"-\beta w"
    expression: ClassVar = "exp(-beta*f)"

    def __post_init__(self) -> None:
        positive("beta", self.beta)

    @property
    def alpha_beta(self) -> tuple[Any, Any]:
        return 0.0, self.beta


@part
class HeavyTailed(Tail):
    """(1 + αβf)^(-1/α): α = 0 is the Gaussian, α = 1 the Cauchy kernel (Yang et al. 2009)."""

    alpha: float = 0.5
    beta: float = 1.0
    learned: tuple[str, ...] = ()
    name: ClassVar = "heavy-tailed"
    formula: ClassVar = r"(1 + \alpha\beta f)^{-1/\alpha}"
    derivative_formula: ClassVar = r"-\beta w^{1+\alpha}"
    expression: ClassVar = "(1 + alpha*beta*f)**(-1/alpha)"
    # Beyond the bounds the kernel hardly changes any more: Gaussian below, flat above.
    bounds: ClassVar = {"alpha": (1e-3, 10.0), "beta": (1e-6, 1e6)}

    def __post_init__(self) -> None:
        if not 0 <= self.alpha < np.inf:
            raise ValueError(f"alpha must be a number from 0 up, got {self.alpha!r}")
        within("alpha", self.alpha, 0, STEEPEST)
        positive("beta", self.beta)

    @property
    def alpha_beta(self) -> tuple[Any, Any]:
        return self.alpha, self.beta

    def expressed(self) -> Tree:
        return parse(Gaussian.expression, ("f",), ("beta",)) if self.alpha == 0 else super().expressed()

    def parameter_derivative(self, name: str, f: Any) -> Any:
        x = self.beta * f
        if name == "beta":
            return -f / (1 + self.alpha * x)
        # log(1+t)/α² - x/(α(1+t)) with t = αx is x² g(t); near t = 0 the two terms cancel, so use g's series
        t = self.alpha * x
        small = np.abs(t) < 1e-3
        series = 1 / 2 - t * (2 / 3 - t * (3 / 4 - t * (4 / 5 - t * 5 / 6)))
        safe = np.where(small, 1.0, t)
        return x**2 * np.where(small, series, (np.log1p(safe) - safe / (1 + safe)) / safe**2)


@part
class Student(Tail):
    """Student's t with `dof` degrees of freedom, (1 + f/ν)^(-(ν+1)/2); ν = ∞ is exp(-f/2)."""

    dof: float = 1.0
    name: ClassVar = "student"
    formula: ClassVar = r"(1 + f/\nu)^{-(\nu+1)/2}"
    derivative_formula: ClassVar = r"-\frac{\nu+1}{2(\nu+f)} w"
    expression: ClassVar = "(1 + f/dof)**(-(dof + 1)/2)"

    def __post_init__(self) -> None:
        if not self.dof > 0:
            raise ValueError(f"dof must be a positive number, got {self.dof!r}")
        positive("dof", min(self.dof, 1.0))  # there may be infinitely many

    @property
    def alpha_beta(self) -> tuple[Any, Any]:
        return 2 / (self.dof + 1), 0.5 * (1 + 1 / self.dof)

    def expressed(self) -> Tree:
        return parse("exp(-f/2)", ("f",)) if np.isinf(self.dof) else super().expressed()


@part
class Inhomogeneous(Tail):
    """Student's t with degrees of freedom of each point's own, ν_i (Kitazono et al. 2016).

    `nu` is a number, or an array with one per point. With ``learned=("nu",)`` they are learned.
    """

    nu: Any = 1.0
    learned: tuple[str, ...] = ()
    name: ClassVar = "inhomogeneous"
    formula: ClassVar = r"(1 + f/\nu_i)^{-(\nu_i+1)/2}"
    derivative_formula: ClassVar = r"-\frac{\nu_i+1}{2(\nu_i+f)} w"
    expression: ClassVar = "(1 + f/nu)**(-(nu + 1)/2)"
    symmetric: ClassVar = False
    bounds: ClassVar = {"nu": (0.1, 1e3)}

    def __post_init__(self) -> None:
        if not np.all(np.asarray(self.nu) > 0):
            raise ValueError(f"nu must be positive, got {np.min(self.nu):g}")
        positive("nu", np.minimum(self.nu, 1.0))

    @property
    def alpha_beta(self) -> tuple[Any, Any]:
        return 2 / (self.nu + 1), 0.5 * (1 + 1 / self.nu)

    @property
    def tail(self) -> None:
        return None  # even where all ν_i are one number: whoever asks may be about to learn them

    def parameter_derivative(self, name: str, f: Any) -> Any:
        nu = self.nu
        return -0.5 * np.log1p(f / nu) + 0.5 * (1 + 1 / nu) * f / (nu + f)

    def expanded(self, n: int) -> Self:
        return replace(self, nu=np.broadcast_to(np.asarray(self.nu, dtype=float), (n,)).copy())
