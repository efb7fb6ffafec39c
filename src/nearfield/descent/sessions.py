"""Sessions: a run as JSON and arrays, to be reopened where it was or done again from the start."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.algebra.catalogue import methods
from nearfield.algebra.parts import Array
from nearfield.descent.state import PARTS, State
from nearfield.io.maps import Map
from nearfield.steer.log import Entry
from nearfield.steer.packing import pack, unpack

ROWS = 100  # of the data, by which they are known again


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
    wanted: dict[str, Any], data: str, state: State, log: list[Entry]
) -> tuple[dict[str, Any], list[Array]]:
    """What a file holds of a run beside its map."""
    arrays: list[Array] = []
    parts = {"wanted": wanted, "state": state, "log": log}
    return {"data": data, **{name: pack(part, arrays, PARTS) for name, part in parts.items()}}, arrays


def unpack_session(
    saved: Map, path: Any, given: dict[str, Any]
) -> tuple[dict[str, Any], str, State, list[Entry]]:
    """What the run was asked for, the fingerprint of its data, its state, and its log."""
    if not saved.session:
        raise ValueError(f"{path} is a map without the run that made it: pass it to Run as init")
    asked = dict(saved.session["wanted"]["dict"])
    name = asked["method"]
    if name not in methods() and "method" not in given:
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
    return wanted | given, saved.session["data"], state, log
