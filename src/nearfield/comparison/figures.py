"""The columns of the table: what each figure is called, what it means, and which value is the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A column of the table.

    Attributes
    ----------
    name : str
        As in `Quality`, or "seconds".
    title, short : str
        In the page, and where there is little room.
    meaning : str
        In a line; ``{k}`` is the number of neighbours.
    digits : int
        Behind the point.
    unit : str
        Behind the number; percentages are of 1.
    lower : bool
        Whether less is better.
    """

    name: str
    title: str
    short: str
    meaning: str
    digits: int = 3
    unit: str = ""
    lower: bool = False

    def text(self, value: float | None) -> str:
        """The value as it is printed.

        >>> FIGURES[1].text(0.5312), FIGURES[0].text(None)
        ('53.1 %', '–')
        """
        if value is None or value != value:
            return "–"
        return f"{100 * value if self.unit == ' %' else value:.{self.digits}f}{self.unit}"

    def best(self, values: Sequence[float | None]) -> list[bool]:
        """Which of the values are the best: those that are printed as the best one is, if not all are.

        >>> FIGURES[0].best([0.1, 0.30001, None, 0.3])
        [False, True, False, True]
        """
        there = [value for value in values if value is not None and value == value]
        if len({self.text(value) for value in there}) < 2:
            return [False] * len(values)  # without another one there is no best
        top = self.text(min(there) if self.lower else max(there))
        return [self.text(value) == top for value in values]


FIGURES = (
    Figure(
        "auc",
        "Neighbourhoods of all sizes",
        "R_NX area",
        "Area under the curve R_NX: how well neighbourhoods of every size are kept, small ones weighing more."
        " 1 is perfect, 0 is chance.",
    ),
    Figure(
        "neighbours_kept",
        "Nearest neighbours kept",
        "kept",
        "Of the {k} nearest neighbours that a point has in the data, the share that are among its {k} nearest"
        " in the map.",
        digits=1,
        unit=" %",
    ),
    Figure(
        "trustworthiness",
        "Trustworthiness",
        "trust",
        "Points that are neighbours in the map are so in the data: 1 if there are no false neighbours among"
        " the {k} nearest.",
    ),
    Figure(
        "continuity",
        "Continuity",
        "continuity",
        "Points that are neighbours in the data are so in the map: 1 if no neighbours among the {k} nearest"
        " were torn apart.",
    ),
    Figure(
        "spearman",
        "Order of distances",
        "Spearman",
        "Rank correlation of all distances in data and map: 1 if far means far and near means near"
        " everywhere.",
    ),
    Figure(
        "stress",
        "Error of distances",
        "stress",
        "How far distances in the map, at its best size, are from those in the data. 0 is perfect: less is"
        " better.",
        lower=True,
    ),
    Figure(
        "label_accuracy",
        "Labels recovered",
        "labels",
        "Share of points whose label the {k} nearest points of the map guess by a vote.",
        digits=1,
        unit=" %",
    ),
    Figure(
        "seconds",
        "Time",
        "time",
        "How long it took to make the map on this machine, without judging it: less is better. The very first"
        " run of a method also compiles it.",
        digits=2,
        unit=" s",
        lower=True,
    ),
)
