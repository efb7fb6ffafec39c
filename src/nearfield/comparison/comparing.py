"""The methods, one after the other: what each has made, how good it is, and what went wrong."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.distances import check_metric, check_precomputed
from nearfield.algebra.method import Method
from nearfield.checks import finite, whole
from nearfield.comparison.progress import Progress
from nearfield.comparison.result import Comparison, Outcome
from nearfield.comparison.wanted import Wanted, wanted
from nearfield.descent.run import Run
from nearfield.descent.starts import classical_scaling, principal_components, random_numbers
from nearfield.judge.labels import class_codes
from nearfield.judge.quality import NEIGHBOURS, neighbours_of, quality
from nearfield.parallel import threads
from nearfield.show.palette import Classes, classes_or_numbers

FEWEST = 4  # points that can be judged
MOST = 500  # iterations of a method: most are done before, and what comes later hardly shows in figures


def compare(
    X: Any,
    methods: Any = None,
    *,
    labels: Any = None,
    perplexity: Any = None,
    metric: Any = "euclidean",
    max_iter: int = MOST,
    n_neighbors: int | None = None,
    title: str = "data",
    repeat: str | None = None,
    verbose: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Make maps of the same data by several methods, judge them alike, and tell of them in a report.

    The methods run one after the other. One that fails is told of in its place and the rest go on. Ctrl-C
    ends the work and keeps the maps that are finished.

    Parameters
    ----------
    X : array, sparse matrix or data frame (points, columns)
        The data; distances if `metric` is "precomputed".
    methods : sequence or mapping, optional
        Names, also with parameters such as "nerv(lam=0.3)"; `Method` objects; and pairs of a name of one's
        own with a method, or of a name of the catalogue with a dict of its parameters. "pca" is the map that
        the others are laid on and compared with. By default ten methods that differ.
    labels : sequence, optional
        What colours the points: classes, whose recovery is judged too, or numbers.
    perplexity : float, list or "multiscale", optional
        How many neighbours a point has, for methods that take one; those of several scales keep their own.
    metric : str or callable
        Of the data: any metric of scikit-learn, or "precomputed".
    max_iter : int
        A ceiling on the iterations of each method.
    n_neighbors : int, optional
        How many neighbours the local figures look at; 10 by default.
    title : str
        What the data are called in the report.
    repeat : str, optional
        What the report says was run to make it; by default this call.
    verbose : bool
        Whether to show progress.
    random_state : int
        The same seed gives the same maps, on any number of threads.
    n_jobs : int or None
        Threads; None is all cores.

    Returns
    -------
    Comparison
        With `maps`, `table()`, `to_dict()` and `save("report.html")`.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> comparison = nf.compare(X, ["pca", "tsne"])
    >>> comparison.best["seconds"]
    ['pca']
    >>> comparison["tsne"].Y.shape
    (60, 2)
    """
    # What is wrong for all methods is said at once, and not by each of them after its work.
    chosen = wanted(methods)
    X = _checked(X, metric)
    classes = _classes(labels, X.shape[0])
    max_iter, n_neighbors = whole("max_iter", max_iter, 1), neighbours_of(n_neighbors, X.shape[0])
    random_numbers(random_state)
    threads(n_jobs)
    options = {"perplexity": perplexity, "metric": metric, "random_state": random_state, "n_jobs": n_jobs}
    judging = {"metric": metric, "n_neighbors": n_neighbors, "n_jobs": n_jobs}

    outcomes = {name: Outcome(name, method) for name, method in chosen.items()}
    at, interrupted = "", False
    with Progress(len(chosen), max_iter, verbose) as progress:
        try:
            for at, method in chosen.items():
                progress.begin(at)
                outcomes[at] = _outcome(at, method, X, classes, max_iter, options, judging, progress)
                progress.end(outcomes[at])
        except KeyboardInterrupt:
            interrupted = True
            outcomes[at] = Outcome(at, chosen[at], "interrupted", "interrupted before it was finished")
    made = sum(each.status == "made" for each in outcomes.values())
    if interrupted:
        if not made:
            raise KeyboardInterrupt
        _warn(f"interrupted during {at}: the {made} of {len(chosen)} maps that were finished are kept")
    for each in outcomes.values():
        if each.status == "failed":
            _warn(f"{each.name} failed: {each.error}")
    settings = {
        "methods": list(chosen),
        "perplexity": _plain(perplexity),
        "metric": _plain(metric),
        "max_iter": max_iter,
        "n_neighbors": n_neighbors,
        "random_state": _plain(random_state),
    }
    repeat = _call(chosen, settings) if repeat is None else repeat
    return Comparison(tuple(outcomes.values()), labels, title, X.shape[1], settings, repeat, interrupted)


