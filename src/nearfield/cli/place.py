"""`nearfield place`: new rows in a map that was saved as a model, however many they are."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nearfield.cli.options import Header, Id, Jobs, Label, Quiet
from nearfield.cli.preparation import check_outputs
from nearfield.cli.reading import Reading
from nearfield.cli.terminal import INTERRUPTED, Gauge, Report
from nearfield.io.unpacking import plain_name

if TYPE_CHECKING:
    import numpy as np

    from nearfield.io.columns import Choice, Table

PLACE = 1.5  # among the commands
ROWS = 4096  # that are placed at a time
CELLS = 2**22  # of them, at the most
NAMED = 5  # rows that a message names


def place(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="New rows: any table that embed reads; - for a pipe.")
    ],
    mapped: Annotated[Path, typer.Option("--map", "-m", help="The model, as embed --save writes it.")],
    label: Label = None,
    id: Id = None,
    header: Header = None,
    missing: Annotated[
        str | None,
        typer.Option(
            metavar="WAY",
            help="Where numbers are missing: refuse, drop the rows, or fill in the mean of the fitted rows."
            " By default as the map was made.",
        ),
    ] = None,
    jobs: Jobs = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Their places: .csv, .tsv or .parquet.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="A picture of them over the map: .png, .pdf or .svg.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Place new rows in a finished map.

    Rows are prepared as those of the map were, and written as id, y1, y2, novelty: how unlike the fitted rows
    each is, from 0 to 1. They are read, placed and written some at a time: a file may be larger than memory.
    """
    report = Report(quiet)
    if missing is not None:
        Reading(missing=missing).check()
    name = plain_name(data)
    out = Path(f"{name}-placed.csv") if out is None else out
    check_outputs({"data": data, "map": mapped}, out, plot)

    import numpy as np

    import nearfield
    from nearfield.io.streams import chunks, writing
    from nearfield.io.tables import check_readable
    from nearfield.io.unpacking import unpacked

    check_readable(data)
    model: Any = nearfield.load(mapped, **({} if jobs is None else {"n_jobs": jobs}))
    if not hasattr(model, "place"):
        raise ValueError(f"{mapped} is a map without its model: embed --save writes one")
    wanted = Wanted.of(model, data, mapped, label, id, missing)
    report("map", f"{mapped}: {len(model.embedding_)} points, {vars(model).get('method_', 'pca')}")
    began, read, placed = time.perf_counter(), 0, 0
    drawn: list[Any] = []
    try:
        with writing(out) as rows, Gauge("placing", not quiet) as gauge, unpacked(data) as file:
            for table, share in chunks(file, wanted.choose, header):
                for part in pieces(table):
                    X, sides = wanted.mended(part, read)
                    found = _placed(model, X)
                    rows.write(columns_of(found.Y, sides, found.novelty))
                    read, placed = read + len(part.X), placed + len(X)
                    if plot is not None:
                        drawn.append((found.Y, found.novelty))
                if share < 1:
                    gauge(share, f"{placed} rows")
            gauge(1.0, f"{placed} rows")
            if not placed:
                none = _placed(model, np.empty((0, wanted.width)))
                rows.write(columns_of(none.Y, {"id": np.empty(0, np.int64)}, none.novelty))
    except KeyboardInterrupt:
        print(f"interrupted after {placed} rows: nothing was written", file=sys.stderr, flush=True)
        raise typer.Exit(INTERRUPTED) from None
    for note in wanted.notes:
        report("", note)
    if read > placed:
        report("", f"left out {read - placed} of {read} rows, in which numbers are missing")
    report("placed", f"{placed} rows in {time.perf_counter() - began:.1f} s")
    if plot is not None and drawn:
        _draw(plot, model, drawn, f"{name} in {mapped.stem}")
    report("wrote", ", ".join(str(path) for path in (out, plot) if path is not None and path.exists()))


