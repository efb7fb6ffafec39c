"""The cost of one new point in a finished map, as a function of its place alone: value and gradient.

All other points stay where they are, and with them what their pairs add up to: S and Ḡ = Σ G q, of all pairs
or of each point, which one point more changes by a share of 1/N only. Then the cost of a point at y is

    pair:   2 Σ_j [c(p_ij, w_ij/S) - c0(w_ij/S)] + 2 [-Ḡ/S φ(y) + Σ_t c_t(S)/S Ψ_t(y)]
    point:  Σ_j [c(p_j|i, w_ij/S_i) - c0] + Σ_t c_t(S_i)/S_i Ψ_t(y)                  its own row, S_i = φ(y)
            + Σ_j [c(p_i|j, w_ij/S_j) - c0] + Σ_k [-Ḡ_k/S_k w + Σ_t c_t(S_k)/S_k H_t(w)]    the others' rows

with c0 the cost at p = 0, which is a sum over the limit terms (see `nearfield.engine.mesh.one_scale`): sums
over all points are potentials, and what is left are the few neighbours. Where all points are among them, as
for the exact engine, c0 stays in the sum over them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.affinity.fitted import Ties
from nearfield.algebra.costs.base import Cost, LimitTerm
from nearfield.algebra.method import Method
from nearfield.engine.surroundings import Potential, Radial, Surroundings, squares
from nearfield.typing import Array

LOWEST = -300.0  # of log w; beyond, the cost goes on along its tangent in log w
STEP = 1e-4  # of S, over which the rate of a coefficient is taken


class Held:
    """A finished map, in which nothing moves any more.

    Parameters
    ----------
    method : Method
        Whose cost it is, bound to its target.
    Y : array (points, dimensions)
        The map.
    S, bracket : float or array (points,)
        As an engine's `held` gives them.
    all_pairs : bool
        Whether new points are tied to all points, and not to some neighbours.
    weights : array (points,), optional
        How many copies each point stands for.
    attraction : float
        How many times as strong it is as in the method itself.
    """

    def __init__(
        self,
        method: Method,
        Y: Array,
        S: Any,
        bracket: Any,
        *,
        all_pairs: bool,
        weights: Array | None = None,
        attraction: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.method, self.Y, self.S, self.bracket = method, Y, S, bracket
        self.all_pairs, self.weights, self.n_jobs = all_pairs, weights, n_jobs
        self.attraction = attraction
        self._around: Surroundings | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_around": None}  # laid again when it is asked for

    @property
    def by_row(self) -> bool:
        """Whether every point has its own S."""
        return self.method.normalization == "point"

    @property
    def terms(self) -> tuple[LimitTerm, ...]:
        """The terms of the limit that are taken off the neighbours and left to potentials."""
        return () if self.all_pairs else self.method.cost.facts.limit or ()

    @property
    def mass(self) -> Any:
        """The masses of the points, or None."""
        return self.method.require_kernel().mass

    @property
    def charged(self) -> bool:
        """Whether points have charges by which they repel."""
        return bool(self.method.cost.facts.bound)

    def around(self) -> Surroundings:
        """The potentials, which are laid when they are first asked for."""
        if self._around is None:
            terms = self.terms
            radials = [Radial(self.method), *(Radial(self.method, t) for t in terms if not t.constant)]
            rates = [np.asarray(t.coefficient(self.S) / self.S) for t in terms]
            on_w = -np.asarray(self.bracket / self.S)
            on_w = on_w + sum((c for c, t in zip(rates, terms, strict=True) if t.constant), np.zeros(()))
            others = [c for c, t in zip(rates, terms, strict=True) if not t.constant]
            if self.by_row or self.charged:
                ones: list[Potential] = [((1.0, self.weights, k),) for k in range(len(radials))]
                each = np.ones(len(self.Y)) if self.weights is None else self.weights
                charges = [c * each for c in (on_w, *others)]
                potentials = [*ones, tuple((1.0, c, k) for k, c in enumerate(charges))]
            else:
                seen = (
                    self.mass
                    if self.weights is None
                    else self.weights * (1.0 if self.mass is None else self.mass)
                )
                potentials = [tuple((2 * float(c), seen, k) for k, c in enumerate((on_w, *others)))]
            self._around = Surroundings(
                self.Y, radials, potentials, gridded=not self.all_pairs, n_jobs=self.n_jobs
            )
        return self._around


class PlacedCost:
    """The cost of new points, each on its own, in a map that is held.

    Parameters
    ----------
    held : Held
        The map.
    ties : Ties
        What ties the points to it.
    """

    def __init__(self, held: Held, ties: Ties) -> None:
        self.held, self.indices, self.multiplicity = held, ties.indices, ties.multiplicity
        n = len(held.Y) if held.weights is None else float(held.weights.sum())
        kind = held.method.target_kind
        self.ahead, self.back = ties.ahead, ties.back
        if kind != "row":  # one p for both directions; of a point that no other sees, it is its own twice
            joint = ties.ahead + np.where(ties.back.any(axis=1, keepdims=True), ties.back, ties.ahead)
            self.ahead = joint / 2 if kind == "weights" else joint / (2 * n)
        sums = (self.multiplicity * self.ahead).sum(axis=1)
        self.mass = None if held.mass is None else sums
        self.cost = held.method.cost.joined(sums, n) if held.charged else held.method.cost

    def at(self, rows: Any, y: Array) -> tuple[Array, Array, Array]:
        """Value and gradient of some of the points at y, and the stiffness of what holds them there."""
        held = self.held
        potentials, forces = held.around().at(y)
        mass = None if self.mass is None else self.mass[rows]
        cost = self.cost
        if held.charged:
            new = len(held.Y) + np.arange(len(self.indices))[rows]
            cost = cost.between(new[:, None], self.indices[rows])
        near = _Near(held, cost, self.indices[rows], self.multiplicity[rows], y, mass)
        if held.by_row:
            own = near.own_row(self.ahead[rows], potentials, forces)
            back = near.springs(self.back[rows], np.asarray(held.S)[self.indices[rows]])
            value = own[0] + back[0] + potentials[:, -1]
            return value, own[1] + back[1] + forces[:, -1], own[2] + back[2]
        value, gradient, stiffness, _ = near.springs(self.ahead[rows], held.S)
        if held.charged:
            charged, force = self._charges(rows, potentials, forces)
            return 2 * value + charged, 2 * gradient + force, 2 * stiffness
        m = 1.0 if self.mass is None else self.mass[rows]
        return (
            2 * value + m * potentials[:, 0],
            2 * gradient + np.multiply.outer(m, np.ones(y.shape[1])) * forces[:, 0],
            2 * stiffness,
        )

    def _charges(self, rows: Any, potentials: Array, forces: Array) -> tuple[Array, Array]:
        """What the points' own charges have of the potentials of ones, and the charges there of theirs."""
        held, new = self.held, len(self.held.Y) + np.arange(len(self.indices))[rows]
        value, gradient, k = potentials[:, -1].copy(), forces[:, -1].copy(), 1
        for term in () if held.all_pairs else self.cost.facts.limit or ():
            c = np.asarray(term.coefficient(1.0))[new]
            at = 0 if term.constant else k
            k += not term.constant
            value += c * potentials[:, at]
            gradient += c[:, None] * forces[:, at]
        return value, gradient


