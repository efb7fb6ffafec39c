"""The exact problem of a method, and the lowest costs that are known of it.

`references.json` has them; `python -m benchmarks.studies.references` writes it.
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks import FOLDER

FILE = FOLDER / "references.json"


def problem(name: str, X: Any) -> Any:
    """The exact problem of a method, with all pairs of P."""
    from nearfield import method
    from nearfield.descent.problem import Problem
    from nearfield.engine.exact.chain import exact

    found = method(name)
    if found.learned:
        found = found._with(kernel=found.kernel.expanded(len(X)))
    return Problem(exact(found, found.target(X)), (len(X), 2))


def known() -> dict[str, Any]:
    """All that the file has, by data and method."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def best(name: str, data: str) -> dict[str, float] | None:
    """The lower of the two minima, its AUC, and the cost of the start; None where nothing is known."""
    found = known().get(data, {}).get(name, {})
    ends = [found[start] for start in ("pca", "tsne") if start in found]
    return {"start": found["start"], **min(ends, key=lambda end: end["cost"])} if ends else None
