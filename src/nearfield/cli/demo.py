"""`nearfield demo`: the digits, mapped."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from nearfield.cli.preparation import draw, make_map
from nearfield.cli.terminal import INTERRUPTED, Report, compose

PLACE = 9  # among the commands


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder to write to; it is made if need be.")
    ] = Path("demo"),
) -> None:
    """Map the 1797 handwritten digits that come with scikit-learn."""
    from nearfield.io.files import check_writable

    if os.path.exists(out) and not os.path.isdir(out):
        raise NotADirectoryError(f"{out} is a file: name a folder with --out")
    out.mkdir(parents=True, exist_ok=True)
    for path in (out / "map.csv", out / "map.png"):
        check_writable(path)

    from nearfield.io.datasets import digits
    from nearfield.io.tables import write_map

    table = digits()
    began = time.perf_counter()
    made = make_map(table.X, compose("tsne", {}), "tsne", 0, None, Report(quiet=True), {}, shown=True)
    seconds = time.perf_counter() - began
    write_map(out / "map.csv", made.Y, labels=table.labels)
    draw(out / "map.png", made.Y, table.labels, "1797 handwritten digits · t-SNE")
    print(f"Mapped {len(table.X)} handwritten digits, 64 numbers each, with t-SNE in {seconds:.0f} s.")
    print(f"Wrote the picture to {out / 'map.png'} and the coordinates to {out / 'map.csv'}.")
    print("Next: nearfield methods, or your own: nearfield embed data.csv --plot map.png")
    if made.interrupted:
        raise typer.Exit(INTERRUPTED)
