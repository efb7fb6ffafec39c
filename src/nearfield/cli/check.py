"""`nearfield check`: a gradient against finite differences."""

from __future__ import annotations

from typing import Annotated

import typer

from nearfield.cli.options import Parameters, Seed
from nearfield.cli.terminal import compose, settings, show_grid

PLACE = 8  # among the commands


def check(
    name: Annotated[str, typer.Argument(metavar="NAME", help="See: nearfield methods.")],
    parameters: Parameters = None,
    points: Annotated[int, typer.Option(min=5, help="How many random points.")] = 40,
    seed: Seed = 0,
) -> None:
    """Compare the gradient of a method with finite differences, in 1, 2 and 3 dimensions."""
    composed = compose(name, settings(parameters or []))

    import nearfield

    print(f"{name}: {composed}")
    results = {
        dimensions: nearfield.check(composed, n_points=points, n_components=dimensions, random_state=seed)
        for dimensions in (1, 2, 3)
    }
    rows = [
        [
            dimensions,
            *(f"{x:.1e}" for x in (each.error, each.net_force, each.torque)),
            "passed" if each.passed else "FAILED",
        ]
        for dimensions, each in results.items()
    ]
    show_grid(("dimensions", "error", "net force", "torque", ""), rows)
    if not all(each.passed for each in results.values()):
        raise typer.Exit(1)
