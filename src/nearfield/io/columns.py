"""What a table is, and which of a file's columns go into it."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from nearfield.io.cells import is_missing


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers, and what is known of their rows and columns.

    Attributes
    ----------
    X : ndarray of shape (N, D)
        The numbers, float64, or float32 if they are vectors of such; NaN where a cell was empty.
    names : tuple of str
        The D column names.
    labels, ids : ndarray of shape (N,) or None
        One label and one id for each row.
    notes : tuple of str
        What was decided while reading, one clause each, for a person to read.
    others : dict of str to array
        Other columns of the file that are to be kept, NumPy's or Arrow's.

    Examples
    --------
    >>> import numpy as np
    >>> from nearfield.io.tables import Table
    >>> Table(np.zeros((3, 2)), ("a", "b")).names
    ('a', 'b')
    """

    X: np.ndarray
    names: tuple[str, ...]
    labels: np.ndarray | None = None
    ids: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    others: Mapping[str, Any] = field(default_factory=dict)

    def kept(self, rows: np.ndarray) -> Table:
        """Some of the rows alone, by their numbers.

        Examples
        --------
        >>> Table(np.eye(3), ("a", "b", "c"), ids=np.array(["x", "y", "z"])).kept(np.array([0, 2])).ids
        array(['x', 'z'], dtype='<U1')
        """
        labels, ids = (None if each is None else each[rows] for each in (self.labels, self.ids))
        others = {
            name: each[rows] if isinstance(each, np.ndarray) else each.take(rows)
            for name, each in self.others.items()
        }
        return replace(self, X=self.X[rows], labels=labels, ids=ids, others=others)


@dataclass(frozen=True)
class Choice:
    """Positions of the columns that are to be read.

    Attributes
    ----------
    numbers : tuple of int
        The columns that may go into X.
    asked : bool
        Whether `numbers` were asked for by name: then each of them must be numeric.
    label, id : int or None
        The columns that hold the labels and the ids; they are not among `numbers`.
    """

    numbers: tuple[int, ...]
    asked: bool
    label: int | None
    id: int | None


# A format tells the names of its columns as soon as it knows them, and is told which to read.
Chooser = Callable[[Sequence[str]], Choice]


def choose(
    names: Sequence[str], label: str | None, columns: str | Sequence[str] | None, id: str | None
) -> Choice:
    """Find the columns that were asked for: all but `label` and `id` where `columns` is None."""
    if isinstance(columns, str):
        # As one line of a CSV file, so that a name with a comma in it can be quoted.
        columns = next(csv.reader([columns], skipinitialspace=True))
    at_label = None if label is None else find(names, label)
    at_id = None if id is None else find(names, id)
    wanted = range(len(names)) if columns is None else [find(names, name.strip()) for name in columns]
    numbers = tuple(j for j in dict.fromkeys(wanted) if j not in (at_label, at_id))
    return Choice(numbers, columns is not None, at_label, at_id)


def find(names: Sequence[str], name: str, what: str = "column") -> int:
    """Return the position of the one column (or whatever) called `name`, or raise with the nearest name."""
    count = names.count(name)
    if count == 1:
        return names.index(name)
    if f"{name}[0]" in names:
        raise ValueError(f"the column {short(name)!r} holds vectors: name it with --vector {short(name)}")
    if count > 1:
        raise ValueError(f"{count} {what}s are called {short(name)!r}: give them different names")
    lower = {each.lower(): each for each in names}
    near = get_close_matches(name.lower(), lower, n=1)
    hint = f"did you mean {short(lower[near[0]])!r}?" if near else f"there are {quoted(names)}"
    raise ValueError(f"no {what} {short(name)!r}: {hint}")


def quoted(names: Sequence[str], most: int = 6) -> str:
    """List names for a person, a long list cut short.

    >>> quoted(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    listed = ", ".join(repr(short(str(name))) for name in names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"


def said_of(verdict: str, names: Sequence[str]) -> str:
    """What is said of one column, or of several.

    >>> said_of("left out the column of dates", ["born", "died"])
    "left out the columns of dates 'born', 'died'"
    """
    return f"{verdict.replace('column', 'columns', len(names) > 1)} {quoted(names)}"


def short(text: str, most: int = 30) -> str:
    """Cut a long text short, so that a message stays one line.

    >>> short("a name of many words", most=7)
    'a name…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


_PADDED = re.compile(r"[-+]?0\d")


def natural(cells: Sequence[str], *, real: bool = True) -> np.ndarray:
    """Turn the text of labels or ids into booleans, integers or (if `real`) floats where all of it is such.

    Text that would not come back as it was written stays text: '007' is a name and not a number.

    >>> natural(["3", "1"]), natural(["007", "1"]), natural(["2.5", ""])
    (array([3, 1]), array(['007', '1'], dtype='<U3'), array([2.5, nan]))
    """
    if cells and set(cells) <= {"True", "False"}:
        return np.array([cell == "True" for cell in cells])
    try:
        integers = [int(cell) for cell in cells]
        if all(str(integer) == cell for integer, cell in zip(integers, cells, strict=True)):
            return np.array(integers, dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    if (
        real
        and not all(map(is_missing, cells))
        and not any(_PADDED.match(cell) or "_" in cell for cell in cells)
    ):
        try:
            return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])
        except ValueError:
            pass
    return np.array(cells, dtype=str)


def put(X: np.ndarray, at: int, block: np.ndarray) -> None:
    """Write `block` into `X` from row `at` on, making room in place where there is none.

    A large array grows by having pages added and not by being copied, so that a table needs the memory of one
    and not of two, as a list of blocks that is joined in the end would.
    """
    end = at + len(block)
    if end > len(X):
        X.resize((end + end // 4, X.shape[1]), refcheck=False)
    X[at:end] = block
