"""What a cost is: C(p, q) for a pair, its derivative in q, and the facts that an engine plans by."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from nearfield.algebra.costs.facts import CostFacts, LimitTerm
from nearfield.algebra.expressions import Tree, parse
from nearfield.algebra.parts import Part, build_named, declared, named_classes
from nearfield.typing import Array


class Cost(Part):
    """A cost that is a sum over ordered pairs: C(P, Q) = factor · Σ c(p_ij, q_ij).

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
    >>> Cubic().facts.domains
    frozenset({'probabilities'})

    Attributes
    ----------
    name : str
        The short name that `named` takes.
    formula : str
        The pair's term as LaTeX.
    derivative_formula, limit_formula : str
        ∂c/∂q and its limit as p → 0 as LaTeX; the pages of the reference hold them to the code.
    expression : str
        The same as text that `nearfield.costs.Expression` reads, in p, q and the parameters' own names.
    facts : CostFacts
        What engines, plan and schedule go by. A subclass declares each fact that is not as in `CostFacts`,
        by its name: as an attribute, as a property where it follows from the parameters, or as a method.
    """

    name: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    derivative_formula: ClassVar[str] = ""
    limit_formula: ClassVar[str] = ""
    expression: ClassVar[str] = ""
    facts_kind: ClassVar = CostFacts

    @cached_property
    def facts(self) -> CostFacts:
        """What the class declares, in one object."""
        return declared(self, CostFacts)

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

    def bound_to(self, row_sums: Array, n: float) -> Self:
        """The cost for a target of n points whose row i has this sum; most do not depend on it."""
        return self

    def joined(self, row_sums: Array, n: float) -> Self:
        """A cost that is bound, with more points, whose rows have these sums; n are those that count."""
        return self

    def between(self, i: Any, j: Any) -> Self:
        """The cost of the pair i, j: of what points have of their own, the mean."""
        bound = {name: getattr(self, name) for name in self.facts.bound}
        bound = {name: 0.5 * (each[i] + each[j]) for name, each in bound.items() if np.ndim(each)}
        return self._with(**bound) if bound else self

    def factor(self, p_sum: float) -> float:
        """The constant before the sum, from the sum of all p."""
        if type(self).scale is not Cost.scale:
            warnings.warn(
                f"{type(self).__name__}.scale is to be called factor", DeprecationWarning, stacklevel=2
            )
            return self.scale(p_sum)
        return 1.0

    def scale(self, p_sum: float) -> float:
        """The former name of `factor`."""
        warnings.warn("scale of a cost is called factor", DeprecationWarning, stacklevel=2)
        return self.factor(p_sum)


def all_costs() -> list[type[Cost]]:
    """Every cost class of the library that has a name, in the order of their definition."""
    return named_classes(Cost)


def named(name: str, **parameters: float) -> Cost:
    """The cost of this short name, with these parameters."""
    return build_named(Cost, "cost", name, parameters)
