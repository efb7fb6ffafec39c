"""Methods as JSON can hold them, and back: a file names parts of the library, and can make nothing else.

>>> import nearfield as nf
>>> method = nf.Method(nf.costs.Expression("p*log(p/q)"), nf.kernels.Student(), "pair")
>>> from_record(record(method)) == method
True
"""

from __future__ import annotations

from typing import Any

from nearfield.algebra import costs, kernels, transforms
from nearfield.algebra.method import Method
from nearfield.algebra.parts import Part

PARTS: dict[str, type[Part]] = {
    f"{family}.{name}": getattr(module, name)
    for family, module in (("costs", costs), ("kernels", kernels), ("transforms", transforms))
    for name in module.__all__
    if isinstance(getattr(module, name), type) and issubclass(getattr(module, name), Part)
} | {"Method": Method}
NAMES = {kind: name for name, kind in PARTS.items()}


def record(part: Any) -> Any | None:
    """A part as plain dicts, lists, numbers and texts; None if it has what these cannot hold."""
    if part is None or isinstance(part, (bool, int, float, str)):
        return {"value": part}
    if isinstance(part, tuple):
        inside = [record(each) for each in part]
        return None if None in inside else {"tuple": inside}
    if type(part) not in NAMES:
        return None
    arguments = {name: record(value) for name, value in part._arguments().items()}
    if None in arguments.values():
        return None
    return {"is": NAMES[type(part)], "with": arguments}


def from_record(recorded: Any) -> Any:
    """What `record` was given."""
    if not isinstance(recorded, dict) or not {"value", "tuple", "is"} & recorded.keys():
        raise ValueError("this is no record of a method")
    if "value" in recorded:
        value = recorded["value"]
        if not (value is None or isinstance(value, (bool, int, float, str))):
            raise ValueError("this is no record of a method")
        return value
    if "tuple" in recorded:
        return tuple(from_record(each) for each in recorded["tuple"])
    if recorded["is"] not in PARTS:
        raise ValueError(f"nearfield has no part that is called {recorded['is']!r}")
    arguments = {name: from_record(each) for name, each in recorded["with"].items()}
    try:
        return PARTS[recorded["is"]](**arguments)
    except TypeError as error:
        raise ValueError(f"this is no record of a method: {error}") from error
