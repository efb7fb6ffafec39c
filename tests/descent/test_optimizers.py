"""SMACOF is the Guttman transform, L-BFGS only goes down, momentum gets there, and all mirror alike."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import nearfield as nf
from nearfield.affinity.distances import distances
from nearfield.descent.optimizers import LBFGS, SMACOF, Momentum, choose, majorizes, optimizer
from nearfield.descent.problem import Point
from nearfield.descent.schedule import Phase
from nearfield.engine.base import RunAway

seeds = st.integers(0, 2**32 - 1)
LATE = Phase(None)


def dissimilarities(random, n):
    """Symmetric, but distances of no space."""
    D = random.uniform(0.1, 5, size=(n, n))
    D += D.T
    np.fill_diagonal(D, 0.0)
    return D


def guttman(R, Y):
    """De Leeuw's transform as it is written down: B(Y) Y/n."""
    d = distances(Y)
    ratio = np.divide(R, d, out=np.zeros_like(R), where=d > 0)
    B = np.diag(ratio.sum(axis=1)) - ratio
    return B @ Y / len(Y)


class Plain:
    """Something to minimise that has nothing to do with maps: no step is too long, and every digit counts."""

    relative_error, reach = 1e-15, np.inf

    def shorten(self, direction, z):
        pass

    def proportion(self, direction, z):
        return 1.0

    def dot(self, a, b):
        return float(a @ b)

    def norm(self, a):
        return float(np.linalg.norm(a))

    def largest(self, a):
        return float(np.abs(a).max())


class Bowl(Plain):
    """A quadratic of any condition."""

    def __init__(self, curvature, lowest, rate=1.0):
        self.curvature, self.lowest = curvature, lowest
        self.rates = np.full(len(lowest), rate)
        self.shape = (len(lowest), 1)

    def __call__(self, z, want_value=True):
        pull = self.curvature @ (z - self.lowest)
        value = 0.5 * (z - self.lowest) @ pull
        return Point(value, value, pull)


class Valley(Plain):
    """Rosenbrock's curved valley."""

    rates = np.ones(2)
    shape = (2, 1)

    def __call__(self, z, want_value=True):
        x, y = z
        value = (1 - x) ** 2 + 100 * (y - x * x) ** 2
        return Point(value, value, np.array([2 * (x - 1) - 400 * x * (y - x * x), 200 * (y - x * x)]))


def minimise(method, problem, z, steps):
    values = []
    method.begin(z, LATE)
    for _ in range(steps):
        z, before = method.step(z, problem, LATE, True)
        values.append(before.value)
    return z, np.array(values)


def bowl(seed, size, condition, rate=1.0):
    random = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(random.normal(size=(size, size)))
    return Bowl(turn * np.geomspace(1, condition, size) @ turn.T, random.normal(size=size), rate)


@given(seed=seeds, n=st.integers(3, 40), dimensions=st.integers(1, 3))
def test_smacof_is_the_guttman_transform(seed, n, dimensions):
    random = np.random.default_rng(seed)
    R, Y = dissimilarities(random, n), random.normal(size=(n, dimensions))
    Y[1] = Y[0]  # coincident points pull in no direction
    run = nf.Run(R, "mds", metric="precomputed", init=Y, n_components=dimensions, optimizer="smacof")
    expected = run.Y
    for _ in range(3):
        run.step()
        expected = guttman(R, expected)
        np.testing.assert_allclose(run.Y, expected, atol=1e-9)


@settings(max_examples=30)
@given(seed=seeds, n=st.integers(3, 30), dimensions=st.integers(1, 3))
def test_smacof_never_raises_the_stress(seed, n, dimensions):
    R = dissimilarities(np.random.default_rng(seed), n)
    run = nf.Run(R, "mds", metric="precomputed", init="random", n_components=dimensions, random_state=seed)
    costs = [run.cost]
    for _ in range(30):
        run.step()
        costs.append(run.cost)
    assert np.all(np.diff(costs) <= 1e-12 * costs[0])
    assert costs[-1] < costs[0]


@pytest.mark.parametrize("name", nf.methods())
@pytest.mark.parametrize("init", ["pca", "random"])
def test_lbfgs_never_raises_the_value(name, init, random):
    X = random.normal(size=(30, 4)) + 6 * (np.arange(30) % 3)[:, None]
    run = nf.Run(X, name, optimizer="lbfgs", exaggeration=1, init=init, random_state=0, n_jobs=1)
    costs, scales = [run.cost], [len(run.method.precisions)]
    for _ in range(60):
        run.step()
        costs.append(run.cost)
        scales.append(len(run.method.precisions))
    same = np.diff(scales) == 0  # a scale that enters makes it another problem
    assert np.all(np.diff(costs)[same] <= 1e-10 * np.abs(costs[0]))
    assert costs[-1] < costs[0]


@given(seed=seeds, size=st.integers(2, 10), condition=st.floats(1, 1e3), rate=st.floats(1e-2, 1e2))
def test_lbfgs_finds_the_bottom_of_any_bowl(seed, size, condition, rate):
    problem = bowl(seed, size, condition, rate)
    found, values = minimise(LBFGS(), problem, np.zeros(size), 120)
    np.testing.assert_allclose(found, problem.lowest, atol=1e-6)
    assert np.all(np.diff(values) <= 0)


@pytest.mark.parametrize("start", [(-1.2, 1.0), (0.0, 0.0), (3.0, -2.0)])
def test_lbfgs_follows_a_curved_valley(start):
    found, _ = minimise(LBFGS(), Valley(), np.array(start), 100)
    np.testing.assert_allclose(found, 1.0, atol=1e-6)


