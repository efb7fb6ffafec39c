"""How the command line talks: a few aligned lines of what was done, one line for what went wrong."""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import typer

if TYPE_CHECKING:
    from nearfield.algebra.method import Method

# What a person at the terminal can mend. Anything else is a defect of the program and shows its traceback.
MENDABLE = (ValueError, OSError, KeyError, ImportError, MemoryError, FloatingPointError)
LONGEST = 600  # characters of a message: whatever it was made of, it is to be read
INTERRUPTED = 130  # what shells expect of a program that was ended with Ctrl-C


class Report:
    """Prints lines such as `read    iris.csv: 150 rows`, or nothing at all when it is to be quiet."""

    def __init__(self, quiet: bool = False) -> None:
        from rich.console import Console

        self.console = Console(quiet=quiet, highlight=False, soft_wrap=True)

    def __call__(self, what: str, text: str) -> None:
        """Print one line: what was done in a word, and how it went."""
        from rich.text import Text

        self.console.print(Text.assemble((f"{what:<8}", "bold"), text))


@contextmanager
def stage(what: str, interrupted: str, report: Report, *, shown: bool) -> Iterator[None]:
    """Say what is being done for as long as it takes: with a clock on a terminal, else with a line.

    Ctrl-C ends the program, which then says that it was `interrupted`, and that nothing was written.
    """
    try:
        if not (shown and sys.stderr.isatty()):
            report("", f"{what} …")
            yield
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn("line"), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as clock:
            clock.add_task(f"{what} …", total=None)
            yield
    except KeyboardInterrupt:
        print(f"interrupted {interrupted}: nothing was written", file=sys.stderr, flush=True)
        raise typer.Exit(INTERRUPTED) from None


class Gauge:
    """Shows how much of something is done: a bar on a terminal, elsewhere a line now and then."""

    def __init__(self, title: str, shown: bool = True) -> None:
        self.title, self.shown = title, shown
        self._bar: Any = None
        self._task: Any = None
        self._next = 0.1

    def __enter__(self) -> Self:
        if self.shown and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:.0f} %  {task.fields[told]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(self.title, total=1.0, told="")
            self._bar.start()
        return self

    def __call__(self, share: float, told: str) -> None:
        """So much is done, and this in words."""
        if self._bar is not None:
            self._bar.update(self._task, completed=share, told=told)
        elif self.shown and share >= self._next:
            print(f"{self.title}: {100 * share:.0f} %, {told}", file=sys.stderr, flush=True)
            self._next = share + 0.1

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def show_grid(titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table without lines. What does not fit the terminal is wrapped; files and pipes have room."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, header_style="bold", pad_edge=False)
    for k, title in enumerate(titles):
        grid.add_column(title, no_wrap=k == 0)
    for row in rows:
        grid.add_row(*(Text(str(cell)) for cell in row))
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(grid)


def one_line(error: BaseException | str) -> str:
    """Return the message of an error as one line, whatever it was raised with.

    >>> one_line(KeyError("no such thing"))
    'no such thing'
    >>> one_line(FileNotFoundError(2, "No such file or directory", "a.csv"))
    'a.csv: no such file or directory'
    """
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror[:1].lower() + error.strerror[1:]
        text = f"{error.filename}: {text}" if error.filename else text
    elif isinstance(error, KeyError) and error.args:
        text = str(error.args[0])  # str(error) would put it in quotes
    else:
        text = str(error) or type(error).__name__
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


@contextmanager
def plain_speech() -> Iterator[None]:
    """Print warnings as one line each, without the place in the program they come from."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"warning: {one_line(str(message))}", file=sys.stderr, flush=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def complain(error: BaseException | str) -> int:
    """Print an error in one line, and return the exit code that goes with it.

    With NEARFIELD_TRACEBACK set in the environment it is raised instead, for those who look for its cause.
    """
    if os.environ.get("NEARFIELD_TRACEBACK") and isinstance(error, BaseException):
        raise error
    print(f"error: {one_line(error)}", file=sys.stderr, flush=True)
    return 2


def settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Read what `--set` was given.

    >>> settings(["kappa=0.3", "normalization=point"])
    {'kappa': 0.3, 'normalization': 'point'}
    """
    values = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (name.strip() and equals and text.strip()):
            raise ValueError(f"--set takes name=value, such as kappa=0.3, and not {pair!r}")
        try:
            values[name.strip()] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError):
            values[name.strip()] = text.strip()
    return values


def compose(name: str, parameters: Mapping[str, Any]) -> Method | str:
    """Return the method of this name, after a look at the types of its parameters; "pca" stays a name."""
    if name == "pca" and not parameters:
        return name
    import nearfield
    from nearfield.algebra.catalogue import entries
    from nearfield.cli.hints import parameter_hint

    defaults = next((entry.parameters for entry in entries() if entry.name == name), {})
    for key, value in parameters.items():
        hint = parameter_hint(name, key, defaults) if defaults and key not in defaults else None
        if hint is not None:
            raise ValueError(hint)
        if isinstance(defaults.get(key), float) and not isinstance(value, int | float):
            raise ValueError(f"--set {key}={value}: it is a number, such as {defaults[key]}")
    return nearfield.method(name, **parameters)
