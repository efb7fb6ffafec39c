"""The scales of a data set: P averaged over those that have entered so far, the coarsest first.

Two kinds share this: all pairs, and the strata of neighbours that stand for them. The precisions of the
points are the same thing in both; only where P is kept differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity import graph_loops, loops
from nearfield.affinity.edges import NEGLIGIBLE, index_type
from nearfield.affinity.perplexity import calibrate
from nearfield.affinity.strata import Sampled, Strata
from nearfield.affinity.supervision import Supervision
from nearfield.algebra.method import Method
from nearfield.parallel import over_chunks
from nearfield.typing import Array


class Rungs:
    """What both kinds share: the precisions, and what follows from them for the map.

    Parameters
    ----------
    method : Method
        What the target is for.
    squared : array (points, columns)
        Squared distances.
    perplexities : sequence of float or array (points,)
        Rising.
    multiplicity : array (points, columns), optional
        How many points each column stands for; None, if they are all points.
    labels : Supervision, optional
        The classes that have a say in the mean.

    Attributes
    ----------
    beta : array (scales, points)
        The precision of each point at each scale; infinite where a row is uniform over ties.
    entered : int
        How many scales have.
    """

    def __init__(
        self,
        method: Method,
        squared: Array,
        perplexities: Any,
        n_jobs: int | None = None,
        multiplicity: Any = None,
        labels: Supervision | None = None,
    ) -> None:
        self.labels = labels
        self.method, self.squared, self.n_jobs = method, squared, n_jobs
        self.perplexities, self.multiplicity, self.n = list(perplexities), multiplicity, len(squared)
        options: dict[str, Any] = {
            "skip_self": multiplicity is None,
            "copies": multiplicity,
            "n_jobs": n_jobs,
        }
        # Those that strata stand for are about as many as there are points; no perplexity can be higher.
        reached = (
            k if multiplicity is None else np.minimum(k, multiplicity.sum(axis=1)) for k in self.perplexities
        )
        self.beta = np.array([calibrate(squared.copy(), k, **options).beta for k in reached])
        self.entered, self.unit = 0, 1.0
        self._sum = np.zeros_like(squared)
        self._nearest, self._total = np.empty(self.n), np.empty(self.n)

    def __len__(self) -> int:
        return len(self.perplexities)

    @property
    def _bare(self) -> bool:
        return self.method.target_kind == "weights"

    def _enter(self) -> None:
        """Add the next scale to the sum."""
        self.entered += 1
        beta, kept = self.beta[-self.entered], (self._sum, self._nearest, self._total)
        known = (self.squared, self.multiplicity is None, beta, not self._bare, self.multiplicity)
        over_chunks(loops.add_scale, self.n, *known, *kept, n_jobs=self.n_jobs)

    def _mean(self) -> Any:
        raise TypeError(f"{type(self).__name__} does not define its target")

    def target(self, scales: int | None = None) -> Any:
        """The target of so many scales, by default all, the coarsest first: they enter, and none leaves."""
        scales = len(self) if scales is None else scales
        if not self.entered <= scales <= len(self):
            raise ValueError(f"{self.entered} of {len(self)} scales have entered: {scales} cannot be had")
        while self.entered < scales:
            self._enter()
        return self._mean()

    def exponent(self, n_components: int) -> float:
        """How fast a neighbourhood's radius has to grow in the map: e = min(2, max(1, D/P)).

        D is the intrinsic dimension of the data where it is the largest: the growth of log2 K over that of
        half the logarithm of the radius τ = 1/β, from scale to scale, in the mean over the points.
        """
        growth = np.diff(np.log2(self.perplexities))[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            spreading = -np.diff(np.log2(self.beta), axis=0)
            dimensions = np.where(np.isfinite(spreading) & (spreading > 0), 2 * growth / spreading, np.nan)
        known = [row[np.isfinite(row)].mean() for row in dimensions if np.isfinite(row).any()]
        return float(min(2.0, max(1.0, max(known, default=1.0) / n_components)))

    def precisions(self, Y: Array) -> tuple[float, ...]:
        """The precisions of the map's kernel, for a map that starts at Y: from the finest to the coarsest.

        β_h = 2^(2/P) (K_max/K_h)^(2e/P)/v, with v the mean variance of the axes.
        """
        P, v = Y.shape[1], float(Y.var(axis=0).mean())
        ratio = self.perplexities[-1] / np.array(self.perplexities)
        beta = 2 ** (2 / P) * ratio ** (2 * self.exponent(P) / P) / v
        return tuple(beta.tolist())

    def transferred(self) -> tuple[float, ...]:
        """The precisions of the data themselves, the median over the points that have one at each scale."""
        known = (row[np.isfinite(row)] for row in self.beta / self.unit**2)
        return tuple(float(np.median(row)) if len(row) else 1.0 for row in known)


class OfAllPairs(Rungs):
    """P as a matrix."""

    def _mean(self) -> Array:
        P = self._sum / self.entered
        if self.labels is not None:
            self.labels.discount(P, bare=self._bare)
        if self.method.target_kind != "row":
            over_chunks(loops.symmetrise, self.n, P, 0.5 if self._bare else 0.5 / self.n, n_jobs=self.n_jobs)
        return P


class OfStrata(Rungs):
    """P on the strata, with the number of pairs that each of its values stands for."""

    def __init__(
        self,
        method: Method,
        strata: Strata,
        perplexities: Any,
        n_jobs: int | None = None,
        labels: Supervision | None = None,
    ) -> None:
        super().__init__(method, strata.squared, perplexities, n_jobs, strata.multiplicity, labels)
        self.unit = strata.unit
        self.indices, self._there = strata.indices, strata.multiplicity > 0
        counts = self._there.sum(axis=1)
        self.indptr: Any = np.zeros(self.n + 1, index_type(int(counts.sum())))
        np.cumsum(counts, out=self.indptr[1:])
        self._columns, self._multiplicity = self._flat(self.indices), self._flat(strata.multiplicity)
        self._back = None if method.target_kind == "row" else np.zeros_like(self._sum)
        self._pairs: tuple[Any, ...] | None = None

    def _flat(self, values: Any) -> Any:
        """The values of all entries that are not empty, row after row."""
        return values.ravel() if self._there.all() else values[self._there]

    def _enter(self) -> None:
        super()._enter()
        if self._back is not None:
            known = (self.indices, self.squared, self.multiplicity, self.beta[-self.entered])
            arguments = (*known, self._nearest, self._total, self._back)
            over_chunks(loops.add_back, self.n, *arguments, n_jobs=self.n_jobs)

    def _discounted(self) -> tuple[Any, Any]:
        """The sums of p ahead and back, as labels let them be."""
        if self.labels is None:
            return self._sum, self._back
        ahead = self._sum.copy()
        scale = self.labels.discount(ahead, self.indices, self.multiplicity, bare=self._bare)
        if self._back is None:
            return ahead, None
        factors = self.labels.factors(np.arange(self.n)[:, None], self.indices)
        return ahead, (self._back * factors * scale[self.indices]).astype(self._back.dtype)

    def _mean(self) -> Sampled:
        forward, backward = self._discounted()
        ahead = self._flat(forward)
        if self._back is None:
            p = np.maximum(ahead / np.float32(self.entered), np.float32(NEGLIGIBLE))
            rows = (p, self._columns, self.indptr)
            return Sampled(sparse.csr_array(rows, (self.n,) * 2), self._multiplicity)
        indptr, indices, forth, back = self._both_ways()
        values, count = np.empty(len(indices), np.float32), np.empty(len(indices), np.float32)
        factor = 0.5 / self.entered / (1 if self._bare else self.n)
        drawn = (forth, back, ahead, self._flat(backward), self._multiplicity)
        over_chunks(graph_loops.joint, self.n, indptr, *drawn, factor, values, count, n_jobs=self.n_jobs)
        np.maximum(values, np.float32(NEGLIGIBLE / self.n), out=values)
        return Sampled(sparse.csr_array((values, indices, indptr), (self.n,) * 2), count)

    def _both_ways(self) -> tuple[Any, ...]:
        """The pairs that were drawn from either end, and where they are among those drawn; once for all."""
        if self._pairs is None:
            n, total = self.n, len(self._columns)
            starts = np.zeros(n + 1, np.int64)
            np.cumsum(np.bincount(self._columns, minlength=n), out=starts[1:])
            rows, origin = np.empty(total, np.int32), np.empty(total, self.indptr.dtype)
            own = np.arange(total, dtype=self.indptr.dtype)
            graph_loops.transpose(self.indptr, self._columns, own, starts[:-1].copy(), rows, origin)
            lengths, graph = np.empty(n, np.int64), (self.indptr, self._columns, starts, rows)
            over_chunks(graph_loops.merged_lengths, n, *graph, lengths, n_jobs=self.n_jobs)
            indptr: Any = np.zeros(n + 1, index_type(int(lengths.sum())))
            np.cumsum(lengths, out=indptr[1:])
            indices = np.empty(indptr[-1], indptr.dtype)
            forth, back = (np.empty(indptr[-1], self.indptr.dtype) for _ in range(2))
            arguments = (*graph, origin, indptr, indices, forth, back)
            over_chunks(graph_loops.pair_up, n, *arguments, n_jobs=self.n_jobs)
            self._pairs = (indptr, indices, forth, back)
        return self._pairs
