"""What a cost is: C(p, q) for a pair, its derivative in q, and the facts that an engine plans by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearfield.algebra.expressions import Tree, parse
from nearfield.algebra.parts import TINY, Part, build_named, named_classes
from nearfield.typing import Array


@dataclass(frozen=True)
class LimitTerm:
    """One separable term c(S) g(w) of the limit G0(w/S) of ∂C/∂q as p → 0.

    Attributes
    ----------
    coefficient : callable
        c, a function of the normalizing sum S (which is 1 for bare weights).
    slope : callable
        g, a function of the weight w.
    integral : callable
        H with H' = g, so that H(w(f)) is the potential whose gradient is the force of this term.
    constant : bool
        Whether g is 1, and H therefore w itself.
    grows : bool
        Whether H is unbounded as w → 0, so that far pairs repel the most.
    """

    coefficient: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    integral: Callable[[Any], Any]
    constant: bool = False
    grows: bool = False


def power_term(c: float, m: float = 0.0) -> LimitTerm:
    """The term c q^m; with m = 0 a constant."""
    return LimitTerm(
        (lambda S: c * np.power(S, -m)) if m else (lambda S: c),
        lambda w: np.power(w, m),
        (lambda w: np.log(w)) if m == -1 else (lambda w: np.power(w, m + 1) / (m + 1)),
        constant=m == 0,
        grows=m <= -1,
    )


def log_terms(c: float, m: float = 0.0) -> tuple[LimitTerm, LimitTerm]:
    """The term c q^m log q, which separates into two: log(w/S) = log w - log S."""

    def log(w: Any) -> Any:
        return np.log(np.maximum(w, TINY))  # w^m log w is 0 at w = 0

    def integral(w: Any) -> Any:
        if m == -1:
            return log(w) ** 2 / 2
        return np.power(w, m + 1) * (log(w) / (m + 1) - 1 / (m + 1) ** 2)

    constant = power_term(1.0, m)
    return (
        LimitTerm(lambda S: c * np.power(S, -m), lambda w: np.power(w, m) * log(w), integral, grows=m <= -1),
        LimitTerm(
            lambda S: -c * np.log(S) * constant.coefficient(S),
            constant.slope,
            constant.integral,
            constant.constant,
            constant.grows,
        ),
    )


class Cost(Part):
    """A cost that is a sum over ordered pairs: C(P, Q) = scale · Σ c(p_ij, q_ij).

    A subclass gives `value` and `derivative`, both elementwise on arrays, and declares its facts. That is
    all a cost of one's own needs:

    >>> import numpy as np
    >>> from nearfield.algebra.costs import Cost
    >>> class Cubic(Cost):
    ...     domains = frozenset({"probabilities"})
    ...     def value(self, p, q):
    ...         return np.abs(p - q) ** 3 / 3
    ...     def derivative(self, p, q):
    ...         return (q - p) * np.abs(q - p)
    >>> Cubic()
    Cubic()

    Attributes
    ----------
    name : str
        The short name that `named` takes.
    domains : frozenset of {"probabilities", "weights", "distances"}
        What p and q may be: normalized, bare weights, or distances.
    formula : str
        The pair's term as LaTeX.
    expression : str
        The same as text that `nearfield.costs.Expression` reads, in p, q and the parameters' own names.
    cross_entropy : bool
        Whether C is Σ p log p - Σ p log q, so that q ∂C/∂q is -p and the gradient has a closed form.
    mixture : float or None
        κ, within 0 and 1, if ∂C/∂q is -log(1 - κ + κ p/q)/κ, which a fused loop knows.
    least_squares : float or None
        e if C is Σ r^e (r - d)², which likewise has a closed form.
    power_difference : float or None
        e if C is Σ (r^e - d^e)². Squared distances (e = 2) are polynomials, whose sums need no pairs.
    degree : float
        C(t p, t q) = t^degree C(p, q): 1 for divergences, which are therefore of the order of Σ p, and for
        costs whose attraction is.
    within_one : bool
        Whether weights must not exceed 1, as in log(1 - w).
    infinite_at_zero : bool
        Whether c or ∂c/∂q is infinite at p = 0 but for a floor on p.
    """

    name: ClassVar[str] = ""
    domains: ClassVar[frozenset[str]] = frozenset({"probabilities", "weights"})
    formula: ClassVar[str] = ""
    expression: ClassVar[str] = ""
    cross_entropy: ClassVar[bool] = False
    mixture: float | None = None
    least_squares: ClassVar[float | None] = None
    power_difference: ClassVar[float | None] = None
    degree: ClassVar[float] = 1.0
    within_one: ClassVar[bool] = False
    infinite_at_zero: ClassVar[bool] = False

    def value(self, p: Array, q: Array) -> Array:
        """The pair's term c(p, q)."""
        raise TypeError(f"{type(self).__name__} does not define value(p, q)")

    def derivative(self, p: Array, q: Array) -> Array:
        """∂c/∂q."""
        raise TypeError(f"{type(self).__name__} does not define derivative(p, q)")

    def limit(self) -> tuple[LimitTerm, ...] | None:
        """The separable terms of ∂c/∂q as p → 0; None if the cost does not know, () if it is 0."""
        return None

    def expressed(self) -> Tree:
        """The pair's term as a tree in p, q and the parameters' names; at singular values, its limit."""
        if not self.expression:
            raise ValueError(f"{self!r} is not written as an expression")
        return parse(self.expression, ("p", "q"), tuple(self._values()))

    def scale(self, p_sum: float) -> float:
        """The constant before the sum, from the sum of all p."""
        return 1.0


def all_costs() -> list[type[Cost]]:
    """Every cost class of the library that has a name, in the order of their definition."""
    return named_classes(Cost)


def named(name: str, **parameters: float) -> Cost:
    """The cost of this short name, with these parameters."""
    return build_named(Cost, "cost", name, parameters)
