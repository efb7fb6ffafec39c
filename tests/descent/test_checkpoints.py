"""A run that is killed goes on from its checkpoint, bit for bit as if nothing had happened."""

import json
import os
import warnings

import numpy as np
import pytest
from scipy import sparse

import nearfield as nf
from benchmarks.studies.killed import Trial
from nearfield.io import files
from nearfield.steer.base import Term

PINS = {3: (9.0, 0.0)}
WAYS = {
    "momentum": {"method": "tsne"},
    "mesh and pins": {"method": "tsne", "engine": "mesh", "pins": PINS},
    "lbfgs after a guide, and pins": {"method": "asne", "pins": PINS},
    "smacof": {"method": "mds"},
    "drawn pairs": {"method": "mds", "engine": "pairs"},
    "several scales": {"method": "msasne"},
    "learned parameters": {"method": "dhssne", "quick": True},
    "flow": {
        "method": nf.Method(nf.costs.NegativeSampling(5.0), nf.kernels.UMAP(1.5, 0.9), "none"),
        "optimizer": "flow",
        "init": "spectral",
        "pins": PINS,
    },
}


class Ended(Exception):
    """What ends a run in the middle of it."""


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(90, 5))


def model(**more):
    return nf.Embedder(**{"random_state": 0, "max_iter": 200, "tol": 1e-6} | more)


def end_at(iteration):
    def callback(run):
        if run.iteration >= iteration:
            raise Ended

    return callback


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore:(the map|ended at|this will be slow)")
def test_what_was_ended_goes_on_with_equal_bits(way, X, tmp_path):
    options, path = WAYS[way], tmp_path / "state.nfmap"
    whole = model(**options).fit(X)
    at = int(np.random.default_rng(7).integers(30, max(31, whole.n_iter_)))
    kept = options | {"checkpoint": path, "checkpoint_every": 10}
    with pytest.raises(Ended):
        model(**kept, callback=end_at(at)).fit(X)
    begun = []
    again = model(**kept, callback=lambda run: begun.append(run.iteration), n_jobs=1).fit(X)
    assert not begun or begun[0] > 20  # and not from the start
    assert again.embedding_.tobytes() == whole.embedding_.tobytes()
    assert (again.n_iter_, again.converged_) == (whole.n_iter_, whole.converged_)
    for name, column in whole.history_.items():
        assert np.array_equal(again.history_[name], column)
    assert not path.exists()  # the map is there


@pytest.mark.parametrize("number", [0, 1])  # exact and mesh, with pins
def test_a_process_that_is_killed_goes_on_with_equal_bits(number, tmp_path):
    found = Trial(number, 200).outcome(tmp_path)
    assert found["equal"]
    assert found["first seen again"] > 10
    assert found["left"] == []


@pytest.mark.filterwarnings("ignore:(the map|ended at)")
def test_every_estimator_goes_on(X, tmp_path):
    path = tmp_path / "state.nfmap"
    labels = np.arange(len(X)) % 3
    for kind, options in [
        (nf.TSNE, {"max_iter": 60, "supervision": 0.5}),
        (nf.UMAP, {"n_epochs": 60, "n_neighbors": 7}),
    ]:
        options |= {"random_state": 0}
        whole = kind(**options).fit(X, labels)
        with pytest.raises(Ended):
            kind(checkpoint=path, checkpoint_every=10, callback=end_at(30), **options).fit(X, labels)
        again = kind(checkpoint=str(path), **options).fit(X, labels)
        assert again.embedding_.tobytes() == whole.embedding_.tobytes()
        assert not path.exists()


def test_runs_go_on_too_and_keep_their_checkpoint(X, tmp_path):
    path = tmp_path / "state.nfmap"
    run = nf.Run(X, random_state=0, checkpoint=path, checkpoint_every=7)
    assert "no checkpoint was written" in str(run.checkpoint)
    run.step(30)
    run.pin(3, (9, 0))
    run.step(30)
    again = nf.Run(X, random_state=0, checkpoint=path)
    assert (again.iteration, list(again.pins)) == (56, [3])
    assert str(again.checkpoint) == f"{path} goes on from iteration 56"
    again.step(4)
    assert np.array_equal(again.Y, run.Y)
    assert nf.load(path, X).iteration == 56
    assert nf.Map.load(path).Y.shape == (90, 2)


def test_rows_that_were_added_are_all_needed(X, tmp_path):
    path = tmp_path / "state.nfmap"
    run = nf.Run(X[:80], random_state=0, checkpoint=path, checkpoint_every=10)
    run.step(200)
    run.extend(X[80:])
    run.step(10)
    with pytest.raises(ValueError, match=r"of a run with added rows: Run\.load\(path, X\) goes on"):
        nf.Run(X[:80], random_state=0, checkpoint=path)
    again = nf.Run.load(path, X)
    assert np.array_equal(again.Y, run.Y)


