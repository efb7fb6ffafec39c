"""Options that several commands have, each said once."""

from __future__ import annotations

from typing import Annotated

import typer

Parameters = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method, such as kappa=0.3."),
]
Label = Annotated[str | None, typer.Option(help="The column that names the class of a row.")]
Columns = Annotated[str | None, typer.Option(help="The columns to use: a,b,c. By default all numeric.")]
Id = Annotated[str | None, typer.Option("--id", help="The column that identifies a row.")]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether the first line names the columns. By default: found out."
    ),
]
Array = Annotated[
    str | None, typer.Option(metavar="NAME", help="The array of an .npz file that holds the numbers.")
]
Missing = Annotated[
    str,
    typer.Option(
        metavar="WAY",
        help="Where numbers are missing: refuse, drop the rows, or fill in the mean of the column.",
    ),
]
Metric = Annotated[str | None, typer.Option(help="A metric of scikit-learn, or precomputed.")]
Standardize = Annotated[bool, typer.Option("--standardize", help="Columns to mean 0, deviation 1.")]
Components = Annotated[
    int | None,
    typer.Option(min=0, help="Reduce to so many principal components first; 0 keeps all columns."),
]
Neighbours = Annotated[int | None, typer.Option(min=1, help="Of the local figures; 10 by default.")]
Jobs = Annotated[int | None, typer.Option(help="How many threads.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but what went wrong.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]
