"""Files of AnnData, `.h5ad`: a representation of the cells as numbers, and what is known of each cell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.io.columns import Chooser, Table, quoted
from nearfield.io.vectors import element_names

DENSE_UP_TO = 2**31  # bytes that sparse counts may take as dense numbers


def anndata() -> ModuleType:
    """Return anndata, or raise with how to get it."""
    try:
        import anndata
    except ImportError as error:
        raise ImportError('AnnData needs its package: pip install "nearfield[anndata]"') from error
    return anndata


def representations(adata: Any) -> list[str]:
    """What the cells can be mapped by: `X`, and the matrices that `obsm` has."""
    return [*(["X"] if adata.X is not None else []), *adata.obsm.keys()]


def representation(adata: Any, use_rep: str | None = None) -> tuple[str, Any]:
    """The numbers of the cells, and what they are called: principal components where there are any, else X.

    Parameters
    ----------
    adata : AnnData
        The cells.
    use_rep : str, optional
        "X", or a key of `obsm`.
    """
    there = representations(adata)
    if use_rep is None:
        use_rep = "X_pca" if "X_pca" in there else "X"
    if use_rep not in there:
        raise ValueError(f"there is no representation {use_rep!r}: there are {quoted(there, 20)}")
    found = adata.X if use_rep == "X" else adata.obsm[use_rep]
    found = found[:] if hasattr(found, "to_memory") or type(found).__module__.startswith("h5py") else found
    return use_rep, found if sparse.issparse(found) else np.asarray(found)


def read_h5ad(path: Path, chooser: Chooser, use_rep: str | None = None) -> Table:
    """Read a representation; the columns of `obs` serve as labels, and the names of the cells as ids."""
    adata = _opened(path)
    try:
        name, X = representation(adata, use_rep)
        if sparse.issparse(X):
            size = 4 * X.shape[0] * X.shape[1]
            if size > DENSE_UP_TO:
                raise ValueError(
                    f"{name} has {X.shape[1]} columns, {size / 2**30:.0f} GB: make principal components"
                    " first, sc.pp.pca(adata), or name others with --use-rep"
                )
            X = X.astype(np.float32).toarray()
        if X.ndim != 2 or X.dtype.kind not in "biuf":
            raise ValueError(f"{name} holds no table of numbers: name another with --use-rep")
        names = element_names(name, X.shape[1])
        columns = list(map(str, adata.obs.columns))
        choice = chooser([*names, *columns])
        numbers = [j for j in choice.numbers if j < len(names)]
        if choice.asked and len(numbers) < len(choice.numbers):
            raise ValueError(f"the columns of the numbers are called {quoted(names)}")
        label, id = (
            None if j is None else _values(adata.obs[columns[j - len(names)]])
            for j in (choice.label, choice.id)
        )
        kept = X if len(numbers) == len(names) else X[:, numbers]
        dtype = np.float32 if X.dtype in (np.float16, np.float32) else np.float64
        return Table(
            np.ascontiguousarray(kept, dtype=dtype),
            tuple(names[j] for j in numbers),
            label,
            _values(adata.obs_names) if id is None else id,
            () if use_rep is not None else (f"read the representation {name!r} of the cells",),
        )
    finally:
        adata.file.close()


def obs_columns(path: Path, names: Sequence[str] | None) -> Any:
    """What is known of each cell: the names of the columns, or some of them."""
    adata = _opened(path)
    try:
        if names is None:
            return list(map(str, adata.obs.columns))
        return {name: _values(adata.obs[name]) for name in names}
    finally:
        adata.file.close()


def _opened(path: Path) -> Any:
    package = anndata()
    try:
        return package.read_h5ad(path, backed="r")
    except FileNotFoundError:
        raise
    except (OSError, LookupError, ValueError, TypeError, AttributeError) as error:
        # Of HDF5, of AnnData or of pandas: each says in its own way that what it looks for is not there.
        raise ValueError(f"{path} is not a file of AnnData, or damaged: check how it was written") from error


def _values(column: Any) -> np.ndarray:
    """A column of pandas as NumPy has it: categories as their names."""
    values = np.asarray(column)
    return values if values.dtype.kind in "biuf" else np.array(["" if x is None else str(x) for x in values])
