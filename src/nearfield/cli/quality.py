"""`nearfield quality`: how much of the data a map shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from nearfield.cli.options import (
    Array,
    Columns,
    Components,
    Header,
    Id,
    Jobs,
    Metric,
    Missing,
    Neighbours,
    Quiet,
    Seed,
    Standardize,
    UseRep,
    Vector,
)
from nearfield.cli.preparation import prepare, prepares
from nearfield.cli.reading import Reading
from nearfield.cli.sampling import is_streamed, table_of
from nearfield.cli.terminal import Report

PLACE = 3  # among the commands


def quality(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The table that the map was made of.")],
    mapped: Annotated[Path, typer.Argument(metavar="MAP", help="The map: .csv, .tsv, .parquet or .npy.")],
    label: Annotated[
        str | None, typer.Option(help="The column that names the class of a row; else that of the map.")
    ] = None,
    columns: Columns = None,
    id: Id = None,
    header: Header = None,
    array: Array = None,
    missing: Missing = "refuse",
    vector: Vector = None,
    use_rep: UseRep = None,
    metric: Metric = None,
    standardize: Standardize = False,
    pca: Components = None,
    neighbours: Neighbours = None,
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
    reading = Reading(label, columns, id, header, array, missing, vector, use_rep)
    reading.check()

    import nearfield
    from nearfield.io.files import check_writable, replacing
    from nearfield.io.matching import match_rows, refuse_as_measurement
    from nearfield.io.tables import read_map

    if as_json is not None and not to_print:
        check_writable(as_json)
        if any(path.exists() and as_json.exists() and as_json.samefile(path) for path in (data, mapped)):
            raise ValueError(f"--json {as_json} would replace what is judged: name another file")
    reduced = standardize or pca or missing != "refuse"
    held = reduced or not is_streamed(data)
    table = reading.read(data, metric, report) if held else table_of(data, reading, report)
    if not held and prepares(len(table.names), pca, metric):
        table, held = reading.read(data, metric, Report(quiet=True)), True
    Y, ids, labels = read_map(mapped)
    if id is None:
        refuse_as_measurement(table, ids, "ids", "--id")
    order = match_rows(table, ids, len(Y), data, mapped)
    labels = None if labels is None else labels[order]
    if label is None:
        refuse_as_measurement(table, labels, "labels", "--label")
    X = prepare(table.X, standardize, pca, metric, seed, report) if held else table.X
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