def _checked(X: Any, metric: Any) -> Any:
    """The data as a matrix of numbers, or what keeps them from being judged."""
    if isinstance(metric, str) and metric == "affinity":
        raise ValueError("maps are judged by distances, and affinities have none: pass data or distances")
    if sparse.issparse(X):
        if isinstance(metric, str) and metric == "precomputed":
            raise ValueError("maps are judged by all distances: pass a full matrix of them")
        X = sparse.csr_array(X)
    else:
        try:
            X = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError("X holds values that are not numbers: leave out columns of text") from error
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, points and columns, got shape {X.shape}")
    if X.shape[0] < FEWEST:
        raise ValueError(f"methods can be compared on {FEWEST} points or more, got {X.shape[0]}")
    finite(X)
    if isinstance(metric, str) and metric == "precomputed":
        return check_precomputed(X)
    check_metric(metric)
    return X


def _classes(labels: Any, n: int) -> Any:
    """The labels, if they are classes that neighbours can vote for."""
    if labels is None:
        return None
    if len(labels) != n:
        raise ValueError(f"there are {n} points but {len(labels)} labels: give one for each point")
    if not isinstance(classes_or_numbers(labels), Classes):
        return None
    class_codes(labels, n)  # which refuses what is neither text nor numbers
    return labels


def _outcome(
    name: str,
    method: Method | None,
    X: Any,
    classes: Any,
    max_iter: int,
    options: dict[str, Any],
    judging: dict[str, Any],
    watch: Callable[[Run], None],
) -> Outcome:
    """Make and judge one map. Whatever goes wrong is kept with it: the other methods may be hours of work."""
    try:
        began = time.perf_counter()
        if method is None:
            found: dict[str, Any] = _principal(X, options)
        else:
            found = _descend(method, X, max_iter, options, watch)
        seconds = time.perf_counter() - began
        judged = quality(X, found["Y"], classes, **judging)
        return Outcome(name, method, "made", quality=judged, seconds=seconds, **found)
    except Exception as error:
        return Outcome(name, method, "failed", _told(error), error)


def _principal(X: Any, options: dict[str, Any]) -> dict[str, Any]:
    random = random_numbers(options["random_state"])
    metric = options["metric"]
    found: dict[str, Any] = {"converged": True, "plan": "no cost to minimise: a projection"}
    if isinstance(metric, str) and metric == "precomputed":
        return found | {"Y": classical_scaling(X, 2, random)}
    Y = principal_components(X, 2, random, options["n_jobs"])
    spread = float(X.var(axis=0).sum()) if not sparse.issparse(X) else 0.0
    variance = float(Y.var(axis=0).sum()) / spread if spread > 0 else None
    return found | {"Y": Y, "variance": variance}


def _descend(
    method: Method, X: Any, max_iter: int, options: dict[str, Any], watch: Callable[[Run], None]
) -> dict[str, Any]:
    if method.kernel is None or method.scales:
        options = options | {"perplexity": None}  # distances have none; several scales are the method's own
    run = Run(X, method, **options)
    converged = run.converge(max_iter, callback=watch)
    notes = [run.diagnosis() or ""]
    if not converged:
        notes.append(f"it had not converged after {run.iteration} iterations: a larger max_iter may help")
    return {
        "Y": run.Y,
        "iterations": run.iteration,
        "converged": converged,
        "cost": float(run.cost),
        "plan": str(run.plan),
        "notes": tuple(note for note in notes if note),
    }


def _told(error: Exception) -> str:
    """An error in one line; those that are no message to a person with their kind."""
    text = " ".join(str(error.args[0] if isinstance(error, KeyError) and error.args else error).split())
    plain = isinstance(error, ValueError | KeyError | OSError | MemoryError) and text
    return text if plain else f"{type(error).__name__}: {text}".rstrip(": ")


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=3)


def _plain(value: Any) -> Any:
    """A setting that JSON knows."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(each) for each in np.asarray(value).tolist()]
    return getattr(value, "__name__", repr(value))


def _call(chosen: Wanted, settings: dict[str, Any]) -> str:
    """What to run to do the same again."""
    usual = {"perplexity": None, "metric": "euclidean", "max_iter": MOST, "n_neighbors": NEIGHBOURS}
    usual["random_state"] = 0
    given = [f"{name}={settings[name]!r}" for name, value in usual.items() if settings[name] != value]
    return f"nf.compare({', '.join(['X', repr(list(chosen)), *given])})"
