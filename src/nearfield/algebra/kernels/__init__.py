"""Kernels w(f): how similarity falls with distance in the map, one small class each.

>>> from nearfield import kernels
>>> kernels.Student(dof=1.0).value(3.0)
0.25
"""

from nearfield.algebra.kernels import importance, tails, umap
from nearfield.algebra.kernels.base import Kernel, KernelFacts, all_kernels, named
from nearfield.algebra.kernels.expression import Expression
from nearfield.algebra.kernels.importance import *  # noqa: F403
from nearfield.algebra.kernels.tails import *  # noqa: F403
from nearfield.algebra.kernels.umap import *  # noqa: F403

# A class that its module lists in `__all__` is listed here.
__all__ = ["Expression", "Kernel", "KernelFacts", "all_kernels", "named"]
__all__ += importance.__all__
__all__ += tails.__all__
__all__ += umap.__all__
