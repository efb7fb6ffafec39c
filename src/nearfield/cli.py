"""The command line: each command reads, calls the library, writes, and says what it did.

Whatever takes time to import is imported inside the commands, so that `nearfield --help` answers at once.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from nearfield import __version__
from nearfield._preparation import (
    check_outputs,
    draw,
    make_map,
    perplexities,
    pinned,
    prepare,
    start_positions,
)
from nearfield._terminal import MENDABLE, Report, complain, compose, plain_speech, settings, show_grid

app = typer.Typer(
    help="Maps of high-dimensional data that can be composed, trusted and steered.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

INTERRUPTED = 130  # what shells expect of a program that was ended with Ctrl-C

Parameters = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method, such as kappa=0.3."),
]
Columns = Annotated[str | None, typer.Option(help="The columns to use: a,b,c. By default all numeric.")]
Id = Annotated[str | None, typer.Option("--id", help="The column that identifies a row.")]
Metric = Annotated[str | None, typer.Option(help="A metric of scikit-learn, or precomputed.")]
Standardize = Annotated[bool, typer.Option("--standardize", help="Columns to mean 0, deviation 1.")]
Components = Annotated[
    int | None,
    typer.Option(min=0, help="Reduce to so many principal components first; 0 keeps all columns."),
]
Jobs = Annotated[int | None, typer.Option(help="How many threads.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but what went wrong.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return 0, or 1 for a failed check, 2 for an error, 130 for Ctrl-C."""
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
        return complain(error.format_message())


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        print(f"nearfield {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def embed(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A table: .csv, .tsv, .txt, .npy, .npz or .parquet.")
    ],
    method: Annotated[str, typer.Option("--method", "-m", help="See: nearfield methods.")] = "tsne",
    label: Annotated[str | None, typer.Option(help="The column that names the class of a row.")] = None,
    columns: Columns = None,
    id: Id = None,
    perplexity: Annotated[
        Any,
        typer.Option(
            parser=perplexities,
            metavar="NUMBER",
            help="The effective number of neighbours; or several, as 5,50,500, or multiscale for all.",
        ),
    ] = None,
    metric: Metric = None,
    dimensions: Annotated[int, typer.Option(min=1, help="Of the map.")] = 2,
    standardize: Standardize = False,
    pca: Components = None,
    max_iter: Annotated[int | None, typer.Option(min=1, help="The most iterations to make.")] = None,
    start: Annotated[
        str | None, typer.Option(help="pca, random, spectral, or a map such as map.csv.")
    ] = None,
    pins: Annotated[
        Path | None,
        typer.Option(help="Where to put some points: a table with id (or row, from 0), y1 and y2."),
    ] = None,
    engine: Annotated[str | None, typer.Option(help="auto, exact, mesh, moments or pairs.")] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    parameters: Parameters = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The map: .csv, .tsv or .parquet.")] = None,
    plot: Annotated[Path | None, typer.Option(help="A picture of it: .png, .pdf or .svg.")] = None,
    quiet: Quiet = False,
) -> None:
    """Make a map of a table.

    Numeric columns are found; what is left out is said.
    More than 100 columns are first reduced to 50 principal components.
    Ctrl-C ends the work early and writes the map so far.
    """
    report = Report(quiet)
    composed = compose(method, settings(parameters or []))
    out = Path(f"{data.stem}-map.csv") if out is None else out
    check_outputs(data, out, plot, dimensions)

    from nearfield.io.checks import finite
    from nearfield.io.tables import read_table, write_map

    table = read_table(data, label=label, columns=columns, id=id)
    rows, width = table.X.shape
    report("read", f"{data}: {rows} rows × {width} columns")
    for note in table.notes:
        report("", note)
    finite(table.X, table.names)
    places = pinned(pins, table.ids, rows, dimensions)
    X = prepare(table.X, standardize, pca, metric, seed, report)

    given = {
        "n_components": dimensions,
        "perplexity": perplexity,
        "metric": metric,
        "init": start_positions(start, rows, dimensions),
        "engine": engine,
        "n_jobs": jobs,
    }
    report("method", f"{method}: {composed}")
    began = time.perf_counter()
    made = make_map(
        X, composed, method, seed, max_iter, quiet, {k: v for k, v in given.items() if v is not None}, places
    )
    seconds = time.perf_counter() - began
    report("plan", str(made.plan))
    if places:
        report("pinned", f"{len(places)} points, as {pins} says")
    report("result", f"cost {made.cost:.6g} after {made.iterations} iterations in {seconds:.1f} s")

    write_map(out, made.Y, ids=table.ids, labels=table.labels)
    if plot is not None:
        draw(plot, made.Y, table.labels, f"{data.stem} · {method}")
    report("wrote", ", ".join(str(path) for path in (out, plot) if path is not None))
    if made.interrupted:  # of which was warned
        raise typer.Exit(INTERRUPTED)


