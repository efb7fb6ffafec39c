"""Sessions: a run as JSON and arrays, to be reopened where it was or done again from the start."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from nearfield.algebra.catalogue import methods
from nearfield.algebra.method import Method
from nearfield.algebra.parts import Array
from nearfield.algebra.records import from_record, record
from nearfield.descent.state import PARTS, State
from nearfield.descent.steered import COMMANDS, Steered, in_turn
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
    return wanted | given, saved.session["data"], state, log


def plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size <= 1000 else f"array of shape {value.shape}"
    return value.item() if isinstance(value, np.generic) else repr(value)


class Kept(Steered):
    """A run that can be kept and reopened."""

    _asked: dict[str, Any]  # what is told of it, in plain numbers and strings
    _fingerprint: str
    _composition: Method  # before anything of it was learned

    if TYPE_CHECKING:  # what `Run` has beside

        @property
        def history(self) -> dict[str, Array]: ...

        @property
        def Y(self) -> Array: ...

        def __init__(self, X: Any, method: Any, **given: Any) -> None: ...

        def step(self, n: int = 1) -> None: ...

    @in_turn
    def map(self) -> Map:
        """The map as it is now, as a thing to keep: `Map.save` writes it, and `Run.load` goes on from it."""
        parameters = dict(self._asked, iteration=self.iteration)
        for name, value in self._problem.parameters_of(self._z).items():
            parameters[name] = plain(value)
        session, arrays = pack_session(self._wanted, self._fingerprint, self._now()[0], self._log)
        session["composition"] = record(self._composition)
        return Map(self.Y, parameters, self.history, session=session, arrays=arrays)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        X: Any,
        *,
        replay: bool = False,
        n_jobs: int | None = None,
        **given: Any,
    ) -> Self:
        """Reopen a run that ``run.map().save(path)`` has written, and go on with it.

        Parameters
        ----------
        path : path-like
            The file.
        X : array, sparse matrix or data frame
            The data that the map was made of, which are not in the file.
        replay : bool
            Whether to do everything again from the start, by the log, instead of taking the map from the
            file. On the same machine and versions the result is the same, bit for bit.
        n_jobs : int or None
            Threads; None is all cores.
        **given
            What a file cannot hold, if it was used: a `method` with a class or a function of one's own, a
            `metric` that is a function.

        Examples
        --------
        >>> import numpy as np, nearfield as nf, tempfile, os
        >>> X = np.random.default_rng(0).normal(size=(50, 5))
        >>> run = nf.Run(X, random_state=0)
        >>> run.step(100)
        >>> run.pin(3, (20, 0))
        >>> run.step(10)
        >>> path = os.path.join(tempfile.mkdtemp(), "map.nfmap")
        >>> run.map().save(path)
        >>> again = nf.Run.load(path, X, replay=True)
        >>> np.array_equal(again.Y, run.Y)
        True
        """
        saved = Map.load(path)
        wanted, data, state, log = unpack_session(saved, path, given)
        method = wanted.pop("method")
        other = f"{path} was made of other data than these: pass those, in the same order"
        if np.shape(X)[:1] != saved.Y.shape[:1]:
            raise ValueError(f"{other} ({saved.Y.shape[0]} rows)")
        run = cls(X, method, n_jobs=n_jobs, **wanted)
        if run._fingerprint != data:
            raise ValueError(other)
        run._asked = {name: saved.parameters.get(name, value) for name, value in run._asked.items()}
        if replay:
            run._replay(log, state.iteration)
        else:
            run._resume(state, log)
        return run

    def _replay(self, log: list[Entry], iteration: int) -> None:
        """Do again what the log says, and make the iterations in between."""
        for entry in log:
            if entry.command not in COMMANDS:  # a file must not call whatever it names
                raise ValueError(f"the log holds {entry.command!r}, which is no command of a run")
            self.step(entry.iteration - self.iteration)
            getattr(self, entry.command)(**entry.arguments)
        self.step(iteration - self.iteration)

    def _resume(self, state: State, log: list[Entry]) -> None:
        """Go on from a state that was kept."""
        rung = 0 if state.phase is None else self._phases[state.phase].rung
        for each in range(1, rung + 1):
            self._problem.enter(self._stages.at(each))  # type: ignore[union-attr]
        self._restore(state, self._problem.engine)
        self._log = list(log)
