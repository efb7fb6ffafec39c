"""A new engine is one class in one file: what it says of itself has it planned, refused, listed and run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from nearfield.engine import plan as planning
from nearfield.engine.exact.chain import Exact
from nearfield.engine.plan import engines, in_words, plan


class Toy(Exact):
    """All pairs, for up to fifty points of t-SNE and its kin."""

    name, precedence = "toy", 5
    summary = "up to fifty points"

    @classmethod
    def obstacle(cls, task):
        return None if task.method.bounded_cross_entropy else "it plays with t-SNE's kin alone"

    @classmethod
    def pays(cls, task):
        return task.n <= 50

    @classmethod
    def reason(cls, task):
        return "small enough to play with"

    @classmethod
    def of(cls, method, target, *, n_jobs, accuracy, weights):
        return cls(method, target, n_jobs, weights)


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setattr(planning, "ENGINES", (Toy, *planning.ENGINES))


def test_it_is_listed_and_told_of():
    assert "toy" in engines()
    assert "toy: up to fifty points" in in_words()
    with pytest.raises(ValueError, match=r"engine must be one of auto, .*toy, got 'teddy'"):
        plan(nf.method("tsne"), 40, 2, "teddy")


def test_it_is_planned_where_it_can_and_pays():
    assert str(plan(nf.method("tsne"), 40, 2)).startswith("toy engine, small enough to play with (")
    assert plan(nf.method("tsne"), 60, 2).engine == "exact"
    assert plan(nf.method("tsne"), 60, 2, "toy").engine == "toy"  # asked for, whether it pays or not
    assert plan(nf.method("jse"), 40, 2).engine == "exact"


def test_it_is_refused_with_its_reason():
    with pytest.raises(ValueError, match="the toy engine cannot compute this: it plays with t-SNE's kin"):
        plan(nf.method("jse"), 40, 2, "toy")


def test_it_is_found_by_its_file_alone(tmp_path):
    """Laid beside the others, as a developer would, and asked for by another process."""
    package = tmp_path / "nearfield"
    shutil.copytree(Path(nf.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "engine" / "toy.py").write_text(
        "from nearfield.engine.exact.chain import Exact\n\n\n"
        "class Toy(Exact):\n"
        "    name, precedence, summary = 'toy', 5, 'up to fifty points'\n\n"
        "    @classmethod\n"
        "    def pays(cls, task):\n"
        "        return task.n <= 50\n"
    )
    code = (
        "import nearfield as nf; from nearfield.engine.plan import plan;"
        "print(plan(nf.method('tsne'), 40, 2).engine, plan(nf.method('tsne'), 60, 2).engine,"
        " 'toy: up to fifty points' in ' '.join(nf.Run.__doc__.split()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["toy", "exact", "True"], done.stderr


def test_it_is_built_and_run(random):
    X = random.normal(size=(40, 5))
    run = nf.Run(X, "tsne", random_state=0)
    assert type(run._descent.problem.engine) is Toy
    run.step(50)
    other = nf.Run(X, "tsne", random_state=0, engine="exact")
    other.step(50)
    np.testing.assert_allclose(run.Y, other.Y, rtol=1e-6)
