"""Formulas as text: read into a small tree of our own, which is evaluated, differentiated and typeset.

The text itself is never evaluated. `parse` admits numbers, names, arithmetic and a handful of functions;
whatever else there is, is refused with a line that says what.

>>> from nearfield.algebra.expressions import numeric, parse, symbolic
>>> tree = parse("p*log(p/q)", ("p", "q"))
>>> symbolic(tree)
p*log(p/q)
>>> float(numeric(tree, ("p", "q"))(1.0, 1.0))
0.0
"""

from nearfield.algebra.expressions.numeric import numeric
from nearfield.algebra.expressions.parsing import parse
from nearfield.algebra.expressions.slopes import slope
from nearfield.algebra.expressions.symbolic import from_symbolic, symbolic
from nearfield.algebra.expressions.tree import FUNCTIONS, Apply, Name, Number, Tree

__all__ = [
    "FUNCTIONS",
    "Apply",
    "Name",
    "Number",
    "Tree",
    "from_symbolic",
    "numeric",
    "parse",
    "slope",
    "symbolic",
]
