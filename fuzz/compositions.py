"""Methods as text: those of the catalogue, and compositions of every cost, kernel and normalization."""

from __future__ import annotations

from random import Random

import nearfield as nf

COSTS = (
    *("KL()", "ReverseKL()", "NeRV({x})", "JensenShannon({x})", "Square()", "ChiSquare()", "Hellinger()"),
    *("AlphaBeta({y}, {z})", "GeneralizedKL()", "GeneralizedReverseKL()", "GeneralizedNeRV({x})"),
    *("ElasticEmbedding({y})", "LargeVis({y})", "CrossEntropy()", "Stress()", "SStress()", "Sammon()"),
    "NegativeSampling({y})",
)
KERNELS = (
    *("Gaussian({y})", "Student()", "Student({y})", "HeavyTailed({x}, {y})", "UMAP({y}, {z})"),
    *("HeavyTailed({x}, learned=('alpha',))", "Inhomogeneous({y})", "Inhomogeneous({y}, learned=('nu',))"),
    "ImportanceWeighted(nf.kernels.Student())",
)
TRANSFORMS = ("Identity()", "Square()", "Power({y})")
SCALES = ("(0.5, 2.0)", "(1.0,)", "'auto'", "'transfer'", "'data'", "(1e-3, 1e3)")


def filled(dice: Random, text: str) -> str:
    """Numbers in their places: x in 0…1, y positive, z any; now and then what is none of these."""
    odd = dice.choice((0.0, 1.0, -1.0, 1e-12, 1e6, "np.nan", "np.inf")) if dice.random() < 0.08 else None
    x, y, z = dice.random(), dice.choice((0.3, 1.0, 2.5, 10.0)), dice.choice((-1.0, 0.0, 0.5, 1.0))
    return text.format(x=round(x, 2) if odd is None else odd, y=y if odd is None else odd, z=z)


def method(dice: Random) -> list[str]:
    """Lines that make a method."""
    if dice.random() < 0.55:
        return [f'method = nf.method("{dice.choice(nf.methods())}")']
    lines = [f"cost = nf.costs.{filled(dice, dice.choice(COSTS))}", "parts = {}"]
    distances = any(f".{name}(" in lines[0] for name in ("Stress", "SStress", "Sammon"))
    if not distances or dice.random() < 0.05:
        lines.append(f'parts["kernel"] = nf.kernels.{filled(dice, dice.choice(KERNELS))}')
    if dice.random() < 0.8 and not distances:
        lines.append(f'parts["normalization"] = "{dice.choice(("pair", "point", "joint", "none"))}"')
    if dice.random() < 0.15:
        lines.append(f'parts["transform"] = nf.transforms.{filled(dice, dice.choice(TRANSFORMS))}')
    if dice.random() < 0.15:
        lines.append(f'parts["scales"] = {dice.choice(SCALES)}')
    return [*lines, "method = nf.Method(cost, **parts)"]
