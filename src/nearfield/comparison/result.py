"""What a comparison has found: plain data that prints as a table and saves as a page or as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import nearfield
from nearfield.algebra.method import Method
from nearfield.comparison.alignment import align
from nearfield.comparison.figures import FIGURES, Figure
from nearfield.comparison.wanted import PCA
from nearfield.io.files import check_writable, replacing
from nearfield.judge.quality import Quality
from nearfield.typing import Array

SUFFIXES = (".html", ".htm", ".json")


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """What became of one method.

    Attributes
    ----------
    name : str
        Under which it was asked for.
    method : Method or None
        Its composition; None for the principal components.
    status : {"made", "failed", "interrupted", "not run"}
        Whether there is a map, and if not, why not.
    error : str
        Of one that failed: what it said.
    exception : Exception or None
        The same as it was raised, with its traceback.
    Y : array (points, 2) or None
        The map, as the method gave it.
    quality : Quality or None
        How good it is.
    seconds : float
        How long it took to make it.
    iterations, converged, cost
        How it was made; the cost is NaN for the principal components.
    plan : str
        What computed it, and why.
    notes : tuple of str
        What there is to know of the map, such as that it shattered.
    variance : float or None
        Of the principal components: the share of the data's variance that the map shows.
    """

    name: str
    method: Method | None
    status: str = "not run"
    error: str = ""
    exception: Exception | None = None
    Y: Array | None = None
    quality: Quality | None = None
    seconds: float = float("nan")
    iterations: int = 0
    converged: bool = False
    cost: float = float("nan")
    plan: str = ""
    notes: tuple[str, ...] = ()
    variance: float | None = None

    @property
    def composition(self) -> str:
        """The method in a line."""
        return "principal components" if self.method is None else str(self.method)

    def figure(self, name: str) -> float | None:
        """A figure of the table, None where there is none."""
        if self.quality is None:
            return None
        value = self.seconds if name == "seconds" else getattr(self.quality, name)
        return None if value is None or value != value else float(value)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.error or self.status}>"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Maps of the same data by several methods; `print` shows the table of their quality.

    Attributes
    ----------
    outcomes : tuple of Outcome
        One for each method, in the order that was asked for.
    labels : sequence or None
        What colours the points.
    title : str
        What the data are called.
    columns : int
        Of the data.
    settings : dict
        The parameters that were given.
    repeat : str
        What to run to do the same again.
    interrupted : bool
        Whether Ctrl-C ended it.
    """

    outcomes: tuple[Outcome, ...]
    labels: Any = None
    title: str = "data"
    columns: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    repeat: str = ""
    interrupted: bool = False

    def __getitem__(self, name: str) -> Outcome:
        for each in self.outcomes:
            if each.name == name:
                return each
        raise KeyError(f"no method {name!r} here; there are {', '.join(each.name for each in self.outcomes)}")

    @property
    def made(self) -> list[Outcome]:
        """Those that have a map."""
        return [each for each in self.outcomes if each.status == "made"]

    @property
    def missing(self) -> list[Outcome]:
        """Those that have none."""
        return [each for each in self.outcomes if each.status != "made"]

    @property
    def maps(self) -> dict[str, Array]:
        """The maps by name, as the methods gave them."""
        return {each.name: each.Y for each in self.made if each.Y is not None}

    @cached_property
    def aligned(self) -> dict[str, Array]:
        """The maps by name, laid on the principal components, or without these on the first map."""
        maps = self.maps
        reference = maps.get(PCA, next(iter(maps.values()), None))
        return {} if reference is None else {name: align(Y, reference) for name, Y in maps.items()}

    @property
    def judged(self) -> Quality | None:
        """The first of the qualities, for what they have in common."""
        return next((each.quality for each in self.made), None)

    @property
    def figures(self) -> list[Figure]:
        """The columns of the table: those that some map has a value for."""
        return [each for each in FIGURES if any(made.figure(each.name) is not None for made in self.made)]

    @property
    def best(self) -> dict[str, list[str]]:
        """Who is best at each figure; several that print alike share it."""
        found = {}
        for column in self.figures:
            marks = column.best([each.figure(column.name) for each in self.outcomes])
            found[column.name] = [e.name for e, mark in zip(self.outcomes, marks, strict=True) if mark]
        return found

    def table(self) -> list[dict[str, Any]]:
        """The figures as a row for each method, ready for a data frame.

        Examples
        --------
        >>> import numpy as np, nearfield as nf
        >>> X = np.random.default_rng(0).normal(size=(40, 5))
        >>> [row["method"] for row in nf.compare(X, ["pca", "mds"]).table()]
        ['pca', 'mds']
        """
        return [
            {"method": each.name, "status": each.status}
            | {column.name: each.figure(column.name) for column in self.figures}
            for each in self.outcomes
        ]

    def to_dict(self, *, maps: bool = False) -> dict[str, Any]:
        """All of it as plain numbers and text, ready for JSON; `maps` adds the coordinates."""
        judged = self.judged
        return {
            "nearfield": nearfield.__version__,
            "data": self.title,
            "n_points": judged.n_points if judged else None,
            "n_columns": self.columns,
            "settings": self.settings,
            "repeat": self.repeat,
            "interrupted": self.interrupted,
            "best": self.best,
            "methods": [_as_dict(each, maps) for each in self.outcomes],
        }

    def save(self, path: str | os.PathLike[str], *, maps: bool = False) -> None:
        """Write the report, whole or not at all.

        Parameters
        ----------
        path : path-like
            A `.html` file for people, one page that needs nothing else; or `.json` for programs.
        maps : bool
            Whether the JSON has the coordinates.
        """
        path = check_report_path(path)
        if path.suffix.lower() == ".json":
            text = json.dumps(self.to_dict(maps=maps), indent=2) + "\n"
        else:
            from nearfield.comparison.page import page

            text = page(self)
        with replacing(path) as scratch:
            scratch.write_text(text, encoding="utf-8")

    def __repr__(self) -> str:
        columns = self.figures
        # The mark of the best hangs out: titles end above the last digit.
        rows = [["method", *(f"{column.short} " for column in columns)]]
        best = self.best
        for each in self.outcomes:
            if each.quality is None:
                rows.append([each.name, each.error or each.status])
                continue
            marks = ["*" if each.name in best[column.name] else " " for column in columns]
            texts = [column.text(each.figure(column.name)) for column in columns]
            rows.append([each.name, *(text + mark for text, mark in zip(texts, marks, strict=True))])
        judged = self.judged
        seen = "" if judged is None or judged.exact else f", judged from {judged.n_queries} sampled points"
        return f"{self.title}{seen}; * is the best\n" + _aligned_text(rows)

    def _repr_html_(self) -> str:
        from nearfield.comparison.page import fragment

        return fragment(self)


