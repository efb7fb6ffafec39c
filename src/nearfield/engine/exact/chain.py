"""The exact engine: all pairs, float64. It is the oracle that every shortcut is tested against.

It walks the chain C → q → w → f → d → y (`nearfield.engine.exact.sweep`) with whatever cost, kernel and
transform the method is composed of, the user's own included. Memory beyond the target is O(N × block).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.algebra.method import Method
from nearfield.algebra.parts import TINY
from nearfield.engine.base import Bound, Engine, Evaluation, bind, check_map
from nearfield.engine.exact import loops
from nearfield.engine.exact.sweep import Sweep
from nearfield.engine.stiffness import Stiffness
from nearfield.engine.task import Task
from nearfield.parallel import chunks, over_chunks, threads
from nearfield.typing import Array

BLOCK = 2**15  # pairs in a block: its dozen temporaries stay in the cache
PAIR, CLOSED_PAIR = 70e-9, 16e-9  # seconds of one thread, measured: the chain, and the closed forms
NEAREST = 1e-12  # squared: so near, a spring whose stiffness grows without end grows no more
SMALL = 2**22  # bytes: whatever has no term of its own


class Exact(Engine):
    """The chain over all pairs; use `exact` to get its closed form where there is one."""

    name, precedence = "exact", 40
    summary = "all pairs in float64"
    relative_error = 1e-13

    @classmethod
    def obstacle(cls, task: Task) -> str | None:
        return None

    @classmethod
    def reason(cls, task: Task) -> str:
        return f"all pairs of {task.n} points in float64"

    @classmethod
    def memory(cls, task: Task) -> int:
        """The target, a working copy while it is made, and what threads hold.

        Of several perplexities the distances are kept as well, and the sum over those that have entered.
        """
        matrices = 2 if task.scales == 1 else 4
        of_points = 16 * 8 * task.n * task.n_components * (1 + _scales(task))
        return 8 * matrices * task.n**2 + of_points + SMALL

    @classmethod
    def seconds(cls, task: Task) -> float:
        from nearfield.engine.exact.closed import has_closed_form

        scales = _scales(task)
        closed = has_closed_form(task.method) and scales == 1 and not task.weighted
        pair = CLOSED_PAIR if closed else PAIR * (1 + scales) / 2
        return pair * task.n**2 / threads(None)

    @classmethod
    def of(
        cls, method: Method, target: Any, *, n_jobs: int | None, accuracy: float, weights: Array | None
    ) -> Engine:
        """In closed form where the method's facts give one."""
        return exact(method, target, n_jobs, weights)

    def __init__(self, method: Method, target: Any, n_jobs: int | None = None, weights: Any = None) -> None:
        self.method, bound = bind(method, target, weights)
        self._take(bound, n_jobs)

    def _take(self, bound: Bound, n_jobs: int | None) -> None:
        self.p, self.factor, self.mass, self.weights = bound.p, bound.factor, bound.mass, bound.weights
        self.n = self.p.shape[0]
        self.n_jobs = n_jobs
        self.rows = max(1, BLOCK // max(self.n, 1))

    def evaluate(
        self, Y: Array, *, exaggeration: float = 1.0, want_value: bool = True, method: Method | None = None
    ) -> Evaluation:
        """The method's value and gradient at Y."""
        method = method or self.method
        if exaggeration != 1 and method.kernel is None:
            raise ValueError("exaggeration strengthens a kernel's attraction; a cost of distances has none")
        Yt = np.ascontiguousarray(check_map(Y, self.n).T)
        sweep = Sweep(self, method, Yt, exaggeration, want_value)
        sweep.sum_up()
        parts = over_chunks(sweep.totals, self.n, n_jobs=self.n_jobs)
        total = parts[0]
        for chunk in parts[1:]:
            total += chunk
        return total.evaluation(self.factor, exaggeration, want_value)

    def sums(self, Y: Array, method: Method | None = None) -> tuple[Any, Any]:
        """S and Σ G q at Y, which new points find as they are: of all pairs, or of each point."""
        method = method or self.method
        sweep = Sweep(self, method, np.ascontiguousarray(check_map(Y, self.n).T), 1.0, False)
        sweep.sum_up()
        S, bracket = np.concatenate(over_chunks(sweep.brackets, self.n, n_jobs=self.n_jobs), axis=1)
        if method.normalization == "point":
            return np.maximum(S, TINY), bracket
        if method.normalization == "none":
            return 1.0, 0.0
        return max(float(sweep.S[0] * np.exp(sweep.shift[0])), TINY), float(bracket.sum())

    def stiffness(self, Y: Array, exaggeration: float = 1.0) -> Stiffness:
        """The attraction at Y, for steps that are implicit in it."""
        P, kernel = sparse.csr_array(self.p), self.method.require_kernel()
        rows, copies = np.repeat(np.arange(self.n), np.diff(P.indptr)), 1.0
        gaps = Y[rows] - Y[P.indices]
        f, slope = self.method.transform.of_square(np.maximum((gaps * gaps).sum(axis=1), NEAREST))
        if self.weights is not None:
            copies = self.weights[rows] * self.weights[P.indices]
        k = -4 * exaggeration * copies * P.data * kernel.profile.log_derivative(f) * slope
        return Stiffness(P.indptr, P.indices, k, chunks(self.n), self.n_jobs)

    def row(self, i: int) -> tuple[Array, Array]:
        """The others, and their p or distances."""
        if not sparse.issparse(self.p):
            return np.arange(self.n), self.p[i]
        there = slice(self.p.indptr[i], self.p.indptr[i + 1])
        return self.p.indices[there], self.p.data[there]

    def block(self, lo: int, hi: int) -> Array:
        """The rows of p from lo to hi, dense; a copy where the caller may write to it."""
        if not sparse.issparse(self.p):
            return self.p[lo:hi]
        out = np.empty((hi - lo, self.n))
        loops.dense_rows(lo, hi, self.p.indptr, self.p.indices, self.p.data, out)
        return out


def _scales(task: Task) -> int:
    """How many widths of the kernel there are in the end."""
    return task.scales if task.method.climbs else len(task.method.precisions)


def exact(method: Method, target: Any, n_jobs: int | None = None, weights: Any = None) -> Exact:
    """The exact engine of a method: the closed form where the method's facts give one, else the chain.

    The closed forms know of no weights.
    """
    from nearfield.engine.exact.closed import closed_form

    closed = closed_form(method, target, n_jobs) if weights is None else None
    return closed or Exact(method, target, n_jobs, weights)


def value_and_gradient(
    method: Method,
    Y: Any,
    target: Any,
    *,
    exaggeration: float = 1.0,
    weights: Any = None,
    n_jobs: int | None = None,
) -> tuple[float, Array]:
    """The cost and its gradient at Y, exactly."""
    evaluation = exact(method, target, n_jobs, weights).evaluate(Y, exaggeration=exaggeration)
    return evaluation.value, evaluation.gradient
