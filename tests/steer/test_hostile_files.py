"""Files from others cannot hurt: each opens, or is refused in a line, before any loop trusts what it says."""

import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import nearfield as nf
from support.archives import memory, mutated, written

N = 40
X = np.random.default_rng(0).normal(size=(N, 4))
OLD = Path(__file__).parent.parent / "io" / "files"


def session(name, **more):
    """The members of a file in which there is some of everything."""
    run = nf.Run(X, name, random_state=0, perplexity=8, **more)
    run.step(25)
    run.pin([3, 17], [[8.0, 0.0], [0.0, -8.0]], follow=5)
    run.pin(5, (4.0, 4.0), follow=[1, 2], penalty=nf.penalties.Gaussian(sigma2=1e3), soft=True)
    run.link(must=[(20, 21)], cannot=[(22, 23)])
    run.add(nf.terms.Disc([30, 31], (0.0, 0.0), 2.0))
    run.add(nf.terms.Box([32], (-1.0, -1.0), (1.0, 1.0)))
    run.settle(30)
    run.step(6)
    run.undo()
    run.step(5)
    kept = run.map()
    arrays = {f"session_{k}": values for k, values in enumerate(kept.arrays)}
    history = {f"history_{column}": values for column, values in kept.history.items()}
    about = {"format": 3, "parameters": kept.parameters, "versions": kept.versions}
    about |= {"history": list(kept.history), "arrays": len(arrays), "session": kept.session}
    return {"about": about, "Y": kept.Y, **history, **arrays}


MOMENTUM = session("tsne")
LBFGS = session("tsne", optimizer="lbfgs")


def opened(contents, path, **how):
    """A run of these bytes that has gone on a little, or None if they were refused as they should be."""
    path.write_bytes(contents)
    try:
        run = nf.Run.load(path, X, n_jobs=1, **how)
    except ValueError as refusal:
        assert "\n" not in str(refusal)  # noqa: PT017 - to be refused is one of two good ends
        assert str(path) in str(refusal)  # noqa: PT017
        return None
    run.step(2)
    assert np.all(np.isfinite(run.Y))
    return run


def within(members, *way):
    """The dict in which the last of these names is, in what is told of a file."""
    at = members["about"]["session"]
    for name in way[:-1]:
        at = at[name]
    return at


def changed(members, way, value):
    """A file with another value in one place; an array is replaced, and everything else is told."""
    if way[0] in members:
        return {**members, way[0]: value}
    members = {**members, "about": json.loads(json.dumps(members["about"]))}
    at = within(members, *way)
    if isinstance(value, np.ndarray):
        members[f"session_{at[way[-1]]['array']}"] = value
    else:
        at[way[-1]] = value
    return members


def state(*way):
    """The way to a field of the state."""
    found = ["state"]
    for name in way:
        found += ["with", name] if isinstance(name, str) else name
    return found


