"""Sessions: a run as JSON and arrays, to be reopened where it was or done again from the start."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.fuzzy import FuzzyNeighbours
from nearfield.algebra.catalogue import methods
from nearfield.algebra.method import Method
from nearfield.algebra.records import PARTS as PARTS_OF_METHODS
from nearfield.descent.settings import FREE
from nearfield.descent.state import PARTS, State
from nearfield.io.maps import Map
from nearfield.io.packing import UNFIT, is_unknown, pack, unpack
from nearfield.io.schema import fits, in_a_line
from nearfield.steer.log import Entry
from nearfield.typing import Array

KNOWN: dict[str, type] = {**PARTS, **PARTS_OF_METHODS, "FuzzyNeighbours": FuzzyNeighbours}  # in a session
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


@dataclass(frozen=True)
class Asked:
    """What a run was asked for.

    Attributes
    ----------
    options : dict
        What it is made with, beside the data.
    composition : Method
        The method before anything was learned.
    """

    options: dict[str, Any]
    composition: Method


def pack_session(
    asked: Asked, data: str, state: State, log: list[Entry], first: Asked | None = None
) -> tuple[dict[str, Any], list[Array]]:
    """What a file holds of a run beside its map; `first` is what it was asked for before rows were added.

    The history is that of the map, and not told twice.
    """
    arrays: list[Array] = []
    state = replace(state, history={})
    parts = {"wanted": asked.options, "state": state, "log": log, "composition": asked.composition}
    if first is not None:
        parts["first"] = {"wanted": first.options, "composition": first.composition}
    return {"data": data, **pack(parts, arrays, KNOWN)["dict"]}, arrays


def opened(
    path: Any, X: Any, given: dict[str, Any]
) -> tuple[Map, dict[str, Any], dict[str, Any] | None, State, list[Entry]]:
    """A file that was saved: the map, what the run was asked for (now, and first), its state, and its log.

    Whether these fit each other and the data, the run finds out that is made of them.
    """
    saved = Map.load(path)
    if not saved.session:
        raise ValueError(f"{path} is a map without the run that made it: pass it to Run as init")
    if np.shape(X)[:1] != saved.Y.shape[:1]:
        raise ValueError(f"{path} {OTHER_DATA} ({saved.Y.shape[0]} rows)")
    with reopening(path):
        asked = {"wanted": _packed_options(saved.session)}
        if "first" in saved.session:
            asked["first"] = _packed_options(_inside(saved.session["first"]))
    unknown = sorted(set(given) - set(asked["wanted"]))
    if unknown:
        raise TypeError(f"Run.load takes what a Run takes, but not {', '.join(unknown)}")
    compositions = {"wanted": saved.session, "first": _inside(saved.session.get("first"))}
    for when, each in asked.items():
        name = each["method"]
        if "method" in given and str(given["method"]) != name:
            raise ValueError(f"{path} was made with {in_a_line(name)}, and not with {given['method']}")
        if name not in methods():
            each["method"] = compositions[when].get("composition")
            if "method" not in given and (each["method"] is None or is_unknown(each["method"])):
                raise ValueError(f"{path} was made with a composition, {in_a_line(name)}: pass it as method")
    session = {"state": saved.session.get("state"), "log": saved.session.get("log")}
    for when, each in asked.items():
        session[when] = {"dict": {key: part for key, part in each.items() if key not in given}}
    with reopening(path):
        found = unpack({"dict": session}, saved.arrays, KNOWN)
        state, log = found["state"], found["log"]
        if not isinstance(state, State) or not fits(log, list[Entry]):
            raise ValueError("its state or its log are something else")
        if not state.history:  # which the formats before the third have in the state
            state = replace(state, history={name: each.tolist() for name, each in saved.history.items()})
        n, dimensions = saved.Y.shape
        for when in asked:
            found[when] |= given
            if found[when].get("n_components") != dimensions:  # before anything is made room for
                raise ValueError(f"n_components must be {dimensions}, as many as its coordinates have")
        first = found.get("first")
        if first is not None and not (isinstance(first["init"], np.ndarray) and 2 <= len(first["init"]) < n):
            raise ValueError("it does not say how many rows there were at first")
    return saved, found["wanted"], first, state, log


def _inside(packed: Any) -> dict[str, Any]:
    """The names and values of a dict that is packed; nothing of something else."""
    inside = packed.get("dict") if isinstance(packed, dict) else None
    return inside if isinstance(inside, dict) else {}


def _packed_options(session: dict[str, Any]) -> dict[str, Any]:
    """What the run was asked for, still packed; the method is a name."""
    wanted = session.get("wanted")
    packed = wanted.get("dict") if isinstance(wanted, dict) else None
    if not isinstance(packed, dict) or not isinstance(packed.get("method"), str):
        raise ValueError("it does not say what was asked for")
    for name in set(packed) & set(FREE):  # least of all where to write
        raise ValueError(f"{name} is for whoever opens it to choose, and it is chosen there")
    return dict(packed)


@contextmanager
def reopening(path: Any) -> Iterator[None]:
    """Say of which file it is that something does not fit."""
    try:
        yield
    except UNFIT as error:
        raise ValueError(
            f"{path} cannot be reopened: {in_a_line(error)}; Map.load reads its coordinates"
        ) from error


def plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size <= 1000 else f"array of shape {value.shape}"
    return value.item() if isinstance(value, np.generic) else repr(value)
