"""What a mix of views is as a target, and as fitted rows: the average of what each of its views is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nearfield.affinity.fitted import Fitted, Ties, keys_of
from nearfield.affinity.mixing import NOT_ADDED, Mix, told
from nearfield.affinity.source import Source
from nearfield.affinity.traits import NEAREST, Traits
from nearfield.algebra.method import Method
from nearfield.typing import Array

BLOCK = 2**23  # pairs of rows and points that are looked at together
MORE = 5  # times as many neighbours are asked of each view as are wanted of all


def fitted_of(source: Source, traits: Traits) -> Fitted:
    """The fitted rows of a source of any kind."""
    return MixedFitted(source, traits) if isinstance(source, Mix) else Fitted(source, traits)


class MixedFitted(Fitted):
    """The rows that a map of several views was made of.

    Parameters
    ----------
    source : Mix
        What they are.
    traits : Traits
        With those of each view.
    """

    def __init__(self, source: Mix, traits: Traits) -> None:
        self.n, self.n_jobs, self.weights = source.n, source.n_jobs, source.weights
        self.metric, self.metric_params, self.columns = source.metric, None, source.X.shape[1]
        self.precomputed = self.affinities = False
        self._keys, self._sorted = keys_of(source.X, source.n_jobs), None
        self.traits = Traits()  # each view has its own
        noted = traits.views or [Traits() for _ in source.views]
        self.views = [Fitted(view, each) for view, each in zip(source.views, noted, strict=True)]

    def _parts(self, rows: Any) -> list[tuple[float, Fitted, Any]]:
        """Each view: its share, its fitted rows, and its columns of some rows."""
        return [
            (view.share, fitted, view.of(rows)) for view, fitted in zip(self.metric, self.views, strict=True)
        ]

    def rows(self) -> Any:
        """No rows can be added."""
        raise ValueError(NOT_ADDED)

    def rows_of(self, other: Any) -> Any:
        """The rows of a mix, if its views are those of the fitted ones."""
        if not isinstance(other, Mix):
            raise ValueError("several views were fitted: pass the same ones of new rows, as nf.mix([…])")
        theirs, ours = ([replace(view, share=0.0) for view in each] for each in (other.metric, self.metric))
        if theirs != ours:
            raise ValueError(
                f"the views of new rows must be those that were fitted, {told(self.metric)}, and are"
                f" {told(other.metric)}"
            )
        return other.X

    def ties(self, rows: Any, method: Method, perplexity: Any, *, all_pairs: bool) -> Ties:
        """The neighbours of some rows in any view, with the mean of their p."""
        parts = [
            (share, fitted.ties(own, method, perplexity, all_pairs=all_pairs))
            for share, fitted, own in self._parts(rows)
        ]
        return merged(parts, self.n, self.weights)

    def looked_up(self, rows: Any, known: Any, nearest: Any = None) -> tuple[Any, Array]:
        """The points that are nearest to some rows, view by view beside how near others are; and novelty."""
        step = max(1, BLOCK // self.n)
        if rows.shape[0] > step:
            parts = range(0, rows.shape[0], step)
            found = [self.looked_up(rows[lo : lo + step], known[lo : lo + step]) for lo in parts]
            return np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])
        score, novelty = np.zeros((rows.shape[0], self.n)), np.zeros(rows.shape[0])
        for share, fitted, own in self._parts(rows):
            indices, squared = fitted.nearest(own, MORE * NEAREST)
            there = np.isfinite(squared)
            mean = np.where(there, squared, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
            near = np.exp(-np.where(there, squared, np.inf) / np.where(mean > 0, mean, 1.0)[:, None])
            at = np.broadcast_to(np.arange(len(indices))[:, None], indices.shape)
            np.add.at(score, (at[there], indices[there]), share * near[there])
            nearest = slice(0, min(NEAREST, self.n))
            novelty += share * fitted.novelty(known, indices[:, nearest], squared[:, nearest])
        order = np.argsort(-score, axis=1, kind="stable")[:, :NEAREST]
        return order.astype(np.int32), novelty


def merged(parts: list[tuple[float, Ties]], n: int, weights: Array | None) -> Ties:
    """Ties in which every point is there once, with the mean of its p over the views.

    Examples
    --------
    >>> one, half = np.ones((1, 2)), np.full((1, 2), 0.5)
    >>> parts = [Ties(np.array([ids]), one, half, half, one) for ids in ([0, 1], [1, 2])]
    >>> merged([(0.5, parts[0]), (0.5, parts[1])], 3, None).ahead
    array([[0.25, 0.5 , 0.25]])
    """
    rows = len(parts[0][1].indices)
    keys, values = [], []
    for share, ties in parts:
        there = np.isfinite(ties.squared)
        at = np.broadcast_to(np.arange(rows)[:, None], there.shape)[there]
        keys.append(at * np.int64(n) + np.asarray(ties.indices)[there])
        values.append(share * np.stack([ties.ahead[there], ties.back[there]]))
    distinct, place = np.unique(np.concatenate(keys), return_inverse=True)
    ahead_back = [np.bincount(place, each, len(distinct)) for each in np.concatenate(values, axis=1)]
    row, point = np.divmod(distinct, n)
    counts = np.bincount(row, minlength=rows)
    column = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    indices: Any = np.zeros((rows, counts.max()), np.int32)
    squared = np.full(indices.shape, np.inf)
    ahead, back, multiplicity = (np.zeros(indices.shape) for _ in range(3))
    indices[row, column], squared[row, column] = point, 0.0
    ahead[row, column], back[row, column] = ahead_back
    multiplicity[row, column] = 1.0 if weights is None else weights[point]
    return Ties(indices, squared, ahead, back, multiplicity, ragged=True)
