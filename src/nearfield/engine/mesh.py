"""The mesh engine: edges plus field, near-linear in the number of points.

P is zero but on the neighbour graph. With G0 the limit of ∂C/∂q as p → 0, the gradient splits exactly into
springs along the edges, with G - G0 in place of G, and the gradient of potentials of all points, which a
grid gives in near-linear time. The cost declares G0 as a sum of separable terms c_t(S) g_t(w); the loops
below know nothing else of it. Approximate is only the grid, to the accuracy that is asked for.

With weights, edges count as many times as there are pairs of copies, the charges of the field are the
weights, and the pairs of copies of the same point, which exert no force, are added by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.copies import check_weights
from nearfield.algebra.costs.base import LimitTerm
from nearfield.algebra.method import Method
from nearfield.engine import edgeloops as loops
from nearfield.engine.base import Evaluation
from nearfield.engine.field import Charges, Field
from nearfield.threads import CHUNKS, begin, spread

ACCURACY = 1e-2  # of the repulsive force, relative
BLOCK = 2**17  # edges at a time: few enough for the cache, and so many that threads do not wait for Python
LONE = 100.0  # times the grid's error: an S below that is summed up
SMALLEST = np.float32(1e-15)  # below every weight that matters; (p/q)² stays within float32


# The key of w, and each term of the limit with the keys of H(w) and g(w) w.
Functions = tuple[Hashable, list[tuple[LimitTerm, Hashable, Hashable]]]


@dataclass
class Edges:
    """What the edges contribute: springs, brackets Σ (G - G0) q and costs, of all rows."""

    gradient: Any
    bracket: Any
    cost: float = 0.0
    attraction: float = 0.0


Springs = Callable[[Any], Edges]


class Mesh:
    """Value and gradient by edges and field.

    Parameters
    ----------
    method : Method
        With a kernel, and a cost that declares its limit at p = 0.
    target : sparse array
        P or weights: joint (symmetric) for pair, row by row for point.
    accuracy : float
        The error of the repulsive force, relative to it.
    weights : array (points,), optional
        How many copies each point stands for; see `nearfield.affinity.copies`.
    """

    def __init__(
        self,
        method: Method,
        target: Any,
        n_jobs: int | None = None,
        accuracy: float = ACCURACY,
        weights: Any = None,
    ) -> None:
        P = sparse.csr_array(target)
        self.n, self.n_jobs = P.shape[0], n_jobs
        self.weights = check_weights(weights, self.n)
        self._keep(P)
        counted = self._counted(self.p)
        sums = spread(loops.weigh_rows, self.n, self.indptr, counted, n_jobs=n_jobs)
        self.degree = np.concatenate([degrees for degrees, _ in sums])  # of all copies of a point
        self.entropy = sum(entropy for _, entropy in sums)
        if self.number is not None:  # what is asked for is Σ n p log p, not Σ n p log(n p)
            self.entropy -= float(np.sum(counted * np.log(self.number), dtype=np.float64))
        self.mass = float(self.degree.sum())
        degree = self.degree if self.weights is None else self.degree / self.weights
        kernel = method.kernel.bound_to(degree)  # type: ignore[union-attr]
        self.method = method._with(kernel=kernel)
        terms = method.cost.limit()
        if terms is None:
            raise ValueError(f"{method.cost!r} does not declare its limit at p = 0: use the exact engine")
        self.terms: tuple[LimitTerm, ...] = terms
        self.fused = method.cost.cross_entropy and kernel.tail is not None
        if self.fused:  # the springs of a cross-entropy depend on p alone, and not on S
            P = P if self.number is None else sparse.csr_array((counted, P.indices, P.indptr), P.shape)
            self._keep(sparse.csr_array(P + P.T) if method.normalization == "point" else P)
        self.rows = _balanced(self.indptr)
        self.field = Field(self._width(), accuracy, n_jobs)

    def _keep(self, P: Any) -> None:
        """The edges, in the smallest types that hold them; without a copy where they are so already."""
        self.p = P.data.astype(np.float32, copy=False)
        self.indptr = P.indptr.astype(np.int64, copy=False)
        self.indices = P.indices.view(np.uint32) if P.indices.itemsize == 4 else P.indices.astype(np.uint32)
        self.number: Any = None  # of the pairs of copies that an edge stands for
        if self.weights is not None:
            m, rows = self.weights, np.repeat(np.arange(self.n), np.diff(self.indptr))
            self.number = (m[rows] * (m[self.indices] - (rows == self.indices))).astype(np.float32)

    def _counted(self, values: Any, edges: Any = slice(None)) -> Any:
        """What all pairs of copies have that some edges stand for."""
        return values if self.number is None else self.number[edges] * values

    def _width(self) -> float:
        """The distance at which the narrowest of the potentials has fallen to half."""
        kernel = self.method.kernel.profile  # type: ignore[union-attr]
        f = kernel.width**2 * np.geomspace(1e-3, 1.0, 100)
        w, top = kernel.value(f), np.asarray(kernel.value(np.zeros(1)))
        widths = [kernel.width]
        for term in self.terms:
            fallen = np.abs(term.integral(w)) <= 0.5 * np.abs(term.integral(top))
            widths += [float(np.sqrt(f[fallen][0]))] if fallen.any() else []
        return min(widths)

    def evaluate(
        self, Y: Any, *, exaggeration: float = 1.0, want_value: bool = True, method: Method | None = None
    ) -> Evaluation:
        """The method's value and gradient at Y."""
        method = method or self.method
        Y = np.ascontiguousarray(Y, dtype=np.float32)
        kernel = method.kernel.profile  # type: ignore[union-attr]
        self.field.forget(lambda key: key[0] == kernel)  # type: ignore[index]
        functions = self._know(method)
        springs = self._springs(method, Y, exaggeration, want_value)
        self.field.lay(Y)
        evaluate = self._point if method.normalization == "point" else self._pair
        return evaluate(method, Y, functions, springs, exaggeration, want_value)

    # What both normalizations are made of -----------------------------------------------------------------

    def _know(self, method: Method) -> Functions:
        """The keys of the radial functions: w, and for each term that is not constant H(w) and g(w) w."""
        kernel = method.kernel.profile  # type: ignore[union-attr]
        key: Hashable = (kernel, "w")
        self.field.know(key, kernel.value)
        found: list[tuple[LimitTerm, Hashable, Hashable]] = []
        for t, term in enumerate(self.terms):
            if term.constant:
                found.append((term, key, key))
                continue
            integral, product = (kernel, t, "integral"), (kernel, t, "product")
            self.field.know(integral, partial(_composed, term.integral, kernel))
            self.field.know(product, partial(_composed, partial(_product, term), kernel))
            found.append((term, integral, product))
        return key, found

    def _springs(self, method: Method, Y: Any, exaggeration: float, want_value: bool) -> Springs:
        """What the edges contribute, as a function of S; those of a cross-entropy need not wait for it."""
        if self.fused:
            return self._tail_edges(method, Y, exaggeration, want_value)
        return lambda S: self._edges(method, Y, S, exaggeration, want_value)

    def _edges(self, method: Method, Y: Any, S: Any, exaggeration: float, want_value: bool) -> Edges:
        parts = spread(
            self._some_edges, self.rows, method, Y, S, exaggeration, want_value, n_jobs=self.n_jobs
        )
        total = Edges(parts[0].gradient, parts[0].bracket)
        for part in parts[1:]:
            total.gradient += part.gradient
            total.bracket += part.bracket
        total.cost = sum(part.cost for part in parts)
        total.attraction = sum(part.attraction for part in parts)
        return total

    def _nearby(self, method: Method, Y: Any, rows: Any) -> Any:
        """The sum of w over the edges of some points, which S is no less than."""
        starts, counts = self.indptr[rows], np.diff(self.indptr)[rows]
        ends = np.cumsum(counts)
        edges = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
        gap = np.repeat(Y[rows], counts, axis=0) - Y[self.indices[edges]]
        w = np.maximum(method.kernel.value((gap**2).sum(axis=1)), SMALLEST)  # type: ignore[union-attr]
        total = np.bincount(np.repeat(np.arange(len(rows)), counts), self._counted(w, edges), len(rows))
        return total if self.weights is None else total / self.weights[rows]

    def _tail_edges(self, method: Method, Y: Any, exaggeration: float, want_value: bool) -> Springs:
        """A cross-entropy's springs, p β/(1+αβf), in one fused loop that runs while the field is laid."""
        gradient = np.empty_like(Y)
        alpha, beta = method.kernel.tail  # type: ignore[union-attr,misc]
        axes = (0,) * Y.shape[1]
        arguments = (axes, self.indptr, self.indices, self.p, Y, alpha, beta, want_value, gradient)
        pending = begin(loops.tail_edges, self.rows, *arguments, n_jobs=self.n_jobs)

        def springs(S: Any) -> Edges:
            crossed = float(sum(pending()))
            if method.normalization == "point":
                crossed *= 0.5  # the edges hold p_ij + p_ji
            factor = 2 if method.normalization == "point" else 4
            np.multiply(gradient, np.float32(factor * exaggeration), out=gradient)
            return Edges(gradient, -self.degree, self.entropy + crossed, -crossed)

        return springs

    def _some_edges(
        self, lo: int, hi: int, method: Method, Y: Any, S: Any, exaggeration: float, want_value: bool
    ) -> Edges:
        """The chain along the edges of some rows, whatever the cost and the kernel."""
        found = Edges(np.zeros_like(Y), np.zeros(self.n))
        for start, stop in _blocks(self.indptr, lo, hi):
            self._add_edges(start, stop, method, Y, S, exaggeration, want_value, found)
        return found

    def _add_edges(
        self,
        lo: int,
        hi: int,
        method: Method,
        Y: Any,
        S: Any,
        exaggeration: float,
        want_value: bool,
        found: Edges,
    ) -> None:
        cost, kernel = method.cost, method.kernel
        edges = slice(self.indptr[lo], self.indptr[hi])
        p, columns = self.p[edges], self.indices[edges]
        counts = np.diff(self.indptr[lo : hi + 1])
        f, gaps = self._gaps(lo, hi, Y)
        if kernel.profile is not kernel:  # type: ignore[union-attr]
            kernel = kernel.between(np.repeat(np.arange(lo, hi), counts), columns)  # type: ignore[union-attr]
        mirrored = np.ndim(S) == 0  # one S, and so a symmetric P
        rows_S = np.float32(S) if mirrored else np.repeat(S[lo:hi].astype(np.float32), counts)
        w = np.maximum(kernel.value(f), SMALLEST)
        q = w / rows_S
        rest = self._beyond_limit(cost.derivative(p, q), rows_S, w) * q
        rate = kernel.log_derivative(f)
        k = rest * rate
        if exaggeration != 1:
            k = k + np.float32(1 - exaggeration) * p * rate
            attraction = self._counted(p * kernel.log(f), edges)
            found.attraction += float(np.sum(attraction, dtype=np.float64))
        k = self._counted(k, edges).astype(np.float32, copy=False)
        if mirrored:
            loops.edge_springs(lo, hi, self.indptr, gaps, k, found.gradient)
        else:
            structure = ((0,) * Y.shape[1], self.indptr, self.indices)
            loops.edge_springs_both_ways(lo, hi, *structure, gaps, k, found.gradient)
        loops.row_sums(lo, hi, self.indptr, self._counted(rest, edges), found.bracket)
        if want_value:
            value = cost.value(p, q)
            for term in self.terms:
                value = value - term.coefficient(rows_S) * term.integral(w) / rows_S
            found.cost += float(np.sum(self._counted(value, edges), dtype=np.float64))

    def _gaps(self, lo: int, hi: int, Y: Any) -> tuple[Any, Any]:
        """The squared lengths of the edges of some rows, and their components."""
        count = int(self.indptr[hi] - self.indptr[lo])
        f, gaps = np.empty(count, np.float32), np.empty((Y.shape[1], count), np.float32)
        loops.edge_gaps(lo, hi, (0,) * Y.shape[1], self.indptr, self.indices, Y, gaps, f)
        return f, gaps

    def _beyond_limit(self, G: Any, S: Any, w: Any) -> Any:
        """G - G0."""
        for term in self.terms:
            limit = term.coefficient(S)
            G = G - (limit if term.constant else limit * term.slope(w))
        return G

    def _times(self, values: Any) -> Any:
        """The weights times a value of each point (None: ones); None if there is neither."""
        if self.weights is None or values is None:
            return self.weights if values is None else values
        return self.weights * values

    def _energy(self, method: Method, charges: Charges, key: Hashable) -> float:
        """A function's sum over all pairs of copies."""
        total = self.field.energy(charges, key)
        if self.weights is None:
            return total
        mass = method.kernel.mass  # type: ignore[union-attr]
        own = self.weights * (self.weights - 1) * (1.0 if mass is None else mass**2)
        return total + float(own.sum()) * self.field.at_zero(key)

    def _potential(self, charges: Charges, key: Hashable) -> tuple[Any, Any]:
        """A function's sum over all copies that one of each point sees, and its gradient."""
        value, gradient = self.field.read((1.0, charges, key))
        if self.weights is not None:
            value = value + (self.weights - 1) * self.field.at_zero(key)
        return value, gradient

    # The two normalizations ---------------------------------------------------------------------------------

    def _pair(
        self,
        method: Method,
        Y: Any,
        functions: Functions,
        springs: Springs,
        exaggeration: float,
        want_value: bool,
    ) -> Evaluation:
        """One forward and one inverse transform, whatever the number of terms: the charges are the same."""
        mass = self._times(method.kernel.mass)  # type: ignore[union-attr]
        field, energy = self.field, self._energy
        w, terms = functions
        keys = list(dict.fromkeys([w, *(key for _, *pair in terms for key in pair)]))
        ones = field.charge(mass, keys)
        bare = method.normalization == "none"
        S = 1.0 if bare else energy(method, ones, w)
        edges = springs(S)
        bracket, cost = float(edges.bracket.sum()), edges.cost
        factors = dict.fromkeys(keys, 0.0)
        for term, integral, product in terms:
            c = float(term.coefficient(S)) / S
            factors[integral] += 2 * c
            if not bare:
                bracket += c * (S if product == w else energy(method, ones, product))
            if want_value:
                cost += c * (S if integral == w and not bare else energy(method, ones, integral))
        if not bare:
            factors[w] -= 2 * bracket / S
        _, gradient = field.read(*((factor, ones, key) for key, factor in factors.items() if factor))
        if mass is not None:
            gradient *= mass[:, None].astype(np.float32)
        gradient += edges.gradient
        if self.fused:
            cost += self.mass * np.log(S)
        parameters = {
            name: self._parameter(name, method, Y, S, bracket, ones, exaggeration) for name in method.learned
        }
        return _evaluation(cost, edges.attraction, exaggeration, gradient, want_value, parameters)

    def _parameter(
        self, name: str, method: Method, Y: Any, S: float, bracket: float, ones: Charges, exaggeration: float
    ) -> float:
        """∂C/∂θ = Σ [G - Σ G q] q ∂ log w/∂θ, split into edges and energies like the gradient."""
        kernel, cost, field = method.kernel, method.cost, self.field

        def along_edges(lo: int, hi: int) -> float:
            total = 0.0
            for start, stop in _blocks(self.indptr, lo, hi):
                edges = slice(self.indptr[start], self.indptr[stop])
                p = self.p[edges]
                if self.fused and self.number is not None:
                    p = p / self.number[edges]
                f, _ = self._gaps(start, stop, Y)
                w = np.maximum(kernel.value(f), SMALLEST)  # type: ignore[union-attr]
                rest = self._beyond_limit(cost.derivative(p, w / S), S, w)
                rate = kernel.parameter_derivative(name, f)  # type: ignore[union-attr]
                parts = self._counted((rest * w / S + (1 - exaggeration) * p) * rate, edges)
                total += float(np.sum(parts, dtype=np.float64))
            return total

        def energy(label: Hashable, function: Any) -> float:
            def radial(f: Any) -> Any:
                w = kernel.value(f)  # type: ignore[union-attr]
                return function(w) * w * kernel.parameter_derivative(name, f)  # type: ignore[union-attr]

            key = (kernel, name, label)
            field.know(key, radial)
            # What is near is summed for the functions known beforehand.
            return self._energy(method, field.charge(self.weights, [key]), key)

        total = sum(spread(along_edges, self.rows, n_jobs=self.n_jobs))
        if method.normalization != "none":
            total -= bracket / S * energy("one", np.ones_like)
        return total + sum(
            float(term.coefficient(S)) / S * energy(t, term.slope) for t, term in enumerate(self.terms)
        )

    def _point(
        self,
        method: Method,
        Y: Any,
        functions: Functions,
        springs: Springs,
        exaggeration: float,
        want_value: bool,
    ) -> Evaluation:
        """Two transforms each way, and more for limits that are not constant: every row has its own S."""
        field, kernel = self.field, method.kernel.profile  # type: ignore[union-attr]
        w, terms = functions
        keys = list(dict.fromkeys([w, *(key for _, *pair in terms for key in pair)]))
        ones = field.charge(self.weights, keys)
        phi, force = self._potential(ones, w)
        # Of a lone point the grid's error may exceed its S: take what is near, and no less than that.
        S = np.maximum(phi.astype(np.float64), 0.1 * field.accuracy)
        lone = np.flatnonzero(LONE * field.accuracy * float(np.max(kernel.value(np.zeros(1)))) > S)
        S[lone] = np.maximum(S[lone], self._nearby(method, Y, lone))
        edges = springs(S)
        bracket, cost = edges.bracket.copy(), edges.cost
        if self.weights is not None:
            bracket /= self.weights  # those of one copy
        gradient = edges.gradient.astype(np.float64)
        charges, others = np.zeros(self.n), []
        for term, integral, product in terms:
            c = term.coefficient(S) / S
            if term.constant:
                bracket += c * S
                charges += c
                cost += float(np.sum(self._times(c * S)))
                continue
            own, pull = self._potential(ones, integral)
            bracket += c * self._potential(ones, product)[0]
            c = self._times(c)
            cost += float(np.sum(c * own))
            gradient += c[:, None] * pull
            others.append((1.0, field.charge(c, [integral]), integral))
        charges = self._times(charges - bracket / S)
        gradient += charges[:, None] * force
        push = field.read((1.0, field.charge(charges, [w]), w), *others)[1]
        gradient += push if self.weights is None else self.weights[:, None] * push
        if self.fused:
            cost += float(np.sum(self.degree * np.log(S)))
        return _evaluation(cost, edges.attraction, exaggeration, gradient, want_value, {})


