"""`nearfield compare`: several methods on the same table, in one report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from nearfield.cli.options import (
    TABLE,
    Array,
    Columns,
    Components,
    Header,
    Id,
    Jobs,
    Label,
    Metric,
    Missing,
    Neighbours,
    Quiet,
    Seed,
    Standardize,
    UseRep,
    Vector,
)
from nearfield.cli.preparation import perplexities, prepare
from nearfield.cli.reading import Reading
from nearfield.cli.terminal import INTERRUPTED, Report
from nearfield.io.unpacking import plain_name

PLACE = 2  # among the commands


def compare(
    data: Annotated[Path, typer.Argument(metavar="DATA", help=TABLE)],
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            "-m",
            metavar="NAMES",
            help="With commas: pca,tsne,'nerv(lam=0.3)'. By default ten that differ.",
        ),
    ] = None,
    label: Label = None,
    columns: Columns = None,
    id: Id = None,
    header: Header = None,
    array: Array = None,
    missing: Missing = "refuse",
    vector: Vector = None,
    use_rep: UseRep = None,
    perplexity: Annotated[
        Any,
        typer.Option(
            parser=perplexities,
            metavar="NUMBER",
            help="The effective number of neighbours, for methods of one scale.",
        ),
    ] = None,
    metric: Metric = None,
    standardize: Standardize = False,
    pca: Components = None,
    max_iter: Annotated[int | None, typer.Option(min=1, help="The most iterations of a method.")] = None,
    neighbours: Neighbours = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The report: .html, or .json for programs.")
    ] = None,
    as_json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="The same for programs, besides.")
    ] = None,
    coordinates: Annotated[
        bool, typer.Option("--coordinates", help="Put the coordinates of the maps into the JSON.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods on a table: maps, quality and time in one page that needs no network.

    A method that fails is told of in its place and the rest go on: the exit code is then 1, or 2 if none
    could make a map. Ctrl-C writes the report of what is finished.
    """
    report = Report(quiet)

    reading = Reading(label, columns, id, header, array, missing, vector, use_rep)
    reading.check()

    from nearfield.comparison.wanted import split_names, wanted

    names = None if methods is None else split_names(methods)
    names = list(wanted(names))  # which refuses before the table is read
    out = Path(f"{plain_name(data)}-report.html") if out is None else out
    _check_outputs(data, out, as_json, coordinates)

    table = reading.read(data, metric, report)
    X = prepare(table.X, standardize, pca, metric, seed, report)

    from nearfield.comparison.comparing import compare as run_all

    report("methods", ", ".join(names))
    given = {"perplexity": perplexity, "metric": metric, "max_iter": max_iter, "n_neighbors": neighbours}
    found = run_all(
        X,
        names,
        labels=table.labels,
        title=plain_name(data),
        verbose=not quiet,
        random_state=seed,
        n_jobs=jobs,
        repeat=_command(
            data,
            {
                "methods": ",".join(names),
                **{name.replace("_", "-"): value for name, value in reading.given.items()},
                "perplexity": _written(perplexity),
                "metric": metric,
                "standardize": standardize,
                "pca": pca,
                "max-iter": max_iter,
                "neighbours": neighbours,
                "seed": seed,
                "out": out.name,
            },
        ),
        **{name: value for name, value in given.items() if value is not None},
    )
    if not found.made:
        first = found.outcomes[0]
        raise ValueError(f"no method could make a map; {first.name}: {first.error}")
    if not quiet:
        print(found)
    written = [path for path in (out, as_json) if path is not None]
    for path in written:
        found.save(path, maps=coordinates)
    report("wrote", ", ".join(map(str, written)))
    if found.interrupted:  # of which was warned
        raise typer.Exit(INTERRUPTED)
    if found.missing:
        raise typer.Exit(1)


def _check_outputs(data: Path, out: Path, as_json: Path | None, coordinates: bool) -> None:
    """Refuse, before any work, what could not be written after it."""
    from nearfield.comparison.result import check_report_path

    check_report_path(out)
    if as_json is not None:
        check_report_path(as_json)
        if as_json.suffix.lower() != ".json":
            raise ValueError(f"--json {as_json} would be no JSON: name a file that ends in .json")
        if as_json.resolve() == out.resolve():
            raise ValueError(f"--out and --json name the same file {out}: leave one out")
    if coordinates and ".json" not in {path.suffix.lower() for path in (out, as_json) if path is not None}:
        raise ValueError("--coordinates go into the JSON: add --json report.json")


def _written(perplexity: Any) -> str | None:
    """A perplexity as the command line takes it."""
    if perplexity is None or isinstance(perplexity, str):
        return perplexity
    return ",".join(f"{each:g}" for each in (perplexity if isinstance(perplexity, list) else [perplexity]))


def _command(data: Path, options: dict[str, Any]) -> str:
    """What to type to do the same again, in the folder of the data."""
    words = ["nearfield", "compare", data.name]
    for name, value in options.items():
        if isinstance(value, bool):
            words += [f"--{name}"] if value else [f"--no-{name}"] if name == "header" else []
        elif value is not None:
            words += [f"--{name}", str(value)]
    return shlex.join(words)
