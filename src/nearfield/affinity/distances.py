"""All pairwise distances of the data, in blocks on all cores."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from nearfield.affinity.row_metrics import HALVED, PRODUCT, changed, is_product, is_row_metric
from nearfield.checks import check_count, finite
from nearfield.io.schema import in_a_line
from nearfield.parallel import one_blas_thread, over_chunks
from nearfield.typing import Array


def metrics() -> list[str]:
    """The names that `metric` takes, beside a function of two rows."""
    from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS

    return sorted({*PAIRWISE_DISTANCE_FUNCTIONS, *_SCIPY, *_OWN} - {"nan_euclidean"})


FULL = 0.25  # of the numbers of sparse data, from which on they are no sparser than dense ones
_SCIPY = {
    "braycurtis", "canberra", "chebyshev", "correlation", "dice", "hamming", "jaccard", "mahalanobis",
    "minkowski", "rogerstanimoto", "russellrao", "seuclidean", "sokalsneath", "sqeuclidean", "yule",
}  # fmt: skip
_OF_BITS = {"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}
_OWN = {"hellinger", PRODUCT, "tanimoto"}


@one_blas_thread()
def distances(
    X: Any,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    *,
    squared: bool = False,
) -> Array:
    """The matrix of distances between all rows of X.

    Parameters
    ----------
    X : array or sparse matrix (points, columns)
        The data; with ``metric="precomputed"``, the distances themselves.
    metric : str or callable
        Any metric of `sklearn.metrics.pairwise_distances`, or "precomputed".
    metric_params : dict, optional
        Further arguments of the metric.
    n_jobs : int, optional
        Threads; None is all cores.
    squared : bool
        Whether to return the squares.

    Examples
    --------
    >>> import numpy as np
    >>> distances(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[0., 5.],
           [5., 0.]])
    """
    if isinstance(metric, str) and metric == "precomputed":
        D = check_precomputed(X)
        return D**2 if squared else D
    check_metric(metric)
    X = X if sparse.issparse(X) else np.asarray(X)
    finite(X)
    if sparse.issparse(X) and is_row_metric(metric, metric_params) and X.nnz > FULL * X.shape[0] * X.shape[1]:
        X = X.toarray()  # whose differences keep more digits than those of squares
    n = X.shape[0]
    check_count(n)
    out = np.empty((n, n))
    euclidean = isinstance(metric, str) and metric in ("euclidean", "sqeuclidean") and not metric_params
    if euclidean and not sparse.issparse(X):
        X = np.asarray(X, dtype=np.float64)
        X = X - X.mean(axis=0)  # far from the origin the differences would lose their digits

        def rows(lo: int, hi: int) -> None:
            cdist(X[lo:hi], X, "sqeuclidean", out=out[lo:hi])

        over_chunks(rows, n, n_jobs=n_jobs)
        power = (1 if metric == "euclidean" else 2) if squared else (0.5 if metric == "euclidean" else 1)
    elif (own := _own_distances(X, metric, metric_params, n_jobs)) is not None:
        out, power = own, 2 if squared else 1
    else:
        from sklearn.metrics import pairwise_distances

        out[:] = pairwise_distances(X, metric=metric, **parameters_of(metric, X, metric_params))
        check_gave(out)
        # What is computed row by row may differ in its last bit from what is computed column by column.
        out += out.T
        out *= 0.5
        power = 2 if squared else 1
    if power != 1:
        np.power(out, power, out=out)
    np.fill_diagonal(out, 0.0)
    if not np.all(np.isfinite(out)):
        raise ValueError(NOT_FINITE)
    return out


def _own_distances(
    X: Any, metric: Any, metric_params: dict[str, Any] | None, n_jobs: int | None
) -> Array | None:
    """The distances of all pairs by a metric that is ours, or that ours takes more kinds of data for."""
    from nearfield.affinity.between import of_products
    from nearfield.affinity.bits import Bits, is_bits

    if is_bits(X, metric, metric_params):
        return Bits(X, metric).among_all(n_jobs)
    if is_product(metric, metric_params) or (is_row_metric(metric, metric_params) and metric != "cosine"):
        if sparse.issparse(X) or is_product(metric):
            every = np.arange(X.shape[0])
            D = of_products(sparse.csr_array(X), metric)[0](every, every)
            return (D + D.T) / 2
        rows = changed(np.asarray(X, dtype=np.float64), metric)
        D = np.empty((len(rows), len(rows)))

        def some(lo: int, hi: int) -> None:
            cdist(rows[lo:hi], rows, "sqeuclidean" if metric in HALVED else "euclidean", out=D[lo:hi])

        over_chunks(some, len(rows), n_jobs=n_jobs)
        return D / 2 if metric in HALVED else D
    return None


NOT_FINITE = "some distances are not finite: the values are too large, scale the data down"


def check_metric(metric: Any) -> None:
    """Refuse what is no metric: neither the name of one nor a function."""
    if not isinstance(metric, str) and not callable(metric):
        told = in_a_line(repr(metric), 80)
        raise ValueError(f"metric must be a name or a function of two rows, got {told}")
    if isinstance(metric, str) and metric not in metrics():
        alike = difflib.get_close_matches(metric, metrics(), n=1)
        hint = f"did you mean {alike[0]!r}?" if alike else f"it may be {', '.join(metrics())}"
        raise ValueError(f"metric {metric!r} is not known; {hint}")


def check_parameters(metric: Any, columns: int, metric_params: dict[str, Any] | None) -> None:
    """Refuse parameters that a metric of this name does not take, or not for so many columns.

    Examples
    --------
    >>> check_parameters("minkowski", 4, {"q": 3})
    Traceback (most recent call last):
        ...
    ValueError: metric 'minkowski' cannot take 4 columns with q: see its parameters in SciPy's documentation
    """
    if not isinstance(metric, str) or not columns or not (metric_params or metric == "haversine"):
        return
    from sklearn.metrics import pairwise_distances

    params = dict(metric_params or {})
    rows = np.zeros((2, columns), dtype=bool if metric in _OF_BITS else float)
    try:
        for name in {"V", "VI"} & set(params):  # whose sizes the compiled loop of mahalanobis trusts
            params[name] = np.asarray(params[name], dtype=np.float64)
            if params[name].shape not in ((columns,), (columns, columns)):
                raise ValueError(f"{name} is not of {columns} columns")
        pairwise_distances(rows, metric=metric, **params)
    except (TypeError, ValueError) as error:
        told = f"{columns} columns{' with ' if params else ''}{', '.join(params)}"
        raise ValueError(
            f"metric {metric!r} cannot take {told}: see its parameters in SciPy's documentation"
        ) from error


def parameters_of(metric: Any, X: Any, metric_params: dict[str, Any] | None) -> dict[str, Any]:
    """The parameters of a metric for these data, whole: what it takes from them it takes from all of them."""
    params = dict(metric_params or {})
    if not isinstance(metric, str):
        return params
    if sparse.issparse(X) and metric in _SCIPY:
        if metric == "hamming":
            raise ValueError("metric 'hamming' takes sparse data of 0 and 1 alone: pass X.toarray()")
        known = "euclidean, cosine, correlation, hellinger, jaccard or manhattan"
        raise ValueError(f"metric {metric!r} takes no sparse data: use {known}, or pass X.toarray()")
    if metric == "seuclidean":
        params.setdefault("V", np.var(X, axis=0, ddof=1))
    elif metric == "mahalanobis" and "VI" not in params and "V" not in params:
        covariance = np.atleast_2d(np.cov(X.T))
        try:
            params["VI"] = np.linalg.inv(covariance).T
        except np.linalg.LinAlgError:
            raise ValueError(
                "metric 'mahalanobis' needs columns of which none is a combination of the others: leave out"
                " such columns, or reduce the data to principal components"
            ) from None
    return params


def check_gave(D: Array) -> None:
    """Refuse a metric that gives negative distances."""
    negative = D.min(initial=0.0)
    if negative < 0:
        raise ValueError(f"the metric gave a negative distance, {negative:g}: distances are 0 or more")


def check_precomputed(D: Any) -> Array:
    """A float64 copy of a distance matrix, or what is wrong with it."""
    if sparse.issparse(D) and D.shape[0] == D.shape[1]:
        stored = sparse.coo_array(D)
        pairs = np.count_nonzero(stored.coords[0] != stored.coords[1])
        if pairs < D.shape[0] * (D.shape[0] - 1):
            raise ValueError(
                f"a sparse distance matrix must hold all pairs, and this one lacks"
                f" {D.shape[0] * (D.shape[0] - 1) - pairs}: pass a dense one, or the data"
            )
    D = np.array(D.toarray() if sparse.issparse(D) else D, dtype=np.float64)
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise ValueError(f"a distance matrix must be square, got shape {D.shape}")
    finite(D)
    if D.min(initial=0.0) < 0:
        i, j = np.unravel_index(int(D.argmin()), D.shape)
        raise ValueError(f"distances cannot be negative, but the one from {i} to {j} is {D[i, j]:g}")
    gap = np.abs(D - D.T)
    if gap.max(initial=0.0) > 1e-8 * D.max(initial=0.0):
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"a distance matrix must be symmetric, but from {i} to {j} it is {D[i, j]:g} and back"
            f" {D[j, i]:g}: pass (D + D.T)/2"
        )
    np.fill_diagonal(D, 0.0)
    return D


def check_apart(D: Array) -> None:
    """Refuse data in which there is nothing to map."""
    check_count(len(D))
    if not D.max() > 0:
        raise ValueError(f"all {len(D)} points are equal: there is nothing to map, check the columns")
