"""The named methods: each is one line of composition, with keywords of its own.

>>> import nearfield as nf
>>> print(nf.method("jse", kappa=0.3))
JensenShannon(kappa=0.3) · Gaussian(beta=1.0) · point
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from nearfield.algebra.costs import (
    KL,
    AlphaBeta,
    ChiSquare,
    CrossEntropy,
    ElasticEmbedding,
    GeneralizedKL,
    GeneralizedNeRV,
    Hellinger,
    JensenShannon,
    LargeVis,
    NegativeSampling,
    NeRV,
    ReverseKL,
    Sammon,
    Square,
    SStress,
    Stress,
)
from nearfield.algebra.kernels import (
    UMAP,
    Gaussian,
    HeavyTailed,
    ImportanceWeighted,
    Inhomogeneous,
    Student,
)
from nearfield.algebra.method import Method
from nearfield.algebra.parts import build


@dataclass(frozen=True)
class Entry:
    """A name of the catalogue: what it is in a line, its parameters, and how the method is composed."""

    name: str
    summary: str
    compose: Callable[..., Method]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters and their defaults."""
        return {p.name: p.default for p in inspect.signature(self.compose).parameters.values()}

    def build(self, **parameters: Any) -> Method:
        """The method with these parameters."""
        return build(self.compose, self.name, parameters)


