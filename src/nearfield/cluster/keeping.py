"""Checkpoints: the map in a folder, or in an object store, from which other workers can go on.

Every worker writes the points that it has, under a name that says of which iteration they are. When all have,
the first writes which files belong together, in one step, and the older ones are taken away: whoever is
killed on the way leaves a whole checkpoint, this one or the one before.
"""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.descent.descent import Descent
from nearfield.descent.optimizers import Momentum, optimizer
from nearfield.descent.state import State
from nearfield.io.files import replacing
from nearfield.typing import Array

if TYPE_CHECKING:
    from nearfield.cluster.members import Members

CONTENTS = "checkpoint.json"
OF_POINTS = ("velocity", "gains")  # of the optimizer, beside the positions


class Folder:
    """A folder, or what fsspec makes of a URL, whose files are written whole or not at all."""

    def __init__(self, where: str) -> None:
        self.where, self._store = where, None
        if "://" in where:
            import fsspec

            self._store, self._path = fsspec.core.url_to_fs(where)
            self._store.makedirs(self._path, exist_ok=True)
        else:
            self._path = os.path.abspath(where)
            os.makedirs(self._path, exist_ok=True)

    def _at(self, name: str) -> str:
        return f"{self._path.rstrip('/')}/{name}"

    def write(self, name: str, content: bytes) -> None:
        """Write a file, in place of the one that is there."""
        if self._store is not None:
            self._store.pipe_file(self._at(name), content)
            return
        with replacing(self._at(name)) as scratch:
            scratch.write_bytes(content)

    def read(self, name: str) -> bytes:
        """What is in a file."""
        if self._store is not None:
            self._store.invalidate_cache()
            return self._store.cat_file(self._at(name))
        with open(self._at(name), "rb") as file:
            return file.read()

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        if self._store is not None:
            self._store.invalidate_cache()
            return bool(self._store.exists(self._at(name)))
        return os.path.exists(self._at(name))

    def remove(self, name: str) -> None:
        """Take a file away, if it is there."""
        if self.has(name):
            if self._store is not None:
                self._store.rm_file(self._at(name))
            else:
                os.remove(self._at(name))


@dataclass(frozen=True)
class Fingerprint:
    """By which a checkpoint is known again: what data it is of, and what was asked for."""

    data: str
    asked: str


class Keeper:
    """What a worker keeps of its share of a map, and finds of one that was kept.

    Parameters
    ----------
    where : str
        A folder or a URL.
    of : Fingerprint
        Data and options.
    together : Members
        The workers.
    numbers : array (points,)
        Which rows of the data this worker has.
    """

    def __init__(self, where: str, of: Fingerprint, together: Members, numbers: Any) -> None:
        self.where, self.of, self.together, self.numbers = where, of, together, numbers
        self.folder = Folder(where)
        self._check()

    def _check(self) -> None:
        """Refuse, before the work, a folder that cannot be written or that workers do not share."""
        mine = f"worker-{self.together.rank}"
        self.folder.write(mine, b"here")
        self.together.sum(1)  # all have written
        there = all(self.folder.has(f"worker-{rank}") for rank in range(self.together.size))
        self.together.sum(1)  # all have looked
        self.folder.remove(mine)
        if not there:
            raise ValueError(
                f"{self.where} is not the same folder on all workers: choose one that they share, or a URL"
            )

    def write(self, descent: Descent) -> str | None:
        """Keep the map as it is now; what is wrong, if that cannot be done."""
        state, _ = descent.state()
        problem, trouble = descent.problem, None
        name = f"points-{state.iteration:06d}-{self.together.rank}-of-{self.together.size}.npz"
        columns = {"numbers": self.numbers, "Y": problem.map_of(state.z)}
        if isinstance(state.optimizer, Momentum):
            columns |= {each: problem.map_of(getattr(state.optimizer, each)) for each in OF_POINTS}
        before = self._contents()
        try:
            content = io.BytesIO()
            np.savez(content, **columns)
            self.folder.write(name, content.getvalue())
        except OSError as error:
            trouble = str(error)
        if self.together.sum(int(trouble is not None)):
            self._remove([name])
            return trouble or "another worker could not write"
        shared = state.z[problem.shape[0] * problem.shape[1] :]
        if self.together.leads:
            contents = {
                "data": self.of.data,
                "asked": self.of.asked,
                "iteration": state.iteration,
                "phase": state.phase,
                "last": getattr(state.optimizer, "last", None),
                "shared": shared.tolist(),
                "history": state.history,
                "files": [
                    name.replace(f"-{self.together.rank}-", f"-{k}-") for k in range(self.together.size)
                ],
            }
            try:
                self.folder.write(CONTENTS, json.dumps(contents).encode())
            except OSError as error:
                trouble = str(error)
        if self.together.sum(int(trouble is not None)):
            self._remove([name])
            return trouble or "the first worker could not write"
        if self.together.leads:
            self._remove([] if before is None else [each for each in before["files"] if each != name])
        return None

    def _remove(self, names: list[str]) -> None:
        for name in names:
            self.folder.remove(name)

    def _contents(self) -> dict[str, Any] | None:
        """What is kept, or None."""
        if not self.folder.has(CONTENTS):
            return None
        try:
            contents = json.loads(self.folder.read(CONTENTS))
            found = {name: contents[name] for name in ("data", "asked", "files", "iteration", "history")}
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{self.where} holds no checkpoint that can be read: remove it, or choose another folder"
            ) from error
        return contents if found else None

    def read(self, descent: Descent) -> State | None:
        """The state to go on from, if there is one; one of other data, or of another map, is refused."""
        contents = self._contents()
        if contents is None:
            return None
        if contents["data"] != self.of.data:
            raise ValueError(
                f"{self.where} is a checkpoint of other data: choose another folder, or remove it"
            )
        if contents["asked"] != self.of.asked:
            raise ValueError(
                f"{self.where} is a checkpoint of another method or of other options: choose another folder,"
                " or remove it"
            )
        columns = self._columns(contents["files"], descent.problem.shape[1])
        phase = contents["phase"]
        made = optimizer(descent.phases[0 if phase is None else phase].optimizer)
        z = np.concatenate([columns["Y"].ravel(), np.array(contents["shared"], dtype=np.float64)])
        made.begin(z, descent.phases[0 if phase is None else phase])
        if isinstance(made, Momentum) and all(name in columns for name in OF_POINTS):
            own = columns["Y"].size
            made.velocity[:own], made.gains[:own] = (columns[name].ravel() for name in OF_POINTS)
            made.last = float("inf" if contents["last"] is None else contents["last"])
        return State(z, contents["iteration"], phase, made, descent.steering, contents["history"])

    def _columns(self, files: list[str], dimensions: int) -> dict[str, Array]:
        """What was kept of the own points, whoever had them."""
        order = np.argsort(self.numbers)
        sorted_ones, found, filled = self.numbers[order], dict[str, Array](), 0
        for name in files:
            with np.load(io.BytesIO(self.folder.read(name)), allow_pickle=False) as part:
                at = np.searchsorted(sorted_ones, part["numbers"])
                at = np.minimum(at, len(order) - 1)
                mine = sorted_ones[at] == part["numbers"]
                filled += int(mine.sum())
                for column in part.files:
                    if column != "numbers":
                        out = found.setdefault(column, np.empty((len(order), dimensions)))
                        out[order[at[mine]]] = part[column][mine]
        if filled != len(order):
            raise ValueError(f"{self.where} lacks points: remove it, or choose another folder")
        return found
