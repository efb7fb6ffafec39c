"""What costs, kernels, transforms and methods have in common: they are plain data."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
F = TypeVar("F", bound="DataclassInstance")

TINY = 1e-140  # below every p and q that matters, and its inverse square is still a float64
# Between what values parameters are, so that what they make of ordinary numbers can be told and squared:
# sizes are from the least up to its inverse, exponents up to the steepest.
LEAST, STEEPEST = 1e-12, 64.0

# Fields that are printed only where they differ from the default: what they guard is rarely of interest.
SAFEGUARDS = frozenset({"floor", "epsilon", "learned", "mass", "share", "transform", "scales"})


@dataclass_transform(frozen_default=True, eq_default=False)
def part(cls: type[T]) -> type[T]:
    """Make a class of parts a frozen dataclass that keeps the comparison and the printing of `Part`."""
    return dataclass(frozen=True, eq=False, repr=False)(cls)


class Part:
    """A frozen dataclass that compares and prints by its fields, arrays among them.

    The dataclass' own comparison cannot do it: arrays have no single truth value.
    """

    facts_kind: ClassVar[type | None] = None  # the dataclass of its `facts`, if it has such

    if not TYPE_CHECKING:  # which holds the library itself to `facts`

        def __getattr__(self, name: str) -> Any:
            """A fact that is read of the part itself, as it was before there were `facts`."""
            declared = hasattr(type(self), name)
            if not declared and name in getattr(self.facts_kind, "__dataclass_fields__", ()):
                return getattr(self.facts, name)
            return object.__getattribute__(self, name)  # which says what is missing, and where

    def __getstate__(self) -> dict[str, Any]:
        # Found out once and kept; copies, which may have other values, find out theirs.
        return {name: value for name, value in vars(self).items() if name not in ("facts", "_hash")}

    def _values(self) -> dict[str, Any]:
        # A part of a user's own need not be a dataclass: then its attributes are its fields.
        if is_dataclass(self):
            return {f.name: getattr(self, f.name) for f in fields(self)}
        return self.__getstate__()

    def _arguments(self) -> dict[str, Any]:
        """What the class is to be called with to make the part again."""
        return self._values()

    def _with(self, **values: Any) -> Self:
        """A copy with other values, which have been checked already."""
        copied = copy.copy(self)
        for name, value in values.items():
            object.__setattr__(copied, name, value)
        return copied

    def __eq__(self, other: object) -> bool:
        if self is other:  # which an engine asks at every iteration
            return True
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = self._values(), other._values()
        return all(np.array_equal(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        if "_hash" in vars(self):
            return int(vars(self)["_hash"])
        keys = [v.tobytes() if isinstance(v, np.ndarray) else v for v in self._values().values()]
        found = hash((type(self), *keys))
        if is_dataclass(self):  # whose fields do not change
            object.__setattr__(self, "_hash", found)
        return found

    def __repr__(self) -> str:
        defaults: dict[str, Any] = {f.name: f.default for f in fields(self)} if is_dataclass(self) else {}
        shown = []
        for name, value in self._values().items():
            if isinstance(value, np.ndarray):
                shown.append(f"{name}=<{len(value)} values>")
            elif name not in SAFEGUARDS or value != defaults.get(name):
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


def declared(part: Part, kind: type[F], **otherwise: Any) -> F:
    """The facts that the class of a part declares, as attributes, properties or methods of their names."""
    found = dict(otherwise)
    for name in (each.name for each in fields(kind)):
        if name in vars(part) or hasattr(type(part), name):
            value = getattr(part, name)
            found[name] = value() if callable(value) else value
    return kind(**found)


def scaled_log1p(x: Any, t: Any) -> Any:
    """log(1 + t x) / t, which is x at t = 0.

    With it Gaussian, Student and everything between are one formula, and so are the two
    Kullback-Leibler divergences and the Jensen-Shannon divergences between them.

    >>> float(scaled_log1p(3.0, 0.0))
    3.0
    """
    if np.ndim(t) == 0:
        t = float(t)  # a plain number leaves float32 as it is
        return np.log1p(t * x) / t if t > 0 else np.multiply(x, 1.0)
    positive = t > 0
    safe = np.where(positive, t, 1.0)
    return np.where(positive, np.log1p(safe * x) / safe, x)


def named_classes(base: type[T]) -> list[type[T]]:
    """Every class of the library below `base` that has a short name, in the order of their definition."""
    found: list[type[T]] = []
    for child in base.__subclasses__():
        if getattr(child, "name", "") and child.__module__.startswith("nearfield."):
            found.append(child)
        found += named_classes(child)
    return found


def build_named(base: type[T], kind: str, name: str, parameters: dict[str, Any]) -> T:
    """The part of this short name, or the names that there are."""
    classes = {getattr(cls, "name"): cls for cls in named_classes(base)}  # noqa: B009
    if name not in classes:
        raise ValueError(f"no {kind} is called {name!r}; the {kind}s are {', '.join(sorted(classes))}")
    return build(classes[name], name, parameters)


def build(make: Callable[..., Any], name: str, parameters: dict[str, Any]) -> Any:
    """Call `make` with the parameters, or say which ones it has."""
    known = list(inspect.signature(make).parameters)
    for parameter in parameters:
        if parameter not in known:
            has = f"its parameters are {', '.join(known)}" if known else "it has none"
            raise ValueError(f"{name!r} has no parameter {parameter!r}; {has}")
    return make(**parameters)
