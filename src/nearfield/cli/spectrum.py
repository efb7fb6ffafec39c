"""`nearfield spectrum`: a table in, its maps under attraction from weak to strong out."""

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
)
from nearfield.cli.preparation import perplexities, prepare
from nearfield.cli.reading import Reading
from nearfield.cli.terminal import INTERRUPTED, Report, compose, settings
from nearfield.io.unpacking import plain_name

PLACE = 2.5  # among the commands


def numbers(text: str) -> list[float]:
    """Attractions as they are typed.

    Examples
    --------
    >>> numbers("1,4,30")
    [1.0, 4.0, 30.0]
    """
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise ValueError(f"--attractions {text}: give numbers with commas, such as 1,4,30") from None


def spectrum(
    data: Annotated[Path, typer.Argument(metavar="DATA", help=TABLE)],
    attractions: Annotated[
        str, typer.Option(metavar="NUMBERS", help="How many times as strong as in the method, with commas.")
    ] = "0.5,1,2,4,10,30",
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
        Any, typer.Option(parser=perplexities, metavar="NUMBER", help="The effective number of neighbours.")
    ] = None,
    metric: Metric = None,
    standardize: Standardize = False,
    pca: Components = None,
    max_iter: Annotated[int | None, typer.Option(min=1, help="The most iterations of a map.")] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    parameters: Parameters = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The maps side by side: .png, .pdf or .svg.")
    ] = None,
    maps: Annotated[
        Path | None, typer.Option(help="The coordinates of all of them: .csv, .tsv or .parquet.")
    ] = None,
    film: Annotated[Path | None, typer.Option(help="The way from one to the next: .gif or .mp4.")] = None,
    quiet: Quiet = False,
) -> None:
    """Make maps of a table under attraction from weak to strong: from clusters to continua.

    Neighbours are searched once, and each map begins where the one before ended.
    Ctrl-C ends the work early and writes the maps so far.
    """
    report = Report(quiet)
    reading = Reading(label, columns, id, header, array, missing, vector, use_rep)
    reading.check()
    composed = compose(method, settings(parameters or []))
    wanted = numbers(attractions)
    out = Path(f"{plain_name(data)}-spectrum.png") if out is None else out
    _check_outputs(data, out, maps, film)
    table = reading.read(data, metric, report)
    X = prepare(table.X, standardize, pca, metric, seed, report)

    from nearfield.comparison.spectrum import spectrum as make

    given = {"perplexity": perplexity, "metric": metric, "max_iter": max_iter, "n_jobs": jobs}
    given = {name: value for name, value in given.items() if value is not None}
    report("method", f"{method}: {composed}")
    began = time.perf_counter()
    found = make(X, wanted, composed, random_state=seed, verbose=not quiet, **given)
    for each, cost, count in zip(found.attractions, found.costs, found.iterations, strict=True):
        report("result", f"attraction {each:g}: cost {cost:.6g} after {count} iterations")
    report("", f"{len(found)} maps in {time.perf_counter() - began:.1f} s")

    from nearfield.show import save

    save(found.show(table.labels, legend_title=label), out)
    if maps is not None:
        found.save(maps, ids=table.ids, labels=table.labels)
    if film is not None:
        found.film(film, table.labels, legend_title=label)
    report("wrote", ", ".join(str(path) for path in (out, maps, film) if path is not None))
    if found.interrupted:  # of which was warned
        raise typer.Exit(INTERRUPTED)


def _check_outputs(data: Path, out: Path, maps: Path | None, film: Path | None) -> None:
    """Refuse, before any work, what could not be written after it, or only over what was given."""
    from nearfield.io.tables import check_map_path
    from nearfield.show import check_picture_path
    from nearfield.show.films import check_film_path

    check_picture_path(out)
    if maps is not None:
        check_map_path(maps)
        if maps.resolve() == data.resolve():
            raise ValueError(f"--maps {maps} would replace the data: name another file")
    if film is not None:
        check_film_path(film)
