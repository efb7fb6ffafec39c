"""The same rows in every form in which they may come some at a time."""

from pathlib import Path
from typing import Any

import numpy as np


def blobs(rows: int = 900, columns: int = 6) -> np.ndarray:
    """Five clouds, of 32 bits, so that each form can hold them to the last."""
    random = np.random.default_rng(11)
    centres = 6 * random.normal(size=(5, columns))
    return (centres[random.integers(5, size=rows)] + random.normal(size=(rows, columns))).astype(np.float32)


def forms(X: np.ndarray, folder: Path) -> dict[str, Any]:
    """The rows mapped, in files, of zarr and of Dask, in chunks of odd sizes."""
    import dask.array
    import pyarrow as arrow
    import pyarrow.feather
    import pyarrow.parquet
    import zarr

    columns = X.shape[1]
    np.save(folder / "x.npy", X)
    table = arrow.table({f"c{j}": X[:, j] for j in range(columns)})
    vectors = arrow.FixedSizeListArray.from_arrays(arrow.array(X.ravel()), columns)
    arrow.parquet.write_table(table, folder / "x.parquet", row_group_size=217)
    arrow.parquet.write_table(arrow.table({"v": vectors}), folder / "vectors.parquet", row_group_size=100)
    arrow.feather.write_feather(table, folder / "x.feather", chunksize=131)
    stored = zarr.create_array(folder / "x.zarr", shape=X.shape, chunks=(101, 4), dtype="f4")
    stored[:] = X
    return {
        "mapped": np.load(folder / "x.npy", mmap_mode="r"),
        "npy": folder / "x.npy",
        "parquet": str(folder / "x.parquet"),
        "vectors": folder / "vectors.parquet",
        "feather": folder / "x.feather",
        "zarr": stored,
        "zarr folder": folder / "x.zarr",
        "dask": dask.array.from_array(X, chunks=(193, columns)),
    }
