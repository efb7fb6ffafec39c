"""A new cost is one class in one file: the one that CONTRIBUTING shows, laid beside the others."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nearfield as nf

ROOT = Path(__file__).parents[2]
CODE = """
import numpy as np, nearfield as nf
from nearfield.engine.plan import plan
method = nf.Method(nf.costs.Triangular(), nf.kernels.Student(), "pair")
print("Triangular" in nf.costs.__all__, nf.costs.named("triangular") == nf.costs.Triangular())
print(plan(method, 5000, 2).engine, nf.check(method).passed)
p, q, step = np.array([0.2, 0.0]), np.array([0.3, 0.1]), 1e-6
cost = nf.costs.Triangular()
print(np.allclose(cost.derivative(p, q), (cost.value(p, q + step) - cost.value(p, q - step)) / (2 * step)))
"""


def test_the_cost_of_the_guide_is_found_by_its_file_alone(tmp_path):
    shown = re.search(r"```py\n(@part\nclass .*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    package = tmp_path / "nearfield"
    shutil.copytree(Path(nf.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    with open(package / "algebra" / "costs" / "divergences.py", "a") as file:
        file.write(f"\n\n{shown.group(1)}\n\n__all__.append('Triangular')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True", "mesh", "True", "True"], done.stderr
