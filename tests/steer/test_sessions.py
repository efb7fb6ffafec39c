"""What is saved reopens where it was, and the log done again gives the same map bit for bit."""

import json
import zipfile

import numpy as np
import pytest

import nearfield as nf
from nearfield.steer.log import Entry

METHODS = {
    "momentum": ("tsne", {}),
    "lbfgs": ("asne", {}),
    "in place of smacof": ("mds", {}),
    "learned parameters": ("dhssne", {}),
    "several scales": ("msasne", {}),
    "the mesh": ("tsne", {"engine": "mesh", "perplexity": 10}),
    "given positions": ("tsne", {"init": np.random.default_rng(5).normal(size=(80, 2))}),
    "random positions": ("tsne", {"init": "random"}),
    "one perplexity a point": ("tsne", {"perplexity": np.linspace(5, 20, 80)}),
    "weights": ("tsne", {"weights": np.linspace(1, 3, 80)}),
}


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(80, 5))


def steered(X, name, **more):
    """A run on which everything was done that there is."""
    run = nf.Run(X, name, random_state=0, **more)
    run.step(15)
    run.pin([3, 17], [[8.0, 0.0], [0.0, -8.0]], follow=10)
    run.step(30)
    run.pin(5, (4.0, 4.0), follow=[1, 2], penalty=nf.penalties.Gaussian(sigma2=1e3), soft=True)
    run.step(7)
    run.undo()
    run.step(3)
    run.redo()
    run.link(must=[(20, 21)], cannot=[(22, 23)])
    run.step(20)
    run.add(nf.terms.Disc([30, 31], (0.0, 0.0), 2.0))
    run.add(nf.terms.Box([32], (-1.0, -1.0), (1.0, 1.0)))
    run.settle(20)
    run.step(8)
    run.unpin(17)
    run.remove(2)
    run.step(5)
    return run


@pytest.mark.parametrize("how", METHODS)
def test_a_run_reopens_where_it_was_and_does_it_all_again_from_the_start(how, X, tmp_path):
    name, more = METHODS[how]
    run = steered(X, name, **more)
    run.map().save(tmp_path / "map.nfmap")
    reopened = nf.Run.load(tmp_path / "map.nfmap", X, n_jobs=1)
    again = nf.Run.load(tmp_path / "map.nfmap", X, replay=True)
    for other in (reopened, again):
        assert other.iteration == run.iteration
        assert other.method == run.method
        assert [str(entry) for entry in other.log] == [str(entry) for entry in run.log]
        assert other.pins.keys() == run.pins.keys()
        for i, followers in run.followers.items():
            np.testing.assert_array_equal(other.followers[i], followers)
        np.testing.assert_array_equal(other.Y, run.Y)
        assert other.map().parameters == run.map().parameters
    for each in (run, reopened, again):
        each.step(25)
    for other in (reopened, again):
        np.testing.assert_array_equal(other.Y, run.Y)
        for column, values in run.history.items():
            kept = np.isin(other.history["iteration"], run.history["iteration"])
            np.testing.assert_array_equal(other.history[column][kept][-3:], values[-3:])


def test_a_file_holds_all_that_was_done_and_no_pickle(X, tmp_path):
    run = steered(X, "tsne")
    run.map().save(tmp_path / "map.nfmap")
    with zipfile.ZipFile(tmp_path / "map.nfmap") as file:
        assert all(name.endswith(".npy") for name in file.namelist())
    with np.load(tmp_path / "map.nfmap", allow_pickle=False) as file:
        about = json.loads(str(file["about"]))
    assert about["parameters"]["random_state"] == 0
    assert about["versions"]["nearfield"] == nf.__version__
    assert [entry["with"]["command"] for entry in about["session"]["log"]["list"]] == [
        *("pin", "pin", "undo", "redo", "link", "add", "add", "settle", "unpin", "remove")
    ]
    np.testing.assert_array_equal(nf.Map.load(tmp_path / "map.nfmap").Y, run.Y)


def test_other_data_are_refused(X, tmp_path):
    nf.Run(X, random_state=0).map().save(tmp_path / "map.nfmap")
    with pytest.raises(ValueError, match="made of other data"):
        nf.Run.load(tmp_path / "map.nfmap", X + 1)


def test_a_map_without_its_run_cannot_be_gone_on_with(X, tmp_path):
    nf.Map(np.zeros((80, 2))).save(tmp_path / "map.nfmap")
    with pytest.raises(ValueError, match="a map without the run"):
        nf.Run.load(tmp_path / "map.nfmap", X)


def test_a_composition_is_in_the_file(X, tmp_path):
    method = nf.Method(nf.costs.JensenShannon(kappa=0.3), nf.kernels.Student(), normalization="pair")
    run = nf.Run(X, method, random_state=0)
    run.step(20)
    run.map().save(tmp_path / "map.nfmap")
    with pytest.raises(ValueError, match="and not with"):
        nf.Run.load(tmp_path / "map.nfmap", X, method=nf.method("tsne"))
    for given in ({}, {"method": method}):
        again = nf.Run.load(tmp_path / "map.nfmap", X, **given)
        assert again.method == method
        np.testing.assert_array_equal(again.Y, run.Y)


class Steep(nf.kernels.Kernel):
    def value(self, f):
        return 1 / (1 + f) ** 2

    def derivative(self, f):
        return -2 / (1 + f) ** 3


def test_a_part_of_ones_own_has_to_be_passed_again(X, tmp_path):
    method = nf.Method(nf.costs.KL(), Steep(), normalization="pair")
    run = nf.Run(X, method, random_state=0)
    run.step(20)
    run.map().save(tmp_path / "map.nfmap")
    with pytest.raises(ValueError, match="was made with a composition"):
        nf.Run.load(tmp_path / "map.nfmap", X)
    np.testing.assert_array_equal(nf.Run.load(tmp_path / "map.nfmap", X, method=method).Y, run.Y)


class Own(nf.terms.Term):
    def evaluate(self, Y):
        return 0.0, np.array([3]), np.zeros((1, 2))


def test_a_term_of_ones_own_is_named_when_it_is_in_the_way(X, tmp_path):
    run = nf.Run(X, random_state=0)
    run.add(Own())
    run.map().save(tmp_path / "map.nfmap")
    with pytest.raises(ValueError, match="an object of class Own was in use"):
        nf.Run.load(tmp_path / "map.nfmap", X)
    np.testing.assert_array_equal(nf.Map.load(tmp_path / "map.nfmap").Y, run.Y)


def test_a_file_can_call_nothing_but_commands(tmp_path, random):
    X = random.normal(size=(40, 3))
    run = nf.Run(X, random_state=0)
    run.step(20)
    run._journal.entries.append(Entry(20, "load", {"path": "elsewhere", "X": X}))
    run.map().save(tmp_path / "map.nfmap")
    with pytest.raises(ValueError, match="no command of a run"):
        nf.Run.load(tmp_path / "map.nfmap", X, replay=True)
