"""One pass over the rows of all queries: what is counted, and how sure the figures from it are.

The queries are cut into groups. Each is tallied by one thread, so the result does not depend on how many
there are; and where the queries are a sample, the figures without one group each tell the standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from nearfield.judge import loops
from nearfield.judge.distances import level_edges
from nearfield.judge.ranks import area_terms
from nearfield.judge.rows import Rows
from nearfield.parallel import over_chunks
from nearfield.typing import Array

GROUPS = 32  # of rows, of which each is left out once for the standard error
BLOCK = 2**18  # distances at a time, of each thread and in each space
SAMPLED = 2**17  # distances that the levels are made from

# The columns of what `loops.judge_rows` fills in for each query.
COLUMNS = ("auc", "kept", "false", "lost", "rr", "dd", "squares", "slope", "map_vote", "data_vote")


@dataclass(frozen=True, eq=False)
class Tally:
    """What is counted, summed over some queries.

    Attributes
    ----------
    queries : int
        How many.
    counts : array of int (points,)
        How many pairs have max(ρ, r) = m.
    joint : array of int (levels, levels)
        How many pairs have distances of these levels in data and map.
    sums : dict of float
        The columns of `rows`, summed; "labelled" is how many queries have a label.
    """

    queries: int
    counts: Any
    joint: Any
    sums: dict[str, float]

    def __add__(self, other: Tally) -> Tally:
        return self._combine(other, 1)

    def __sub__(self, other: Tally) -> Tally:
        return self._combine(other, -1)

    def _combine(self, other: Tally, sign: int) -> Tally:
        return Tally(
            self.queries + sign * other.queries,
            self.counts + sign * other.counts,
            self.joint + sign * other.joint,
            {name: value + sign * other.sums[name] for name, value in self.sums.items()},
        )


@dataclass(frozen=True, eq=False)
class Census:
    """The tallies of the groups, the rows of single queries, and the factor a that stress is counted at."""

    groups: list[Tally]
    total: Tally
    rows: dict[str, Array]
    factor: float


def take(data: Rows, mapped: Rows, queries: Any, n: int, k: int, codes: Any, n_jobs: int | None) -> Census:
    """Compare the distances from the queries in the data with those in the map.

    Parameters
    ----------
    data, mapped : functions
        That give rows of distances.
    queries : array of int
        The points to see from, in an order that is random if they are a sample.
    n : int
        How many points there are.
    k : int
        How many neighbours trustworthiness, continuity and labels look at.
    codes : array of int (n,) or None
        The class of each point.
    n_jobs : int or None
        Threads; None is all cores.
    """
    data_edges, map_edges = (_edges(each, queries, n) for each in (data, mapped))
    r, d = data(queries[:1])[0], mapped(queries[:1])[0]
    dd = float(np.sum(d * d))
    factor = float(np.sum(r * d)) / dd if dd > 0 else 1.0
    terms, offset = area_terms(n)
    codes = np.empty(0, np.int64) if codes is None else codes
    classes = int(codes.max(initial=-1)) + 1
    rows = np.empty((len(queries), len(COLUMNS)))
    step = max(1, BLOCK // n)

    def group(lo: int, hi: int) -> Tally:
        counts = np.zeros(n, np.int32)  # at most two for each query
        joint = np.zeros((len(data_edges) + 1, len(map_edges) + 1), np.int64)
        votes = np.zeros(classes, np.int64)
        for start in range(lo, hi, step):
            stop = min(start + step, hi)
            block = queries[start:stop]
            loops.judge_rows(
                block, data(block), mapped(block), k, terms, factor, data_edges, map_edges, codes, votes,
                counts, joint, rows[start:stop],
            )  # fmt: skip
        sums = dict(zip(COLUMNS, np.nansum(rows[lo:hi], axis=0).tolist(), strict=True))
        sums["labelled"] = float(np.count_nonzero(~np.isnan(rows[lo:hi, -1])))
        return Tally(hi - lo, counts, joint, sums)

    count = min(GROUPS, len(queries))
    bounds = [len(queries) * g // count for g in range(count + 1)]
    groups = over_chunks(group, list(pairwise(bounds)), n_jobs=n_jobs)
    total = groups[0]
    for each in groups[1:]:
        total = total + each
    rows[:, 0] -= offset
    return Census(groups, total, dict(zip(COLUMNS, rows.T, strict=True)), factor)


def _edges(distances: Rows, queries: Any, n: int) -> Array:
    """The levels of the distances that some of the queries see."""
    count = min(len(queries), max(64, SAMPLED // n))
    some = queries[np.arange(count) * len(queries) // count]
    values = np.array(distances(some))
    values[np.arange(count), some] = np.nan
    values = values[:, :: max(1, count * n // SAMPLED)]
    return level_edges(values[~np.isnan(values)])


def standard_errors(
    census: Census, figures: Callable[[Tally], Mapping[str, float]], n: int
) -> dict[str, float]:
    """The standard errors of figures from a sample, by the jackknife: as they vary when a group is left out.

    Examples
    --------
    >>> import numpy as np
    >>> parts = [Tally(10, np.zeros(1), np.zeros(1), {"x": 10.0 * x}) for x in (1, 2, 3, 4)]
    >>> census = Census(parts, parts[0] + parts[1] + parts[2] + parts[3], {}, 1.0)
    >>> errors = standard_errors(census, lambda tally: {"mean": tally.sums["x"] / tally.queries}, 10**9)
    >>> round(errors["mean"], 4)  # the standard deviation of 1, 2, 3, 4 over √4
    0.6455
    """
    without = [figures(census.total - part) for part in census.groups]
    count = len(without)
    finite_population = 1 - census.total.queries / n
    return {
        name: float(np.std([each[name] for each in without]) * np.sqrt((count - 1) * finite_population))
        for name in without[0]
    }
