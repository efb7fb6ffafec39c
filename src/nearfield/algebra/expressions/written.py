"""What costs and kernels in a user's own words have in common: a text or two functions, and parameters."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

from nearfield.algebra.expressions.limits import check_size
from nearfield.algebra.expressions.parsing import check_name, parse, shortened
from nearfield.algebra.expressions.tree import Number, Tree
from nearfield.algebra.parts import Part

Function = Callable[..., Any]


class Written(Part):
    """A part that is written as text, or as a function with its derivative; it compares and prints by that.

    Attributes
    ----------
    written : str or callable
        The text, or the function.
    slope : callable or None
        The derivative of the function.
    parameters : dict
        The values of the names in the text that are no variables, or keywords of the functions.
    """

    written: str | Function
    slope: Function | None
    parameters: dict[str, float]

    def _write(
        self,
        written: str | Function,
        slope: Function | None,
        variables: Sequence[str],
        parameters: Mapping[str, Any],
    ) -> None:
        """Check and store what was given."""
        for name, value in parameters.items():
            check_name(name, variables)
            if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
                raise ValueError(f"the parameter {name} must be a number, got {shortened(str(value))}")
        if isinstance(written, str):
            if slope is not None:
                raise ValueError("the derivative of a text is found by itself: leave derivative out")
        elif callable(written):
            if slope is None:
                raise ValueError("a function needs its derivative: pass derivative=, a function as well")
            for function in (written, slope):
                check_function(function)
        else:
            raise TypeError(f"an expression is a text or a function, got {type(written).__name__}")
        values = {name: _plain(value) for name, value in sorted(parameters.items())}
        vars(self).update(written=written, slope=slope, parameters=values)

    def _parsed(self, variables: Sequence[str]) -> Tree:
        """The text as a tree in the variables and the parameters, each of which it must use."""
        assert isinstance(self.written, str)
        tree = parse(self.written, variables, tuple(self.parameters))
        unused = sorted(set(self.parameters) - tree.names())
        if unused:
            raise ValueError(f"{shortened(self.written)} has no parameter {unused[0]!r}")
        return tree

    def _valued(self, tree: Tree) -> Tree:
        """The tree with numbers in place of the parameters."""
        tree = tree.replaced({name: Number(value) for name, value in self.parameters.items()})
        check_size(tree)
        return tree

    def _with(self, **values: Any) -> Self:
        known = {name: float(values.pop(name)) for name in list(values) if name in self.parameters}
        return super()._with(**values, parameters=self.parameters | known)

    def _values(self) -> dict[str, Any]:
        return {**self.__getstate__(), "parameters": tuple(self.parameters.items())}

    def _arguments(self) -> dict[str, Any]:
        own = {**self.__getstate__(), "derivative": self.slope, **self.parameters}
        return {name: value for name, value in own.items() if name not in ("slope", "parameters")}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Parameters are attributes, as those of every other part; what is not there yet has none.
            parameters = vars(self).get("parameters", {})
            return parameters[name] if name in parameters else super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot assign to {name!r}: an expression stays as it is")

    def _options(self) -> dict[str, str]:
        """What was given beside the text, as it is printed."""
        return {}

    def __repr__(self) -> str:
        if isinstance(self.written, str):
            shown = [repr(self.written)]
        else:
            shown = [_path(self.written), f"derivative={_path(self.slope)}"]
        options = {name: repr(value) for name, value in self.parameters.items()} | self._options()
        return f"Expression({', '.join([*shown, *(f'{name}={text}' for name, text in options.items())])})"


def check_function(function: Function) -> None:
    """Refuse a function that another process would not find by its name."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    name = getattr(function, "__qualname__", "")
    if not name or getattr(module, name, None) is not function:
        what = name or type(function).__name__
        raise ValueError(
            f"{what} cannot be sent to another process: define it with def at the top level of a module"
        )


def rounded(value: float) -> float:
    """The simple fraction that a computed number is, or the number itself if it is none."""
    simple = float(Fraction(value).limit_denominator(10_000)) if math.isfinite(value) else value
    return simple if abs(simple - value) <= 1e-11 * max(1.0, abs(value)) else value


def _plain(value: Real) -> int | float:
    return int(value) if isinstance(value, int) else float(value)


def _path(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}"
