"""Kernels w(f): how similarity falls with distance in the map, one small class each.

>>> from nearfield import kernels
>>> kernels.Student(dof=1.0).value(3.0)
0.25
"""

from nearfield.algebra.kernels.base import Kernel, KernelFacts, all_kernels, named
from nearfield.algebra.kernels.expression import Expression
from nearfield.algebra.kernels.importance import ImportanceWeighted
from nearfield.algebra.kernels.tails import Gaussian, HeavyTailed, Inhomogeneous, Student
from nearfield.algebra.kernels.umap import UMAP

__all__ = [
    "UMAP",
    "Expression",
    "Gaussian",
    "HeavyTailed",
    "ImportanceWeighted",
    "Inhomogeneous",
    "Kernel",
    "KernelFacts",
    "Student",
    "all_kernels",
    "named",
]
