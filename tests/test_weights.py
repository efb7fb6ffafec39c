"""A row of weight m is m equal rows: the same target, cost, gradient and descent."""

import numpy as np
import pytest
from scipy import sparse

import nearfield as nf
from nearfield.affinity.copies import check_weights
from nearfield.descent.setup import _with_parameters_of_points
from nearfield.engine.exact.chain import Exact
from nearfield.engine.mesh.one_scale import Mesh
from nearfield.engine.moments import Moments
from nearfield.engine.plan import plan
from nearfield.engine.task import Task
from support.cells import every
from support.compositions import defined, name
from support.targets import sparse_target, target

pytestmark = pytest.mark.slow

N = 14
KINDS = ["tsne", "asne", "gkl"]  # joint, row and bare
METHODS = defined()
ON_MESH = [method for method in METHODS if Mesh.obstacle(Task(method, weighted=True)) is None]


@pytest.fixture
def m(random):
    return np.array([1, 3, *random.integers(1, 5, size=N - 2)], dtype=float)


@pytest.fixture
def X(random):
    return random.normal(size=(N, 4))


def copies(m):
    """Which point each of the repeated rows is a copy of."""
    return np.repeat(np.arange(len(m)), m.astype(int))


def repeated(P, m):
    """P between all copies; none with itself."""
    of = copies(m)
    P = P[np.ix_(of, of)].copy()
    np.fill_diagonal(P, 0.0)
    return P


def random_target(method, m, random):
    """A target between single copies, whose normalization counts all of them."""
    n = len(m)
    if method.target_kind == "distances":
        X = random.normal(size=(n, 4))
        return np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    P = random.uniform(0.1, 1.0, size=(n, n))
    P[random.uniform(size=(n, n)) < 0.2] = 0.0
    P[np.diag_indices(n)] = 0.7
    return target(method, P, metric="affinity", weights=m)


def of_points(values, m):
    """What all copies of each point have together."""
    return np.array([values[copies(m) == i].sum(axis=0) for i in range(len(m))])


def assert_close(found, expected, share):
    np.testing.assert_allclose(found, expected, rtol=share, atol=share * np.max(np.abs(expected)))


