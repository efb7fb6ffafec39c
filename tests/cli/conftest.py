"""An empty folder with a small table, and a run that makes no map."""

from __future__ import annotations

from pathlib import Path

import pytest

import nearfield
from nearfield.io.datasets import iris
from support.commands import StandIn


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder with a table of thirty irises."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEARFIELD_TRACEBACK", raising=False)
    flowers = iris()
    assert flowers.labels is not None
    rows = [f"f{i},{','.join(map(str, flowers.X[i]))},{flowers.labels[i]}" for i in range(0, 150, 5)]
    (tmp_path / "iris.csv").write_text("\n".join(["who,a,b,c,d,species", *rows]) + "\n")
    return tmp_path


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> type[StandIn]:
    class Fresh(StandIn):
        pass

    assert nearfield.Embedder  # which takes the true one when it is imported
    monkeypatch.setattr("nearfield.descent.run.Run", Fresh)  # which the command imports on use
    return Fresh
