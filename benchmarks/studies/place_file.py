"""Rows of a file placed in a saved map: seconds, and the memory that they take beyond the model.

    python -m benchmarks.studies.place_file path/to/mnist.npz [ROWS [FITTED [csv|parquet]]]

A million rows like MNIST's by default, 60 000 fitted. What the model takes by itself is the peak of a process
that places one row; what the rows take is how much higher that of all of them is.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared.apart import apart
from benchmarks.shared.data import as_many, mnist

AT_ONCE = 20_000  # rows, as which the file is written


def placing(data: str, model: str, out: str) -> dict[str, Any]:
    """Place the rows of a file by the command, in a process of its own."""
    from nearfield.cli import main

    began = time.perf_counter()
    code = main(["place", data, "--map", model, "--out", out, "--quiet"])
    if code:
        raise RuntimeError(f"nearfield place ended with {code}")
    return {"seconds": time.perf_counter() - began}


def fitting(data: str, model: str, out: str) -> dict[str, Any]:
    """Fit and save by the command, in a process of its own."""
    from nearfield.cli import main

    began = time.perf_counter()
    code = main(["embed", data, "--save", model, "--out", out, "--quiet"])
    if code:
        raise RuntimeError(f"nearfield embed ended with {code}")
    return {"seconds": time.perf_counter() - began}


def write_rows(path: Path, X: Any, rows: int) -> None:
    """So many rows like those of X, some at a time."""
    from nearfield.io.streams import writing

    with writing(path) as table:
        for lo in range(0, rows, AT_ONCE):
            part = as_many(X, len(X) + min(AT_ONCE, rows - lo), seed=lo)[len(X) :]
            table.write({f"c{j}": np.round(part[:, j].astype(np.float64), 5) for j in range(part.shape[1])})


def main(path: str, rows: str = "1000000", fitted: str = "60000", kind: str = "csv") -> None:
    """Write the files, fit, and place."""
    X, _ = mnist(path)
    X = X[np.random.default_rng(0).permutation(len(X))]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        names = {name: str(folder / name) for name in ("model.nfmap", "out.csv")}
        write_rows(folder / "old.parquet", X, int(fitted))
        fit = apart(
            fitting, data=str(folder / "old.parquet"), model=names["model.nfmap"], out=names["out.csv"]
        )
        write_rows(folder / f"one.{kind}", X, 1)
        write_rows(folder / f"new.{kind}", X, int(rows))
        places = {"model": names["model.nfmap"], "out": names["out.csv"]}
        one = apart(placing, data=str(folder / f"one.{kind}"), **places)
        many = apart(placing, data=str(folder / f"new.{kind}"), **places)
        sizes = [(folder / name).stat().st_size / 2**20 for name in (f"new.{kind}", "model.nfmap")]
    print(
        f"{rows} rows ({kind}, {sizes[0]:.0f} MB) in a map of {fitted} ({sizes[1]:.0f} MB,"
        f" fitted in {fit['seconds']:.0f} s): {many['seconds']:.1f} s, {one['seconds']:.1f} s of them for"
        f" the model and one row; {1024 * (many['memory'] - one['memory']):.0f} MB beyond the"
        f" {1024 * one['memory']:.0f} MB of a process with the model and one row"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
