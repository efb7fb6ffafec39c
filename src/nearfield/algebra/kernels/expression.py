"""Kernels of one's own, as a line of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from nearfield.algebra.expressions import Tree, from_symbolic, numeric, symbolic
from nearfield.algebra.expressions.budget import is_short, is_simple
from nearfield.algebra.expressions.deriving import bells_first, factored, lean
from nearfield.algebra.expressions.numeric import without_constants
from nearfield.algebra.expressions.slopes import logarithm, slope
from nearfield.algebra.expressions.symbolic import symbol
from nearfield.algebra.expressions.written import Written, rounded
from nearfield.algebra.kernels.base import Kernel, KernelFacts
from nearfield.algebra.parts import TINY

OUTERMOST = 1e6  # a squared distance beyond which hardly any map goes
DEEP = -150.0  # log w there, below which sums must be taken of logarithms
LARGEST = 1e9  # w(0), or its inverse: float32 has room for sums of such weights, and for their tails
F = np.concatenate([[0.0], np.geomspace(1e-6, OUTERMOST, 121)])  # where kernels are looked at


class Expression(Written, Kernel):
    """A kernel written as text in f, such as ``"1/(1 + f)**2"``, or as a function with its derivative.

    The text is read into a tree, of which SymPy takes the logarithm and its derivative, so that far points
    do not underflow; the text itself is never evaluated. ``Expression("1/(1+f)")`` runs in the same loops
    as `Student`, because that is what it turns out to be.

    Parameters
    ----------
    written : str or callable
        w(f), positive and decreasing, where f is the squared distance in the map (or what the method's
        transform makes of it); see `nearfield.costs.Expression` for what may stand in it.
    derivative : callable, optional
        w'(f), if a function was given.
    **parameters : float
        The values of all other names.

    Examples
    --------
    >>> import nearfield as nf
    >>> kernel = nf.kernels.Expression("(1 + f/s)**(-m)", m=1, s=2.0)
    >>> kernel.facts.tail
    (1.0, 0.5)
    >>> nf.kernels.Expression("1 + f")
    Traceback (most recent call last):
    ValueError: cannot use Expression('1 + f'): a kernel falls with the distance, and this one grows at ...
    """

    def __init__(
        self,
        written: str | Callable[..., Any],
        *,
        derivative: Callable[..., Any] | None = None,
        **parameters: float,
    ) -> None:
        self._write(written, derivative, ("f",), parameters)
        analysed(self)  # what is wrong with it is told when it is written, not when it is used

    def expressed(self) -> Tree:
        """W as a tree in f and the parameters."""
        return self._parsed(("f",)) if isinstance(self.written, str) else super().expressed()

    @cached_property
    def facts(self) -> KernelFacts:
        """What it turns out to be."""
        return analysed(self).facts

    @property
    def width(self) -> float:
        return analysed(self).width

    def value(self, f: Any) -> Any:
        return analysed(self).value(f)

    def derivative(self, f: Any) -> Any:
        return self.value(f) * self.log_derivative(f)

    def log(self, f: Any) -> Any:
        return analysed(self).log(f)

    def log_derivative(self, f: Any) -> Any:
        return analysed(self).log_derivative(f)


Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Analysed:
    """A kernel in numbers, and its facts."""

    value: Function
    log: Function
    log_derivative: Function
    width: float
    facts: KernelFacts


@lru_cache(maxsize=256)
def analysed(kernel: Expression) -> Analysed:
    """What a kernel turns out to be; found out once in each process."""
    try:
        if isinstance(kernel.written, str):
            value, log, rate = _of_text(kernel._valued(kernel.expressed()))
        else:
            value, log, rate = _of_functions(kernel.written, kernel.slope, kernel.parameters)
        with np.errstate(all="ignore"):
            w, log_w, rates = (np.asarray(each(F)) for each in (value, log, rate))
        _check(w, log_w, rates)
    except ValueError as error:
        raise ValueError(f"cannot use {kernel!r}: {error}") from None
    tail = _tail(w, log_w, rates)
    underflows = bool(log_w[-1] < DEEP) if tail is None else tail[0] < 0.1
    power = _power(w) if tail is None else None
    facts = KernelFacts(within_one=bool(w[0] <= 1), underflows=underflows, tail=tail, power=power)
    return Analysed(value, log, rate, _width(value), facts)


def _of_text(tree: Tree) -> tuple[Function, Function, Function]:
    """w, log w and w'/w; the logarithm is taken of the factors, which do not underflow one by one."""
    tree = without_constants(tree)
    value, derivative = (_quiet(numeric(each, ("f",))) for each in (tree, slope(tree, "f")))
    _check_values(value(F))
    if not is_short(tree):
        return _of_functions(value, derivative, {})
    for forms in _logarithms(tree):
        found = tuple(_quiet(numeric(each, ("f",))) for each in forms)
        if np.isfinite(found[0](F)).all() and np.isfinite(found[1](F[1:])).all():
            return value, found[0], _apart(found[1])
    return _of_functions(value, derivative, {})


def _logarithms(tree: Tree) -> Iterator[tuple[Tree, Tree]]:
    """Forms of log w and of its derivative, one of which may be finite for far points."""
    if not is_simple(tree):
        log = logarithm(tree)
        yield log, slope(log, "f")
        return
    import sympy

    expression = symbolic(tree)
    for rewritten in (lambda form: form, factored, bells_first):  # the last two only where they are needed
        form = sympy.expand_log(sympy.log(rewritten(expression)), force=True)
        rate = form.diff(symbol("f"))
        for each in (lean(rate), rate):
            yield from_symbolic(form), from_symbolic(each)


