"""What is on the disk at any moment, so that nothing but the last moves of a drag under way can be lost.

Two files beside each other: the state, written whole every half a minute and after whatever the log cannot
tell, and the log, to which each command is appended at once. Both are of one run. To reopen is to load the
state and to do again what the log has beyond it; a last line that was cut short is left out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import secrets
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.descent.run import Run
from nearfield.descent.sessions import KNOWN
from nearfield.io.files import fcntl, replacing
from nearfield.io.maps import Map
from nearfield.io.packing import UNFIT, pack, unpack
from nearfield.io.schema import in_a_line
from nearfield.steer.log import Entry, check_log
from nearfield.studio.rows import Rows
from nearfield.typing import Array

if TYPE_CHECKING:
    from nearfield.studio.session import Session

EVERY = 30.0  # seconds
LONGEST = 2**26  # bytes of a log that are read
BEYOND = ("undo", "redo")  # what they go back to is in no file


def home() -> Path:
    """The folder of this computer's sessions, which is made if need be."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    folder = Path(state).expanduser() / "nearfield" / "studio"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def name_of(rows: Rows) -> str:
    """By which the sessions of some data are found again."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", Path(rows.name).stem)[:40] or "data"
    return f"{plain}-{hashlib.sha256(rows.name.encode()).hexdigest()[:8]}"


@dataclass
class Keeper:
    """Writes a session down.

    Attributes
    ----------
    path : Path
        Of the state; the log has the same name with another suffix.
    about : dict
        What the file tells of the data, by which they are found again.
    lock : int, optional
        What keeps other studios from the same files, until `close`.
    """

    path: Path
    about: dict[str, Any] = field(default_factory=dict)
    lock: int | None = None
    _run: Run | None = None
    _mark: str = ""
    _written: int = 0
    _saved: float = field(default_factory=time.monotonic)

    @property
    def log(self) -> Path:
        """Where commands are appended to."""
        return self.path.with_suffix(".log")

    @property
    def left(self) -> Path:
        """Where the state of the session before this one is."""
        return self.path.with_name(f"{self.path.stem}.left.nfmap")

    def due(self) -> bool:
        """Whether it is time to save."""
        return time.monotonic() - self._saved >= EVERY

    def close(self) -> None:
        """Let others have the name."""
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None

    def save(self, session: Session) -> None:
        """Write the state, and begin the log anew."""
        run, log = session.run, len(session.run.log)
        mark = self._mark if run is self._run else secrets.token_hex(8)
        made = told(session, self.about, mark)
        self._saved = time.monotonic()  # also if it fails: it is tried again, but not at every iteration
        made.save(self.path)
        with replacing(self.log):
            pass
        self._run, self._mark, self._written = run, mark, log

    def append(self, session: Session) -> None:
        """Write down the commands that came since."""
        log = session.run.log
        new = log[self._written :]
        if session.run is not self._run or any(each.command in BEYOND for each in new):
            self.save(session)
            return
        if not new:
            return
        lines = [line_of(self._mark, self._written + k, each) for k, each in enumerate(new)]
        with open(self.log, "ab") as file:
            file.write("".join(lines).encode())
            file.flush()
            os.fsync(file.fileno())
        self._written = len(log)

    # What was left ----------------------------------------------------------------------------------------

    def put_aside(self) -> dict[str, Any] | None:
        """Keep what a session before this one left, and tell of it: when it was, and what was done in it."""
        if self.path.exists():
            self.path.replace(self.left)
            if self.log.exists():
                self.log.replace(self.left.with_suffix(".log"))
        if not self.left.exists():
            return None
        try:
            kept = Map.load(self.left)
        except (ValueError, OSError) as error:
            return {"damaged": f"{in_a_line(error)}; nothing of it was deleted"}
        entries = read_log(self.left.with_suffix(".log"), _mark_of(kept))
        commands = len(kept.session.get("log", {}).get("list", ())) + len(entries)
        if not kept.parameters.get("iteration") and not commands:
            return None
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.left.stat().st_mtime))
        return {"when": when, "iteration": kept.parameters.get("iteration"), "commands": commands}

    def reopen(self, session: Session) -> None:
        """Let a session go on with what was left."""
        line = session.line
        run, selections = reopened(self.left, line.source, line.options.get("n_jobs"))
        parameters = run.map().parameters
        perplexity = parameters.get("perplexity")
        line.source = run.source
        line.go_on_with(
            run,
            {
                "method": parameters["method"],
                "perplexity": perplexity if isinstance(perplexity, (int, float)) else None,
                "exaggeration": None,
            },
        )
        session.selections = selections


def told(session: Session, about: dict[str, Any], mark: str = "") -> Map:
    """The session as one map: with what belongs to the studio beside what belongs to the run."""
    made = session.run.map()
    first = len(made.arrays)
    names = list(session.selections)
    studio = {"data": about, "mark": mark, "selections": {name: first + k for k, name in enumerate(names)}}
    arrays = [*made.arrays, *(session.selections[name] for name in names)]
    return replace(made, parameters={**made.parameters, "studio": studio}, arrays=arrays)


def reopened(path: Path, X: Any, n_jobs: int | None = None) -> tuple[Run, dict[str, Any]]:
    """The run of a file, with what its log has beyond it, and the named selections."""
    kept = Map.load(path)
    run = Run.load(path, X, n_jobs=n_jobs)
    entries = read_log(path.with_suffix(".log"), _mark_of(kept))
    done = len(run.log)
    for number, entry in entries:
        if number != done:
            continue
        run.step(max(0, entry.iteration - run.iteration))
        getattr(run, entry.command)(**entry.arguments)
        done += 1
    return run, selections_of(kept)


def selections_of(kept: Map) -> dict[str, Any]:
    """The named selections that a file holds."""
    found: dict[str, Any] = {}
    studio = kept.parameters.get("studio")
    named = studio.get("selections") if isinstance(studio, dict) else None
    for name, number in named.items() if isinstance(named, dict) else ():
        right = isinstance(name, str) and type(number) is int and 0 <= number < len(kept.arrays)
        points = np.asarray(kept.arrays[number]) if right else np.zeros(0)
        whole = points.dtype.kind in "iu" and points.ndim == 1 and len(points) > 0
        if whole and points.min() >= 0 and points.max() < len(kept.Y):
            found[name] = points.astype(np.int64)
    return found


def _mark_of(kept: Map) -> str:
    studio = kept.parameters.get("studio")
    return str(studio.get("mark", "")) if isinstance(studio, dict) else ""


# The log ---------------------------------------------------------------------------------------------------


def line_of(mark: str, number: int, entry: Entry) -> str:
    """One command as a line of the log."""
    arrays: list[Array] = []
    packed = pack(entry, arrays, KNOWN)
    coded = [[str(each.dtype), each.shape, base64.b64encode(each.tobytes()).decode()] for each in arrays]
    return json.dumps({"run": mark, "number": number, "entry": packed, "arrays": coded}) + "\n"


def read_log(path: Path, mark: str) -> list[tuple[int, Entry]]:
    """The commands of a log that belong to the run with this mark; what was cut short ends it."""
    from nearfield.descent.run import COMMANDS

    found: list[tuple[int, Entry]] = []
    if not path.exists() or path.stat().st_size > LONGEST:
        return found
    for line in path.read_bytes().split(b"\n"):
        try:
            told = json.loads(line)
            arrays = [
                np.frombuffer(base64.b64decode(code), dtype).reshape(shape).copy()
                for dtype, shape, code in told["arrays"]
            ]
            entry = unpack(told["entry"], arrays, KNOWN)
            if not isinstance(entry, Entry) or told["run"] != mark or type(told["number"]) is not int:
                continue
            check_log([entry], [each for each in COMMANDS if each not in BEYOND])
        except UNFIT:
            break
        found.append((told["number"], entry))
    return found


def keeper_for(rows: Rows, about: dict[str, Any], folder: Path | None = None) -> Keeper:
    """A keeper with files of its own: the first name that no other studio holds."""
    folder, name = home() if folder is None else folder, name_of(rows)
    for k in range(1, 100):
        path = folder / (f"{name}.nfmap" if k == 1 else f"{name}-{k}.nfmap")
        lock = _locked(path.with_suffix(".lock"))
        if lock is not None:
            return Keeper(path, about, lock)
    raise OSError(f"a hundred studios keep sessions of {in_a_line(rows.name)} in {folder}: close some")


def _locked(path: Path) -> int | None:
    """A lock that ends with the program, or None if another studio holds it."""
    held = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    if fcntl is not None:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(held)
            return None
    return held
