"""A run that is killed goes on from its checkpoint, bit for bit as if nothing had happened."""

import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest

import nearfield as nf
from nearfield.io import files

WAYS = {
    "momentum": {"method": "tsne"},
    "mesh and pins": {"method": "tsne", "engine": "mesh", "pins": {3: (9.0, 0.0)}},
    "lbfgs after a guide, and pins": {"method": "asne", "pins": {3: (9.0, 0.0)}},
    "smacof": {"method": "mds"},
    "several scales": {"method": "msasne"},
    "learned parameters": {"method": "dhssne"},
}
KILLED = """
import os, signal, sys
import numpy as np, nearfield as nf
X, at, path = np.load(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def callback(run):
    if run.iteration >= at:
        os.kill(os.getpid(), signal.SIGKILL)
nf.Embedder(random_state=0, max_iter=300, tol=1e-6, engine="mesh", perplexity=8, pins={3: (9.0, 0.0)},
            checkpoint=path, checkpoint_every=10, callback=callback).fit(X)
"""


class Ended(Exception):
    """What ends a run in the middle of it."""


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(90, 5))


def model(**more):
    return nf.Embedder(**{"random_state": 0, "max_iter": 300, "tol": 1e-6, "perplexity": None} | more)


def end_at(iteration):
    def callback(run):
        if run.iteration >= iteration:
            raise Ended

    return callback


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore:the map")
def test_what_was_ended_goes_on_with_equal_bits(way, X, tmp_path):
    options, path = WAYS[way], tmp_path / "state.nfmap"
    whole = model(**options).fit(X)
    for at in np.random.default_rng(7).integers(20, max(21, whole.n_iter_), 2).tolist():
        path.unlink(missing_ok=True)
        kept = options | {"checkpoint": path, "checkpoint_every": 10}
        with pytest.raises(Ended):
            model(**kept, callback=end_at(at)).fit(X)
        begun = []
        again = model(**kept, callback=lambda run, begun=begun: begun.append(run.iteration)).fit(X)
        assert not begun or begun[0] > 10  # and not from the start
        assert again.embedding_.tobytes() == whole.embedding_.tobytes()
        assert again.n_iter_ == whole.n_iter_
        for name, column in whole.history_.items():
            assert np.array_equal(again.history_[name], column)


def test_a_process_that_is_killed_goes_on_with_equal_bits(X, tmp_path):
    path = tmp_path / "state.nfmap"
    np.save(tmp_path / "X.npy", X)
    options = {"engine": "mesh", "perplexity": 8, "pins": {3: (9.0, 0.0)}}
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "X.npy", "220", path], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert nf.Run.load(path, X).iteration in (200, 210)
    again = model(**options, checkpoint=path).fit(X)
    assert again.embedding_.tobytes() == model(**options).fit(X).embedding_.tobytes()


def test_runs_go_on_too(X, tmp_path):
    path = tmp_path / "state.nfmap"
    run = nf.Run(X, random_state=0, checkpoint=path, checkpoint_every=7)
    run.step(30)
    run.pin(3, (9, 0))
    run.step(30)
    again = nf.Run(X, random_state=0, checkpoint=path)
    assert (again.iteration, list(again.pins)) == (56, [3])
    again.step(4)
    assert np.array_equal(again.Y, run.Y)
    assert nf.load(path, X).iteration == 56


def test_the_checkpoint_of_something_else_is_refused_in_a_line(X, tmp_path):
    path = tmp_path / "state.nfmap"
    nf.Run(X, random_state=0, checkpoint=path, checkpoint_every=1).step(2)
    other = X.copy()
    other[50, 3] += 1e-9
    nf.Map(np.zeros((3, 2))).save(tmp_path / "map.nfmap")
    for data, options, message in [
        (other, {"checkpoint": path}, "of other data"),
        (X, {"checkpoint": path, "perplexity": 7}, "perplexity was None, and is 7"),
        (X, {"checkpoint": path, "method": "asne"}, "whose method was"),
        (X, {"checkpoint": tmp_path / "map.nfmap"}, "is a map, and no checkpoint"),
        (X, {"checkpoint": tmp_path / "none" / "a.nfmap"}, "does not exist"),
        (X, {"checkpoint": 3}, "must be the name of a file"),
    ]:
        with pytest.raises((ValueError, OSError), match=message) as refusal:
            nf.Run(data, **{"random_state": 0} | options)
        assert "\n" not in str(refusal.value)


def test_other_pins_are_refused(X, tmp_path):
    path = tmp_path / "state.nfmap"
    kept = {"checkpoint": path, "checkpoint_every": 10}
    with pytest.raises(Ended):
        model(pins={3: (9, 0)}, callback=end_at(200), **kept).fit(X)
    with pytest.raises(ValueError, match="other pins"):
        model(pins={4: (9, 0)}, **kept).fit(X)


def test_a_full_disk_leaves_the_last_one_and_the_run(X, tmp_path, monkeypatch):
    path = tmp_path / "state.nfmap"
    run = nf.Run(X, random_state=0, checkpoint=path, checkpoint_every=10)
    run.step(10)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(files.os, "replace", full)
        with pytest.warns(UserWarning, match="no new checkpoint: cannot write .*no space left"):
            run.step(10)
    assert nf.Run.load(path, X).iteration == 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run.step(10)
    assert nf.Run.load(path, X).iteration == 30
