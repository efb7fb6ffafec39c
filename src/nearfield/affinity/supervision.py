"""Labels that have a say in P: points of different known classes are less of neighbours than they are near.

p_j|i between points of different known labels is multiplied by 1 - s, and the row brought back to the sum
that it had, before P is made symmetric. A point without a label, and a row whose neighbours all have labels
that differ from its own, stay as they are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from nearfield.affinity.copies import row_sums
from nearfield.typing import Array

BLOCK = 2**22  # values of P that are looked at together


@dataclass(frozen=True, eq=False)
class Supervision:
    """The classes of points, as far as they are known, and how much they count.

    Attributes
    ----------
    codes : array of int (points,)
        The class of each point as a number from 0 up; -1 for none.
    strength : float
        s, within 0 and 1.
    """

    codes: Any
    strength: float

    @classmethod
    def of(cls, labels: Any, n: int, strength: float) -> Self:
        """From what a person calls labels, or a line that says what is wrong with them.

        Examples
        --------
        >>> Supervision.of(["b", None, "a", "b", float("nan"), -1], 6, 0.5).codes
        array([ 1, -1,  0,  1, -1, -1])
        """
        return cls(_codes(labels, n), strength)

    def extended(self, count: int) -> Supervision:
        """The same with so many points more, of which nothing is known."""
        return replace(self, codes=np.concatenate([self.codes, np.full(count, -1)]))

    def first(self, n: int) -> Supervision:
        """Of the first n points alone."""
        return replace(self, codes=self.codes[:n])

    def factors(self, rows: Any, columns: Any) -> Any:
        """1 - s for pairs of different known labels, and 1 for all others."""
        own, theirs = self.codes[rows], self.codes[columns]
        differ = (own != theirs) & (own >= 0) & (theirs >= 0)
        return np.where(differ, np.float32(1 - self.strength), np.float32(1))

    def discount(self, P: Any, columns: Any = None, counts: Any = None, *, bare: bool = False) -> Array:
        """Discount rows of p in place, and bring them back to their sum, or bare weights to their largest.

        Parameters
        ----------
        P : array (points, k)
            p_j|i, or weights.
        columns : array (points, k), optional
            Which points they are of; by default all of them, in their order.
        counts : array (points, k), optional
            How many points each of them stands for.

        Returns
        -------
        array (points,)
            What each row was multiplied by to be brought back.
        """
        back = np.ones(len(P))
        n, step = len(P), max(1, BLOCK // max(P.shape[1], 1))
        for lo in range(0, n, step):
            part, rows = P[lo : lo + step], np.arange(lo, min(lo + step, n))[:, None]
            of = np.arange(P.shape[1]) if columns is None else columns[lo : lo + step]
            weighed = None if counts is None else counts[lo : lo + step]
            before = _sizes(part, weighed, bare)
            part *= self.factors(rows, of)
            back[rows[:, 0]] = before / _sizes(part, weighed, bare)
            part *= back[rows].astype(P.dtype)
        return back

    def discounted(self, P: Any, weights: Array | None) -> Any:
        """Affinities of one's own, dense or sparse, discounted; each row keeps its sum."""
        before = row_sums(P, weights)
        rows = np.arange(P.shape[0])
        if sparse.issparse(P):
            P = sparse.csr_array(P, copy=True)
            of = np.repeat(rows, np.diff(P.indptr))
            P.data = P.data * self.factors(of, P.indices).astype(np.float64)
        else:
            P = P * self.factors(rows[:, None], rows).astype(np.float64)
        after = row_sums(P, weights)
        scale = before / np.where(after > 0, after, 1.0)
        return sparse.csr_array(sparse.diags_array(scale) @ P) if sparse.issparse(P) else P * scale[:, None]


def _sizes(P: Any, counts: Any, bare: bool) -> Array:
    """The sums of rows, or the largest of each; 1 of rows that hold nothing."""
    found = P.max(axis=1) if bare else (P if counts is None else P * counts).sum(axis=1)
    return np.where(found > 0, found, 1.0).astype(np.float64)


def _codes(labels: Any, n: int) -> Any:
    """Classes as numbers from 0 up, and -1 for None, NaN, -1 and empty text."""
    values = labels.tolist() if hasattr(labels, "tolist") else labels
    if not isinstance(values, Iterable):
        raise ValueError(f"labels must be one for each point, got {values!r}")
    values = list(values)
    values = [-1 if isinstance(each, str) and each.strip() == "-1" else each for each in values]  # of a CSV
    if len(values) != n:
        raise ValueError(f"there are {n} points but {len(values)} labels: give one for each point")
    if any(isinstance(each, tuple) or not isinstance(each, Hashable) for each in values):
        raise ValueError("labels must be one for each point, and not several: pass one column")
    known = [each for each in values if not _is_missing(each)]
    numbers = [float(each) for each in known if isinstance(each, (float, np.floating))]
    if set(known) in ({-1, 1}, {-1, "1"}):
        raise ValueError(
            "labels are -1 and 1: if -1 is a class, name the classes otherwise, such as 0 and 1; if it is no"
            " label, pass NaN in its place"
        )
    measured = [each for each in numbers if not np.isfinite(each) or each != round(each)]
    if measured:
        raise ValueError(
            f"labels look like measurements ({measured[0]:g} is one of them), and are taken as classes: pass"
            " bins of them if that is meant, or leave supervision at 0"
        )
    kept = {each for each in known if each != -1}
    if not kept:
        raise ValueError("no point has a label: pass some, or leave supervision at 0")
    try:
        order = sorted(kept, key=lambda each: (isinstance(each, str), each))
    except TypeError:  # of several kinds, which have no order
        order = sorted(kept, key=lambda each: (type(each).__name__, str(each)))
    names = {each: code for code, each in enumerate(order)}
    return np.array([-1 if _is_missing(each) or each == -1 else names[each] for each in values], np.int64)


def _is_missing(value: Any) -> bool:
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        return bool(value != value)  # NaN differs from itself
    except TypeError:  # as pandas' NA, which has no truth value
        return True
