"""The schedule: what changes in the course of a descent, as a list of phases."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from nearfield.algebra.method import Method


@dataclass(frozen=True)
class Phase:
    """A stretch of iterations under the same conditions; the last one has no end.

    Attributes
    ----------
    iterations : int or None
        How long it lasts.
    exaggeration : float
        By how much attraction is strengthened.
    momentum : float
        The share of the last step that the next one keeps.
    rate : float
        The learning rate, in units of the problem's natural one (N/M for coordinates).
    """

    iterations: int | None
    exaggeration: float = 1.0
    momentum: float = 0.8
    rate: float = 1.0


def schedule(
    method: Method,
    *,
    natural_rate: float,
    usual: tuple[float, int],
    spread: float = 0.0,
    exaggeration: Any = "auto",
    exaggeration_iter: int | None = None,
    learning_rate: Any = "auto",
) -> tuple[Phase, ...]:
    """The phases of a descent.

    In the first one attraction is exaggerated, so that clusters find each other while they can still pass
    through one another. A cost of another degree than 1 has no attraction that this could be measured by,
    and one of distances none at all: they go straight down.

    Parameters
    ----------
    method : Method
        What is minimised.
    natural_rate : float
        The learning rate that the problem calls for, N/M for most.
    usual : (float, int)
        The optimizer's usual exaggeration and its length.
    spread : float
        The standard deviation of the start. One that is wider than the kernel is a map already, which
        exaggeration would undo.
    """
    auto = isinstance(exaggeration, str) and exaggeration == "auto"
    if not auto and not (isinstance(exaggeration, Real) and float(exaggeration) >= 1):
        raise ValueError(f"exaggeration must be 'auto' or a number from 1 up, got {exaggeration!r}")
    if auto:
        kernel = method.kernel
        helps = kernel is not None and method.cost.degree == 1 and spread < kernel.width
        exaggeration = usual[0] if helps else 1.0
    if exaggeration_iter is None:
        exaggeration_iter = usual[1]
    if exaggeration != 1 and method.kernel is None:
        raise ValueError("exaggeration strengthens a kernel's attraction; a cost of distances has none")
    rates = _rates(method, learning_rate, exaggeration, natural_rate)
    late = Phase(None, 1.0, 0.8, rates[1])
    if exaggeration == 1 or exaggeration_iter == 0:
        return (late,)
    return Phase(exaggeration_iter, float(exaggeration), 0.5, rates[0]), late


def _rates(method: Method, learning_rate: Any, exaggeration: float, natural: float) -> tuple[float, float]:
    """The rates of both phases in units of the natural one."""
    if isinstance(learning_rate, str) and learning_rate == "auto":
        # A spring's stiffness goes with the inverse square of the kernel's width.
        width = method.kernel.width if method.kernel is not None else 1.0
        unit = min(1.0, width**2)
        return unit / exaggeration, unit
    if not isinstance(learning_rate, Real) or not 0 < float(learning_rate) < np.inf:
        raise ValueError(f"learning_rate must be 'auto' or a positive number, got {learning_rate!r}")
    return float(learning_rate) / natural, float(learning_rate) / natural
