"""The guide: t-SNE lays a map out, and then the method's own cost takes over.

From a small start a map unfolds into one of countless minima, most of them poor. Springs of heavy tails and
of bounded divergences, like Jensen and Shannon's, let go of neighbours that happened to part first; those of
a Gaussian kernel hold them, but cannot pass through the crowd in between. t-SNE has an attraction that can be
exaggerated, which brings neighbours together while they can still pass through one another, and the quickest
iterations of all. So it goes first: from its map the others end lower than from a start of their own;
docs/mathematics.md, *From a start to a map*, has figures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.strata import Sampled
from nearfield.algebra.costs import KL
from nearfield.algebra.kernels import Student
from nearfield.algebra.method import Method
from nearfield.descent.stages import Stages
from nearfield.engine.base import Engine
from nearfield.typing import Array

TSNE = Method(KL(), Student(), "pair")
STEP = 2**0.5  # the ratio of one size of the map that is tried to the next
STEPS = 10  # sizes that are tried, down at the most; up a third as many, because the grid grows


def needs_guide(method: Method) -> bool:
    """Whether a method is better off with a map to start from: with a kernel, all but t-SNE and its kin.

    Examples
    --------
    >>> import nearfield as nf
    >>> [name for name in ("tsne", "asne", "jse", "umap", "msjse", "mds") if needs_guide(nf.method(name))]
    ['asne', 'jse', 'umap']
    """
    one_scale = method.kernel is not None and method.precisions == (1.0,) and not method.climbs
    return one_scale and not method.bounded_cross_entropy


class Guide(Stages):
    """The two engines of a guided descent, t-SNE's and the method's own.

    Parameters
    ----------
    own, guide : Engine
        Of the method, and of t-SNE.
    attraction : float
        How many times as strong it is to the end as in the method itself.
    """

    def __init__(self, own: Engine, guide: Engine, attraction: float = 1.0) -> None:
        self._own, self._attraction, self.guide = own, attraction, guide
        super().__init__(guide)

    def __len__(self) -> int:
        return 2

    def enter(self, stage: int) -> Engine:
        """The guide's engine first, then the method's own."""
        return self._own if stage else self.first

    def own(self, engine: Engine) -> Engine:
        return self._own

    def resized(self, Y: Array) -> Array:
        """The guide's map at the size at which it costs the least."""
        unit = self._own.method.kernel.width / TSNE.kernel.width  # type: ignore[union-attr]
        return best_size(self._own, Y, self._attraction, unit)


def best_size(engine: Engine, Y: Array, attraction: float = 1.0, unit: float = 1.0) -> Array:
    """A map at the size at which it costs the least, by steps from `unit` times its own."""

    def cost(step: int) -> float:
        value = engine.evaluate(unit * STEP**step * Y, exaggeration=attraction).cost_with(attraction)
        return value if np.isfinite(value) else np.inf

    best, lowest = 0, cost(0)
    for way, most in ((1, STEPS // 3), (-1, STEPS)):
        for step in range(way, way * (most + 1), way):
            value = cost(step)
            if value >= lowest:
                break
            best, lowest = step, value
        if best:
            break
    return unit * STEP**best * Y


def joint(method: Method, target: Any, mass: float) -> Any:
    """The P of t-SNE from the target of another method: symmetric, and all pairs sum to one."""
    if method.target_kind == "joint":
        return target
    P = target.folded() if isinstance(target, Sampled) else target
    P = (P + P.T) / (2 * mass)
    return sparse.csr_array(P) if sparse.issparse(P) else P
