"""A method's gradient against finite differences, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.algebra.catalogue import method as named
from nearfield.algebra.method import Method
from nearfield.engine.base import Engine
from nearfield.engine.exact.chain import exact
from nearfield.typing import Array

TOLERANCE = 1e-6  # of the gradient, by which finite differences may miss it


@dataclass(frozen=True)
class Check:
    """How far a gradient is from what it has to be; all figures are relative to the gradient's norm.

    Attributes
    ----------
    error : float
        The largest difference from central differences, of coordinates and learned parameters.
    net_force : float
        The sum of the gradient, which is zero because the cost does not change when the map is shifted.
    torque : float
        The net torque, which is zero because it does not change when the map is turned.
    """

    error: float
    net_force: float
    torque: float

    @property
    def passed(self) -> bool:
        """Whether all are below 1e-6."""
        return max(self.error, self.net_force, self.torque) < TOLERANCE


def check(
    method: Method | str, *, n_points: int = 40, n_components: int = 2, random_state: int | None = 0
) -> Check:
    """Compare the gradient of a method with central differences at a random map of random data.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.check("jse").passed
    True
    """
    if isinstance(method, str):
        method = named(method)
    if n_points < n_components + 2:
        raise ValueError(f"a check in {n_components} dimensions needs at least {n_components + 2} points")
    random = np.random.default_rng(random_state)
    X = random.normal(size=(n_points, 5))
    Y = random.normal(size=(n_points, n_components))
    return check_at(exact(method, method.target(X), n_jobs=1), Y)


def check_at(engine: Engine, Y: Array, exaggeration: float = 1.0) -> Check:
    """The same at a given map."""
    method = engine.method
    learned = {name: getattr(method.kernel, name) for name in method.learned}
    if learned and method.kernel is not None:
        method = method.with_parameters(
            **{name: getattr(method.kernel.expanded(len(Y)), name) for name in learned}
        )
        learned = {name: getattr(method.kernel, name) for name in learned}

    def value(Y: Array, **parameters: Any) -> float:
        at = method.with_parameters(**parameters) if parameters else method
        return engine.evaluate(Y, exaggeration=exaggeration, method=at).value

    here = engine.evaluate(Y, exaggeration=exaggeration, method=method)
    norm: float = float(np.linalg.norm(here.gradient)) or 1.0
    error = float(np.max(np.abs(differences(value, Y) - here.gradient))) / norm
    for name, start in learned.items():
        numeric = differences(lambda x, name=name: value(Y, **{name: x[()]}), np.asarray(start, dtype=float))
        gap = float(np.max(np.abs(numeric - here.parameters[name])))
        error = max(error, gap / max(float(np.linalg.norm(here.parameters[name])), 1e-3 * norm))
    i, j = np.triu_indices(Y.shape[1], 1)
    turning: Array = np.sum(Y[:, i] * here.gradient[:, j] - Y[:, j] * here.gradient[:, i], axis=0)
    return Check(
        error=error,
        net_force=float(np.max(np.abs(here.gradient.sum(axis=0))) / norm),
        torque=float(np.max(np.abs(turning), initial=0.0) / (norm * np.abs(Y).max())),
    )


def differences(function: Any, x: Array, step: float = 1e-4) -> Array:
    """The gradient by central differences of fourth order."""
    gradient = np.empty_like(x)
    for index in np.ndindex(x.shape):
        h = step * max(1.0, float(abs(x[index])))
        values = []
        for k in (-2, -1, 1, 2):
            moved = x.copy()
            moved[index] += k * h
            values.append(function(moved))
        gradient[index] = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    return gradient
