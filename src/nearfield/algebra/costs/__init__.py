"""Costs C(P, Q): what is minimised, one small class each.

>>> from nearfield import costs
>>> costs.JensenShannon(kappa=0.3)
JensenShannon(kappa=0.3)
>>> costs.named("js") == costs.JensenShannon()
True
"""

from nearfield.algebra.costs.base import Cost, all_costs, named
from nearfield.algebra.costs.distances import Sammon, SStress, Stress
from nearfield.algebra.costs.divergences import (
    KL,
    AlphaBeta,
    ChiSquare,
    Hellinger,
    JensenShannon,
    NeRV,
    ReverseKL,
    Square,
)
from nearfield.algebra.costs.expression import Expression
from nearfield.algebra.costs.facts import CostFacts, LimitTerm
from nearfield.algebra.costs.weights import (
    CrossEntropy,
    ElasticEmbedding,
    GeneralizedKL,
    GeneralizedNeRV,
    GeneralizedReverseKL,
    LargeVis,
)

__all__ = [
    "KL",
    "AlphaBeta",
    "ChiSquare",
    "Cost",
    "CostFacts",
    "CrossEntropy",
    "ElasticEmbedding",
    "Expression",
    "GeneralizedKL",
    "GeneralizedNeRV",
    "GeneralizedReverseKL",
    "Hellinger",
    "JensenShannon",
    "LargeVis",
    "LimitTerm",
    "NeRV",
    "ReverseKL",
    "SStress",
    "Sammon",
    "Square",
    "Stress",
    "all_costs",
    "named",
]
