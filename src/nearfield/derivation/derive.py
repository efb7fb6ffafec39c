"""A method's gradient: derived in symbols, checked in numbers, and what it means for the engines.

The symbols are `nearfield.derivation`. Here are the two steps that need an engine: whether the limit at
p = 0 lets the fast one compute it, and how far the derived formula is from finite differences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.algebra.catalogue import method as named
from nearfield.algebra.kernels.base import Kernel
from nearfield.algebra.method import Method
from nearfield.engine.check import differences
from nearfield.engine.exact.chain import exact
from nearfield.engine.mesh.one_scale import Mesh
from nearfield.engine.moments import Moments
from nearfield.engine.pairs import Pairs
from nearfield.engine.task import Task

if TYPE_CHECKING:
    from nearfield.derivation.closed import Closed
    from nearfield.derivation.derivation import Derivation
    from nearfield.derivation.limits import Limit
    from nearfield.derivation.steps import Step

POINTS = 12  # of the check
SCALES = (0.5, 2.0, 8.0)  # of the check, where those of a method come from the data
NUMBERS = ("no potential", "one potential", "two potentials", "three potentials", "four potentials")


def derive(method: Method | str, **parameters: Any) -> Derivation:
    """Derive the gradient of a method link by link, state its limit at p = 0, and check it.

    Parameters
    ----------
    method : str or Method
        A name of the catalogue, or a composition of one's own whose parts have an `expression`.
    **parameters
        With a name: its parameters.

    Returns
    -------
    Derivation
        `print` shows it as text; `.latex()`, `.markdown()` and `.html()` write it, a notebook renders it.

    Examples
    --------
    >>> import nearfield as nf
    >>> nf.derive("tsne")
    <derivation of tsne: ∂C/∂y_i = 4 Σ_j (p_ij − q_ij) w_ij (y_i − y_j)>
    >>> found = nf.derive("jse", kappa=0.3)
    >>> found.stiffness
    q*β*(KL(Q‖Z) + log(z/q))/κ
    >>> found.error < 1e-6, found.fast
    (True, True)
    """
    from nearfield.derivation.closed import closed
    from nearfield.derivation.derivation import Derivation
    from nearfield.derivation.limits import limit
    from nearfield.derivation.links import links
    from nearfield.derivation.steps import steps

    if isinstance(method, str):
        name, method = method, named(method, **parameters)
    elif parameters:
        raise TypeError("parameters go with a name: a Method has its own already")
    else:
        name = str(method)
    form = closed(links(method))
    at_zero = limit(form.links) if method.kernel is not None else None
    obstacle = Mesh.obstacle(Task(method))
    reason = _reason(method, at_zero, obstacle)
    error = _error(method)
    told = f"{error:.1e}" if np.isfinite(error) else None
    walk = (*steps(form), *_limit_steps(form, at_zero, reason), check_step(form, told))
    return Derivation(method, name, walk, form, at_zero, obstacle is None, reason, error)


def _limit_steps(form: Closed, at_zero: Limit | None, reason: str) -> list[Step]:
    """What becomes of the cost's derivative where p = 0, and what that means for the engines."""
    from sympy import Add, factor

    from nearfield.derivation.indices import Indices
    from nearfield.derivation.layout import Name, equation, laid
    from nearfield.derivation.steps import Step

    engine = Step("The fast engine", (reason,))
    if at_zero is None:
        return [engine]
    links, index, G = form.links, Indices(form.links), Name("G", "0")
    title = f"Where {links.target_letter} = 0"
    said: list[Any] = [
        f"Most pairs are no neighbours, and have {links.target_letter} = 0. There the derivative of the cost"
    ]
    if at_zero.value is None:
        return [Step(title, (*said, " has no finite limit.")), engine]
    found = [equation(G, index.of(at_zero.value))]
    if at_zero.floored:
        said += [" would be infinite, so it is taken at the floor ", laid("δ"), ", a stated approximation."]
    else:
        said += [" has a finite limit."]
    if links.normalized and not links.scales and at_zero.fields and at_zero.terms is not None:
        said += [" In terms of the weights it separates into functions of the sum times functions of w."]
        found.append(equation(G, index.of(Add(*(factor(c) * g for c, g in at_zero.terms)))))
    return [Step(title, tuple(said), tuple(found)), engine]


