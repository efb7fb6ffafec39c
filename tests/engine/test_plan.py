"""The plan: what is chosen by which facts, what it will take, and what is said before the work starts."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import nearfield as nf
from nearfield.affinity.targets import edges_per_point
from nearfield.cli import main
from nearfield.engine import memory as remembering
from nearfield.engine import plan as planning
from nearfield.engine.exact.chain import Exact
from nearfield.engine.memory import duration
from nearfield.engine.moments import Moments
from nearfield.engine.plan import engines, plan
from nearfield.engine.task import Task

SSTRESS = nf.method("sstress")


@pytest.mark.parametrize("n", [10, 999, 5000, 10**6])
def test_moments_are_chosen_at_every_size_where_they_apply(n):
    chosen = plan(SSTRESS, n, 2, euclidean=True, columns=20)
    assert chosen.engine == "moments"
    assert "without pairs" in str(chosen)
    assert not chosen.is_slow
    assert chosen.memory < 10**9


def test_all_pairs_are_there_for_the_asking():
    assert plan(SSTRESS, 2000, 2, "exact", euclidean=True, columns=20).engine == "exact"
    assert plan(SSTRESS, 2000, 2).engine == "exact"  # of distances nothing is known


@pytest.mark.parametrize("name", [name for name in nf.methods() if name != "sstress"])
def test_no_other_method_goes_by_moments(name):
    assert "not the squared difference" in Moments.obstacle(Task(nf.method(name), euclidean=True))
    with pytest.raises(
        ValueError, match=r"moments engine cannot.*use engine='exact' \(.*MB, about .* an iter"
    ):
        plan(nf.method(name), 2000, 2, "moments", euclidean=True)


@pytest.mark.parametrize("engine", engines()[1:])
def test_every_engine_says_what_it_is_and_what_it_takes(engine):
    method = {"moments": SSTRESS, "pairs": nf.method("mds")}.get(engine, nf.method("tsne"))
    said = str(plan(method, 2000, 2, engine, euclidean=True, columns=10))
    assert said.startswith(f"{engine} engine, ")
    assert said.endswith(" MB)")


def test_memory_grows_with_perplexity_and_columns():
    tsne = nf.method("tsne")

    def memory(perplexity):
        neighbours, drawn = edges_per_point(tsne, 5000, perplexity)
        return plan(tsne, 5000, 2, neighbours=neighbours, drawn=drawn).memory

    few, many, large = map(memory, (30, 90, 300))
    assert many > 2 * few
    assert memory(np.full(5000, 90.0)) == many
    assert memory(1000) == large  # strata reach as far as any
    assert plan(tsne, 5000, 2).memory == few
    assert plan(tsne, 5000, 2, columns=5000).memory > few + 8 * 5000**2
    wide, sparse = (
        plan(SSTRESS, 5000, 2, euclidean=True, columns=10**4, stored=s).memory for s in (None, 10**5)
    )
    assert wide > 8 * 5000 * 10**4 > 10 * sparse


@pytest.mark.parametrize("perplexity", ["many", [1, 2], np.array([]), np.nan, -1])
def test_a_bad_perplexity_is_left_to_those_who_know(perplexity):
    assert edges_per_point(nf.method("tsne"), 5000, perplexity)[0] in (3, 90)


MEASURE = """
import numpy as np, nearfield as nf, resource, sys
from pathlib import Path
linux = Path("/proc/self/clear_refs").exists()
def bytes_of(field):
    if not linux:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith(field)).split()[1])
X = np.random.default_rng(0).normal(size=(4000, 10))
nf.Run(X[:1000], "tsne", perplexity=5, engine={engine!r}).step(2)  # what is compiled and imported
if linux:
    Path("/proc/self/clear_refs").write_text("5")
