"""The parts of methods that a file may hold, by name: it can make these and nothing else.

>>> import nearfield as nf
>>> from nearfield.io.packing import pack, unpack
>>> method = nf.Method(nf.costs.Expression("p*log(p/q)"), nf.kernels.Student(), "pair")
>>> unpack(pack(method, [], PARTS), [], PARTS) == method
True
"""

from __future__ import annotations

from nearfield.algebra import costs, kernels, transforms
from nearfield.algebra.method import Method
from nearfield.algebra.parts import Part

PARTS: dict[str, type[Part]] = {
    f"{family}.{name}": getattr(module, name)
    for family, module in (("costs", costs), ("kernels", kernels), ("transforms", transforms))
    for name in module.__all__
    if isinstance(getattr(module, name), type) and issubclass(getattr(module, name), Part)
} | {"Method": Method}
