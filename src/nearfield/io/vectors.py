"""Vector columns: lists of equally many numbers, as the embeddings of texts and images are stored.

A column `v` of vectors is so many columns, called `v[0]`, `v[1]`, …
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from nearfield.io.columns import quoted, short


def element_names(name: str, width: int) -> list[str]:
    """What the numbers of a vector are called.

    >>> element_names("embedding", 2)
    ['embedding[0]', 'embedding[1]']
    """
    return [f"{name}[{k}]" for k in range(width)]


def field_of(name: str) -> str:
    """The column that a number of a vector is of; of any other column its name.

    >>> field_of("embedding[12]"), field_of("year")
    ('embedding', 'year')
    """
    return re.sub(r"\[\d+\]$", "", name)


def is_list(arrow: ModuleType, kind: Any) -> bool:
    """Whether a type is one of lists."""
    types = arrow.types
    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)


def is_numeric(arrow: ModuleType, kind: Any) -> bool:
    """Whether a type is one of numbers, to which true and false belong."""
    types = arrow.types
    return any(
        is_kind(kind) for is_kind in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    )


def is_single(arrow: ModuleType, kind: Any) -> bool:
    """Whether a type is one of numbers of 32 bits, or 16, with a point."""
    return arrow.types.is_float32(kind) or arrow.types.is_float16(kind)


def holds_numbers(arrow: ModuleType, kind: Any) -> bool:
    """Whether a type is one of lists of numbers."""
    return is_list(arrow, kind) and is_numeric(arrow, kind.value_type)


def stored(column: Any) -> Any:
    """A column as it is stored, if its type is one that somebody has put a name to."""
    return column.storage if hasattr(column.type, "storage_type") else column


def width_of(arrow: ModuleType, column: Any) -> int | None:
    """How many numbers the vectors of some rows have; None if they differ, 0 if there are none."""
    lengths = _lengths(arrow, column)
    known = lengths[lengths >= 0]
    if not len(known):
        return 0
    return int(known[0]) if np.all(known == known[0]) else None


def rows_of(arrow: ModuleType, column: Any, name: str, width: int, start: int = 0) -> np.ndarray:
    """The vectors of some rows, those from `start` on; NaN where one, or a number of it, is missing.

    Those of 32 bits or fewer stay so: all of them at 64 would take twice the memory.
    """
    lengths = _lengths(arrow, column)
    odd = np.flatnonzero((lengths >= 0) & (lengths != width))
    if len(odd):
        raise ValueError(
            f"row {start + odd[0]} of the vector column {short(name)!r} has {lengths[odd[0]]} numbers, and"
            f" the first has {width}: make all vectors equally long, or choose other columns"
        )
    dtype = single(arrow, column.type)
    values = column.flatten().cast(arrow.from_numpy_dtype(dtype), safe=False)
    found = values.to_numpy(zero_copy_only=False).reshape(-1, width)
    if len(found) == len(column):
        return found
    X = np.full((len(column), width), np.nan, dtype)
    X[lengths >= 0] = found
    return X


def single(arrow: ModuleType, kind: Any) -> Any:
    """The kind of numbers that vectors are read as."""
    return np.float32 if is_single(arrow, kind.value_type) else np.float64


def _lengths(arrow: ModuleType, column: Any) -> np.ndarray:
    """The lengths of some vectors, -1 where there is none."""
    lengths = arrow.compute.list_value_length(column)
    return arrow.compute.fill_null(lengths, -1).to_numpy(zero_copy_only=False)


def pick(vectors: Sequence[str], wanted: str | None, path: Any) -> str | None:
    """The vector column that is meant: the wanted one, or the only one that there is."""
    if wanted is not None:
        from nearfield.io.columns import find

        return list(vectors)[find(list(vectors), wanted, "vector column")]
    if len(vectors) > 1:
        raise ValueError(
            f"{path} has the vector columns {quoted(list(vectors))}: pick one, as --vector {vectors[0]}"
        )
    return vectors[0] if vectors else None
