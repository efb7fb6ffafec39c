"""Maps of high-dimensional data that can be composed, trusted and steered.

>>> import nearfield as nf
>>> "tsne" in nf.methods()
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Each public name and the module that holds it. They are imported when first used (PEP 562), so that
# `import nearfield` costs next to nothing and the command line starts at once.
_HOME = {
    "Embedder": "estimators",
    "TSNE": "estimators",
    "UMAP": "umap",
    "FuzzyNeighbours": "affinity.fuzzy",
    "load": "loading",
    "Method": "algebra.method",
    "method": "algebra.catalogue",
    "methods": "algebra.catalogue",
    "register": "algebra.catalogue",
    "unregister": "algebra.catalogue",
    "costs": "algebra.costs",
    "kernels": "algebra.kernels",
    "transforms": "algebra.transforms",
    "intrinsic_dimension": "affinity.perplexity",
    "Run": "descent.run",
    "mix": "affinity.mixing",
    "align": "descent.aligning",
    "anndata": "anndata",
    "Map": "io.maps",
    "check": "engine.check",
    "cluster": "cluster",
    "compare": "comparison.comparing",
    "derive": "derivation.derive",
    "diagnose": "judge.diagnosing",
    "quality": "judge.quality",
    "rows": "io.chunked",
    "show": "show",
    "spectrum": "comparison.spectrum",
    "open_studio": "studio.opening",
    "penalties": "steer.penalties",
    "terms": "steer.terms",
    "widget": "show.widgets",
}
_MODULES = {"anndata", "cluster", "costs", "kernels", "transforms", "show", "penalties", "terms"}

__all__ = [
    "TSNE",
    "UMAP",
    "Embedder",
    "FuzzyNeighbours",
    "Map",
    "Method",
    "Run",
    "__version__",
    "align",
    "anndata",
    "check",
    "cluster",
    "compare",
    "costs",
    "derive",
    "diagnose",
    "intrinsic_dimension",
    "kernels",
    "load",
    "method",
    "methods",
    "mix",
    "open_studio",
    "penalties",
    "quality",
    "register",
    "rows",
    "show",
    "spectrum",
    "terms",
    "transforms",
    "unregister",
    "widget",
]

if TYPE_CHECKING:
    from nearfield import anndata, cluster, show
    from nearfield.affinity.fuzzy import FuzzyNeighbours
    from nearfield.affinity.mixing import mix
    from nearfield.affinity.perplexity import intrinsic_dimension
    from nearfield.algebra import costs, kernels, transforms
    from nearfield.algebra.catalogue import method, methods, register, unregister
    from nearfield.algebra.method import Method
    from nearfield.comparison.comparing import compare
    from nearfield.comparison.spectrum import spectrum
    from nearfield.derivation.derive import derive
    from nearfield.descent.aligning import align
    from nearfield.descent.run import Run
    from nearfield.engine.check import check
    from nearfield.estimators import TSNE, Embedder
    from nearfield.io.chunked import rows
    from nearfield.io.maps import Map
    from nearfield.judge.diagnosing import diagnose
    from nearfield.judge.quality import quality
    from nearfield.loading import load
    from nearfield.show.widgets import widget
    from nearfield.steer import penalties, terms
    from nearfield.studio.opening import open_studio
    from nearfield.umap import UMAP


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'nearfield' has no attribute {name!r}")
    module = import_module(f"nearfield.{_HOME[name]}")
    value = module if name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
