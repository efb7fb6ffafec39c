"""The page's modules as one text: for a file that is sent around, and for a notebook.

The modules under `page/` are small, and import from each other by name alone, with unique names at their top
level. So they can be written one after the other: what is imported comes first, the words import and export go.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "page"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z0-9]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:class|const|function)\b)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import\b|export (?!default\b)).*", re.MULTILINE)


@cache
def bundled(entry: str) -> str:
    """Return a module with all that it imports, as one module.

    Examples
    --------
    >>> from nearfield.show.bundle import bundled
    >>> "import" in bundled("events.js"), "class Events" in bundled("picking.js")
    (False, False)
    """
    order: dict[str, str] = {}
    _collect(entry, order)
    return "\n".join(order.values())


def sheet() -> str:
    """Return the style sheet."""
    return (FOLDER / "style.css").read_text(encoding="utf-8")


def _collect(name: str, order: dict[str, str]) -> None:
    """Add a module behind those that it imports."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    for needed in _IMPORT.findall(text):
        if needed not in order:
            _collect(needed, order)
    text = _EXPORT.sub("", _IMPORT.sub("", text))
    left = _LEFT.search(text)
    if left:
        raise ValueError(f"{name} has a line that cannot be bundled: {left.group()}")
    order[name] = f"// {name}\n{text}"
