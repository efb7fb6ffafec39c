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
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.copies import pairs_of_copies
from nearfield.affinity.strata import Sampled
from nearfield.algebra.costs.facts import LimitTerm
from nearfield.algebra.method import Method
from nearfield.defaults import ACCURACY
from nearfield.engine.base import Engine, Evaluation
from nearfield.engine.mesh import accepts
from nearfield.engine.mesh.edges import Edges, EdgeSums, Request
from nearfield.engine.mesh.field import Charges, Field
from nearfield.engine.share import WHOLE, Share
from nearfield.engine.stiffness import Stiffness
from nearfield.engine.task import Task
from nearfield.parallel import over_chunks
from nearfield.typing import Array

FROM = 1000  # points, below which all pairs are as quick
FINELY = 1e-3  # the accuracy of the sums that new points find as they are
LONE = 100.0  # times the grid's error: an S below that is summed up

# The key of w, and each term of the limit with the keys of H(w) and g(w) w.
Functions = tuple[Hashable, list[tuple[LimitTerm, Hashable, Hashable]]]
Springs = Callable[[Any], EdgeSums]  # of S


class Mesh(Engine):
    """Value and gradient by edges and field.

    Parameters
    ----------
    method : Method
        With a kernel, and a cost that declares its limit at p = 0.
    target : sparse array or Sampled
        P or weights: joint (symmetric) for pair, row by row for point.
    accuracy : float
        The error of the repulsive force, relative to it.
    weights : array (points,), optional
        How many copies each point stands for; see `nearfield.affinity.copies`.
    share : Share
        Which of the points these are: the target has a row for each, and a column for each that is seen.
    """

    name, precedence = "mesh", 20
    summary = "edges and field, near-linear"
    matches = "neighbours"
    relative_error = 1e-5  # of the grid, to which value and gradient agree

    @classmethod
    def obstacle(cls, task: Task) -> str | None:
        return accepts.obstacle(task)

    @classmethod
    def suits(cls, task: Task) -> bool:
        return task.method.kernel is not None

    @classmethod
    def pays(cls, task: Task) -> bool:
        return task.n >= FROM

    @classmethod
    def reason(cls, task: Task) -> str:
        return f"edges and field: {type(task.method.cost).__name__} has a finite limit at p = 0"

    @classmethod
    def memory(cls, task: Task) -> int:
        return accepts.memory(task)

    @classmethod
    def of(
        cls, method: Method, target: Any, *, n_jobs: int | None, accuracy: float, weights: Array | None
    ) -> Engine:
        """With one field, or with one for each of the method's scales."""
        from nearfield.engine.mesh.scales import mesh

        return mesh(method, target, n_jobs, accuracy, weights)

    def __init__(
        self,
        method: Method,
        target: Any,
        n_jobs: int | None = None,
        accuracy: float = ACCURACY,
        weights: Any = None,
        share: Share = WHOLE,
    ) -> None:
        P, multiplicity = (target.P, target.multiplicity) if isinstance(target, Sampled) else (target, None)
        P = sparse.csr_array(P)
        self.n, self.n_jobs, self.share, self.together = P.shape[0], n_jobs, share, share.together
        self.weights = weights
        if self.weights is not None:
            multiplicity = pairs_of_copies(P, self.weights)
        self.edges = Edges(P, multiplicity, n_jobs)  # of the own points
        self.degree, self.entropy = self.edges.weighed()  # of all copies of a point
        self.mass = self.together.sum(float(self.degree.sum()))
        degree = self.degree if self.weights is None else self.degree / self.weights
        kernel = method.require_kernel().bound_to(degree)
        n = float(self.together.sum(self.n) if self.weights is None else self.weights.sum())
        self.method = method._with(kernel=kernel, cost=method.cost.bound_to(degree, n))
        terms = self.method.cost.facts.limit
        if terms is None:
            raise ValueError(f"{method.cost!r} does not declare its limit at p = 0: use the exact engine")
        self.terms: tuple[LimitTerm, ...] = terms
        self.fused = method.cost.facts.cross_entropy and kernel.facts.tail is not None
        self.mixed = method.cost.facts.mixture is not None and kernel.facts.tail is not None
        attracts = method.cost.facts.attracts and method.normalization == "none"
        self.attracts = attracts and kernel.facts.power is not None
        both_ways = method.normalization == "point"
        if (self.fused or self.attracts) and (both_ways or multiplicity is not None):
            # The springs of a cross-entropy depend on p alone, and not on S.
            self.edges = self.edges.folded(share.with_transposed if both_ways else None)
        self.field = Field(self._width(), accuracy, n_jobs, self.together)

    def stiffness(self, Y: Any, exaggeration: float = 1.0) -> Stiffness:
        """The attraction at Y, for steps that are implicit in it."""
        Y = np.ascontiguousarray(Y, dtype=np.float32)
        return self.edges.stiffness(Request(self.method, Y, exaggeration))

    def row(self, i: int) -> tuple[Any, Any]:
        """The neighbours of a point, and how strongly they pull."""
        return self.edges.row(i)

    def _width(self) -> float:
        """The distance at which the narrowest of the potentials has fallen to half."""
        kernel = self.method.require_kernel().profile
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
        request = self._request(method, Y, exaggeration, want_value)
        evaluate = self._point if method.normalization == "point" else self._pair
        if method.cost.facts.bound:
            evaluate = self._charged
        return evaluate(request, *self._begin(request))

    def sums(self, Y: Any, method: Method | None = None) -> tuple[Any, Any]:
        """S and Ḡ at Y, which new points find as they are: of all pairs, or of each point."""
        method = method or self.method
        request = self._request(method, Y, 1.0, False)
        finely = copy(self)
        if not all(term.constant for term in self.terms):  # then Ḡ may be a small difference of large sums
            finely.field = Field(self._width(), min(FINELY, self.field.accuracy), self.n_jobs, self.together)
        functions, springs = finely._begin(request)
        if method.normalization == "point":
            sums = finely._sums_of_points(request, functions, springs)
            return sums.S, sums.bracket
        pairs = finely._sums_of_pairs(request, functions, springs)
        return pairs.S, 0.0 if method.normalization == "none" else pairs.bracket

    def _request(self, method: Method, Y: Any, exaggeration: float, want_value: bool) -> Request:
        """What is asked for, with the points that neighbours elsewhere are."""
        own = np.ascontiguousarray(Y, dtype=np.float32)
        return Request(method, self.share.seen(own), exaggeration, want_value)

    def _begin(self, request: Request) -> tuple[Functions, Springs]:
        """What does not need S: the functions, the springs as functions of it, and the field over the map."""
        kernel = request.kernel.profile
        self.field.forget(lambda key: isinstance(key, tuple) and key[0] == kernel)
        functions = self._know(request.method)
        springs = self._springs(request)
        self.field.lay(request.Y[: self.n])
        return functions, springs

    # What both normalizations are made of -----------------------------------------------------------------

    def _know(self, method: Method) -> Functions:
        """The keys of the radial functions: w, and for each term that is not constant H(w) and g(w) w."""
        kernel = method.require_kernel().profile
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

    def _springs(self, request: Request) -> Springs:
        """What the edges contribute, as a function of S; those of a cross-entropy need not wait for it."""
        if self.mixed:
            return lambda S: self._own_share(request, self._mixture(request, S))
        if self.attracts:
            return self._attraction(request)
        if not self.fused:
            return lambda S: self._own_share(request, self.edges.chain(request, self.terms, S))
        pending, point = self.edges.begin_tail(request), request.method.normalization == "point"

        def springs(S: Any) -> EdgeSums:
            gradient, crossed = pending()
            gradient = gradient[: self.n]
            if point:
                crossed *= 0.5  # the edges hold p_ij + p_ji
            np.multiply(gradient, np.float32((2 if point else 4) * request.exaggeration), out=gradient)
            return EdgeSums(gradient, -self.degree, self.entropy + crossed, -crossed)

        return springs

    def _own_share(self, request: Request, edges: EdgeSums) -> EdgeSums:
        """The forces on the own points, with those of springs that others have; they pull at both ends."""
        if request.method.normalization == "point":
            edges.gradient = self.share.given_back(edges.gradient)
        edges.gradient = edges.gradient[: self.n]
        return edges

    def _attraction(self, request: Request) -> Springs:
        """Springs that attract and nothing else; they need no S either."""
        pending = self.edges.begin_power(request)

        def springs(S: Any) -> EdgeSums:
            gradient, crossed = pending()
            gradient = gradient[: self.n]
            np.multiply(gradient, np.float32(4 * request.exaggeration), out=gradient)
            return EdgeSums(gradient, -self.degree, crossed, -crossed)

        return springs

    def _mixture(self, request: Request, S: Any) -> EdgeSums:
        """The springs of the Jensen-Shannon divergence, in a fused loop; its limit is a constant."""
        logs = np.log(np.atleast_2d(S).T).astype(np.float32)
        edges = self.edges.divergence(request, np.zeros_like(logs), logs)
        edges.bracket = edges.bracket[:, 0]
        return edges

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
        mass = method.require_kernel().mass
        own = self.weights * (self.weights - 1) * (1.0 if mass is None else mass**2)
        return total + float(own.sum()) * self.field.at_zero(key)

    def _potential(self, charges: Charges, key: Hashable) -> tuple[Any, Any]:
        """A function's sum over all copies that one of each point sees, and its gradient."""
        value, gradient = self.field.read((1.0, charges, key))
        if self.weights is not None:
            value = value + (self.weights - 1) * self.field.at_zero(key)
        return value, gradient

    # The two normalizations ---------------------------------------------------------------------------------

    def _sums_of_pairs(self, request: Request, functions: Functions, springs: Springs) -> Sums:
        """S and Σ G q over all pairs."""
        method, energy = request.method, self._energy
        w, terms = functions
        ones = self.field.charge(self._times(request.kernel.mass), _keys(functions))
        bare = method.normalization == "none"
        S = 1.0 if bare else self._total(request, energy(method, ones, w))
        edges = springs(S)
        bracket = -self.mass if self.fused else self.together.sum(float(edges.bracket.sum()))
        if not bare:
            for term, _, product in terms:
                c = float(term.coefficient(S)) / S
                bracket += c * (S if product == w else energy(method, ones, product))
        return Sums(ones, S, edges, bracket)

    def _pair(self, request: Request, functions: Functions, springs: Springs) -> Evaluation:
        """One forward and one inverse transform, whatever the number of terms: the charges are the same."""
        method, field, energy = request.method, self.field, self._energy
        mass = self._times(request.kernel.mass)
        w, terms = functions
        bare = method.normalization == "none"
        sums = self._sums_of_pairs(request, functions, springs)
        ones, S, edges, bracket, cost = sums.ones, sums.S, sums.edges, sums.bracket, sums.edges.cost
        factors = dict.fromkeys(_keys(functions), 0.0)
        for term, integral, _ in terms:
            c = float(term.coefficient(S)) / S
            factors[integral] += 2 * c
            if request.want_value:
                cost += self._once(c * (S if integral == w and not bare else energy(method, ones, integral)))
        if not bare:
            factors[w] -= 2 * bracket / S
        parts = [(factor, ones, key) for key, factor in factors.items() if factor]
        gradient = field.read(*parts)[1] if parts else np.zeros_like(request.Y[: self.n])
        if mass is not None:
            gradient *= mass[:, None].astype(np.float32)
        gradient += edges.gradient
        if self.fused:
            cost += self._once(self.mass * np.log(S))
        parameters = {name: self._parameter(name, request, S, bracket) for name in method.learned}
        return self._evaluation(request, cost, edges, gradient, parameters)

    def _total(self, request: Request, S: float) -> float:
        """The sum of w over all pairs; no less than over neighbours, where the grid's error may exceed it."""
        kernel = request.method.require_kernel()
        if kernel.mass is not None or LONE * self.field.accuracy * float(kernel.value(np.zeros(1))[0]) < S:
            return S
        near = self.edges.nearby(request, np.arange(self.n), self.weights)
        total = float(np.sum(near if self.weights is None else self.weights * near))
        return max(S, self.together.sum(total))

    def _parameter(self, name: str, request: Request, S: float, bracket: float) -> float:
        """∂C/∂θ = Σ [G - Σ G q] q ∂ log w/∂θ, split into edges and energies like the gradient."""
        kernel = request.kernel

        def energy(label: Hashable, function: Any) -> float:
            def radial(f: Any) -> Any:
                w = kernel.value(f)
                return function(w) * w * kernel.parameter_derivative(name, f)

            key = (kernel, name, label)
            self.field.know(key, radial)
            # What is near is summed for the functions known beforehand.
            return self._energy(request.method, self.field.charge(self.weights, [key]), key)

        total = self.together.sum(self.edges.slope(request, self.terms, S, name))
        if request.method.normalization != "none":
            total -= bracket / S * energy("one", np.ones_like)
        return total + sum(
            float(term.coefficient(S)) / S * energy(t, term.slope) for t, term in enumerate(self.terms)
        )

    def _sums_of_points(self, request: Request, functions: Functions, springs: Springs) -> Sums:
        """S_i and Σ_k G_ik q_ik of every point, and the force of w that was read along with S."""
        field, kernel = self.field, request.kernel.profile
        w, terms = functions
        # The near forces wait for the charges: then one sum has those of both ends of a pair.
        ones = field.charge(self.weights, _keys(functions), forces=False)
        phi, force = self._potential(ones, w)
        # Of a lone point the grid's error may exceed its S: take what is near, and no less than that.
        S = np.maximum(phi.astype(np.float64), 0.1 * field.accuracy)
        lone = np.flatnonzero(LONE * field.accuracy * float(np.max(kernel.value(np.zeros(1)))) > S)
        near = over_chunks(
            lambda lo, hi: self.edges.nearby(request, lone[lo:hi], self.weights),
            len(lone),
            n_jobs=self.n_jobs,
        )
        S[lone] = np.maximum(S[lone], np.concatenate(near))
        edges = springs(S)
        bracket = edges.bracket.copy()
        if self.weights is not None:
            bracket /= self.weights  # those of one copy
        for term, _, product in terms:
            c = term.coefficient(S) / S
            bracket += c * (S if term.constant else self._potential(ones, product)[0])
        return Sums(ones, S, edges, bracket, force)

    def _point(self, request: Request, functions: Functions, springs: Springs) -> Evaluation:
        """Two transforms each way, and more for limits that are not constant: every row has its own S."""
        field = self.field
        w, terms = functions
        sums = self._sums_of_points(request, functions, springs)
        ones, S, edges, cost = sums.ones, sums.S, sums.edges, sums.edges.cost
        gradient = edges.gradient.astype(np.float64)
        charges, others = np.zeros(self.n), []
        for term, integral, _ in terms:
            c = term.coefficient(S) / S
            if term.constant:
                charges += c
                cost += float(np.sum(self._times(c * S)))
                continue
            own, pull = self._potential(ones, integral)
            others.append((1.0, field.charge(self.weights, [integral], c, values=False), integral))
            c = self._times(c)
            cost += float(np.sum(c * own))
            gradient += c[:, None] * pull
        charges -= sums.bracket / S
        others.append((1.0, field.charge(self.weights, [w], charges, values=False), w))
        gradient += self._times(charges)[:, None] * sums.force
        push = field.read(*others)[1]
        gradient += push if self.weights is None else self.weights[:, None] * push
        if self.fused:
            cost += float(np.sum(self.degree * np.log(S)))
        return self._evaluation(request, cost, edges, gradient)

    def _once(self, value: float) -> float:
        """A part of the cost that all know, for one of them to add."""
        return value if self.together.leads else 0.0

    def _evaluation(
        self,
        request: Request,
        cost: float,
        edges: EdgeSums,
        gradient: Any,
        parameters: dict[str, Any] | None = None,
    ) -> Evaluation:
        """What an evaluation gives, the costs of all added up; no value if none was asked for."""
        attraction = edges.attraction
        if not request.want_value:
            cost = float("nan")
        elif not self.together.alone:
            cost, attraction = self.together.sum(np.array([cost, attraction])).tolist()
        return evaluation(request, cost, attraction, gradient, parameters)

    def _charged(self, request: Request, functions: Functions, springs: Springs) -> Evaluation:
        """Bare weights whose repulsion goes with a charge of each point: that of ones, and that of charges.

        Of Σ_ij (c_i + c_j)/2 H(w_ij) the force on i is c_i ∇Ψ_1 + ∇Ψ_c, both near sums in one.
        """
        field, keys = self.field, list(dict.fromkeys(integral for _, integral, _ in functions[1]))
        edges = springs(1.0)
        ones = field.charge(self.weights, keys if request.want_value else [], forces=False)
        gradient, cost, others = edges.gradient.astype(np.float64), edges.cost, []
        for term, integral, _ in functions[1]:
            c = np.broadcast_to(term.coefficient(1.0), self.n)
            own, pull = self._potential(ones, integral)
            others.append((1.0, field.charge(self.weights, [integral], c, values=False), integral))
            gradient += self._times(c)[:, None] * pull
            if request.want_value:
                cost += float(np.sum(self._times(c) * own, dtype=np.float64))
        push = field.read(*others)[1]
        gradient += push if self.weights is None else self.weights[:, None] * push
        return self._evaluation(request, cost, edges, gradient)


@dataclass(frozen=True)
class Sums:
    """What has to be known before any force: unit charges on the field, S, the springs, and Σ G q."""

    ones: Charges
    S: Any
    edges: EdgeSums
    bracket: Any
    force: Any = None


def _keys(functions: Functions) -> list[Hashable]:
    """The functions that have a part in an evaluation, each once."""
    w, terms = functions
    return list(dict.fromkeys([w, *(key for _, *pair in terms for key in pair)]))


def evaluation(
    request: Request, cost: float, attraction: float, gradient: Any, parameters: dict[str, Any] | None = None
) -> Evaluation:
    """What an evaluation gives, the exaggerated attraction included; no value if none was asked for."""
    if not request.want_value:
        cost = float("nan")
    value = cost - (request.exaggeration - 1) * attraction
    return Evaluation(value, cost, gradient.astype(np.float64), parameters or {}, -attraction)


def _composed(outer: Any, kernel: Any, f: Any) -> Any:
    """A function of w, as one of the squared distance."""
    return outer(kernel.value(f))


def _product(term: LimitTerm, w: Any) -> Any:
    """g(w) w."""
    return term.slope(w) * w
