"""The result of a run as a thing to keep: coordinates and how they came about, in a file without pickle."""

from __future__ import annotations

import json
import os
import platform
import zlib
from dataclasses import dataclass, field
from typing import Any
from zipfile import BadZipFile

import numpy as np

from nearfield.typing import Array

FORMAT = 2  # the first had no session
# What reading something else, or part of a map, may end in.
DAMAGED = (ValueError, KeyError, EOFError, OSError, TypeError, AttributeError, BadZipFile, zlib.error)


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
        from nearfield.io.files import replacing

        about = {"format": FORMAT, "parameters": self.parameters, "versions": self.versions}
        about["session"] = self.session
        arrays: dict[str, Any] = {f"history_{name}": values for name, values in self.history.items()}
        arrays |= {f"session_{k}": values for k, values in enumerate(self.arrays)}
        for name, values in {"Y": self.Y, **arrays}.items():
            if np.asarray(values).dtype.hasobject:
                raise TypeError(f"{name} holds objects, which would have to be pickled: pass numbers")
        text = np.array(json.dumps(about))
        with replacing(path) as scratch, open(scratch, "wb") as file:
            np.savez_compressed(file, Y=self.Y, about=text, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Map:
        """Read what `save` wrote."""
        path = os.fspath(path)
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            about = json.loads(str(arrays.pop("about")))
            if about["format"] > FORMAT:
                known = about.get("versions", {}).get("nearfield", "?")
                raise Newer(
                    f"{path} was written by nearfield {known}, which is newer: update nearfield to read it"
                )
            Y, parameters, known = arrays.pop("Y"), about["parameters"], about["versions"]
            session, count = about.get("session", {}), sum(name.startswith("session_") for name in arrays)
            kept = [arrays.pop(f"session_{k}") for k in range(count)]
        except (FileNotFoundError, Newer):
            raise
        except DAMAGED as error:
            raise ValueError(f"{path} is not a map that nearfield saved") from error
        history = {name.removeprefix("history_"): values for name, values in arrays.items()}
        return cls(Y, parameters, history, known, session, kept)


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
