"""What a method preserves and what it gives up, in words, from the facts that its parts declare.

No name of a method occurs here: costs and kernels are asked what they do with a pair of points, so that a
composition of one's own is described as well as one of the catalogue.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nearfield.affinity.perplexity import check_perplexity
from nearfield.algebra.catalogue import entries
from nearfield.algebra.costs import Cost
from nearfield.algebra.kernels import Kernel
from nearfield.algebra.method import Method
from nearfield.typing import Array

NEIGHBOUR, STRANGER = 0.1, 0.001  # the p, or q, of a pair of neighbours and of one of strangers
GONE = 1e-12  # the q of a neighbour that was torn off altogether
LEANS = 2.0  # how much dearer one mistake must be than the other to be called so
REMOTE = 100.0  # times the squared width of the kernel
HEAVY = 1e-4  # of what is near: a weight that is still felt out there


def character(method: Method | None, n: int, perplexity: Any = None) -> tuple[str, str]:
    """What a method preserves, and what it gives up.

    Parameters
    ----------
    method : Method or None
        The composition; None is the principal components.
    n : int
        How many points there are.
    perplexity : float, list, str or None
        That was asked for.

    Examples
    --------
    >>> import nearfield as nf
    >>> character(nf.method("mds"), 100)[0]
    'All distances between points, as well as two dimensions allow. Large ones, and with them the overall shape, weigh most.'
    """  # noqa: E501
    if method is None:
        return (
            "A straight projection, onto the two directions in which the data vary most. Large distances and"
            " the overall shape survive, and the two axes have a meaning that can be looked up.",
            "All other directions are dropped: points that differ only there fall on each other, so that"
            " neighbours in the map need not be neighbours in the data.",
        )
    if method.kernel is None:
        return _of_distances(method)
    several = bool(method.scales) or isinstance(perplexity, str | list | tuple)
    told = [_of_scales(several, n, perplexity), _of_mistakes(method.cost), _of_tails(method.kernel, several)]
    if method.normalization == "point":
        told.append(("Every point counts the same, in dense and in sparse regions.", ""))
    keeps, gives = (" ".join(sentence for sentence in each if sentence) for each in zip(*told, strict=True))
    return keeps, gives


def summary(name: str, method: Method | None) -> str:
    """What the catalogue says of the method of this name; nothing of another composition.

    >>> summary("pca", None)
    'principal components: the shadow of the data in which they vary most'
    """
    if method is None:
        return "principal components: the shadow of the data in which they vary most"
    known = {entry.name: entry for entry in entries()}
    entry = known.get(name.partition("(")[0])
    return entry.summary if entry and type(entry.build().cost) is type(method.cost) else ""


def _of_distances(method: Method) -> tuple[str, str]:
    cost = method.cost
    keeps = "All distances between points, as well as two dimensions allow."
    if method.normalization != "none":
        keeps = "The proportions of all distances, as well as two dimensions allow."
    gives = (
        "Most pairs of points are far apart, and they decide: who is next to whom is settled last, and groups"
        " tend to overlap."
    )
    if cost.facts.power_difference is not None and cost.facts.power_difference > 1:
        return f"{keeps} The largest ones rule, for their powers are compared.", (
            "Small distances hardly count: what happens within a group is left to chance."
        )
    if cost.facts.least_squares is not None and cost.facts.least_squares < 0:
        return f"{keeps} Errors count by the size of the distance: small ones have a say beside large.", (
            "Small distances are still outnumbered by the many large ones, so that many neighbours are lost"
            " all the same."
        )
    if cost.facts.least_squares is not None:
        return f"{keeps} Large ones, and with them the overall shape, weigh most.", gives
    return keeps, gives


def _of_scales(several: bool, n: int, perplexity: Any) -> tuple[str, str]:
    if several:
        return (
            "Neighbourhoods of many sizes at once, from a few points to a large part of the data: detail, and"
            " how groups lie to each other.",
            "It is a compromise: one size alone could be kept better.",
        )
    size = float(np.median(check_perplexity(perplexity, n)))
    return (
        f"Who is near whom: a neighbourhood of about {size:.0f} points around each.",
        "Beyond that nothing is asked for: how far groups lie from each other says little.",
    )


def _of_mistakes(cost: Cost) -> tuple[str, str]:
    lean = leaning(cost)
    if lean > LEANS:
        return (
            "Missing a neighbour is the costly mistake, so what is near in the data is drawn together.",
            "Some strangers are let in between.",
        )
    if lean < 1 / LEANS:
        return (
            "Showing a false neighbour is the costly mistake, so what is near in the map is so in the data.",
            "Some neighbours are torn apart, and a group may come in several pieces.",
        )
    keeps = "Missed and false neighbours cost about the same."
    if tears(cost):
        return keeps, "Where that helps the rest, some neighbours are torn off: a group may come in pieces."
    return f"{keeps} Both become dear when they are grave.", "Some small mistakes of both kinds remain."


def leaning(cost: Cost) -> float:
    """How much dearer it is to miss a neighbour than to show a false one.

    The cost of a pair is taken above its tangent at q = p, for what is linear in q has no say where all q
    sum to one.

    Examples
    --------
    >>> import nearfield as nf
    >>> round(leaning(nf.costs.KL()), 1), round(leaning(nf.costs.ReverseKL()), 1)
    (3.8, 0.3)
    >>> round(leaning(nf.costs.NeRV(0.5)), 6)
    1.0
    """
    p, q = np.array([NEIGHBOUR, STRANGER]), np.array([STRANGER, NEIGHBOUR])
    missed, false = _above_tangent(cost, p, q)
    return float(missed / false) if false > 0 else float("inf")


def tears(cost: Cost) -> bool:
    """Whether a neighbour may be torn off altogether for little more than was paid for moving it away.

    Examples
    --------
    >>> import nearfield as nf
    >>> tears(nf.costs.JensenShannon()), tears(nf.costs.NeRV(0.5))
    (True, False)
    """
    away, gone = _above_tangent(cost, np.array([NEIGHBOUR, NEIGHBOUR]), np.array([STRANGER, GONE]))
    return bool(gone < LEANS * away)


def _above_tangent(cost: Cost, p: Array, q: Array) -> Array:
    result: Array = cost.value(p, q) - cost.value(p, p) - cost.derivative(p, p) * (q - p)
    return result


def _of_tails(kernel: Kernel, several: bool) -> tuple[str, str]:
    kernel = kernel.between(0, 0)  # of parameters that differ from point to point, those of the first
    f = np.array([0.0, REMOTE * kernel.width**2])
    near, remote = kernel.value(f)
    if remote > HEAVY * near:
        return (
            "Pairs that are not close may drift apart at little cost, so that groups stand apart clearly.",
            "Gaps and the sizes of groups are not to be measured: gaps come out too wide, groups too tight.",
        )
    if several:
        return "", "It takes longer than one size."
    return (
        "Distances that are neither small nor large stay in proportion.",
        "Groups lie close together, and their borders may touch.",
    )