@dataclass(frozen=True)
class Wanted:
    """What a model wants of a table: its columns, and what becomes of what is missing.

    Attributes
    ----------
    names : tuple of str or None
        The columns; None is any, if they are as many as the width.
    width : int
        How many they are.
    means : array (columns,) or None
        What a missing number is taken for, if that is known.
    missing : str
        What becomes of rows in which a number is missing.
    id, label : str or None
        Columns that were asked for, or that the map was made with.
    notes : list of str
        What is to be said of the table.
    """

    data: Path
    mapped: Path
    names: tuple[str, ...] | None
    width: int
    means: Any
    missing: str
    id: str | None
    label: str | None
    asked: tuple[str | None, str | None]
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, model: Any, data: Path, mapped: Path, label: str | None, id: str | None, missing: str | None
    ) -> Wanted:
        """As the model was made, but for what was asked for."""
        how, width = vars(model).get("preparation_"), model.n_features_in_
        names = vars(model).get("feature_names_in_")
        names = None if names is None else tuple(map(str, names))
        asked = (id, label)
        if how is None:
            return cls(data, mapped, names, width, None, missing or "refuse", id, label, asked)
        means = how.means
        return cls(
            data, mapped, names, width, means, missing or how.missing, id or how.id, label or how.label, asked
        )

    def choose(self, names: Sequence[str]) -> Choice:
        """Which columns of a table are read."""
        from nearfield.io.columns import choose, quoted

        there = list(names)
        id, label = (name if name in there or name in self.asked else None for name in (self.id, self.label))
        if self.names is None:
            choice = choose(there, label, None, id)
            if len(choice.numbers) != self.width:
                raise ValueError(
                    f"{self.data} has {len(choice.numbers)} columns, and {self.mapped} was made of"
                    f" {self.width}"
                )
            return choice
        lacking = [name for name in self.names if name not in there]
        if lacking:
            raise ValueError(
                f"{self.data} lacks the column{'s' * (len(lacking) > 1)} {quoted(lacking)}, of which"
                f" {self.mapped} was made: it has {quoted(there)}"
            )
        extra = [name for name in there if name not in (*self.names, id, label)]
        if extra and self.names == made_up(self.width) and tuple(there) == made_up(len(there)):
            raise ValueError(
                f"{self.data} has {len(there)} columns without names, and {self.mapped} was made of"
                f" {self.width}"
            )
        if extra:
            self.notes.append(
                f"left out the column{'s' * (len(extra) > 1)} {quoted(extra)}, of which the map was not made"
            )
        if self.id is not None and id is None:
            self.notes.append(f"there is no column {self.id!r}: the ids are the numbers of the rows")
        return choose(there, label, [f'"{name}"' if "," in name else name for name in self.names], id)

    def mended(self, table: Table, start: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The numbers of some rows, from row `start` on, and their ids and labels; nothing is missing."""
        import numpy as np

        X, keep = table.X, np.ones(len(table.X), dtype=bool)
        gaps = np.isnan(X)
        if gaps.any():
            if self.missing == "refuse":
                hint = "--missing drop leaves out such rows, --missing mean fills in the mean of the fitted"
                raise ValueError(f"numbers are missing in {self._where(gaps, table, start)}; {hint}")
            if self.missing == "drop":
                keep = ~gaps.any(axis=1)
            elif self.means is None:
                raise ValueError(f"{self.mapped} does not know the means of its columns: --missing drop")
            else:
                X = np.where(gaps, self.means, X)
        endless = np.isinf(X) & keep[:, None]
        if endless.any():
            raise ValueError(f"there is infinity in {self._where(endless, table, start)}: mend such rows")
        sides = {"id": np.arange(start, start + len(X)) if table.ids is None else table.ids}
        if table.labels is not None:
            sides["label"] = table.labels
        return X[keep], {name: each[keep] for name, each in sides.items()}

    def _where(self, cells: np.ndarray, table: Table, start: int) -> str:
        """The first rows in which something is, and the column of the first."""
        import numpy as np

        rows = np.flatnonzero(cells.any(axis=1))
        column = table.names[int(np.argmax(cells[rows[0]]))]
        more = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
        listed = ", ".join(str(start + row) for row in rows[:NAMED])
        return f"row{'s' * (len(rows) > 1)} {listed}{more} of {self.data} (column {column!r})"


def made_up(width: int) -> tuple[str, ...]:
    """The names that columns without any are given.

    >>> made_up(2)
    ('x1', 'x2')
    """
    return tuple(f"x{j + 1}" for j in range(width))


def pieces(table: Table, rows: int | None = None) -> Iterator[Table]:
    """Up to so many rows of a table at a time."""
    step = max(1, min(rows or ROWS, CELLS // max(1, table.X.shape[1])))
    for lo in range(0, len(table.X), step):
        labels, ids = (None if each is None else each[lo : lo + step] for each in (table.labels, table.ids))
        yield replace(table, X=table.X[lo : lo + step], labels=labels, ids=ids)


def _placed(model: Any, X: np.ndarray) -> Any:
    """Where some rows lie; that they come without names is known, and they are in the right order."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return model.place(X)


def columns_of(
    Y: np.ndarray, sides: dict[str, np.ndarray], novelty: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """The columns that are written of some rows."""
    places = {f"y{c + 1}": Y[:, c] for c in range(Y.shape[1])}
    more = {name: each for name, each in sides.items() if name != "id"}
    told = {} if novelty is None else {"novelty": novelty}
    return {"id": sides["id"], **places, **told, **more}


def _draw(path: Path, model: Any, drawn: list[Any], title: str) -> None:
    """Draw the placed rows over the map."""
    import numpy as np

    from nearfield import show
    from nearfield.descent.placing import Placed

    Y, novelty = (np.concatenate(each) for each in zip(*drawn, strict=True))
    new = Placed(Y, None, np.full(len(Y), np.nan), novelty, np.zeros(len(Y), bool))
    show.save(show.map(model, new=new, novelty=True, title=title), path)
