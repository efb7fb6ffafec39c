"""Costs of distances on drawn pairs, against all of them."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.affinity.source import Source
from nearfield.engine.exact.chain import exact
from nearfield.engine.pairs import Pairs
from nearfield.engine.plan import plan
from nearfield.engine.task import Task

METHODS = [
    nf.method("mds"),
    nf.method("sammon"),
    nf.method("sstress"),
    nf.Method(nf.costs.Stress(), transform=nf.transforms.Power(1.5)),
]


@pytest.fixture(scope="module")
def X():
    random = np.random.default_rng(0)
    return random.normal(size=(1200, 5)) * [3, 2, 2, 1, 1] + 3 * random.integers(0, 3, size=(1200, 1))


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_cost_and_gradient_are_those_of_all_pairs_but_for_the_draw(method, dimensions, X, random):
    Y = 0.8 * X[:, :dimensions] + 0.1 * random.normal(size=(1200, dimensions))
    a, b = exact(method, method.target(X)).evaluate(Y), Pairs(method, Source.of(X)).evaluate(Y)
    assert b.cost == pytest.approx(a.cost, rel=0.05)
    agree = np.sum(a.gradient * b.gradient) / np.linalg.norm(a.gradient) / np.linalg.norm(b.gradient)
    assert agree > 0.9
    assert np.abs(b.gradient.sum(axis=0)).max() < 1e-3 * np.linalg.norm(b.gradient)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_gradient_is_that_of_the_cost(method, X, random):
    engine, Y = Pairs(method, Source.of(X[:200])), X[:200, :2] + 0.1 * random.normal(size=(200, 2))
    way = random.normal(size=Y.shape)
    h = 1e-2 / np.linalg.norm(way)
    slope = (engine.evaluate(Y + h * way).cost - engine.evaluate(Y - h * way).cost) / (2 * h)
    assert np.sum(engine.evaluate(Y).gradient * way) == pytest.approx(slope, rel=0.02)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_threads_do_not_change_a_bit(method, X):
    one, four = (Pairs(method, Source.of(X, n_jobs=n_jobs)).evaluate(X[:, :2]) for n_jobs in (1, 4))
    assert one.value == four.value
    assert np.array_equal(one.gradient, four.gradient)


@pytest.mark.parametrize("name", ["mds", "sammon"])
def test_a_map_on_drawn_pairs_is_as_good_as_one_on_all(name, X):
    method = nf.method(name)
    all_pairs = exact(method, method.target(X))
    costs = {}
    for engine in ("exact", "pairs"):
        run = nf.Run(X, name, engine=engine, random_state=0)
        run.converge(500)
        costs[engine] = all_pairs.evaluate(run.Y).cost
    assert costs["pairs"] < 1.02 * costs["exact"]


def test_units_and_duplicates_do_no_harm(X):
    for factor in (1e15, 1e-15):
        run = nf.Run(np.repeat(X[:200], 2, axis=0) * factor, "sammon", engine="pairs", random_state=0)
        run.step(30)
        assert np.std(run.Y) == pytest.approx(factor * np.std(X[:200, :2]), rel=0.5)


@pytest.mark.parametrize("init", ["pca", "random"])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed", "manhattan"])
def test_it_takes_data_and_distances(metric, init, X):
    data = nf.Method(nf.costs.Stress()).target(X[:300]) if metric == "precomputed" else X[:300]
    run = nf.Run(data, "mds", engine="pairs", metric=metric, init=init, random_state=0)
    before = run.cost
    run.step(20)
    assert run.cost < before


def test_the_plan_knows_when():
    assert plan(nf.method("mds"), 70_000, 2).engine == "pairs"
    assert plan(nf.method("mds"), 2000, 2).engine == "exact"
    assert "weights" in Pairs.obstacle(Task(nf.method("mds"), weighted=True))
    assert "spectral" in Pairs.obstacle(Task(nf.method("mds"), drawable=False))
    assert "tied" in Pairs.obstacle(Task(nf.method("nmmds")))
    assert "no cost of distances" in Pairs.obstacle(Task(nf.method("tsne")))
    with pytest.raises(ValueError, match="all plain distances"):
        nf.Run(np.eye(30), "mds", engine="pairs", optimizer="smacof")
