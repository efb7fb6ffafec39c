"""Closed forms of the exact gradient, for compositions whose facts give one: a fused loop, no temporaries.

* A cross-entropy with a heavy-tailed kernel (SNE, t-SNE and all between), pair or point:
  k_ij = (a p_ij - M q_ij) β/(1 + αβf_ij), M the sum of p over what q is normalized over.
* A cross-entropy with Gaussians of several scales:
  k_ij = Σ_u β_u q_iju [p_ij/q̄_ij - Σ_k p_ik q_iku/q̄_ik]/U, the sum over the row, or over all pairs.
* Weighted least squares of distances (metric MDS, Sammon): k_ij = r^e (d - r)/d.

The chain in `exact` is what they are tested against.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.algebra.method import Method
from nearfield.algebra.parts import TINY
from nearfield.algebra.transforms import Identity, Square
from nearfield.engine.base import Bound, Evaluation, bind, check_map
from nearfield.engine.exact import loops, scale_loops
from nearfield.engine.exact.chain import Exact
from nearfield.parallel import over_chunks
from nearfield.typing import Array

NONE = np.zeros(0, np.int64)  # what a matrix says of where its rows start


def closed_form(method: Method, target: Any, n_jobs: int | None = None) -> Exact | None:
    """The engine with a closed form for this method and target, or None."""
    kind = _form_of(method)
    if kind is None:
        return None
    method, bound = bind(method, target)
    by_row = method.normalization == "point"
    return kind(method, bound, n_jobs) if bound.symmetric or by_row else None


def has_closed_form(method: Method) -> bool:
    """Whether the facts of a method give a closed form, for a target that is dense and symmetric."""
    return _form_of(method) is not None


def _form_of(method: Method) -> type[_Closed] | None:
    if method.kernel is None:
        plain = method.normalization == "none" and method.transform == Identity()
        return LeastSquares if plain and method.cost.facts.least_squares is not None else None
    tail = method.kernel.facts.tail
    if not method.cost.facts.cross_entropy or tail is None or method.transform != Square():
        return None
    if method.learned or (method.kernel.facts.underflows and tail[0] != 0):
        return None
    if method.precisions != (1.0,):
        normalized = method.normalization in ("pair", "point")
        return Bells if tail[0] == 0 and normalized else None
    return {"pair": TailPair, "point": TailPoint}.get(method.normalization)


class _Closed(Exact):
    """An exact engine whose evaluation is a fused loop; it inherits the chain, as the fallback."""

    def __init__(self, method: Method, bound: Bound, n_jobs: int | None) -> None:
        self.method = method
        self._take(bound, n_jobs)

    @property
    def _rows(self) -> tuple[Any, Any, Any]:
        """P as loops take it: a matrix; or a column of numbers, where rows start, and their columns."""
        if not sparse.issparse(self.p):
            return self.p, NONE, NONE
        return self.p.data[:, None], *(each.astype(np.int64) for each in (self.p.indptr, self.p.indices))

    @property
    def _tail(self) -> tuple[float, float]:
        return self.method.require_kernel().require_tail()


class _CrossEntropy(_Closed):
    def __init__(self, method: Method, bound: Bound, n_jobs: int | None) -> None:
        super().__init__(method, bound, n_jobs)
        self.entropy = sum(over_chunks(self._entropy, self.n, n_jobs=n_jobs))  # Σ p log p, which stays

    def _entropy(self, lo: int, hi: int) -> float:
        total = 0.0
        for start in range(lo, hi, self.rows):
            p = self.block(start, min(start + self.rows, hi))
            total += float((p * np.log(np.maximum(p, TINY))).sum())
        return total


class TailPair(_CrossEntropy):
    """4 Σ_j (a p - M q) β/(1+αβf) (y_i - y_j), both sums in one pass and S at its end."""

    def evaluate(
        self, Y: Array, *, exaggeration: float = 1.0, want_value: bool = True, method: Method | None = None
    ) -> Evaluation:
        """The method's value and gradient at Y."""
        Yt = np.ascontiguousarray(check_map(Y, self.n).T)
        attraction, repulsion = np.empty_like(Yt), np.empty_like(Yt)
        arguments = (Yt, *self._rows, *self._tail, want_value, attraction, repulsion)
        parts = over_chunks(loops.tail_pair, self.n, *arguments, n_jobs=self.n_jobs)
        S, crossed = (float(sum(part)) for part in zip(*parts, strict=True))
        if not S > 1e-250:  # every Gaussian underflowed: the chain shifts them
            return super().evaluate(Y, exaggeration=exaggeration, want_value=want_value)
        cost = self.entropy + crossed + self.mass * np.log(S) if want_value else np.nan
        gradient = 4 * (exaggeration * attraction - (self.mass / S) * repulsion)
        return Evaluation(
            cost + (exaggeration - 1) * crossed, cost, np.ascontiguousarray(gradient.T), crossed=crossed
        )


