"""Several scales on the mesh: fields, and sums over those close by, against the exact engine."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.affinity.distances import distances
from nearfield.affinity.rungs import OfAllPairs, OfStrata
from nearfield.affinity.source import Source
from nearfield.affinity.strata import strata
from nearfield.engine.exact.chain import Exact, exact
from nearfield.engine.mesh.narrow import Levels, Narrow
from nearfield.engine.mesh.scales import Scales, mesh

pytestmark = pytest.mark.slow

COSTS = [nf.costs.KL(), nf.costs.JensenShannon(0.4), nf.costs.ChiSquare(), nf.costs.Hellinger()]
# From wider than the map to so narrow that hardly a point sees another; a tail that narrow wants a huge grid.
PRECISIONS = {"wide": (0.5, 0.1, 0.02), "narrow": (400.0, 40.0, 4.0, 0.4), "tiny": (1e5, 1e3, 0.3)}
BELLS = [(nf.kernels.Gaussian(0.7), precisions) for precisions in PRECISIONS]
TAILS = [(kernel, "wide") for kernel in (nf.kernels.Student(), nf.kernels.HeavyTailed(0.5, 1.3))]
N = 300


@pytest.fixture(scope="module")
def X():
    random = np.random.default_rng(3)
    return np.vstack([random.normal(size=(N // 4, 6)) + 3 * random.normal(size=6) for _ in range(4)])


def mapped(X, dimensions, random):
    """A map that float32 can hold."""
    Y = X[:, :dimensions] - X[:, :dimensions].mean(axis=0)
    return (Y + 0.2 * random.normal(size=Y.shape)).astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize(("kernel", "precisions"), BELLS + TAILS, ids=str)
@pytest.mark.parametrize("normalization", ["pair", "point"])
@pytest.mark.parametrize("cost", COSTS, ids=repr)
def test_it_is_the_exact_engine_to_its_accuracy(
    cost, normalization, kernel, precisions, dimensions, X, random
):
    method = nf.Method(cost, kernel, normalization, scales=PRECISIONS[precisions])
    P, Y = method.target(X, perplexity=[8, 60]), mapped(X, dimensions, random)
    a = Exact(method, P).evaluate(Y)
    b = mesh(method, P, accuracy=1e-3).evaluate(Y)
    norm = np.linalg.norm(a.gradient)
    assert np.linalg.norm(b.gradient - a.gradient) < 0.02 * norm
    assert b.cost == pytest.approx(a.cost, rel=1e-2)
    assert np.abs(b.gradient.sum(axis=0)).max() < 0.02 * norm


@pytest.mark.parametrize("normalization", ["pair", "point"])
def test_the_exact_closed_form_is_the_chain(normalization, X, random):
    for precisions in (*PRECISIONS.values(), (16.0, 4.0, 1.0), (8.0, 4.0, 2.0, 1.0), (0.3,)):
        method = nf.Method(nf.costs.KL(), nf.kernels.Gaussian(0.7), normalization, scales=precisions)
        P, Y = method.target(X, perplexity=[8, 60]), mapped(X, 2, random)
        chain, closed = Exact(method, P), exact(method, P)
        assert type(closed) is not Exact
        a, b = chain.evaluate(Y), closed.evaluate(Y)
        assert b.value == pytest.approx(a.value, rel=1e-9)
        assert np.allclose(b.gradient, a.gradient, rtol=1e-7, atol=1e-9 * np.abs(a.gradient).max())
        closed.n_jobs = 1
        assert np.array_equal(closed.evaluate(Y, want_value=False).gradient, b.gradient)


@pytest.mark.parametrize("normalization", ["pair", "point"])
@pytest.mark.parametrize("cost", COSTS[:2], ids=repr)
def test_strata_stand_for_all_pairs(cost, normalization, random):
    """Σ c p g over the strata is Σ p g over all pairs, but for the draw."""
    X = random.normal(size=(1500, 5)) + 4 * random.integers(0, 3, size=(1500, 1))
    method = nf.Method(cost, nf.kernels.Gaussian(), normalization, scales=(8.0, 1.0, 0.1))
    perplexities = np.array([4.0, 32.0, 256.0])
    dense = OfAllPairs(method, distances(X, squared=True), perplexities).target()
    drawn = OfStrata(method, strata(Source.of(X)), perplexities).target()
    Y = mapped(X, 2, random)
    a, b = Exact(method, dense).evaluate(Y), mesh(method, drawn, accuracy=1e-3).evaluate(Y)
    assert b.cost == pytest.approx(a.cost, rel=0.02)
    agree = np.sum(a.gradient * b.gradient) / np.linalg.norm(a.gradient) / np.linalg.norm(b.gradient)
    assert agree > 0.98
    assert np.linalg.norm(b.gradient) == pytest.approx(np.linalg.norm(a.gradient), rel=0.05)


@pytest.mark.parametrize("normalization", ["pair", "point"])
@pytest.mark.parametrize("cost", COSTS[:2], ids=repr)
def test_threads_do_not_change_a_bit(cost, normalization, X, random):
    method = nf.Method(cost, nf.kernels.Gaussian(), normalization, scales=PRECISIONS["narrow"])
    P, Y = method.target(X, perplexity=[8, 60]), mapped(X, 2, random)
    one, four = (mesh(method, P, n_jobs).evaluate(Y) for n_jobs in (1, 4))
    assert one.value == four.value
    assert np.array_equal(one.gradient, four.gradient)


@pytest.mark.parametrize("normalization", ["pair", "point"])
def test_lone_and_coincident_points_give_no_nan(normalization, X, random):
    method = nf.Method(nf.costs.KL(), nf.kernels.Gaussian(), normalization, scales=PRECISIONS["tiny"])
    P, Y = method.target(X, perplexity=[8, 60]), mapped(X, 2, random)
    Y[0], Y[1] = 12.0, Y[2]
    at, wanted = mesh(method, P).evaluate(Y), Exact(method, P).evaluate(Y)
    assert np.all(np.isfinite(at.gradient))
    assert at.value == pytest.approx(wanted.value, rel=0.05)


def test_the_sums_over_those_close_by_are_those_over_all(X, random):
    Y = mapped(X, 2, random).astype(np.float32)
    Y[0] = 60.0  # whose nearest is many cells away
    beta = np.array([300.0, 30.0])
    narrow = Narrow(Y, beta, True)
    assert narrow.narrow.all()
    f = ((Y[:, None].astype(np.float64) - Y[None]) ** 2).sum(-1)
    np.fill_diagonal(f, np.inf)
    wanted = np.column_stack([np.logaddexp.reduce(-b * f, axis=1) for b in beta])
    levels = Levels.of(N, 2)
    narrow.sums(np.ones((N, 2), dtype=bool), levels)
    assert np.allclose(levels.logs - beta * levels.nearest, wanted, rtol=1e-5, atol=0.02)
    assert np.allclose(levels.nearest, f.min(axis=1)[:, None], rtol=1e-5)


def test_a_tail_is_never_narrow(random):
    assert not Narrow(
        random.normal(size=(500, 2)).astype(np.float32), np.array([1e4, 1.0]), False
    ).narrow.any()


def test_auto_takes_it_from_a_thousand_points_on(random):
    X = random.normal(size=(1100, 4))
    run = nf.Run(X, "msasne", random_state=0)
    assert run.plan.engine == "mesh"
    assert isinstance(run._descent.problem.engine, Scales)
    run.step(3)
    assert nf.Run(X[:300], "msasne").plan.engine == "exact"
    assert nf.Run(X, "msnerv").plan.engine == "exact"
