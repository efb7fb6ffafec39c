"""The table that a command works on: read, told of, and refused here if a map of it could not be trusted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nearfield.cli.terminal import Report
    from nearfield.io.tables import Table


@dataclass(frozen=True)
class Reading:
    """How a table is to be read: the options that all commands with a table have."""

    label: str | None = None
    columns: str | None = None
    id: str | None = None
    header: bool | None = None
    array: str | None = None
    missing: str = "refuse"
    vector: str | None = None
    use_rep: str | None = None
    keep: str | None = None

    @property
    def given(self) -> dict[str, Any]:
        """What is not as it is by default, by the names of the options."""
        return {
            each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default
        }

    def check(self) -> None:
        """Refuse, before any work, what can be refused without the table."""
        from nearfield.io.missing import WAYS

        if self.missing not in WAYS:
            near = get_close_matches(self.missing, WAYS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it is one of {', '.join(WAYS)}"
            raise ValueError(f"--missing {self.missing}: {hint}")

    def read(self, data: Path, metric: str | None, report: Report) -> Table:
        """Read a table, say how it was understood, and refuse what no map can be made of."""
        from nearfield.checks import finite
        from nearfield.io.missing import without_missing
        from nearfield.io.tables import read_table
        from nearfield.io.unpacking import PIPE

        how = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "missing"}
        table = read_table(data, **how)
        named = "piped in" if data == PIPE else data
        report("read", f"{named}: {table.X.shape[0]} rows × {table.X.shape[1]} columns")
        for note in table.notes:
            report("", note)
        _refuse_repeated(table, data)
        mended = replace(table, notes=())
        if metric not in ("precomputed", "affinity"):  # of which no row or cell can be changed alone
            mended = without_missing(mended, self.missing)
        for note in mended.notes:
            report("", note)
        finite(mended.X, mended.names)
        return replace(mended, notes=(*table.notes, *mended.notes))


def _refuse_repeated(table: Table, data: Path) -> None:
    """Refuse ids that several rows have: no map of them could be matched with its data again."""
    if table.ids is None:
        return
    times = Counter(map(str, table.ids.tolist()))  # as text, as which they are written
    repeated = [each for each, count in times.items() if count > 1]
    if repeated:
        from nearfield.io.columns import quoted

        rows = [i for i, each in enumerate(table.ids.tolist()) if str(each) == repeated[0]]
        raise ValueError(
            f"{data} has several rows with the id {quoted(repeated, 3)} (rows {rows[0]} and {rows[1]}):"
            " ids must be different, name another column with --id"
        )
