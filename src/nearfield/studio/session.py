"""A session: one run in one worker thread. Commands come in a queue, frames go out through a single slot.

The worker drains the commands, makes one iteration, and puts the map where watchers find it; a frame that
nobody fetched in time is replaced by the next. When nothing is gained any more, when it was told to pause, or
when nobody looks, it sleeps until a command wakes it.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from nearfield.descent.run import Run
from nearfield.io.maps import Map
from nearfield.studio.frames import Frame, frame
from nearfield.studio.line import Line
from nearfield.studio.messages import Command, Refused
from nearfield.studio.rows import Rows

RATE = 30.0  # frames in a second, at the most
WAITING = 256  # commands that may wait for their turn
CURVES = ("cost", "penalty", "gradient_norm")  # of the history, which frames tell of
REFUSALS = (ValueError, TypeError, IndexError)  # of a run, whose messages are for people


class Watcher(Protocol):
    """Somebody who looks: is woken when there is something new, and says whether he sees it."""

    visible: bool

    def wake(self) -> None: ...


class Keeper(Protocol):
    """Who writes down what must not be lost; see `nearfield.studio.keeping`."""

    def append(self, session: Session) -> None: ...

    def save(self, session: Session) -> None: ...

    def due(self) -> bool: ...


@dataclass
class Task:
    """A command on its way to the worker, and where its result goes."""

    command: Command
    given: dict[str, Any]
    result: Future[Any] = field(default_factory=Future)


class Session:
    """A map that is being made and steered.

    Parameters
    ----------
    line : Line
        The run, what it was asked for, and what can be gone back to.
    rows : Rows
        The data.
    keeper : Keeper, optional
        Without one, nothing is written down.

    Attributes
    ----------
    running : bool
        Whether it is to run: it may still rest because nothing is gained any more, or nobody looks.
    rests : bool
        Whether nothing is gained any more.
    failure : str or None
        Why the last iteration could not be made.
    busy : str or None
        What it does that takes long.
    held : (float, float) or None
        Where a drag that is under way began.
    unsaved : str or None
        Why the session could not be written to the disk.
    selections : dict of array
        Points that were given a name.
    frame : Frame or None
        The newest.
    version : int
        Counts what changed beside the map.
    """

    def __init__(self, line: Line, rows: Rows, keeper: Keeper | None = None) -> None:
        self.line, self.rows, self.keeper = line, rows, keeper
        self.running, self.rests = True, False
        self.held: tuple[float, float] | None = None
        self.failure: str | None = None
        self.busy: str | None = None
        self.unsaved: str | None = None
        self.selections: dict[str, Any] = {}
        self.offer: dict[str, Any] | None = None
        self.frame: Frame | None = None
        self.version = self.steering_version = 0
        self.watchers: set[Watcher] = set()
        self._inbox: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._waiting = 0
        self._move: Task | None = None  # the newest that waits
        self._guard = threading.Lock()
        self._drawn = 0.0
        self._stale = True
        self._closed = threading.Event()
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="nearfield-aside")
        self._worker = threading.Thread(target=self._work, name="nearfield-session", daemon=True)

    @property
    def run(self) -> Run:
        """The run as it is now; a change of the method makes another one."""
        return self.line.run

    @property
    def n(self) -> int:
        """How many points there are."""
        return self.rows.n

    def start(self) -> None:
        """Begin to work."""
        self._worker.start()

    def close(self, timeout: float | None = None) -> Map:
        """End after the iteration that is under way, save, and return the map."""
        self._closed.set()
        self._inbox.put(None)
        if self._worker.is_alive():
            self._worker.join(timeout)
        self._aside.shutdown(wait=False, cancel_futures=True)
        if self.keeper is not None:
            self.keeper.save(self)
        return self.run.map()

    # Watchers ---------------------------------------------------------------------------------------------

    def watch(self, watcher: Watcher) -> None:
        """Let somebody look."""
        self.watchers.add(watcher)
        self.wake()

    def leave(self, watcher: Watcher) -> None:
        """Let him go."""
        self.watchers.discard(watcher)

    def wake(self) -> None:
        """Look whether there is something to do."""
        self._inbox.put(None)

    def tell(self, *, steering: bool = False) -> None:
        """Say to all watchers that something beside the map has changed."""
        self.version += 1
        self.steering_version += steering
        self._wake_watchers()

    def _wake_watchers(self) -> None:
        for each in tuple(self.watchers):
            each.wake()

    # Commands ---------------------------------------------------------------------------------------------

    def submit(self, command: Command, given: dict[str, Any]) -> Future[Any]:
        """Let the worker carry out a command between two iterations; of moves that wait, only the newest."""
        task = Task(command, given)
        if command.aside:
            return self._aside.submit(self._do, task)
        with self._guard:
            if command.name == "move" and self._move is not None:
                self._move.given = given
                return self._move.result
            if self._waiting >= WAITING:
                raise Refused("too many commands are waiting: slow down")
            self._waiting += 1
            if command.name == "move":
                self._move = task
        self._inbox.put(task)
        return task.result

    def _do(self, task: Task) -> Any:
        return task.command.do(self, **task.given)

    def _carry_out(self, task: Task) -> None:
        with self._guard:
            self._waiting -= 1
            if task is self._move:
                self._move = None
        try:
            result = self._do(task)
            if task.command.steers:
                self._stale = True
                if self.rests or self.failure is not None:
                    self.rests, self.failure = False, None
                    self.tell()
                if self.keeper is not None and self.held is None:
                    self.keep(self.keeper.append)
        except REFUSALS as refusal:
            task.result.set_exception(refusal)
        except BaseException as error:  # the person at the page must not wait forever; the server tells of it
            task.result.set_exception(error)
        else:
            task.result.set_result(result)

    # The worker -------------------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do before the next command."""
        seen = any(each.visible for each in tuple(self.watchers))
        return not self.running or self.rests or self.failure is not None or not seen

    def _work(self) -> None:
        while not self._closed.is_set():
            if self._stale or self._due():
                self.publish()
            try:
                task = self._inbox.get(block=self.idle, timeout=None)
            except queue.Empty:
                self._iterate()
                continue
            if task is not None:
                self._carry_out(task)

    def _iterate(self) -> None:
        """One iteration; what goes wrong ends the motion, and nothing else: pins and map are as before."""
        try:
            if self.run.iterate():
                self.rests, self._stale = True, True
                self.tell()
        except Exception as error:
            self.failure = " ".join(str(error).split())[:300] or type(error).__name__
            self.running = False
            self.tell()
        if self.keeper is not None and self.keeper.due():
            self.keep(self.keeper.save)

    def keep(self, write: Callable[[Session], None]) -> None:
        """Write something down; a disk that is full ends nothing, but the page says so."""
        before, self.unsaved = self.unsaved, None
        try:
            write(self)
        except (OSError, ValueError) as error:
            self.unsaved = " ".join(str(error).split())[:300]
        if self.unsaved != before:
            self.tell()

    def _due(self) -> bool:
        fresh = self.frame is None or self.frame.iteration != self.run.iteration
        return fresh and time.monotonic() - self._drawn >= 1 / RATE

    def publish(self) -> None:
        """Put the map where watchers find it."""
        self._stale = False
        self._drawn = time.monotonic()
        run, sequence = self.run, 0 if self.frame is None else self.frame.sequence + 1
        cost, penalty, norm = (run.latest(name) if run.iteration else np.nan for name in CURVES)
        self.frame = frame(sequence, run.iteration, run.Y, (cost, penalty, norm))
        self._wake_watchers()

    @property
    def told(self) -> dict[str, Any]:
        """What the page shows beside the map."""
        line, run = self.line, self.run
        return {
            "running": self.running,
            "rests": self.rests,
            "failure": self.failure,
            "busy": self.busy,
            "unsaved": self.unsaved,
            "iteration": run.iteration,
            "guided": run.guided,
            "undo": line.can_undo,
            "redo": line.can_redo,
            "wanted": line.wanted,
            "drawn": line.drawn,
            "selections": {name: len(each) for name, each in self.selections.items()},
            "offer": self.offer,
        }

    @property
    def steering(self) -> dict[str, Any]:
        """Pins, who follows them, and links."""
        run = self.run
        followers = run.followers
        links: dict[str, list[Any]] = {"must": [], "cannot": []}
        for term in run.terms:
            kind = {"MustLink": "must", "CannotLink": "cannot"}.get(type(term).__name__)
            if kind is not None:
                links[kind] += term.pairs.tolist()  # type: ignore[attr-defined]
        return {
            "pins": {str(i): at.tolist() for i, at in run.pins.items()},
            "followers": {str(i): who.tolist() for i, who in followers.items()},
            "links": links,
        }
