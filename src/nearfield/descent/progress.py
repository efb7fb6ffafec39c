"""Progress for a person to watch: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self


class Progress:
    """A callback for `Run.converge` that shows how far it is.

    Parameters
    ----------
    max_iter : int
        The iterations that make the bar full.
    title : str
        What is being computed.
    shown : bool
        False shows nothing.
    """

    def __init__(self, max_iter: int, title: str, shown: bool = True) -> None:
        self.max_iter, self.title, self.shown = max_iter, title, shown
        self._bar: Any = None
        self._task: Any = None
        self._next = 0

    def __enter__(self) -> Self:
        if self.shown and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:.0f}/{task.total:.0f}  cost {task.fields[cost]:.5g}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(self.title, total=self.max_iter, cost=float("nan"))
            self._bar.start()
        return self

    def __call__(self, run: Any) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=run.iteration, cost=run.latest("cost"))
        elif self.shown and run.iteration >= self._next:
            print(f"{self.title}: iteration {run.iteration}, cost {run.latest('cost'):.5g}", file=sys.stderr)
            self._next = run.iteration + max(1, self.max_iter // 10)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


class Tenths:
    """Says how many rows are done, a line for each tenth of them.

    Parameters
    ----------
    title : str
        What is done with them.
    rows : int
        How many there are.
    """

    def __init__(self, title: str, rows: int) -> None:
        self.title, self.rows, self._next = title, rows, 0

    def __call__(self, done: int) -> None:
        if done >= self._next:
            print(f"{self.title} {done} of {self.rows} rows", file=sys.stderr, flush=True)
            self._next = done + max(1, self.rows // 10)
