"""Checkpoints: the state of a run in a file, from which it goes on after whatever has ended it, bit for bit.

The file is that of a run, of another kind: it also tells what was asked for, and a hash of all data, so that
no run goes on from the state of another one.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from nearfield.affinity.mixing import View
from nearfield.affinity.source import Source
from nearfield.algebra.catalogue import method as named
from nearfield.algebra.method import Method
from nearfield.descent.sessions import KNOWN, reopening
from nearfield.descent.settings import FREE, Settings
from nearfield.descent.state import State
from nearfield.io.files import check_writable, take_away_leftovers
from nearfield.io.maps import Map, read_kept, write_kept
from nearfield.io.packing import is_unknown, pack, unpack
from nearfield.io.schema import fits, in_a_line
from nearfield.steer.log import Entry
from nearfield.typing import Array

KIND = "checkpoint"  # among the files
SECONDS = 30.0  # between two of them, where it is not said after how many iterations
SHARE = 0.01  # of the time that may go into them, where it is not
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

    Attributes
    ----------
    path : str
        The file.
    iteration : int or None
        That of the state which is in the file, if this run has written it or goes on from it.
    """

    def __init__(self, source: Source, method: str | Method, settings: Settings) -> None:
        self.path, self.every = os.fspath(settings.checkpoint), settings.checkpoint_every
        check_writable(self.path)
        take_away_leftovers(self.path)  # of one that was killed amid writing
        self.iteration: int | None = None
        self._settings, self._shape = settings, (source.n, settings.n_components)
        self._data, self._asked = digest(source.X), _asked(source, method, settings)
        self._known: dict[str, str] | None = None  # what the file says was asked for
        self._last, self._time, self._pause = 0, time.monotonic(), SECONDS  # since it was tried

    @classmethod
    def of(cls, source: Source, method: str | Method, settings: Settings) -> Self | None:
        """The checkpoint that the settings of a run ask for, if they do."""
        if settings.checkpoint is None:
            if settings.checkpoint_every is not None:
                raise ValueError("checkpoint_every says how often: name the file too, with checkpoint")
            return None
        return cls(source, method, settings)

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
        if kept.session.get("whole") != self._data:
            raise ValueError(f"{self.path} is a checkpoint of other data than these: {REMEDY}")
        self._known = asked
        self._refuse_another(self._asked)
        with reopening(self.path):
            if not fits(begun["init"], Array) or begun["init"].shape != self._shape:
                raise ValueError("it does not say where it began")
        state = replace(state, history={name: each.tolist() for name, each in kept.history.items()})
        self.iteration = self._last = state.iteration
        return Resumed(replace(self._settings, **begun), state, log, kept.parameters)

    def agree(self, **asked: Any) -> None:
        """Note what else is asked of the run; a file of one that was asked for something else is refused."""
        told = {name: _told(value) for name, value in asked.items()}
        self._refuse_another(told)
        self._asked |= told

    def _refuse_another(self, told: dict[str, str]) -> None:
        """Refuse the checkpoint of another run than this one, in a line that says what differs."""
        if self._known is None:
            return
        for name, value in told.items():
            was = self._known.get(name, _told(None))
            if was != value:
                differs = f"{name} was {in_a_line(was, 80)}, and is {in_a_line(value, 80)}"
                raise ValueError(f"{self.path} is a checkpoint of another run, whose {differs}: {REMEDY}")

    def check(self, command: str, arguments: dict[str, Any]) -> None:
        """Refuse a command that no file can hold, before it is given."""
        if is_unknown(pack(arguments, [], KNOWN)):
            raise ValueError(
                f"{command}: a checkpoint cannot hold a term or a penalty of one's own: take those of"
                " nearfield, or make the run without checkpoint"
            )

    def due(self, iteration: int) -> bool:
        """Whether it is time to write the state."""
        if self.every is not None:
            return not 0 <= iteration - self._last < self.every  # undo goes back to before the last one
        return time.monotonic() - self._time >= self._pause

    def write(self, map_now: Callable[[], Map], iteration: int) -> None:
        """Write a run as it is now; where that cannot be done the run goes on, and the last one stays."""
        began, kept = time.monotonic(), map_now()
        told = {"dict": (self._known or {}) | self._asked}
        kept = replace(kept, session={**kept.session, "whole": self._data, "asked": told})
        try:
            write_kept(self.path, KIND, kept, quick=True)
        except OSError as error:
            warnings.warn(f"there is no new checkpoint: {error}", UserWarning, stacklevel=4)
        else:
            self.iteration = iteration
        self._last, self._time = iteration, time.monotonic()
        self._pause = max(SECONDS, (self._time - began) / SHARE)

    def delete(self) -> None:
        """Delete the file, because the run is done; one that is not of this run stays."""
        if self.iteration is None:
            return
        try:
            Path(os.path.realpath(self.path)).unlink(missing_ok=True)
        except OSError as error:  # which is no reason to lose the map
            reason = (error.strerror or "unknown reason").lower()
            warnings.warn(f"{self.path} could not be deleted ({reason})", UserWarning, stacklevel=3)
        self.iteration = None

    def __str__(self) -> str:
        if self.iteration is None:
            return f"no checkpoint was written to {self.path} yet"
        return f"{self.path} goes on from iteration {self.iteration}"


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
    told = {each.name: getattr(settings, each.name) for each in fields(settings) if each.name not in FREE}
    told |= {"method": named(method) if isinstance(method, str) else method}
    told |= {"metric": source.metric, "metric_params": source.metric_params, "weights": source.weights}
    told |= {"labels": None if source.labels is None else source.labels.codes}
    return {name: _told(value) for name, value in told.items()}


def _told(value: Any) -> str:
    """A value in a few words, and by a hash where these do not say all of it.

    What is of one's own, such as a metric that is a function, is known by its name alone.

    Examples
    --------
    >>> _told(30), _told(digest)
    ('30', 'digest')
    >>> _told(np.ones(3)) == _told(np.ones(3, dtype=np.float32)), _told(np.ones(3)) == _told(np.zeros(3))
    (True, False)
    """
    if hasattr(value, "__array__"):
        value = np.asarray(value)
        value = value if value.ndim else value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    arrays: list[Array] = []
    packed = pack(value, arrays, {**KNOWN, "View": View})
    if packed.keys() == {"unknown"}:
        return getattr(value, "__qualname__", type(value).__name__)
    exact = hashlib.blake2b(json.dumps(packed).encode(), digest_size=8)
    for each in arrays:
        exact.update(digest(each).encode())
    words = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else in_a_line(value, 40)
    return f"{words} ({exact.hexdigest()})"
