"""Settings: every option of a map once, with its default, what is refused, and what documents it.

`Run`, the estimators and the command line have their options from here. A new one is a field of `Common`, and
nothing else: it is then a keyword of all of them, checked, documented, and in the files of runs.

Nothing that takes time to import is imported before it is needed, for the command line's sake.
"""

from __future__ import annotations

import difflib
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import wraps
from numbers import Real
from os import PathLike, fspath
from typing import Any, TypeVar

from nearfield.defaults import ACCURACY, MAX_ITER

ATTRACTIONS = (0.01, 1000.0)  # from the weakest to the strongest

Class = TypeVar("Class", bound=type)

# What people say who come from elsewhere, and what to say here.
ELSEWHERE = {
    "n_neighbors": "perplexity, which is about a third of it, or nearfield.UMAP, which has n_neighbors",
    "min_dist": "nearfield.UMAP, which has it, or the kernel, such as nearfield.method('hssne', alpha=0.5)",
    "n_iter": "max_iter",
    "n_epochs": "max_iter",
    "seed": "random_state",
    "early_exaggeration": "exaggeration",
    "initialization": "init",
    "dof": "the method, such as nearfield.method('hssne', alpha=0.5)",
}


def option(
    default: Any,
    kind: str,
    text: str,
    check: Callable[[str, Any], Any] | None = None,
    more: Callable[[], str] | None = None,
) -> Any:
    """A field: its default, its kind as numpydoc writes it, what it does, and what refuses it.

    A check may return the value in a plainer form; `more` is what else there is to say, once it is asked for.
    """
    text = " ".join(text.split())
    return field(default=default, metadata={"kind": kind, "text": text, "check": check, "more": more})


def _engines() -> str:
    from nearfield.engine.plan import in_words

    return f" {in_words()}."


def _positive(name: str, value: Any) -> int:
    from nearfield.checks import whole

    return whole(name, value, 1)


def _natural(name: str, value: Any) -> int | None:
    from nearfield.checks import whole

    return None if value is None else whole(name, value, 0)


def _seed(name: str, value: Any) -> None:
    from nearfield.descent.starts import random_numbers

    random_numbers(value)


def _start(name: str, value: Any) -> None:
    from nearfield.descent.starts import STARTS

    if isinstance(value, str) and value not in STARTS:
        raise ValueError(f"{name} must be one of {', '.join(STARTS)}, or an array, got {value!r}")


