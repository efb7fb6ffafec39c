"""What an engine gives, and what it is given: the evaluation, and the target made ready for a method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from nearfield.affinity.copies import check_weights, seen
from nearfield.affinity.targets import check_target, is_symmetric
from nearfield.algebra.method import Method
from nearfield.algebra.parts import Array


class RunAway(FloatingPointError):
    """A map so wide beside its kernel that an engine cannot evaluate it."""


@dataclass(frozen=True)
class Evaluation:
    """The cost at a map.

    Attributes
    ----------
    value : float
        What is being minimised: the cost, and the exaggerated attraction if there is any. NaN if the
        engine was told that nobody asks.
    cost : float
        The cost alone.
    gradient : array (points, dimensions)
        Of `value` in the coordinates.
    parameters : dict
        The derivative of `value` in each learned parameter of the kernel.
    """

    value: float
    cost: float
    gradient: Array
    parameters: dict[str, Any] = field(default_factory=dict)


class Engine(Protocol):
    """Value and gradient of one method against one target."""

    method: Method
    mass: float
    weights: Array | None
    precision: float  # the share of a value by which it can err

    def evaluate(
        self, Y: Array, *, exaggeration: float = 1.0, want_value: bool = True, method: Method | None = None
    ) -> Evaluation:
        """At the map Y; `method` is the same one with other values of its learned parameters."""
        ...

    def row(self, i: int) -> tuple[Array, Array]:
        """What point i is tied to, and the target of each tie."""
        ...


@dataclass(frozen=True)
class Bound:
    """A target as a method uses it: P, weights or (transformed, normalized) distances.

    Attributes
    ----------
    p : array or csr_array
        What q is compared with.
    scale : float
        The constant before the cost.
    mass : float
        M = Σ p: 1 for pair, N for point, Σ v for none. The gradient at a point is of order M/N.
    symmetric : bool
        Whether p_ij = p_ji.
    weights : array or None
        How many copies each point stands for; sums over pairs are then sums over pairs of copies.
    """

    p: Any
    scale: float
    mass: float
    symmetric: bool
    weights: Array | None = None


def bind(method: Method, target: Any, weights: Any = None) -> tuple[Method, Bound]:
    """Check a target and make it ready; kernels that depend on it (importance weights) are filled in."""
    weights = None if weights is None else check_weights(weights, np.shape(target)[0])
    p = check_target(method, target, weights)
    if method.kernel is None:
        p = method.transform.value(p)  # type: ignore[union-attr]
        if method.normalization != "none":
            sums = seen(p, weights)[:, None] if method.normalization == "point" else _total(p, weights)
            if not np.all(sums > 0):
                raise ValueError("all distances are zero, so they cannot be normalized: use method 'mds'")
            p = p / sums
    symmetric = is_symmetric(p)
    if method.normalization in ("pair", "joint") and not symmetric:
        raise ValueError(
            f'normalization "{method.normalization}" needs a symmetric P: pass (P + P.T)/2, or use "point"'
        )
    total = _total(p, weights)
    if method.kernel is not None:
        method = method._with(kernel=method.kernel.bound_to(seen(p, weights)))
    mass = total if method.kernel is not None else float(p.shape[0] if weights is None else weights.sum())
    return method, Bound(p, method.cost.scale(total), mass, symmetric, weights)


def _total(p: Any, weights: Array | None) -> float:
    """Σ p over all pairs of copies."""
    return float(p.sum() if weights is None else weights @ seen(p, weights))


def check_map(Y: Any, n: int) -> Array:
    """The map as float64, or what is wrong with it."""
    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim != 2 or Y.shape[0] != n or Y.shape[1] == 0:
        raise ValueError(f"Y must have shape ({n}, dimensions) to go with the target, got {Y.shape}")
    if not np.all(np.isfinite(Y)):
        raise ValueError("Y contains NaN or infinity")
    return Y
