"""What an engine gives, and what it is given: the evaluation, and the target made ready for a method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from nearfield.affinity.copies import check_weights, row_sums
from nearfield.affinity.targets import check_target, is_symmetric
from nearfield.algebra.method import Method
from nearfield.engine.share import WHOLE, Share
from nearfield.engine.stiffness import Stiffness
from nearfield.engine.task import Task
from nearfield.typing import Array


class RunAway(FloatingPointError, ValueError):
    """A map so wide beside its kernel that an engine cannot evaluate it."""


@dataclass(frozen=True)
class Evaluation:
    """The cost at a map.

    Attributes
    ----------
    value : float
        What is being minimised: the cost, and the exaggerated attraction if there is any. NaN if the
        engine was told that nobody asks.
    cost : float
        The cost alone.
    crossed : float
        -Σ p log w, of which exaggeration adds more; NaN where nobody asked, or there is no exaggeration.
    gradient : array (points, dimensions)
        Of `value` in the coordinates.
    parameters : dict
        The derivative of `value` in each learned parameter of the kernel.
    """

    value: float
    cost: float
    gradient: Array
    parameters: dict[str, Any] = field(default_factory=dict)
    crossed: float = float("nan")

    def cost_with(self, attraction: float) -> float:
        """The cost with attraction that is so many times as strong to the end."""
        return self.cost if attraction == 1 else self.cost + (attraction - 1) * self.crossed


class Engine:
    """Value and gradient of one method against one target; and, of the class, what it accepts and takes.

    A new engine is a class of this kind in a module of this folder, and nothing else: the plan finds it.

    Attributes
    ----------
    name : str
        By which it is asked for.
    summary : str
        What it computes, in a few words.
    precedence : int
        Which of several that can and pay is chosen: the lowest. The last can everything.
    matches : {"all pairs", "neighbours", "data"}
        What its target is: P or distances of all pairs, P on the nearest neighbours, or the data themselves.
    complete : bool
        Whether all pairs have a part in the cost, and not some that were drawn to stand for them.
    relative_error : float
        The share of a value by which it can err.
    share : Share
        Which of the points it has: what it gives of points is of these, and sums are over all.
    """

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    precedence: ClassVar[int] = 0
    matches: ClassVar[str] = "all pairs"
    complete: ClassVar[bool] = True
    mean_square: float  # of the distances, where the target is the data
    relative_error: ClassVar[float]
    method: Method
    mass: float
    weights: Array | None = None
    share: Share = WHOLE

    @classmethod
    def obstacle(cls, task: Task) -> str | None:
        """The fact that keeps it from a task, or None."""
        raise TypeError(f"{cls.__name__} does not say what it accepts")

    @classmethod
    def suits(cls, task: Task) -> bool:
        """Whether it is made for tasks of this kind, so that it is worth telling what keeps it from one."""
        return False

    @classmethod
    def pays(cls, task: Task) -> bool:
        """Whether it is worth its while, if the choice is left to the plan."""
        return True

    @classmethod
    def reason(cls, task: Task) -> str:
        """Why it is the right one, in a few words."""
        raise TypeError(f"{cls.__name__} does not say why")

    @classmethod
    def memory(cls, task: Task) -> int:
        """The bytes that it needs at most, the target included."""
        raise TypeError(f"{cls.__name__} does not say what memory it takes")

    @classmethod
    def seconds(cls, task: Task) -> float:
        """What an iteration takes, roughly; 0 where nothing grows with the number of pairs."""
        return 0.0

    @classmethod
    def of(
        cls, method: Method, target: Any, *, n_jobs: int | None, accuracy: float, weights: Array | None
    ) -> Engine:
        """The engine of a method and a target of the kind that it matches."""
        raise TypeError(f"{cls.__name__} does not say how it is built")

    def evaluate(
        self, Y: Array, *, exaggeration: float = 1.0, want_value: bool = True, method: Method | None = None
    ) -> Evaluation:
        """At the map Y; `method` is the same one with other values of its learned parameters."""
        raise TypeError(f"{type(self).__name__} does not define evaluate")

    def sums(self, Y: Array, method: Method | None = None) -> tuple[Any, Any]:
        """S and Σ G q at Y, which new points find as they are: of all pairs, or of each point."""
        raise TypeError(f"{type(self).__name__} does not define sums")

    def stiffness(self, Y: Array, exaggeration: float = 1.0) -> Stiffness:
        """The attraction at Y, for steps that are implicit in it."""
        raise TypeError(f"{type(self).__name__} does not define stiffness")

    def row(self, i: int) -> tuple[Any, Any]:
        """What point i is tied to, and the target of each tie."""
        raise TypeError(f"{type(self).__name__} does not define row")


@dataclass(frozen=True)
class Bound:
    """A target as a method uses it: P, weights or (transformed, normalized) distances.

    Attributes
    ----------
    p : array or csr_array
        What q is compared with.
    factor : float
        The constant before the cost.
    mass : float
        M = Σ p: 1 for pair, N for point, Σ v for none. The gradient at a point is of order M/N.
    symmetric : bool
        Whether p_ij = p_ji.
    weights : array or None
        How many copies each point stands for; sums over pairs are then sums over pairs of copies.
    """

    p: Any
    factor: float
    mass: float
    symmetric: bool
    weights: Array | None = None


def bind(method: Method, target: Any, weights: Any = None) -> tuple[Method, Bound]:
    """Check a target and make it ready; kernels that depend on it (importance weights) are filled in."""
    weights = None if weights is None else check_weights(weights, np.shape(target)[0])
    p = check_target(method, target, weights)
    if method.kernel is None:
        p = method.transform.value(p)
        if method.normalization != "none":
            sums = row_sums(p, weights)[:, None] if method.normalization == "point" else _total(p, weights)
            if not np.all(sums > 0):
                raise ValueError("all distances are zero, so they cannot be normalized: use method 'mds'")
            p = p / sums
    symmetric = is_symmetric(p)
    if method.normalization in ("pair", "joint") and not symmetric:
        raise ValueError(
            f'normalization "{method.normalization}" needs a symmetric P: pass (P + P.T)/2, or use "point"'
        )
    total = _total(p, weights)
    if method.kernel is not None:
        sums, n = row_sums(p, weights), float(p.shape[0] if weights is None else weights.sum())
        method = method._with(kernel=method.kernel.bound_to(sums), cost=method.cost.bound_to(sums, n))
    mass = total if method.kernel is not None else float(p.shape[0] if weights is None else weights.sum())
    return method, Bound(p, method.cost.factor(total), mass, symmetric, weights)


def _total(p: Any, weights: Array | None) -> float:
    """Σ p over all pairs of copies."""
    return float(p.sum() if weights is None else weights @ row_sums(p, weights))


def check_map(Y: Any, n: int) -> Array:
    """The map as float64, or what is wrong with it."""
    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim != 2 or Y.shape[0] != n or Y.shape[1] == 0:
        raise ValueError(f"Y must have shape ({n}, dimensions) to go with the target, got {Y.shape}")
    if not np.all(np.isfinite(Y)):
        raise ValueError("Y contains NaN or infinity")
    return Y
