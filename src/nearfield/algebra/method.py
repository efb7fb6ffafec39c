"""A method: cost, kernel, normalization, transform and scales. It says *what* is minimised; plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from nearfield.algebra.costs.base import Cost
from nearfield.algebra.kernels.base import Kernel
from nearfield.algebra.parts import Part
from nearfield.algebra.transforms import Identity, Square, Transform
from nearfield.typing import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NORMALIZATIONS = ("pair", "point", "joint", "none")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Method(Part):
    """What is minimised: the chain C → q → w → f → d → y, link by link.

    | | |
    | --- | --- |
    | the general problem | minimise C(P, Q) over Y, with q = w/S, w = w(f(d(Y))) |
    | t-SNE | ``Method(KL(), Student(), "pair")`` |
    | SNE | ``Method(KL(), Gaussian(), "point")`` |
    | JSE | ``Method(JensenShannon(0.5), Gaussian(), "point")`` |
    | generalized KL on bare weights | ``Method(GeneralizedKL(), Gaussian(), "none")`` |
    | metric MDS | ``Method(Stress())`` |
    | MDS of normalized distances | ``Method(Stress(), normalization="pair")`` |
    | MDS of transformed distances | ``Method(Stress(), transform=Square())`` |

    Parameters
    ----------
    cost : Cost
        From `nearfield.costs`, or one's own.
    kernel : Kernel or None
        From `nearfield.kernels`, or one's own. None leaves the link out: w = f, a cost of distances.
    normalization : {"pair", "point", "joint", "none"}, optional
        q = w/S with S the sum over all pairs, or over a row; "joint" is "pair" with (w_ij + w_ji)/2 in
        place of w_ij, for kernels that are not symmetric; "none" leaves the link out. By default "pair"
        with a kernel and "none" without.
    transform : Transform, optional
        f(d): d² with a kernel and d without, by default.
    scales : tuple of float, "auto", "transfer" or "data"
        Precisions β_u: Q is the mean of the Q_u, each with w(β_u f) and sums of its own. "auto" is one for
        each of the perplexities of the data, to the measure of the start; "transfer" takes those of the data
        themselves, the median over the points, for maps of the size of the data; "data" leaves the kernel
        as it is, and says that several perplexities are the method's own.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.Method(nf.costs.KL(), nf.kernels.Student(), "pair") == nf.method("tsne")
    True
    """

    cost: Cost
    kernel: Kernel | None
    normalization: str
    transform: Transform
    scales: tuple[float, ...] | str = ()

    def __init__(
        self,
        cost: Cost,
        kernel: Kernel | None = None,
        normalization: str = "",
        transform: Transform | None = None,
        scales: Iterable[float] | str = (),
    ) -> None:
        if not isinstance(cost, Cost):
            raise TypeError(f"cost must be a nearfield.costs.Cost, got {cost!r}")
        if kernel is not None and not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a nearfield.kernels.Kernel or None, got {kernel!r}")
        # What was left out is filled in here, so that whoever reads a method finds it there.
        values = {
            "cost": cost,
            "kernel": kernel,
            "normalization": normalization or ("none" if kernel is None else "pair"),
            "transform": transform or (Identity() if kernel is None else Square()),
            "scales": scales if isinstance(scales, str) else tuple(float(s) for s in scales),
        }
        vars(self).update(values)
        if self.normalization not in NORMALIZATIONS:
            raise ValueError(
                f"normalization must be one of {', '.join(NORMALIZATIONS)}, got {self.normalization!r}"
            )
        self._check()

    def _check(self) -> None:
        cost = type(self.cost).__name__
        if self.kernel is None:
            if self.normalization == "joint":
                raise ValueError('distances are symmetric: use normalization "pair" in place of "joint"')
            if self.scales:
                raise ValueError("scales are widths of a kernel, and a cost of distances has none")
            admitted = {"distances"} | ({"probabilities"} if self.normalization != "none" else set())
        else:
            admitted = {"weights" if self.normalization == "none" else "probabilities"}
            if self.normalization == "pair" and not self.kernel.facts.symmetric:
                raise ValueError(f'{self.kernel!r} is not symmetric: use normalization "joint" or "point"')
            if self.cost.facts.within_one and not self.kernel.facts.within_one:
                raise ValueError(f"{cost} needs weights up to 1, and those of {self.kernel!r} may be larger")
            if self.cost.facts.bound and (self.scales or not self.kernel.facts.symmetric):
                raise ValueError(f"{cost} has charges of points: give it a symmetric kernel of one scale")
        if not admitted & self.cost.facts.domains:
            raise ValueError(
                f"{cost} is a cost of {' or '.join(sorted(self.cost.facts.domains))}, but this composition"
                f" (kernel {self.kernel!r}, normalization {self.normalization!r}) gives it"
                f" {' or '.join(sorted(admitted))}"
            )
        if isinstance(self.scales, str) and self.scales not in ("auto", "transfer", "data"):
            raise ValueError(f"scales must be precisions, 'auto', 'transfer' or 'data', got {self.scales!r}")
        if not all(0 < s < np.inf for s in self.precisions):
            raise ValueError(f"scales must be positive precisions, got {self.scales!r}")

    @property
    def precisions(self) -> tuple[float, ...]:
        """The precisions of the kernel: those of the scales where they are known, and otherwise 1 alone."""
        return (1.0,) if isinstance(self.scales, str) or not self.scales else self.scales

    @property
    def climbs(self) -> bool:
        """Whether the map has a scale for each perplexity of the data, which enter one by one."""
        return self.scales in ("auto", "transfer")

    @property
    def bounded_cross_entropy(self) -> bool:
        """Whether it is a normalized cross-entropy whose forces a heavy tail keeps bounded, as in t-SNE."""
        if self.kernel is None or self.normalization == "none":
            return False
        return self.cost.facts.cross_entropy and not self.kernel.facts.underflows

    @property
    def target_kind(self) -> str:
        """What `target` gives: "joint" P, "row" P, "weights" or "distances"."""
        if self.kernel is None:
            return "distances"
        return {"none": "weights", "point": "row"}.get(self.normalization, "joint")

    @property
    def learned(self) -> tuple[str, ...]:
        """The kernel's parameters that are learned along with the map."""
        return self.kernel.learned if self.kernel is not None else ()

    def require_kernel(self) -> Kernel:
        """The kernel, for whoever cannot do without one."""
        if self.kernel is None:
            raise ValueError(f"{self} is a cost of distances and has no kernel: give the method one")
        return self.kernel

    def with_parameters(self, **parameters: Any) -> Self:
        """The same method with other values of the kernel's parameters."""
        kernel = self.require_kernel()
        unknown = [name for name in parameters if not hasattr(kernel, name)]
        if unknown:
            raise ValueError(f"{kernel!r} has no parameter {unknown[0]!r}")
        kernel = kernel._with(**parameters)
        if hasattr(kernel, "__post_init__"):
            kernel.__post_init__()  # which checks the values
        return self._with(kernel=kernel)

    def __str__(self) -> str:
        parts = [repr(self.cost)]
        if self.kernel is not None:
            parts.append(repr(self.kernel))
        if self.transform != (Identity() if self.kernel is None else Square()):
            parts.append(repr(self.transform))
        if self.normalization != "none":
            parts.append(self.normalization)
        if self.scales:
            names = {
                "auto": "all scales",
                "transfer": "the data's own scales",
                "data": "all scales of the data",
            }
            known = isinstance(self.scales, str)
            parts.append(names[str(self.scales)] if known else f"{len(self.scales)} scales")
        return " · ".join(parts)

    def target(
        self,
        X: Any,
        *,
        perplexity: Any = None,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        weights: Any = None,
        n_jobs: int | None = None,
    ) -> Array | csr_array:
        """P, weights or distances of the data, as the method needs them.

        Parameters
        ----------
        X : array, sparse matrix or data frame (points, columns)
            The data; with ``metric="precomputed"`` the distances of all pairs, or those to neighbours alone:
            a sparse matrix in which what is stored in row i are the distances from i (stored zeros too, the
            diagonal not), or a tuple (indices, distances) of two arrays (points, neighbours), in which -1 is
            an empty place; with ``metric="affinity"`` a ready P, or weights, dense or sparse.
        perplexity, metric, metric_params, weights, n_jobs
            See `nearfield.Run`. Of several perplexities it is the mean over them.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> P = nf.method("tsne").target(np.random.default_rng(0).normal(size=(20, 5)), perplexity=5)
        >>> P.shape, round(float(P.sum()), 12)
        ((20, 20), 1.0)
        """
        from nearfield.affinity.rungs import Rungs
        from nearfield.affinity.source import Source
        from nearfield.affinity.targets import target

        found = target(Source.of(X, metric, metric_params, weights, n_jobs), self, perplexity)
        return found.target() if isinstance(found, Rungs) else found

    def value_and_gradient(
        self,
        Y: Any,
        target: Any,
        *,
        exaggeration: float = 1.0,
        weights: Any = None,
        n_jobs: int | None = None,
    ) -> tuple[float, Array]:
        """The cost and its gradient at the map Y, exactly, in float64; see `nearfield.Run` for weights.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> rng = np.random.default_rng(0)
        >>> method = nf.method("mds")
        >>> X = rng.normal(size=(20, 2))
        >>> value, gradient = method.value_and_gradient(X, method.target(X))
        >>> value < 1e-20, gradient.shape
        (True, (20, 2))
        """
        from nearfield.engine.exact.chain import value_and_gradient

        return value_and_gradient(self, Y, target, exaggeration=exaggeration, weights=weights, n_jobs=n_jobs)
