"""Columns as a table in a file, written whole or not at all."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nearfield.io.files import replacing
from nearfield.io.others import Nearest, as_texts
from nearfield.io.parquet import write_parquet


def write_columns(
    path: str | os.PathLike[str], columns: Mapping[str, Any], about: Mapping[str, Any] | None = None
) -> None:
    """Write arrays of equal length as the columns of a .csv, .tsv or .parquet file.

    What is said `about` them is kept in a Parquet file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_columns(Path(folder) / "table.csv", {"id": np.arange(2), "cost": np.array([0.5, 0.1])})
    ...     print((Path(folder) / "table.csv").read_text().split())
    ['id,cost', '0,0.5', '1,0.1']
    """
    path = Path(path)
    with replacing(path) as scratch:
        if path.suffix.lower() == ".parquet":
            typed = {
                name: each.arrow() if isinstance(each, Nearest) else each for name, each in columns.items()
            }
            write_parquet(scratch, typed, about)
            return
        with open(scratch, "w", newline="", encoding="utf-8") as stream:
            delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
            writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
            writer.writerow(columns)
            # Python's floats, whose text is the shortest that reads back as the same number.
            writer.writerows(zip(*map(as_texts, columns.values()), strict=True))
