"""The mesh engine of several scales: Q is the mean of the Q_u, each with a field of its own.

The limit of ∂C/∂q at p = 0 has to be a constant γ. Then it cancels in every bracket, since each Q_u sums to
one, and what is left are, scale by scale, the springs along the edges and one potential:

    k_iju = (1/S_iu) [R_ij - B_iu] w'_iju,  R = G(p, q̄) - γ on the edges, 0 elsewhere,  B_iu = Σ_j R_ij q_iju

The kernel of each scale is as wide as its neighbourhoods. Wide ones have a grid each, as coarse as that
allows; narrow ones are summed directly over the points that are close (`nearfield.engine.mesh.narrow`),
and so are those of points that are so far from all others that their S is lost in the error of the field.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.strata import Sampled
from nearfield.algebra.method import Method
from nearfield.engine.base import Engine, Evaluation
from nearfield.engine.mesh import edge_loops as loops
from nearfield.engine.mesh.edges import Edges, EdgeSums, Request
from nearfield.engine.mesh.field import Field
from nearfield.engine.mesh.narrow import Levels, Narrow
from nearfield.engine.mesh.one_scale import ACCURACY, Mesh, evaluation
from nearfield.parallel import over_chunks

LOST = 10.0  # times the grid's error: an S below that is summed directly


class Scales(Engine):
    """Value and gradient by edges and one field for each scale.

    Parameters
    ----------
    method : Method
        With a kernel, several precisions, and a cost whose limit at p = 0 is a constant.
    target : sparse array or Sampled
        P: joint (symmetric) for pair, row by row for point.
    accuracy : float
        The error of the repulsive force, relative to it.
    """

    name = Mesh.name
    relative_error = 1e-5  # of the grid, to which value and gradient agree

    def __init__(
        self, method: Method, target: Any, n_jobs: int | None = None, accuracy: float = ACCURACY
    ) -> None:
        P, multiplicity = (target.P, target.multiplicity) if isinstance(target, Sampled) else (target, None)
        self.method, self.n_jobs = method, n_jobs
        self.edges = Edges(sparse.csr_array(P), multiplicity, n_jobs)
        self.n = self.edges.n
        degree, self.entropy = self.edges.weighed()
        self.mass = float(degree.sum())
        terms = method.cost.facts.limit or ()
        self.limit = float(sum(term.coefficient(1.0) for term in terms))
        kernel = method.require_kernel()
        self.fused = method.cost.facts.cross_entropy or method.cost.facts.mixture is not None
        if method.cost.facts.cross_entropy and multiplicity is not None:  # which is linear in p
            self.edges = self.edges.folded(None)
        self.fields = [Field(kernel.width / b**0.5, accuracy, n_jobs) for b in method.precisions]

    def row(self, i: int) -> tuple[Any, Any]:
        """The neighbours of a point, and how strongly they pull."""
        return self.edges.row(i)

    def evaluate(
        self, Y: Any, *, exaggeration: float = 1.0, want_value: bool = True, method: Method | None = None
    ) -> Evaluation:
        """The method's value and gradient at Y."""
        method = method or self.method
        request = Request(method, np.ascontiguousarray(Y, dtype=np.float32), exaggeration, want_value)
        point, U = method.normalization == "point", len(self.fields)
        alpha, precision = request.kernel.require_tail()
        beta, bells = precision * np.array(method.precisions), alpha == 0
        narrow = Narrow(request.Y, beta, bells, self.n_jobs)
        direct = np.broadcast_to(narrow.narrow, (self.n, U)).copy()
        levels, known = Levels.of(self.n if point else 1, U), {}
        for u in np.flatnonzero(~narrow.narrow):
            field, key = self.fields[u], ("w", float(beta[u]))
            field.know(key, partial(_scaled, request.kernel, method.precisions[u]))
            field.lay(request.Y)
            ones = field.charge(None, [key], forces=not point)
            force = None
            if point:
                S, force = field.read((1.0, ones, key))
                lost = LOST * field.accuracy * field.at_zero(key)
                direct[:, u] = bells & (lost > S)
                levels.logs[:, u] = np.log(np.maximum(S, 1e-3 * lost))
            else:
                levels.logs[0, u] = np.log(max(field.energy(ones, key), 1e-30))
            known[u] = (field, key, ones, force)
        if direct.any():
            narrow.sums(direct, levels)
        if self.fused:
            sums = self.edges.divergence(request, levels.nearest, levels.logs)
        else:
            sums = self._chain(request, levels)
        gradient = sums.gradient.astype(np.float64)
        brackets = sums.bracket if point else sums.bracket.sum(axis=0, keepdims=True)
        if direct.any():
            gradient += narrow.springs(direct, levels, brackets / U)
        for u, (field, key, ones, force) in known.items():
            if not point:
                factor = -2 * float(brackets[0, u]) * np.exp(-float(levels.logs[0, u])) / U
                gradient += field.read((factor, ones, key))[1]
                continue
            # a_i ∇φ_1 + ∇φ_a with a = -B/S
            charges = np.where(direct[:, u], 0.0, -brackets[:, u] * np.exp(-levels.logs[:, u]) / U)
            gradient += charges[:, None] * force
            gradient += field.read((1.0, field.charge(None, [key], charges, values=False), key))[1]
        cost = sums.cost + self.limit * (self.n if point else 1)
        cost += self.entropy if method.cost.facts.cross_entropy else 0.0
        return evaluation(request, cost, sums.attraction, gradient)

    # The springs --------------------------------------------------------------------------------------------

    def _chain(self, request: Request, levels: Levels) -> EdgeSums:
        """The chain along the edges, whatever the cost and the kernel."""
        return EdgeSums.added(
            over_chunks(self._of_rows, self.edges.chunks, request, levels, n_jobs=self.n_jobs)
        )

    def _of_rows(self, lo: int, hi: int, request: Request, levels: Levels) -> EdgeSums:
        found = EdgeSums(np.zeros_like(request.Y), np.zeros((self.n, len(self.fields))))
        for start, stop in self.edges.blocks(lo, hi):
            self._add(start, stop, request, levels, found)
        return found

    def _add(self, lo: int, hi: int, request: Request, levels: Levels, found: EdgeSums) -> None:
        edges, cost, kernel = self.edges, request.method.cost, request.kernel
        there, precisions = slice(edges.indptr[lo], edges.indptr[hi]), request.method.precisions
        p, U = edges.p[there], len(precisions)
        f, gaps = edges.gaps(lo, hi, request.Y)
        mirrored = len(levels.logs) == 1
        counts = np.diff(edges.indptr[lo : hi + 1])
        shares, rates = np.empty((U, len(f)), np.float32), np.empty((U, len(f)), np.float32)
        tables = (levels.nearest, levels.logs)
        for u, beta in enumerate(precisions):
            rows = (table[:, u] if mirrored else np.repeat(table[lo:hi, u], counts) for table in tables)
            nearest, logs = rows
            # Relative to the nearest before it is multiplied by β, so that no digits are lost.
            relative = np.float32(beta) * (f - nearest)
            shares[u] = np.exp(kernel.log(relative) - logs)
            rates[u] = beta * kernel.log_derivative(np.float32(beta) * f)
        # Far beyond all scales, the widest is what is left.
        widest = int(np.argmin(precisions))
        np.maximum(shares[widest], loops.SMALL, out=shares[widest])
        q = shares.mean(axis=0)
        R = cost.derivative(p, q) - np.float32(self.limit)
        k = R * (shares * rates).mean(axis=0)
        if request.exaggeration != 1:
            k = k + np.float32(1 - request.exaggeration) * p * rates.mean(axis=0)
            pulled = np.mean([kernel.log(np.float32(beta) * f) for beta in precisions], axis=0)
            found.attraction += float(np.sum(edges.counted(p * pulled, there), dtype=np.float64))
        edges.add_springs(
            lo, hi, gaps, edges.counted(k, there).astype(np.float32, copy=False), mirrored, found.gradient
        )
        R = edges.counted(R, there)
        for u in range(U):
            loops.row_sums(lo, hi, edges.indptr, R * shares[u], found.bracket[:, u])
        if request.want_value:
            value = cost.value(p, q) - np.float32(self.limit) * q
            found.cost += float(np.sum(edges.counted(value, there), dtype=np.float64))


def mesh(
    method: Method,
    target: Any,
    n_jobs: int | None = None,
    accuracy: float = ACCURACY,
    weights: Any = None,
) -> Mesh | Scales:
    """The mesh engine of a method: with one field, or with one for each of its scales."""
    if method.precisions == (1.0,):
        return Mesh(method, target, n_jobs, accuracy, weights)
    if weights is not None:
        raise ValueError("several scales know of no weights: repeat the rows, or use one")
    return Scales(method, target, n_jobs, accuracy)


def _scaled(kernel: Any, beta: float, f: Any) -> Any:
    """The kernel of one scale."""
    return kernel.value(beta * f)
