"""Models as files: what a fitted estimator holds, taken apart into plain parts and put together again.

What placing needs is a `Reference`, a tree of a few objects. Each is written down attribute by attribute, but
for what is made again when it is asked for; an attribute that is new in a class is then in its files too.
What is read is checked together, sizes, kinds and numbers, before any of these objects is made.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.fitted import Fitted
from nearfield.affinity.fuzzy import FuzzyNeighbours
from nearfield.affinity.mixed import MixedFitted
from nearfield.affinity.mixing import View
from nearfield.affinity.search import Lists
from nearfield.affinity.space import Products, Vectors
from nearfield.affinity.traits import Traits
from nearfield.algebra.catalogue import method as catalogued
from nearfield.algebra.method import Method
from nearfield.algebra.records import PARTS as PARTS_OF_METHODS
from nearfield.descent.placing import HeldDistances, HeldMap, HeldRows, Projection, Reference, Still
from nearfield.descent.preparing import Preparation
from nearfield.descent.sessions import plain
from nearfield.descent.settings import FREE
from nearfield.descent.soundness import check_reference
from nearfield.io.levels import Levels
from nearfield.io.maps import Map, write_kept
from nearfield.io.packing import UNFIT, is_unknown, pack, unpack
from nearfield.io.schema import check_array, check_indices, fits, in_a_line
from nearfield.typing import Array

ROWS = ("exact", "compact")
# The objects that a model is made of, and what they start with: it is made when it is asked for, and in no
# file.
OBJECTS: dict[str, tuple[type, dict[str, Any]]] = {
    "Reference": (Reference, {}),
    "Fitted": (Fitted, {"_sorted": None, "_ranked": None, "_bits": None}),
    "MixedFitted": (MixedFitted, {"_sorted": None}),
    "Vectors": (Vectors, {"_laid": None}),
    "Products": (Products, {"_laid": None}),
    "HeldMap": (HeldMap, {"_around": None}),
    "HeldRows": (HeldRows, {}),
    "HeldDistances": (HeldDistances, {}),
    "Projection": (Projection, {}),
    "Still": (Still, {}),
}
# Attributes that came later than files which lack them, and what they were before.
LATER: dict[str, dict[str, Any]] = {"HeldMap": {"attraction": 1.0}, "HeldRows": {"attraction": 1.0}}
HOLD = ("HeldMap", "HeldRows", "HeldDistances", "Projection", "Still")  # the map, which the file has once
PART = {"cost", "kernel", "transform"}  # of a method
NEEDED = ("method", "metric", "metric_params")  # without which nothing can be placed
ANY = ("verbose", "callback", "random_state", *FREE)  # which a person may choose anew


@dataclass(frozen=True, eq=False)
class Thing:
    """One of the objects, as a file has it."""

    name: str
    parts: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Stored:
    """A sparse matrix, row by row."""

    shape: tuple[int, int]
    indptr: Any
    indices: Any
    data: Any


KNOWN: dict[str, type] = {
    **PARTS_OF_METHODS,
    **{
        kind.__name__: kind
        for kind in (Thing, Stored, Levels, Traits, Lists, View, Preparation, FuzzyNeighbours)
    },
}


@dataclass(frozen=True, eq=False)
class Model:
    """What a file holds of a fitted estimator.

    Attributes
    ----------
    estimator : str
        The name of its class.
    parameters : dict
        What its constructor was given.
    attributes : dict
        What its fit found, but for the history, and for the map unless that is one of landmarks.
    reference : Reference
        What places new rows.
    """

    estimator: str
    parameters: dict[str, Any]
    attributes: dict[str, Any]
    reference: Reference


# Writing ----------------------------------------------------------------------------------------------------


def write_model(
    path: str | os.PathLike[str], model: Model, history: Mapping[str, Array], rows: str = "exact"
) -> None:
    """Write a model to a file, whole or not at all."""
    if rows not in ROWS:
        raise ValueError(f"rows must be 'exact' or 'compact', got {rows!r}")
    _complete(model.reference.fitted)
    arrays: list[Array] = []
    told = {
        "estimator": model.estimator,
        "rows": rows,
        "parameters": model.parameters,
        "attributes": model.attributes,
        "reference": _apart(model.reference, rows),
    }
    session = pack(told, arrays, KNOWN)["dict"]
    parameters = {name: _named(value) for name, value in model.parameters.items()}
    kept = Map(model.reference.held.Y, parameters, dict(history), session=session, arrays=arrays)
    write_kept(path, "model", kept)


def _named(value: Any) -> Any:
    """A parameter as a person reads it."""
    return value.__name__ if callable(value) and hasattr(value, "__name__") else plain(value)


def _complete(fitted: Fitted) -> None:
    """Have made what is made when it is first asked for: by the rows as they are, and only once."""
    if isinstance(fitted, MixedFitted):
        for view in fitted.views:
            _complete(view)
        return
    if fitted.precomputed or fitted.affinities:
        return
    fitted.spaced()
    ground = fitted.space
    if isinstance(ground, Vectors):
        ground.listed(fitted.n_jobs)


def _apart(value: Any, rows: str) -> Any:
    """An object as parts that can be packed; the map is kept once, beside them."""
    for name, (kind, more) in OBJECTS.items():
        if type(value) is kind:
            given = {key: each for key, each in vars(value).items() if key not in more}
            if name in HOLD:
                del given["Y"]
            return Thing(name, {key: _apart(each, rows) for key, each in _compact(name, given, rows).items()})
    if isinstance(value, list):
        return [_apart(each, rows) for each in value]
    if sparse.issparse(value):
        value = sparse.csr_array(value)
        return Stored(value.shape, value.indptr, value.indices, value.data)
    return value


def _compact(name: str, parts: dict[str, Any], rows: str) -> dict[str, Any]:
    """The same with bytes for the numbers of rows, if that is wanted.

    Not where it counts whether numbers are equal, which rounded ones would be too often.
    """
    if rows == "compact" and parts.get("metric") != "hamming":
        for key in {"Vectors": ("X",), "Products": ("X",), "Fitted": ("_X",)}.get(name, ()):
            if isinstance(parts[key], np.ndarray):
                parts[key] = Levels.of(parts[key])
            elif sparse.issparse(parts[key]):
                values = Levels.of(sparse.csr_array(parts[key]).data[:, None])
                parts[key] = replace(_apart(parts[key], "exact"), data=values)
    return parts


# Reading ----------------------------------------------------------------------------------------------------


@contextmanager
def opening(path: Any) -> Iterator[None]:
    """Say of which file it is that something does not fit."""
    try:
        yield
    except UNFIT as error:
        raise ValueError(f"{path} cannot be opened: {in_a_line(error)}") from error


def read_model(path: Any, kept: Map, given: Mapping[str, Any], kinds: Mapping[str, Any]) -> Model:
    """The model of a file; whatever does not fit is refused in a line that names it.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    kept : Map
        What was read of it.
    given : dict
        Parameters that the file cannot hold, such as a metric or a cost of one's own.
    kinds : dict
        The annotations of the attributes that an estimator may have.
    """
    told = {**kept.session}
    with opening(path):
        packed = told.get("parameters")
        packed = packed.get("dict") if isinstance(packed, dict) else None
        if not isinstance(packed, dict) or not isinstance(told.get("estimator"), str):
            raise ValueError("it does not say what was fitted")
        parts = _parts(given)
        made: dict[str, Any] = {f"given {name}": (lambda value=value: value) for name, value in parts.items()}
        told = {name: _filled(each, parts) for name, each in told.items()}
        parameters = told["parameters"]["dict"]
    lost = [name for name, each in parameters.items() if is_unknown(each) and name not in given]
    for name in filter(lost.__contains__, NEEDED):
        own = in_a_line(kept.parameters.get(name), 60)
        raise ValueError(
            f"{path} cannot hold the {name} of its own that it was made with, {own}: pass {name}=…"
        )
    told["parameters"] = {"dict": {name: each for name, each in parameters.items() if not is_unknown(each)}}
    with opening(path):
        found = unpack({"dict": told}, kept.arrays, KNOWN | made)
        attributes = _attributes(found.get("attributes"), kinds, kept)
        if found["parameters"].get("checkpoint") is not None:
            raise ValueError("it says where fit is to write, which no file may")
        parameters = _parameters(found["parameters"], given)
        reference = _together(found.get("reference"), kept.Y)
        if not isinstance(reference, Reference):
            raise ValueError("it does not say how rows are placed")
        preparation = attributes.get("preparation_")
        if preparation is not None:
            preparation.check()
        columns = attributes["n_features_in_"] if preparation is None else preparation.columns
        check_reference(reference, columns)
    if lost:
        warnings.warn(f"{path} does not hold {', '.join(lost)}: pass it to load", UserWarning, stacklevel=3)
    if "n_jobs" in given:
        for part in (reference.fitted, *vars(reference.fitted).get("views", ()), reference.held):
            if "n_jobs" in vars(part):
                vars(part)["n_jobs"] = given["n_jobs"]
    return Model(found["estimator"], parameters, attributes, reference)


def _parts(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a person passes, by the places in which it may be missing."""
    found = dict(given)
    if "method" in given:
        method = given["method"] if isinstance(given["method"], Method) else catalogued(given["method"])
        found |= {name: getattr(method, name) for name in PART}
    return found


