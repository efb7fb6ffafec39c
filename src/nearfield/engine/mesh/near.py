"""What a near sum adds to the grid's: the part of a radial function within a cutoff, as polynomials.

Polynomials vectorise where a look-up in a table does not, and a function that is smooth on the whole takes
few terms in the right variable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.fft

Radial = Callable[[Any], Any]  # of the squared distance

HIGHEST = 16  # degree of a polynomial
SAMPLES = 64  # of a function that it is fitted to
TAYLOR = 3  # the degree of the polynomial that the grid has in the function's place


@dataclass(frozen=True)
class Remainder:
    """What the near sum adds to the grid's: R(f) = A(v) - T(f - c²) up to the cutoff c, and zero beyond.

    Attributes
    ----------
    head, tail : array
        The polynomials A, which is the function itself, and T, its Taylor polynomial at the cutoff; highest
        power first.
    variable : (rooted, curving, stretch, shift)
        v = stretch/(1 + curving x) + shift, which runs from 1 at 0 to -1 at the cutoff, with x = f or, if
        rooted, the distance √f. Student's kernel is a straight line in the first; a kernel with a sharp top
        is smoother in the second.
    error : float
        Of the force that A gives, relative to it, in the mean over the disc within the cutoff.
    """

    head: Any
    tail: Any
    variable: tuple[bool, float, float, float]
    error: float

    @classmethod
    def of(cls, radial: Radial, edge: float, rooted: bool, curving: float, tolerance: float) -> Remainder:
        """The remainder of a function, with the lowest head that meets a tolerance if one does."""
        least = 1 / (1 + curving * (edge**0.5 if rooted else edge))
        stretch, shift = 2 / (1 - least), -(1 + least) / (1 - least)
        v = np.cos(np.pi * (np.arange(SAMPLES) + 0.5) / SAMPLES)
        x = (stretch / (v - shift) - 1) / curving
        f = x**2 if rooted else x
        values = np.asarray(radial(f), dtype=np.float64)
        series = scipy.fft.dct(values, type=2) / SAMPLES  # in Chebyshev's polynomials T_k
        series[0] /= 2
        # What each T_k adds to the force, T_k' dv/df √f; summed from the last one down it is what the terms
        # from k on add, and so what is lost without them: in the mean over the disc within the cutoff.
        orders, sine = np.arange(SAMPLES)[:, None], np.sqrt(1 - v**2)
        slopes = orders * np.sin(orders * np.arccos(v)) / sine
        forces = series[:, None] * slopes * (v - shift) ** 2 * (0.5 if rooted else np.sqrt(f))
        area = sine / (v - shift) ** 2 * (2 * x if rooted else 1.0)
        lost = np.sqrt(np.cumsum(forces[::-1], axis=0)[::-1] ** 2 @ area)
        lost /= max(lost[0], 1e-300)
        degree = next((d for d in range(1, HIGHEST) if lost[d + 1] <= tolerance), HIGHEST)
        error = float(lost[degree + 1])
        head = np.polynomial.chebyshev.cheb2poly(series[: degree + 1])[::-1]
        head = np.pad(head, (degree + 1 - len(head), 0))
        return cls(head, taylor(radial, edge)[::-1], (rooted, curving, stretch, shift), error)

    @property
    def slope(self) -> Any:
        """The derivative of A."""
        return np.polyder(self.head)

    def at_zero(self) -> float:
        """R(0), which a point has of itself."""
        rooted, curving, stretch, shift = self.variable
        reach = (stretch / (-1 - shift) - 1) / curving
        return float(np.polyval(self.head, 1.0) - np.polyval(self.tail, -(reach**2) if rooted else -reach))


def taylor(radial: Radial, at: float) -> Any:
    """The coefficients of the Taylor polynomial of a function around a point, by a fit nearby."""
    reach = 0.25 * at
    nodes = np.cos(np.pi * (np.arange(13) + 0.5) / 13)
    series = np.polynomial.chebyshev.chebfit(nodes, radial(at + reach * nodes), 12)
    powers = np.polynomial.chebyshev.cheb2poly(series)
    return powers[: TAYLOR + 1] / reach ** np.arange(TAYLOR + 1)