class TailPoint(_CrossEntropy):
    """2 Σ_j (k_ij + k_ji) (y_i - y_j) with k_ij = (a p - M_i q) β/(1+αβf)."""

    def evaluate(
        self, Y: Array, *, exaggeration: float = 1.0, want_value: bool = True, method: Method | None = None
    ) -> Evaluation:
        """The method's value and gradient at Y."""
        Yt = np.ascontiguousarray(check_map(Y, self.n).T)

        def rows(lo: int, hi: int) -> tuple[Array, float, float]:
            gradient = np.zeros_like(Yt)
            known = (Yt, *self._rows, *self._tail)
            logs, crossed = loops.tail_point(lo, hi, *known, exaggeration, want_value, gradient)
            return gradient, logs, crossed

        parts = over_chunks(rows, self.n, n_jobs=self.n_jobs)
        gradient = parts[0][0]
        for part, _, _ in parts[1:]:
            gradient += part
        crossed = sum(part[2] for part in parts)
        cost = self.entropy + crossed + sum(part[1] for part in parts) if want_value else np.nan
        return Evaluation(
            cost + (exaggeration - 1) * crossed, cost, np.ascontiguousarray(gradient.T), crossed=crossed
        )


class Bells(_CrossEntropy):
    """Gaussians of several scales, each normalized on its own: one pass over the pairs, or two for pair."""

    def evaluate(
        self, Y: Array, *, exaggeration: float = 1.0, want_value: bool = True, method: Method | None = None
    ) -> Evaluation:
        """The method's value and gradient at Y."""
        if exaggeration != 1:
            return super().evaluate(Y, exaggeration=exaggeration, want_value=want_value)
        Yt = np.ascontiguousarray(check_map(Y, self.n).T)
        order = np.argsort(self.method.precisions)[::-1]  # the narrowest first
        beta = self._tail[1] * np.array(self.method.precisions)[order]
        known = (Yt, beta, _squarings(beta))
        by_row, scales = self.method.normalization == "point", len(beta)
        level, S = 0.0, np.zeros(scales)
        if not by_row:  # weights are relative to those of the nearest pair
            level = min(over_chunks(scale_loops.nearest_pair, self.n, Yt, n_jobs=self.n_jobs))

            def sums(lo: int, hi: int) -> Array:
                part = np.zeros(scales)
                scale_loops.bell_sums(lo, hi, *known, level, part)
                return part

            S = np.sum(over_chunks(sums, self.n, n_jobs=self.n_jobs), axis=0)

        def rows(lo: int, hi: int) -> tuple[Array, Array, Array, float]:
            pull, push = np.zeros_like(Yt), np.zeros((0 if by_row else scales, *Yt.shape))
            bracket = np.zeros(scales)
            arguments = (Yt, *self._rows, beta, known[2], by_row, level, S, want_value, pull, push, bracket)
            return pull, push, bracket, scale_loops.scaled_rows(lo, hi, *arguments)

        parts = over_chunks(rows, self.n, n_jobs=self.n_jobs)
        gradient, push, bracket, crossed = parts[0]
        for part in parts[1:]:
            gradient += part[0]
            push += part[1]
            bracket += part[2]
            crossed += part[3]
        if not by_row:
            gradient -= 4 * np.tensordot(bracket, push, axes=1)
        cost = self.entropy + crossed if want_value else np.nan
        return Evaluation(cost, cost, np.ascontiguousarray(gradient.T))


def _squarings(beta: Array) -> int:
    """How often the weights of a scale are squared to be those of the next finer one; 0 if that varies."""
    ratios = np.log2(beta[:-1] / beta[1:]) if len(beta) > 1 else np.zeros(1)
    times = round(float(ratios[0]))
    return times if times >= 1 and np.allclose(ratios, times, atol=1e-9) else 0


class LeastSquares(_Closed):
    """4 Σ_j r^e (d - r)/d (y_i - y_j), times the constant before the cost."""

    def evaluate(
        self, Y: Array, *, exaggeration: float = 1.0, want_value: bool = True, method: Method | None = None
    ) -> Evaluation:
        """The method's value and gradient at Y."""
        if exaggeration != 1:
            return super().evaluate(Y, exaggeration=exaggeration)  # which says why not
        Yt = np.ascontiguousarray(check_map(Y, self.n).T)
        gradient = np.empty_like(Yt)
        arguments = (Yt, self.p, float(self.method.cost.facts.least_squares or 0), gradient)
        value = self.factor * sum(over_chunks(loops.least_squares, self.n, *arguments, n_jobs=self.n_jobs))
        return Evaluation(value, value, np.ascontiguousarray(self.factor * gradient.T))