PULL = [*state("steering", "pulls"), "tuple", 0, "with"]
TERMS = [*state("steering", "terms"), "tuple"]
PAIRS = [*state("optimizer", "pairs"), "deque"]
SIZE = 2 * N
FAULTS = {
    "one gain": (MOMENTUM, state("optimizer", "gains"), np.ones(1)),
    "gains of another kind": (MOMENTUM, state("optimizer", "gains"), np.ones(SIZE, np.float32)),
    "gains that are NaN": (MOMENTUM, state("optimizer", "gains"), np.full(SIZE, np.nan)),
    "negative gains": (MOMENTUM, state("optimizer", "gains"), np.full(SIZE, -1.0)),
    "gains as a table": (MOMENTUM, state("optimizer", "gains"), np.ones((N, 2))),
    "gains that are text": (MOMENTUM, state("optimizer", "gains"), "many"),
    "no gains": (MOMENTUM, state("optimizer", "gains"), None),
    "no velocity": (MOMENTUM, state("optimizer", "velocity"), np.zeros(0)),
    "a velocity out of range": (MOMENTUM, state("optimizer", "velocity"), np.full(SIZE, 1e300)),
    "variables too few": (MOMENTUM, state("z"), np.zeros(SIZE - 1)),
    "variables too many": (MOMENTUM, state("z"), np.zeros(SIZE + 1)),
    "variables that are infinite": (MOMENTUM, state("z"), np.full(SIZE, np.inf)),
    "a pin out of range": (MOMENTUM, state("steering", "held"), np.array([3, N])),
    "a negative pin": (MOMENTUM, state("steering", "held"), np.array([-1, 3])),
    "a pin twice": (MOMENTUM, state("steering", "held"), np.array([3, 3])),
    "more pins than places": (MOMENTUM, state("steering", "held"), np.array([3, 4, 17])),
    "places that are NaN": (MOMENTUM, state("steering", "at"), np.full((2, 2), np.nan)),
    "places in three dimensions": (MOMENTUM, state("steering", "at"), np.zeros((2, 3))),
    "another map's steering": (MOMENTUM, state("steering", "shape"), {"tuple": [N, 3]}),
    "a negative iteration": (MOMENTUM, state("iteration"), -1),
    "iterations without end": (MOMENTUM, state("iteration"), 10**8),
    "an iteration that is none": (MOMENTUM, state("iteration"), 30.5),
    "a phase that is not there": (MOMENTUM, state("phase"), 99),
    "a phase of a later time": (MOMENTUM, state("phase"), 3),
    "no phase": (MOMENTUM, state("phase"), None),
    "an optimizer that is none": (MOMENTUM, state("optimizer"), {"tuple": []}),
    "another optimizer": (MOMENTUM, state("optimizer"), {"is": "LBFGS", "with": {}}),
    "an optimizer that is a penalty": (MOMENTUM, state("optimizer"), {"is": "Student", "with": {}}),
    "rows that are not there": (MOMENTUM, state("past"), 10**6),
    "a history without a column": (
        MOMENTUM,
        state("history"),
        {"dict": {"iteration": {"list": [0, 10, 20]}}},
    ),
    "a history of unequal length": (MOMENTUM, ["history_cost"], np.ones(1)),
    "a history of truth values": (MOMENTUM, ["history_cost"], np.ones(5, bool)),
    "a history out of order": (MOMENTUM, ["history_iteration"], np.array([20, 10, 0, 25, 30])),
    "a history of halves": (MOMENTUM, ["history_iteration"], np.array([0, 10, 20, 25.5, 30])),
    "followers out of range": (MOMENTUM, [*PULL, "followers"], np.full(10, N)),
    "followers too few": (MOMENTUM, [*PULL, "followers"], np.zeros(3, np.int64)),
    "weights too few": (MOMENTUM, [*PULL, "weights"], np.ones(1)),
    "places too few": (MOMENTUM, [*PULL, "places"], np.zeros((1, 2))),
    "a width below nothing": (MOMENTUM, [*PULL, "square"], -1.0),
    "a factor that is NaN": (MOMENTUM, [*PULL, "factor"], float("nan")),
    "fading of three": (MOMENTUM, [*PULL, "fading"], {"tuple": [1, 2, 3]}),
    "fading before the start": (MOMENTUM, [*PULL, "fading"], {"tuple": [-5, 10]}),
    "a link out of range": (MOMENTUM, [*TERMS, 0, "with", "pairs"], np.array([[0, N]])),
    "a link without measure": (MOMENTUM, [*TERMS, 0, "with", "measure", "with", "radius"], float("inf")),
    "a disc of others": (MOMENTUM, [*TERMS, 2, "with", "indices"], np.array([0, 10**9])),
    "a disc in three dimensions": (MOMENTUM, [*TERMS, 2, "with", "centre"], np.zeros(3)),
    "a term that is none": (
        MOMENTUM,
        [*TERMS, 0],
        {"is": "Entry", "with": {"iteration": 1, "command": "pin"}},
    ),
    "a pair of another length": (LBFGS, [*PAIRS, 0, "tuple", 0], np.ones(3)),
    "a pair of three": (LBFGS, [*PAIRS, 0, "tuple"], [1.0, 2.0, 3.0]),
    "a pair that goes uphill": (LBFGS, [*PAIRS, 0, "tuple", 0], np.zeros(SIZE)),
    "a memory of none": (LBFGS, state("optimizer", "memory"), 0),
    "a gradient of another length": (LBFGS, state("optimizer", "here", "gradient"), np.ones(SIZE + 2)),
    "variables that are not steered": (LBFGS, state("optimizer", "here", "steered"), np.array([SIZE])),
    "a command that is none": (MOMENTUM, ["log", "list", 0, "with", "command"], "load"),
    "an undo of nothing": (MOMENTUM, ["log", "list", 0, "with", "command"], "undo"),
    "a command before the start": (MOMENTUM, ["log", "list", 0, "with", "iteration"], -3),
    "a log that is text": (MOMENTUM, ["log"], "nothing was done"),
    "no state": (MOMENTUM, ["state"], None),
    "no wishes": (MOMENTUM, ["wanted"], None),
    "a method that is none": (MOMENTUM, ["wanted", "dict", "method"], 3),
    "dimensions without end": (MOMENTUM, ["wanted", "dict", "n_components"], 10**9),
    "no dimensions": (MOMENTUM, ["wanted", "dict", "n_components"], -1),
    "a start of others": (MOMENTUM, ["wanted", "dict", "init"], np.zeros((3, 2))),
    "an argument that is not there": (MOMENTUM, ["wanted", "dict", "shell"], "rm"),
    "an engine that is not there": (MOMENTUM, ["wanted", "dict", "engine"], "steam"),
    "the same array everywhere": (MOMENTUM, state("z"), {"array": 0}),
    "an array that is not there": (MOMENTUM, state("z"), {"array": 10**6}),
    "an array of text": (MOMENTUM, state("z"), {"array": "z"}),
}


