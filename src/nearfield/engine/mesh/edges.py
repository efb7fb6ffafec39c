"""The edges of the neighbour graph: springs with G - G0 in place of G, where p is not zero.

An edge may stand for several pairs: those of the copies of its ends where points have weights, or all pairs
of a stratum of which it was drawn. Its p is that of one of them, and what it adds counts as often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.algebra.costs.facts import LimitTerm
from nearfield.algebra.kernels.base import Kernel
from nearfield.algebra.method import Method
from nearfield.engine.mesh import edge_loops as loops
from nearfield.engine.mesh import power_loops
from nearfield.engine.stiffness import Stiffness
from nearfield.parallel import CHUNKS, begin, over_chunks

PARTS = 6  # of the edges whose forces, on points anywhere, are added up
BLOCK = 2**17  # edges at a time: few enough for the cache, and so many that threads do not wait for Python
# Below every weight that matters; (p/q)² stays within float32. Of pairs that are further apart than that the
# cost goes on along its tangent in log w, so that value and gradient agree, and torn neighbours meet again.
SMALLEST = np.float32(1e-15)
FURTHEST = np.log(SMALLEST)
NEAREST = np.float32(1e-12)  # squared: so near, a spring whose stiffness grows without end grows no more


@dataclass(frozen=True)
class Request:
    """What an evaluation is asked for: the method, the map, and how much of it."""

    method: Method
    Y: Any
    exaggeration: float = 1.0
    want_value: bool = True

    @property
    def kernel(self) -> Kernel:
        """The method's kernel, without which there are no edges."""
        return self.method.require_kernel()


@dataclass
class EdgeSums:
    """What the edges contribute: springs, brackets Σ (G - G0) q and costs, of all rows."""

    gradient: Any
    bracket: Any
    cost: float = 0.0
    attraction: float = 0.0

    @classmethod
    @np.errstate(invalid="ignore")  # of forces without end: whoever called sees them
    def added(cls, parts: list[EdgeSums]) -> EdgeSums:
        """The sum of parts, in their order; the first is overwritten."""
        total = parts[0]
        for part in parts[1:]:
            total.gradient += part.gradient
            total.bracket += part.bracket
            total.cost += part.cost
            total.attraction += part.attraction
        return total