def test_the_checkpoint_of_something_else_is_refused_in_a_line_and_stays(X, tmp_path):
    path = tmp_path / "state.nfmap"
    nf.Run(X, random_state=0, checkpoint=path, checkpoint_every=1).step(2)
    before = path.read_bytes()
    other = X.copy()
    other[50, 3] += 1e-9
    nf.Map(np.zeros((3, 2))).save(tmp_path / "map.nfmap")
    (tmp_path / "notes.txt").write_text("mine")
    labels = np.arange(len(X)) % 2
    views = nf.mix([X[:, :2], X[:, 2:]])
    fuzzy = nf.FuzzyNeighbours(12)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path)
        for data, options, message in [
            (other, {}, "of other data"),
            (sparse.csr_array(X), {}, "of other data"),
            (X, {"perplexity": 7}, "perplexity was None, and is 7"),
            (X, {"perplexity": fuzzy}, "perplexity was None, and is FuzzyNeighbours"),
            (X, {"method": "asne"}, "whose method was"),
            (X, {"method": nf.method("tsne")._with(cost=nf.costs.JensenShannon(0.5))}, "whose method was"),
            (X, {"metric": "cosine"}, "metric was 'euclidean', and is 'cosine'"),
            (X, {"init": X[:, :2] * 1e-6}, "init was 'pca', and is an array of shape"),
            (X, {"weights": np.ones(90) + labels}, "weights was None, and is an array"),
            (X, {"labels": labels, "supervision": 0.5}, "supervision was 0.0, and is 0.5"),
            (views, {}, "metric was 'euclidean', and is"),
            (X, {"checkpoint": "map.nfmap"}, "is a map, and no checkpoint"),
            (X, {"checkpoint": "notes.txt"}, "is not a map that nearfield saved"),
            (X, {"checkpoint": "none/a.nfmap"}, "does not exist"),
            (X, {"checkpoint": "."}, "is a directory"),
            (X, {"checkpoint": 3}, "must be the name of a file"),
            (X, {"checkpoint": ""}, "must be the name of a file"),
            (X, {"checkpoint_every": 0}, "checkpoint_every must be"),
            (X, {"checkpoint": None, "checkpoint_every": 5}, "name the file too"),
        ]:
            with pytest.raises((ValueError, OSError), match=message) as refusal:
                nf.Run(data, **{"random_state": 0, "checkpoint": "state.nfmap"} | options)
            assert "\n" not in str(refusal.value)
    assert path.read_bytes() == before
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_two_ways_of_weighing_neighbours_are_told_apart(X, tmp_path):
    path = tmp_path / "state.nfmap"
    kept = {"method": "umap_sampled", "random_state": 0, "checkpoint": path, "checkpoint_every": 1}
    nf.Run(X, perplexity=nf.FuzzyNeighbours(12), **kept).step(1)
    with pytest.raises(ValueError, match="perplexity was FuzzyNeighbours"):
        nf.Run(X, perplexity=nf.FuzzyNeighbours(13), **kept)
    assert nf.Run(X, perplexity=nf.FuzzyNeighbours(12), **kept).iteration == 1


def test_other_pins_are_refused_whether_they_are_set_yet_or_not(X, tmp_path):
    path = tmp_path / "state.nfmap"
    kept = {"checkpoint": path, "checkpoint_every": 10}
    for at in (50, 150):
        with pytest.raises(Ended):
            model(pins=PINS, callback=end_at(at), **kept).fit(X)
        for more, message in [
            ({"pins": {4: (9.0, 0.0)}}, "pins was"),
            ({}, "pins was .* and is None"),
            ({"pins": PINS, "max_iter": 300}, "max_iter was 200, and is 300"),
            ({"pins": PINS, "tol": 1e-3}, "tol was 1e-06, and is 0.001"),
        ]:
            with pytest.raises(ValueError, match=message):
                model(**more, **kept).fit(X)
        path.unlink()


@pytest.mark.filterwarnings("ignore:(the map|ended at)")
def test_without_pins_more_iterations_may_be_allowed_than_before(X, tmp_path):
    kept = {"checkpoint": tmp_path / "state.nfmap", "checkpoint_every": 10}
    with pytest.raises(Ended):
        model(callback=end_at(100), max_iter=120, **kept).fit(X)
    again = model(**kept).fit(X)
    assert again.embedding_.tobytes() == model().fit(X).embedding_.tobytes()


