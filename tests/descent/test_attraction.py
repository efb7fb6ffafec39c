"""Attraction that stays stronger or weaker to the end."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.descent.schedule import GROWING
from nearfield.engine.own_row import OwnRowCost

random = np.random.default_rng(0)
X = 5 * random.integers(0, 2, (200, 1)) + random.normal(size=(200, 2)) @ random.normal(size=(2, 5))
METHODS = [nf.method(name) for name in nf.methods()]
STRENGTHENED = [m for m in METHODS if m.kernel is not None and not m.climbs and m.cost.facts.degree == 1]
WEAKENED = (
    "tsne",
    "tasne",
    "hssne",
    "dhssne",
    "itsne",
    "wtsne",
    "mstsne",
    "gkl",
    "ee",
    "largevis",
    "umap",
    "umap_sampled",
)


def name(method):
    return next(each for each in nf.methods() if nf.method(each) == method)


@pytest.mark.parametrize("engine", ["exact", "mesh"])
@pytest.mark.parametrize("attraction", [0.5, 1.5, 3.0])
def test_what_is_left_in_the_end_is_minimised_and_told(engine, attraction):
    method = nf.method("tsne")
    P = method.target(X, perplexity=8)  # the same for both engines, which take other neighbours otherwise
    options = {"metric": "affinity", "engine": engine, "accuracy": 1e-3, "random_state": 0}
    run = nf.Run(P, "tsne", attraction=attraction, **options)
    run.converge(400)
    assert run.history["exaggeration"][-1] == attraction
    assert run.history["exaggeration"].max() == max(12.0, attraction)
    value, _ = method.value_and_gradient(run.Y, P, exaggeration=attraction)
    assert run.cost == pytest.approx(value, rel=1e-2)
    assert run.map().parameters["attraction"] == attraction


@pytest.mark.parametrize("method", STRENGTHENED, ids=name)
def test_every_method_goes_down_to_its_own_minimum(method):
    """Guides, L-BFGS and learned parameters included: the end is lower than that of the method as it is."""
    options = {"perplexity": [4.0, 8.0] if method.scales else 8, "random_state": 0, "engine": "exact"}
    plain, strong = (nf.Run(X[::2], method, attraction=a, **options) for a in (1.0, 4.0))
    plain.converge(600)
    assert strong.converge(1000)
    target = strong._descent.own_engine.p
    values = [run.method.value_and_gradient(run.Y, target, exaggeration=4.0)[0] for run in (plain, strong)]
    assert strong.cost == pytest.approx(values[1], rel=1e-9)
    assert values[1] < values[0]


def test_stronger_attraction_makes_a_smaller_map_and_one_is_the_method():
    plain, strong = (nf.TSNE(perplexity=8, attraction=a, random_state=0).fit_transform(X) for a in (1, 3))
    assert strong.std() < 0.7 * plain.std()
    assert np.array_equal(plain, nf.TSNE(perplexity=8, random_state=0).fit_transform(X))


def test_weaker_attraction_makes_a_larger_map_that_ends_where_it_is_said():
    model = nf.TSNE(perplexity=8, attraction=0.5, random_state=0).fit(X)
    assert model.converged_
    assert model.n_iter_ <= 60 + GROWING
    assert model.embedding_.std() > 1.5 * nf.TSNE(perplexity=8, random_state=0).fit_transform(X).std()
    run = nf.Run(X, "tsne", perplexity=8, attraction=0.5, random_state=0)
    assert run.converge(10_000, tol=0.0)
    assert run.iteration == 60 + GROWING
    run.pin(0, (9, 0))  # from which on it has so many again
    run.settle(20)
    assert run.converge(10_000, tol=0.0)
    assert run.iteration == 60 + 2 * GROWING + 20


def test_a_new_row_feels_the_same_attraction(tmp_path):
    model = nf.TSNE(perplexity=8, attraction=3, random_state=0).fit(X)
    assert model._reference.held.attraction == 3
    place = model.transform(X[:1] + 1e-6)
    assert np.linalg.norm(place - model.embedding_[:1]) < 0.2 * model.embedding_.std()
    model.save(tmp_path / "model.nfmap")
    again = nf.load(tmp_path / "model.nfmap")
    assert np.array_equal(again.transform(X[:9] + 0.01), model.transform(X[:9] + 0.01))


def test_a_row_of_a_kernel_of_each_point_feels_it_too():
    model = nf.Embedder("itsne", perplexity=8, attraction=3, max_iter=150, random_state=0).fit(X[::2])
    reference = model._reference
    ties = reference.fitted.ties(X[1:4], reference.held.method, 8, all_pairs=True)
    cost = OwnRowCost(reference.held.method, reference.held.Y, ties, attraction=reference.held.attraction)
    rows, y = np.arange(3), model.embedding_[:3] + 0.3
    gradient = cost.at(rows, y)[1]
    for axis in (0, 1):
        step = 1e-5 * np.eye(2)[axis]
        slope = (cost.at(rows, y + step)[0] - cost.at(rows, y - step)[0]) / 2e-5
        np.testing.assert_allclose(gradient[:, axis], slope, rtol=1e-4, atol=1e-6)


def test_a_run_that_is_reopened_goes_on_with_it(tmp_path):
    run = nf.Run(X[::2], "tsne", perplexity=8, attraction=3, random_state=0)
    run.step(30)
    run.map().save(tmp_path / "map.nfmap")
    again = nf.Run.load(tmp_path / "map.nfmap", X[::2])
    run.step(50)
    again.step(50)
    assert np.array_equal(run.Y, again.Y)
    assert run.cost == again.cost


def test_what_has_no_attraction_refuses():
    for method in METHODS:
        if method not in STRENGTHENED:
            with pytest.raises(ValueError, match="at 1"):
                nf.Run(X, method, attraction=2)
        elif name(method) not in WEAKENED:
            with pytest.raises(ValueError, match="nothing holds"):
                nf.Run(X, method, attraction=0.5)
    for wrong in (0, np.nan, True, "strong", 1e6):
        with pytest.raises(ValueError, match=r"0\.01 to 1000"):
            nf.Run(X, "tsne", attraction=wrong)