class Edges:
    """P in compressed rows, in the smallest types that hold it, and the springs along its edges.

    Parameters
    ----------
    P : sparse array
        Without a copy where its types are small already.
    multiplicity : array, optional
        How many pairs each of its values stands for.
    """

    def __init__(self, P: Any, multiplicity: Any = None, n_jobs: int | None = None) -> None:
        (self.n, self.columns), self.n_jobs = P.shape, n_jobs
        self.p = P.data.astype(np.float32, copy=False)
        self.indptr = P.indptr.astype(np.int64, copy=False)
        self.indices = P.indices.view(np.uint32) if P.indices.itemsize == 4 else P.indices.astype(np.uint32)
        self.multiplicity = None if multiplicity is None else multiplicity.astype(np.float32, copy=False)
        self.chunks = self._balanced(CHUNKS)

    def _balanced(self, count: int) -> list[tuple[int, int]]:
        """Chunks of rows with about equally many edges."""
        bounds = np.searchsorted(self.indptr, np.linspace(0, self.indptr[-1], count + 1))
        bounds[0], bounds[-1] = 0, self.n
        bounds = np.unique(np.clip(bounds, 0, self.n))
        return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))

    def blocks(self, lo: int, hi: int) -> Iterator[tuple[int, int]]:
        """Ranges of rows within a chunk, of some BLOCK edges each."""
        while lo < hi:
            stop = int(np.searchsorted(self.indptr, self.indptr[lo] + BLOCK, side="right")) - 1
            stop = min(max(stop, lo + 1), hi)
            yield lo, stop
            lo = stop

    def counted(self, values: Any, edges: Any = slice(None)) -> Any:
        """What all pairs have that some edges stand for."""
        return values if self.multiplicity is None else self.multiplicity[edges] * values

    def weighed(self) -> tuple[Any, float]:
        """The sum of p over all pairs of each point, and Σ p log p over all pairs."""
        counted = self.counted(self.p)
        sums = over_chunks(loops.weigh_rows, self.n, self.indptr, counted, n_jobs=self.n_jobs)
        entropy = sum(part for _, part in sums)
        if self.multiplicity is not None:  # what is asked for is Σ n p log p, not Σ n p log(n p)
            there = counted > 0
            entropy -= float(np.sum(counted[there] * np.log(self.multiplicity[there]), dtype=np.float64))
        return np.concatenate([degrees for degrees, _ in sums]), entropy

    def folded(self, with_transposed: Callable[[Any], Any] | None) -> Edges:
        """All pairs' p on single edges; p_ij + p_ji, if it is said how a matrix is added to its transpose."""
        indices = self.indices.view(np.int32)
        M = sparse.csr_array((self.counted(self.p), indices, self.indptr), (self.n, self.columns))
        return Edges(sparse.csr_array(with_transposed(M)) if with_transposed else M, None, self.n_jobs)

    def row(self, i: int) -> tuple[Any, Any]:
        """The neighbours of a point, and their p."""
        there = slice(self.indptr[i], self.indptr[i + 1])
        return self.indices[there], self.p[there]

    def gaps(self, lo: int, hi: int, Y: Any) -> tuple[Any, Any]:
        """The squared lengths of the edges of some rows, and their components."""
        count = int(self.indptr[hi] - self.indptr[lo])
        f, gaps = np.empty(count, np.float32), np.empty((Y.shape[1], count), np.float32)
        loops.edge_gaps(lo, hi, (0,) * Y.shape[1], self.indptr, self.indices, Y, gaps, f)
        return f, gaps

    def nearby(self, request: Request, rows: Any, weights: Any = None) -> Any:
        """The sum of w over the neighbours of some points, or over all that a copy sees of them."""
        ends = np.cumsum(np.diff(self.indptr)[rows])
        f = np.empty(ends[-1] if len(ends) else 0, np.float32)
        loops.lengths(rows, self.indptr, self.indices, request.Y, f)
        w = np.maximum(request.kernel.value(f), SMALLEST)
        copies = np.empty(0) if weights is None else weights
        return loops.sums_of_rows(rows, self.indptr, self.indices, w.astype(np.float32, copy=False), copies)

    def add_springs(self, lo: int, hi: int, gaps: Any, k: Any, mirrored: bool, gradient: Any) -> None:
        """Add the forces of some rows' springs; `mirrored`, of a P that is symmetric."""
        if mirrored:
            loops.edge_springs(lo, hi, self.indptr, gaps, k, gradient)
        else:
            axes = (0,) * len(gaps)
            loops.edge_springs_both_ways(lo, hi, axes, self.indptr, self.indices, gaps, k, gradient)

    # A cross-entropy with a heavy tail ----------------------------------------------------------------------

    def begin_tail(self, request: Request) -> Callable[[], tuple[Any, float]]:
        """Start Σ p β/(1+αβf) (y_i - y_j) and -Σ p log w, in one fused loop; the springs need no S."""
        gradient, Y = np.empty_like(request.Y), request.Y
        alpha, beta = request.kernel.require_tail()
        graph = ((0,) * Y.shape[1], self.indptr, self.indices, self.p)
        arguments = (*graph, Y, alpha, beta, request.want_value, gradient)
        pending = begin(loops.tail_edges, self.chunks, *arguments, n_jobs=self.n_jobs)
        return lambda: (gradient, float(sum(pending())))

    def stiffness(self, request: Request) -> Stiffness:
        """4 p (-w'/w) along the edges of a symmetric P: the attraction as one that is implicit needs it."""
        k = np.empty(len(self.p), np.float32)
        stiffness = Stiffness(self.indptr, self.indices, k, self.chunks, self.n_jobs)
        power, factor = request.kernel.facts.power, 4 * request.exaggeration
        if power is not None and self.multiplicity is None:
            graph = ((0,) * request.Y.shape[1], self.indptr, self.indices, self.p, request.Y)
            arguments = (*graph, *power, factor, NEAREST, k)
            over_chunks(power_loops.power_stiffness, self.chunks, *arguments, n_jobs=self.n_jobs)
            return stiffness

        def rows(lo: int, hi: int) -> None:
            for start, stop in self.blocks(lo, hi):
                edges = slice(self.indptr[start], self.indptr[stop])
                f, _ = self.gaps(start, stop, request.Y)
                rate = request.kernel.profile.log_derivative(np.maximum(f, NEAREST))
                k[edges] = self.counted(np.float32(-factor) * self.p[edges] * rate, edges)

        over_chunks(rows, self.chunks, n_jobs=self.n_jobs)
        return stiffness

    # Attraction alone, with a kernel 1/(1 + a f^b) ----------------------------------------------------------

    def begin_power(self, request: Request) -> Callable[[], tuple[Any, float]]:
        """Start Σ p (-w'/w) (y_i - y_j) and -Σ p log w, in one fused loop."""
        gradient, Y = np.empty_like(request.Y), request.Y
        a, b = request.kernel.facts.power or (1.0, 1.0)
        graph = ((0,) * Y.shape[1], self.indptr, self.indices, self.p)
        arguments = (*graph, Y, a, b, request.want_value, gradient)
        pending = begin(power_loops.power_edges, self.chunks, *arguments, n_jobs=self.n_jobs)
        return lambda: (gradient, float(sum(pending())))

    # A divergence whose G is known, with a heavy tail, at one scale or several -----------------------------

    def divergence(self, request: Request, nearest: Any, logs: Any) -> EdgeSums:
        """The springs of a cross-entropy or a mixture, each with the q of its scale, in one fused loop.

        S = exp(logs - β nearest) has a row for each point, or one for all, and a column for each scale.
        """
        method, Y = request.method, request.Y
        alpha, precision = request.kernel.require_tail()
        beta = (precision * np.array(method.precisions)).astype(np.float32)
        multiplicity = np.empty(0, np.float32) if self.multiplicity is None else self.multiplicity
        graph = ((0,) * Y.shape[1], self.indptr, self.indices, self.p, multiplicity, Y)
        kernels = (method.cost.facts.mixture or 0.0, alpha, beta, nearest, logs)
        extra, mirrored = np.float32(request.exaggeration - 1), len(logs) == 1

        def rows(lo: int, hi: int) -> EdgeSums:
            found = EdgeSums(np.zeros_like(Y), np.zeros((self.n, len(beta))))
            arguments = (extra, request.want_value, mirrored, found.gradient, found.bracket)
            found.cost, found.attraction = loops.scale_edges(lo, hi, *graph, *kernels, *arguments)
            return found

        # Each part has a gradient of all points, which takes longer to add up than a few edges to compute.
        return EdgeSums.added(over_chunks(rows, self._balanced(PARTS), n_jobs=self.n_jobs))

    # Any cost and kernel ------------------------------------------------------------------------------------

    def chain(self, request: Request, terms: tuple[LimitTerm, ...], S: Any) -> EdgeSums:
        """The chain along the edges, whatever the cost and the kernel."""
        return EdgeSums.added(over_chunks(self._of_rows, self.chunks, request, terms, S, n_jobs=self.n_jobs))

    def _of_rows(self, lo: int, hi: int, request: Request, terms: tuple[LimitTerm, ...], S: Any) -> EdgeSums:
        found = EdgeSums(np.zeros_like(request.Y), np.zeros(self.n))
        for start, stop in self.blocks(lo, hi):
            self._add(start, stop, request, terms, S, found)
        return found

    @np.errstate(over="ignore", invalid="ignore")  # forces beyond float32: whoever called sees them
    def _add(
        self, lo: int, hi: int, request: Request, terms: tuple[LimitTerm, ...], S: Any, found: EdgeSums
    ) -> None:
        cost, kernel = request.method.cost, request.kernel
        edges = slice(self.indptr[lo], self.indptr[hi])
        p, columns = self.p[edges], self.indices[edges]
        counts = np.diff(self.indptr[lo : hi + 1])
        f, gaps = self.gaps(lo, hi, request.Y)
        if kernel.profile is not kernel:
            kernel = kernel.between(np.repeat(np.arange(lo, hi), counts), columns)
        mirrored = np.ndim(S) == 0  # one S, and so a symmetric P
        rows_S = np.float32(S) if mirrored else np.repeat(S[lo:hi].astype(np.float32), counts)
        if cost.facts.bound:
            cost = cost.between(np.repeat(np.arange(lo, hi), counts), columns)
            terms = cost.facts.limit or ()
        w = np.maximum(kernel.value(f), SMALLEST)
        q = w / rows_S
        rest = beyond_limit(terms, cost.derivative(p, q), rows_S, w) * q
        rate = kernel.log_derivative(f)
        k = rest * rate
        if request.exaggeration != 1:
            k = k + np.float32(1 - request.exaggeration) * p * rate
            attraction = self.counted(p * kernel.log(f), edges)
            found.attraction += float(np.sum(attraction, dtype=np.float64))
        k = self.counted(k, edges).astype(np.float32, copy=False)
        self.add_springs(lo, hi, gaps, k, mirrored, found.gradient)
        loops.row_sums(lo, hi, self.indptr, self.counted(rest, edges), found.bracket)
        if request.want_value:
            value = cost.value(p, q)
            for term in terms:
                value = value - term.coefficient(rows_S) * term.integral(w) / rows_S
            if kernel.facts.underflows:
                value += rest * np.minimum(kernel.log(f) - FURTHEST, 0.0)
            found.cost += float(np.sum(self.counted(value, edges), dtype=np.float64))

    def slope(self, request: Request, terms: tuple[LimitTerm, ...], S: float, name: str) -> float:
        """Σ [(G - G0) q + (1 - a) p] ∂ log w/∂θ of a learned parameter θ."""
        kernel, cost = request.kernel, request.method.cost

        def along(lo: int, hi: int) -> float:
            total = 0.0
            for start, stop in self.blocks(lo, hi):
                edges = slice(self.indptr[start], self.indptr[stop])
                p = self.p[edges]
                f, _ = self.gaps(start, stop, request.Y)
                w = np.maximum(kernel.value(f), SMALLEST)
                rest = beyond_limit(terms, cost.derivative(p, w / S), S, w)
                rate = kernel.parameter_derivative(name, f)
                parts = self.counted((rest * w / S + (1 - request.exaggeration) * p) * rate, edges)
                total += float(np.sum(parts, dtype=np.float64))
            return total

        return sum(over_chunks(along, self.chunks, n_jobs=self.n_jobs))


def beyond_limit(terms: tuple[LimitTerm, ...], G: Any, S: Any, w: Any) -> Any:
    """G - G0."""
    for term in terms:
        limit = term.coefficient(S)
        G = G - (limit if term.constant else limit * term.slope(w))
    return G
