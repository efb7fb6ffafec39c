"""What labels say: how often the neighbours of a point, by a vote, have its class."""

from __future__ import annotations

from typing import Any

import numpy as np


def class_codes(labels: Any, n: int) -> Any:
    """The class of each point as a number from 0 up; -1 for None, NaN and empty text, which are no class.

    Examples
    --------
    >>> class_codes(["b", "a", "", "b"], 4)
    array([ 1,  0, -1,  1])
    """
    values = list(labels.tolist() if hasattr(labels, "tolist") else labels)  # as plain Python values
    if len(values) != n:
        raise ValueError(f"there are {n} points but {len(values)} labels: give one for each point")
    missing = np.array([_is_missing(v) for v in values])
    codes = np.full(n, -1, dtype=np.int64)
    present = [v for v, absent in zip(values, missing, strict=True) if not absent]
    try:
        names = sorted(set(present))
    except TypeError as error:
        kinds = sorted({type(v).__name__ for v in present})
        raise ValueError(
            f"labels must be text or numbers, all of one kind, and not {' and '.join(kinds)}"
        ) from error
    place = {name: code for code, name in enumerate(names)}
    codes[~missing] = [place[v] for v in present]
    return codes


def _is_missing(value: Any) -> bool:
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        return bool(value != value)  # NaN differs from itself
    except TypeError:  # as pandas' NA, which has no truth value
        return True
