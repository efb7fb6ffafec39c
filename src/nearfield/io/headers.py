"""Whether the first line of a text table names its columns, or is data already.

Names may look like numbers: pandas calls columns 0, 1, 2, …, years and wavelengths are common, and `inf` and
`1e3` are names too. So the first line is held against the columns below it, and where that does not settle
the question, the decision is said along with the way to overrule it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.io.cells import NUMERIC, Kind, read_cell, read_column
from nearfield.io.columns import short


def is_header(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[bool, str]:
    """Tell whether a first line is a header, and what makes that doubtful ("" if nothing does).

    Parameters
    ----------
    cells : sequence of str
        The first line.
    rows : sequence of sequence of str
        Lines below it, as many as are to be looked at; those of another width are passed over.

    Examples
    --------
    >>> is_header(["a", "inf", "c"], [["1", "2", "3"]])
    (True, '')
    >>> is_header(["5.1", "setosa"], [["4.9", "setosa"]])
    (False, '')
    >>> is_header(["1e3"], [["0.5"], ["0.7"]])
    (False, 'the first line stands apart from those below it: if it is the header, add --header')
    """
    columns = [_Below([row[j] for row in rows if len(row) == len(cells)]) for j in range(len(cells))]
    kinds, values = zip(*map(read_cell, cells), strict=True)
    numbers = [j for j, kind in enumerate(kinds) if kind in NUMERIC and np.isfinite(values[j])]
    words = [j for j, kind in enumerate(kinds) if kind not in (*NUMERIC, Kind.MISSING)]
    written = [cells[j].strip() for j in numbers]
    apart = not any(columns[j].reaches(values[j]) for j in numbers)

    # What only a name can be: no number where all others are, or neither of the two words they are.
    if any(below.is_unlike(kind) for kind, below in zip(kinds, columns, strict=True)):
        odd = next((text for text in written if not text.isdecimal()), None)
        return True, "" if odd is None else _overruled(odd)
    # What only a cell can be: a list, one of the two words, or what stands in the column again.
    if any(
        kinds[j] is Kind.VECTOR or columns[j].words == kinds[j] or cells[j] in columns[j].cells for j in words
    ):
        return False, ""
    if not numbers:
        gap = next(
            (cell for cell, kind in zip(cells, kinds, strict=True) if cell and kind is Kind.MISSING), None
        )
        return bool(words), _overruled(gap, "stands for nothing") if words and gap else ""
    if written == [str(k) for k in range(len(written))] and (len(written) > 2 or not cells[0]):
        return True, _overruled(written[0]) if cells[0] and not apart else ""  # as pandas numbers columns
    if any(columns[j].is_text for j in numbers):
        return True, _overruled(written[0])
    if not words:
        doubt = "the first line stands apart from those below it: if it is the header, add --header"
        return False, doubt if apart else ""
    if len(set(written)) == len(written) and all(text.isdecimal() for text in written):
        # Such as years. A lone number may well stand apart from the few below it.
        return True, "" if apart and len(written) > 1 else _overruled(written[0])
    steps = np.diff([values[j] for j in numbers])
    if apart and len(steps) > 1 and (np.all(steps > 0) or np.all(steps < 0)):
        return True, _overruled(written[0])  # such as wavelengths
    return False, ""


def _overruled(cell: str, but: str = "is a number") -> str:
    took = f"took the first line for the header, though {short(cell)!r} {but}"
    return f"{took}: add --no-header if it is data"


class _Below:
    """A column without its first line."""

    def __init__(self, cells: Sequence[str]) -> None:
        values, kinds, _ = read_column(cells)
        there = kinds[kinds != Kind.MISSING]
        count = int(np.isin(there, NUMERIC).sum())
        self.cells = {cell.strip() for cell in cells}
        self.is_numeric = 0 < count >= len(there) - count
        self.is_text = len(there) > 0 and bool(np.all(there == Kind.TEXT))
        self.words = next((k for k in (Kind.TRUTH, Kind.ANSWER) if len(there) and np.all(there == k)), None)
        self._finite = values[np.isfinite(values)] if self.is_numeric else np.empty(0)

    def is_unlike(self, kind: Kind) -> bool:
        """Whether a cell of this kind cannot belong to the column, all of which is numbers or two words."""
        if kind is Kind.MISSING:
            return False
        return kind not in NUMERIC if self.is_numeric else self.words not in (None, kind)

    def reaches(self, value: float) -> bool:
        """Whether a number is one that the column could hold: not far from those that it does."""
        if len(self._finite) < 2:
            return len(self._finite) == 1  # which says nothing of how far the column goes
        low, high = self._finite.min(), self._finite.max()
        return bool(2 * low - high <= value <= 2 * high - low)
