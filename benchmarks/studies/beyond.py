"""More rows than a map is made of: landmarks, chunked files, and what they take in seconds and in memory.

    python -m benchmarks.studies.beyond [mapped|parquet|blobs …] [SCALE]

`mapped` and `parquet`: 2 000 000 × 50 float32 from a memory-mapped file or Parquet, 100 000 landmarks, by
`TSNE.fit`. `blobs`: 10 000 000 × 32, clusters in clusters in clusters, from Parquet to Parquet by
`nearfield embed --landmarks 200000`. SCALE divides rows and landmarks, down to 5000. The files are made in
blocks, in a temporary folder.

Memory is what a process of its own holds beyond the file: the most of its anonymous pages, looked at 50 times
a second. Pages of a mapped file, which the system takes back at will, are none of them. What the process
holds once the library is imported and its loops are loaded is told beside it, and is part of the figure.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np

from benchmarks.shared.apart import apart

PER_LEVEL = (8, 8, 8)  # clusters, in each of them clusters, and in each of these again
APART = (12.0, 5.0, 2.0)  # how far they are, where the points of one are 1 from its centre
BRIDGES = 0.1  # of the rows, which lie between two clusters
AT_ONCE = 100_000  # rows that are made at a time
ROWS = {"mapped": 2_000_000, "parquet": 2_000_000, "blobs": 10_000_000}
COLUMNS = {"mapped": 50, "parquet": 50, "blobs": 32}
LANDMARKS = {"mapped": 100_000, "parquet": 100_000, "blobs": 200_000}
FEWEST = 5000  # landmarks: of fewer, rows are placed by all of them and not by a grid, which is slower
OFTEN = 0.02  # seconds between two looks at the memory
JUDGED = 20_000  # rows by which the map is judged


class Watch:
    """The most that this process holds of its own, in MB, while something goes on."""

    def __enter__(self) -> Self:
        self.before = self.most = anonymous()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _look(self) -> None:
        while not self._ended.wait(OFTEN):
            self.most = max(self.most, anonymous())

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


def anonymous() -> float:
    """The pages of this process that are not those of a file, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(dict(line.split(":", 1) for line in lines)["RssAnon"].split()[0]) / 1e3


def blobs(rows: int, columns: int, seed: int = 0) -> Iterator[tuple[Any, Any]]:
    """Rows with structure at three levels, some at a time, and the cluster of each: 512 of unequal size.

    One row in ten lies between its cluster and another, which is in the same group of 8, of 64, or any: where
    clusters are islands, with no neighbour in common, a map of them grows without end.
    """
    random = np.random.default_rng(seed)
    centres = np.zeros((1, columns))
    for count, apart_by in zip(PER_LEVEL, APART, strict=True):
        steps = random.normal(size=(len(centres), count, columns)) * apart_by / np.sqrt(columns)
        centres = (centres[:, None] + steps).reshape(-1, columns)
    shares = random.dirichlet(np.full(len(centres), 2.0))
    for lo in range(0, rows, AT_ONCE):
        count = min(AT_ONCE, rows - lo)
        which = random.choice(len(centres), count, p=shares)
        group = 8 ** random.integers(1, 4, size=count)
        other = which // group * group + random.integers(0, group)
        way = np.where(random.random(count) < BRIDGES, random.random(count), 0.0)[:, None]
        noise = random.normal(size=(count, columns)) / np.sqrt(columns)
        X = (1 - way) * centres[which] + way * centres[other] + noise
        yield X.astype(np.float32), which.astype(np.int32)


def write_mapped(path: Path, rows: int, columns: int) -> None:
    """The rows as a NumPy file, and the clusters beside it."""
    out = np.lib.format.open_memmap(path, "w+", np.float32, (rows, columns))
    at = 0
    for X, _ in blobs(rows, columns):
        out[at : at + len(X)] = X
        at += len(X)
    out.flush()


