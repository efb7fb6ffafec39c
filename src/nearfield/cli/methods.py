"""`nearfield methods`: the catalogue."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from nearfield.cli.terminal import show_grid

PLACE = 6  # among the commands


def methods(
    as_json: Annotated[bool, typer.Option("--json", help="For programs to read.")] = False,
) -> None:
    """List the methods that have a name.

    Principal components minimise no cost and are none of them; embed and compare take `pca` as well.
    """
    from nearfield.algebra.catalogue import entries

    named = [(entry, entry.build()) for entry in entries()]
    if as_json:
        about = [
            {
                "name": entry.name,
                "cost": str(method.cost),
                "kernel": None if method.kernel is None else str(method.kernel),
                "normalization": method.normalization,
                "parameters": entry.parameters,
                "description": entry.summary,
            }
            for entry, method in named
        ]
        print(json.dumps(about, indent=2))
        return
    # The names of cost and kernel alone: their parameters would leave the description no room.
    rows = [
        (
            entry.name,
            type(method.cost).__name__,
            "–" if method.kernel is None else type(method.kernel).__name__,
            method.normalization,
            entry.summary,
        )
        for entry, method in named
    ]
    show_grid(("name", "cost", "kernel", "normalization", "description"), rows)
