"""The page's modules as one text: for a file that is sent around, and for a notebook.

The modules under `page/` are small and import from each other by name alone. Each becomes a function that is
called once and returns what it exports, behind those that it imports from.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "page"
_IMPORT = re.compile(r'^import \{([\w, \n]*)\} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:class|const|function) (\w+))", re.MULTILINE)
_ELSE = re.compile(r"^(?:import\b|export (?!default\b)).*", re.MULTILINE)


@cache
def bundled(entry: str) -> str:
    """Return a module of `page/`, by its name, with all that it imports, as one module without imports.

    Examples
    --------
    >>> from nearfield.show.bundle import bundled
    >>> "import {" in bundled("view"), "class Camera" in bundled("view")
    (False, True)
    """
    modules: dict[str, str] = {}
    _collect(entry, modules)
    return "\n".join(modules.values())


def sheet() -> str:
    """Return the style sheet."""
    return (FOLDER / "style.css").read_text(encoding="utf-8")


def _collect(name: str, modules: dict[str, str], entry: bool = True) -> None:
    """Add a module behind those that it imports from."""
    text = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    for _, other in _IMPORT.findall(text):
        if other not in modules:
            _collect(other, modules, entry=False)
    exported = [each for _, each in _EXPORT.findall(text)]
    text = _EXPORT.sub(r"\1", _IMPORT.sub(r"const {\1} = $\2;", text))
    unknown = _ELSE.search(text)
    if unknown:
        raise ValueError(f"{name}.js has a line that cannot be bundled: {unknown.group()}")
    if entry:
        modules[name] = text
    else:
        modules[name] = f"const ${name} = (() => {{\n{text}\nreturn {{ {', '.join(exported)} }};\n}})();"
