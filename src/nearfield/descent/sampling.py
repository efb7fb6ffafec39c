"""What a fit was given for all rows, as it is for the landmarks among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def of_landmarks(options: Mapping[str, Any], landmarks: Any, n: int) -> dict[str, Any]:
    """The options that have a value for each of n rows, or name some: those of the landmarks alone.

    Examples
    --------
    >>> of_landmarks({"init": "pca", "pins": {5: (0, 1)}, "perplexity": np.arange(6.0)}, np.array([2, 5]), 6)
    {'perplexity': array([2., 5.]), 'pins': {1: (0, 1)}}
    """
    if options.get("precomputed_knn") is not None:
        raise ValueError("neighbours that are known are those of all rows: leave out precomputed_knn")
    found: dict[str, Any] = {}
    for name in ("init", "perplexity"):
        value = options.get(name)
        each = name == "init" or (isinstance(value, np.ndarray) and value.ndim)
        if each and value is not None and not isinstance(value, str):
            found[name] = picked(value, landmarks, n, name)
    pins = options.get("pins")
    if pins:
        place = {int(row): k for k, row in enumerate(landmarks)}
        lacking = [row for row in pins if row not in place]
        if lacking:
            raise ValueError(
                f"row {lacking[0]} is pinned and no landmark, and only landmarks can be: name the landmarks,"
                " landmarks=array of rows, with those that are pinned among them"
            )
        found["pins"] = {place[row]: position for row, position in pins.items()}
    return found


def picked(values: Any, landmarks: Any, n: int, name: str) -> Any:
    """Those of the landmarks, of one value for each of n rows; None of None."""
    if values is None:
        return None
    if len(values) != n:
        raise ValueError(f"{name} must have one entry for each of the {n} rows, got {len(values)}")
    values = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    return values[landmarks]
