"""Vectors in a Parquet file to a map beside the other columns: seconds, and the most memory that it takes.

    python -m benchmarks.studies.tables [ROWS [ITERATIONS]]

100 000 rows of 768 numbers of 32 bits by default, by cosine, with all other columns and the neighbours of
each row, as the command does it in a process of its own.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared.apart import apart

COLUMNS = 768
TOPICS = 200
AT_ONCE = 10_000  # rows, as which the file is written


def write_vectors(path: Path, rows: int) -> None:
    """Texts, years and the vectors of the texts, around some topics."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    random = np.random.default_rng(0)
    topics = random.normal(size=(TOPICS, COLUMNS))
    writer = None
    for lo in range(0, rows, AT_ONCE):
        count = min(AT_ONCE, rows - lo)
        topic = random.integers(TOPICS, size=count)
        vectors = (topics[topic] + random.normal(size=(count, COLUMNS))).astype(np.float32)
        ends = pa.array(np.arange(0, vectors.size + 1, COLUMNS, dtype=np.int32))
        table = pa.table(
            {
                "text": [f"a text of topic {each}" for each in topic],
                "year": 1990 + topic % 30,
                "embedding": pa.ListArray.from_arrays(ends, pa.array(vectors.ravel())),
            }
        )
        writer = parquet.ParquetWriter(path, table.schema) if writer is None else writer
        writer.write_table(table)
    if writer is not None:
        writer.close()


def mapping(data: str, out: str, iterations: int) -> dict[str, Any]:
    """Make the map by the command."""
    from nearfield.cli import main

    began = time.perf_counter()
    command = ["embed", data, "--metric", "cosine", "--keep", "all", "--neighbours", "--out", out, "--quiet"]
    code = main([*command, *(["--max-iter", str(iterations)] if iterations else [])])
    if code:
        raise RuntimeError(f"nearfield embed ended with {code}")
    return {"seconds": time.perf_counter() - began}


def main(rows: str = "100000", iterations: str = "0") -> None:
    """Write the file, and map it."""
    with tempfile.TemporaryDirectory() as scratch:
        data, out = Path(scratch) / "texts.parquet", Path(scratch) / "map.parquet"
        write_vectors(data, int(rows))
        found = apart(mapping, data=str(data), out=str(out), iterations=int(iterations))
        sizes = [path.stat().st_size / 2**20 for path in (data, out)]
    print(
        f"{rows} × {COLUMNS} vectors ({sizes[0]:.0f} MB) to a map ({sizes[1]:.0f} MB):"
        f" {found['seconds']:.0f} s, at most {found['memory']:.2f} GB"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
