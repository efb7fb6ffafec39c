"""The result of a run as a thing to keep: coordinates and how they came about, in a file without pickle.

Maps, runs and models are files of one form, which say of themselves what they are; docs/files.md describes
it.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nearfield.io.archive import Archive, storable, write
from nearfield.io.packing import DEPTH, plain
from nearfield.io.schema import fits
from nearfield.typing import Array

# The first had no session, the second no list of what is in the file, the third no kind.
FORMAT = 4
# What a file may be, and what opens it.
KINDS = {
    "map": "nearfield.Map.load(path)",
    "run": "nearfield.Run.load(path, X), and nearfield.Map.load(path) its coordinates",
    "model": "nearfield.load(path)",
    "checkpoint": "nearfield.Run.load(path, X), or the same call with checkpoint=path,",
}
LONGEST = 2**24  # characters that tell of a map: some hundred commands take a hundredth of them


class Newer(ValueError):
    """The file is of a format that a later version of nearfield writes."""


@dataclass(frozen=True, eq=False, repr=False)
class Map:
    """A map and how it was made.

    Attributes
    ----------
    Y : array (points, dimensions)
        The coordinates.
    parameters : dict
        What the run was asked for, as plain numbers and strings.
    history : dict of array
        Iteration, cost and gradient norm on the way.
    versions : dict
        Of nearfield and of what it computes with.
    session : dict
        Pins, frozen neighbours, the log and all else that `Run.load` needs to go on, as JSON can hold it.
    arrays : list of array
        Those that the session refers to.

    Examples
    --------
    >>> import numpy as np, nearfield as nf, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "map.nfmap")
    >>> nf.Map(np.zeros((3, 2))).save(path)
    >>> nf.Map.load(path).Y.shape
    (3, 2)
    >>> nf.Map.load(path)
    <Map: 3 points in 2 dimensions>
    """

    Y: Array
    parameters: dict[str, Any] = field(default_factory=dict)
    history: dict[str, Array] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=lambda: versions())
    session: dict[str, Any] = field(default_factory=dict)
    arrays: list[Array] = field(default_factory=list)

    def __repr__(self) -> str:
        n, dimensions = np.shape(self.Y)
        made = f" of {self.parameters['method']}" if "method" in self.parameters else ""
        after = f", iteration {self.parameters['iteration']}" if "iteration" in self.parameters else ""
        return f"<Map{made}: {n} points in {dimensions} dimensions{after}>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map to one file: an npz with the arrays and, as JSON text, all the rest."""
        write_kept(path, "run" if self.session else "map", self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Map:
        """Read what `save` wrote.

        Raises
        ------
        ValueError
            With one line that names the file and the fault, if it is something else, damaged, or of a newer
            format. Nothing in a file is run, and nothing is unpacked that is much larger than the file.
        """
        kind, found = read_kept(path)
        if kind == "model":
            raise ValueError(another_kind(path, kind))
        return found


def write_kept(path: str | os.PathLike[str], kind: str, kept: Map, *, quick: bool = False) -> None:
    """Write a map, a run or a model; what cannot be written is refused before the file is touched."""
    from nearfield.io.files import replacing

    arrays = {
        "Y": kept.Y,
        **{f"history_{name}": values for name, values in kept.history.items()},
        **{f"session_{k}": values for k, values in enumerate(kept.arrays)},
    }
    arrays = {name: np.asarray(values) for name, values in arrays.items()}
    for name, values in arrays.items():
        if not storable(values.dtype):
            raise TypeError(f"{name} holds {values.dtype}, which would have to be pickled: pass numbers")
    check_coordinates(arrays["Y"])
    check_names(list(kept.history))
    about = {
        "format": FORMAT,
        "kind": kind,
        "parameters": kept.parameters,
        "versions": kept.versions,
        "history": list(kept.history),
        "arrays": len(kept.arrays),
        "session": kept.session,
    }
    text = json.dumps(about)
    if len(text) > LONGEST:
        raise ValueError(
            f"what is told of the {kind} takes {len(text)} characters, and {LONGEST} are allowed"
        )
    with replacing(path) as scratch, open(scratch, "wb") as file:
        write(file, {**arrays, "about": np.array(text)}, quick=quick)


def read_kept(path: str | os.PathLike[str]) -> tuple[str, Map]:
    """What a file is, and what it holds; of a model, the session is what it is made of.

    Raises
    ------
    ValueError
        As `Map.load` does.
    """
    path = os.fspath(path)
    try:
        with Archive(path) as file:
            about = _told(file.text("about", LONGEST))
            named, numbered = _promised(about, file.names)
            arrays = file.numbers(["Y", *named, *numbered])
        check_coordinates(arrays["Y"])
        for name in named:
            if arrays[name].ndim != 1:
                raise ValueError(f"{name} must be a list of numbers, got shape {arrays[name].shape}")
    except Newer as error:
        raise Newer(f"{path} {error}") from None
    except ValueError as error:
        raise ValueError(f"{path} is not a map that nearfield saved: {error}") from error
    history = {name.removeprefix("history_"): arrays[name] for name in named}
    kept = [arrays[name] for name in numbered]
    found = Map(arrays["Y"], about["parameters"], history, about["versions"], about["session"], kept)
    return about["kind"], found


def another_kind(path: str | os.PathLike[str], kind: str) -> str:
    """What to say of a file that is another than the one that was asked for.

    Examples
    --------
    >>> another_kind("a.nfmap", "model")
    'a.nfmap is a model: nearfield.load(path) opens it'
    """
    return f"{os.fspath(path)} is a {kind}: {KINDS[kind]} opens it"


def check_coordinates(Y: Any) -> None:
    """Refuse what are no coordinates of points."""
    if Y.ndim != 2:
        raise ValueError(f"Y must have the shape (points, dimensions), got {Y.shape}")
    if not np.all(np.isfinite(Y)):
        raise ValueError("Y must be finite: there is NaN or infinity in it")


def check_names(history: Any) -> None:
    """Refuse names of columns that cannot be told in a line."""
    if not fits(history, list[str]) or not all(name.isprintable() and len(name) < 100 for name in history):
        raise ValueError("the history must have names of less than 100 letters, in a list")


def _told(text: str) -> dict[str, Any]:
    """What the JSON says of a map, if it is of the right form."""
    try:
        about = json.loads(text)
    except RecursionError:
        raise ValueError("its description is nested too deeply") from None
    if not isinstance(about, dict) or type(about.get("format")) is not int:
        raise ValueError("its description is none of a map")
    if about["format"] > FORMAT:
        known = about.get("versions")
        known = known.get("nearfield") if isinstance(known, dict) else None
        told = known if isinstance(known, str) and known.isprintable() and len(known) < 40 else "?"
        raise Newer(f"was written by nearfield {told}, which is newer: update nearfield to read it")
    about.setdefault("session", {})
    for name in ("parameters", "versions", "session"):
        if not isinstance(about.get(name), dict):
            raise ValueError(f"its description has no {name}")
    if not fits(about["versions"], dict[str, str]):
        raise ValueError("its versions must be text")
    if about.setdefault("kind", "run" if about["session"] else "map") not in list(KINDS):
        raise ValueError("its description does not say what it is")
    _check_depth(about, 0)
    return about


def _check_depth(told: Any, depth: int) -> None:
    """Refuse what is nested deeper than anything that is saved, and numbers without end."""
    if depth > 2 * DEPTH:  # a value that is packed is two deep
        raise ValueError(f"its description is nested more than {2 * DEPTH} deep")
    if isinstance(told, (dict, list)):
        for each in told.values() if isinstance(told, dict) else told:
            _check_depth(each, depth + 1)
    else:
        plain(told)


def _promised(about: dict[str, Any], names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The arrays of the history and of the session: those that are listed, or, as it was at first, found."""
    if about["format"] < 3:
        kept = sum(name.startswith("session_") for name in names)
        return [name for name in names if name.startswith("history_")], [f"session_{k}" for k in range(kept)]
    history: Any = about.get("history")
    count: Any = about.get("arrays")
    check_names(history)
    if not fits(count, int) or not 0 <= count <= len(names):
        raise ValueError("its description does not count the arrays that are there")
    return [f"history_{name}" for name in history], [f"session_{k}" for k in range(count)]


def versions() -> dict[str, str]:
    """The versions that a result depends on."""
    import numba
    import scipy

    import nearfield

    return {
        "nearfield": nearfield.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
    }
