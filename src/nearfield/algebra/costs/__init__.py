"""Costs C(P, Q): what is minimised, one small class each.

>>> from nearfield import costs
>>> costs.JensenShannon(kappa=0.3)
JensenShannon(kappa=0.3)
>>> costs.named("js") == costs.JensenShannon()
True
"""

from nearfield.algebra.costs import distances, divergences, weights
from nearfield.algebra.costs.base import Cost, all_costs, named
from nearfield.algebra.costs.distances import *  # noqa: F403
from nearfield.algebra.costs.divergences import *  # noqa: F403
from nearfield.algebra.costs.expression import Expression
from nearfield.algebra.costs.facts import CostFacts, LimitTerm
from nearfield.algebra.costs.weights import *  # noqa: F403

# A class that its module lists in `__all__` is listed here.
__all__ = ["Cost", "CostFacts", "Expression", "LimitTerm", "all_costs", "named"]
__all__ += distances.__all__
__all__ += divergences.__all__
__all__ += weights.__all__
