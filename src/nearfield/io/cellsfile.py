"""Files of AnnData, `.h5ad`: a representation of the cells as numbers, and what is known of each cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    name = _chosen(representations(adata), use_rep)
    return name, _loaded(adata, name)


def _chosen(there: Sequence[str], use_rep: str | None) -> str:
    """The representation that is asked for, if it is there."""
    if use_rep is None:
        use_rep = "X_pca" if "X_pca" in there else "X"
    if use_rep not in there:
        raise ValueError(f"there is no representation {use_rep!r}: there are {quoted(there, 20)}")
    return use_rep


def _loaded(adata: Any, name: str) -> Any:
    """The numbers of a representation, from memory or from a file."""
    found = adata.X if name == "X" else adata.obsm[name]
    found = found[:] if hasattr(found, "to_memory") or type(found).__module__.startswith("h5py") else found
    return found if sparse.issparse(found) else np.asarray(found)


def read_h5ad(path: Path, chooser: Chooser, use_rep: str | None = None) -> Table:
    """Read a representation; the columns of `obs` serve as labels, and the names of the cells as ids."""
    with _opened(path) as adata:
        with _reading(path):
            there = representations(adata)
        name = _chosen(there, use_rep)
        with _reading(path):
            X = _loaded(adata, name)
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


def obs_columns(path: Path, names: Sequence[str] | None) -> Any:
    """What is known of each cell: the names of the columns, or some of them."""
    with _opened(path) as adata:
        if names is None:
            return list(map(str, adata.obs.columns))
        return {name: _values(adata.obs[name]) for name in names}


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A file as AnnData, whose matrices stay in it until they are asked for."""
    package = anndata()
    with _reading(path):
        adata = package.read_h5ad(path, backed="r")
    try:
        yield adata
    finally:
        adata.file.close()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Say which file it is that cannot be read: HDF5, AnnData and pandas each have ways of their own."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, LookupError, ValueError, TypeError, AttributeError, RuntimeError) as error:
        raise ValueError(f"{path} is not a file of AnnData, or damaged: check how it was written") from error


def _values(column: Any) -> np.ndarray:
    """A column of pandas as NumPy has it: categories as their names, and what is missing as empty text."""
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return values
    return np.array(["" if gone else str(x) for gone, x in zip(column.isna(), values, strict=True)])
