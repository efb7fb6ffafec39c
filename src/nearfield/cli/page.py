"""`nearfield page`: a map as one file to send to others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nearfield.cli.options import Array, Header, Id, Quiet, Vector
from nearfield.cli.reading import Reading
from nearfield.cli.terminal import Report

if TYPE_CHECKING:
    import numpy as np

PLACE = 4  # among the commands


def page(
    mapped: Annotated[
        Path, typer.Argument(metavar="MAP", help="The map: .csv, .tsv, .parquet, .npy or .nfmap.")
    ],
    data: Annotated[
        Path | None, typer.Option(metavar="TABLE", help="The table it was made of, to show its rows.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="The column that colours the points; else that of the map.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="The columns to show: a,b,c. By default all, of any kind.")
    ] = None,
    id: Id = None,
    header: Header = None,
    array: Array = None,
    vector: Vector = None,
    images: Annotated[
        str | None,
        typer.Option(metavar="HEIGHTxWIDTH", help="The rows are images of this size, such as 28x28."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="By default the name of the map's file.")] = None,
    max_size: Annotated[
        str, typer.Option(metavar="SIZE", help="Of the file: what exceeds it is named and left out.")
    ] = "8MB",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The page: .html.")] = None,
    quiet: Quiet = False,
) -> None:
    """Write a map as one page that needs no network: zoom, search, hover, lasso.

    With --data the page shows the row of each point. Rows are matched by their ids.
    """
    report = Report(quiet)
    out = Path(f"{mapped.stem}.html") if out is None else out
    shape = None if images is None else _shape(images)
    if data is None and (label or columns or images or id):
        raise ValueError("--label, --columns, --id and --images are of the data: add --data TABLE")

    from nearfield.io.maps import Map
    from nearfield.io.tables import read_map
    from nearfield.show.pages import bytes_of, check_page_path
    from nearfield.show.pages import page as write

    check_page_path(out)
    bytes_of(max_size)
    if mapped.suffix.lower() == ".nfmap":
        Y, ids, labels = Map.load(mapped).Y, None, None
    else:
        Y, ids, labels = read_map(mapped)
    report("read", f"{mapped}: {len(Y)} points")
    given: dict[str, Any] = {"labels": labels, "ids": ids}
    if data is not None:
        reading = Reading(label, columns, id, header, array, vector=vector)
        given |= _behind(reading, shape, data, mapped, len(Y), ids, report)
    path = write(Y, path=out, title=mapped.stem if title is None else title, max_size=max_size, **given)
    report("wrote", f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


def _behind(
    reading: Reading,
    shape: tuple[int, int] | None,
    data: Path,
    mapped: Path,
    n: int,
    ids: np.ndarray | None,
    report: Report,
) -> dict[str, Any]:
    """What the data say of the points, in the order of these, as `nearfield.show.page` takes it."""
    from nearfield.io.matching import rows_behind
    from nearfield.io.tables import read_rows
    from nearfield.io.vectors import field_of

    table, others = read_rows(
        data,
        label=reading.label,
        id=reading.id,
        header=reading.header,
        array=reading.array,
        vector=reading.vector,
    )
    report("read", f"{data}: {len(table.X)} rows × {len(table.names) + len(others)} columns")
    order = rows_behind(table, ids, n, data, mapped)
    # Vectors are for programs to read, and not for people.
    numbers = {
        name: column for name, column in zip(table.names, table.X.T, strict=True) if field_of(name) == name
    }
    known = {**numbers, **others}
    found: dict[str, Any] = {}
    if shape is not None:
        found["images"] = _images(table.X[order], shape, data)
        known = known if reading.columns is not None else others  # pixels are seen, and not to be read
    if reading.columns is not None:
        known = _chosen(known, reading.columns)
    if table.ids is not None:
        found["ids"] = table.ids[order]
    if table.labels is not None:
        known = {reading.label or "label": table.labels, **known}
        found["labels"] = reading.label or "label"
    return {"data": {name: values[order] for name, values in known.items()}, **found}


def _chosen(known: dict[str, np.ndarray], columns: str) -> dict[str, np.ndarray]:
    from nearfield.io.columns import choose

    names = list(known)
    return {names[j]: known[names[j]] for j in choose(names, None, columns, None).numbers}


def _images(X: np.ndarray, shape: tuple[int, int], data: Path) -> np.ndarray:
    """The rows as images; a pixel that is missing is black."""
    import numpy as np

    height, width = shape
    if X.shape[1] != height * width:
        raise ValueError(
            f"--images {height}x{width} takes {height * width} columns of numbers: {data} has {X.shape[1]}"
        )
    return np.nan_to_num(X).reshape(-1, height, width)


def _shape(text: str) -> tuple[int, int]:
    """Height and width of images.

    >>> _shape("28x28")
    (28, 28)
    """
    found = re.fullmatch(r"\s*([1-9]\d{0,3})\s*[x×*,]\s*([1-9]\d{0,3})\s*", text)
    if found is None:
        raise ValueError(f"--images {text}: write height and width, such as 28x28")
    return int(found[1]), int(found[2])