def _evaluation(
    cost: float,
    attraction: float,
    exaggeration: float,
    gradient: Any,
    want_value: bool,
    parameters: dict[str, Any],
) -> Evaluation:
    if not want_value:
        cost = float("nan")
    value = cost - (exaggeration - 1) * attraction
    return Evaluation(value, cost, gradient.astype(np.float64), parameters)


def _composed(outer: Any, kernel: Any, f: Any) -> Any:
    """A function of w, as one of the squared distance."""
    return outer(kernel.value(f))


def _product(term: LimitTerm, w: Any) -> Any:
    """g(w) w."""
    return term.slope(w) * w


def _balanced(indptr: Any) -> list[tuple[int, int]]:
    """Chunks of rows with about equally many edges."""
    n = len(indptr) - 1
    bounds = np.searchsorted(indptr, np.linspace(0, indptr[-1], CHUNKS + 1))
    bounds[0], bounds[-1] = 0, n
    bounds = np.unique(np.clip(bounds, 0, n))
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def _blocks(indptr: Any, lo: int, hi: int) -> Any:
    """Ranges of rows within a chunk, of some BLOCK edges each."""
    while lo < hi:
        stop = int(np.searchsorted(indptr, indptr[lo] + BLOCK, side="right")) - 1
        stop = min(max(stop, lo + 1), hi)
        yield lo, stop
        lo = stop
