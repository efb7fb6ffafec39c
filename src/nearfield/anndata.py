"""Maps of AnnData: cells in, `obsm` out, as scanpy's own tools do it. Needs the extra `anndata`."""

from __future__ import annotations

from typing import Any

from nearfield.algebra.method import Method
from nearfield.descent.settings import FREE
from nearfield.estimators import Embedder
from nearfield.io.cellsfile import representation
from nearfield.io.columns import quoted

__all__ = ["embed"]


def embed(
    adata: Any,
    method: str | Method = "tsne",
    *,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    key_added: str | None = None,
    **options: Any,
) -> Embedder:
    """Make a map of cells, and put it where scanpy looks for it.

    Parameters
    ----------
    adata : AnnData
        The cells. Coordinates are written to ``adata.obsm[key_added]``, and how they were made to
        ``adata.uns``, under the same key without ``X_``.
    method : str or Method
        A name of the catalogue, or a composition.
    use_rep : str, optional
        What the cells are mapped by: "X", or a key of `obsm`. By default "X_pca" if it is there, else "X".
    neighbors_key : str, optional
        A graph that ``sc.pp.neighbors`` has left, "neighbors" by default there, is taken in place of
        coordinates: its connectivities as they are, or, with ``metric="precomputed"``, its distances.
    key_added : str, optional
        By default ``X_`` and the name of the method.
    **options
        Those of `Embedder`: `perplexity`, `metric`, `random_state` and so on.

    Returns
    -------
    Embedder
        The fitted model, which places other cells.

    Examples
    --------
    >>> import anndata, numpy as np, nearfield as nf
    >>> cells = anndata.AnnData(np.random.default_rng(0).normal(size=(60, 5)))
    >>> model = nf.anndata.embed(cells, "tsne", perplexity=10, random_state=0)
    >>> cells.obsm["X_tsne"].shape, cells.uns["tsne"]["params"]["use_rep"]
    ((60, 2), 'X')
    """
    if neighbors_key is not None:
        if use_rep is not None:
            raise ValueError(
                "a map is made of use_rep or of the graph of neighbors_key: leave out one of them"
            )
        metric = options.setdefault("metric", "affinity")
        X, made_of = graph(adata, neighbors_key, metric), {"neighbors_key": neighbors_key}
    else:
        use_rep, X = representation(adata, use_rep)
        made_of = {"use_rep": use_rep}
    model = Embedder(method, **options).fit(X)
    name = method if isinstance(method, str) else "nearfield"
    key = f"X_{name}" if key_added is None else key_added
    adata.obsm[key] = model.embedding_
    adata.uns[key.removeprefix("X_")] = {"params": {"method": str(method), **made_of, **_plain(options)}}
    return model


def graph(adata: Any, key: str, metric: str = "affinity") -> Any:
    """The graph that ``sc.pp.neighbors`` has left under a key: connectivities or distances.

    Parameters
    ----------
    adata : AnnData
        The cells.
    key : str
        "neighbors", or the `key_added` of ``sc.pp.neighbors``.
    metric : {"affinity", "precomputed"}
        Which of the two: how alike neighbours are, or how far apart.
    """
    kinds = {"affinity": "connectivities", "precomputed": "distances"}
    if metric not in kinds:
        raise ValueError(f"a graph has metric 'affinity' or 'precomputed', and not {metric!r}: leave it out")
    there = [name for name, each in adata.uns.items() if _is_graph(adata, name, each)]
    if key not in there:
        known = f"there are {quoted(there, 20)}" if there else "make one with sc.pp.neighbors(adata)"
        raise ValueError(f"there is no graph of neighbours {key!r}: {known}")
    return adata.obsp[_key(key, adata.uns[key], kinds[metric])]


def _key(name: str, about: Any, kind: str) -> str:
    """Where a graph is stored: as it says, or as it was before it said so."""
    usual = kind if name == "neighbors" else f"{name}_{kind}"
    return str(about.get(f"{kind}_key", usual))


def _is_graph(adata: Any, name: str, about: Any) -> bool:
    return hasattr(about, "get") and _key(name, about, "connectivities") in adata.obsp


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """Options as a file of AnnData can hold them: what is None is as if it were not there."""
    kept = {name: value for name, value in options.items() if value is not None and name not in FREE}
    return {
        name: value if isinstance(value, (bool, int, float, str)) else str(value)
        for name, value in kept.items()
    }
