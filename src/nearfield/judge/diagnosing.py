"""Points under the glass: what is known of each point of a finished map, as columns of a table.

All of it comes from nearest neighbours, in the data and in the map, and so takes near-linear time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.affinity.fitted import Fitted, Ties
from nearfield.affinity.fuzzy import FuzzyNeighbours
from nearfield.affinity.mixed import MixedFitted
from nearfield.affinity.neighbours import neighbours
from nearfield.affinity.perplexity import calibrate, calibrated, check_perplexity
from nearfield.affinity.source import Source
from nearfield.affinity.targets import TIMES
from nearfield.affinity.traits import NEAREST
from nearfield.descent.placing import HeldDistances, HeldMap, HeldRows, Reference
from nearfield.engine.own_row import OwnRowCost
from nearfield.engine.placed import PlacedCost, StretchedCost
from nearfield.io.tables import check_map_path
from nearfield.io.written import write_columns
from nearfield.parallel import one_blas_thread, over_chunks
from nearfield.typing import Array

KEPT = 30  # neighbours up to which R_NX is looked at
BLOCK = 2**22  # comparisons that are made together
TABLE = 2000  # rows of distances that are measured together

# Each column, and what it tells.
COLUMNS = {
    "beta": "precision of the point's neighbourhood: large where points are dense",
    "dimension": "intrinsic dimension of the data around it",
    "hubness": "how much it is a neighbour of others, 1 on average: hubs have more",
    "cost": "what it adds to the cost where it lies",
    "rnx": "neighbours kept, up to {k} of them; by chance 0, at best 1",
    "novelty": "share of the points that are less apart from theirs than it is",
}


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosed(Mapping[str, Array]):
    """What is known of each point of a map; `print` shows a summary.

    Attributes
    ----------
    columns : dict of array (points,)
        ``beta``, ``dimension``, ``hubness``, ``cost``, ``rnx`` and ``novelty``; see `nearfield.diagnose`. The
        object is a mapping of them itself: ``found["cost"]``.
    n_neighbors : int
        The neighbours up to which ``rnx`` looks.
    """

    columns: dict[str, Array]
    n_neighbors: int

    def __getitem__(self, name: str) -> Array:
        if name not in self.columns:
            raise KeyError(f"there is no {name!r}: there are {', '.join(self.columns)}")
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def most(self, name: str, count: int = 10) -> Any:
        """The points with the largest values of a column, the largest first."""
        values = np.nan_to_num(self[name], nan=-np.inf)
        return np.argsort(-values, kind="stable")[:count]

    def save(self, path: str | os.PathLike[str], *, ids: Any = None) -> None:
        """Write the columns as a table, `.csv`, `.tsv` or `.parquet`, after the ids of the points."""
        path = check_map_path(path)
        n = len(self.columns["beta"])
        named = np.arange(n) if ids is None else np.asarray(ids)
        if named.shape != (n,):
            raise ValueError(f"there are {n} points: give as many ids, not {named.shape}")
        write_columns(path, {"id": named, **self.columns})

    def __repr__(self) -> str:
        lines = [f"{len(self.columns['beta'])} points: 5 %, median and 95 % of each column"]
        for name, values in self.columns.items():
            known = values[np.isfinite(values)]
            low, middle, high = np.percentile(known, (5, 50, 95)) if len(known) else (np.nan,) * 3
            meaning = COLUMNS[name].format(k=self.n_neighbors)
            lines.append(f"{name:<10} {low:>9.3g} {middle:>9.3g} {high:>9.3g}  {meaning}")
        return "\n".join(lines)


@one_blas_thread()
def diagnose(model: Any, X: Any = None) -> Diagnosed:
    """Look at each point of a finished map: its neighbourhood in the data, and how it lies in the map.

    ``beta`` and ``dimension`` are those that the perplexity finds (of several, at perplexity 30). ``hubness``
    is Σ_j p_i|j. ``cost`` is what the point would add to the sum that the method minimises if it were placed
    where it lies, as `place` tells it of new rows; NaN of principal components. ``rnx`` is the area under
    R_NX(K) over log K for K up to 30: neighbours that the map keeps, within these. ``novelty`` is as in
    `place`.

    Parameters
    ----------
    model : estimator or Run
        Fitted, or loaded from a file.
    X : array, sparse matrix or data frame, optional
        The data that it was fitted to, where the model does not keep them: distances.

    Returns
    -------
    Diagnosed
        A mapping of columns. ``nearfield.show.map(model, labels="novelty")`` draws one of them.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> X[7] = 9.0
    >>> found = nf.diagnose(nf.TSNE(perplexity=10, random_state=0).fit(X))
    >>> list(found), int(found.most("novelty")[0])
    (['beta', 'dimension', 'hubness', 'cost', 'rnx', 'novelty'], 7)
    """
    reference = _reference_of(model)
    fitted, held = reference.fitted, reference.held
    source = _source(fitted, X)
    n, method = fitted.n, getattr(held, "method", None)
    asked, others = reference.perplexity, None if fitted.weights is None else fitted.weights.sum() - 1
    one = None if isinstance(asked, (str, list, tuple, FuzzyNeighbours)) else asked
    perplexities = check_perplexity(one, n, others)
    all_pairs = bool(getattr(held, "all_pairs", False))
    k = n - 1 if all_pairs else min(n - 1, max(int(TIMES * perplexities.max()), KEPT))
    found = neighbours(source, k)
    near = min(KEPT, (n - 1) // 2, k)
    squared = found.squared.astype(np.float64) * found.unit**2
    seen = _calibrated(fitted, found.indices, squared, perplexities)
    there = np.isfinite(squared)
    if isinstance(asked, FuzzyNeighbours):
        ties = _fuzzy_ties(asked, found.indices, squared, n, source.n_jobs)
    else:
        bare = method is not None and method.target_kind == "weights"
        ties = _ties(fitted, found.indices, squared, seen.rows, bare=bare)
    ties = _with_itself(ties).over_all(n) if all_pairs else ties
    columns: dict[str, Any] = {
        "beta": seen.beta,
        "dimension": seen.dimension,
        "hubness": _hubness(fitted, found.indices, there, seen),
        "cost": _costs(fitted, held, ties, source),
        "rnx": _kept(found.indices[:, :near], held.Y, source.n_jobs),
        "novelty": fitted.novelty(np.arange(n), found.indices[:, :NEAREST], squared[:, :NEAREST]),
    }
    return Diagnosed(columns, near)


def column(model: Any, name: str) -> Array:
    """One of the columns of a model; a name that is none is refused before the work."""
    if name not in COLUMNS:
        raise ValueError(f"there is no {name!r}, labels are one for each point, or {', '.join(COLUMNS)}")
    return diagnose(model)[name]


def _reference_of(model: Any) -> Reference:
    if hasattr(model, "_reference"):
        return model._reference
    if hasattr(model, "reference"):
        return model.reference()
    raise ValueError(f"diagnose takes a fitted model or a Run, and not {type(model).__name__}: fit it first")


def _source(fitted: Fitted, X: Any) -> Source:
    """What neighbours are searched in."""
    if isinstance(fitted, MixedFitted):
        raise ValueError("several views were fitted, and diagnose looks at one: fit that alone")
    if fitted.affinities:
        raise ValueError("a ready P holds no distances, by which points could be looked at: fit the data")
    if X is None:
        if fitted.precomputed:
            raise ValueError("the distances that were fitted are not kept in a model: pass them as X")
        _ = fitted.space  # from which on rows have the digits that a search sees, before and after a file
        X = fitted.rows()
    source = Source.of(X, fitted.metric, fitted.metric_params, None, fitted.n_jobs)
    if source.n != fitted.n:
        raise ValueError(f"the model was fitted to {fitted.n} points, and X has {source.n}: pass the same")
    return source


def _ties(fitted: Fitted, indices: Any, squared: Array, p: Array, *, bare: bool) -> Ties:
    """What ties each fitted point to its nearest, as if it were new among them."""
    there = np.isfinite(squared)
    many = there.astype(np.float64) if fitted.weights is None else fitted.weights[indices] * there
    ahead = p / np.maximum(p.max(axis=1, keepdims=True), 1e-300) if bare else p
    return Ties(indices, squared, ahead, fitted._back(indices, squared, bare), many)


@dataclass(frozen=True)
class _Seen:
    """What each point sees of its nearest, each of these counted as one: p, and of its own copies; and β."""

    rows: Array
    own: Array
    beta: Array
    dimension: Array


def _calibrated(fitted: Fitted, indices: Any, squared: Array, perplexities: Array) -> _Seen:
    """P of the fitted points among themselves; of a weighted one its other copies are neighbours, too."""
    n, m = len(squared), fitted.weights
    if m is None:
        found = calibrate(squared.copy(), perplexities, skip_self=False, n_jobs=fitted.n_jobs)
        return _Seen(found.rows, np.zeros(n), found.beta, found.dimension)
    wide = np.column_stack([np.zeros(n), squared])
    copies = np.column_stack([m - 1, np.where(np.isfinite(squared), m[indices], 0.0)])
    found = calibrated(wide, perplexities, False, True, copies, fitted.n_jobs)
    return _Seen(np.ascontiguousarray(found.rows[:, 1:]), found.rows[:, 0], found.beta, found.dimension)


def _hubness(fitted: Fitted, indices: Any, there: Any, seen: _Seen) -> Array:
    """Σ_j p_i|j over all copies."""
    m = np.ones(fitted.n) if fitted.weights is None else fitted.weights
    found = np.bincount(indices[there], (m[:, None] * seen.rows)[there], minlength=fitted.n)
    return found + (m - 1) * seen.own


def _fuzzy_ties(fuzzy: FuzzyNeighbours, indices: Any, squared: Array, n: int, n_jobs: int | None) -> Ties:
    """What ties each fitted point to its nearest by UMAP's weights, as if it were new among them."""
    k = min(fuzzy.others(n), indices.shape[1])
    near = np.ascontiguousarray(squared[:, :k])
    ahead = fuzzy.seen(np.sqrt(near), n, n_jobs, mean=0.0)
    there = np.isfinite(near).astype(np.float64)
    return Ties(np.ascontiguousarray(indices[:, :k]), near, ahead, np.zeros_like(ahead), there)