before = bytes_of("VmRSS")
run = nf.Run(X, "tsne", perplexity={perplexity}, engine={engine!r})
run.step({steps})
print(run.plan.memory, bytes_of("VmHWM") - before, int(linux))
"""


@pytest.mark.parametrize(
    ("engine", "perplexity", "steps"), [("mesh", 30, 60), ("mesh", 90, 5), ("mesh", 300, 5), ("exact", 30, 2)]
)
def test_the_memory_is_an_upper_bound_and_not_far_from_the_peak(engine, perplexity, steps):
    code = MEASURE.format(engine=engine, perplexity=perplexity, steps=steps)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    planned, peak, reset = map(int, said.split())
    assert peak < planned
    if reset:  # otherwise the peak is that of all that came before, and what was added to it a part of ours
        assert planned < 3 * peak


def test_what_would_not_fit_is_refused_before_neighbours_are_searched(monkeypatch, random):
    monkeypatch.setattr(planning, "available_memory", lambda: 10**6)
    monkeypatch.setattr("nearfield.descent.setup.target_of", None)  # which would fail if it were called
    with pytest.raises(MemoryError, match=r"mesh engine needs .* MB .*, and 1 MB are free: map a sample"):
        nf.Run(random.normal(size=(2000, 3)), "tsne")


# ------------------------------------------------------------------------------------- said beforehand


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(planning, "SLOW", 1e-9)


def test_slow_work_is_announced_before_it_starts(impatient, monkeypatch, random):
    monkeypatch.setattr("nearfield.descent.setup.target_of", None)  # which is the first work there is
    X = random.normal(size=(1200, 3))
    expected = (
        r"slow: exact engine, all pairs of 1200 points .* not symmetric .*; about .* an iteration \(28 MB\)"
    )
    with pytest.warns(UserWarning, match=expected), pytest.raises(TypeError):
        nf.Run(X, "itsne")


@pytest.mark.parametrize("engine", ["mesh", "moments"])
def test_what_is_quick_is_not_announced(engine, impatient, random):
    X = random.normal(size=(60, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nf.Run(X, "sstress" if engine == "moments" else "tsne", engine=engine)


def test_patience_is_a_second_an_iteration():
    mds = nf.method("mds")
    assert not plan(mds, 2000, 2).is_slow
    slow = Exact.seconds(Task(mds, 100_000))
    assert slow > max(10, planning.SLOW)
    chain = Exact.seconds(Task(nf.method("jse"), 100_000))
    assert chain > 2 * slow  # which is that of a closed form


def test_the_command_line_says_it_in_one_line(impatient, tmp_path, monkeypatch, capsys, random):
    monkeypatch.chdir(tmp_path)
    np.savetxt("data.csv", random.normal(size=(40, 3)), delimiter=",", header="a,b,c", comments="")
    assert main(["embed", "data.csv", "--method", "mds", "--quiet"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("warning: this will be slow: exact engine, all pairs of 40 points")


@pytest.mark.parametrize(
    ("seconds", "said"), [(1e-5, "1 ms"), (0.25, "250 ms"), (1.2, "1 s"), (7200, "120 min")]
)
def test_durations_read_well(seconds, said):
    assert duration(seconds) == said


# ------------------------------------------------------------------------------------------- containers


def container(folder, limit, used, cached=0, version=2):
    names = (
        ("memory.max", "memory.current")
        if version == 2
        else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    )
    home = folder if version == 2 else folder / "memory"
    home.mkdir(exist_ok=True)
    for name, value in zip(names, (limit, used), strict=True):
        (home / name).write_text(f"{value}\n")
    (home / "memory.stat").write_text(f"anon 5\ninactive_file {cached}\n")
    return folder


@pytest.mark.parametrize("version", [1, 2])
def test_the_limit_of_a_container_is_respected(version, tmp_path, monkeypatch):
    folder = container(tmp_path, 1000, 300, 50, version)
    assert remembering._free_in_container(folder) == 750
    monkeypatch.setattr(remembering, "_free_in_container", lambda: 750)
    assert remembering.available_memory() == 750


def test_no_limit_is_none(tmp_path):
    assert remembering._free_in_container(tmp_path) is None
    assert remembering._free_in_container(container(tmp_path, "max", 300)) is None
    assert remembering._free_in_container(container(tmp_path, 100, 300)) == 0
