"""The moments engine against the exact one: the same numbers, without pairs."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import nearfield as nf
from nearfield.engine.exact.chain import Exact
from nearfield.engine.moments import Moments, squares_differ
from support.compositions import defined

SSTRESS = [nf.method("sstress"), nf.Method(nf.costs.Stress(), transform=nf.transforms.Square())]
N = 120


def data(kind, random):
    X = random.normal(size=(N, 6)) * [3, 2, 1, 1, 0.5, 0.1]
    if kind == "offset":
        return X + 1e3
    if kind == "wide":  # more columns than points
        return random.normal(size=(N, 3 * N))
    if kind == "sparse":
        return sparse.csr_matrix(X * (random.random(X.shape) < 0.3))
    if kind == "sparse offset":
        return sparse.coo_array(X + 30.0)
    if kind == "float32":
        return X.astype(np.float32)
    return np.rint(4 * X).astype(int) if kind == "integers" else X


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "kind", ["plain", "offset", "wide", "sparse", "sparse offset", "float32", "integers"]
)
@pytest.mark.parametrize("method", SSTRESS, ids=str)
def test_it_is_the_exact_engine(method, kind, dimensions, random):
    X = data(kind, random)
    Y = 2 * random.normal(size=(N, dimensions)) + 50.0  # where the map is does not matter
    dense = (X.toarray() if sparse.issparse(X) else X).astype(float)
    a = Exact(method, method.target(dense)).evaluate(Y)
    b = Moments(method, X).evaluate(Y)
    assert b.value == b.cost == pytest.approx(a.value, rel=1e-9)
    assert np.linalg.norm(b.gradient - a.gradient) < 1e-9 * np.linalg.norm(a.gradient)
    assert np.isnan(Moments(method, X).evaluate(Y, want_value=False).value)


def test_which_facts_it_takes():
    assert all(map(squares_differ, SSTRESS))
    assert sum(map(squares_differ, defined())) == 1  # of all compositions there the one that is SSTRESS
    for other in ("mds", "sammon", "nmmds", "tsne"):
        assert not squares_differ(nf.method(other))
        with pytest.raises(ValueError, match="squared differences"):
            Moments(nf.method(other), np.eye(3))


def test_a_cost_of_ones_own_takes_it_by_its_facts(random):
    class Mine(nf.costs.Cost):
        domains = frozenset({"distances"})
        power_difference = 2.0

        def value(self, p, q):
            return (p**2 - q**2) ** 2

        def derivative(self, p, q):
            return 4 * q * (q**2 - p**2)

    X, Y = random.normal(size=(30, 4)), random.normal(size=(30, 2))
    method = nf.Method(Mine())
    assert nf.Run(X, method).plan.engine == "moments"
    assert Moments(method, X).evaluate(Y).value == pytest.approx(
        Exact(method, method.target(X)).evaluate(Y).value
    )


@pytest.mark.parametrize("kind", ["plain", "sparse"])
def test_threads_do_not_change_a_bit(kind, random):
    X, Y = data(kind, random), random.normal(size=(N, 2))
    one, four = (Moments(SSTRESS[0], X, n_jobs).evaluate(Y) for n_jobs in (1, 4))
    assert one.value == four.value
    assert np.array_equal(one.gradient, four.gradient)


def test_a_perfect_map_costs_nothing(random):
    X = random.normal(size=(N, 2)) + 1e3
    turned = X @ np.array([[0.6, -0.8], [0.8, 0.6]])
    engine = Moments(SSTRESS[0], X)
    dot, perfect = engine.evaluate(np.zeros_like(X)), engine.evaluate(turned)
    assert 0 <= perfect.value < 1e-12 * dot.value


def test_what_it_refuses(random):
    method = SSTRESS[0]
    with pytest.raises(ValueError, match="all 5 points are equal"):
        Moments(method, np.ones((5, 3)))
    with pytest.raises(ValueError, match="at least 2 points"):
        Moments(method, np.ones((1, 3)))
    with pytest.raises(ValueError, match="NaN in row 1"):
        Moments(method, np.array([[0.0], [np.nan]]))
    with pytest.raises(ValueError, match="too large"), np.errstate(over="ignore"):
        Moments(method, 1e100 * np.eye(3))
    with pytest.raises(ValueError, match="exaggeration"):
        Moments(method, np.eye(3)).evaluate(np.eye(3), exaggeration=4)
    with pytest.raises(ValueError, match=r"\(3, dimensions\)"):
        Moments(method, np.eye(3)).evaluate(np.eye(4))


@pytest.mark.parametrize("init", ["pca", "random"])
def test_a_run_takes_the_same_way_as_over_all_pairs(init, random):
    X = random.normal(size=(60, 5))
    fast, slow = (nf.Run(X, "sstress", init=init, engine=e, random_state=0) for e in ("auto", "exact"))
    assert (fast.plan.engine, slow.plan.engine) == ("moments", "exact")
    assert fast.cost == pytest.approx(slow.cost, rel=1e-9)
    fast.converge()
    slow.converge()
    assert fast.cost == pytest.approx(slow.cost, rel=1e-6)


def test_what_is_not_euclidean_data_goes_over_all_pairs(random):
    X = random.normal(size=(20, 3))
    D = SSTRESS[0].target(X)
    assert nf.Run(D, "sstress", metric="precomputed").plan.engine == "exact"
    assert nf.Run(X, "sstress", metric="cosine").plan.engine == "exact"
    assert nf.Run(X, "sstress", init="spectral").plan.engine == "exact"
    with pytest.raises(ValueError, match=r"metric 'euclidean'.*use engine='exact'"):
        nf.Run(X, "sstress", metric="cosine", engine="moments")
    with pytest.raises(ValueError, match="not the squared difference"):
        nf.Run(X, "tsne", engine="moments")


def test_memory_does_not_grow_with_the_pairs(random):
    X = random.normal(size=(5000, 20))
    tracemalloc.start()
    run = nf.Run(X, "sstress", random_state=0)
    run.converge(200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= run.plan.memory < 8 * len(X) ** 2 / 4
    assert run.history["cost"][-1] < run.history["cost"][0]