_COMPOSITIONS: dict[str, tuple[str, Callable[..., Method]]] = {
    "asne": (
        "SNE as first published: each point matches the neighbour probabilities of its own",
        lambda beta=1.0: Method(KL(), Gaussian(beta), "point"),
    ),
    "ssne": (
        "symmetric SNE: one distribution over all pairs",
        lambda beta=1.0: Method(KL(), Gaussian(beta), "pair"),
    ),
    "tsne": (
        "t-SNE: symmetric SNE with a heavy tail that gives clusters room",
        lambda dof=1.0: Method(KL(), Student(dof), "pair"),
    ),
    "tasne": (
        "t-SNE with each point normalized on its own",
        lambda dof=1.0: Method(KL(), Student(dof), "point"),
    ),
    "hssne": (
        "heavy-tailed SNE: alpha goes from SNE (0) to t-SNE (1) and beyond",
        lambda alpha=0.5, beta=1.0: Method(KL(), HeavyTailed(alpha, beta), "pair"),
    ),
    "dhssne": (
        "heavy-tailed SNE that learns alpha along with the map",
        lambda alpha=0.5, beta=1.0: Method(KL(), HeavyTailed(alpha, beta, learned=("alpha",)), "pair"),
    ),
    "itsne": (
        "inhomogeneous t-SNE: learns degrees of freedom for every point",
        lambda dof=1.0: Method(KL(), Inhomogeneous(dof, learned=("nu",)), "point"),
    ),
    "wtsne": (
        "t-SNE weighted by each point's importance in P",
        lambda dof=1.0: Method(KL(), ImportanceWeighted(Student(dof)), "pair"),
    ),
    "wssne": (
        "symmetric SNE weighted by each point's importance in P",
        lambda beta=1.0: Method(KL(), ImportanceWeighted(Gaussian(beta)), "pair"),
    ),
    "nerv": (
        "neighbour retrieval: lam weighs missed neighbours (1) against false ones (0)",
        lambda lam=0.5, beta=1.0: Method(NeRV(lam), Gaussian(beta), "point"),
    ),
    "snerv": (
        "NeRV over all pairs",
        lambda lam=0.5, beta=1.0: Method(NeRV(lam), Gaussian(beta), "pair"),
    ),
    "tnerv": (
        "NeRV over all pairs with Student's kernel",
        lambda lam=0.5, dof=1.0: Method(NeRV(lam), Student(dof), "pair"),
    ),
    "jse": (
        "Jensen-Shannon embedding: kappa goes from SNE (0) to its reverse (1)",
        lambda kappa=0.5, beta=1.0: Method(JensenShannon(kappa), Gaussian(beta), "point"),
    ),
    "sjse": (
        "JSE over all pairs",
        lambda kappa=0.5, beta=1.0: Method(JensenShannon(kappa), Gaussian(beta), "pair"),
    ),
    "tjse": (
        "JSE over all pairs with Student's kernel",
        lambda kappa=0.5, dof=1.0: Method(JensenShannon(kappa), Student(dof), "pair"),
    ),
    "rasne": (
        "SNE with the reverse divergence: false neighbours are what costs",
        lambda beta=1.0: Method(ReverseKL(), Gaussian(beta), "point"),
    ),
    "rssne": (
        "symmetric SNE with the reverse divergence",
        lambda beta=1.0: Method(ReverseKL(), Gaussian(beta), "pair"),
    ),
    "rtsne": (
        "t-SNE with the reverse divergence",
        lambda dof=1.0: Method(ReverseKL(), Student(dof), "pair"),
    ),
    "msasne": (
        "SNE with all perplexities at once, and a width of the map's kernel for each",
        lambda: Method(KL(), Gaussian(), "point", scales="auto"),
    ),
    "mssne": (
        "the same with one distribution over all pairs",
        lambda: Method(KL(), Gaussian(), "pair", scales="auto"),
    ),
    "msnerv": (
        "NeRV at all scales: lam weighs missed neighbours (1) against false ones (0)",
        lambda lam=0.5: Method(NeRV(lam), Gaussian(), "point", scales="auto"),
    ),
    "msjse": (
        "JSE at all scales: kappa goes from SNE (0) to its reverse (1)",
        lambda kappa=0.5: Method(JensenShannon(kappa), Gaussian(), "point", scales="auto"),
    ),
    "mstsne": (
        "t-SNE with all perplexities at once in the data, and Student's kernel as it is",
        lambda dof=1.0: Method(KL(), Student(dof), "pair", scales="data"),
    ),
    "gkl": (
        "generalized KL of bare weights: SNE without normalization",
        lambda beta=1.0: Method(GeneralizedKL(), Gaussian(beta), "none"),
    ),
    "unerv": (
        "NeRV of bare weights",
        lambda lam=0.5, beta=1.0: Method(GeneralizedNeRV(lam), Gaussian(beta), "none"),
    ),
    "ujse": (
        "JSE of bare weights",
        lambda kappa=0.5, beta=1.0: Method(JensenShannon(kappa), Gaussian(beta), "none"),
    ),
    "ee": (
        "elastic embedding: springs between neighbours, repulsion between all",
        lambda lam=0.5, beta=1.0: Method(ElasticEmbedding(lam), Gaussian(beta), "none"),
    ),
    "largevis": (
        "LargeVis: attraction along the neighbours, gamma of repulsion between all",
        lambda gamma=0.01, dof=1.0: Method(LargeVis(gamma), Student(dof), "none"),
    ),
    "umap": (
        "UMAP's cross-entropy and kernel, on all pairs",
        lambda a=1.0, b=1.0: Method(CrossEntropy(), UMAP(a, b), "none"),
    ),
    "umap_sampled": (
        "what UMAP's program minimises in expectation: m points repel for each edge",
        lambda a=1.577, b=0.895, m=5.0: Method(NegativeSampling(m), UMAP(a, b), "none"),
    ),
    "absne": (
        "t-SNE with the alpha-beta divergence",
        lambda a=1.0, b=1.0, dof=1.0: Method(AlphaBeta(a, b), Student(dof), "pair"),
    ),
    "chsne": (
        "t-SNE with the chi-square divergence",
        lambda dof=1.0: Method(ChiSquare(), Student(dof), "pair"),
    ),
    "hlsne": (
        "t-SNE with the Hellinger distance",
        lambda dof=1.0: Method(Hellinger(), Student(dof), "pair"),
    ),
    "sqsne": (
        "t-SNE with the squared difference of probabilities",
        lambda dof=1.0: Method(Square(), Student(dof), "pair"),
    ),
    "mds": ("metric multidimensional scaling: distances as they are", lambda: Method(Stress())),
    "sstress": ("MDS of squared distances: large ones rule", lambda: Method(SStress())),
    "sammon": ("Sammon's map: MDS in which small distances count as much as large", lambda: Method(Sammon())),
    "nmmds": (
        "MDS of distances that are normalized to sum to one",
        lambda normalization="pair": Method(Stress(), normalization=normalization),
    ),
    "nsammon": (
        "Sammon's map of distances that are normalized to sum to one",
        lambda normalization="pair": Method(Sammon(), normalization=normalization),
    ),
}


