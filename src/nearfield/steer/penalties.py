"""Penalties: how strongly a point is drawn to a place, by how far it is from it.

With t the squared distance in units of the penalty's width, a penalty is a function ρ(t):

    Student   log(1 + t)     a pull that fades far away: whoever is held elsewhere may stay behind
    Gaussian  t/2            a spring
    L2        t              the same spring, twice as stiff

Each has two parametrizations. Scale-free, the default: `strength` in units of the force that a point feels
anyway (M/N), `width` in units of the map's RMS radius R. It means the same whatever the number of points:

    T = strength · (M/N) · R · Σ_j (1/m_j) Σ_i ρ(‖y_j - y'_i‖²/(width R)²)

with m_j the number of pins that j follows: whoever follows many that were moved at once is drawn to the midst
of them, and no more strongly than by one.

And as first published, with constants that were found by hand for one map: σ² for Student and Gaussian,
T = Σ ρ(‖y_j - y'_i‖²/σ²), and λ for L2, T = λ/(mk) Σ ‖y_j - y'_i‖² over m pins with k followers each.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearfield.steer.base import Measure, positive
from nearfield.typing import Array

__all__ = ["L2", "Gaussian", "Penalty", "Student", "penalty"]


@dataclass(frozen=True)
class Penalty:
    """A function of the squared distance, with a strength and a width.

    Parameters
    ----------
    strength : float, optional
        In units of the force that a point feels anyway.
    width : float, optional
        In units of the map's RMS radius.
    """

    strength: float | None = None
    width: float | None = None

    default: ClassVar[tuple[float, float]] = (0.1, 0.5)  # strength and width
    fixed: ClassVar[str] = ""  # the constant of the other parametrization

    def __post_init__(self) -> None:
        if not self.fixed:
            raise TypeError("a penalty is a Student, a Gaussian or an L2")
        given = {name: getattr(self, name) for name in ("strength", "width", self.fixed)}
        for name, value in given.items():
            if value is not None:
                object.__setattr__(self, name, positive(name, value))
        if given[self.fixed] is not None and (self.strength is not None or self.width is not None):
            raise ValueError(f"give either strength and width, or {self.fixed}")

    @property
    def scale_free(self) -> bool:
        """Whether it is given by strength and width."""
        return getattr(self, self.fixed, None) is None

    def value(self, t: Array) -> Array:
        """ρ(t)."""
        raise TypeError(f"{type(self).__name__} does not define value")

    def slope(self, t: Array) -> Array:
        """ρ'(t)."""
        raise TypeError(f"{type(self).__name__} does not define slope")

    def scales(self, measure: Measure, pairs: int) -> tuple[float, float]:
        """The former name of `constants`."""
        warnings.warn("scales of a penalty are called constants", DeprecationWarning, stacklevel=2)
        return self.constants(measure, pairs)

    def constants(self, measure: Measure, pairs: int) -> tuple[float, float]:
        """The factor before ρ, and the squared width, for so many pairs of a pin and a follower."""
        if not self.scale_free:
            return self._fixed(getattr(self, self.fixed), pairs)
        strength, width = (
            mine if mine is not None else usual
            for mine, usual in zip((self.strength, self.width), self.default, strict=True)
        )
        return strength * measure.force * measure.radius, (width * measure.radius) ** 2

    @staticmethod
    def _fixed(constant: float, pairs: int) -> tuple[float, float]:
        return 1.0, constant


@dataclass(frozen=True)
class Student(Penalty):
    """log(1 + ‖y_j - y'‖²/σ²): the pull is strongest at a distance σ and fades beyond.

    Examples
    --------
    >>> Student(strength=0.5, width=0.25).constants(Measure(force=0.1, radius=8.0), 10)
    (0.4, 4.0)
    >>> Student(sigma2=1e5).constants(Measure(1.0, 1.0), 10)
    (1.0, 100000.0)
    """

    sigma2: float | None = None
    fixed: ClassVar = "sigma2"

    def value(self, t: Array) -> Array:
        return np.log1p(t)

    def slope(self, t: Array) -> Array:
        return 1 / (1 + t)


@dataclass(frozen=True)
class Gaussian(Penalty):
    """‖y_j - y'‖²/2σ²: a spring, and the negative logarithm of a Gaussian prior.

    Examples
    --------
    >>> Gaussian(sigma2=1e3).constants(Measure(1.0, 1.0), 10)
    (1.0, 1000.0)
    """

    sigma2: float | None = None
    fixed: ClassVar = "sigma2"

    def value(self, t: Array) -> Array:
        return t / 2

    def slope(self, t: Array) -> Array:
        return np.full_like(t, 0.5)


@dataclass(frozen=True)
class L2(Penalty):
    """(λ/mk) ‖y_j - y'‖²: a spring whose strength is shared out among all pairs.

    Examples
    --------
    >>> L2(lam=1e-3).constants(Measure(1.0, 1.0), 10)
    (0.0001, 1.0)
    """

    lam: float | None = None
    fixed: ClassVar = "lam"

    def value(self, t: Array) -> Array:
        return t

    def slope(self, t: Array) -> Array:
        return np.ones_like(t)

    @staticmethod
    def _fixed(constant: float, pairs: int) -> tuple[float, float]:
        return constant / pairs, 1.0


PENALTIES: dict[str, type[Penalty]] = {"student": Student, "gaussian": Gaussian, "l2": L2}


def penalty(given: str | Penalty) -> Penalty:
    """The penalty of a name, or the one that was given.

    Examples
    --------
    >>> penalty("student")
    Student(strength=None, width=None, sigma2=None)
    """
    if isinstance(given, Penalty):
        return given
    if not isinstance(given, str) or given not in PENALTIES:
        raise ValueError(f"penalty must be one of {', '.join(PENALTIES)}, or a Penalty, got {given!r}")
    return PENALTIES[given]()