@settings(max_examples=30)
@given(seed=seeds, size=st.integers(2, 6), condition=st.floats(1, 20))
def test_momentum_finds_the_bottom_of_a_round_bowl(seed, size, condition):
    problem = bowl(seed, size, condition, rate=0.05 / condition)
    found, values = minimise(Momentum(), problem, np.zeros(size), 3000)
    np.testing.assert_allclose(found, problem.lowest, atol=1e-3)
    assert values[-1] < 1e-5 * values[0]


@settings(max_examples=30)
@given(seed=seeds, steered=st.floats(0.1, 0.99), rest=st.floats(0.1, 0.99))
def test_where_nothing_pushes_any_more_each_point_keeps_its_own_share_of_its_velocity(seed, steered, rest):
    velocity, who = np.random.default_rng(seed).normal(size=6), np.array([1, 4])
    method = Momentum(velocity.copy(), np.ones(6))

    class Plain:
        rates = np.ones(6)

        def __call__(self, z, want_value=True):
            return Point(0.0, 0.0, np.zeros(6), 0.0, who)

    method.step(np.zeros(6), Plain(), Phase(None, momentum=rest, steered_momentum=steered), True)
    share = np.full(6, rest)
    share[who] = steered
    np.testing.assert_allclose(method.velocity, share * velocity, rtol=1e-14)


@pytest.mark.parametrize("wall", [1e-3, 0.5, 30.0])
def test_lbfgs_stays_where_the_engine_can_follow(wall):
    """A step beyond that is too long, and not the end of the run."""

    class Walled(Bowl):
        def __call__(self, z, want_value=True):
            if np.abs(z).max() > wall:
                raise RunAway("too wide")
            return super().__call__(z, want_value)

    bowl, z, lbfgs = Walled(np.diag([1.0, 30.0]), np.array([100.0, 0.0]), rate=5.0), np.zeros(2), LBFGS()
    for _ in range(60):
        z, _ = lbfgs.step(z, bowl, LATE, True)
    assert 0.5 * wall < z[0] <= wall


def test_lbfgs_stays_at_a_minimum():
    problem = bowl(0, 4, 10.0)
    found, values = minimise(LBFGS(), problem, problem.lowest.copy(), 3)
    np.testing.assert_array_equal(found, problem.lowest)
    assert np.all(values == 0)


@pytest.mark.parametrize("kind", [Momentum, LBFGS])
def test_a_copy_goes_on_from_where_it_was_taken(kind):
    problem, method = bowl(1, 5, 50.0, rate=0.001), kind()
    z, _ = minimise(method, problem, np.zeros(5), 7)
    kept = method.copy()
    first = z
    for _ in range(5):
        first, _ = method.step(first, problem, LATE, True)
    again = z
    for _ in range(5):
        again, _ = kept.step(again, problem, LATE, True)
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("name", ["momentum", "lbfgs", "smacof"])
def test_a_mirrored_start_leads_to_the_mirrored_map(name, random):
    X, Y = random.normal(size=(40, 4)), random.normal(size=(40, 2))
    method = "mds" if name == "smacof" else "tsne"
    here, there = (nf.Run(X, method, init=side * Y, optimizer=name) for side in (1.0, -1.0))
    here.step(20)
    there.step(20)
    np.testing.assert_array_equal(here.Y, -there.Y)


@pytest.mark.parametrize("name", ["lbfgs", "smacof"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_mds_of_iris_has_the_published_stress(name, scale):
    X = scale * load_iris().data
    run = nf.Run(X, "mds", optimizer=name)
    assert run.converge(1000, tol=1e-7)
    d, r = distances(run.Y), distances(X)
    assert f"{np.sqrt(((r - d) ** 2).sum() / (d**2).sum()):.5f}" == "0.03273"


def test_sammons_map_of_iris_has_the_published_error():
    X = np.delete(load_iris().data, 142, axis=0)  # row 143 repeats row 102
    assert np.all(load_iris().data[142] == load_iris().data[101])
    run = nf.Run(X, "sammon")
    assert run.converge(1000, tol=1e-7)
    assert f"{run.cost:.5f}" == "0.00396"


def test_momentum_and_lbfgs_agree_on_how_low_tsne_gets(random):
    X = random.normal(size=(80, 4)) + 5 * (np.arange(80) % 4)[:, None]
    runs = [nf.Run(X, "tsne", perplexity=10, optimizer=name) for name in ("momentum", "lbfgs")]
    for run in runs:
        run.converge(1000)
    assert runs[0].cost == pytest.approx(runs[1].cost, rel=0.15)


@pytest.mark.parametrize("name", nf.methods())
def test_the_facts_choose_the_optimizer(name):
    method = nf.method(name)
    chosen = type(optimizer(choose("auto", method)))
    if majorizes(method):
        assert chosen is SMACOF
    elif method.kernel is None or method.normalization == "none" or not method.cost.cross_entropy:
        assert chosen is LBFGS
    else:
        assert chosen is (LBFGS if method.kernel.underflows else Momentum)


@pytest.mark.parametrize("name", nf.methods())
def test_smacof_is_for_the_plain_stress_alone(name):
    method = nf.method(name)
    if name == "mds":
        assert choose("smacof", method) == "smacof"
        return
    with pytest.raises(ValueError, match="plain distances only: use 'lbfgs'"):
        choose("smacof", method)


def test_an_unknown_optimizer_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="one of auto, momentum, lbfgs, smacof, flow, got 'adam'"):
        choose("adam", nf.method("tsne"))