def _with_itself(ties: Ties) -> Ties:
    """A column more for each point itself, to which nothing ties it: then all points have one."""
    own = np.arange(len(ties.indices), dtype=ties.indices.dtype)
    more = {"indices": own, "squared": np.full(len(own), np.inf)}
    parts: dict[str, Any] = {name: each for name, each in vars(ties).items() if isinstance(each, np.ndarray)}
    wider: dict[str, Any] = {
        name: np.column_stack([each, more.get(name, 0.0 * own)]) for name, each in parts.items()
    }
    return Ties(**wider)


def _costs(fitted: Fitted, held: Any, ties: Ties, source: Source) -> Array:
    """What each point would cost where it lies, all others being held."""
    n, Y = fitted.n, held.Y
    if isinstance(held, HeldDistances) and source.graph is None:
        return _stretched(fitted, held, source)
    if not isinstance(held, (HeldMap, HeldRows)):
        return np.full(n, np.nan)
    if isinstance(held, HeldMap):
        held.around()  # laid before threads ask for it

    def some(lo: int, hi: int) -> Array:
        part = ties.rows(lo, hi)
        if isinstance(held, HeldMap):
            cost: Any = PlacedCost(held, part)
        else:
            cost = OwnRowCost(held.method, Y, part, attraction=held.attraction)
        return cost.at(np.arange(hi - lo), Y[lo:hi])[0]

    return np.concatenate(over_chunks(some, n, n_jobs=source.n_jobs))


