"""Progress of a comparison: one bar for all methods on a terminal, a line for each elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self


class Progress:
    """Shows which method is at work and how far all of them are.

    Parameters
    ----------
    count : int
        How many methods there are.
    max_iter : int
        The most iterations that one of them makes.
    shown : bool
        False shows nothing.
    """

    def __init__(self, count: int, max_iter: int, shown: bool) -> None:
        self.count, self.max_iter, self.shown = count, max_iter, shown
        self._done = 0
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if self.shown and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                TextColumn("{task.fields[place]}/{task.total:.0f} {task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[now]}"),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("", total=self.count, place=0, now="")
            self._bar.start()
        return self

    def begin(self, name: str) -> None:
        """A method starts."""
        if self._bar is not None:
            self._bar.update(self._task, description=name, place=self._done + 1, now="neighbours, start")

    def __call__(self, run: Any) -> None:
        """A method has made some iterations."""
        if self._bar is not None:
            share = min(1.0, run.iteration / self.max_iter)
            now = f"iteration {run.iteration}"
            self._bar.update(self._task, completed=self._done + share, now=now)

    def end(self, outcome: Any) -> None:
        """A method is done."""
        self._done += 1
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done)
        elif self.shown:
            how = outcome.error or f"{outcome.seconds:.1f} s"
            print(f"{self._done}/{self.count} {outcome.name}: {how}", file=sys.stderr, flush=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
