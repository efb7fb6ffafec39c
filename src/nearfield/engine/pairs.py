"""Costs of distances on a sample of the pairs.

A stress ties every pair, and is no sum of potentials. But all its pairs count alike, so that a random part of
them stands for the others: cost and gradient are then right but for the draw, in time and memory that are
linear in the number of points.

The points are put around a ring in random order, and each is tied to those so many places further on, for a
number of random offsets. So all have equally many ties, none is drawn twice, and the pairs of an offset lie
side by side in memory. With all offsets up to half way round, every pair is there once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.affinity.source import Source
from nearfield.algebra.method import Method
from nearfield.algebra.transforms import Identity
from nearfield.engine.base import Engine, Evaluation, check_map
from nearfield.engine.exact import loops
from nearfield.engine.task import Task
from nearfield.parallel import over_chunks
from nearfield.typing import Array

OFFSETS = 1000  # at most; each point has twice as many ties
FROM = 5000  # points, below which all pairs take seconds
TINY = 1e-300  # in place of a distance of zero
TIED = 1500  # bytes: what a coordinate takes while the ties of all chunks are computed
SMALL = 2**23  # bytes: whatever has no term of its own


def offsets(n: int) -> int:
    """How many offsets there are for n points.

    Examples
    --------
    >>> offsets(101), offsets(70_000)
    (50, 1000)
    """
    return min(OFFSETS, (n - 1) // 2)


class Pairs(Engine):
    """Value and gradient over a sample of the pairs.

    Parameters
    ----------
    method : Method
        A cost of distances, not normalized.
    source : Source
        The data, or all distances.
    """

    name, precedence = "pairs", 30
    summary = "distances of drawn pairs"
    matches = "data"
    complete = False
    relative_error = 1e-7  # of distances in float32

    @classmethod
    def obstacle(cls, task: Task) -> str | None:
        if task.method.kernel is not None:
            return f"{task.method} is no cost of distances"
        if task.method.normalization != "none":
            return "normalized distances are tied all together"
        if task.n in (1, 2):
            return "two points have but one pair"
        if task.weighted:
            return "it knows of no weights of points"
        if not task.drawable:
            return "it needs data or all distances, and a start other than 'spectral'"
        return None

    @classmethod
    def suits(cls, task: Task) -> bool:
        return task.method.kernel is None

    @classmethod
    def pays(cls, task: Task) -> bool:
        return task.n >= FROM

    @classmethod
    def reason(cls, task: Task) -> str:
        return f"{2 * offsets(task.n)} drawn pairs a point stand for all of them"

    @classmethod
    def memory(cls, task: Task) -> int:
        n, coordinates = task.n, task.n * task.n_components
        return 4 * n * offsets(n) + TIED * coordinates + 24 * n * task.columns + 200 * coordinates + SMALL

    @classmethod
    def of(
        cls, method: Method, target: Source, *, n_jobs: int | None, accuracy: float, weights: Array | None
    ) -> Engine:
        return cls(method, target)

    def __init__(self, method: Method, source: Source) -> None:
        n_jobs = source.n_jobs
        self.method, self.n_jobs = method, n_jobs
        self.exponent = method.cost.facts.least_squares if method.transform == Identity() else None
        where = source.space
        self.n, self.mass = where.n, float(where.n)
        random = np.random.default_rng(0)
        self.order = random.permutation(self.n)  # around the ring
        count = offsets(self.n)
        self.offsets = np.sort(1 + random.choice((self.n - 1) // 2, count, replace=False))
        self.r = np.empty((count, self.n), np.float32)

        def measure(lo: int, hi: int) -> None:
            ring = np.arange(lo, hi)
            others = self.order[(ring[:, None] + self.offsets) % self.n]
            self.r[:, lo:hi] = where.apart(self.order[lo:hi], others).T

        over_chunks(measure, self.n, n_jobs=n_jobs)
        self.unit = where.unit
        self.multiplicity = (self.n - 1) / (2 * count)
        squares = over_chunks(lambda lo, hi: float(np.square(self.r[lo:hi], dtype=np.float64).sum()), count)
        self.mean_square = self.unit**2 * sum(squares) / self.r.size
        sums = over_chunks(lambda lo, hi: float(self._target(slice(lo, hi)).sum()), count)
        self.factor = method.cost.factor(2 * self.multiplicity * sum(sums))

    def _target(self, which: Any) -> Array:
        """The transformed distances of some offsets, as float64: squares of large ones leave float32."""
        return self.method.transform.value(self.unit * self.r[which].astype(np.float64))

    def row(self, i: int) -> tuple[Any, Any]:
        """The points that one is tied to in one direction, and their distances."""
        place = int(np.flatnonzero(self.order == i)[0])
        return self.order[(place + self.offsets) % self.n], self._target((slice(None), place))

    def evaluate(
        self, Y: Array, *, exaggeration: float = 1.0, want_value: bool = True, method: Method | None = None
    ) -> Evaluation:
        """The method's value and gradient at Y."""
        if exaggeration != 1:
            raise ValueError("exaggeration strengthens a kernel's attraction; a cost of distances has none")
        ring = np.ascontiguousarray(check_map(Y, self.n)[self.order].T)
        work = self._chain if self.exponent is None else self._least_squares
        parts = over_chunks(work, len(self.offsets), ring, n_jobs=self.n_jobs, least=8)
        total = parts[0][1]
        factor = 2 * self.multiplicity * self.factor  # each tie stands for so many pairs, both ways
        back = np.empty((self.n, len(ring)))
        with np.errstate(over="ignore", invalid="ignore"):
            for _, gradient in parts[1:]:
                total += gradient
            back[self.order] = factor * total.T
        cost = factor * sum(value for value, _ in parts) if want_value else float("nan")
        return Evaluation(cost, cost, back)

    def _least_squares(self, lo: int, hi: int, ring: Array) -> tuple[float, Array]:
        """What the ties of some offsets cost, and their forces, for r^e (r - d)²: one fused loop."""
        gradient = np.zeros_like(ring)
        arguments = (ring, self.r, self.offsets, self.unit, self.exponent, gradient)
        return loops.ring_least_squares(lo, hi, *arguments), gradient

    @np.errstate(over="ignore", invalid="ignore")  # a map that ran away: whoever called sees it
    def _chain(self, lo: int, hi: int, ring: Array) -> tuple[float, Array]:
        """The same for whatever cost and transform."""
        cost, transform = self.method.cost, self.method.transform
        value, gradient = 0.0, np.zeros_like(ring)
        for k in range(lo, hi):
            p, offset = self._target(k), int(self.offsets[k])
            gaps = ring - np.roll(ring, -offset, axis=1)
            f, slope = transform.of_square(np.einsum("ca,ca->a", gaps, gaps))
            q = np.maximum(f, TINY)
            gaps *= 2 * cost.derivative(p, q) * slope
            gradient += gaps
            gradient -= np.roll(gaps, offset, axis=1)
            value += float(cost.value(p, q).sum())
        return value, gradient
