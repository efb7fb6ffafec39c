"""What is known of the rows besides where they lie, as pages show it: classes, numbers or texts.

Which class has which colour is the palette's business, here as for pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nearfield.io.columns import Table, quoted
from nearfield.show.palette import COLOURS, shaded_or_numbers
from nearfield.show.parts import packed

_OWN = 0.5  # a column in which more than this share of rows has a text of its own holds no classes
_LONGEST = 1000  # characters of a text


def described(name: str, values: Any, *, label: bool = False) -> dict[str, Any]:
    """Return a column as a page takes it.

    Numbers stay numbers, but for up to twenty different whole ones, which are classes, as are truth values
    and texts that rows have in common. Other texts are just that.

    Parameters
    ----------
    name : str
        What the column is called.
    values : sequence of length N
        One for each row; None, NaN and empty text are missing.
    label : bool
        Whether texts are classes in any case.

    Returns
    -------
    dict
        `name`, `kind`, and packed `codes` (with `names` and, as `shades`, the number of each class's colour,
        -1 for those that share one) or `values`.

    Examples
    --------
    >>> from nearfield.show.columns import described
    >>> column = described("kind", ["b", "a", "b"])
    >>> column["kind"], column["names"], column["shades"]
    ('classes', ['a', 'b'], [0, 1])
    >>> described("length", [1.5, 2.5])["kind"]
    'numbers'
    """
    values = _as_array(values)
    if values.dtype.kind == "U" and not label:
        different = len(set(values.tolist()))
        if different > len(COLOURS) and different > _OWN * len(values):
            return {
                "name": str(name),
                "kind": "text",
                "values": packed([_cut(each) for each in values.tolist()]),
            }
    known = shaded_or_numbers(values)
    if isinstance(known, np.ndarray):
        return {"name": str(name), "kind": "numbers", "values": packed(known)}
    return {
        "name": str(name),
        "kind": "classes",
        "codes": packed(known.codes),
        "names": [_cut(each) for each in known.names],
        "shades": list(known.shades),
    }


def columns_of(data: Any, names: Sequence[str] | None, n: int) -> dict[str, np.ndarray]:
    """Return the columns of a table of any kind, by name.

    Parameters
    ----------
    data : array (N, D), data frame, mapping of name to column, `Table` or None
        The rows.
    names : sequence of str, optional
        What the columns of an array are called, by default `x1, x2, …`; of what has names, those to take.
    n : int
        How many rows there must be.

    Examples
    --------
    >>> import numpy as np
    >>> from nearfield.show.columns import columns_of
    >>> list(columns_of(np.zeros((3, 2)), None, 3)), list(columns_of({"a": [1], "b": [2]}, ["b"], 1))
    (['x1', 'x2'], ['b'])
    """
    if data is None:
        return {}
    named = _named(data, names)
    for name, column in named.items():
        if column.shape != (n,):
            raise ValueError(f"the map has {n} points but the column {name!r} has the shape {column.shape}")
    return named


def _named(data: Any, names: Sequence[str] | None) -> dict[str, np.ndarray]:
    if isinstance(data, Table):
        data = dict(zip(data.names, data.X.T, strict=True))
    if isinstance(data, Mapping) or hasattr(data, "columns"):
        there = {str(name): name for name in (data if isinstance(data, Mapping) else data.columns)}
        wanted = list(there) if names is None else [str(name) for name in names]
        lacking = [name for name in wanted if name not in there]
        if lacking:
            raise ValueError(f"no column {lacking[0]!r}: there are {quoted(list(there))}")
        return {name: _as_array(data[there[name]]) for name in wanted}
    X = np.asarray(data)
    if X.ndim != 2:
        raise ValueError(f"data must be a table of rows and columns, not of the shape {X.shape}")
    called = [f"x{k + 1}" for k in range(X.shape[1])] if names is None else [str(name) for name in names]
    if len(called) != X.shape[1] or len(set(called)) < len(called):
        raise ValueError(f"{X.shape[1]} columns need as many different names, not {quoted(called)}")
    return dict(zip(called, X.T, strict=True))


def _as_array(values: Any) -> np.ndarray:
    """Values as numbers, truth values or text; dates and what else there is become text."""
    array = np.asarray(values)
    if array.dtype.kind == "O":
        missing = np.array([each is None or each != each for each in array.tolist()], dtype=bool)
        known = array[~missing].tolist()
        if (known and all(isinstance(each, bool | np.bool_) for each in known)) or not all(
            map(_is_number, known)
        ):
            return np.array(["" if none else str(each) for each, none in zip(array, missing, strict=True)])
        return np.where(missing, np.nan, array).astype(float)
    if array.dtype.kind in "mM":
        return _times(array)
    if array.dtype.kind in "iu" and array.size and max(-int(array.min()), int(array.max())) >= 2**53:
        return array.astype(str)  # as a number, it would lose its last digits
    return array if array.dtype.kind in "biuf" else array.astype(str)


def _times(array: np.ndarray) -> np.ndarray:
    """Dates, times and spans of time as text; the time of day is left out where it is always midnight."""
    kind = "datetime64[us]" if array.dtype.kind == "M" else "timedelta64[us]"
    texts = ["" if each is None else str(each) for each in array.astype(kind).tolist()]
    if array.dtype.kind == "M" and all(each.endswith(" 00:00:00") for each in texts if each):
        texts = [each.removesuffix(" 00:00:00") for each in texts]
    return np.array(texts)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
