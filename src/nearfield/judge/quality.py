"""The figures that judge a map, in one object that prints as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.row_metrics import is_row_metric
from nearfield.checks import finite, whole
from nearfield.io.chunked import Chunked, chunked
from nearfield.judge.distances import best_factor, spearman, squares_at, stress_1
from nearfield.judge.labels import class_codes
from nearfield.judge.ranks import area, beyond_chance, local_and_global, most_neighbours, shared, trust
from nearfield.judge.rows import distance_rows
from nearfield.judge.tally import Census, Tally, standard_errors, take
from nearfield.typing import Array

ALL_UP_TO = 20_000  # points, above which a sample of them is looked at
SAMPLE = 1000  # points, from which all others are looked at
NEIGHBOURS = 10  # of a point, where no other k is asked for


@dataclass(frozen=True, eq=False)
class Points:
    """The figures of single points, in the order of `index`.

    Attributes
    ----------
    index : array of int
        The points: all of them, or those of the sample.
    auc : array
        The area under the point's own R_NX; the mean is that of the map.
    neighbours_kept : array
        The share of its nearest neighbours in the data that are so in the map.
    trustworthiness, continuity : array
        Whose means are those of the map.
    stress : array
        √(Σ_j (r - ad)²/Σ_j r²) at the factor a that is best for the whole map.
    """

    index: Any
    auc: Array
    neighbours_kept: Array
    trustworthiness: Array
    continuity: Array
    stress: Array


@dataclass(frozen=True, eq=False, repr=False)
class Quality:
    """How good a map is; `print` shows it as a table.

    ρ and r_ij are ranks in data and map, the point itself left out, ties in the order of the points. Figures
    are NaN where they are not defined, such as the correlation with a map whose points all coincide.

    Attributes
    ----------
    auc : float
        The area under R_NX over log K, Σ R_NX(K)/K / Σ 1/K: neighbours kept at all scales, fine ones weighing
        more. 1 is perfect, a random map has 0.
    rnx : array (points - 2,)
        R_NX(K) = ((N-1) Q_NX(K) - K)/(N-1-K), K = 1 … N-2.
    trustworthiness, continuity : float
        1 less what false neighbours, and lost ones, cost by their ranks, among the `n_neighbors` nearest.
    neighbours_kept : float
        Q_NX(n_neighbors), the share of the nearest neighbours that the map keeps.
    q_local, q_global : float
        The means of Q_NX up to `k_max` and from there on.
    k_max : int
        The K at which Q_NX is furthest above chance.
    spearman : float
        The rank correlation of the distances in data and map, to some 1e-5.
    stress : float
        √(Σ(r - ad)²/Σr²) at the best factor a, distances r in the data and d in the map.
    stress_1 : float
        Kruskal's √(Σ(r - d)²/Σd²), with the map as it is scaled: of meaning for maps that keep distances.
    label_accuracy, data_label_accuracy : float or None
        How often the `n_neighbors` nearest, in the map and in the data, vote for the class of a point.
    n_points, n_queries, n_neighbors : int
        The points, those that were looked at, and the neighbours of the local figures.
    n_components : int
        The dimensions of the map.
    metric : str
        Of the data.
    errors : dict of float
        The standard error of each figure if `n_queries` are a sample; else empty.
    points : Points
        The same for single points.
    """

    auc: float
    rnx: Array
    trustworthiness: float
    continuity: float
    neighbours_kept: float
    q_local: float
    q_global: float
    k_max: int
    spearman: float
    stress: float
    stress_1: float
    n_points: int
    n_queries: int
    n_neighbors: int
    n_components: int
    metric: str
    errors: dict[str, float]
    points: Points
    label_accuracy: float | None = None
    data_label_accuracy: float | None = None

    @property
    def exact(self) -> bool:
        """Whether all points were looked at."""
        return self.n_queries == self.n_points

    @property
    def figures(self) -> dict[str, float]:
        """The figures by name, those of labels only where there are labels."""
        names = [name for name, *_ in _LINES if getattr(self, name) is not None]
        return {name: getattr(self, name) for name in names}

    def to_dict(self, *, points: bool = False) -> dict[str, Any]:
        """The figures as plain numbers and text, ready for JSON; NaN becomes None.

        R_NX is thinned to some hundred K on a logarithmic scale; `points` adds the figures of single points.
        """
        K = np.unique(np.geomspace(1, len(self.rnx), 100).astype(int))
        result: dict[str, Any] = {
            "n_points": self.n_points,
            "n_queries": self.n_queries,
            "exact": self.exact,
            "n_components": self.n_components,
            "metric": self.metric,
            "n_neighbors": self.n_neighbors,
            **{name: _number(value) for name, value in self.figures.items()},
            "k_max": self.k_max,
            "standard_errors": {name: _number(value) for name, value in self.errors.items()},
            "rnx": {"K": K.tolist(), "value": self.rnx[K - 1].tolist()},
        }
        if points:
            result["points"] = {
                name: [_number(value) for value in values.tolist()]
                for name, values in vars(self.points).items()
            }
        return result

    def __repr__(self) -> str:
        seen = (
            "all points"
            if self.exact
            else f"± one standard error, {self.n_queries} sampled points against all {self.n_points}"
        )
        lines = [f"map of {self.n_points} points in {self.n_components}-D, {self.metric} data; {seen}"]
        for name, title, meaning in _LINES:
            value = getattr(self, name)
            if value is None:
                continue
            error = f" ± {self.errors[name]:.4f}" if name in self.errors else ""
            meaning = meaning.format(k=self.n_neighbors, k_max=self.k_max)
            lines.append(f"{title:<19} {value:>7.4f}{error}  {meaning}")
        return "\n".join(lines)


# Each figure: its attribute, its title in the table, and what it means.
_LINES = (
    ("auc", "R_NX AUC", "neighbours kept at all scales; a random map has 0"),
    ("trustworthiness", "trustworthiness", "no false neighbours among the {k} nearest"),
    ("continuity", "continuity", "no lost neighbours among the {k} nearest"),
    ("neighbours_kept", "neighbours kept", "share of the {k} nearest"),
    ("q_local", "Q local", "mean share of the K nearest, K up to {k_max}"),
    ("q_global", "Q global", "the same, K from {k_max}"),
    ("spearman", "Spearman", "correlation of distances"),
    ("stress", "stress", "error of distances at the best size; 0 is perfect"),
    ("stress_1", "stress-1", "Kruskal's, with the map as it is scaled"),
    ("label_accuracy", "labels in the map", "share that the {k} nearest guess by a vote"),
    ("data_label_accuracy", "labels in the data", "the same"),
)


def quality(
    X: Any,
    Y: Any,
    labels: Any = None,
    *,
    metric: Any = "euclidean",
    n_neighbors: int | None = None,
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Quality:
    """Judge a map of data by ranks, distances and labels.

    Parameters
    ----------
    X : array, sparse matrix, data frame, or path or array of chunks (points, columns)
        The data; distances if `metric` is "precomputed". Files (see `nearfield.rows`), mapped arrays and
        those of zarr and Dask are not held.
    Y : array (points, dimensions), estimator or map
        The coordinates, or an object that has them as `embedding_` or `Y`.
    labels : sequence, optional
        The class of each point. None, NaN and empty text are no class: such points have no vote.
    metric : str or callable
        Of the data: any metric of scikit-learn, or "precomputed". The map is Euclidean.
    n_neighbors : int, optional
        How many neighbours trustworthiness, continuity and labels look at: fewer than half of the points.
        By default 10, or as many as few points allow.
    sample : int, optional
        From how many points, drawn at random, all others are seen. By default from all of up to 20 000, and
        from 1000 of more; then each figure has a standard error.
    random_state : int or Generator
        The seed of the sample.
    n_jobs : int, optional
        Threads; None is all cores. The result does not depend on it.

    Returns
    -------
    Quality

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> judged = nf.quality(X, X[:, :2])
    >>> print(f"{judged.auc:.2f} {judged.trustworthiness:.2f}")
    0.41 0.84
    >>> nf.quality(X, 2 * X).auc
    1.0
    """
    X = _data(X, Y, metric)
    # A data frame may well have a column Y.
    Y = _matrix(Y if hasattr(Y, "columns") else getattr(Y, "embedding_", getattr(Y, "Y", Y)), "Y")
    n = X.shape[0]
    if len(Y) != n:
        raise ValueError(f"X has {n} points but Y has {len(Y)}: pass the data that the map was made of")
    if n < 4:
        raise ValueError(f"the quality of a map needs at least 4 points, got {n}")
    if not isinstance(X, Chunked):  # else it is looked at when it is read
        finite(X, what="X")
    finite(Y, what="Y")
    k = neighbours_of(n_neighbors, n)
    codes = None if labels is None else class_codes(labels, n)
    size = (n if n <= ALL_UP_TO else SAMPLE) if sample is None else min(whole("sample", sample, 2), n)
    queries = np.arange(n) if size == n else np.random.default_rng(random_state).permutation(n)[:size]
    data, data_unit = distance_rows(X, metric)
    mapped, map_unit = distance_rows(Y, name="Y")

    census = take(data, mapped, queries, n, k, codes, n_jobs)
    if not census.total.sums["rr"] > 0:
        raise ValueError(f"all {n} points of X are equal: there is nothing to judge, check the columns")

    def figures(tally: Tally) -> dict[str, float]:
        return _figures(tally, n, k, census.factor, map_unit / data_unit, labelled=codes is not None)

    q = shared(census.total.counts, size)
    return Quality(
        **figures(census.total),
        rnx=beyond_chance(q),
        k_max=local_and_global(q)[2],
        n_points=n,
        n_queries=size,
        n_neighbors=k,
        n_components=Y.shape[1],
        metric=metric if isinstance(metric, str) else getattr(metric, "__name__", "a function"),
        errors={} if size == n else standard_errors(census, figures, n),
        points=_points(census, queries, n, k),
    )


def _figures(
    tally: Tally, n: int, k: int, first: float, as_scaled: float, labelled: bool
) -> dict[str, float]:
    """The figures of a tally; `first` is the factor that stress was counted at, `as_scaled` the map's."""
    q = shared(tally.counts, tally.queries)
    q_local, q_global, _ = local_and_global(q)
    sums = tally.sums
    about = (sums["dd"], sums["squares"], sums["slope"])
    best = best_factor(sums["dd"], sums["slope"], first)
    found = {
        "auc": area(beyond_chance(q)),
        "trustworthiness": trust(sums["false"] / tally.queries, n, k),
        "continuity": trust(sums["lost"] / tally.queries, n, k),
        "neighbours_kept": float(q[k - 1]),
        "q_local": q_local,
        "q_global": q_global,
        "spearman": spearman(tally.joint),
        "stress": float(np.sqrt(squares_at(best, first, *about) / sums["rr"])),
        "stress_1": stress_1(as_scaled, first, *about),
    }
    if labelled:
        voters = sums["labelled"]
        found["label_accuracy"] = sums["map_vote"] / voters if voters else np.nan
        found["data_label_accuracy"] = sums["data_vote"] / voters if voters else np.nan
    return found


