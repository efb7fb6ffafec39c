"""Files that nearfield has saved, opened by what they say they are."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from nearfield.descent.models import opening, read_model
from nearfield.descent.run import Run
from nearfield.estimators import KEPT, TSNE, Embedder, kept_attributes
from nearfield.io.maps import Map, another_kind, read_kept
from nearfield.umap import UMAP

ESTIMATORS: dict[str, type[Embedder | TSNE | UMAP]] = {kind.__name__: kind for kind in (Embedder, TSNE, UMAP)}


def load(path: str | os.PathLike[str], X: Any = None, **given: Any) -> Embedder | TSNE | UMAP | Run | Map:
    """Open a file that nearfield has saved.

    Parameters
    ----------
    path : path-like
        The file.
    X : array, sparse matrix or data frame, optional
        The data of a run, without which it cannot go on.
    **given
        Parameters that the file cannot hold, such as `metric` or `method` where these are of one's own.

    Returns
    -------
    Embedder, TSNE or UMAP, Run, Map
        A fitted estimator for a model, a run for a run, a map for a map.

    Raises
    ------
    ValueError
        With one line that names the file and the fault. Nothing in a file is run.

    Examples
    --------
    >>> import numpy as np, nearfield as nf, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "model.nfmap")
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> nf.Embedder("jse", perplexity=10, random_state=0).fit(X).save(path)
    >>> nf.load(path).transform(X[:3] + 0.01).shape
    (3, 2)
    """
    kind, kept = read_kept(path)
    if kind in ("run", "checkpoint"):
        if X is None:
            raise ValueError(f"{os.fspath(path)} is a {kind}, which needs its data: nearfield.load(path, X)")
        return Run.load(path, X, **given)
    if X is not None:
        raise ValueError(f"{os.fspath(path)} is a {kind}, which needs no data: leave out X")
    if kind == "map":
        if given:
            raise ValueError(
                f"{os.fspath(path)} is a map, which needs nothing else: leave out {', '.join(given)}"
            )
        return kept
    if kind != "model":
        raise ValueError(another_kind(path, kind))
    return _estimator(os.fspath(path), kept, given)


def _estimator(path: str, kept: Map, given: dict[str, Any]) -> Embedder | TSNE | UMAP:
    """The fitted estimator of a model."""
    with opening(path):
        name = kept.session.get("estimator")
        kind = ESTIMATORS.get(name) if isinstance(name, str) else None
        if kind is None:
            raise ValueError("it does not say what was fitted")
        known = kind().get_params()
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise TypeError(f"{name} has no parameter {', '.join(unknown)}: load takes what a file cannot hold")
    model = read_model(path, kept, given, kept_attributes(kind))
    with opening(path):
        if not set(model.parameters) <= set(known):
            raise ValueError(f"{name} has no parameter as it has one")
        found = kind(**model.parameters)
        for name, value in model.attributes.items():
            setattr(found, name, KEPT[name][1](value) if name in KEPT else value)
        found._reference = model.reference
        names = vars(found).get("feature_names_in_")
        if names is not None and len(names) != found.n_features_in_:
            raise ValueError("it has other names than columns")
        if not np.all(np.isfinite(found.embedding_)):
            raise ValueError("its map is not finite")
    return found
