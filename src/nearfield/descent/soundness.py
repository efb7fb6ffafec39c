"""Whether what was read of a model can be trusted: sizes, kinds and numbers, checked before a loop runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.distances import check_parameters, metrics
from nearfield.affinity.fitted import Fitted
from nearfield.affinity.fuzzy import FuzzyNeighbours
from nearfield.affinity.mixed import MixedFitted
from nearfield.affinity.mixing import View
from nearfield.affinity.perplexity import check_perplexity as one_or_each
from nearfield.affinity.row_metrics import is_product, is_row_metric
from nearfield.affinity.search import Lists
from nearfield.affinity.space import Products, Vectors
from nearfield.affinity.traits import Traits
from nearfield.algebra.method import Method
from nearfield.algebra.parts import Part
from nearfield.descent.placing import Reference
from nearfield.descent.schedule import check_attraction
from nearfield.descent.settings import ATTRACTIONS
from nearfield.io.schema import LARGEST, check_array, check_indices, check_number, fits

TINY = 1e-300
FLOAT32 = 1e38  # up to which it goes


def check_reference(reference: Reference, columns: int) -> None:
    """Refuse a reference that no fit of so many columns can have left."""
    fitted, held = attribute(reference, "fitted", Fitted), attribute(reference, "held")
    obstacle = attribute(reference, "obstacle")
    if not fits(obstacle, str | None) or not (obstacle or "").isprintable():
        raise ValueError("its obstacle is no line of text")
    Y = attribute(held, "Y")
    n, dimensions = Y.shape
    check_array("the map", Y, (None, None))
    if n < 2 or dimensions < 1:
        raise ValueError(f"a map of shape {Y.shape} is none")
    check_fitted(fitted, n, columns)
    check_perplexity(attribute(reference, "perplexity"), n, fitted.weights)
    name = type(held).__name__
    if name == "Projection":
        check_array("the mean", attribute(held, "mean"), (columns,))
        check_array("the axes", attribute(held, "axes"), (columns, dimensions))
    elif name == "HeldDistances":
        check_method(attribute(held, "method"), n)
        if held.method.kernel is not None:
            raise ValueError("distances are held by a method that has a kernel")
        check_number("the stretch", attribute(held, "stretch"), TINY, LARGEST)
        check_indices("the sample", attribute(held, "sample"), n, once=True)
        if not len(held.sample):
            raise ValueError("the sample has no points")
    elif name in ("HeldMap", "HeldRows"):
        check_method(attribute(held, "method"), n)
        held.method.require_kernel()
        if not fits(attribute(held, "all_pairs"), bool):
            raise ValueError("all_pairs must be true or false")
        check_number("the attraction", attribute(held, "attraction"), *ATTRACTIONS)
        check_attraction(held.method, held.attraction)
        if name == "HeldRows":
            return
        check_each("the weights", attribute(held, "weights"), n, low=1)
        check_threads(attribute(held, "n_jobs"))
        check_sums("S", attribute(held, "S"), n, low=TINY)
        check_sums("bracket", attribute(held, "bracket"), n)
        by_row = held.method.normalization == "point"
        if by_row != isinstance(held.S, np.ndarray) or by_row != isinstance(held.bracket, np.ndarray):
            raise ValueError("sums of each point belong to a method that is normalized by points")
    elif name != "Still" or obstacle is None:
        raise ValueError(f"{name} holds no map")


def check_fitted(fitted: Fitted, n: int, columns: int) -> None:
    """Refuse fitted rows that are not so many, or not of so many columns."""
    check_number("the fitted rows", attribute(fitted, "n"), n, n, int)
    check_number("the fitted columns", attribute(fitted, "columns"), columns, columns, int)
    if isinstance(fitted, MixedFitted):
        return check_views(fitted, n, columns)
    metric, params = attribute(fitted, "metric"), attribute(fitted, "metric_params")
    special = isinstance(metric, str) and metric in ("precomputed", "affinity")
    if not (callable(metric) or special or (isinstance(metric, str) and metric in metrics())):
        raise ValueError("its metric is none")
    if not fits(params, dict[str, Any] | None):
        raise ValueError("the parameters of its metric are none")
    if not special:
        check_parameters(metric, columns, params)
    check_threads(attribute(fitted, "n_jobs"))
    check_each("the weights", attribute(fitted, "weights"), n, low=1)
    check_each("the sums of affinities", attribute(fitted, "degrees"), n, low=0)
    if (fitted.degrees is None) == (metric == "affinity"):
        raise ValueError("the sums of affinities are missing, or there without any")
    flags = (attribute(fitted, "precomputed"), attribute(fitted, "affinities"))
    if flags != (special and metric == "precomputed", special and metric == "affinity"):
        raise ValueError("it does not say what was fitted: data, distances or affinities")
    check_array("the keys", attribute(fitted, "_keys"), (n, 2), np.uint64, low=0, high=2**64 - 1)
    check_number("the largest distance", attribute(fitted, "largest"), 0, LARGEST)
    check_traits(attribute(fitted, "traits", Traits), n)
    X, vectors = attribute(fitted, "_X"), attribute(fitted, "_vectors")
    if (X is None) + (vectors is None) != (2 if special else 1):
        raise ValueError("the fitted rows are missing, or there twice")
    if vectors is not None:
        check_vectors(vectors, n, columns, metric)
    elif sparse.issparse(X):
        if X.shape != (n, columns):
            raise ValueError(f"the fitted rows must have the shape {(n, columns)}, got {X.shape}")
        check_array("the fitted rows", X.data, (None,))
    elif X is not None:
        check_array("the fitted rows", X, (n, columns))


def check_views(fitted: MixedFitted, n: int, columns: int) -> None:
    """Refuse several views that are not side by side, or of other rows."""
    views, parts = attribute(fitted, "metric", tuple), attribute(fitted, "views", list)
    if not views or len(views) != len(parts) or not fits(views, tuple[View, ...]):
        raise ValueError("its views are none, or not as many as are told of")
    at = 0
    for view, part in zip(views, parts, strict=True):
        check_number("the start of a view", view.start, at, at, int)
        check_number("the end of a view", view.stop, at + 1, columns, int)
        check_number("the share of a view", view.share, TINY, 1)
        if type(part) is not Fitted or part.metric != view.metric or not fits(view.stored, bool):
            raise ValueError("the rows of a view are something else")
        check_fitted(part, n, view.stop - view.start)
        if part.precomputed or part.affinities:
            raise ValueError("a view holds distances or affinities")
        at = view.stop
    check_number("the end of the last view", at, columns, columns, int)
    for name in ("precomputed", "affinities"):
        if attribute(fitted, name) is not False:
            raise ValueError("a mix of views holds distances or affinities")
    check_threads(attribute(fitted, "n_jobs"))
    check_each("the weights", attribute(fitted, "weights"), n, low=1)
    check_array("the keys", attribute(fitted, "_keys"), (n, 2), np.uint64, low=0, high=2**64 - 1)
    check_traits(attribute(fitted, "traits", Traits), n)


def check_vectors(vectors: Any, n: int, columns: int, metric: Any) -> None:
    """Refuse rows that no search can be made in."""
    if not isinstance(vectors, Vectors):
        raise ValueError("the fitted rows are something else")
    product = isinstance(vectors, Products)
    columns += product  # one more, which brings rows to one length
    check_array(
        "the fitted rows", attribute(vectors, "X"), (n, columns), np.float32, low=-FLOAT32, high=FLOAT32
    )
    if attribute(vectors, "metric") != metric or product != is_product(metric):
        raise ValueError("the fitted rows are those of another metric")
    if product:
        check_number("the longest row", attribute(vectors, "longest"), TINY, LARGEST)
    elif not is_row_metric(metric):
        raise ValueError("the fitted rows are those of another metric")
    check_number("the number of rows", attribute(vectors, "n"), n, n, int)
    for name in ("unit", "farthest", "_factor"):
        check_number(name.strip("_"), attribute(vectors, name), TINY, LARGEST)
    if not fits(attribute(vectors, "_mean"), float) or vectors._mean != 0:
        check_array("the mean of the rows", vectors._mean, (columns,))
    check_lists(attribute(vectors, "lists", Lists), n, columns)


def check_lists(lists: Lists, n: int, columns: int) -> None:
    """Refuse lists in which a point is missing or there twice."""
    check_array("the centres", lists.centres, (None, columns), np.float32, low=-FLOAT32, high=FLOAT32)
    count = len(lists.centres)
    check_array("the order of the lists", lists.order, (n,), np.int32, low=0, high=n - 1)
    if len(np.unique(lists.order)) < n:
        raise ValueError("a point is in the lists twice")
    check_array("the starts of the lists", lists.starts, (count + 1,), np.int64, low=0, high=n)
    if count < 1 or lists.starts[0] != 0 or lists.starts[-1] != n or np.any(np.diff(lists.starts) < 0):
        raise ValueError("the lists do not begin where others end")
    check_number("the lists that are searched", lists.searched, 1, count, int)
    check_number("the recall", lists.recall, 0, 1)


def check_traits(traits: Traits, n: int) -> None:
    """Refuse traits of other points, or none that points can have."""
    check_number("the unit", traits.unit, TINY, LARGEST)
    if traits.views is not None:
        raise ValueError("its points have traits of several views, which no file holds")
    for name, values in vars(traits).items():
        if not isinstance(values, np.ndarray):
            if values is not None and name != "unit":
                raise ValueError(f"{name} must be an array")
        elif values.dtype != np.float64 or values.shape[:1] != (n,):
            raise ValueError(f"{name} must be an array of float64 of {n} points, got shape {values.shape}")
        elif not np.all(values >= 0):  # which NaN is not either; a precision may be infinite
            raise ValueError(f"{name} must hold numbers from 0 on, and holds others")
    if len({each is None for each in (traits.beta, traits.nearest, traits.total)}) > 1:
        raise ValueError("the precisions of the points are there in part")
    if traits.total is not None and not np.all((traits.total > 0) & np.isfinite(traits.total)):
        raise ValueError("total must hold positive numbers, and holds others")
    if (traits.spacing is None) != (traits.unlike is None):
        raise ValueError("the spacing of the points is there in part")


def check_method(method: Any, n: int) -> None:
    """Refuse a method whose parameters are those of another number of points."""
    if not isinstance(method, Method):
        raise ValueError("its method is none")
    for part in (method.cost, method.kernel, method.transform):
        _check_part(part, n)
    for name in method.cost.facts.bound:
        check_array(f"the {name} of the method", getattr(method.cost, name), (n,))


def _check_part(part: Any, n: int) -> None:
    for name, value in vars(part).items() if isinstance(part, Part) else ():
        if isinstance(value, np.ndarray):
            check_array(f"the {name} of the method", value, (n,))
        _check_part(value, n)


def check_sums(name: str, value: Any, n: int, low: float = -LARGEST) -> None:
    """Refuse what is neither a sum nor one for each point."""
    if isinstance(value, np.ndarray):
        check_array(name, value, (n,), low=low)
    else:
        check_number(name, value, low, LARGEST)


def check_each(name: str, value: Any, n: int, low: float) -> None:
    """Refuse what is neither None nor a number for each point."""
    if value is not None:
        check_array(name, value, (n,), low=low)


def check_perplexity(value: Any, n: int, weights: Any = None) -> None:
    """Refuse what can be no perplexity of n points."""
    others = None if weights is None else weights.sum() - 1
    if value is None or isinstance(value, (int, float, np.ndarray)):
        one_or_each(value, n, others)
    elif isinstance(value, FuzzyNeighbours):
        value.__post_init__()  # which checks its values
    elif value != "multiscale":
        if not fits(value, list[float] | tuple[float, ...]) or not value:
            raise ValueError(f"its perplexity is none of {n} points")
        for each in value:
            one_or_each(each, n, others)


def check_threads(value: Any) -> None:
    """Refuse what is no number of threads."""
    if value is not None:
        check_number("n_jobs", value, -(2**16), 2**16, int)
        if value == 0:
            raise ValueError("n_jobs must not be 0")


def attribute(thing: Any, name: str, kind: type = object) -> Any:
    """An attribute of something, if it is there and of a kind."""
    if name not in vars(thing) or not isinstance(vars(thing)[name], kind):
        raise ValueError(f"{type(thing).__name__} has no {name}, or another than it should")
    return vars(thing)[name]
