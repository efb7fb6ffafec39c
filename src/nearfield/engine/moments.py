"""The moments engine: squared differences of squared distances, exactly, without a single pair.

A squared distance is a polynomial of the coordinates, so the sums over pairs factor into sums over points.
With x and y centred, a = |x|², b = |y|², c = a - b and C = Σ c:

    r² - d² = c_i + c_j - 2 (x_i·x_j - y_i·y_j)
    value     2N Σ c² + 2C² + 4 (|XᵀX|² - 2 |XᵀY|² + |YᵀY|²)             with Frobenius norms
    gradient  -8 [(N c_i + C) y_i - Σ c_j y_j + 2 (x_i XᵀY - y_i YᵀY)]   at point i

which is O(N·D·P) an evaluation for D columns and P dimensions. |XᵀX|² is a constant of the data and computed
once. What cancels in the value is at most Σ r⁴, so its rounding error is some 1e-15 of the value of a dot.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.source import Source
from nearfield.algebra.method import Method
from nearfield.algebra.transforms import Identity, Square
from nearfield.checks import check_count, finite
from nearfield.engine.base import Engine, Evaluation, check_map
from nearfield.engine.task import Task
from nearfield.parallel import over_chunks
from nearfield.typing import Array

BLOCK = 256  # rows of XᵀX that are held at a time
SMALL = 2**23  # bytes: whatever has no term of its own


def squares_differ(method: Method) -> bool:
    """Whether a method's cost is Σ (r² - d²)²: its facts, whatever it is called."""
    plain = method.kernel is None and method.normalization == "none"
    power = (method.cost.facts.power_difference, method.transform)
    return plain and power in ((2.0, Identity()), (1.0, Square()))


class Moments(Engine):
    """Value and gradient of Σ (r² - d²)² from the moments of the data.

    Parameters
    ----------
    method : Method
        One for which `squares_differ`.
    X : array or sparse matrix (points, columns)
        The data themselves, whose Euclidean distances are the target.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X, method = np.random.default_rng(0).normal(size=(50, 4)), nf.method("sstress")
    >>> value, _ = method.value_and_gradient(X[:, :2], method.target(X))
    >>> bool(np.isclose(Moments(method, X).evaluate(X[:, :2]).value, value, rtol=1e-12))
    True
    """

    name, precedence = "moments", 10
    summary = "squared Euclidean distances without pairs"
    matches = "data"
    relative_error = 1e-13

    @classmethod
    def obstacle(cls, task: Task) -> str | None:
        if not squares_differ(task.method):
            return f"{task.method} is not the squared difference of squared distances"
        if task.weighted:
            return "it knows of no weights of points"
        if not task.euclidean:
            return "it needs coordinates, metric 'euclidean' and a start other than 'spectral'"
        return None

    @classmethod
    def reason(cls, task: Task) -> str:
        return "exact without pairs: squared Euclidean distances are sums of moments"

    @classmethod
    def memory(cls, task: Task) -> int:
        numbers = task.n * task.columns if task.stored is None else 2 * task.stored
        return 24 * numbers + 200 * task.n * task.n_components + SMALL

    @classmethod
    def of(
        cls, method: Method, target: Source, *, n_jobs: int | None, accuracy: float, weights: Array | None
    ) -> Engine:
        return cls(method, target.X, n_jobs)

    def __init__(self, method: Method, X: Any, n_jobs: int | None = None) -> None:
        if not squares_differ(method):
            raise ValueError(
                f"the moments engine is for squared differences of squared distances, not {method}"
            )
        finite(X)
        check_count(X.shape[0])
        self.method, self.n_jobs = method, n_jobs
        self.n, self.mass = X.shape[0], float(X.shape[0])
        if sparse.issparse(X):  # which centring would fill: the mean is left for later
            X = sparse.csr_array(X, dtype=np.float64)
            mean = np.asarray(X.mean(axis=0)).ravel()
        else:
            X = np.asarray(X, dtype=np.float64)
            X = X - X.mean(axis=0)
            mean = np.zeros(X.shape[1])
        self.X, self.mean = X, mean
        shift = X @ mean
        self.a = _squares(X) - 2 * shift + mean @ mean
        if not self.a.max() > 0:
            raise ValueError(f"all {self.n} points are equal: there is nothing to map, check the columns")
        self.mean_square = 2 * float(self.a.mean())  # of r over all pairs
        self.constant = self._gram() - 2 * self.n * (shift @ shift) + (self.n * (mean @ mean)) ** 2
        if not np.isfinite(self.constant):
            raise ValueError("some squares are not finite: the values are too large, scale the data down")

    def _gram(self) -> float:
        """|XᵀX|², which is |XXᵀ|² too, of the data as they are, a few of its rows at a time."""
        if sparse.issparse(self.X):
            A = sparse.csr_array(self.X.T)
        else:
            A = self.X if self.X.shape[0] < self.X.shape[1] else np.ascontiguousarray(self.X.T)

        def rows(lo: int, hi: int) -> float:
            blocks = range(lo, hi, BLOCK)
            return float(sum(_squares(A[k : min(k + BLOCK, hi)] @ A.T).sum() for k in blocks))

        return sum(over_chunks(rows, A.shape[0], n_jobs=self.n_jobs))

    def row(self, i: int) -> tuple[Array, Array]:
        """The others, and their squared distances."""
        one = self.X[[i]].toarray().ravel() if sparse.issparse(self.X) else self.X[i]
        products, squares = np.asarray(self.X @ one), _squares(self.X)
        return np.arange(self.n), squares + squares[i] - 2 * products

    @np.errstate(over="ignore", invalid="ignore")
    def evaluate(
        self, Y: Array, *, exaggeration: float = 1.0, want_value: bool = True, method: Method | None = None
    ) -> Evaluation:
        """The method's value and gradient at Y."""
        if exaggeration != 1:
            raise ValueError("exaggeration strengthens a kernel's attraction; a cost of distances has none")
        Y = check_map(Y, self.n)
        Y = Y - Y.mean(axis=0)
        c = self.a - _squares(Y)
        C = float(c.sum())

        @np.errstate(over="ignore", invalid="ignore")  # a map that ran away: whoever called sees it
        def moments(lo: int, hi: int) -> tuple[Array, Array, Array]:
            part = Y[lo:hi]
            return self.X[lo:hi].T @ part, part.T @ part, c[lo:hi] @ part

        # XᵀY of centred Y is the same whatever the mean of X.
        XY, YY, cY = (
            sum(parts) for parts in zip(*over_chunks(moments, self.n, n_jobs=self.n_jobs), strict=True)
        )
        offset = 2 * (self.mean @ XY) + cY
        gradient = np.empty_like(Y)

        @np.errstate(over="ignore", invalid="ignore")
        def forces(lo: int, hi: int) -> None:
            part = Y[lo:hi]
            pull = (self.n * c[lo:hi] + C)[:, None] * part + 2 * (self.X[lo:hi] @ XY - part @ YY) - offset
            gradient[lo:hi] = -8 * pull

        over_chunks(forces, self.n, n_jobs=self.n_jobs)
        value = np.nan
        if want_value:
            gram = self.constant - 2 * float(np.sum(XY**2)) + float(np.sum(YY**2))
            value = 2 * self.n * float(c @ c) + 2 * C * C + 4 * max(gram, 0.0)
        return Evaluation(value, value, gradient)


def _squares(X: Any) -> Array:
    """The squared length of every row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)