def test_a_full_disk_leaves_the_last_one_and_the_run(X, tmp_path, monkeypatch):
    path = tmp_path / "state.nfmap"
    run = nf.Run(X, random_state=0, checkpoint=path, checkpoint_every=10)
    run.step(10)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(files.os, "fsync", full)
        with pytest.warns(UserWarning, match="no new checkpoint: cannot write .*no space left") as told:
            run.step(15)
    assert len(told) == 1  # and not at every iteration
    assert nf.Run.load(path, X).iteration == 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run.step(5)
    assert nf.Run.load(path, X).iteration == 30
    assert os.listdir(tmp_path) == ["state.nfmap"]


@pytest.mark.filterwarnings("ignore:(the map|ended at)")
def test_ctrl_c_keeps_the_map_and_says_where_the_checkpoint_goes_on(X, tmp_path):
    path = tmp_path / "state.nfmap"

    def interrupt(run):
        if run.iteration >= 60:
            raise KeyboardInterrupt

    kept = {"checkpoint": path, "checkpoint_every": 20}
    with pytest.warns(UserWarning, match=r"map so far; .*state\.nfmap goes on from iteration 40"):
        ended = model(callback=interrupt, **kept).fit(X)
    assert ended.interrupted_
    again, whole = model(**kept).fit(X), model().fit(X)
    assert again.embedding_.tobytes() == whole.embedding_.tobytes()


class Own(Term):
    """Draws everybody to the origin."""

    def evaluate(self, Y):
        return float(np.sum(Y * Y)), np.arange(len(Y)), 2 * Y


def city(one, other):
    return np.abs(one - other).sum()


def test_a_term_of_ones_own_is_refused_before_it_acts(X, tmp_path):
    run = nf.Run(X, random_state=0, checkpoint=tmp_path / "state.nfmap")
    with pytest.raises(ValueError, match=r"^add: a checkpoint cannot hold a term or a penalty of one's own"):
        run.add(Own())
    assert run.terms == ()
    assert run.log == []
    run.link(must=[(1, 2)])
    assert len(run.terms) == 1


def test_a_metric_of_ones_own_is_known_by_its_name(X, tmp_path):
    kept = {"random_state": 0, "checkpoint": tmp_path / "state.nfmap", "checkpoint_every": 5}
    run = nf.Run(X, metric=city, **kept)
    run.step(10)
    again = nf.Run(X, metric=city, **kept)
    assert again.iteration == 10
    run.step(5)
    again.step(5)
    assert np.array_equal(again.Y, run.Y)
    with pytest.raises(ValueError, match="metric was city, and is end_at"):
        nf.Run(X, metric=end_at, **kept)


@pytest.mark.filterwarnings("ignore:ended at")
def test_a_model_says_nothing_of_where_its_checkpoint_was(X, tmp_path):
    path = tmp_path / "model.nfmap"
    fitted = model(checkpoint=tmp_path / "state.nfmap", max_iter=250, tol=None).fit(X)
    fitted.save(path)
    again = nf.load(path)
    assert again.checkpoint is None
    assert np.array_equal(again.transform(X[:3] + 0.1), fitted.transform(X[:3] + 0.1))
    assert nf.load(path, checkpoint="other.nfmap").checkpoint == "other.nfmap"
    assert len(fitted.extend(X[:2] + 0.1).embedding_) == 92


@pytest.mark.filterwarnings("ignore:ended at")
def test_no_file_can_say_where_is_written(X, tmp_path):
    victim = str(tmp_path / "victim")
    run = nf.Run(X, random_state=0)
    run.step(2)
    run.map().save(tmp_path / "run.nfmap")
    model(tol=None).fit(X).save(tmp_path / "model.nfmap")
    for name, key, load in [
        ("run.nfmap", "wanted", lambda path: nf.Run.load(path, X)),
        ("model.nfmap", "parameters", nf.load),
    ]:
        with np.load(tmp_path / name) as file:
            arrays = dict(file)
        about = json.loads(str(arrays["about"]))
        about["session"][key]["dict"]["checkpoint"] = victim
        np.savez(tmp_path / "crafted.npz", **arrays | {"about": np.array(json.dumps(about))})
        with pytest.raises(ValueError, match=r"crafted\.npz cannot be .*opened"):
            load(tmp_path / "crafted.npz")
    assert not os.path.exists(victim)


def test_what_makes_several_runs_or_none_takes_no_checkpoint(X, tmp_path):
    kept = {"checkpoint": tmp_path / "state.nfmap"}
    for make, message in [
        (lambda: nf.spectrum(X, (1, 4), **kept), "spectrum makes several runs"),
        (lambda: nf.align([X, X], [range(90)] * 2, **kept), "align makes several runs"),
        (lambda: nf.open_studio(X, browser=False, block=False, **kept), "the studio makes several runs"),
        (lambda: nf.Embedder("pca", **kept).fit(X), "found in one step"),
    ]:
        with pytest.raises(ValueError, match=message):
            make()