def _stretched(fitted: Fitted, held: HeldDistances, source: Source) -> Array:
    """The same of a cost of distances, by those to a sample, block by block."""
    parts = []
    for lo in range(0, fitted.n, TABLE):
        apart = held.stretch * fitted.to_some(source.X[lo : lo + TABLE], held.sample)
        cost = StretchedCost(held.method, held.Y[held.sample], apart, fitted.n)
        parts.append(cost.at(np.arange(len(apart)), held.Y[lo : lo + TABLE])[0])
    return np.concatenate(parts)


def _kept(indices: Any, Y: Array, n_jobs: int | None) -> Array:
    """The area under each point's R_NX(K) over log K, within the neighbours of the data that are given."""
    n, k = indices.shape
    if not k:
        return np.full(n, np.nan)
    mapped = neighbours(Source.of(Y, n_jobs=n_jobs), k).indices
    K, area, step = np.arange(1, k + 1), np.empty(n), max(1, BLOCK // k**2)
    for lo in range(0, n, step):
        rows = slice(lo, lo + step)
        i, a, b = np.nonzero(indices[rows, :, None] == mapped[rows, None, :])
        # A neighbour counts from the K on at which it is among the nearest of both.
        first = np.bincount(i * k + np.maximum(a, b), minlength=len(indices[rows]) * k).reshape(-1, k)
        r = ((n - 1) * np.cumsum(first, axis=1) / K - K) / (n - 1 - K)
        area[rows] = (r / K).sum(axis=1) / (1 / K).sum()
    return area