_REGISTERED: dict[str, Entry] = {}  # by the user, in this process
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


def entries() -> Iterator[Entry]:
    """Every entry of the catalogue, in the order in which the documentation presents them."""
    yield from (Entry(name, summary, compose) for name, (summary, compose) in _COMPOSITIONS.items())
    yield from _REGISTERED.values()


def methods() -> list[str]:
    """The names of the catalogue.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.methods()[:4]
    ['asne', 'ssne', 'tsne', 'tasne']
    """
    return [*_COMPOSITIONS, *_REGISTERED]


# What is asked for by names that are no methods, or other ones.
ELSEWHERE = {
    "umap": "'umap' is the published cost over all pairs; the map of UMAP's program is nearfield.UMAP",
    "pca": "principal components minimise no cost: nearfield.Embedder('pca') makes them",
}


def method(name: str, **parameters: Any) -> Method:
    """The method of this name, with parameters in place of its defaults.

    Parameters
    ----------
    name : str
        One of `methods()`, those of `register` among them.
    **parameters
        The entry's own: ``lam`` for NeRV, ``kappa`` for JSE, ``alpha`` for heavy-tailed SNE, ``dof``, …

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.method("nerv", lam=0.3).cost
    NeRV(lam=0.3)
    """
    if name in _REGISTERED:
        return _REGISTERED[name].build(**parameters)
    if name not in _COMPOSITIONS:
        alike = difflib.get_close_matches(str(name).lower(), methods(), n=1, cutoff=0.4)
        hint = f"did you mean {alike[0]!r}?" if alike else "nearfield.methods() lists them"
        hint = ELSEWHERE.get(str(name).lower(), hint)
        raise ValueError(f"no method is called {name!r}; {hint}")
    summary, compose = _COMPOSITIONS[name]
    return Entry(name, summary, compose).build(**parameters)


def register(name: str, compose: Method | Callable[..., Method], summary: str = "") -> None:
    """Give a composition of one's own a name, which this process then knows like those of the catalogue.

    Parameters
    ----------
    name : str
        Lower-case letters, digits, - and _; not one that is taken.
    compose : Method or callable
        The composition, or a function that makes it of parameters, each of which has a default.
    summary : str
        What it is, in a line; by default what it is composed of.

    Examples
    --------
    >>> import nearfield as nf
    >>> def cubed(power=3.0):
    ...     cost = nf.costs.Expression("abs(p - q)**power", power=power)
    ...     return nf.Method(cost, nf.kernels.Student(), "pair")
    >>> nf.register("cubed", cubed, "the difference of probabilities to a power")
    >>> nf.method("cubed", power=2.5).cost
    Expression('abs(p - q)**power', power=2.5)
    >>> nf.unregister("cubed")
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"a name is made of lower-case letters, digits, - and _, got {name!r}")
    if name in methods() or name == "pca":  # which is a map, but no method
        raise ValueError(f"the name {name!r} is taken; choose another one")
    if not isinstance(compose, Method) and not callable(compose):
        raise TypeError(f"register takes a nearfield.Method or what makes one, got {type(compose).__name__}")
    make: Callable[..., Method] = (lambda: compose) if isinstance(compose, Method) else compose
    entry = Entry(name, summary, make)
    for parameter, default in entry.parameters.items():
        if default is inspect.Parameter.empty:
            raise ValueError(f"the parameter {parameter} of {name!r} needs a default")
    made = make()
    if not isinstance(made, Method):
        raise TypeError(f"what makes {name!r} must return a nearfield.Method, got {type(made).__name__}")
    _REGISTERED[name] = Entry(name, summary or str(made), make)


def unregister(name: str) -> None:
    """Forget a name that `register` has given."""
    if name not in _REGISTERED:
        raise ValueError(f"no method was registered as {name!r}")
    del _REGISTERED[name]
