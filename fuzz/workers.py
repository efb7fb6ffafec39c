"""Cases in a process of their own, with a watchdog: one that hangs or dies ends its process alone."""

from __future__ import annotations

import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

from fuzz.verdicts import Verdict, judged

LIMIT = 20.0  # seconds of work
MEMORY = 6 * 2**30  # bytes, so that a case fails rather than takes the machine's
START = 600.0  # seconds within which a process has imported everything


class Worker:
    """A process that judges one case after the other, and is replaced when one of them ends it.

    Examples
    --------
    >>> with Worker(limit=60) as worker:
    ...     worker.judge(["assert 1 + 1 == 2"]).outcome
    'passed'
    """

    def __init__(self, limit: float = LIMIT) -> None:
        self.limit = limit
        self._process: Any = None
        self._pipe: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def judge(self, lines: list[str]) -> Verdict:
        """What becomes of a case; one that takes too long has a second chance in a fresh process."""
        verdict = self._once(lines)
        return self._once(lines) if verdict.outcome == "hang" else verdict

    def _once(self, lines: list[str]) -> Verdict:
        if self._process is None:
            self._begin()
        try:
            self._pipe.send(lines)
            if self._answers():
                return self._pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self._process.join(5)
            code = self._process.exitcode
            self._end()
            return Verdict("crash", f"the process died (exit {code})", lines[-1])
        self._end()
        return Verdict("hang", f"more than {self.limit:g} s", _last_call(lines))

    def _answers(self) -> bool:
        """Whether there is an answer within the limit, or the process waits for ever.

        On a busy machine a minute may pass in which it works for a second: what counts is the time that it
        has worked; or that it has not, for some times the limit.
        """
        start = worked = working_time(self._process.pid)
        since = time.monotonic()
        while not self._pipe.poll(0.05):
            now = working_time(self._process.pid)
            if now > worked:
                worked, since = now, time.monotonic()
            if worked - start > self.limit or time.monotonic() - since > 3 * self.limit:
                return False
        return True

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        if not self._pipe.poll(START):
            raise RuntimeError(f"a process did not start within {START:g} s")
        self._pipe.recv()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
        self._process = self._pipe = None


def working_time(process: int) -> float:
    """The seconds that a process has worked so far; where nobody can tell, what the clock says."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def serve(pipe: Connection) -> None:
    """Judge what comes in, until nobody listens any more."""
    _limit_memory()
    import nearfield as nf

    nf.Run([[0.0], [1.0], [2.0], [4.0]], random_state=0).step(1)  # so that no case pays for the imports
    pipe.send("ready")
    while True:
        try:
            lines = pipe.recv()
        except EOFError:
            return
        pipe.send(judged(lines))


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on every platform
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _last_call(lines: list[str]) -> str:
    """What a case that hangs was at, as far as its text tells: the method and the last command."""
    return " … ".join(line for line in lines if line.startswith(("method", "cost", "kernel", "run = ")))[:200]
