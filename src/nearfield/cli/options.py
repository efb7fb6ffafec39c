"""Options that several commands have, each said once; those of a run are those of its settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from nearfield.descent.settings import FREE, OPTIONS, Settings

# Settings that commands have under names, or in a form, of their own; a function or a dict is for Python.
ELSEWHERE = {"n_components", "perplexity", "metric", "metric_params", "init", "random_state", *FREE}


def said(name: str) -> str:
    """What the settings say of an option, up to its first stop."""
    return OPTIONS[name]["text"].partition(". ")[0].partition(";")[0].rstrip(".") + "."


def value_of(text: str) -> int | float | str:
    """What was typed, as a number if it is one.

    Examples
    --------
    >>> value_of("200"), value_of("0.5"), value_of("auto")
    (200, 0.5, 'auto')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes ``**options`` an option for each setting that it does not name itself."""
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    known = ELSEWHERE | {each.name for each in own}
    names = [each.name for each in fields(Settings) if each.name not in known]

    def option(name: str) -> Any:
        return Annotated[Any, typer.Option(parser=value_of, metavar="VALUE", help=said(name))]

    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names]

    @wraps(command)
    def extended(**given: Any) -> None:
        command(**given)

    del extended.__wrapped__  # whose signature would count
    extended.__annotations__ = {each.name: hints[each.name] for each in own} | {
        name: option(name) for name in names
    }
    typed = [each.replace(annotation=extended.__annotations__[each.name]) for each in (*own, *more)]
    typed = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in typed]
    extended.__signature__ = inspect.Signature(typed)  # type: ignore[attr-defined]
    return extended


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
TABLE = (  # what a command reads
    "A table: .csv, .tsv, .txt, .npy, .npz, .parquet, .feather, .arrow, .jsonl or .h5ad; .gz or .zip of one;"
    " - for a pipe."
)
Array = Annotated[
    str | None, typer.Option(metavar="NAME", help="The array of an .npz file that holds the numbers.")
]
Vector = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The column that holds vectors, if there are several or --columns."),
]
UseRep = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Of an .h5ad file: X or a key of obsm. By default X_pca, else X."),
]
Missing = Annotated[
    str,
    typer.Option(
        metavar="WAY",
        help="Where numbers are missing: refuse, drop the rows, or fill in the mean of the column.",
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(help="A metric of scikit-learn, hellinger, inner_product, tanimoto, or precomputed."),
]
Standardize = Annotated[bool, typer.Option("--standardize", help="Columns to mean 0, deviation 1.")]
Components = Annotated[
    int | None,
    typer.Option(min=0, help="Reduce to so many principal components first; 0 keeps all columns."),
]
Neighbours = Annotated[int | None, typer.Option(min=1, help="Of the local figures; 10 by default.")]
Jobs = Annotated[int | None, typer.Option(help="How many threads.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but what went wrong.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]
