"""Checkpoints: the state of a run in a file, from which it goes on after whatever has ended it, bit for bit.

The file is that of a run, of another kind: it also tells what was asked for, and a hash of all data, so that
no run goes on from the state of another one.
"""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.source import Source
from nearfield.algebra.catalogue import method as named
from nearfield.algebra.method import Method
from nearfield.descent.sessions import KNOWN, reopening
from nearfield.descent.settings import FREE, Settings
from nearfield.descent.state import State
from nearfield.io.files import check_writable
from nearfield.io.maps import Map, read_kept, write_kept
from nearfield.io.packing import is_unknown, unpack
from nearfield.io.schema import fits, in_a_line
from nearfield.steer.log import Entry
from nearfield.typing import Array

KIND = "checkpoint"  # among the files
SECONDS = 30.0  # between two of them, where it is not said after how many iterations
ROWS = 2**16  # that are hashed at a time
REMEDY = "name another file, or delete this one to begin anew"


@dataclass(frozen=True, eq=False)
class Resumed:
    """Where a run was when its last checkpoint was written.

    Attributes
    ----------
    settings : Settings
        Those that were asked for, from the start and with the engine that the run had.
    state : State
        Where it was.
    log : list of Entry
        What was asked of it on the way.
    parameters : dict
        What its map tells of it.
    """

    settings: Settings
    state: State
    log: list[Entry]
    parameters: dict[str, Any]


class Checkpoint:
    """Where, and how often, the state of a run is written.

    Parameters
    ----------
    source : Source
        The data.
    method : str or Method
        What is made of them.
    settings : Settings
        How, and to which file the state is written.
    """

    def __init__(self, source: Source, method: str | Method, settings: Settings) -> None:
        self.path, self.every = os.fspath(settings.checkpoint), settings.checkpoint_every
        self.settings = settings
        check_writable(self.path)
        self.data = digest(source.X)
        self.asked = _asked(source, method, settings)
        self._iteration, self._time = 0, time.monotonic()

    def found(self) -> Resumed | None:
        """What the file holds, if there is one; that of another run, or another file, is refused."""
        if not os.path.exists(self.path):
            return None
        kind, kept = read_kept(self.path)
        if kind != KIND:
            raise ValueError(f"{self.path} is a {kind}, and no checkpoint: name another file")
        if "first" in kept.session:
            raise ValueError(
                f"{self.path} is of a run with added rows: Run.load(path, X) goes on with all of them"
            )
        with reopening(self.path):
            session = {name: kept.session.get(name) for name in ("wanted", "state", "log", "asked")}
            wanted = session["wanted"]
            wanted = wanted.get("dict") if isinstance(wanted, dict) else None
            if not isinstance(wanted, dict):
                raise ValueError("it does not say what was asked for")
            session["wanted"] = {"dict": {name: wanted.get(name) for name in ("init", "engine")}}
            found = unpack({"dict": session}, kept.arrays, KNOWN)
            state, log, asked, begun = found["state"], found["log"], found["asked"], found["wanted"]
            if not isinstance(state, State) or not fits(log, list[Entry]) or not fits(asked, dict[str, str]):
                raise ValueError("its state, its log or what was asked for are something else")
            if not isinstance(begun["init"], np.ndarray) or not isinstance(begun["engine"], str):
                raise ValueError("it does not say where it began")
        self._refuse_another(asked, kept.session.get("whole"))
        state = replace(state, history={name: each.tolist() for name, each in kept.history.items()})
        self._iteration = state.iteration
        return Resumed(replace(self.settings, **begun), state, log, kept.parameters)

    def _refuse_another(self, asked: dict[str, str], data: Any) -> None:
        """Refuse the checkpoint of another run than this one, in a line that says what differs."""
        if data != self.data:
            raise ValueError(f"{self.path} is a checkpoint of other data than these: {REMEDY}")
        for name, value in self.asked.items():
            was = asked.get(name, "something else")
            if was != value:
                told = f"{name} was {in_a_line(was, 60)}, and is {in_a_line(value, 60)}"
                raise ValueError(f"{self.path} is a checkpoint of another run, whose {told}: {REMEDY}")

    def due(self, iteration: int) -> bool:
        """Whether it is time to write the state."""
        if self.every is not None:
            return iteration - self._iteration >= self.every
        return time.monotonic() - self._time >= SECONDS

    def write(self, run: Map, iteration: int) -> None:
        """Write a run as it is now; where that cannot be done the run goes on, and the last one stays."""
        if is_unknown(run.session["state"]):
            raise ValueError(
                "a checkpoint cannot hold a term or a penalty of one's own: leave out checkpoint, or the term"
            )
        asked = {"dict": dict(self.asked)}
        kept = replace(run, session={**run.session, "whole": self.data, "asked": asked})
        try:
            write_kept(self.path, KIND, kept, quick=True)
        except OSError as error:
            warnings.warn(f"there is no new checkpoint: {error}", UserWarning, stacklevel=4)
        self._iteration, self._time = iteration, time.monotonic()


def digest(X: Any) -> str:
    """A hash of all data, as numbers: whatever their type and layout.

    Examples
    --------
    >>> digest(np.eye(3)) == digest(np.asfortranarray(np.eye(3, dtype=np.float32)))
    True
    >>> digest(np.eye(3)) == digest(sparse.eye_array(3))
    False
    """
    found = hashlib.blake2b(repr(X.shape).encode(), digest_size=32)
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        for part, kind in ((X.indptr, np.int64), (X.indices, np.int64), (X.data, np.float64)):
            found.update(np.ascontiguousarray(part, dtype=kind).tobytes())
    else:
        for lo in range(0, X.shape[0], ROWS):
            found.update(np.ascontiguousarray(X[lo : lo + ROWS], dtype=np.float64).tobytes())
    return found.hexdigest()


def _asked(source: Source, method: str | Method, settings: Settings) -> dict[str, str]:
    """What was asked for, in words and hashes: by these it is known again."""
    composition = named(method) if isinstance(method, str) else method
    told = {each.name: _told(getattr(settings, each.name)) for each in fields(settings)}
    told = {name: value for name, value in told.items() if name not in FREE}
    return {"method": str(composition), **told, "weights": _told(source.weights)}


def _told(value: Any) -> str:
    if isinstance(value, (list, tuple)) or hasattr(value, "__array__"):
        numbers: Array = np.atleast_1d(np.asarray(value))
        if numbers.dtype.kind in "biuf":
            return numbers.tolist().__repr__() if numbers.size < 10 else f"the numbers {digest(numbers)[:12]}"
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, (dict, str, int, float, type(None))):
        return repr(value)
    return getattr(value, "__qualname__", type(value).__name__)