def _reason(method: Method, at_zero: Limit | None, obstacle: str | None) -> str:
    """Whether the fast engine applies, and why; from the facts that the plan goes by."""
    if obstacle is None and at_zero is None:
        return (
            "Where there are no neighbours, the limit of the cost's derivative was found in numbers. The"
            " gradient splits into edges and potentials: the fast engine applies, and takes near-linear time."
        )
    if obstacle is None and at_zero is not None:
        both = 2 if method.normalization == "point" or method.cost.facts.bound else 1
        bare = method.normalization == "none"
        constant = not bare or any(g == 1 for _, g in at_zero.terms or ())
        count = both * (len(at_zero.fields) + constant)
        each = " for each scale" if method.climbs or method.precisions != (1.0,) else ""
        fields = NUMBERS[count] if count < len(NUMBERS) else f"{count} potentials"
        floor = ", but for the floor," if at_zero.floored else ""
        return (
            f"Therefore the gradient splits exactly{floor} into edges, where there are neighbours, and"
            f" {fields}{each}, in which all points repel each other: the fast engine applies, and takes"
            " near-linear time."
        )
    if method.kernel is not None:
        return f"The fast engine does not apply, because {obstacle}: all pairs are computed."
    said = f"The fast engine does not apply: {obstacle}."
    if Moments.obstacle(Task(method, euclidean=True)) is None:
        return said + " But on Euclidean data these sums are moments, exact in time proportional to the data."
    if Pairs.obstacle(Task(method)) is None:
        return said + " But all pairs count alike, so that a random part of them can stand for the others."
    return said + " All pairs are computed."


def _error(method: Method) -> float:
    """The derived gradient against central differences of the cost, at a random map of random data."""
    from nearfield.derivation.closed import closed
    from nearfield.derivation.links import links
    from nearfield.derivation.numbers import evaluate

    random = np.random.default_rng(0)
    X, Y = random.normal(size=(POINTS, 4)), random.normal(size=(POINTS, 2))
    target = method.target(X, perplexity=4) if method.kernel is not None else method.target(X)
    if method.climbs:
        method = method._with(scales=SCALES)
    if method.kernel is not None:
        method = method._with(kernel=_sized(method.kernel).expanded(POINTS))
    engine = exact(method, target, n_jobs=1)

    def value(Y: Any, **parameters: Any) -> float:
        at = engine.method.with_parameters(**parameters) if parameters else engine.method
        return engine.evaluate(Y, method=at).value

    gradient, learned = evaluate(closed(links(method)), Y, target)
    errors = [_relative(differences(value, Y), gradient)]
    for name, derivative in learned.items():
        start = np.asarray(getattr(method.kernel, name), dtype=float)
        numeric = differences(lambda x, name=name: value(Y, **{name: x[()]}), start)
        errors.append(_relative(numeric, derivative))
    return max(errors)


def _sized(kernel: Kernel) -> Kernel:
    """The kernel with as many values of each parameter of points as the check has points."""
    arrays: dict[str, Any] = {name: np.resize(each, POINTS) for name, each in kernel._per_point().items()}
    if kernel.profile is not kernel:
        arrays["base"] = _sized(kernel.profile)
    return kernel._with(**arrays)


def _relative(numeric: Any, derived: Any) -> float:
    """The largest difference beside the norm of the gradient; as it is, where the gradient is zero."""
    with np.errstate(all="ignore"):
        return float(np.max(np.abs(numeric - derived)) / (np.linalg.norm(derived) or 1.0))


def check_step(form: Closed, error: str | None) -> Step:
    """What the check gave; None if the map was beyond the range of numbers."""
    from nearfield.derivation.layout import equation
    from nearfield.derivation.steps import Step

    values: list[Any] = []
    for symbol, value in form.links.values.items():
        if np.ndim(value) == 0 and form.links.names.get(symbol) not in form.links.method.cost.facts.bound:
            values += [", " if values else " at ", equation(symbol, _sympy(value))]
    scales = " and three scales" if form.links.method.climbs else ""
    said = (
        f"The formula was computed for a random map of {POINTS} points{scales}",
        *values,
        " and compared with central differences of the cost. ",
        "They leave the range of numbers, so that the check says nothing."
        if error is None
        else f"The largest difference, relative to the norm of the gradient, is {error}.",
    )
    return Step("The check", said)


def _sympy(value: float) -> Any:
    import sympy

    return sympy.nsimplify(value) if float(value).is_integer() else sympy.Float(value)
