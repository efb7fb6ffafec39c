"""Terms: whatever is added to a cost and depends on the map alone.

    C(Y) = C_embedding(Y) + Σ_t T_t(Y)

A term touches few points, and takes time in proportion to their number, on every engine and for every method.
Those below are there; another is a class with one method, `evaluate`:

>>> import numpy as np, nearfield as nf
>>> class Upwards(nf.terms.Term):
...     def evaluate(self, Y):
...         return -1e-3 * Y[7, 1], np.array([7]), np.array([[0.0, -1e-3]])
>>> run = nf.Run(np.random.default_rng(0).normal(size=(50, 5)), random_state=0)
>>> run.add(Upwards())
>>> run.step(10)
"""

from nearfield.steer.base import Measure, Term
from nearfield.steer.bounds import Box, Disc
from nearfield.steer.links import CannotLink, MustLink
from nearfield.steer.pulls import Pull

__all__ = ["Box", "CannotLink", "Disc", "Measure", "MustLink", "Pull", "Term"]
