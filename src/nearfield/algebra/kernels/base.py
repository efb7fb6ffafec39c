"""What a kernel is: w(f) and its derivative, in plain or logarithmic form, and its facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from nearfield.algebra.expressions import Tree, parse
from nearfield.algebra.parts import TINY, Part, build_named, declared, named_classes
from nearfield.typing import Array


@dataclass(frozen=True)
class KernelFacts:
    """What is known of a kernel, and decides how it is computed; whatever its name is, and whoever wrote it.

    Attributes
    ----------
    symmetric : bool
        Whether w_ij = w_ji.
    within_one : bool
        Whether w never exceeds 1.
    radial : bool
        Whether w is one function of the distance for all pairs, but perhaps for a `mass` of each point. By
        itself it is, unless a parameter has a value for each point.
    underflows : bool
        Whether w leaves float64 within a map of ordinary size, so that sums must be taken of shifted
        logarithms.
    tail : (float, float) or None
        (α, β) if w is (1 + αβf)^(-1/α) for every pair, which has a closed form.
    power : (float, float) or None
        (a, b) if w is 1/(1 + a f^b) for every pair, which a fused loop knows.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.kernels.Student().facts.tail, nf.kernels.Expression("exp(-2*f)").facts.tail
    ((1.0, 1.0), (0.0, 2.0))
    """

    symmetric: bool = True
    within_one: bool = True
    radial: bool = True
    underflows: bool = True
    tail: tuple[float, float] | None = None
    power: tuple[float, float] | None = None


class Kernel(Part):
    """A positive, decreasing weight w of the transformed distance f.

    A subclass gives either `value` and `derivative`, or `log` and `log_derivative`; each pair follows
    from the other. A parameter may be a number, or an array with one value per point; w_ij then takes
    that of point i, and the kernel is not `symmetric`. That is all that a kernel of one's own needs:

    >>> from nearfield.algebra.kernels import Kernel
    >>> class Quartic(Kernel):
    ...     def value(self, f):
    ...         return 1 / (1 + f) ** 2
    ...     def derivative(self, f):
    ...         return -2 / (1 + f) ** 3
    >>> float(Quartic().log_derivative(1.0))
    -1.0

    Attributes
    ----------
    name : str
        The short name that `named` takes.
    formula : str
        w(f) as LaTeX.
    derivative_formula : str
        w'(f) as LaTeX.
    expression : str
        The same as text that `nearfield.kernels.Expression` reads, in f and the parameters' own names.
    facts : KernelFacts
        What engines, plan and schedule go by. A subclass declares each fact that is not as in `KernelFacts`,
        by its name: as an attribute, as a property where it follows from the parameters, or as a method.
    learned : tuple of str
        The parameters that the descent learns along with the map; each is positive.
    bounds : dict
        Between what values each of them is sought.
    mass : array or None
        A factor of each point, if w_ij is m_i m_j times its `profile`.
    """

    name: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    derivative_formula: ClassVar[str] = ""
    expression: ClassVar[str] = ""
    facts_kind: ClassVar = KernelFacts
    mass: Any = None
    learned: tuple[str, ...] = ()
    bounds: ClassVar[dict[str, tuple[float, float]]] = {}

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        plain = cls.value is not Kernel.value and cls.derivative is not Kernel.derivative
        logarithmic = cls.log is not Kernel.log and cls.log_derivative is not Kernel.log_derivative
        if not (plain or logarithmic):
            raise TypeError(f"{cls.__name__} must define value and derivative, or log and log_derivative")

    @cached_property
    def facts(self) -> KernelFacts:
        """What the class declares, in one object."""
        return declared(self, KernelFacts, radial=not self._per_point())

    @property
    def profile(self) -> Kernel:
        """W without the masses of the points."""
        return self

    @property
    def width(self) -> float:
        """The distance at which w has fallen to half of w(0); the natural length of the map."""
        f = np.geomspace(1e-12, 1e12, 2401)
        below = np.flatnonzero(self.value(f) <= 0.5 * self.value(np.full(1, f[0])))
        return float(np.sqrt(f[below[0]])) if len(below) else float(np.sqrt(f[-1]))

    def require_tail(self) -> tuple[float, float]:
        """(α, β), for loops that know no other kernels than (1 + αβf)^(-1/α)."""
        if self.facts.tail is None:
            raise ValueError(f"{self!r} is not of the heavy-tailed family (1 + αβf)^(-1/α)")
        return self.facts.tail

    def value(self, f: Any) -> Any:
        """w(f)."""
        return np.exp(self.log(f))

    def derivative(self, f: Any) -> Any:
        """w'(f)."""
        return self.value(f) * self.log_derivative(f)

    def log(self, f: Any) -> Any:
        """Log w(f)."""
        return np.log(np.maximum(self.value(f), TINY))

    def log_derivative(self, f: Any) -> Any:
        """w'(f)/w(f), the stiffness that a pair has of its own."""
        return self.derivative(f) / np.maximum(self.value(f), TINY)

    def expressed(self) -> Tree:
        """W as a tree in f and the parameters' names; at singular values of them, its limit."""
        if not self.expression:
            raise ValueError(f"{self!r} is not written as an expression")
        return parse(self.expression, ("f",), tuple(self._values()))

    def parameter_derivative(self, name: str, f: Any) -> Any:
        """∂ log w/∂θ for the learned parameter θ of this name."""
        raise TypeError(f"{type(self).__name__} does not define the derivative in its parameter {name!r}")

    def between(self, i: Any, j: Any) -> Self:
        """The kernel as point i sees point j: per-point parameters are taken at i."""
        arrays = self._per_point()
        return self._with(**{name: value[i] for name, value in arrays.items()}) if arrays else self

    def mapped(self, function: Callable[[Array], Array]) -> Self:
        """With the values of single points, where a parameter has them, turned into others."""
        arrays = self._per_point()
        return self._with(**{name: function(value) for name, value in arrays.items()}) if arrays else self

    def bound_to(self, row_sums: Array) -> Self:
        """The kernel for a target whose row i has this sum; most do not depend on it."""
        return self

    def expanded(self, n: int) -> Self:
        """With one value per point of every parameter that is learned per point."""
        return self

    def _per_point(self) -> dict[str, Array]:
        """The parameters that are arrays, one value for each point."""
        return {name: value for name, value in self._values().items() if isinstance(value, np.ndarray)}


def all_kernels() -> list[type[Kernel]]:
    """Every kernel class of the library that has a name, in the order of their definition."""
    return named_classes(Kernel)


def named(name: str, **parameters: float) -> Kernel:
    """The kernel of this short name, with these parameters."""
    return build_named(Kernel, "kernel", name, parameters)