class _Near:
    """Some new points at y, and the points of the map that they are tied to."""

    def __init__(
        self, held: Held, cost: Cost, indices: Any, multiplicity: Array, y: Array, mass: Any
    ) -> None:
        self.held, self.cost, self.multiplicity = held, cost, multiplicity
        self.terms = () if held.all_pairs else cost.facts.limit or ()
        method, kernel = held.method, held.method.require_kernel().profile
        self.gaps = y[:, None, :] - held.Y[indices]
        f, slope = method.transform.of_square(squares(self.gaps))
        log = kernel.log(f)
        if mass is not None:
            log = log + np.log(mass[:, None] * held.mass[indices])
        self.log, self.further = log, np.minimum(log - LOWEST, 0.0)
        self.w = np.exp(np.maximum(log, LOWEST))
        self.rate = kernel.log_derivative(f) * slope  # of log w in the squared distance

    def springs(self, p: Array, S: Any) -> tuple[Array, Array, Array, Array]:
        """Σ [c(p, w/S) - c0], its gradient at a given S, the stiffness, and Σ (G - G0) q."""
        cost, w = self.cost, self.w
        q = w / S
        G, value = cost.derivative(p, q), cost.value(p, q)
        for term in self.terms:
            c = term.coefficient(S)
            G = G - (c if term.constant else c * term.slope(w))
            value = value - c * term.integral(w) / S
        rest = self.multiplicity * G * q
        value = self.multiplicity * value + rest * self.further
        pulled = rest
        if self.held.attraction != 1:
            more = (1 - self.held.attraction) * self.multiplicity * p
            value, pulled = value + more * self.log, rest + more
        k = 2 * pulled * self.rate
        return value.sum(axis=1), self._along(k), np.maximum(k, 0.0).sum(axis=1), rest.sum(axis=1)

    def _along(self, k: Array) -> Array:
        """Σ k (y - y_j)."""
        return np.stack([(k * self.gaps[..., c]).sum(axis=1) for c in range(self.gaps.shape[-1])], axis=1)

    def own_row(self, p: Array, potentials: Array, forces: Array) -> tuple[Array, Array, Array]:
        """The point's own row, whose S goes with its place: at least that of the neighbours alone."""
        near = (self.multiplicity * self.w).sum(axis=1)
        lone = near >= potentials[:, 0]
        if self.held.all_pairs:
            lone[:] = True
        S = np.where(lone, near, potentials[:, 0])
        S_force = np.where(
            lone[:, None], self._along(2 * self.multiplicity * self.w * self.rate), forces[:, 0]
        )
        value, gradient, stiffness, bracket = self.springs(p, S[:, None])
        pull, k = -bracket / S, 1
        for term in self.terms:
            c = term.coefficient(S) / S
            whole, force = (S, S_force) if term.constant else (potentials[:, k], forces[:, k])
            k += not term.constant
            higher, lower = ((1 + step) * S for step in (STEP, -STEP))
            change = term.coefficient(higher) / higher - term.coefficient(lower) / lower
            pull = pull + change / (2 * STEP * S) * whole
            value = value + c * whole
            gradient = gradient + np.multiply.outer(c, np.ones(force.shape[1])) * force
        return value, gradient + pull[:, None] * S_force, stiffness


class StretchedCost:
    """The cost of new points by their distances to some points of a map, which stand for all of them.

    Parameters
    ----------
    method : Method
        With a cost of distances, transformed or not.
    Y : array (sample, dimensions)
        Where those points are.
    apart : array (rows, sample)
        The distances in the data.
    n : int
        How many points they stand for.
    """

    def __init__(self, method: Method, Y: Array, apart: Array, n: int) -> None:
        self.method, self.Y, self.each = method, Y, 2 * n / len(Y)
        self.p = method.transform.value(apart)

    def at(self, rows: Any, y: Array) -> tuple[Array, Array, Array]:
        """Value and gradient of some of the points at y, and the stiffness of what holds them there."""
        gaps, p = y[:, None, :] - self.Y, self.p[rows]
        f, slope = self.method.transform.of_square(squares(gaps))
        value = self.method.cost.value(p, f)
        k = 2 * self.each * self.method.cost.derivative(p, f) * slope
        pulls = [(k * gaps[..., c]).sum(axis=1) for c in range(y.shape[1])]
        return self.each * value.sum(axis=1), np.stack(pulls, axis=1), np.abs(k).sum(axis=1)
