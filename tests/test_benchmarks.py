"""The benchmarks: they import, their page follows from their figures, and their commands are as they say."""

import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nearfield
from benchmarks.shared.apart import apart
from benchmarks.shared.libraries import times
from benchmarks.studies.bits import differences, hashed, steered
from benchmarks.studies.interleaved import in_turns

ROOT = Path(__file__).parent.parent
SOURCE = Path(nearfield.__file__).parent.parent
COMMAND = re.compile(r"python -m (benchmarks[\w.]*)(.*)")


def started(*command, folder=ROOT):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(SOURCE), str(ROOT)])}
    command = [sys.executable, "-m", *command]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def modules():
    return [found.name for found in pkgutil.walk_packages([str(ROOT / "benchmarks")], "benchmarks.")]


def commands():
    """Every command that a docstring or a page speaks of."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md"), ROOT / "Makefile"]
    for path in [*pages, *ROOT.glob("benchmarks/**/*.py")]:
        for module, given in COMMAND.findall(path.read_text(encoding="utf-8")):
            yield path, module.rstrip("."), re.findall(r"(--\w+)", given)


def test_every_module_imports_by_its_name_in_the_package():
    found = [name for name in modules() if name != "benchmarks.__main__"]
    assert {"benchmarks.parts.growth", "benchmarks.shared.apart", "benchmarks.studies.units"} <= set(found)
    for name in found:
        assert importlib.import_module(name).__doc__


def test_every_command_that_is_spoken_of_is_there():
    known = {*modules(), "benchmarks", "benchmarks.studies.NAME"}
    spoken = list(commands())
    assert len(spoken) > 10
    for path, module, options in spoken:
        assert module in known, f"{path.name} speaks of {module}"
        own = {"benchmarks": "benchmarks.__main__"}.get(module, module)
        for option in options:
            text = (ROOT / f"{own.replace('.', '/')}.py").read_text(encoding="utf-8")
            assert f'"{option}"' in text, f"{path.name} speaks of {module} {option}"


def test_every_file_that_is_spoken_of_is_there():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md"), ROOT / "Makefile"]
    spoken = {
        name
        for page in pages
        for name in re.findall(r"benchmarks/[\w/]+\.py", page.read_text(encoding="utf-8"))
    }
    assert spoken
    assert [name for name in spoken if not (ROOT / name).exists()] == []


def test_the_page_follows_from_its_figures(tmp_path):
    figures = (ROOT / "benchmarks" / "results.json").read_bytes()
    (tmp_path / "results.json").write_bytes(figures)
    finished = started("benchmarks", "--report", "--out", str(tmp_path))
    assert finished.returncode == 0, finished.stderr
    assert (tmp_path / "RESULTS.md").read_text() == (ROOT / "benchmarks" / "RESULTS.md").read_text()
    assert (tmp_path / "results.json").read_bytes() == figures


def test_a_part_that_is_not_there_is_refused():
    finished = started("benchmarks", "--only", "speed")
    assert finished.returncode == 2
    assert "no part is called 'speed': choose from peers," in finished.stderr


def test_work_apart_gives_what_it_gives_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the other process finds the package wherever it is started
    X = np.random.default_rng(0).normal(size=(120, 5))
    found = apart(times, name="nearfield", X=X, calls=1)
    assert found["memory"] > 0
    np.testing.assert_array_equal(found["Y"], times("nearfield", X, calls=1)["Y"])
    with pytest.raises(RuntimeError, match="ValueError: no library is called 'far'"):
        apart(times, name="far", X=X)


def test_maps_that_are_not_as_they_were_are_told():
    Y = np.arange(6.0).reshape(3, 2)
    near = Y.copy()
    near[2, 1] = np.nextafter(5.0, 6.0)
    before, now = (
        {name: hashed(each) for name, each in maps.items()} for maps in ({"a": Y, "b": Y}, {"a": near})
    )
    assert differences(before, before) == []
    assert hashed(np.asfortranarray(Y)) == hashed(Y)
    assert [line.split(":")[0] for line in differences(before, now)] == ["a", "b"]


def test_a_steered_run_ends_alike_whichever_way_it_is_reopened():
    found = steered("tsne")
    assert not np.array_equal(found["undone"], found["linked"])
    np.testing.assert_array_equal(found["settled"], found["saved"])
    np.testing.assert_array_equal(found["reopened"], found["replayed"])


def test_two_checkouts_take_turns(tmp_path):
    """Each with its own sources, and the one that begins alternates."""
    code = (
        "import os, pathlib, nearfield;"
        f"file = pathlib.Path({str(tmp_path)!r}) / 'order';"
        "file.open('a').write(nearfield.NAME);"
        "print(ord(nearfield.NAME))"
    )
    for name in "ab":
        (tmp_path / name / "nearfield").mkdir(parents=True)
        (tmp_path / name / "nearfield" / "__init__.py").write_text(f"NAME = {name!r}")
    assert in_turns(code, tmp_path / "a", tmp_path / "b", 2) == ([97.0, 97.0], [98.0, 98.0])
    assert (tmp_path / "order").read_text() == "abba"
    with pytest.raises(RuntimeError, match="ModuleNotFoundError"):
        in_turns("import no_such_module", tmp_path / "a", tmp_path / "b", 1)
