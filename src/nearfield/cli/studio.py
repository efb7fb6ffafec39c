"""`nearfield studio`: a page on which a map is watched and steered by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nearfield.cli.options import Array, Columns, Header, Id, Jobs, Label, Missing, Seed, UseRep, Vector
from nearfield.cli.reading import Reading
from nearfield.cli.terminal import Report, stage

if TYPE_CHECKING:
    from nearfield.studio.rows import Rows

PLACE = 5  # among the commands
DIGITS = "digits"


def studio(
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="A table, or a session or map (.nfmap) that was saved. Without it: handwritten digits.",
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
    of: Annotated[
        Path | None, typer.Option("--data", metavar="FILE", help="The table that a saved map was made of.")
    ] = None,
    method: Annotated[str, typer.Option("--method", "-m", help="See: nearfield methods.")] = "tsne",
    perplexity: Annotated[float | None, typer.Option(help="The effective number of neighbours.")] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is any that is free.")] = 0,
    host_name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Another name of this computer, such as lab:8000 for a forwarded port."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in the browser.")] = True,
    reopen: Annotated[bool, typer.Option("--reopen", help="Go on with the session that was left.")] = False,
) -> None:
    """Open a page on which a map is watched and steered by hand.

    It is served on this computer only; whoever has the address that is printed is let in.
    Ctrl-C saves the session and ends.
    """
    report = Report()
    reading = Reading(label, columns, id, header, array, missing, vector, use_rep)
    reading.check()
    from nearfield.io.maps import Map

    kept = None
    if data is not None and data.suffix.lower() == ".nfmap":
        kept = Map.load(data)
        source, reading = _source_of(data, kept, of, reading)
    elif of is not None:
        raise ValueError(f"--data goes with a saved map, and {data} is none: name the table alone")
    else:
        source = data
    rows, about = _rows(source, reading, report)

    from nearfield.studio.keeping import keeper_for, selections_of
    from nearfield.studio.opening import Opened, bound, heeding_signals, show_page, until_ended

    bound(port).close()  # before the neighbours of many rows are searched
    with stage(f"finding neighbours of {rows.n} rows", "while neighbours were searched", report, shown=True):
        line = _line(data, kept, rows, method, perplexity, seed, jobs)
    keeper = keeper_for(rows, about)
    opened = Opened(
        line,
        rows,
        keeper=keeper,
        about=about,
        port=port,
        host_names=host_name or (),
        selections={} if kept is None else selections_of(kept),
    )
    if reopen:
        _reopen(opened)
    with heeding_signals() as asked:
        print(f"studio  {opened.address}", flush=True)
        if browser and not show_page(opened.address):
            report("", "no browser was found: open the address above in one")
        until_ended(opened, asked)
    report("saved", f"{keeper.path}; the next start offers to go on with it")


def _rows(source: Path | None, reading: Reading, report: Report) -> tuple[Rows, dict[str, Any]]:
    """The data, and what a session tells of them to be found again."""
    from nearfield.studio.rows import rows_of

    if source is None:
        from nearfield.io.datasets import digits

        table = digits()
        rows = rows_of("handwritten digits", table.X, names=table.names, labels=table.labels, label="digit")
        return rows, {"path": None}
    table = reading.read(source, None, report)
    label = "label" if reading.label is None else reading.label
    rows = rows_of(source.name, table.X, names=table.names, labels=table.labels, ids=table.ids, label=label)
    return rows, {"path": str(source.resolve()), **reading.given}


def _source_of(path: Path, kept: Any, given: Path | None, reading: Reading) -> tuple[Path | None, Reading]:
    """Where the data of a saved map are, and how they are read."""
    studio = kept.parameters.get("studio")
    about = studio.get("data") if isinstance(studio, dict) else None
    if given is not None:
        return given, reading
    if not isinstance(about, dict) or not isinstance(about.get("path", None), str | None):
        raise ValueError(f"{path} does not say what it was made of: name the table with --data")
    known = {name: value for name, value in about.items() if name != "path"}
    if reading.given or not known.keys() <= set(Reading.__dataclass_fields__):
        known = reading.given
    if about.get("path") is None:
        return None, reading
    found = Path(about["path"])
    if not found.exists():
        raise FileNotFoundError(f"{path} was made of {found}, which is not there: name the table with --data")
    return found, Reading(**known)


def _line(data: Any, kept: Any, rows: Rows, method: str, perplexity: Any, seed: int, jobs: Any) -> Any:
    """The run to begin with: that of the file, one from its map, or a new one."""
    from nearfield.descent.sessions import OTHER_DATA
    from nearfield.studio.line import line_of, line_with

    options: dict[str, Any] = {"random_state": seed, "n_jobs": jobs}
    if kept is None:
        return line_of(rows.mapped, method, perplexity, **options)
    if len(kept.Y) != rows.n:
        raise ValueError(f"{data} {OTHER_DATA} ({len(kept.Y)} rows, and not {rows.n})")
    if not kept.session:
        return line_of(rows.mapped, method, perplexity, init=kept.Y, **options)
    from nearfield.studio.keeping import reopened

    return line_with(reopened(data, rows.mapped, jobs)[0], **options)


def _reopen(opened: Any) -> None:
    """Go on with what was left, as the page would ask for it."""
    from nearfield.studio.messages import COMMANDS

    if opened.session.offer is None:
        raise ValueError("there is no session of these data to reopen: leave out --reopen")
    opened.session.submit(COMMANDS["reopen"], {"accept": True}).result()
