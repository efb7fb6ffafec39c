"""Sessions: a run as JSON and arrays, to be reopened where it was or done again from the start."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.algebra.catalogue import methods
from nearfield.algebra.method import Method
from nearfield.algebra.records import from_record, record
from nearfield.descent.state import PARTS, State
from nearfield.io.maps import Map
from nearfield.steer.log import Entry
from nearfield.steer.packing import pack, unpack
from nearfield.typing import Array

ROWS = 100  # of the data, by which they are known again
OTHER_DATA = "was made of other data than these: pass those, in the same order"


def fingerprint(X: Any) -> str:
    """By which the same data are known again: a hash of their shape and of up to a hundred rows.

    Examples
    --------
    >>> fingerprint(np.eye(3)) == fingerprint(np.eye(3, dtype=np.float32))
    True
    >>> fingerprint(np.eye(3)) == fingerprint(np.eye(4))
    False
    """
    rows = X[np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], ROWS)).astype(int))]
    if sparse.issparse(rows):
        rows = sparse.csr_array(rows)
        parts = [rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(np.float64)]
    else:
        parts = [np.ascontiguousarray(rows, dtype=np.float64)]
    return hashlib.sha256(b"".join([repr(X.shape).encode(), *(part.tobytes() for part in parts)])).hexdigest()


def pack_session(
    wanted: dict[str, Any], data: str, composition: Method, state: State, log: list[Entry]
) -> tuple[dict[str, Any], list[Array]]:
    """What a file holds of a run beside its map; the composition is that before anything was learned."""
    arrays: list[Array] = []
    parts = {"wanted": wanted, "state": state, "log": log}
    packed = {name: pack(part, arrays, PARTS) for name, part in parts.items()}
    return {"data": data, **packed, "composition": record(composition)}, arrays


def opened(path: Any, X: Any, given: dict[str, Any]) -> tuple[Map, dict[str, Any], State, list[Entry]]:
    """A file that was saved: the map, what the run was asked for, its state, and its log."""
    saved = Map.load(path)
    wanted, state, log = unpack_session(saved, path, given)
    if np.shape(X)[:1] != saved.Y.shape[:1]:
        raise ValueError(f"{path} {OTHER_DATA} ({saved.Y.shape[0]} rows)")
    return saved, wanted, state, log


def unpack_session(saved: Map, path: Any, given: dict[str, Any]) -> tuple[dict[str, Any], State, list[Entry]]:
    """What the run was asked for, its state, and its log."""
    if not saved.session:
        raise ValueError(f"{path} is a map without the run that made it: pass it to Run as init")
    asked = dict(saved.session["wanted"]["dict"])
    name = asked["method"]
    recorded = saved.session.get("composition")
    if name not in methods() and "method" not in given and recorded is None:
        raise ValueError(f"{path} was made with a composition, {name}: pass it as method")
    unknown = sorted(set(given) - set(asked))
    if unknown:
        raise TypeError(f"Run.load takes what a Run takes, but not {', '.join(unknown)}")
    try:
        wanted = {key: unpack(part, saved.arrays, PARTS) for key, part in asked.items() if key not in given}
        state = unpack(saved.session["state"], saved.arrays, PARTS)
        log = unpack(saved.session["log"], saved.arrays, PARTS)
    except TypeError as error:
        raise ValueError(f"{path} cannot be reopened: {error}; Map.load reads its coordinates") from error
    if "method" in given and str(given["method"]) != name:
        raise ValueError(f"{path} was made with {name}, and not with {given['method']}")
    if name not in methods() and "method" not in given:
        wanted["method"] = from_record(recorded)
    return wanted | given, state, log


def plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size <= 1000 else f"array of shape {value.shape}"
    return value.item() if isinstance(value, np.generic) else repr(value)
