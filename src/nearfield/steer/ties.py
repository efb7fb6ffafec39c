"""Ties: points of several maps that stand for the same thing are drawn to one place.

With m_i the mean of where point i lies in the maps that have it, each of them is drawn to it by

    T = strength · (M/N) · R · Σ_i ρ(‖y_i - m_i‖²/(width R)²),        ρ(t) = log(1 + t)

as followers are drawn to a pin (`nearfield.steer.penalties`): what hardly differs is held together, and who
truly belongs elsewhere in one of the maps may go. The means move along at every iteration. Held for only ten,
they would keep maps from growing that have yet to unfold.

A cost does not depend on where a map lies or how it is turned, and neither do the ties: before the means are
taken, each map is laid on those before it, shifted, turned and mirrored as a whole. Its size stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from nearfield.steer.base import Indices, Measure, Term
from nearfield.steer.penalties import Student
from nearfield.typing import Array

WIDTH = 0.5  # of the penalty, in units of the map's radius

Frame = tuple[Array, Array]  # how a map is turned, and then shifted


class Ties:
    """Which points of several maps are the same, and where they lie in common.

    Parameters
    ----------
    ids : sequence of list
        The ids of the points of each map, none of them twice.

    Attributes
    ----------
    count : int
        How many are in more than one map.
    rows, common : list of array
        The shared points of each map, and their numbers among all that are shared.
    places : list of array
        Where each map's shared points are drawn to, in its own coordinates.
    sizes : array
        The radii of the maps, or what is taken for them.
    frames : list of Frame
        How each map is laid on the first.

    Examples
    --------
    >>> ties = Ties([["a", "b", "c"], ["c", "d", "a"]])
    >>> ties.rows
    [array([0, 2]), array([0, 2])]
    >>> ties.common
    [array([0, 1]), array([1, 0])]
    """

    def __init__(self, ids: Sequence[list[Any]]) -> None:
        times: dict[Any, int] = {}
        for own in ids:
            for each in own:
                times[each] = times.get(each, 0) + 1
        numbers = {each: k for k, each in enumerate(e for e, count in times.items() if count > 1)}
        self.count = len(numbers)
        self.rows = [np.array([i for i, e in enumerate(own) if times[e] > 1], np.int64) for own in ids]
        self.common = [np.array([numbers[e] for e in own if times[e] > 1], np.int64) for own in ids]
        self.order = self._order()
        self.places: list[Array] = []
        self.sizes = np.ones(len(ids))
        self.frames: list[Frame] = []

    def shared(self, a: int, b: int) -> tuple[Indices, Indices]:
        """The points that two maps share: their rows in the one and in the other."""
        _, here, there = np.intersect1d(self.common[a], self.common[b], return_indices=True)
        return self.rows[a][here], self.rows[b][there]

    def _order(self) -> list[int]:
        """The maps, each after some that it shares points with; or one line of who shares none."""
        order, known = [0], set(self.common[0].tolist())
        while len(order) < len(self.rows):
            others = [k for k in range(len(self.rows)) if k not in order]
            found = next((k for k in others if known & set(self.common[k].tolist())), None)
            if found is None:
                raise ValueError(
                    f"data sets 0 and {others[0]} share no ids, nor by way of others: give the same id to the"
                    " same thing, numbers or text in all of them"
                )
            order.append(found)
            known |= set(self.common[found].tolist())
        return order

    def lay(self, maps: Sequence[Array], least: Sequence[float] | None = None) -> None:
        """Take the means of the shared points as they are now; `least` is the smallest size of each map."""
        dimensions = maps[0].shape[1]
        total, times = np.zeros((self.count, dimensions)), np.zeros(self.count)
        frames: dict[int, Frame] = {}
        for k in self.order:
            here, common = maps[k][self.rows[k]], self.common[k]
            known = times[common] > 0
            means = total[common[known]] / times[common[known], None]
            frames[k] = rigid(here[known], means) if k else (np.eye(dimensions), np.zeros(dimensions))
            turn, shift = frames[k]
            total[common] += here @ turn + shift
            times[common] += 1
        self.frames = [frames[k] for k in range(len(maps))]
        means = total / times[:, None]
        self.places = [
            (means[common] - shift) @ turn.T
            for common, (turn, shift) in zip(self.common, self.frames, strict=True)
        ]
        self.sizes = np.maximum([radius(Y) for Y in maps], np.zeros(len(maps)) if least is None else least)

    def laid(self, maps: Sequence[Array]) -> list[Array]:
        """The maps laid on the first, as `lay` has found."""
        return [Y @ turn + shift for Y, (turn, shift) in zip(maps, self.frames, strict=True)]


@dataclass(frozen=True, eq=False)
class Tie(Term):
    """What draws the shared points of one map to their means.

    Attributes
    ----------
    ties : Ties
        The means, which are taken anew as the maps move.
    number : int
        Of the map.
    strength : float
        In units of the force that a point feels anyway.
    pull : float
        That force.
    """

    ties: Ties
    number: int
    strength: float
    pull: float = 1.0
    floats: ClassVar[bool] = True
    live: ClassVar[bool] = True

    def measured(self, measure: Measure) -> Tie:
        return replace(self, pull=measure.force)

    def evaluate(self, Y: Array) -> tuple[float, Indices, Array]:
        rows, places = self.ties.rows[self.number], self.ties.places[self.number]
        size = float(self.ties.sizes[self.number]) or 1.0
        penalty = Student(self.strength, WIDTH)
        factor, square = penalty.constants(Measure(self.pull, size), len(rows))
        gaps = Y[rows] - places
        t = np.einsum("kc,kc->k", gaps, gaps) / square
        steepness = (2 * factor / square) * penalty.slope(t)
        return factor * float(penalty.value(t).sum()), rows, steepness[:, None] * gaps


def rigid(Y: Array, onto: Array) -> Frame:
    """The turn (or mirroring) and the shift that lay some points on others as well as can be, by Procrustes.

    Examples
    --------
    >>> Y = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> turn, shift = rigid(Y[:, ::-1] + 3, Y)
    >>> ((Y[:, ::-1] + 3) @ turn + shift).round(12) + 0.0
    array([[0., 0.],
           [2., 0.],
           [0., 1.]])
    """
    here, there = Y.mean(axis=0), onto.mean(axis=0)
    left, _, right = np.linalg.svd((Y - here).T @ (onto - there))
    turn = left @ right
    return turn, there - here @ turn


def radius(Y: Array) -> float:
    """R, the root of the mean squared distance from the centre."""
    return float(np.sqrt(np.mean(np.sum((Y - Y.mean(axis=0)) ** 2, axis=1))))
