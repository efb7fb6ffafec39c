"""The command line: each command reads, calls the library, writes, and says what it did.

Whatever takes time to import is imported inside the commands, so that `nearfield --help` answers at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from nearfield import __version__
from nearfield.cli.check import check
from nearfield.cli.compare import compare
from nearfield.cli.demo import demo
from nearfield.cli.derive import derive
from nearfield.cli.embed import embed
from nearfield.cli.hints import usage_error
from nearfield.cli.methods import methods
from nearfield.cli.quality import quality
from nearfield.cli.terminal import INTERRUPTED, MENDABLE, complain, plain_speech

app = typer.Typer(
    help="Maps of high-dimensional data that can be composed, trusted and steered.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (embed, compare, quality, methods, derive, check, demo):
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