def write_parquet(path: Path, rows: int, columns: int) -> None:
    """The rows as columns of 32 bits, with their cluster as a label."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for X, which in blobs(rows, columns):
        table = pa.table({f"c{j}": X[:, j] for j in range(columns)} | {"cluster": which})
        writer = pq.ParquetWriter(path, table.schema) if writer is None else writer
        writer.write_table(table)
    if writer is not None:
        writer.close()


def by_library(data: str, out: str, landmarks: int, columns: int) -> dict[str, Any]:
    """Fit from the file, and write the places."""
    import nearfield as nf

    warm(columns)
    names = [f"c{j}" for j in range(columns)]
    X = nf.rows(data, None if data.endswith(".npy") else names)
    with Watch() as watch:
        began = time.perf_counter()
        model = nf.TSNE(landmarks=landmarks, random_state=0, verbose=1).fit(X)
        seconds = time.perf_counter() - began
    np.save(out, model.embedding_)
    return {"seconds": seconds, "before": watch.before, "most": watch.most, **told(model)}


def by_command(data: str, out: str, landmarks: int, columns: int) -> dict[str, Any]:
    """The same by the command, from Parquet to Parquet."""
    from nearfield.cli import main

    warm(columns)
    asked = ["embed", data, "--landmarks", str(landmarks), "--label", "cluster", "--out", out, "--quiet"]
    with Watch() as watch:
        began = time.perf_counter()
        code = main(asked)
        seconds = time.perf_counter() - began
    if code:
        raise RuntimeError(f"nearfield embed ended with {code}")
    return {"seconds": seconds, "before": watch.before, "most": watch.most}


def warm(columns: int) -> None:
    """Load what is compiled, so that no compiler's memory is counted."""
    import warnings

    import nearfield as nf

    X = np.random.default_rng(0).normal(size=(3000, columns)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nf.TSNE(landmarks=1500, random_state=0, max_iter=120).fit(X)


def told(model: Any) -> dict[str, Any]:
    """What is known of the fit of the landmarks."""
    return {"iterations": model.n_iter_, "converged": bool(model.converged_)}


def judged(X: Any, Y: Any, labels: Any) -> dict[str, float]:
    """Neighbours kept and clusters found among some rows."""
    import nearfield as nf

    some = np.random.default_rng(1).permutation(len(Y))[:JUDGED]
    some.sort()
    found = nf.quality(X.take(some), Y[some], None if labels is None else labels[some], sample=1000)
    return {name: each for name, each in found.figures.items() if name in ("auc", "label_accuracy")}


def study(kind: str, scale: int) -> str:
    """One row of the table, in words."""
    import nearfield as nf

    rows, columns, landmarks = ROWS[kind] // scale, COLUMNS[kind], max(FEWEST, LANDMARKS[kind] // scale)
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch) / ("data.npy" if kind == "mapped" else "data.parquet")
        out = Path(scratch) / ("map.parquet" if kind == "blobs" else "map.npy")
        (write_mapped if kind == "mapped" else write_parquet)(data, rows, columns)
        size = data.stat().st_size / 1e6
        run = by_command if kind == "blobs" else by_library
        found = apart(run, data=str(data), out=str(out), landmarks=landmarks, columns=columns)
        X = nf.rows(data, None if kind == "mapped" else [f"c{j}" for j in range(columns)])
        if kind == "blobs":
            import pyarrow.parquet as pq

            table = pq.read_table(out, columns=["y1", "y2"])
            Y = np.column_stack([table[name].to_numpy() for name in ("y1", "y2")])
        else:
            Y = np.load(out)
        clusters = np.concatenate([which for _, which in blobs(rows, columns)])
        quality = judged(X, Y, clusters)
    more = ", ".join(
        f"{name} {value}" for name, value in found.items() if name in ("iterations", "converged")
    )
    return (
        f"{kind}: {rows} × {columns} ({size:.0f} MB), {landmarks} landmarks: {found['seconds']:.1f} s;"
        f" {found['most']:.0f} MB at most, {found['before']:.0f} of them before; {more}"
        f" {', '.join(f'{name} {value:.3f}' for name, value in quality.items())}"
    )


def main(*asked: str) -> None:
    """The rows that are asked for, or all."""
    scale = next((int(each) for each in asked if each.isdigit()), 1)
    for kind in [each for each in asked if each in ROWS] or list(ROWS):
        print(study(kind, scale), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
