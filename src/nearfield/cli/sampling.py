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
class Landmarks:
    """What was asked for: how many, how they are chosen, and whether their labels are needed."""

    number: int
    choice: str
    metric: str | None
    seed: int
    labelled: bool


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
    def of(cls, data: Path, reading: Reading, asked: Landmarks, report: Report) -> Sample:
        """Choose so many rows of a table, and say what was read."""
        if asked.metric in ("precomputed", "affinity"):
            raise ValueError(
                f"--landmarks are rows of a table, and --metric {asked.metric} has none: leave out one"
            )
        if is_streamed(data):
            return _of_file(data, reading, asked, report)
        from nearfield.io.chunked import Held

        table = reading.read(data, asked.metric, report)
        which = _chosen(Held(table.X), asked, report)
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

        from nearfield.io.chunked import ROWS
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
                    for piece in pieces(part, ROWS):
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


def _of_file(data: Path, reading: Reading, asked: Landmarks, report: Report) -> Sample:
    """The landmarks of a file that is not held."""
    import numpy as np

    from nearfield.io.missing import without_missing
    from nearfield.io.streams import chunks

    table = table_of(data, reading, report, sides=False)
    rows: Any = table.X
    which = _chosen(rows, asked, report)
    X = rows.gathered(which) if reading.missing == "refuse" else np.asarray(rows.take(which), np.float64)
    labels = None
    if asked.labelled:
        from nearfield.io.arrow import arrow_columns, text_of

        labels = text_of(arrow_columns(data, [str(reading.label)])[str(reading.label)].take(which))
    mended = without_missing(replace(table, X=X, labels=labels, ids=which, notes=()), reading.missing)
    for note in mended.notes:
        report("", f"of the landmarks, {note}")
    mended = replace(mended, notes=(*table.notes, *mended.notes))
    return Sample(data, mended, lambda wanted: chunks(data, wanted.choose, None))


def is_streamed(data: Path) -> bool:
    """Whether a file can be read some rows at a time, and any of them by their numbers."""
    return data.suffix.lower() in STREAMED


def table_of(data: Path, reading: Reading, report: Report, *, sides: bool = True) -> Table:
    """A table whose numbers are not held, but `Chunked`; said to a person as that of `Reading.read`.

    `sides` is whether labels and ids are wanted, which are held.
    """
    from nearfield.io.arrow import arrow_columns, numbers_of, text_of
    from nearfield.io.chunked import rows
    from nearfield.io.columns import Table, choose
    from nearfield.io.tables import check_readable

    check_readable(data)
    without = ["header", "array", "use_rep"]
    if data.suffix.lower() == ".npy":
        without += ["label", "id", "columns", "vector"]
    for name in without:
        if name in reading.given:
            raise ValueError(f"{data} knows no --{name.replace('_', '-')}: leave it out")
    if data.suffix.lower() == ".npy":
        X = rows(data)
        table = Table(X, tuple(f"x{j + 1}" for j in range(X.shape[1])))  # type: ignore[arg-type]
    else:
        names, notes = numbers_of(
            data, lambda names: choose(names, reading.label, reading.columns, reading.id), reading.vector
        )
        names, said = (names, []) if reading.columns is not None else _without_index(data, names)
        if not names:
            raise ValueError(f"{data} has no numeric column: a map needs at least one")
        wanted = [each for each in (reading.label, reading.id) if each is not None and sides]
        found = {name: text_of(each) for name, each in arrow_columns(data, wanted).items()} if wanted else {}
        labels, ids = found.get(reading.label or ""), found.get(reading.id or "")
        table = Table(rows(data, names), tuple(names), labels, ids, (*notes, *said))  # type: ignore[arg-type]
    report("read", f"{data}: {len(table.X)} rows × {len(table.names)} columns, some at a time")
    for note in table.notes:
        report("", note)
    return table


def _without_index(data: Path, names: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """The columns but for those that number the rows, which are read for it if they are called so."""
    from nearfield.io.chunked import rows
    from nearfield.io.columns import Table
    from nearfield.io.indexes import may_number, without_index

    odd = [name for name in names if may_number(name)]
    if not odd:
        return names, ()
    left = without_index(Table(rows(data, odd).take(range(len(rows(data, odd)))), tuple(odd)))
    return [name for name in names if name not in odd or name in left.names], left.notes


def _chosen(rows: Chunked, asked: Landmarks, report: Report) -> np.ndarray:
    """The numbers of the landmarks."""
    import numpy as np

    from nearfield.affinity.landmarks import check_choice, check_landmarks, chosen

    check_landmarks("--landmarks", asked.number)
    check_choice("--landmark-choice", asked.choice)
    random = np.random.RandomState(asked.seed)
    which = chosen(rows, asked.number, asked.choice, random, asked.metric or "euclidean")
    how = {"random": "at random", "thinned": "fewer where they are dense"}[asked.choice]
    report(
        "", f"the map is made of {len(which)} of {len(rows)} rows, chosen {how}; all others are placed in it"
    )
    return which


def refuse_beside(given: dict[str, Any]) -> None:
    """Refuse what a map of landmarks cannot have."""
    for name, value in given.items():
        if value:
            raise ValueError(f"--{name} goes by all rows, and --landmarks maps some of them: leave out one")
