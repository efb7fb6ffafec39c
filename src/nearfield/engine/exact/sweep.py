"""A sweep over all pairs: the chain C → q → w → f → d → y as it stands in the documentation, block by block.

The bracket of the pair normalization, G_ij - Σ G q, contains a sum that is known only at the end. But the
gradient is linear in it, so that one sweep collects Σ G w' (y_i - y_j) and Σ w' (y_i - y_j) apart.

With weights, each of these sums is over pairs of copies; see `nearfield.affinity.copies`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.algebra.method import Method
from nearfield.algebra.parts import TINY
from nearfield.engine.base import Evaluation
from nearfield.engine.exact import loops
from nearfield.parallel import over_chunks
from nearfield.typing import Array

if TYPE_CHECKING:
    from nearfield.engine.exact.chain import Exact


class Totals:
    """What a sweep adds up: everything the gradient is made of, before the bracket's sum is known."""

    def __init__(self, dimensions: int, n: int, scales: int, learned: dict[str, Any]) -> None:
        self.cost = 0.0
        self.attraction = 0.0  # Σ p log w
        self.bracket = np.zeros(scales)  # Σ G q of each scale
        self.springs = np.zeros((dimensions, n))  # with G in the springs
        self.push = np.zeros((scales, dimensions, n))  # with 1 in their place
        self.learned = {name: np.zeros((1 + scales, *np.shape(value))) for name, value in learned.items()}

    def __iadd__(self, other: Totals) -> Totals:
        self.cost += other.cost
        self.attraction += other.attraction
        self.bracket += other.bracket
        self.springs += other.springs
        self.push += other.push
        for name in self.learned:
            self.learned[name] += other.learned[name]
        return self

    def add_parameter(self, name: str, row: int, pairs: Array, lo: int) -> None:
        """Add the pairs' parts of ∂C/∂θ; of a θ that every point has, row by row."""
        total = self.learned[name][row]
        if total.ndim == 0:
            self.learned[name][row] += pairs.sum()
        else:
            total[lo : lo + len(pairs)] += pairs.sum(axis=1)

    def evaluation(self, factor: float, exaggeration: float, want_value: bool) -> Evaluation:
        """The value and gradient that these totals make."""
        gradient = self.springs - np.tensordot(self.bracket, self.push, axes=1)
        cost = factor * self.cost if want_value else np.nan
        return Evaluation(
            value=cost - (exaggeration - 1) * self.attraction,
            cost=cost,
            gradient=np.ascontiguousarray(gradient.T),
            parameters={
                name: parts[0] - np.tensordot(self.bracket, parts[1:], axes=1)
                for name, parts in self.learned.items()
            },
            crossed=-self.attraction,
        )