@app.command()
def quality(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The table that the map was made of.")],
    mapped: Annotated[Path, typer.Argument(metavar="MAP", help="The map: .csv, .tsv, .parquet or .npy.")],
    label: Annotated[
        str | None, typer.Option(help="The column that names the class of a row; else that of the map.")
    ] = None,
    columns: Columns = None,
    id: Id = None,
    metric: Metric = None,
    standardize: Standardize = False,
    pca: Components = None,
    neighbours: Annotated[
        int | None, typer.Option(min=1, help="Of the local figures; 10 by default.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=2, help="Look from so many points; all of up to 20000 by default.")
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="For programs to read; - prints it.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Judge a map: neighbours, distances and labels in it and in the data.

    Give the options for the data that the map was made with: the two are then compared as `embed` saw them.
    Rows are matched by their ids.
    """
    to_print = as_json is not None and str(as_json) == "-"
    report = Report(quiet or to_print)

    import nearfield
    from nearfield._matching import match_rows, refuse_as_measurement
    from nearfield.io.checks import finite
    from nearfield.io.files import check_writable, replacing
    from nearfield.io.tables import read_map, read_table

    if as_json is not None and not to_print:
        check_writable(as_json)
        if any(path.exists() and as_json.exists() and as_json.samefile(path) for path in (data, mapped)):
            raise ValueError(f"--json {as_json} would replace what is judged: name another file")
    table = read_table(data, label=label, columns=columns, id=id)
    report("read", f"{data}: {table.X.shape[0]} rows × {table.X.shape[1]} columns")
    for note in table.notes:
        report("", note)
    Y, ids, labels = read_map(mapped)
    if id is None:
        refuse_as_measurement(table, ids, "ids", "--id")
    order = match_rows(table, ids, len(Y), data, mapped)
    labels = None if labels is None else labels[order]
    if label is None:
        refuse_as_measurement(table, labels, "labels", "--label")
    finite(table.X, table.names)
    X = prepare(table.X, standardize, pca, metric, seed, report)
    judged = nearfield.quality(
        X,
        Y[order],
        labels if table.labels is None else table.labels,
        metric=metric or "euclidean",
        n_neighbors=neighbours,
        sample=sample,
        random_state=seed,
        n_jobs=jobs,
    )
    text = json.dumps({"data": str(data), "map": str(mapped), **judged.to_dict()}, indent=2)
    if to_print:
        print(text)
        return
    if not quiet:
        print(judged)
    if as_json is not None:
        with replacing(as_json) as scratch:
            scratch.write_text(text + "\n", encoding="utf-8")
        report("wrote", str(as_json))


@app.command()
def methods(
    as_json: Annotated[bool, typer.Option("--json", help="For programs to read.")] = False,
) -> None:
    """List the methods that have a name."""
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


@app.command()
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


@app.command()
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
    made = make_map(table.X, compose("tsne", {}), "tsne", 0, None, False, {})
    seconds = time.perf_counter() - began
    write_map(out / "map.csv", made.Y, labels=table.labels)
    draw(out / "map.png", made.Y, table.labels, "1797 handwritten digits · t-SNE")
    print(f"Mapped {len(table.X)} handwritten digits, 64 numbers each, with t-SNE in {seconds:.0f} s.")
    print(f"Wrote the picture to {out / 'map.png'} and the coordinates to {out / 'map.csv'}.")
    print("Next: nearfield methods, or your own: nearfield embed data.csv --plot map.png")
    if made.interrupted:
        raise typer.Exit(INTERRUPTED)
