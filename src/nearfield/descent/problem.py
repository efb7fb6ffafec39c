"""What an optimizer sees: one vector of variables, a value and a gradient.

The variables are the coordinates and, for methods that learn parameters of their kernel, the logarithms
of these (they are positive, and so stay it).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from nearfield.algebra.method import Method
from nearfield.descent import loops
from nearfield.engine.base import Engine
from nearfield.steer.base import Indices, Measure, Term
from nearfield.steer.steering import Steering
from nearfield.typing import Array

LONG, SHORT = (
    6,
    -20,
)  # binary logarithms of the size of a first step beside that of the map, at most and least
HUB = 2.0  # times the mean sum of p at a point: who has more is a hub
LEARNING = 0.1  # of the natural rate: a parameter bends every spring at once, and would oscillate


@dataclass(frozen=True)
class Point:
    """Value and gradient of the problem at one vector of variables.

    Attributes
    ----------
    value, gradient
        Of all that is minimised.
    cost, penalty : float
        What the method and the terms have in it.
    steered : array
        The variables on which terms act.
    """

    value: float
    cost: float
    gradient: Array
    penalty: float = 0.0
    FORMER: ClassVar[dict[str, str]] = {"drawn": "steered"}  # names in the files of earlier versions
    steered: Indices = field(default_factory=lambda: np.zeros(0, np.int64))


class Problem:
    """A method's cost, seen from an engine, as a function of one vector.

    Attributes
    ----------
    exaggeration : float
        By how much attraction is strengthened at present.
    attraction : float
        By how much it is in the end, where the cost is told with it.
    rates : array
        The natural learning rate of each variable: a gradient at a point is of order M/N, so N/M for
        the coordinates; a parameter that a point has likewise, and 1/M for one that all points share, but
        a tenth of it.
        A cost of another degree than 1 is that much smaller or larger, p being of order M/N².
        A point that stands for m copies has m times the gradient of one, and moves like one.
        A hub, at which more than twice as many springs pull as on average, takes steps that are as much
        shorter: at the rate of the others it would fly off, past everything.
    n_copies : float
        N, all copies counted.
    natural_rate : float
        The learning rate of the coordinates of a single copy.
    terms : list of (float, Term)
        What is added to the cost, and how much of it.
    """

    def __init__(
        self,
        engine: Engine,
        shape: tuple[int, int],
        p_sums: Array | None = None,
        method: Method | None = None,
        attraction: float = 1.0,
    ) -> None:
        """Take the engine to begin with.

        `p_sums` are the sums of p at each point (of a copy of it), which its springs go by; `method` is what
        the parameters belong to that are learned, if the engine is that of a guide.
        """
        self.shape, self._p_sums = shape, p_sums
        self.exaggeration, self.attraction = 1.0, attraction
        self.terms: list[tuple[float, Term]] = []
        self.steer(Steering(shape), 0)
        method = method or engine.method
        self._kernel = method.kernel
        self._learned = {name: np.asarray(getattr(method.kernel, name)) for name in method.learned}
        self.enter(engine)

    def enter(self, engine: Engine) -> None:
        """Go on with another engine, and so with another cost."""
        self.engine, self.weights = engine, engine.weights
        self.together = engine.share.together
        (n, dimensions), p_sums = self.shape, self._p_sums
        self.n_points = self.together.sum(n)
        self.n_copies = self.n_points if self.weights is None else float(self.weights.sum())
        self.natural_rate = self.natural_rate_of(engine)
        of_points = np.full(n, self.natural_rate)
        if self.weights is not None:
            of_points /= self.weights
        if p_sums is not None:
            of_points /= np.maximum(1.0, p_sums / (HUB * self._mean(p_sums)))
        rates = [np.repeat(of_points, dimensions)]
        for value in self._learned.values():
            shared = np.array([LEARNING * self.natural_rate / self.n_copies])
            rates.append(LEARNING * of_points if value.ndim else shared)
        self.rates = np.concatenate(rates)

    def natural_rate_of(self, engine: Engine) -> float:
        """The learning rate of the coordinates that an engine's cost calls for."""
        method, n = engine.method, self.n_copies
        if method.kernel is None:
            return 1.0
        share = (engine.mass / n**2) ** (method.cost.facts.degree - 1)
        return n / (engine.mass * max(share, 1e-300))  # of a degree beyond all measure it is no number

    def steer(self, steering: Steering, iteration: int) -> None:
        """Take over what a person has asked for, as it is at an iteration."""
        self.terms, self._anchored = steering.active_at(iteration), steering.anchored
        self._held, self._at = self.variables_of(steering.held), steering.at.ravel()

    @property
    def held(self) -> Indices:
        """The variables that are held."""
        return self._held

    def variables_of(self, points: Indices) -> Indices:
        """Where the coordinates of some points are among the variables."""
        dimensions = self.shape[1]
        return (points[:, None] * dimensions + np.arange(dimensions)).ravel()

    def measure(self, z: Array) -> Measure:
        """The force that points feel, and the radius of their map.

        For a cost with a kernel the force is of order M/N. One of distances has no such unit: it is measured
        on a map of twice the size.
        """
        Y = self.map_of(z)
        Y = Y - self._mean(Y)
        radius = float(np.sqrt(self._mean(np.sum(Y * Y, axis=1)))) or 1.0
        force = 1 / self.natural_rate
        if self.engine.method.kernel is None:
            forces = self.engine.evaluate(2 * Y, want_value=False).gradient
            forces = forces if self.weights is None else forces / self.weights[:, None]
            force = float(np.sqrt(np.mean(np.sum(forces * forces, axis=1)))) or 1.0
        return Measure(force, radius)

    def _mean(self, values: Array) -> Any:
        """The mean over all points, all copies counted."""
        if self.together.alone:
            return np.average(values, axis=0, weights=self.weights)
        return self.together.sum(values.sum(axis=0)) / self.n_points

    def spread(self, z: Array) -> float:
        """The standard deviation of all coordinates."""
        return self.together.spread(self.map_of(z))

    def dot(self, a: Array, b: Array) -> float:
        """The product of two vectors of variables: those of all points, and what all of them share."""
        if self.together.alone:
            return float(a @ b)
        own = self.shape[0] * self.shape[1]
        return float(self.together.sum(float(a[:own] @ b[:own])) + a[own:] @ b[own:])

    def norm(self, a: Array) -> float:
        """The length of a vector of variables."""
        return float(np.linalg.norm(a)) if self.together.alone else self.dot(a, a) ** 0.5

    def largest(self, a: Array) -> float:
        """The largest of a vector of variables, whatever its sign."""
        return float(self.together.most(np.abs(a).max(initial=0.0)))

    @property
    def relative_error(self) -> float:
        """The share of a value by which it can err."""
        return self.engine.relative_error

    def shorten(self, direction: Array, z: Array) -> None:
        """Let no point go further in one step, in place, than the map is wide, or its kernel."""
        step, Y = self.map_of(direction), self.map_of(z)
        lengths = np.sqrt(np.einsum("ij,ij->i", step, step))
        mean = self.together.sum(Y.sum(axis=0)) / self.n_points
        squares = self.together.sum(float(np.sum((Y - mean) ** 2, axis=1).sum()))
        most = max(self.reach, 2 * float(np.sqrt(squares / self.n_points)))
        if lengths.max(initial=0.0) > most:
            step *= np.minimum(1.0, most / np.maximum(lengths, most))[:, None]

    def proportion(self, direction: Array, z: Array) -> float:
        """By what a step into the unknown is multiplied to be in sight of the map's size, in any unit.

        For costs of distances, which have no width of a kernel to go by. It is a power of two, so that where
        halving or doubling the step gets there in time, it gets to the same bits.
        """
        Y = self.map_of(z)
        size, largest = float((Y - Y.mean(axis=0)).std()), float(np.abs(direction).max(initial=0.0))
        if self.engine.method.kernel is not None or not 0 < largest < np.inf or not size > 0:
            return 1.0
        ratio = np.log2(largest) - np.log2(size)
        return float(2.0 ** np.floor(min(0.0, LONG - ratio) + max(0.0, SHORT - ratio)))

    @property
    def reach(self) -> float:
        """How far a step into the unknown may go: the width of the narrowest kernel."""
        method = self.engine.method
        if method.kernel is None:
            return np.inf
        return float(method.kernel.width / max(method.precisions) ** 0.5)

    def pack(self, Y: Array) -> Array:
        """The variables at the map Y, with learned parameters at their starting values."""
        found, starts = [Y.ravel()], self._learned.values()
        for (_, _, bounds), value in zip(self._slices(), starts, strict=True):
            with np.errstate(divide="ignore"):  # a parameter may start at 0, the limit of its kernel
                found.append(np.clip(np.log(value).ravel(), *bounds))
        return np.concatenate(found)

    def map_of(self, z: Array) -> Array:
        """The coordinates among the variables, as a view."""
        n, dimensions = self.shape
        return z[: n * dimensions].reshape(n, dimensions)

    def _slices(self) -> Iterator[tuple[str, slice, tuple[float, float]]]:
        """Where each learned parameter is among the variables, and its bounds there (it is a logarithm)."""
        at, bounds = self.shape[0] * self.shape[1], getattr(self._kernel, "bounds", {})
        for name, value in self._learned.items():
            low, high = bounds.get(name, (1e-6, 1e6))
            yield name, slice(at, at + value.size), (float(np.log(low)), float(np.log(high)))
            at += value.size

    def carried(self, before: Problem, z: Array) -> Array:
        """The variables with the parameters that a problem of fewer points has learned; else the median."""
        found, learned = self.pack(np.zeros(self.shape)), {name: place for name, place, _ in before._slices()}
        for name, place, _ in self._slices():
            known = z[learned[name]]
            found[place] = np.median(known)
            found[place][: len(known)] = known
        return found

    def parameters_of(self, z: Array) -> dict[str, Any]:
        """The learned parameters among the variables, within their bounds."""
        found = {}
        for name, where, bounds in self._slices():
            now = np.exp(np.clip(z[where], *bounds)).reshape(self._learned[name].shape)
            found[name] = now if now.ndim else now.item()
        return found

    def project(self, z: Array) -> None:
        """Bring the variables back, in place, to where they are allowed.

        Learned parameters stay within their bounds, and the map stays centred: nothing depends on where it
        is, and near the origin no digits are lost. Unless something was put in a place: then it stays where
        it is, and the points with a hard pin stay where they were put, bit for bit.
        """
        if not self._anchored:
            weights = np.ones(1) if self.weights is None else self.weights
            loops.shift(self.map_of(z), self.together.sum(loops.totals(self.map_of(z), weights)))
        z[self._held] = self._at
        for _, where, bounds in self._slices():
            np.clip(z[where], *bounds, out=z[where])

    def method_at(self, z: Array, engine: Engine | None = None) -> Method:
        """The method of an engine, by default the present one, with the parameters that were learned."""
        method = (engine or self.engine).method
        parameters = {name: value for name, value in self.parameters_of(z).items() if name in method.learned}
        return method.with_parameters(**parameters) if parameters else method

    def __call__(self, z: Array, want_value: bool = True) -> Point:
        """Value and gradient at z; the value is NaN if it is not wanted."""
        method = self.method_at(z)
        at = self.engine.evaluate(
            self.map_of(z), exaggeration=self.exaggeration, want_value=want_value, method=method
        )
        gradient = np.empty_like(z)
        self.map_of(gradient)[:] = at.gradient
        for name, where, (low, high) in self._slices():
            if self.exaggeration != self.attraction or name not in at.parameters:
                gradient[where] = 0.0  # what is learned of an exaggerated cost, or of a guide, is of no use
                continue
            slope = np.ravel(at.parameters[name] * getattr(method.kernel, name))  # d/d log θ
            outward = ((z[where] <= low) & (slope > 0)) | ((z[where] >= high) & (slope < 0))
            gradient[where] = np.where(outward, 0.0, slope)  # at a bound there is no way out
        penalty, acted_on = 0.0, np.zeros(self.shape[0] if self.terms else 0, bool)
        for left, term in self.terms:
            value, points, slopes = term.evaluate(self.map_of(z))
            penalty += left * value
            np.add.at(self.map_of(gradient), points, left * slopes)
            acted_on[points] = True
        if self.terms:
            penalty = self.together.sum(penalty)
        gradient[self._held] = 0.0  # what is held has no way to go
        steered = self.variables_of(np.flatnonzero(acted_on))
        return Point(at.value + penalty, at.cost_with(self.attraction), gradient, penalty, steered)
