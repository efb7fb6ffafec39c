"""What is to be computed, in the facts by which engines say whether they can, and what it takes."""

from __future__ import annotations

from dataclasses import dataclass

from nearfield.algebra.method import Method


@dataclass(frozen=True, eq=False)
class Task:
    """A method and the facts of its data and map.

    Attributes
    ----------
    method : Method
        What is minimised.
    n, n_components : int
        The points, and the dimensions of their map.
    euclidean : bool
        Whether the data are coordinates whose Euclidean distances are meant.
    columns : int
        How many columns they have.
    stored : int, optional
        How many numbers sparse data hold.
    neighbours, drawn : int
        How many neighbours of a point a target on neighbours would hold: the nearest, or, where that would be
        too many, some that are drawn from all ranks.
    weighted : bool
        Whether points stand for several copies each.
    scales : int
        How many perplexities P is averaged over.
    drawable : bool
        Whether neighbours of every rank can be drawn: not from a graph or a P that is given.
    """

    method: Method
    n: int = 0
    n_components: int = 2
    euclidean: bool = False
    columns: int = 0
    stored: int | None = None
    neighbours: int = 90
    drawn: int = 0
    weighted: bool = False
    scales: int = 1
    drawable: bool = True
