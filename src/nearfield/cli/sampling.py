"""Landmarks on the command line: some rows of a table to make the map of, and all of them placed in it.

Parquet, Arrow and NumPy files are read twice, some rows at a time, and never held: once for the landmarks,
and once to be placed. Other tables are read as a whole.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from nearfield.cli.place import Wanted, columns_of, pieces
from nearfield.cli.terminal import INTERRUPTED, Gauge

if TYPE_CHECKING:
    import numpy as np

    from nearfield.cli.reading import Reading
    from nearfield.cli.terminal import Report
    from nearfield.descent.preparing import Preparation
    from nearfield.estimators import Embedder
    from nearfield.io.chunked import Chunked
    from nearfield.io.columns import Table

STREAMED = (".parquet", ".feather", ".arrow", ".ipc", ".npy")


@dataclass(frozen=True)
class Sample:
    """The landmarks of a table, and how all of its rows are read again.

    Attributes
    ----------
    data : Path
        Where it is.
    table : Table
        The landmarks.
    parts : callable
        Gives the whole table some rows at a time, with the share that has been read.
    """

    data: Path
    table: Table
    parts: Callable[[Wanted], Iterator[tuple[Table, float]]]

    @classmethod
    def of(
        cls,
        data: Path,
        reading: Reading,
        landmarks: int,
        choice: str,
        metric: str | None,
        seed: int,
        report: Report,
    ) -> Sample:
        """Choose so many rows of a table, and say what was read."""
        if metric in ("precomputed", "affinity"):
            raise ValueError(
                f"--landmarks are rows of a table, and --metric {metric} has none: leave out one"
            )
        if data.suffix.lower() in STREAMED:
            return _of_file(data, reading, landmarks, choice, metric, seed, report)
        from nearfield.io.chunked import Held

        table = reading.read(data, metric, report)
        which = _chosen(Held(table.X), landmarks, choice, metric, seed, report)
        return cls(data, table.kept(which), lambda _: iter([(replace(table, notes=()), 1.0)]))

    def write(
        self,
        out: Path,
        model: Embedder,
        how: Preparation,
        reading: Reading,
        about: dict[str, Any],
        report: Report,
        *,
        shown: bool,
        kept: bool,
    ) -> tuple[Any, Any]:
        """Place all rows and write them; if they are to be `kept`, their places and their labels."""
        import numpy as np

        from nearfield.io.streams import writing

        sides_asked = (reading.id, reading.label)
        wanted = Wanted(
            self.data, Path("the map"), how.names, len(how.names), how.means, reading.missing, *sides_asked,
            sides_asked,
        )  # fmt: skip
        placing, began, read, placed = model._placing(), time.perf_counter(), 0, 0
        drawn: list[Any] = []
        try:
            with writing(out, about) as rows, Gauge("placing", shown) as gauge:
                for part, share in self.parts(wanted):
                    for piece in pieces(part):
                        X, sides = wanted.mended(piece, read)
                        Y = placing.transform(X)
                        rows.write(columns_of(Y, sides))
                        read, placed = read + len(piece.X), placed + len(X)
                        if kept:
                            drawn.append((Y, sides.get("label")))
                    if share < 1:
                        gauge(share, f"{placed} rows")
                gauge(1.0, f"{placed} rows")
        except KeyboardInterrupt:
            print(f"interrupted after {placed} rows: nothing was written", file=sys.stderr, flush=True)
            raise typer.Exit(INTERRUPTED) from None
        if read > placed:
            report("", f"left out {read - placed} of {read} rows, in which numbers are missing")
        report("placed", f"{placed} rows in {time.perf_counter() - began:.1f} s")
        if not kept:
            return None, None
        places, labels = zip(*drawn, strict=True)
        return np.concatenate(places), None if labels[0] is None else np.concatenate(labels)


def _of_file(
    data: Path, reading: Reading, landmarks: int, choice: str, metric: str | None, seed: int, report: Report
) -> Sample:
    """The landmarks of a file that is not held."""
    import numpy as np

    from nearfield.io.columns import Table
    from nearfield.io.indexes import without_index
    from nearfield.io.missing import without_missing
    from nearfield.io.streams import chunks

    rows, notes = _opened(data, reading)
    report("read", f"{data}: {rows.shape[0]} rows × {rows.shape[1]} columns, some at a time")
    which = _chosen(rows, landmarks, choice, metric, seed, report)
    X = rows.gathered(which) if reading.missing == "refuse" else np.asarray(rows.take(which), np.float64)
    names = rows.names or tuple(f"x{j + 1}" for j in range(rows.shape[1]))
    labels = None
    if reading.label is not None:
        from nearfield.io.arrow import arrow_columns, text_of

        labels = text_of(arrow_columns(data, [reading.label])[reading.label].take(which))
    table = Table(X, names, labels, which, tuple(notes))
    table = table if reading.columns is not None else without_index(table)
    for note in table.notes:
        report("", note)
    mended = without_missing(replace(table, notes=()), reading.missing)
    for note in mended.notes:
        report("", f"of the landmarks, {note}")
    table = replace(mended, notes=(*table.notes, *mended.notes))
    return Sample(data, table, lambda wanted: chunks(data, wanted.choose, None))


def _opened(data: Path, reading: Reading) -> tuple[Chunked, list[str]]:
    """The rows of a file, of the columns that a map is made of, and what is to be said of the others."""
    from nearfield.io.arrow import numbers_of
    from nearfield.io.chunked import rows
    from nearfield.io.columns import choose
    from nearfield.io.tables import check_readable

    check_readable(data)
    asked = {name: reading.given[name] for name in ("header", "array", "use_rep") if name in reading.given}
    if asked:
        raise ValueError(f"--{next(iter(asked)).replace('_', '-')} says nothing of {data}: leave it out")
    if data.suffix.lower() == ".npy":
        odd = [name for name in ("label", "id", "columns", "vector") if name in reading.given]
        if odd:
            raise ValueError(f"{data} has no names of columns: leave out --{odd[0]}")
        return rows(data), []
    chooser = lambda names: choose(names, reading.label, reading.columns, reading.id)  # noqa: E731
    names, notes = numbers_of(data, chooser, reading.vector)
    if not names:
        raise ValueError(f"{data} has no numeric column: a map needs at least one")
    return rows(data, names), notes


def _chosen(
    rows: Chunked, landmarks: int, choice: str, metric: str | None, seed: int, report: Report
) -> np.ndarray:
    """The numbers of the landmarks."""
    import numpy as np

    from nearfield.affinity.landmarks import check_choice, check_landmarks, chosen

    check_landmarks("--landmarks", landmarks)
    check_choice("--landmark-choice", choice)
    which = chosen(rows, landmarks, choice, np.random.RandomState(seed), metric or "euclidean")
    how = {"random": "at random", "thinned": "fewer where they are dense"}[choice]
    report(
        "", f"the map is made of {len(which)} of {len(rows)} rows, chosen {how}; all others are placed in it"
    )
    return which


def refuse_beside(given: dict[str, Any]) -> None:
    """Refuse what a map of landmarks cannot have."""
    for name, value in given.items():
        if value:
            raise ValueError(f"--{name} goes by all rows, and --landmarks maps some of them: leave out one")