class Sweep:
    """One evaluation's walk over the blocks."""

    def __init__(
        self, engine: Exact, method: Method, Yt: Array, exaggeration: float, want_value: bool
    ) -> None:
        self.engine, self.method, self.Yt = engine, method, Yt
        self.exaggeration, self.want_value = exaggeration, want_value
        self.scales = method.precisions
        self.columns = np.arange(engine.n)[None, :]
        self.apart = method.normalization in ("pair", "joint")
        # Their sums over all pairs, from the first sweep; what is added up is w exp(-shift).
        self.S = np.ones(len(self.scales))
        self.shift = np.zeros(len(self.scales))

    def sum_up(self) -> None:
        """The first sweep, for those normalizations in which all pairs share one S."""
        if self.apart:
            parts = over_chunks(self.sums, self.engine.n, n_jobs=self.engine.n_jobs)
            self.S, self.shift = add_shifted(parts, len(self.scales))

    def blocks(self, lo: int, hi: int) -> Any:
        """The blocks of rows within a chunk."""
        for start in range(lo, hi, self.engine.rows):
            yield start, min(start + self.engine.rows, hi)

    def distances(self, lo: int, hi: int) -> tuple[Array, Any]:
        """Both f and df/d(d²) of a block."""
        s = np.empty((hi - lo, self.engine.n))
        loops.squared_distances(lo, hi, self.Yt, s)
        return self.method.transform.of_square(s)

    def kernels(self, lo: int, hi: int) -> tuple[Any, Any]:
        """The kernel as the rows of a block see the columns, and as the columns see the rows."""
        kernel, i = self.method.kernel, np.arange(lo, hi)[:, None]
        if kernel is None:
            return None, None
        back = kernel.between(self.columns, i) if self.method.normalization == "joint" else None
        return kernel.between(i, self.columns), back

    def cost(self, lo: int, hi: int) -> Any:
        """The cost as it is between the rows of a block and the columns."""
        return self.method.cost.between(np.arange(lo, hi)[:, None], self.columns)

    def left_out(self, block: Array, lo: int) -> tuple[Any, Any]:
        """The index of the pairs that there are not: those of a copy with itself."""
        i, j = diagonal(block, lo)
        m = self.engine.weights
        alone = slice(None) if m is None else m[j] == 1
        return i[alone], j[alone]

    def times_copies(self, values: Array, lo: int) -> Array:
        """c_ij times the values: what one copy of i has of all those of j."""
        m = self.engine.weights
        if m is None:
            return values
        i, j = diagonal(values, lo)
        out = values * m
        out[i, j] -= values[i, j]
        return out

    def counted(self, values: Array, lo: int) -> Array:
        """n_ij times the values: what all pairs of copies have."""
        m = self.engine.weights
        return values if m is None else self.times_copies(values, lo) * m[lo : lo + len(values), None]

    def weights(self, kernel: Any, f: Array, lo: int, shift: Any) -> Array:
        """The weight w exp(-shift), at least TINY so that a spring never goes slack, with w_ii = 0."""
        if kernel is None:
            w = np.maximum(f, TINY)
        elif kernel.facts.underflows:
            w = np.maximum(np.exp(kernel.log(f) - shift), TINY)
        else:
            w = np.maximum(kernel.value(f) * np.exp(-shift), TINY)
        w[self.left_out(w, lo)] = 0.0
        return w

    @np.errstate(all="ignore")  # the diagonal is computed, then left out
    def sums(self, lo: int, hi: int) -> tuple[Array, Array]:
        """Σ w and the shift that it was taken with, for each scale: the first sweep of pair."""
        S = np.zeros((2, len(self.scales)))
        S[1] = -np.inf
        for start, stop in self.blocks(lo, hi):
            f, _ = self.distances(start, stop)
            kernel, _ = self.kernels(start, stop)
            for u, beta in enumerate(self.scales):
                shift = self.largest_log(kernel, beta * f, start, axis=None)
                part = self.counted(self.weights(kernel, beta * f, start, shift), start).sum()
                highest = max(S[1, u], shift)
                S[0, u] = S[0, u] * np.exp(S[1, u] - highest) + part * np.exp(shift - highest)
                S[1, u] = highest
        return S[0], S[1]

    def largest_log(self, kernel: Any, f: Array, lo: int, axis: int | None) -> Any:
        """The largest log w of all pairs, of the block or of each row; 0 where nothing can underflow."""
        if kernel is None or not kernel.facts.underflows:
            return 0.0 if axis is None else np.zeros((len(f), 1))
        log = kernel.log(f)
        log[self.left_out(log, lo)] = -np.inf
        largest = log.max(axis=axis, keepdims=axis is not None)
        return float(largest) if axis is None else largest

    @np.errstate(all="ignore")
    def totals(self, lo: int, hi: int) -> Totals:
        """The second sweep: costs, springs and brackets of the chunk's rows."""
        method, n = self.method, self.engine.n
        learned = {name: getattr(method.kernel, name) for name in method.learned}
        totals = Totals(len(self.Yt), n, len(self.scales), learned)
        for start, stop in self.blocks(lo, hi):
            self.add_block(start, stop, totals)
        return totals

    @np.errstate(all="ignore")
    def brackets(self, lo: int, hi: int) -> Array:
        """S and Σ_k G_ik q_ik of the chunk's rows, of one scale; of all pairs, those of all copies."""
        sums = self.times_copies if self.method.normalization == "point" else self.counted
        out = np.empty((2, hi - lo))
        for start, stop in self.blocks(lo, hi):
            f, _ = self.distances(start, stop)
            kernel, _ = self.kernels(start, stop)
            q, S = self.share(kernel, 0, f, start)
            left_out, share = self.left_out(q, start), q.copy()
            q[left_out] = 1.0
            cost = self.cost(start, stop)
            G = self.engine.factor * cost.derivative(self.engine.block(start, stop), q)
            G[left_out] = 0.0
            rows = slice(start - lo, stop - lo)
            shift = self.largest_log(kernel, f, start, axis=1)
            out[0, rows] = np.broadcast_to(S * np.exp(shift), (stop - start, 1))[:, 0]
            out[1, rows] = sums(G * share, start).sum(axis=1)
        return out

    def add_block(self, lo: int, hi: int, totals: Totals) -> None:
        """Walk the chain for the rows lo … hi and add what comes out to the totals."""
        method, engine, U = self.method, self.engine, len(self.scales)
        f, slope = self.distances(lo, hi)
        forth, back = self.kernels(lo, hi)
        left_out = self.left_out(f, lo)
        p, cost = engine.block(lo, hi), self.cost(lo, hi)

        # w → q, scale by scale; the share w/S is q but for the joint normalization
        shares = [self.share(forth, u, f, lo) for u in range(U)]
        q = np.add.reduce([share for share, _ in shares]) / U
        if back is not None:
            q = (q + np.add.reduce([self.share(back, u, f, lo)[0] for u in range(U)]) / U) / 2

        # C → q; where there is no pair q is made harmless, and what comes of it left out
        q[left_out] = 1.0
        if self.want_value:
            value = cost.value(p, q)
            if U == 1 and back is None and forth is not None and forth.facts.underflows:
                value += self.tangent(forth, p, q, f, lo, *shares[0])
            value[left_out] = 0.0
            totals.cost += float(self.counted(value, lo).sum())
        G = engine.factor * cost.derivative(p, q)
        G[left_out] = 0.0

        # the stiffness (1/S) [G - Σ G q] w' df/ds of each scale, averaged
        stiffness = np.zeros_like(f)
        extra = (1 - self.exaggeration) * p
        for u, (share, S) in enumerate(shares):
            scaled = self.scales[u] * f
            centred = self.centred(G, share, u, lo, totals)
            if forth is None:
                own = slope / S * np.ones_like(f)  # w = f, so w' is 1
                own[left_out] = 0.0
                stiffness += centred * own
            else:
                rate = self.scales[u] * forth.log_derivative(scaled) * slope / U
                own = share * rate
                stiffness += centred * own + extra * rate
                if self.exaggeration != 1:
                    log = forth.log(scaled)
                    log[left_out] = 0.0
                    totals.attraction += float(self.counted(p * log, lo).sum()) / U
                for name in method.learned:
                    rate = forth.parameter_derivative(name, scaled) / U
                    rate[left_out] = 0.0
                    pulled = self.counted((centred * share + extra) * rate, lo)
                    totals.add_parameter(name, 0, pulled, lo)
                    totals.add_parameter(name, 1 + u, self.counted(share * rate, lo), lo)
            if self.apart:
                loops.springs(lo, hi, self.Yt, self.counted(own, lo), totals.push[u])
        loops.springs(lo, hi, self.Yt, self.counted(stiffness, lo), totals.springs)

    def share(self, kernel: Any, u: int, f: Array, lo: int) -> tuple[Array, Any]:
        """w/S of scale u and the S of it (times exp(-shift), as is w)."""
        f = self.scales[u] * f
        if self.method.normalization != "point":
            return self.weights(kernel, f, lo, self.shift[u]) / self.S[u], self.S[u]
        w = self.weights(kernel, f, lo, self.largest_log(kernel, f, lo, axis=1))
        S = self.times_copies(w, lo).sum(axis=1, keepdims=True)
        return w / S, S

    def tangent(self, kernel: Any, p: Array, q: Array, f: Array, lo: int, share: Array, S: Any) -> Any:
        """What pairs cost beyond where w is taken for TINY: there C goes on along its tangent in log w.

        So value and gradient agree, and neighbours that were torn apart find together again.
        """
        torn = share * S <= 2 * TINY
        torn[self.left_out(torn, lo)] = False
        if not torn.any():
            return 0.0
        apart = self.method.normalization != "point"
        log = kernel.log(f) - (self.shift[0] if apart else self.largest_log(kernel, f, lo, axis=1))
        further = np.where(torn, np.minimum(log - np.log(TINY), 0.0), 0.0)
        return self.cost(lo, lo + len(p)).derivative(p, q) * q * further

    def centred(self, G: Array, share: Array, u: int, lo: int, totals: Totals) -> Array:
        """G - Σ G q where the sum is over a row; a sum over all pairs is left to the totals."""
        if self.method.normalization == "none":
            return G
        bracket = G * share
        if self.apart:
            totals.bracket[u] += self.counted(bracket, lo).sum()
            return G
        return G - self.times_copies(bracket, lo).sum(axis=1, keepdims=True)


def diagonal(block: Array, lo: int) -> tuple[Any, Any]:
    """The index of the pairs (i, i) in a block whose first row is lo."""
    i = np.arange(len(block))
    return i, i + lo


def add_shifted(parts: list[tuple[Array, Array]], scales: int) -> tuple[Array, Array]:
    """Σ S exp(shift) as (S, shift), in the order of the parts."""
    shift = np.max([s for _, s in parts], axis=0)
    S = np.zeros(scales)
    for part, own in parts:
        S += part * np.exp(own - shift)
    return S, shift