# The target ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("perplexity", [None, 2.5, 15.0])
@pytest.mark.parametrize("make", [target, sparse_target])
def test_the_target_is_that_of_repeated_rows(kind, perplexity, make, X, m):
    method = nf.method(kind)
    P = make(method, X, perplexity=perplexity, weights=m)
    P = P.toarray() if sparse.issparse(P) else P
    expected = target(method, np.repeat(X, m.astype(int), axis=0), perplexity=perplexity)
    # Single precision, of distances too, and neighbours beyond three times the perplexity are left out.
    assert_close(repeated(P, m), expected, 1e-10 if make is target else 2e-3)
    assert np.all(np.diagonal(P)[m == 1] == 0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_targets_of_given_neighbours_too(kind, X, m):
    method, D = nf.method(kind), np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    graph = sparse.csr_array(D)
    P = target(method, graph, perplexity=6.0, metric="precomputed", weights=m)
    assert_close(P, target(method, X, perplexity=6.0, weights=m), 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_real_weights_keep_the_perplexity_and_the_sums(kind, X):
    m = np.linspace(1.0, 3.7, N)
    method = nf.method(kind)
    P = target(method, X, perplexity=5.0, weights=m)
    seen = P * m - np.diag(np.diagonal(P))
    if kind == "asne":
        np.testing.assert_allclose(seen.sum(axis=1), 1.0, rtol=1e-12)
        entropy = -(seen * np.log(P, where=P > 0, out=np.zeros_like(P))).sum(axis=1)
        np.testing.assert_allclose(np.exp(entropy), 5.0, rtol=1e-9)
    elif kind == "tsne":
        assert m @ seen.sum(axis=1) == pytest.approx(1.0, rel=1e-12)


def test_more_copies_than_the_perplexity_see_nothing_but_each_other(X):
    m = np.ones(N)
    m[4] = 9
    P = target(nf.method("asne"), X, perplexity=3.0, weights=m)
    np.testing.assert_array_equal(P[4], np.where(np.arange(N) == 4, 1 / 8, 0.0))


def test_the_perplexity_counts_copies(X, m):
    assert target(nf.method("tsne"), X, perplexity=N + 2.0, weights=m) is not None
    with pytest.raises(ValueError, match="use at most"):
        target(nf.method("tsne"), X, perplexity=m.sum(), weights=m)


# The engines ---------------------------------------------------------------------------------------------


@every(
    "cell",
    # A cost of distances has no attraction to exaggerate.
    [(method, a) for method in METHODS for a in (1.0, 3.0) if a == 1 or method.kernel is not None],
    lambda cell: f"{name(cell[0])} exaggerated by {cell[1]}",
)
def test_value_and_gradient_are_those_of_repeated_rows(cell, random, m):
    method, exaggeration = cell
    P, Y = random_target(method, m, random), random.normal(size=(N, 2))
    once = Exact(_with_parameters_of_points(method, N), P, weights=m)
    often = Exact(_with_parameters_of_points(method, len(copies(m))), repeated(P, m))
    assert once.mass == pytest.approx(often.mass, rel=1e-12)
    a = once.evaluate(Y, exaggeration=exaggeration)
    b = often.evaluate(Y[copies(m)], exaggeration=exaggeration)
    assert a.value == pytest.approx(b.value, rel=1e-10)
    assert a.cost == pytest.approx(b.cost, rel=1e-10)
    assert_close(a.gradient, of_points(b.gradient, m), 1e-10)
    for parameter, value in b.parameters.items():
        expected = of_points(value, m) if np.ndim(value) else value
        assert_close(a.parameters[parameter], expected, 1e-10)


@every("method", METHODS, name)
def test_the_gradient_is_that_of_the_value_for_real_weights(method, random):
    m = np.linspace(1.0, 2.7, N)
    P, Y = random_target(method, m, random), random.normal(size=(N, 2))
    engine = Exact(_with_parameters_of_points(method, N), P, weights=m)
    along, step = random.normal(size=(N, 2)), 1e-5
    ahead, behind = (engine.evaluate(Y + sign * step * along).value for sign in (1, -1))
    expected = float(np.sum(engine.evaluate(Y).gradient * along))
    assert (ahead - behind) / (2 * step) == pytest.approx(expected, rel=1e-5, abs=1e-7 * abs(ahead))


@every("method", METHODS, name)
def test_weights_of_one_are_no_weights(method, random):
    P, Y = random_target(method, np.ones(N), random), random.normal(size=(N, 2))
    method = _with_parameters_of_points(method, N)
    a, b = (Exact(method, P, weights=weights).evaluate(Y) for weights in (np.ones(N), None))
    assert a.value == pytest.approx(b.value, rel=1e-13)
    assert_close(a.gradient, b.gradient, 1e-13)


@pytest.mark.parametrize("exaggeration", [1.0, 3.0])
@every("method", ON_MESH, name)
def test_the_mesh_agrees_with_all_pairs(method, exaggeration, random):
    data = np.vstack([random.normal(size=(20, 6)) + 4 * random.normal(size=6) for _ in range(4)])
    m = random.uniform(1.0, 5.0, size=80)
    m[::4] = 1
    P = sparse_target(method, data, perplexity=6.0, weights=m)
    Y = data[:, :2] - data[:, :2].mean(axis=0)  # in which neighbours are near, as in a descent
    a = Exact(method, P.astype(np.float64), weights=m).evaluate(Y, exaggeration=exaggeration)
    b = Mesh(method, P, accuracy=1e-3, weights=m).evaluate(Y, exaggeration=exaggeration)
    norm = np.linalg.norm(a.gradient)
    assert np.linalg.norm(b.gradient - a.gradient) < 0.01 * norm
    assert b.value == pytest.approx(a.value, rel=5e-3)
    assert b.cost == pytest.approx(a.cost, rel=5e-3)
    for parameter, value in a.parameters.items():
        assert b.parameters[parameter] == pytest.approx(value, rel=0.02, abs=1e-2 * norm)


@pytest.mark.parametrize("kind", KINDS)
def test_copies_beyond_the_perplexity_cost_a_number(kind, X):
    m = np.r_[20.0, np.ones(N - 1)]  # the first row sees itself alone, and all others have a p of 0 for it
    method = nf.method(kind)
    P = sparse_target(method, X, perplexity=3.0, weights=m)
    a = Exact(method, P.astype(np.float64), weights=m).evaluate(X[:, :2])
    b = Mesh(method, P, accuracy=1e-3, weights=m).evaluate(X[:, :2])
    assert b.value == pytest.approx(a.value, rel=5e-3)


def test_moments_are_not_for_weights(X, m):
    method = nf.method("sstress")
    assert "weights" in Moments.obstacle(Task(method, euclidean=True, weighted=True))
    assert plan(method, N, 2, euclidean=True, weighted=True).engine == "exact"
    with pytest.raises(ValueError, match="knows of no weights"):
        nf.Run(X, method, weights=m, engine="moments")


# The descent ---------------------------------------------------------------------------------------------

PATHS = {
    "momentum": ("tsne", {}),
    "a rate of one's own": ("tsne", {"learning_rate": 10.0}),
    "a parameter": ("dhssne", {}),
    "a parameter of each point": ("itsne", {}),
    "L-BFGS": ("jse", {}),
    "bare weights": ("ee", {}),
    "SMACOF": ("mds", {}),
    "squares": ("sstress", {"engine": "exact"}),
}


@pytest.mark.parametrize("path", PATHS)
def test_the_descent_is_that_of_repeated_rows(path, X, m, random):
    method, keywords = PATHS[path]
    Y = random.normal(size=(N, 2))
    if nf.method(method).kernel is not None:
        keywords = {**keywords, "perplexity": 6.0}
    once = nf.Run(X, method, weights=m, init=Y, **keywords)
    often = nf.Run(np.repeat(X, m.astype(int), axis=0), method, init=Y[copies(m)], **keywords)
    for run in (once, often):
        run.step(8)
    assert np.abs(once.Y - Y).max() > 1e-3
    assert_close(once.Y[copies(m)], often.Y, 1e-6)
    assert once.cost == pytest.approx(often.cost, rel=1e-8)
    assert once.learning_rate == pytest.approx(often.learning_rate, rel=1e-12)


def test_the_descent_on_the_mesh_too(random):
    X, m = random.normal(size=(60, 4)), random.integers(1, 4, size=60)
    Y = random.normal(size=(60, 2))
    keywords = {"perplexity": 12.0, "init": Y, "weights": m}
    a, b = (nf.Run(X, "tsne", engine=engine, accuracy=1e-3, **keywords) for engine in ("exact", "mesh"))
    for run in (a, b):
        run.step(5)
    assert_close(b.Y, a.Y, 2e-2)


@pytest.mark.parametrize("estimator", [nf.Embedder(max_iter=300), nf.TSNE(max_iter=300)])
def test_estimators_take_them(estimator, X, m):
    plain = estimator.fit_transform(X)
    weighted = estimator.fit_transform(X, weights=m)
    np.testing.assert_array_equal(weighted, estimator.fit(X, weights=list(m)).embedding_)
    assert weighted.shape == plain.shape
    assert not np.allclose(weighted, plain)


def test_a_map_knows_its_weights(X, m):
    run = nf.Run(X, weights=m, random_state=0)
    run.step(1)
    np.testing.assert_array_equal(run.map().parameters["weights"], m)


# What is refused -------------------------------------------------------------------------------------------

WRONG = {
    "negative": (np.r_[-1.0, np.ones(N - 1)], "row 0 has -1: leave out"),
    "zero": (np.r_[np.ones(N - 1), 0.0], f"row {N - 1} has 0: leave out"),
    "NaN": (np.r_[1.0, np.nan, np.ones(N - 2)], "row 1 has nan: leave out"),
    "infinite": (np.r_[1.0, np.inf, np.ones(N - 2)], "row 1 has inf: leave out"),
    "less than one": (np.r_[1.0, 0.25, np.ones(N - 2)], "row 1 has 0.25: divide all of them by the smallest"),
    "too few": (np.ones(N - 1), f"one for each of the {N} rows"),
    "one for all": (2.0, f"one for each of the {N} rows"),
    "text": (["many"] * N, "must be numbers"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_bad_weights_are_refused_in_one_line(wrong, X):
    weights, reason = WRONG[wrong]
    for use in (
        lambda: nf.Run(X, weights=weights),
        lambda: nf.TSNE().fit(X, weights=weights),
        lambda: check_weights(weights, N),
    ):
        with pytest.raises(ValueError, match=reason) as refusal:
            use()
        assert "\n" not in str(refusal.value)


def test_principal_components_take_none(X, m):
    with pytest.raises(ValueError, match="take no weights"):
        nf.Embedder("pca").fit(X, weights=m)


def test_a_method_takes_weights_by_itself(X, random):
    """Target, value and gradient of weighted points are those of the repeated ones."""
    m, Y = np.array([2.0, 3.0] + [1.0] * (len(X) - 2)), random.normal(size=(len(X), 2))
    often = m.astype(int)
    for kind in ("tsne", "asne"):
        method = nf.method(kind)
        one, one_way = method.value_and_gradient(Y, method.target(X, perplexity=5, weights=m), weights=m)
        many, ways = method.value_and_gradient(
            np.repeat(Y, often, axis=0), method.target(np.repeat(X, often, axis=0), perplexity=5)
        )
        assert one == pytest.approx(many, rel=1e-9)
        first = np.cumsum(often) - often
        assert np.allclose(one_way, ways[first] * m[:, None], rtol=1e-6, atol=1e-12)