def _accuracy(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not 1e-6 <= float(value) <= 0.3:
        raise ValueError(f"{name} must be between 1e-6 and 0.3, got {value!r}")


def _attraction(name: str, value: Any) -> float:
    low, high = ATTRACTIONS
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= float(value) <= high:
        raise ValueError(
            f"{name} must be a number from {low:g} to {high:g}, got {value!r}; 1 is the method as it is"
        )
    return float(value)


def _share(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < 1:
        raise ValueError(f"{name} must be a number from 0 to below 1, got {value!r}; 0 ignores all labels")
    return float(value)


def _path(name: str, value: Any) -> str | None:
    if value is not None and not (isinstance(value, (str, PathLike)) and fspath(value)):
        raise ValueError(f"{name} must be the name of a file, got {value!r}")
    return None if value is None else str(fspath(value))


def parameters(name: str, value: Any) -> None:
    """Refuse what are no further arguments of a function."""
    if value is not None and not (isinstance(value, dict) and all(isinstance(each, str) for each in value)):
        raise ValueError(f"{name} must be a dict of names and values, such as {{'p': 3}}, got {value!r:.80}")


def _landmarks(name: str, value: Any) -> None:
    from nearfield.affinity.landmarks import check_landmarks

    check_landmarks(name, value)


def _choice(name: str, value: Any) -> None:
    from nearfield.affinity.landmarks import check_choice

    check_choice(name, value)


def _mapping(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"{name} must be a dict of positions, such as {{3: (10, 0)}}, got {value!r}")


def _function(name: str, value: Any) -> None:
    if value is not None and not callable(value):
        raise ValueError(f"{name} must be a function of the run, got {value!r}")


@dataclass(kw_only=True, eq=False, repr=False)
class Common:
    """The options that all have, under the same names."""

    n_components: int = option(2, "int", "The dimensions of the map.", _positive)
    perplexity: Any = option(
        None,
        "float, array, list, 'multiscale' or FuzzyNeighbours, optional",
        """How many neighbours a point has, for all points or, as an array, for each; a list, or
        "multiscale" for 2, 4, 8, … up to half of the points, averages over several; `FuzzyNeighbours` for
        weights as UMAP has them. By default the method's own: 30, a third of few points, or all scales.
        Costs of distances have none.""",
    )
    metric: Any = option(
        "euclidean",
        "str or callable",
        """Any metric of scikit-learn, or "hellinger", "inner_product" or "tanimoto"; "precomputed" for a
        distance matrix, for a sparse one of neighbours alone, as `kneighbors_graph` gives it, or for
        neighbours as a tuple (indices, distances); "affinity" for a ready P. Euclidean, cosine, correlation,
        Hellinger's and inner products are fast at any size, and so are Jaccard's (Tanimoto's) and Hamming's
        distance of bits; sparse data included.""",
    )
    metric_params: dict[str, Any] | None = option(
        None, "dict, optional", "Further arguments of the metric.", parameters
    )
    init: Any = option(
        "pca",
        "{'pca', 'random', 'spectral'} or array (points, n_components)",
        """The starting positions. Without data, "pca" is the classical scaling of the distances for a cost
        of distances, and "spectral", the slowest modes of the graph of P, for all others. An array is taken
        as it is, and as a map already if it is wider than the kernel; but a projection of the data, however
        wide, is a start, and scaled as "pca" is. Rows of NaN in it are free: they begin amid their
        neighbours.""",
        _start,
    )
    optimizer: str = option(
        "auto",
        "{'auto', 'momentum', 'lbfgs', 'smacof', 'flow'}",
        """How the cost is minimised. By default momentum for a cross-entropy with a heavy-tailed kernel
        (t-SNE and its kin), SMACOF for the plain stress, and L-BFGS for all others, before which t-SNE lays
        out the map of those with a kernel of one scale. A name: that one from the first iteration on. "flow"
        follows the forces with a rate that falls to nothing, as UMAP does.""",
    )
    learning_rate: Any = option(
        "auto",
        "float or 'auto'",
        """The step size of momentum. A number means what it means in scikit-learn: it goes with momentum 0.5
        and 0.8.""",
    )
    attraction: float = option(
        1.0,
        "float",
        """How many times as strongly neighbours attract each other, to the end, as in the method itself: 4
        makes of t-SNE something like UMAP, 30 draws continua out, and below 1 there is more room within
        clusters. What is minimised, and told as cost, is C - (attraction - 1) Σ p log w. Below 1 a normalized
        method has no minimum with heavy tails: the map grows until it is ended, after 100 iterations of the
        last phase. Costs of distances and of another degree than 1, and several scales, have none.""",
        _attraction,
    )
    supervision: float = option(
        0.0,
        "float",
        """How much labels have a say, from 0, where they are ignored, to below 1: between points of different
        known labels, p is multiplied by 1 - supervision before P is made symmetric. A label that is None,
        NaN or -1 is not known. Costs of distances have no P, and so none.""",
        _share,
    )
    engine: str = option(
        "auto",
        "{'auto'} or the name of an engine",
        """How value and gradient are computed: "auto", or an engine such as "exact" or "mesh". The plan says
        what "auto" chose, and why.""",
        more=_engines,
    )
    accuracy: float = option(
        ACCURACY, "float", "Of the mesh engine: the error of the repulsive force, relative to it.", _accuracy
    )
    random_state: Any = option(
        None,
        "int, RandomState or None",
        "Of random starts. The same seed gives the same map, on any number of threads.",
        _seed,
    )
    n_jobs: int | None = option(None, "int or None", "Threads; None is all cores.")
    checkpoint: Any = option(
        None,
        "path-like, optional",
        """A file to which the state is written on the way, and from which the same run goes on if it is
        there: bit for bit as if nothing had ended it. One of other data or options is refused. `fit` deletes
        it when it is done; after Ctrl-C, and with a `Run`, it stays.""",
        _path,
    )
    checkpoint_every: int | None = option(
        None,
        "int, optional",
        """After how many iterations it is written; by default every half minute, or so seldom that a
        hundredth of the time goes into it.""",
        lambda name, value: None if value is None else _positive(name, value),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Settings(Common):
    """All options of a `Run`.

    Examples
    --------
    >>> Settings(perplexity=10).perplexity
    10
    >>> check(Settings(accuracy=2))
    Traceback (most recent call last):
        ...
    ValueError: accuracy must be between 1e-6 and 0.3, got 2
    """

    exaggeration: Any = option(
        "auto",
        "float or 'auto'",
        """By how much attraction is strengthened at first; "auto" is 12 for momentum and 4 for L-BFGS, and
        1 for costs that have no attraction to measure it by (distances, squared differences) and for a
        start that is a map already. Where t-SNE lays the map out, it is that of t-SNE.""",
    )
    exaggeration_iter: int | None = option(
        None,
        "int, optional",
        "For how many iterations: 60 for momentum, which takes it back by and by, and 50 for L-BFGS.",
        _natural,
    )
    rate_iter: int | None = option(
        None,
        "int, optional",
        """Of the flow: in how many iterations its rate falls to nothing; 500, and 200 for more than 10 000
        points.""",
        _natural,
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Fitting:
    """The options of an estimator beside those of the run that it drives."""

    max_iter: int | None = option(
        MAX_ITER,
        "int",
        "A ceiling on the iterations.",
        lambda name, value: None if value is None else _positive(name, value),
    )
    tol: float | None = option(
        None,
        "float, optional",
        """The run ends when the cost changes by less than this share within some iterations; by default,
        when 500 more would gain next to nothing. See `Run.converge`.""",
    )
    quick: bool = option(
        False,
        "bool",
        """Whether to end as soon as the map looks about right, in about half of the iterations; it has then
        seldom converged.""",
    )
    callback: Callable[[Any], Any] | None = option(
        None,
        "callable, optional",
        "Called with the `Run` every 10 iterations; True from it ends the run.",
        _function,
    )
    pins: dict[int, Any] | None = option(
        None,
        "dict of int to position, optional",
        """Points that are put somewhere, exactly, and whose neighbours follow: 5 % of all points, those
        nearest in the map before the move. That is `init`, if it is an array and wider than the kernel, or
        a map that is made first.""",
        _mapping,
    )
    landmarks: Any = option(
        None,
        "int or array of int, optional",
        """Make the map of so many rows, or of those with these numbers, and place all others in it one by
        one: for more rows than a map can be made of, or than memory holds.""",
        _landmarks,
    )
    landmark_choice: str = option(
        "random",
        "{'random', 'thinned'}",
        """How that many landmarks are chosen, by `random_state`: every row as likely as any other; or so that
        dense regions do not take all, each row in proportion to the square root of the room around it, from
        four times as many.""",
        _choice,
    )
    verbose: Any = option(False, "bool or int", "Whether to show progress.")


# Options that change how a map is made and not which one: no file has them, and they may be others next time.
FREE = ("n_jobs", "checkpoint", "checkpoint_every")

OPTIONS = {each.name: each.metadata for kind in (Settings, Fitting) for each in fields(kind)}


def check(options: Any) -> dict[str, Any]:
    """Refuse, of the options that some object has, what is wrong whatever the data are.

    What is returned are those that a check has brought into a plainer form, such as NumPy's numbers.
    """
    checks = ((each.name, each.metadata.get("check")) for each in fields(options))
    found = {name: refuse(name, getattr(options, name)) for name, refuse in checks if refuse is not None}
    return {name: value for name, value in found.items() if value is not None}


def shared(options: Any) -> dict[str, Any]:
    """The values of the `Settings` that some object has under the same names."""
    names = {each.name for each in fields(Settings)}
    return {each.name: getattr(options, each.name) for each in fields(options) if each.name in names}


def check_one_run(name: str, options: dict[str, Any]) -> None:
    """Refuse the options of a single run where there are several."""
    for each in ("checkpoint", "checkpoint_every"):
        if options.get(each) is not None:
            raise ValueError(f"{name} makes several runs, and a checkpoint is of one: leave out {each}")


def settings_of(name: str, options: dict[str, Any]) -> Settings:
    """The settings of some keywords, checked; what is unknown is refused with what was probably meant."""
    _refuse_unknown(name, options, [each.name for each in fields(Settings)])
    return Settings(**options | check(Settings(**options)))


def takes_settings(settings: type) -> Callable[[Class], Class]:
    """Give a class whose constructor takes ``**options`` the signature and the documentation of these."""

    def described(kind: Class) -> Class:
        signature = inspect.signature(kind.__init__)  # type: ignore[misc]
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        more = [each for name, each in inspect.signature(settings).parameters.items()]
        kind.__init__.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[misc]
        kind.__doc__ = documented(kind.__doc__ or "", fields(settings))
        return kind

    return described


def takes_options(kind: Class) -> Class:
    """Document the fields of a dataclass, and let its constructor name the fix of an unknown option."""
    init = kind.__init__  # type: ignore[misc]
    known = [name for name in inspect.signature(init).parameters if name != "self"]

    @wraps(init)
    def constructor(self: Any, *arguments: Any, **options: Any) -> None:
        _refuse_unknown(kind.__name__, options, known)
        init(self, *arguments, **options)

    kind.__init__ = constructor  # type: ignore[misc]
    kind.__doc__ = documented(kind.__doc__ or "", fields(kind))
    return kind


def _refuse_unknown(name: str, options: dict[str, Any], known: Any) -> None:
    """Raise a TypeError that names the option which was probably meant."""
    from nearfield.algebra.catalogue import entries

    for each in options:
        if each in known:
            continue
        alike = difflib.get_close_matches(each, known, n=1)
        if any(each in entry.parameters for entry in entries()):
            hint = f"it is a parameter of methods: pass nearfield.method(name, {each}=…) as method"
        elif each in ELSEWHERE:
            hint = f"use {ELSEWHERE[each]}"
        else:
            hint = f"did you mean {alike[0]!r}?" if alike else f"it may be {', '.join(known)}"
        raise TypeError(f"{name} takes no option {each!r}: {hint}")


def documented(text: str, options: Any) -> str:
    """A docstring with what some options are in place of its line ``{options}``."""
    written = "\n".join(_sentence(each) for each in options if "text" in each.metadata)
    lines = [line for line in text.splitlines() if line.strip() == "{options}"]
    if not lines:
        return text
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return text.replace(lines[0], textwrap.indent(written, margin))


def _sentence(each: Field[Any]) -> str:
    """An option as numpydoc writes it."""
    default = "" if each.default in (None, MISSING) else f", default {each.default!r}"
    more = each.metadata["more"]
    text = each.metadata["text"] + (more() if more is not None else "")
    body = textwrap.fill(text, 100, initial_indent="    ", subsequent_indent="    ")
    return f"{each.name} : {each.metadata['kind']}{default}\n{body}"
