"""Neighbours of all ranks at once: the nearest, and a few from every shell of ranks further out.

Large perplexities reach far beyond a graph of nearest neighbours, but they do not need every point out there:
of the ranks k … 2k, 2k … 4k, and so on, a few stand for the others, each for as many as it was drawn from. A
sum Σ_j p_ij g_ij is then Σ_j c_ij p_ij g_ij without bias, with some hundred edges a point for every
perplexity.

The shells come from random subsamples: in one of a point in 2^s, the ranks beyond k stand for ranks beyond
k 2^s. A shell begins where the one before ended, so that none overlaps and none leaves a gap. For each s the
points are dealt out into 2^s such parts, so that all are drawn equally often: with one part for all, a few
points would be everybody's far neighbours, and carry the forces of the whole map.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfield.affinity.neighbours import share_out
from nearfield.affinity.source import Source
from nearfield.affinity.space_base import Space
from nearfield.parallel import CHUNKS, one_blas_thread, over_chunks
from nearfield.typing import Array

NEAREST = 24  # neighbours that are all taken
DRAWN = 16  # neighbours of every shell beyond
MUCH = 2  # times as many nearest neighbours as strata have, from which on strata take their place
LEAST_SHARE = 0.25  # of its due that the last shell keeps, whatever the others stand for


@dataclass(frozen=True)
class Strata:
    """For every point its nearest neighbours, and some from every shell beyond.

    Attributes
    ----------
    indices : array of int32 (points, edges)
        The neighbours, rising in a row.
    squared : array of float32 (points, edges)
        Their squared distances; an empty entry, at the end, is at infinity.
    multiplicity : array of float32 (points, edges)
        How many points each of them stands for; 0 in an empty entry.
    unit : float
        What distances are to be multiplied by to be those of the data.
    """

    indices: Any
    squared: Any
    multiplicity: Any
    unit: float = 1.0


@dataclass(frozen=True)
class Sampled:
    """A target on a sample of the pairs.

    Attributes
    ----------
    P : csr_array
        The target on these pairs, each that of a single pair.
    multiplicity : array
        How many pairs each stored value stands for.
    """

    P: Any
    multiplicity: Any

    def folded(self) -> Any:
        """One matrix, whose values are those of all pairs that they stand for."""
        P = self.P.copy()
        P.data = P.data * self.multiplicity
        return P


def edge_count(n: int) -> int:
    """How many edges a point has in the strata of n points, at most.

    Examples
    --------
    >>> edge_count(2000), edge_count(70_000), edge_count(1_000_000)
    (136, 216, 280)
    """
    return min(NEAREST + DRAWN * _levels(n), n - 1)


def pay(n: int, k: int) -> bool:
    """Whether strata are so much smaller than k neighbours that they are worth the draw.

    Examples
    --------
    >>> pay(70_000, 90), pay(70_000, 3000)
    (False, True)
    """
    return k > MUCH * edge_count(n)


def _levels(n: int) -> int:
    """How many shells there are."""
    return max(0, int(np.ceil(np.log2(max(n - 1, 1) / NEAREST))))


@one_blas_thread()
def strata(source: Source) -> Strata:
    """The strata of the points of a source; which ones are drawn is always the same.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = strata(Source.of(np.random.default_rng(0).normal(size=(500, 3))))
    >>> drawn.indices.shape
    (500, 104)
    >>> bool(np.all(np.abs(drawn.multiplicity.sum(axis=1) / 499 - 1) < 0.5))
    True
    """
    where, n, n_jobs = source.space, source.n, source.n_jobs
    random = np.random.default_rng(0)
    indices, squared, _, _ = where.nearest(min(2 * NEAREST, n - 1), n_jobs)
    share_out(indices, squared)
    parts = [_first(indices, squared, NEAREST)]
    inner = parts[0][1][:, -1]  # where the next shell begins
    for level in range(_levels(n)):
        last = level == _levels(n) - 1
        each = np.ones(n)
        if level:
            indices, squared, each = _in_groups(where, level, last, random, n_jobs)
        shell, inner = _shell(indices, squared, inner, each, last, random)
        parts.append(shell)
    if len(parts) > 1:
        _complete(parts, n)
    indices, squared, multiplicity = (np.hstack(part) for part in zip(*parts, strict=True))
    return _sorted(indices, squared, multiplicity, where.unit)


def strata_of_rows(rows: Any, where: Space, n_jobs: int | None) -> Strata:
    """The strata of other rows among the points of a space, by subsamples that are the same for all rows.

    Nobody is carried by them, since the points do not move: so one part for all of each level is enough. A
    row's strata are its own, whatever other rows there are.
    """
    n, random = where.n, np.random.default_rng(0)
    indices, squared, _, _ = where.nearest_to(rows, min(2 * NEAREST, n), n_jobs)
    parts = [_first(indices, squared, NEAREST)]
    inner = parts[0][1][:, -1]
    for level in range(_levels(n)):
        last = level == _levels(n) - 1
        each = np.ones(rows.shape[0])
        if level:
            members = np.sort(random.permutation(n)[: max(1, n // 2**level)])
            k = len(members) if last else min(2 * NEAREST, len(members))
            far = np.asarray(where.to_all(rows, n_jobs, members), dtype=np.float32)
            order = np.argsort(far, axis=1, kind="stable")[:, :k]
            indices, squared = members[order], np.take_along_axis(far, order, axis=1)
            each *= n / len(members) * (1 if last else k / (k - 1))
        shell, inner = _shell(indices, squared, inner, each, last, Midway())
        parts.append(shell)
    if len(parts) > 1:
        _complete(parts, n + 1)
    indices, squared, number = (np.hstack(part) for part in zip(*parts, strict=True))
    order = np.argsort(np.where(number > 0, squared, np.inf), axis=1, kind="stable")
    found = [np.take_along_axis(part, order, axis=1) for part in (indices, squared, number)]
    return Strata(found[0].astype(np.int32), np.where(found[2] > 0, found[1], np.inf), found[2], where.unit)


class Midway:
    """In the place of random numbers where there must be none: always the middle."""

    def random(self, shape: Any) -> Array:
        """So many halves."""
        return np.full(shape, 0.5)


def _in_groups(
    where: Space, level: int, last: bool, random: np.random.Generator, n_jobs: int | None
) -> tuple[Any, Any, Array]:
    """The nearest of every point in a random part of the points (at last all), and what one stands for.

    The points are dealt out into parts, and the parts to the points, so that every point is as often a
    neighbour as any other.
    """
    n, most = where.n, 2 * NEAREST
    groups = max(1, min(2**level, n // (most + 1)))
    parts = np.array_split(random.permutation(n), groups)
    asking = np.array_split(random.permutation(n), groups)
    k = max(map(len, parts)) if last else min(most, *map(len, parts))
    indices, squared, each = np.zeros((n, k), np.int32), np.full((n, k), np.inf, np.float32), np.empty(n)

    def search(lo: int, hi: int, n_jobs: int | None = 1) -> None:
        for members, queries in zip(parts[lo:hi], asking[lo:hi], strict=True):
            members, queries = np.sort(members), np.sort(queries)
            found = where.nearest(min(k, len(members)), n_jobs, queries, members)
            for kept, part in ((indices, found[0]), (squared, found[1])):
                kept[queries, : part.shape[1]] = part
            each[queries] = (n - 1) / (len(members) - np.isin(queries, members))
            if not last:  # the shell ends at the k-th, which is left out
                each[queries] *= k / (k - 1)

    if len(parts) < CHUNKS:  # each of them on all threads
        search(0, len(parts), n_jobs)
    else:
        over_chunks(search, len(parts), n_jobs=n_jobs)
    return indices, squared, each


def _complete(parts: list[tuple[Any, Any, Any]], n: int) -> None:
    """Let the last shell, which is the roughest, stand for all points that the others do not, in place."""
    outermost = parts[-1][2]
    rest = n - 1 - sum(multiplicity.sum(axis=1) for _, _, multiplicity in parts[:-1])
    now = outermost.sum(axis=1)
    factor = np.maximum(rest / np.maximum(now, 1e-30), LEAST_SHARE)
    outermost *= np.where(now > 0, factor, 1.0)[:, None].astype(np.float32)


def _first(indices: Any, squared: Any, k: int) -> tuple[Any, Any, Any]:
    """The k nearest, each for itself."""
    k = min(k, indices.shape[1])
    there = np.isfinite(squared[:, :k])
    return indices[:, :k], squared[:, :k], there.astype(np.float32)


def _shell(
    indices: Any,
    squared: Any,
    inner: Array,
    each: Array,
    last: bool,
    random: np.random.Generator | Midway,
) -> tuple[tuple[Any, Any, Any], Array]:
    """Some of the neighbours beyond `inner`, and where the next shell begins: at the last one found.

    One of them stands for `each`. They are drawn at even steps along their ranks, from a start that is random
    for each point: every one is as likely as the others, and all distances are there.
    """
    k = squared.shape[1]
    found = np.isfinite(squared)
    outer = np.where(found, squared, -np.inf).max(axis=1)
    outside = found & (squared > inner[:, None])
    if not last:
        outside &= squared < outer[:, None]
    there = outside.sum(axis=1)
    first = np.where(there > 0, outside.argmax(axis=1), 0)  # rows rise, so they are side by side
    taken = min(DRAWN, k)
    step = np.maximum(there / taken, 1.0)
    at = np.floor((np.arange(taken) + random.random((len(squared), 1))) * step[:, None])
    real = at < there[:, None]
    columns = np.minimum(first[:, None] + np.where(real, at, 0), k - 1).astype(np.int64)
    distances = np.where(real, np.take_along_axis(squared, columns, axis=1), np.inf).astype(np.float32)
    stands_for = each * there / np.maximum(real.sum(axis=1), 1)
    multiplicity = np.where(real, stands_for[:, None], 0.0).astype(np.float32)
    part = (np.take_along_axis(indices, columns, axis=1), distances, multiplicity)
    return part, np.maximum(inner, np.nextafter(outer, -np.inf))


def _sorted(indices: Any, squared: Any, multiplicity: Any, unit: float) -> Strata:
    """Rows in the order of their indices, empty entries at the end."""
    n = len(indices)
    key = np.where(multiplicity > 0, indices, n)
    order = np.argsort(key, axis=1, kind="stable")
    longest = int((multiplicity > 0).sum(axis=1).max())
    parts = [
        np.take_along_axis(part, order, axis=1)[:, :longest] for part in (indices, squared, multiplicity)
    ]
    indices, squared, multiplicity = map(np.ascontiguousarray, parts)
    return Strata(indices, squared, multiplicity, unit)