def _filled(packed: Any, parts: Mapping[str, Any], at: str = "") -> Any:
    """What was packed, with what is given in the places of what a file cannot hold."""
    if isinstance(packed, list):
        return [_filled(each, parts) for each in packed]
    if not isinstance(packed, dict):
        return packed
    if packed.keys() == {"unknown"} and at in parts:
        part, own = parts[at], packed["unknown"]
        if isinstance(part, str) or (at in PART and type(part).__name__ != own):
            name = part if isinstance(part, str) else type(part).__name__
            raise ValueError(f"its {at} was a {in_a_line(own, 40)} of one's own, and not {name}")
        return {"is": f"given {at}", "with": {}}
    if packed.keys() == {"is", "with"} and str(packed["is"]).startswith("given "):
        raise ValueError("it names a part as none is called")
    return {name: _filled(each, parts, name) for name, each in packed.items()}


def _parameters(found: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the estimator, some of which may be given; those that are known stay as they are."""
    for name, value in given.items():
        held = found.get(name)
        if name in found and name not in ANY and not (held is value or _equal(held, value)):
            raise ValueError(f"it was fitted with {name}={in_a_line(_named(held), 60)}: fit anew for another")
    return {**found, **given}


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, Method) and isinstance(other, str):
        return one == catalogued(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)
    return bool(np.array_equal(one, other))


def _attributes(found: Any, kinds: Mapping[str, Any], kept: Map) -> dict[str, Any]:
    """The attributes of the estimator, each of the kind that its class declares."""
    if not isinstance(found, dict):
        raise ValueError("it does not say what was found")
    for name, value in found.items():
        if name not in kinds or not fits(value, kinds[name]):
            raise ValueError(f"{in_a_line(name, 40)} is no attribute, or of another kind than that has")
    if not fits(found.get("n_features_in_"), int):
        raise ValueError("it does not say how many columns were fitted")
    if "landmarks_" in found:
        _check_landmarks(found, kept.Y)
    elif "embedding_" in found:
        raise ValueError("it has a second map, and no landmarks")
    return {"embedding_": kept.Y, **found, "history_": kept.history}


def _check_landmarks(found: Mapping[str, Any], Y: Array) -> None:
    """Refuse places of all rows, or numbers of landmarks among them, that do not go with the map of these."""
    landmarks, places = found["landmarks_"], found.get("embedding_")
    n = 2**62 if places is None else len(places)
    check_indices("the landmarks", landmarks, n, once=True)
    if len(landmarks) != len(Y):
        raise ValueError(f"{len(landmarks)} landmarks are named, and the map has {len(Y)}")
    if places is not None:
        check_array("the places of all rows", places, (None, Y.shape[1]))


def _together(value: Any, Y: Array) -> Any:
    """The object that was taken apart."""
    if isinstance(value, Levels):
        value.check("rows")
        return value.table()
    if isinstance(value, Stored):
        return _matrix(value)
    if isinstance(value, list):
        return [_together(each, Y) for each in value]
    if not isinstance(value, Thing):
        return value
    if value.name not in OBJECTS:
        raise ValueError(f"nearfield has no part that is called {in_a_line(value.name, 40)!r}")
    kind, more = OBJECTS[value.name]
    for name in value.parts:
        usual = getattr(kind, name, None)
        if callable(usual) or isinstance(usual, property) or not name.isidentifier():
            raise ValueError(f"{in_a_line(name, 40)} is no attribute of {value.name}")
    made: Any = object.__new__(kind)
    parts = {name: _together(each, Y) for name, each in value.parts.items()}
    if kind is Vectors and "metric" not in parts:  # as files said it before there were more of them
        cosine, squares = parts.pop("cosine", False), parts.pop("squares", False)
        parts["metric"] = "cosine" if cosine else "sqeuclidean" if squares else "euclidean"
    for name, usual in LATER.get(value.name, {}).items():  # after the others, as in a new file
        parts.setdefault(name, usual)
    vars(made).update(more | parts)
    if value.name in HOLD:
        vars(made)["Y"] = Y
    return made


def _matrix(stored: Stored) -> Any:
    """The sparse matrix, if its parts are those of one."""
    data = stored.data
    if isinstance(data, Levels):
        data.check("rows")
        data = data.table()[:, 0]
    parts = (data, stored.indices, stored.indptr)
    if not all(isinstance(each, np.ndarray) and each.ndim == 1 for each in parts):
        raise ValueError("a sparse matrix needs its numbers, their columns and where rows begin")
    if any(each.dtype.kind != "i" for each in parts[1:]) or data.dtype != np.float64:
        raise ValueError("a sparse matrix needs whole numbers for its columns, and float64 for its numbers")
    made: Any = sparse.csr_array(parts, shape=stored.shape)
    made.check_format(full_check=True)
    return made
