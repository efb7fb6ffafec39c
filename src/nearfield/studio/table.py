"""The map as a table for people, who open it in a spreadsheet: ids, coordinates, labels, pins, selections."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nearfield.studio.session import Session

# The page does the same with what it saves itself: show/page/export.js.
FORMULA = re.compile(r"[=+\-@\t\r]")  # by which a spreadsheet knows what it is to compute
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)


def as_table(session: Session) -> str:
    """The map of a session as CSV."""
    run, rows, stream = session.run, session.rows, io.StringIO()
    Y, pins = run.Y, run.pins
    writer = csv.writer(stream)  # lines end as in spreadsheets, and so a text with half such an end is quoted
    named = {name: set(each.tolist()) for name, each in session.selections.items()}
    labelled = rows.labels is not None
    head = ["id", "y1", "y2", *(["label"] if labelled else []), "pinned", *named]
    writer.writerow([guarded(each) for each in head])
    for i, (x, y) in enumerate(Y.tolist()):
        label = [guarded(rows.labels[i])] if labelled else []
        chosen = (int(i in each) for each in named.values())
        writer.writerow([guarded(rows.title(i)), x, y, *label, int(i in pins), *chosen])
    return stream.getvalue()


def guarded(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: a text that looks like one gets an apostrophe.

    Examples
    --------
    >>> [guarded(each) for each in ("=1+1", "@SUM(A1)", "-1.5", "+x", -3, "plain")]
    ["'=1+1", "'@SUM(A1)", '-1.5', "'+x", -3, 'plain']
    """
    risky = isinstance(cell, str) and FORMULA.match(cell) and not NUMBER.fullmatch(cell)
    return f"'{cell}" if risky else cell
