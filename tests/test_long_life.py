"""Many runs in one process, at once or one after the other, and in processes that were forked or spawned."""

import multiprocessing
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import nearfield as nf

PATIENCE = 300  # seconds, after which a process that hangs fails its test: it takes two
SETTINGS = [
    ("tsne", {"engine": "exact"}),
    ("tsne", {"engine": "mesh"}),
    ("jse", {"engine": "mesh", "perplexity": 5}),
    ("mds", {}),
    ("mds", {"engine": "pairs"}),
    ("sstress", {"engine": "moments"}),
    ("mstsne", {}),
    ("umap", {"n_jobs": 1}),
]

MANY_RUNS = """
import resource, sys
import numpy as np, nearfield as nf

def peak():
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

X = np.random.default_rng(0).normal(size=(300, 5))
def work(count):
    for k in range(count):
        engine = ("exact", "mesh")[k % 2]
        method = nf.method("nerv", lam=0.1 + 0.8 * k / count)
        run = nf.Run(X, method, engine=engine, perplexity=5, random_state=k)
        run.step(2)
        run.pin(0, run.Y[0])
        run.undo()
work(40)
before = peak()
work(120)
print(peak() - before)
"""

FORKED = """
import multiprocessing, sys
import numpy as np, nearfield as nf

def work(n_jobs):
    X = np.random.default_rng(0).normal(size=(200, 5))
    run = nf.Run(X, random_state=0, engine="mesh", perplexity=8, n_jobs=n_jobs)
    run.step(5)
    return run.Y

if __name__ == "__main__":
    expected = work(2)
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        found = pool.map(work, [2, 1])
    print(all(np.array_equal(each, expected) for each in found))
"""


def told(program, *arguments):
    """What a program prints; a file, because processes that it spawns read it again."""
    command = [sys.executable, program, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=PATIENCE
    ).stdout.strip()


def mapped(number):
    """The map of a run of its own, after some iterations and commands."""
    name, options = SETTINGS[number]
    X = np.random.default_rng(number).normal(size=(150, 5))
    run = nf.Run(X, name, random_state=number, **options)
    run.step(20)
    run.pin([0, 1], run.Y[[0, 1]] + 0.1)
    run.step(5)
    return run.Y


@pytest.mark.slow
def test_memory_stays_as_it_is_however_many_runs(tmp_path):
    (tmp_path / "many.py").write_text(MANY_RUNS)
    assert int(told(tmp_path / "many.py")) < 20e6  # P alone of as many runs would be 40e6 bytes


def test_eight_threads_with_a_run_each_are_as_good_as_one_after_the_other():
    expected = [mapped(number) for number in range(len(SETTINGS))]
    with ThreadPoolExecutor(len(SETTINGS)) as pool:
        found = list(pool.map(mapped, range(len(SETTINGS))))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("how", sorted(set(multiprocessing.get_all_start_methods()) & {"fork", "spawn"}))
def test_a_process_that_comes_of_one_with_threads_has_the_same_bits(how, tmp_path):
    (tmp_path / "forked.py").write_text(FORKED)
    assert told(tmp_path / "forked.py", how) == "True"