@pytest.mark.parametrize("replay", [False, True])
@pytest.mark.parametrize("what", FAULTS)
def test_what_does_not_fit_is_refused_in_a_line_that_names_the_file(what, replay, tmp_path):
    members, way, value = FAULTS[what]
    assert opened(written(changed(members, way, value)), tmp_path / "run.nfmap", replay=replay) is None


@pytest.mark.parametrize("members", [MOMENTUM, LBFGS], ids=["momentum", "lbfgs"])
def test_what_was_not_changed_opens(members, tmp_path):
    assert opened(written(members), tmp_path / "run.nfmap") is not None


@pytest.mark.parametrize("members", [MOMENTUM, LBFGS], ids=["momentum", "lbfgs"])
def test_a_file_that_was_changed_anywhere_opens_or_is_refused(members, tmp_path):
    random, refused, before = np.random.default_rng(20), 0, memory()
    for k in range(250):
        contents = mutated(members, random, N)
        refused += opened(contents, tmp_path / "run.nfmap", replay=k % 5 == 0) is None
    assert 10 < refused < 240  # some changes do no harm
    assert memory() < before + 2**18  # a quarter of a gigabyte


def test_a_session_of_the_second_format_goes_on():
    data = np.random.default_rng(7).normal(size=(12, 3))
    saved = nf.Map.load(OLD / "format2.nfmap")
    run = nf.Run.load(OLD / "format2.nfmap", data)
    np.testing.assert_array_equal(run.Y, saved.Y)
    assert run.method == nf.Method(nf.costs.JensenShannon(kappa=0.3), nf.kernels.Student(), "pair")
    assert sorted(run.pins) == [3, 7]
    assert [entry.command for entry in run.log] == ["pin", "link", "add", "settle", "undo", "redo"]
    run.step(10)
    assert run.Y[3].tolist() == [2, 0]
    again = nf.Run.load(OLD / "format2.nfmap", data, replay=True)
    np.testing.assert_allclose(again.Y, saved.Y, rtol=1e-6, atol=1e-9)


def test_many_references_to_one_array_do_not_multiply_it(tmp_path):
    members = {**MOMENTUM, "about": json.loads(json.dumps(MOMENTUM["about"]))}
    members["session_0"] = np.zeros(2**20)
    members["about"]["session"]["log"] = {"list": [{"array": 0}] * 10**5}
    tracemalloc.start()
    assert opened(written(members), tmp_path / "run.nfmap") is None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**28


def test_members_that_are_not_named_are_ignored(tmp_path):
    file = io.BytesIO(written(MOMENTUM))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("history_more.npy", b"not an array")
        archive.writestr("readme.txt", b"hello")
    assert opened(file.getvalue(), tmp_path / "run.nfmap") is not None
