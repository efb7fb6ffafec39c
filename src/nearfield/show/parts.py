"""Arrays as text that a page can hold: in the smallest numbers that do, deflated, in base64."""

from __future__ import annotations

import base64
import json
import zlib

import numpy as np

Part = dict[str, str]


def packed(values: np.ndarray | list[str], *, shrink: bool = True) -> Part:
    """Return numbers, in the smallest type if `shrink`, or a list of texts as `unpack.js` reads them.

    Examples
    --------
    >>> import numpy as np
    >>> from nearfield.show.parts import packed
    >>> packed(np.array([1, 2, 200]))["type"], packed(["a", "b"])["type"]
    ('u1', 'json')
    """
    if isinstance(values, np.ndarray):
        small = shrunk(values) if shrink else values
        kind, raw = small.dtype.str[1:], small.astype(small.dtype.newbyteorder("<")).tobytes()
    else:
        kind, raw = "json", json.dumps(values, ensure_ascii=False).encode()
    return {"type": kind, "data": base64.b64encode(zlib.compress(raw, 6)).decode()}


def shrunk(values: np.ndarray) -> np.ndarray:
    """Return numbers in the smallest type that holds them: whole ones exactly, others to seven digits.

    Examples
    --------
    >>> import numpy as np
    >>> from nearfield.show.parts import shrunk
    >>> [shrunk(np.array(each)).dtype.name for each in ([0, 9], [-1, 300], [0.5], [1e300, 0.5], [1.0, 2.0])]
    ['uint8', 'int16', 'float32', 'float64', 'uint8']
    """
    values = np.asarray(values)
    if values.dtype.kind == "b" or not values.size:
        return values.astype(np.uint8)
    if values.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            whole = bool(np.all(values == np.floor(values))) and bool(np.all(np.abs(values) < 2**53))
            narrow = values.astype(np.float32)
        if not whole:
            return values.astype(np.float64) if np.any(np.isinf(narrow) & np.isfinite(values)) else narrow
    low, high = int(values.min()), int(values.max())
    for kind in (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return values.astype(kind)
    return values.astype(np.float64)
