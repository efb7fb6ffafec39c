"""Several studios at once: what each of them gets, and whether somebody slow takes anything from others."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from benchmarks.studies.studios import Elsewhere, line_for, never_rests
from nearfield.studio.opening import Opened, heeding_signals
from nearfield.studio.rows import rows_of
from support.studios import talking
from support.studios import until as comes

ROOT = Path(__file__).parents[2]
SECONDS = 20  # for which they are watched


def crowd(rows, sessions, seconds=SECONDS):
    """Iterations a second of several studios at once, each in a process of its own and with one who reads.

    Then the same while somebody slow looks at the first of them too, and somebody who never reads at the
    second. `share` is of what the cores give: so many times one of them over one studio alone.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        np.save(folder / "rows.npy", rows.mapped)
        studios = [stack.enter_context(serving(folder / "rows.npy")) for _ in range(sessions)]
        readers = [Reader(studios[0], stack)]
        alone = rates(readers, seconds)[0]
        readers += [Reader(each, stack) for each in studios[1:]]
        plain = rates(readers, seconds)
        slow = Reader(studios[0], stack, wait=1.0)
        stack.enter_context(talking(studios[1]))  # who never reads
        beside = rates(readers, seconds)
    return {
        "sessions": sessions,
        "alone": alone,
        "each": plain,
        "each_beside_slow_ones": beside,
        "share": sessions * statistics.median(plain) / alone,
        "least_beside_slow_ones": min(b / a for a, b in zip(plain, beside, strict=True)),
        "all_beside_slow_ones": sum(beside) / sum(plain),
        "frames_of_the_slow_one": slow.frames,
    }


@contextmanager
def serving(path):
    """A studio of some rows that never comes to rest, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.studies.studio", "--serve", str(path)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        yield Elsewhere(next(filter(None, (re.search(r"http\S+", each) for each in process.stdout)))[0])
    finally:
        process.terminate()
        process.wait()


def serve(path):
    """What such a process does."""
    rows = rows_of("rows", np.load(path))
    line = line_for(rows)
    never_rests(line)
    with heeding_signals() as asked, Opened(line, rows) as studio:
        print(studio.address, flush=True)
        asked.wait()


class Reader:
    """Reads what a studio sends, in a thread: how far its run is, and how many frames came."""

    def __init__(self, studio, stack, wait=0.0):
        self.iteration = self.frames = 0
        self._talk, self._wait = stack.enter_context(talking(studio)), wait
        self._ended = threading.Event()
        thread = threading.Thread(target=self._read, daemon=True)
        thread.start()
        stack.callback(thread.join)
        stack.callback(self._ended.set)

    def _read(self):
        while not self._ended.wait(self._wait):
            self.iteration = self._talk.frame()[2]
            self._talk.frames.clear()
            self.frames += 1


def rates(readers, seconds):
    """Iterations a second of each, over the same time."""
    comes(lambda: all(each.frames for each in readers))
    before, began = [each.iteration for each in readers], time.perf_counter()
    time.sleep(seconds)
    passed = time.perf_counter() - began
    return [(each.iteration - first) / passed for each, first in zip(readers, before, strict=True)]
