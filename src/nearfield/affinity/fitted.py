"""The fitted rows, as new rows are compared with them: who was fitted, who is near, how near, and P.

Of the data are kept what a search needs, a hash of each row, and the traits of each point. Every answer is a
row's own: it does not depend on the rows beside, nor on how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity import loops
from nearfield.affinity.bits import Bits
from nearfield.affinity.fuzzy import FuzzyNeighbours
from nearfield.affinity.given import nearest_of_rows
from nearfield.affinity.multiscale import scale_perplexities
from nearfield.affinity.perplexity import calibrated, check_perplexity
from nearfield.affinity.source import Source
from nearfield.affinity.space import Vectors, space, squarable
from nearfield.affinity.space_base import Space
from nearfield.affinity.strata import pay, strata_of_rows
from nearfield.affinity.targets import neighbour_count
from nearfield.affinity.traits import NEAREST, Traits, beside, mean_distance
from nearfield.algebra.method import Method
from nearfield.checks import finite
from nearfield.parallel import over_chunks
from nearfield.typing import Array

SAME = 1e-6  # of the nearest distance, squared: others within it are as near


@dataclass(frozen=True)
class Ties:
    """What ties new rows to fitted points.

    Attributes
    ----------
    indices : array (rows, k)
        The points.
    squared : array (rows, k)
        Their squared distances; infinite at the end of a row of fewer.
    ahead, back : array (rows, k)
        p_j|i of the row, and p_i|j as the point sees it, both of one copy; of bare weights v. Zeros where
        there is no P.
    multiplicity : array (rows, k)
        How many points each of them stands for.
    first : int
        The number of the first row, where they are some of more.
    in_order : bool
        Whether the first of them are the nearest of all points, nearest first.
    ragged : bool
        Whether there are as many columns as the longest of these rows has points: fewer among fewer rows.
    """

    indices: Any
    squared: Array
    ahead: Array
    back: Array
    multiplicity: Array
    first: int = 0
    in_order: bool = False
    ragged: bool = False

    def rows(self, lo: int, hi: int) -> Ties:
        """Those of some of the rows."""
        parts: dict[str, Any] = {
            name: each[lo:hi] for name, each in vars(self).items() if isinstance(each, np.ndarray)
        }
        return replace(self, **parts, first=self.first + lo)

    def of_equal_counts(self) -> Iterator[tuple[Any, Ties]]:
        """Rows that are tied to equally many points, and their ties to these and no others.

        Sums over a row come out the same only among as many numbers: zeros behind them change the order in
        which they are added up.
        """
        counts = np.isfinite(self.squared).sum(axis=1)
        if not self.ragged:
            counts[:] = self.indices.shape[1]
        for count in np.unique(counts):
            which = np.flatnonzero(counts == count)
            parts: dict[str, Any] = {
                name: np.ascontiguousarray(each[which, :count])
                for name, each in vars(self).items()
                if isinstance(each, np.ndarray)
            }
            yield which, replace(self, **parts, ragged=False)

    def over_all(self, n: int) -> Ties:
        """The same with a column for each of all n points, in their order."""
        if not np.isinf(self.squared).any() and (self.indices == np.arange(n)).all():
            return self
        rows, there = np.arange(len(self.indices))[:, None], np.isfinite(self.squared)
        at = np.broadcast_to(rows, self.indices.shape)[there], self.indices[there]
        columns: dict[str, Any] = {}
        for name, empty in (("squared", np.inf), ("ahead", 0.0), ("back", 0.0), ("multiplicity", 0.0)):
            columns[name] = np.full((len(rows), n), empty)
            columns[name][at] = getattr(self, name)[there]
        return replace(self, indices=everyone(len(rows), n), in_order=False, **columns)


class Fitted:
    """The rows that a map was made of.

    Parameters
    ----------
    source : Source
        What they are; nothing is kept of it that its owner could change.
    traits : Traits
        What was noted of them while the target was made.
    """

    def __init__(self, source: Source, traits: Traits) -> None:
        self.n, self.metric, self.metric_params = source.n, source.metric, source.metric_params
        self.precomputed, self.affinities, self.n_jobs = source.precomputed, source.affinities, source.n_jobs
        self.columns, self.weights = source.X.shape[1], source.weights
        self._keys = keys_of(source.X, source.n_jobs)
        self._sorted: Any = None
        self._ranked: Any = None
        self._vectors: Vectors | None = None
        self._bits: Bits | None = None
        self._X: Any = None
        self.largest = 0.0
        built = vars(source).get("space")
        if source.precomputed:
            self.largest = float((source.X if source.graph is None else source.graph).max())
        elif isinstance(built, Vectors):
            self._vectors = built
        elif not source.affinities:
            self._X = source.X.copy()
        self.degrees: Any = np.asarray(source.X.sum(axis=1), float).ravel() if source.affinities else None
        self.traits = traits
        if source.precomputed and traits.spacing is None and source.graph is None:
            traits.note_distances(source.X)
        elif traits.unit != 1:
            self.traits = _in_data_units(traits)

    @property
    def space(self) -> Space:
        """The points as a space to search in."""
        if self._vectors is not None:
            return self._vectors
        if self._bits is not None:
            return self._bits
        found = space(self._X, self.metric, self.metric_params)
        if isinstance(found, Vectors):
            self._vectors, self._X = found, None
        elif isinstance(found, Bits):
            self._bits = found
        return found

    def rows(self) -> Any:
        """The rows, as far as they are kept: to the digits of float32, changed as the metric does."""
        if self._X is not None:
            return self._X
        if self._vectors is None:
            raise ValueError(
                "the distances that were fitted are not kept: fit all of them anew, with init an array in"
                " which new rows are NaN"
            )
        return self._vectors.rows()

    def recognise(self, first: Fitted, rows: Any) -> None:
        """Know the first rows again by what they were when they were fitted, others by what they are."""
        self._keys, self._sorted = np.vstack([first._keys, keys_of(rows, self.n_jobs)]), None

    # Which rows were fitted -------------------------------------------------------------------------------

    def known(self, rows: Any) -> Any:
        """For each row the first fitted one that is equal to it in every bit, or -1.

        Two sums of 64 bits stand for the bits: that they agree by chance is out of the question.
        """
        if self._sorted is None:
            order = np.lexsort((np.arange(self.n), self._keys[:, 1], self._keys[:, 0]))
            self._sorted = (self._keys[order], order)
        keys, order = self._sorted
        asked = keys_of(rows, self.n_jobs)
        at = np.minimum(np.searchsorted(keys[:, 0], asked[:, 0]), self.n - 1)
        return np.where((keys[at] == asked).all(axis=1), order[at], -1)

    # Who is near -------------------------------------------------------------------------------------------

    def nearest(self, rows: Any, k: int) -> tuple[Any, Array]:
        """The k nearest points to some rows, and their squared distances in the unit of the data."""
        k = min(k, self.n)
        if self.affinities:
            ties = self._of_affinities(rows, "weights")
            return ties.indices[:, :k], ties.squared[:, :k]
        if self.precomputed:
            indices, squared = nearest_of_rows(rows, self.n, k, self.n_jobs, self.largest)
            indices[np.isinf(squared)] = 0
            return indices, squared.astype(np.float64) / squarable(self.largest) ** 2
        ground = self.space
        indices, squared, _, _ = ground.nearest_to(rows, k, self.n_jobs)
        return indices, squared.astype(np.float64) * ground.unit**2

    def _all(self, rows: Any) -> tuple[Any, Array]:
        """All points, with their squared distances to some rows; those that are not known come last."""
        if self.precomputed:
            return self.nearest(rows, self.n)
        ground = self.space
        squared = ground.to_all(rows, self.n_jobs).astype(np.float64) * ground.unit**2
        return everyone(len(squared), self.n), squared

    def to_some(self, rows: Any, sample: Any) -> Array:
        """The distances of some rows to a sample of the points."""
        if self.precomputed:
            return np.ascontiguousarray(np.asarray(rows)[:, sample])
        ground = self.space
        return np.sqrt(ground.to_all(rows, self.n_jobs, sample).astype(np.float64)) * ground.unit

    # P ------------------------------------------------------------------------------------------------------

    def ties(self, rows: Any, method: Method, perplexity: Any, *, all_pairs: bool) -> Ties:
        """The neighbours of some rows with their p, as those of the fitted ones were had; or all points."""
        if self.affinities:
            return self._of_affinities(rows, method.target_kind)
        if isinstance(perplexity, FuzzyNeighbours):
            return self._fuzzy(rows, perplexity, all_pairs)
        perplexities = scale_perplexities(perplexity, method, self.n)
        if perplexities is not None:
            return self._of_scales(rows, method, perplexities, all_pairs)
        count = None if self.weights is None else self.weights.sum() - 1
        wanted = float(np.median(check_perplexity(perplexity, self.n, count)))
        k = neighbour_count(method, wanted, self.n)
        if not all_pairs and not self.precomputed and pay(self.n, k):
            return self._of_scales(rows, method, [wanted], all_pairs)
        indices, squared = self._all(rows) if all_pairs else self.nearest(rows, k)
        found = self._calibrated(indices, squared, [wanted], method.target_kind == "weights")
        return found.over_all(self.n) if all_pairs else replace(found, in_order=True)

    def _fuzzy(self, rows: Any, fuzzy: FuzzyNeighbours, all_pairs: bool) -> Ties:
        """What each row sees of its neighbours; nobody sees it yet, so that is the weight of both ways."""
        indices, squared = self.nearest(rows, fuzzy.others(self.n))
        ahead = fuzzy.seen(np.sqrt(squared), self.n, self.n_jobs, mean=0.0)
        there = np.isfinite(squared)
        if not all_pairs:
            return Ties(indices, squared, ahead, np.zeros_like(ahead), there.astype(np.float64))
        weights = np.zeros((len(indices), self.n))  # all the others are there as well, and repel
        weights[np.nonzero(there)[0], indices[there]] = ahead[there]
        nothing = np.zeros_like(weights)
        return Ties(everyone(len(weights), self.n), nothing, weights, nothing, np.ones_like(weights))

    def _of_scales(self, rows: Any, method: Method, perplexities: Any, all_pairs: bool) -> Ties:
        """The mean over several perplexities, of all points or of strata that stand for them."""
        bare = method.target_kind == "weights"
        if all_pairs or self.precomputed:
            found = self._calibrated(*self._all(rows), perplexities, bare)
            return found.over_all(self.n) if all_pairs else found
        drawn = strata_of_rows(rows, self.space, self.n_jobs)
        squared = drawn.squared.astype(np.float64) * self.space.unit**2
        return self._calibrated(
            drawn.indices, squared, perplexities, bare, drawn.multiplicity.astype(np.float64)
        )

    def _calibrated(
        self, indices: Any, squared: Array, perplexities: Any, bare: bool, multiplicity: Array | None = None
    ) -> Ties:
        """Ties with the mean of the p of some perplexities."""
        there = np.isfinite(squared)
        copies = multiplicity
        if multiplicity is None:
            multiplicity = there.astype(np.float64) if self.weights is None else self.weights[indices] * there
            copies = None if self.weights is None else multiplicity
        total = multiplicity.sum(axis=1)
        rows = []
        for each in perplexities:
            reached = np.minimum(each, np.maximum(total, 1.0))
            rows.append(calibrated(squared.copy(), reached, False, not bare, copies, self.n_jobs).rows)
        ahead = rows[0] if len(rows) == 1 else np.sum(rows, axis=0) / len(rows)
        return Ties(indices, squared, ahead, self._back(indices, squared, bare), multiplicity)

    def _of_affinities(self, rows: Any, kind: str) -> Ties:
        """Ties as they are given, the strongest first."""
        given = sparse.csr_array(rows, dtype=np.float64, copy=True)
        given.sum_duplicates()
        given.eliminate_zeros()
        finite(given, what="affinities")
        counts = np.diff(given.indptr)
        if not counts.all():
            alone = np.flatnonzero(counts == 0)
            raise ValueError(f"row {alone[0]} has no affinity ({len(alone)} such rows): leave it out")
        if given.data.min(initial=1.0) < 0:
            raise ValueError(f"affinities cannot be negative, but one is {given.data.min():g}")
        k = int(counts.max(initial=1))
        indices: Any = np.zeros((len(counts), k), np.int32)
        ahead: Any = np.zeros((len(counts), k))
        at = np.arange(k) < counts[:, None]
        indices[at], ahead[at] = given.indices, given.data
        order = np.argsort(-ahead, axis=1, kind="stable")
        indices, ahead = (np.take_along_axis(each, order, axis=1) for each in (indices, ahead))
        back = ahead  # as if they were symmetric: nothing else is known of the other direction
        if kind == "row":
            back = ahead / (self.degrees[indices] + ahead)
            ahead = ahead / np.asarray(given.sum(axis=1)).reshape(-1, 1)
        elif kind == "joint":  # where all of them sum to one, and so to n here
            ahead = back = ahead * (self.n / self.degrees.sum())
        return Ties(indices, np.where(at, 0.0, np.inf), ahead, back, at.astype(np.float64), ragged=True)

    def _back(self, indices: Any, squared: Array, bare: bool) -> Array:
        """p_i|j: how each point would see the row, its precision being what it is."""
        traits = self.traits
        if traits.beta is None:
            return np.zeros_like(squared)
        seen: Any = np.empty(squared.shape)
        arguments = (indices, squared, traits.beta, traits.nearest, traits.total, not bare, SAME, seen)
        over_chunks(loops.seen_back, len(seen), *arguments, n_jobs=self.n_jobs)
        return seen

    # Novelty ------------------------------------------------------------------------------------------------

    def novelty(self, known: Any, indices: Any, squared: Array) -> Array:
        """The share of the fitted points that are nearer to theirs than each row is to its nearest.

        Affinities say nothing of distances: it is NaN.

        Parameters
        ----------
        known : array (rows,)
            The fitted row that each is equal to, or -1.
        indices, squared : array (rows, k)
            Its nearest points and their squared distances, as `nearest` gives them.
        """
        if self.affinities:
            return np.full(len(known), np.nan)
        traits = self.spaced()
        new = np.flatnonzero(known < 0)
        unlike = np.empty(len(known))
        unlike[known >= 0] = traits.unlike[known[known >= 0]]
        theirs = traits.spacing[indices[new]]
        unlike[new] = beside(mean_distance(squared[new]), theirs, np.isfinite(squared[new]))
        if self._ranked is None:
            self._ranked = np.sort(traits.unlike)
        return np.searchsorted(self._ranked, unlike, side="left") / self.n

    def looked_up(self, rows: Any, known: Any, nearest: Callable[[], Any]) -> tuple[Any, Array]:
        """The points that are nearest to some rows, and how unlike the fitted ones these are.

        `nearest` gives indices and squared distances, which may have been found before.
        """
        indices, squared = nearest()
        return indices, self.novelty(known, indices, squared)

    def spaced(self) -> Traits:
        """The traits, with the spacing of the points, for which neighbours are searched if they were not."""
        if self.traits.spacing is None:
            ground, k = self.space, min(NEAREST, self.n - 1)
            indices, squared, _, _ = ground.nearest(k, self.n_jobs)
            self.traits.note_spacing(indices, squared.astype(np.float64) * ground.unit**2)
        return self.traits


def everyone(rows: int, n: int) -> Any:
    """All of n points, for each of some rows.

    Written out: a view that repeats one row is another kind of array where it is asked of one row than of
    several, for which loops are compiled anew, and round in another way.

    Examples
    --------
    >>> everyone(2, 3)
    array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    return np.tile(np.arange(n, dtype=np.int32), (rows, 1))


def _in_data_units(traits: Traits) -> Traits:
    """Traits of distances that were in a unit of their own."""
    unit = traits.unit
    return replace(
        traits,
        unit=1.0,
        beta=None if traits.beta is None else traits.beta / unit**2,
        nearest=None if traits.nearest is None else traits.nearest * unit**2,
        spacing=None if traits.spacing is None else traits.spacing * unit,
    )


def keys_of(X: Any, n_jobs: int | None) -> Any:
    """Two sums for each row, by which it is known again."""
    keys = np.empty((X.shape[0], 2), np.uint64)
    if sparse.issparse(X):
        X = sparse.csr_array(X, dtype=np.float64, copy=True)
        X.sum_duplicates()
        over_chunks(loops.sparse_row_keys, X.shape[0], X.indptr, X.indices, X.data, keys, n_jobs=n_jobs)
    else:
        over_chunks(loops.row_keys, X.shape[0], np.asarray(X), keys, n_jobs=n_jobs)
    return keys