def _points(census: Census, queries: Any, n: int, k: int) -> Points:
    """The figures of single points, in the order of their indices."""
    order = np.argsort(queries)
    rows = {name: values[order] for name, values in census.rows.items()}
    best = best_factor(census.total.sums["dd"], census.total.sums["slope"], census.factor)
    squares = squares_at(best, census.factor, rows["dd"], rows["squares"], rows["slope"])
    return Points(
        index=queries[order],
        auc=rows["auc"],
        neighbours_kept=rows["kept"] / k,
        trustworthiness=trust(rows["false"], n, k),
        continuity=trust(rows["lost"], n, k),
        stress=np.sqrt(squares / rows["rr"]),
    )


def _data(X: Any, Y: Any, metric: Any) -> Any:
    """The data as a float64 matrix, or as rows that are read some at a time where the metric allows it."""
    if sparse.issparse(X):
        return sparse.csr_array(X)
    rows = chunked(X, getattr(Y, "feature_names_in_", None))
    if rows is None:
        return _matrix(X, "X")
    return rows if is_row_metric(metric) else rows.all()


def _matrix(values: Any, what: str) -> Array:
    """Values as a float64 matrix, or what is wrong with them."""
    try:
        matrix = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} holds values that are not numbers: leave out columns of text") from error
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(f"{what} must have two dimensions, points and columns, got shape {matrix.shape}")
    return matrix


def neighbours_of(n_neighbors: int | None, n: int) -> int:
    """How many neighbours the local figures look at."""
    most = most_neighbours(n)
    if n_neighbors is None:
        return min(NEIGHBOURS, most)
    k = whole("n_neighbors", n_neighbors, 1)
    if k > most:
        raise ValueError(f"n_neighbors must be less than half of the {n} points, at most {most}; got {k}")
    return k


def _number(value: float | int) -> float | int | None:
    """A number that JSON knows: NaN is none."""
    return None if value != value else value
