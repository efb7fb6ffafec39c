"""Landmarks: the rows that stand for all others while a map is made, and how they are chosen."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from nearfield.affinity.source import Source
from nearfield.io.chunked import Chunked, block_rows

CHOICES = ("random", "thinned")
CANDIDATES = 4  # for each landmark, where dense regions are thinned
PILOT = 10_000  # of the candidates, by whose distances the density at all of them is known
NEAREST = 10  # of the pilot, how far it is to which
FEWEST = 4  # rows of which there is something to choose


def check_choice(name: str, value: Any) -> None:
    """Refuse what is no way of choosing."""
    if value not in CHOICES:
        raise ValueError(f"{name} must be 'random' or 'thinned', got {value!r}")


def check_landmarks(name: str, value: Any) -> None:
    """Refuse what is neither a number of rows nor the numbers of some."""
    if value is None:
        return
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= FEWEST:
        return
    told = np.asarray(value)
    if told.ndim != 1 or told.dtype.kind not in "iu" or len(told) < FEWEST:
        raise ValueError(
            f"{name} must be how many rows, at least {FEWEST}, or an array of their numbers,"
            f" got {value!r:.80}"
        )


def chosen(
    rows: Chunked,
    landmarks: Any,
    choice: str,
    random: np.random.RandomState,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Any:
    """The numbers of the landmarks, in the order of the rows.

    Parameters
    ----------
    rows : Chunked
        All rows.
    landmarks : int or array of int
        How many, at most all; or which.
    choice : {"random", "thinned"}
        Whether every row is as likely as any other, or one in a dense region less likely.

    Examples
    --------
    >>> from nearfield.io.chunked import Sliced
    >>> rows = Sliced(np.random.default_rng(0).normal(size=(100, 3)))
    >>> chosen(rows, 5, "random", np.random.RandomState(0)).tolist()
    [2, 26, 55, 75, 86]
    """
    if not isinstance(landmarks, Integral):
        return _given(np.asarray(landmarks), len(rows))
    count = min(int(landmarks), len(rows))
    if choice == "random" or count == len(rows):
        return np.sort(_drawn(len(rows), count, random))
    candidates = np.sort(_drawn(len(rows), min(CANDIDATES * count, len(rows)), random))
    reach = _reach(rows.take(candidates), random, metric, metric_params, n_jobs)
    # Each as often as its weight says, without one being taken twice: the first of so many alarm clocks.
    first = np.argsort(random.exponential(size=len(candidates)) / reach, kind="stable")[:count]
    return np.sort(candidates[first])


def _given(landmarks: Any, n: int) -> Any:
    """The landmarks that a person has named."""
    landmarks = landmarks.astype(np.int64)
    wrong = landmarks[(landmarks < 0) | (landmarks >= n)]
    if len(wrong):
        raise ValueError(f"row {wrong[0]} cannot be a landmark: the rows are numbered 0 to {n - 1}")
    found, times = np.unique(landmarks, return_counts=True)
    if len(found) < len(landmarks):
        raise ValueError(f"row {found[times > 1][0]} is named twice as a landmark: name each once")
    return found


def _drawn(n: int, count: int, random: np.random.RandomState) -> Any:
    """So many of n numbers, without a list of all n."""
    from sklearn.utils.random import sample_without_replacement

    return np.asarray(sample_without_replacement(n, count, random_state=random), np.int64)


def _reach(
    X: Any,
    random: np.random.RandomState,
    metric: Any,
    metric_params: dict[str, Any] | None,
    n_jobs: int | None,
) -> Any:
    """The square root of the volume that some rows have to themselves, and so of one over the density.

    That is r^(D/2), by the distance r to the tenth nearest of a part of them and the dimension D that the
    distances to nearer ones tell of. Where it is weighed by, a region that is a hundred times as dense as
    another has ten times as many landmarks for its size.
    """
    part = np.sort(random.permutation(X.shape[0])[:PILOT])
    space = Source.of(X[part], metric, metric_params, None, n_jobs).space
    k = min(NEAREST, len(part) - 1)
    squared, step = np.empty((X.shape[0], k + 1)), block_rows(X.shape[1])
    for lo in range(0, X.shape[0], step):
        squared[lo : lo + step] = space.nearest_to(X[lo : lo + step], k + 1, n_jobs)[1]
    own = np.zeros(X.shape[0], bool)
    own[part] = True  # the nearest of these are they themselves
    near = np.where(own[:, None], squared[:, 1:], squared[:, :-1])
    near = np.maximum(near, np.finfo(float).tiny)
    apart = near[:, -1] > near[:, 0]  # not of copies of one row
    if not apart.any():
        return np.ones(len(own))
    steps = np.log(near[apart, -1:] / near[apart, :-1]) / 2
    dimension = 1 / steps.mean()
    farthest = np.median(near[apart, -1])
    return np.maximum((near[:, -1] / farthest) ** (dimension / 4), 1e-100)
