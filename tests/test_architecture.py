"""Imports go one way, public names are lazy, and importing the package is quick."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import nearfield

SOURCE = Path(nearfield.__file__).parent
# Each station may import those before it, and its own.
GROUND = ["defaults", "typing", "checks", "parallel"]
STATIONS = [
    *GROUND,
    *("io", "algebra", "affinity", "engine", "steer", "descent", "judge", "derivation", "show", "comparison"),
    *("estimators", "umap", "anndata", "loading", "cluster", "studio", "cli"),
]
# Conveniences that import upwards, inside a function.
ALLOWED = {
    ("algebra/method.py", "affinity"),
    ("algebra/method.py", "engine"),
}


def station(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in STATIONS else None


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("nearfield"):
            if node.module == "nearfield":
                yield from (f"nearfield.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("nearfield."))


def test_imports_go_one_way():
    wrong = []
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        home = station("nearfield." + name.removesuffix(".py").replace("/", "."))
        for module in imports(path):
            to = station(module)
            if home is None or to is None or (name, to) in ALLOWED:
                continue
            if STATIONS.index(to) > STATIONS.index(home):
                wrong.append(f"{name} imports {module}")
    assert wrong == []


def test_every_public_name_is_there_and_lazy():
    for name in nearfield.__all__:
        assert getattr(nearfield, name) is not None
    assert set(nearfield.__all__) <= set(dir(nearfield))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nearfield.nothing


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, nearfield; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "scipy", "sklearn", "numba", "matplotlib", "sympy", "rich", "dask"} & set(
        loaded.split()
    )