def _of_functions(
    value: Any, derivative: Any, parameters: dict[str, float]
) -> tuple[Function, Function, Function]:
    def at(f: Any) -> Any:
        return value(f, **parameters)

    def log(f: Any) -> Any:
        return np.log(np.maximum(at(f), TINY))

    def rate(f: Any) -> Any:
        return derivative(f, **parameters) / np.maximum(at(f), TINY)

    return _quiet(at), _quiet(log), _apart(_quiet(rate))


def _quiet(function: Function) -> Function:
    """The function, without warnings of what underflows; what leaves float32 has room in float64."""

    def quiet(f: Any) -> Any:
        with np.errstate(all="ignore"):
            result = function(f)
            if getattr(f, "dtype", None) == np.float32 and not np.isfinite(result).all():
                return function(f.astype(np.float64)).astype(np.float32)
            return result

    return quiet


def _apart(rate: Function) -> Function:
    """The rate, which is 0 for coincident points if it is undefined there: they have no direction."""

    def defined(f: Any) -> Any:
        result = rate(f)
        if np.isfinite(result).all():
            return result
        return np.where((np.asarray(f) == 0) & ~np.isfinite(result), 0.0, result)

    return defined


@np.errstate(all="ignore")
def _check_values(w: Any) -> None:
    """Refuse what is undefined, negative or growing, before anything is derived from it."""
    for bad, why in (
        (~np.isfinite(w), "it is not finite"),
        (w < 0, "a kernel is positive, and this one is not"),
        # What underflows is close to nothing before it is nothing.
        ((w == 0) & (np.roll(w, 1) > 1e-100), "a kernel is positive everywhere, and this one vanishes"),
        (np.diff(w, prepend=w[0]) > 1e-9 * abs(w), "a kernel falls with the distance, and this one grows"),
    ):
        if bad.any():
            raise ValueError(f"{why} at f = {F[np.argmax(bad)]:.3g}")


def _check(w: Any, log: Any, rate: Any) -> None:
    """Refuse what is no kernel: undefined, not positive, growing, or flat."""
    if not all(np.shape(each) == F.shape and each.dtype.kind in "fiu" for each in (w, log, rate)):
        raise ValueError("it must be a real number for each distance")
    _check_values(w)
    for bad, why in (
        (~np.isfinite(log + rate), "its logarithm is not finite"),
        (rate > 0, "a kernel falls with the distance, and this one grows"),
    ):
        if bad.any():
            raise ValueError(f"{why} at f = {F[np.argmax(bad)]:.3g}")
    if not rate.any() or w[0] == w[-1]:
        raise ValueError("a kernel falls with the distance, and this one is flat")
    if not 1 / LARGEST <= w[0] <= LARGEST:
        raise ValueError(
            f"the largest weight of a kernel is between {1 / LARGEST:.0e} and {LARGEST:.0e}, and that of this"
            f" one is {w[0]:.3g}: divide it by {w[0]:.0e}"
        )


def _tail(w: Any, log: Any, rate: Any) -> tuple[float, float] | None:
    """(α, β) if w is (1 + αβf)^(-1/α): then -1/(log w)' is 1/β + αf."""
    if abs(w[0] - 1) > 1e-12 or not np.all(rate < 0):
        return None
    stiff = -1 / rate
    alpha = rounded((stiff[-1] - stiff[0]) / F[-1])
    beta = rounded(1 / stiff[0]) or 1 / stiff[0]  # which may be less than any simple fraction
    if alpha < 0 or not np.allclose(stiff, 1 / beta + alpha * F, rtol=1e-10):
        return None
    expected = -beta * F if alpha == 0 else -np.log1p(alpha * beta * F) / alpha
    return (float(alpha), float(beta)) if np.allclose(log, expected, rtol=1e-9, atol=1e-12) else None


@np.errstate(all="ignore")
def _power(w: Any) -> tuple[float, float] | None:
    """(a, b) if w is 1/(1 + a f^b): then log(1/w - 1) is log a + b log f."""
    odds = np.log(1 / w[1:] - 1)
    if abs(w[0] - 1) > 1e-12 or not np.isfinite(odds).all():
        return None
    b = rounded(float((odds[-1] - odds[60]) / np.log(F[-1] / F[61])))
    a = rounded(float(np.exp(odds[-1] - b * np.log(F[-1]))))
    near = np.allclose(w, 1 / (1 + a * F**b), rtol=1e-10) and a > 0 and b > 0
    return (a, b) if near else None


def _width(value: Function) -> float:
    """The distance at which w has fallen to half; between the points of a grid by bisection."""
    f = np.geomspace(1e-12, 1e12, 241)
    half = 0.5 * float(np.asarray(value(np.zeros(1)))[0])
    below = np.flatnonzero(value(f) <= half)
    if not len(below):
        return float(np.sqrt(f[-1]))
    low, high = f[max(below[0] - 1, 0)], f[below[0]]
    for _ in range(40):
        middle = np.sqrt(low * high)
        low, high = (low, middle) if value(np.full(1, middle))[0] <= half else (middle, high)
    return float(np.sqrt(high))