def check_report_path(path: str | os.PathLike[str]) -> Path:
    """Make sure, before the work, that a report can be written here.

    Examples
    --------
    >>> check_report_path("report.docx")
    Traceback (most recent call last):
    ...
    ValueError: cannot write a report as report.docx: use .html or .json
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"cannot write a report as {path}: use .html or .json")
    return check_writable(path)


def _as_dict(each: Outcome, maps: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": each.name,
        "composition": each.composition,
        "status": each.status,
        "error": each.error or None,
    }
    if each.quality is None or each.Y is None:
        return found
    return found | {
        "seconds": each.seconds,
        "iterations": each.iterations,
        "converged": each.converged,
        "cost": None if each.cost != each.cost else each.cost,
        "plan": each.plan,
        "notes": list(each.notes),
        **({} if each.variance is None else {"variance": each.variance}),
        "quality": each.quality.to_dict(),
        **({"map": each.Y.tolist()} if maps else {}),
    }


def _aligned_text(rows: Sequence[Sequence[str]]) -> str:
    """Rows as lines: the first column to the left, the others to the right; short rows end in a note."""
    whole = [row for row in rows if len(row) == len(rows[0])]
    widths = [max(len(row[k]) for row in whole) for k in range(len(rows[0]))]
    widths[0] = max(len(row[0]) for row in rows)
    lines = []
    for first, *rest in rows:
        if len(rest) == len(widths) - 1 and len(widths) > 2:
            rest = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *rest]).rstrip())
    return "\n".join(lines)
