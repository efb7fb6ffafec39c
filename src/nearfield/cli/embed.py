"""`nearfield embed`: a table in, a map out."""

from __future__ import annotations

import time
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
    Parameters,
    Quiet,
    Seed,
    Standardize,
    UseRep,
    Vector,
    with_settings,
)
from nearfield.cli.preparation import (
    check_outputs,
    draw,
    like_positions,
    make_map,
    model_of,
    nearest,
    perplexities,
    pinned,
    preparation,
    start_positions,
)
from nearfield.cli.reading import Reading
from nearfield.cli.sampling import Landmarks, Sample, refuse_beside
from nearfield.cli.terminal import INTERRUPTED, Report, compose, settings
from nearfield.io.unpacking import plain_name

PLACE = 1  # among the commands
NEAREST = 15  # neighbours of a row that are written


@with_settings
def embed(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help=TABLE,
        ),
    ],
    method: Annotated[str, typer.Option("--method", "-m", help="See: nearfield methods.")] = "tsne",
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
            help="The effective number of neighbours; or several, as 5,50,500, or multiscale for all.",
        ),
    ] = None,
    metric: Metric = None,
    dimensions: Annotated[int, typer.Option(min=1, help="Of the map.")] = 2,
    standardize: Standardize = False,
    pca: Components = None,
    max_iter: Annotated[int | None, typer.Option(min=1, help="The most iterations to make.")] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="End as soon as the map looks about right, in half the iterations."),
    ] = False,
    start: Annotated[
        str | None, typer.Option(help="pca, random, spectral, or a map such as map.csv.")
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(
            help="An earlier map, such as old-map.csv: its points, by their ids, start where they were, and"
            " new ones amid their neighbours."
        ),
    ] = None,
    pins: Annotated[
        Path | None,
        typer.Option(
            help="Where to put some points: a table with id, y1 and y2. Without --id, it is the row, from 0."
        ),
    ] = None,
    landmarks: Annotated[
        int | None,
        typer.Option(
            min=4, metavar="NUMBER", help="Make the map of so many rows, and place all others in it."
        ),
    ] = None,
    landmark_choice: Annotated[
        str,
        typer.Option(metavar="WAY", help="random, or thinned, so that dense regions do not take all."),
    ] = "random",
    seed: Seed = 0,
    jobs: Jobs = None,
    parameters: Parameters = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The map: .csv, .tsv or .parquet.")] = None,
    plot: Annotated[Path | None, typer.Option(help="A picture of it: .png, .pdf or .svg.")] = None,
    save: Annotated[
        Path | None,
        typer.Option(help="The model, such as model.nfmap, with which nearfield place places new rows."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="The state on the way, such as state.nfmap: after whatever ended it, the same command goes"
            " on from there. It is deleted when the map is written."
        ),
    ] = None,
    checkpoint_every: Annotated[
        int | None,
        typer.Option(min=1, help="After how many iterations it is written; by default every half minute."),
    ] = None,
    rows: Annotated[
        str, typer.Option(metavar="FORM", help="The model's rows: exact, or compact, a byte a number.")
    ] = "exact",
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Other columns to write beside the map: a,b,c, or all of them: all."
        ),
    ] = None,
    neighbours: Annotated[
        bool,
        typer.Option(
            "--neighbours", help="Write the 15 nearest rows of each, and their distances, beside the map."
        ),
    ] = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Make a map of a table.

    Numeric columns are found, or vectors, lists of numbers; what is left out is said.
    More than 100 columns are first reduced to 50 principal components.
    Ctrl-C ends the work early and writes the map so far.
    """
    report = Report(quiet)
    reading = Reading(label, columns, id, header, array, missing, vector, use_rep, keep)
    reading.check()
    if neighbours and metric == "affinity":
        raise ValueError("--neighbours needs distances, and affinities say nothing of them: leave it out")
    composed = compose(method, settings(parameters or []))
    if options.get("supervision") and label is None:
        raise ValueError("--supervision lets labels have a say: name their column, --label NAME")
    name = plain_name(data)
    out = Path(f"{name}-map.csv") if out is None else out
    check_outputs(
        {"data": data, "pins": pins, "map that it is to be like": like},
        out,
        plot,
        dimensions,
        save,
        checkpoint,
    )
    if rows not in ("exact", "compact"):
        raise ValueError(f"--rows {rows}: it is exact or compact")

    from nearfield.affinity.source import Source
    from nearfield.io.tables import write_map

    sample = None
    if landmarks is not None:
        refuse_beside(
            {
                "keep": keep,
                "neighbours": neighbours,
                "like": like,
                "pins": pins,
                "start": start is not None and "." in start,
            }
        )
        asked = Landmarks(landmarks, landmark_choice, metric, seed, bool(options.get("supervision")))
        sample = Sample.of(data, reading, asked, report)
    table = reading.read(data, metric, report) if sample is None else sample.table
    places = pinned(pins, table.ids, len(table.X), dimensions)
    named = {"names": table.names, "id": id, "label": label, "missing": missing, "notes": table.notes}
    how = preparation(table.X, standardize, pca, metric, seed, report, **named)
    X: Any = how.rows(table.X)
    if neighbours:  # those that the map is made of are then kept
        X = Source.of(X, metric or "euclidean", n_jobs=jobs, remembered=NEAREST)

    init = start_positions(start, table, data, dimensions)
    alike = like_positions(like, start, table, data, dimensions, report)
    given = {
        "n_components": dimensions,
        "perplexity": perplexity,
        "metric": metric,
        "init": init if alike is None else alike,
        "n_jobs": jobs,
        "checkpoint": checkpoint,
        "checkpoint_every": checkpoint_every,
        **options,
    }
    report("method", f"{method}: {composed}")
    began = time.perf_counter()
    made = make_map(
        X,
        composed,
        method,
        seed,
        max_iter,
        report,
        {k: v for k, v in given.items() if v is not None},
        places,
        shown=not quiet,
        quick=quick,
        keep=save is not None or sample is not None,
        labels=table.labels if options.get("supervision") else None,
    )
    seconds = time.perf_counter() - began
    if made.pinned:
        report("pinned", f"{len(places)} point{'s' * (len(places) > 1)}, as {pins} says")
    report("result", f"{made.result} in {seconds:.1f} s")

    about = {"method": str(composed), "data": data.name, "notes": list(table.notes)}
    Y, labels = made.Y, table.labels
    if sample is None:
        write_map(
            out,
            Y,
            ids=table.ids,
            labels=labels,
            others=table.others,
            neighbours=nearest(X, report) if neighbours else None,
            about=about,
        )
    else:
        how_told = {"shown": not quiet, "kept": plot is not None}
        Y, labels = sample.write(out, model_of(made, how), how, reading, about, report, **how_told)
    if plot is not None:
        draw(plot, Y, labels, f"{name} · {method}", label)
    if save is not None:
        model_of(made, how).save(save, rows)
    report("wrote", ", ".join(str(path) for path in (out, plot, save) if path is not None))
    if made.checkpoint is not None and not made.interrupted:
        made.checkpoint.delete()
    if made.interrupted:  # of which was warned
        raise typer.Exit(INTERRUPTED)
