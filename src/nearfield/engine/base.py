"""What an engine gives, and what it is given: the evaluation, and the target made ready for a method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from nearfield.algebra.method import Method
from nearfield.algebra.parts import Array


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

    def evaluate(
        self, Y: Array, *, exaggeration: float = 1.0, want_value: bool = True, method: Method | None = None
    ) -> Evaluation:
        """At the map Y; `method` is the same one with other values of its learned parameters."""
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
    """

    p: Any
    scale: float
    mass: float
    symmetric: bool


def bind(method: Method, target: Any) -> tuple[Method, Bound]:
    """Check a target and make it ready; kernels that depend on it (importance weights) are filled in."""
    p = check_target(method, target)
    if method.kernel is None:
        p = method.transform.value(p)  # type: ignore[union-attr]
        np.fill_diagonal(p, 0.0)
        if method.normalization != "none":
            sums = p.sum(axis=1, keepdims=True) if method.normalization == "point" else p.sum()
            if not np.all(sums > 0):
                raise ValueError("all distances are zero, so they cannot be normalized: use method 'mds'")
            p /= sums
    symmetric = is_symmetric(p)
    if method.normalization in ("pair", "joint") and not symmetric:
        raise ValueError(
            f'normalization "{method.normalization}" needs a symmetric P: pass (P + P.T)/2, or use "point"'
        )
    total = float(p.sum())
    if method.kernel is not None:
        degree = np.asarray(p.sum(axis=1), dtype=float).ravel()
        kernel = method.kernel.bound_to(degree)
        if kernel is not method.kernel:
            method = Method(method.cost, kernel, method.normalization, method.transform, method.scales)
    mass = total if method.kernel is not None else float(p.shape[0])
    return method, Bound(p, method.cost.scale(total), mass, symmetric)


def check_target(method: Method, target: Any) -> Any:
    """A float64 copy of the target (dense) or a canonical CSR of it (sparse), or a reason why not."""
    what = {"distances": "a distance matrix", "weights": "weights"}.get(method.target_kind, "P")
    if sparse.issparse(target):
        if method.target_kind == "distances":
            raise ValueError("a cost of distances needs all pairs: pass a dense distance matrix")
        p = sparse.csr_array(target, dtype=np.float64, copy=True)
        p.sum_duplicates()
        p.setdiag(0.0)
        p.eliminate_zeros()
        values = p.data
    else:
        p = np.array(target, dtype=np.float64)
        if p.ndim == 2 and p.shape[0] == p.shape[1]:
            np.fill_diagonal(p, 0.0)
        values = p
    if p.ndim != 2 or p.shape[0] != p.shape[1]:
        raise ValueError(f"{what} must be square, one row and one column per point, got shape {p.shape}")
    if not np.all(np.isfinite(values)):
        raise ValueError(f"{what} contains NaN or infinity")
    if values.size and values.min() < 0:
        raise ValueError(f"{what} contains negative values")
    return p


def is_symmetric(p: Any) -> bool:
    """Whether a matrix equals its transpose but for rounding; dense ones are compared block by block."""
    if sparse.issparse(p):
        gap = abs(p - p.T)
        return gap.nnz == 0 or float(gap.max()) <= 1e-10 * float(abs(p).max())
    n, largest = p.shape[0], float(p.max(initial=0.0))
    step = max(1, 2**20 // max(n, 1))
    return all(
        np.abs(p[lo : lo + step] - p[:, lo : lo + step].T).max(initial=0.0) <= 1e-10 * largest
        for lo in range(0, n, step)
    )


def check_map(Y: Any, n: int) -> Array:
    """The map as float64, or what is wrong with it."""
    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim != 2 or Y.shape[0] != n or Y.shape[1] == 0:
        raise ValueError(f"Y must have shape ({n}, dimensions) to go with the target, got {Y.shape}")
    if not np.all(np.isfinite(Y)):
        raise ValueError("Y contains NaN or infinity")
    return Y
