"""Formulas that the code does not say, and whether they compute to what it computes."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import numpy as np
from latex import evaluate

import nearfield as nf
from nearfield.algebra import transforms
from nearfield.algebra.costs import Cost, all_costs
from nearfield.algebra.kernels import all_kernels

TRANSFORMS = {"Square": ("d^2", "2d"), "Identity": ("d", "1"), "Power": ("d^t", "t d^{t-1}")}

# Each parameter: its letter in the formulas, and what it does; "Class.name" goes before "name", and a
# docstring that describes it before both.
PARAMETERS = {
    "lam": (r"\lambda", "the share of missed neighbours in the cost; the rest is for false ones"),
    "ElasticEmbedding.lam": (r"\lambda", "the strength of the repulsion"),
    "kappa": (r"\kappa", "the share of P in the mixture, from 0 to 1"),
    "floor": (r"\delta", "the least p that is reckoned with where p = 0 would cost infinitely much"),
    "gamma": (r"\gamma", "the strength of the repulsion"),
    "epsilon": (r"\epsilon", "keeps the repulsion of coincident points finite"),
    "a": ("a", "the power of p"),
    "b": ("b", "the power of q"),
    "UMAP.a": ("a", "how soon the weight falls"),
    "UMAP.b": ("b", "the power with which it falls: the tail goes as the distance to the -2b"),
    "alpha": (r"\alpha", "the weight of the tail"),
    "beta": (r"\beta", "the precision: the kernel's width goes with its inverse root"),
    "dof": (r"\nu", "degrees of freedom; fewer make a heavier tail"),
    "nu": (r"\nu_i", "degrees of freedom of each point"),
    "learned": ("", "which of the parameters are learned along with the map"),
    "exponent": ("t", "the power"),
    "base": ("", "the kernel that is weighted"),
    "mass": ("", "the weights of the points"),
    "rate": ("m", "how many points are drawn for each edge, times the strength of their repulsion"),
    "share": ("s", "the share of a pair in what is drawn: that of its two points, from the target"),
}
# Where the limit as p → 0 holds, if it is not everywhere.
LIMIT_HOLDS = {"AlphaBeta": "for a > 0 and a + b > 0", "JensenShannon": "for κ < 1"}
LETTERS = {"probabilities": ("p", "q"), "weights": ("v", "w"), "distances": ("r", "d")}


def parameters(cls: type) -> dict[str, Any]:
    """The parameters of a part and their defaults."""
    return {f.name: f.default for f in dataclasses.fields(cls) if f.init}


def letters_of(cls: type[Cost]) -> tuple[str, str]:
    """The letters of data and map in a cost's formula: p and q, v and w, or r and d."""
    return next(pair for domain, pair in LETTERS.items() if domain in cls().facts.domains)


def all_transforms() -> list[type[transforms.Transform]]:
    """Every transform class of the library."""
    classes = [getattr(transforms, name) for name in transforms.__all__ if name != "Transform"]
    return sorted(classes, key=lambda cls: inspect.getsourcelines(cls)[1])


def wrong_formulas() -> list[str]:
    """The formulas that do not compute to what the code computes, each with what is wrong."""
    random = np.random.default_rng(0)
    found = []

    def compare(what: str, formula: str, letters: dict[str, Any], expected: Any) -> None:
        got = evaluate(formula, letters)
        if not np.allclose(got, expected, rtol=1e-4, atol=1e-6):
            found.append(f"{what}: {formula} is not what the code computes")

    # The printed repulsion of LargeVis and UMAP is that of ε → 0, and δ must not be lost beside p.
    special = {"epsilon": 1e-6, "kappa": 0.3, "lam": 0.3, "a": 0.7, "b": 0.4, "floor": 1e-9}
    for cls in all_costs():
        chosen = {name: special[name] for name in parameters(cls) if name in special}
        cost = cls(**chosen)
        p, q = random.uniform(0.1, 0.9, size=(2, 20))
        values = {name: getattr(cost, name) for name in parameters(cls)}
        letters = {PARAMETERS[name][0]: value for name, value in values.items()}  # the same with a class
        letters |= dict(zip(letters_of(cls), (p, q), strict=True))
        letters["z"] = cost.kappa * p + (1 - cost.kappa) * q if hasattr(cost, "kappa") else None
        derivative, limit = cls.derivative_formula, cls.limit_formula
        compare(cls.__name__, cls.formula, letters, cost.value(p, q))
        compare(f"{cls.__name__}, derivative", derivative, letters, cost.derivative(p, q))
        terms = cost.limit()
        if (terms is None) != (limit == ""):
            found.append(f"{cls.__name__}: the limit is declared in one of code and documentation only")
        elif terms is not None:
            S = 3.0 if "probabilities" in cls().facts.domains else 1.0
            declared = sum((t.coefficient(S) * t.slope(S * q) for t in terms), np.zeros_like(q))
            compare(f"{cls.__name__}, limit declared", limit, letters, declared)
            compare(f"{cls.__name__}, limit", limit, letters, cost.derivative(np.zeros_like(p), q))
    f = random.uniform(0.1, 9, size=20)
    for kernel_class in all_kernels():
        if kernel_class is nf.kernels.ImportanceWeighted:
            continue  # its formula is in terms of another kernel's
        kernel = kernel_class()
        values = {name: getattr(kernel, name) for name in parameters(kernel_class)}
        letters = {PARAMETERS[name][0]: value for name, value in values.items()}
        letters |= {"f": f, "w": kernel.value(f), "e": np.e}
        compare(kernel_class.__name__, kernel_class.formula, letters, kernel.value(f))
        derivative = kernel_class.derivative_formula
        compare(f"{kernel_class.__name__}, derivative", derivative, letters, kernel.derivative(f))
    for transform_class in all_transforms():
        transform = transform_class()
        value, derivative = TRANSFORMS[transform_class.__name__]
        letters = {"d": f, "t": getattr(transform, "exponent", None)}
        compare(transform_class.__name__, value, letters, transform.value(f))
        compare(f"{transform_class.__name__}, derivative", derivative, letters, transform.derivative(f))
    return found
