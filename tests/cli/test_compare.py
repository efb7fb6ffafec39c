"""`nearfield compare`."""

from __future__ import annotations

import json
import re
import shlex
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nearfield as nf
from nearfield.cli import main
from support.comparisons import KINDS, Seen, X


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder with a table of fifty irises."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEARFIELD_TRACEBACK", raising=False)
    rows = [",".join([*map(str, row), str(kind)]) for row, kind in zip(X.tolist(), KINDS, strict=True)]
    (tmp_path / "iris.csv").write_text("\n".join(["a,b,c,d,kind", *rows]) + "\n", encoding="utf-8")
    return tmp_path


def without_time(path: str) -> list[dict[str, Any]]:
    told = json.loads(Path(path).read_text(encoding="utf-8"))
    return [{key: value for key, value in each.items() if key != "seconds"} for each in told["methods"]]


def test_the_command_writes_page_and_json_and_says_how_to_repeat_it(folder, capsys):
    options = ["--label", "kind", "--max-iter", "30", "--methods", "pca,tsne,nerv(lam=0.3)"]
    assert main(["compare", "iris.csv", *options, "--out", "r.html", "--json", "r.json"]) == 0
    said = capsys.readouterr()
    assert "wrote   r.html, r.json" in said.out
    assert re.search(r"^nerv\(lam=0\.3\) +0\.", said.out, re.MULTILINE)
    assert "3/3 nerv(lam=0.3)" in said.err
    assert {file.name for file in folder.iterdir()} == {"iris.csv", "r.html", "r.json"}
    text = Seen((folder / "r.html").read_text(encoding="utf-8")).text
    told = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert told["repeat"] in text
    again = shlex.split(told["repeat"])[1:]
    assert main([*again, "--json", "again.json", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert without_time("again.json") == without_time("r.json")


def test_the_report_may_be_json_alone_with_coordinates(folder):
    assert main(["compare", "iris.csv", "-m", "pca", "-o", "r.json", "--coordinates", "-q"]) == 0
    assert np.array(without_time("r.json")[0]["map"]).shape == (50, 2)


def test_a_failed_method_gives_exit_code_1_and_a_report(folder, capsys):
    assert main(["compare", "iris.csv", "-m", "pca,tsne", "--perplexity", "900", "-o", "r.html"]) == 1
    said = capsys.readouterr()
    assert re.search(r"^tsne +perplexity", said.out, re.MULTILINE)
    assert "warning: tsne failed: perplexity" in said.err
    assert "failed: perplexity" in Seen((folder / "r.html").read_text(encoding="utf-8")).text


def test_no_map_at_all_gives_exit_code_2_and_no_report(folder, capsys):
    assert main(["compare", "iris.csv", "-m", "tsne", "--perplexity", "900", "-o", "r.html", "-q"]) == 2
    assert "error: no method could make a map; tsne: perplexity" in capsys.readouterr().err
    assert not (folder / "r.html").exists()


def test_ctrl_c_gives_exit_code_130_and_a_report_of_what_there_is(folder, monkeypatch, capsys):
    def converge(self: Any, max_iter: int, callback: Any = None) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("nearfield.descent.run.Run.converge", converge)
    assert main(["compare", "iris.csv", "-m", "pca,tsne", "-o", "r.html", "-q"]) == 130
    assert "interrupted during tsne" in capsys.readouterr().err
    assert (folder / "r.html").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-m", "tnse"], "did you mean 'tsne'"),
        (["-m", "pca,pca"], "is there twice"),
        (["-o", "r.pdf"], "use .html or .json"),
        (["-o", "no/such/r.html"], "does not exist"),
        (["--json", "r.html"], "would be no JSON"),
        (["-o", "r.json", "--json", "r.json"], "name the same file"),
        (["--coordinates"], "add --json report.json"),
        (["--label", "nothing"], "nothing"),
    ],
)
def test_the_command_refuses_before_the_work(folder, options, message, monkeypatch, capsys):
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("the work was begun")

    monkeypatch.setattr("nearfield.comparison.comparing.compare", never)
    assert main(["compare", "iris.csv", *options]) == 2
    assert message in capsys.readouterr().err
    assert [file.name for file in folder.iterdir()] == ["iris.csv"]


def test_progress_is_shown_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nf.compare(X, ["pca", ("[red]own[/red]", nf.method("tsne"))], max_iter=20, verbose=True)
    assert "2/2 [red]own[/red]" in capsys.readouterr().err
