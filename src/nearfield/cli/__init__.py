"""The command line: each command reads, calls the library, writes, and says what it did.

Whatever takes time to import is imported inside the commands, so that `nearfield --help` answers at once.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from nearfield import __version__
from nearfield.cli.hints import usage_error
from nearfield.cli.terminal import INTERRUPTED, MENDABLE, complain, plain_speech

app = typer.Typer(
    help="Maps of high-dimensional data that can be composed, trusted and steered.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _commands() -> list[Any]:
    """The commands, in their places: each is the function of a module of that name, which has a PLACE."""
    modules = [import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__)]
    found = sorted((each for each in modules if hasattr(each, "PLACE")), key=lambda each: each.PLACE)
    return [getattr(each, each.__name__.rpartition(".")[2]) for each in found]


for command in _commands():
    app.command()(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return 0, or 1 for a failed check or method, 2 for an error, 130 for Ctrl-C."""
    try:
        with plain_speech():
            return app(args=arguments, prog_name="nearfield", standalone_mode=False) or 0
    except typer.Abort:
        return INTERRUPTED
    except MENDABLE as error:
        return complain(error)
    except Exception as error:
        # Errors of usage, such as an unknown option. Their class has moved between versions of Typer.
        if not hasattr(error, "format_message"):
            raise
        return complain(usage_error(error))


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        print(f"nearfield {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())
