"""The estimators keep scikit-learn's contract: its own checks, frames in and out, and messages that help."""

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import sklearn.manifold
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import nearfield as nf
from nearfield.affinity.distances import distances

pytestmark = pytest.mark.slow

CHECKED = [
    nf.Embedder("tsne", max_iter=100),
    nf.Embedder("jse", max_iter=50),
    nf.Embedder("mds", max_iter=50),
    nf.Embedder("pca"),
    nf.TSNE(max_iter=100),
    nf.UMAP(n_neighbors=5, n_epochs=20),
]
# This one skips itself unless SciPy was imported in a mode that users do not have: see below.
APART = "check_array_api_input"


def called(check):
    return check.func.__name__ if isinstance(check, partial) else check.__name__


def checks():
    for estimator in CHECKED:
        for instance, check in estimator_checks_generator(estimator):
            if called(check) != APART:
                keywords = getattr(check, "keywords", {})
                yield pytest.param(instance, check, id=f"{estimator}-{called(check)}{keywords or ''}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_scikit_learns_array_api_check_passes_where_it_is_switched_on():
    code = f"""
import nearfield as nf
from sklearn.utils.estimator_checks import estimator_checks_generator

ran = 0
for estimator in [nf.Embedder("tsne", max_iter=50), nf.Embedder("mds", max_iter=50), nf.TSNE(max_iter=50)]:
    for instance, check in estimator_checks_generator(estimator):
        if getattr(check, "func", check).__name__ == {APART!r}:
            check(instance)
            ran += 1
print(ran)
"""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["3"]


@pytest.fixture
def X(random):
    return random.normal(size=(30, 4)) + 5 * (np.arange(30) % 3)[:, None]


SMALL = {
    "Embedder": partial(nf.Embedder, max_iter=30, random_state=0),
    "jse": partial(nf.Embedder, "jse", max_iter=30, random_state=0),
    "mds": partial(nf.Embedder, "mds", max_iter=30, random_state=0),
    "pca": partial(nf.Embedder, "pca", random_state=0),
    "TSNE": partial(nf.TSNE, max_iter=30, random_state=0),
}
RUNNING = [name for name in SMALL if name != "pca"]


@pytest.mark.parametrize("name", SMALL)
def test_the_constructor_only_stores(name):
    wild = {"n_components": "many", "perplexity": [-1], "init": object(), "metric": None, "random_state": "x"}
    estimator = SMALL[name](**{key: value for key, value in wild.items() if key != "random_state"})
    for key in ("n_components", "perplexity", "init", "metric"):
        assert getattr(estimator, key) is wild[key]
    assert estimator.get_params().keys() == vars(estimator).keys()


@pytest.mark.parametrize("name", SMALL)
def test_parameters_can_be_read_set_and_cloned(name, X):
    estimator = SMALL[name](n_components=3)
    assert clone(estimator).get_params() == estimator.get_params()
    fitted = estimator.fit(X)
    assert fitted is estimator
    assert estimator.set_params(n_components=1) is estimator
    assert clone(estimator).n_components == 1
    with pytest.raises(NotFittedError):
        clone(estimator).get_feature_names_out()
    assert estimator.fit_transform(X).shape == (30, 1)
    with pytest.raises(ValueError, match="parameter 'nonsense'"):
        estimator.set_params(nonsense=1)


@pytest.mark.parametrize("name", SMALL)
def test_fit_and_fit_transform_give_the_same_array(name, X):
    fitted = SMALL[name]().fit(X)
    map_ = SMALL[name]().fit_transform(X, y=np.zeros(30))
    assert type(map_) is np.ndarray
    assert map_.dtype == np.float64
    np.testing.assert_array_equal(map_, fitted.embedding_)
    assert fitted.n_features_in_ == 4


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_in_give_frames_out(name, library, X):
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"row {i}" for i in range(30)])
    given = frame if library == "pandas" else pl.DataFrame(X, schema=list("abcd"))
    estimator = SMALL[name]().set_output(transform=library)
    found = estimator.fit_transform(given)
    columns = [f"{type(estimator).__name__.lower()}{i}" for i in range(2)]
    assert isinstance(found, pd.DataFrame if library == "pandas" else pl.DataFrame)
    assert list(found.columns) == list(estimator.get_feature_names_out()) == columns
    if library == "pandas":
        assert list(found.index) == list(frame.index)
    assert list(estimator.feature_names_in_) == list("abcd")
    np.testing.assert_allclose(found.to_numpy(), SMALL[name]().fit_transform(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("init", ["pca", "spectral"])
def test_frames_may_be_asked_for_everywhere(name, init, X):
    with sklearn.config_context(transform_output="pandas"):
        found = SMALL[name](init=init).fit_transform(X)
    assert isinstance(found, pd.DataFrame)
    np.testing.assert_array_equal(found.to_numpy(), SMALL[name](init=init).fit_transform(X))


@pytest.mark.parametrize("name", SMALL)
def test_a_pipeline_carries_them(name, X):
    steps = make_pipeline(StandardScaler(), SMALL[name]()).set_output(transform="pandas")
    found = steps.fit_transform(pd.DataFrame(X))
    assert found.shape == (30, 2)
    assert list(found.columns) == list(steps.get_feature_names_out())


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    "form", [np.ndarray.tolist, np.float32, sparse.csr_array, sparse.csc_matrix, pd.DataFrame]
)
def test_every_form_of_data_gives_the_same_map(name, form, X):
    whole = np.round(X * 4) / 4  # exact in float32 too
    found = SMALL[name](init="random").fit_transform(form(whole))
    expected = SMALL[name](init="random").fit_transform(whole)
    signs = np.sign((found * expected).sum(axis=0)) if name == "pca" else 1.0
    np.testing.assert_allclose(signs * found, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("name", RUNNING)
def test_what_was_found_is_told(name, X):
    estimator = SMALL[name]().fit(X)
    assert estimator.embedding_.shape == (30, 2)
    assert 0 < estimator.n_iter_ <= 30
    assert estimator.cost_ == estimator.history_["cost"][-1]
    assert estimator.history_["iteration"][-1] == estimator.n_iter_
    assert estimator.plan_.engine == "exact"
    assert estimator.interrupted_ is False
    assert isinstance(estimator.converged_, bool)
    method = estimator.method_
    target = method.target(X)
    value, _ = method.value_and_gradient(estimator.embedding_, target)
    assert estimator.cost_ == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("name", RUNNING)
@pytest.mark.parametrize("jobs", [2, 4, -1, None])
def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(name, jobs, random):
    X = random.normal(size=(150, 5))
    one, many = (SMALL[name](init="random", n_jobs=count).fit(X) for count in (1, jobs))
    np.testing.assert_array_equal(one.embedding_, many.embedding_)
    assert one.cost_ == many.cost_


@pytest.mark.parametrize("name", ["Embedder", "TSNE"])
def test_another_seed_gives_another_random_start(name, X):
    maps = [SMALL[name](init="random").set_params(random_state=seed).fit_transform(X) for seed in (0, 1)]
    assert not np.allclose(*maps)


@pytest.mark.parametrize("name", ["tsne", "jse", "mds"])
def test_ctrl_c_gives_the_map_so_far(name, X):
    def interrupt(run):
        if run.iteration == 20:
            raise KeyboardInterrupt

    estimator = nf.Embedder(name, random_state=0, callback=interrupt, tol=0)
    with pytest.warns(UserWarning, match="interrupted at iteration 20: this is the map so far"):
        found = estimator.fit_transform(X)
    assert estimator.interrupted_ is True
    assert estimator.converged_ is False
    assert estimator.n_iter_ == 20
    run = nf.Run(X, name, random_state=0)
    run.step(20)
    np.testing.assert_array_equal(found, run.Y)
    assert estimator.cost_ == run.cost


def test_a_callback_can_end_the_fit(X):
    seen = []
    estimator = nf.Embedder(callback=lambda run: seen.append(run.iteration) or run.iteration >= 40).fit(X)
    assert seen == [10, 20, 30, 40]
    assert estimator.n_iter_ == 40
    assert not estimator.converged_
    assert not estimator.interrupted_


def test_an_error_in_a_callback_is_not_swallowed(X):
    with pytest.raises(ZeroDivisionError):
        nf.Embedder(callback=lambda run: 1 / 0).fit(X)


@pytest.mark.parametrize(
    "estimator", [nf.Embedder(max_iter=60, verbose=True), nf.TSNE(max_iter=60, verbose=1)]
)
def test_progress_goes_to_stderr_and_only_when_asked_for(estimator, X, capfd):
    estimator.fit(X)
    printed = capfd.readouterr()
    assert printed.out == ""
    assert type(estimator).__name__ in printed.err
    assert "cost" in printed.err
    estimator.set_params(verbose=0).fit(X)
    printed = capfd.readouterr()
    assert printed.out == printed.err == ""


class Cubic(nf.costs.Cost):
    """A cost of the user's own: nothing but a value and its derivative."""

    domains = frozenset({"probabilities"})
    degree = 3.0

    def value(self, p, q):
        return np.abs(p - q) ** 3 / 3

    def derivative(self, p, q):
        return (q - p) * np.abs(q - p)


class Quartic(nf.kernels.Kernel):
    """A kernel of the user's own."""

    def value(self, f):
        return 1 / (1 + f) ** 2

    def derivative(self, f):
        return -2 / (1 + f) ** 3


OWN = {
    "composed": nf.Method(nf.costs.JensenShannon(0.3), nf.kernels.HeavyTailed(0.5), "point"),
    "own cost": nf.Method(Cubic(), nf.kernels.Student(), "pair"),
    "own kernel": nf.Method(nf.costs.KL(), Quartic(), "pair"),
    "own kernel by point": nf.Method(nf.costs.Hellinger(), Quartic(), "point"),
    "own both": nf.Method(Cubic(), Quartic(), "point"),
    "transformed": nf.Method(nf.costs.KL(), nf.kernels.Student(), transform=nf.transforms.Power(1.5)),
    "distances": nf.Method(nf.costs.Stress(), transform=nf.transforms.Power(0.5)),
}


@pytest.mark.parametrize("own", OWN)
def test_compositions_and_classes_of_ones_own_are_fitted_like_any_other(own, X):
    estimator = nf.Embedder(OWN[own], perplexity=8, random_state=0, max_iter=200)
    assert clone(estimator).method == OWN[own]
    found = estimator.fit_transform(X)
    assert found.shape == (30, 2)
    assert np.all(np.isfinite(found))
    assert estimator.cost_ < estimator.history_["cost"][0]
    labels = np.arange(30) % 3
    inside = distances(found)[labels[:, None] == labels].mean()
    assert distances(found)[labels[:, None] != labels].mean() > 1.5 * inside


@pytest.mark.parametrize("n", [50, 150])
def test_tsne_gets_as_low_as_scikit_learns(n):
    X = load_digits().data[:n]
    ours = nf.TSNE(random_state=0, perplexity=15).fit(X)
    theirs = sklearn.manifold.TSNE(random_state=0, perplexity=15, method="exact").fit(X)
    assert ours.kl_divergence_ < 1.1 * theirs.kl_divergence_
    assert ours.kl_divergence_ == ours.cost_


@pytest.mark.parametrize("perplexity", [5.0, 30.0])
def test_tsne_and_the_embedder_of_that_name_are_one(perplexity, X):
    tsne = nf.TSNE(perplexity=perplexity - 1, max_iter=40, random_state=0).fit_transform(X)
    embedder = nf.Embedder("tsne", perplexity=perplexity - 1, max_iter=40, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(tsne, embedder)


def test_tsne_has_every_parameter_of_scikit_learns():
    assert set(sklearn.manifold.TSNE().get_params()) <= set(nf.TSNE().get_params())
    for name in ("n_components", "early_exaggeration", "learning_rate", "metric", "min_grad_norm", "angle"):
        assert nf.TSNE().get_params()[name] == sklearn.manifold.TSNE().get_params()[name]


def test_an_angle_warns_that_it_has_no_effect(X):
    with pytest.warns(UserWarning, match="angle has no effect"):
        angled = nf.TSNE(angle=0.7, max_iter=10, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(angled, nf.TSNE(max_iter=10, random_state=0).fit_transform(X))


def test_the_methods_exact_and_barnes_hut_choose_the_engine(X):
    assert nf.TSNE(method="exact", max_iter=5).fit(X).plan_.engine == "exact"
    assert nf.TSNE(method="barnes_hut", engine="exact", max_iter=5).fit(X).plan_.engine == "exact"
    with pytest.raises(ValueError, match=r"'barnes_hut' or 'exact', got 'jse'.*Embedder"):
        nf.TSNE(method="jse").fit(X)


@pytest.mark.parametrize("name", SMALL)
def test_a_distance_matrix_gives_the_map_of_its_points(name, X):
    start = np.sinh(X[:, :2] / 5) if name in RUNNING else "pca"  # bent: a projection is a start
    plain = SMALL[name](init=start).fit_transform(X)
    ready = SMALL[name](init=start, metric="precomputed").fit_transform(distances(X))
    signs = np.sign((plain * ready).sum(axis=0)) if name == "pca" else 1.0
    np.testing.assert_allclose(signs * ready, plain, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", ["tsne", "jse", "gkl"])
def test_a_ready_p_gives_the_map_of_its_points(name, form, X):
    keywords = {"init": np.sinh(X[:, :2] / 5), "max_iter": 20}
    P = nf.method(name).target(X, perplexity=8)
    plain = nf.Embedder(name, perplexity=8, **keywords).fit_transform(X)
    ready = nf.Embedder(name, metric="affinity", **keywords).fit_transform(form(P))
    np.testing.assert_allclose(ready, plain, rtol=1e-4, atol=1e-6)


def test_perplexities_may_differ_from_point_to_point(X):
    asked = (8, np.full(30, 8.0), np.linspace(2, 20, 30))
    one, even, odd = (nf.Embedder(perplexity=k, max_iter=20, random_state=0).fit_transform(X) for k in asked)
    np.testing.assert_array_equal(even, one)
    assert not np.allclose(even, odd)


def test_the_principal_components_are_scikit_learns(X):
    from sklearn.decomposition import PCA

    expected = PCA(3).fit_transform(X)
    for form in (np.asarray, sparse.csr_array):
        found = nf.Embedder("pca", n_components=3).fit_transform(form(X))
        signs = np.sign((found * expected).sum(axis=0))
        np.testing.assert_allclose(signs * found, expected, atol=1e-6)


def numbers(**columns):
    return pd.DataFrame({"length": np.arange(6.0), "width": np.arange(6.0) ** 2, **columns})


NAN = np.arange(18.0).reshape(6, 3)
NAN[[1, 4], 2] = np.nan
TEXT = [
    (numbers(species=list("abcdef")), r"column 'species' holds text \('a' in row 0\): leave it out"),
    (numbers(species=["1", "2", "3", "x", "5", "6"]), r"column 'species' holds text \('x' in row 3\)"),
    (numbers(species=pd.Categorical(list("aabbcc"))), "column 'species' holds text"),
    (pl.DataFrame({"length": [1.0, 2.0, 4.0], "species": ["a", "b", "c"]}), "column 'species' holds text"),
    ([[1, "a"], [2, "b"], [3, "c"]], r"column 1 holds text \('a' in row 0\)"),
    (np.array([["a", "b"]] * 4), r"column 0 holds text"),
]
BAD = [
    (NAN, {}, r"NaN in rows 1, 4, column 2: fill in or leave out such rows \(2 of 6\)"),
    (pd.DataFrame(NAN, columns=list("abc")), {}, "NaN in rows 1, 4, column 'c'"),
    (sparse.csr_array(np.where(np.isnan(NAN), np.inf, NAN)), {}, r"infinity \(inf\) in rows 1, 4, column 2"),
    (numbers(width=[1, 2, None, 4, 5, 6]), {}, "NaN in row 2, column 'width'"),
    (pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, None, 3.0]}), {}, "NaN in row 1, column 'b'"),
    (np.ones((1, 3)), {}, "at least 2 points, got 1"),
    (np.ones((0, 3)), {}, "0 sample"),
    (np.ones((5, 0)), {}, "0 feature"),
    (np.ones((5, 3)), {}, "all 5 points are equal: there is nothing to map, check the columns"),
    (np.eye(6), {"perplexity": 6}, "perplexity 6 .* use at most 5"),
    (np.eye(6), {"perplexity": -2}, "perplexity must be at least 1, got -2"),
    (np.eye(6), {"metric": "euclidian"}, "did you mean 'euclidean'"),
    (np.eye(6), {"init": "pcs"}, "init must be one of"),
    (np.eye(6), {"n_components": 0}, "n_components must be a positive whole number, got 0"),
    (np.eye(6), {"learning_rate": -1}, "learning_rate must be"),
    (np.eye(6), {"engine": "steam"}, "engine must be one of"),
    (np.eye(6), {"n_jobs": 0}, "n_jobs must be"),
    (np.eye(6), {"max_iter": 0}, "max_iter must be a positive whole number, got 0"),
    (np.eye(6), {"max_iter": 2.5}, "max_iter must be a positive whole number, got 2.5"),
    (np.eye(6)[:, :4], {"metric": "precomputed"}, r"square, got shape \(6, 4\)"),
    (np.triu(np.ones((6, 6))), {"metric": "precomputed"}, r"symmetric.*pass \(D \+ D.T\)/2"),
    (-np.ones((6, 6)), {"metric": "precomputed"}, "cannot be negative"),
    (np.ones((6, 4)), {"metric": "affinity"}, r"square, .* got shape \(6, 4\)"),
]
OF_EMBEDDER = [
    (np.eye(6), {"method": "tsn"}, "no method is called 'tsn'; did you mean 'tsne'"),
    (np.eye(6), {"optimizer": "adam"}, "optimizer must be one of"),
    (np.eye(6), {"exaggeration": 0.2}, "exaggeration must be"),
    (np.eye(6), {"method": "mds", "exaggeration": 4}, "a cost of distances has none"),
    (np.eye(6), {"method": "jse", "optimizer": "smacof"}, "use 'lbfgs'"),
    (np.eye(6), {"tol": -1}, "tol must be"),
    (np.eye(6), {"tol": "small"}, "tol must be"),
    (np.eye(6), {"callback": 3}, "callback must be"),
]


def refused(estimator, X, reason):
    with pytest.raises((ValueError, TypeError), match=reason) as refusal:
        estimator.fit(X)
    assert "\n" not in str(refusal.value)
    assert not hasattr(estimator, "embedding_")


@pytest.mark.parametrize("kind", [nf.Embedder, nf.TSNE])
@pytest.mark.parametrize(("X", "reason"), TEXT)
def test_text_is_refused_with_its_column(kind, X, reason):
    refused(kind(), X, reason)


@pytest.mark.parametrize("kind", [nf.Embedder, nf.TSNE])
@pytest.mark.parametrize(("X", "keywords", "reason"), BAD)
def test_bad_input_is_refused_with_the_remedy(kind, X, keywords, reason):
    refused(kind(**keywords), X, reason)


@pytest.mark.parametrize(("X", "keywords", "reason"), OF_EMBEDDER)
def test_bad_parameters_are_refused_with_those_there_are(X, keywords, reason):
    refused(nf.Embedder(**keywords), X, reason)


@pytest.mark.parametrize(
    ("X", "keywords", "reason"),
    [
        (np.ones((1, 3)), {}, "at least 2 points, got 1"),
        (np.ones((5, 3)), {}, "all 5 points are equal"),
        (np.eye(6), {"n_components": 0}, "n_components must be a positive whole number, got 0"),
        (np.eye(6), {"n_components": 2.0}, "n_components must be a positive whole number, got 2.0"),
        (np.eye(6), {"metric": "affinity"}, "affinit"),
    ],
)
def test_principal_components_refuse_what_other_maps_refuse(X, keywords, reason):
    refused(nf.Embedder("pca", **keywords), X, reason)


def test_a_second_fit_leaves_nothing_of_the_first(X):
    again = nf.Embedder("tsne", max_iter=10, random_state=0).fit(X).set_params(method="pca").fit(X)
    fresh = nf.Embedder("pca", max_iter=10, random_state=0).fit(X)
    assert vars(again).keys() == vars(fresh).keys()


@pytest.mark.parametrize("X", [["a", "b", "c"], [1.0, 2.0, 3.0], np.zeros((3, 2, 2))])
@pytest.mark.parametrize("kind", [nf.Embedder, nf.TSNE])
def test_what_is_no_table_is_refused_as_such(kind, X):
    with pytest.raises(ValueError, match=r"(?i)2D|dim|two dimensions"):
        kind().fit(X)


def test_dates_are_refused_with_their_column():
    refused(nf.Embedder(), numbers(day=pd.date_range("2024-01-01", periods=6)), "column 'day'")


def test_iris_keeps_its_species_apart():
    X, species = load_iris(return_X_y=True)
    found = nf.TSNE(random_state=0).fit_transform(X)
    D = distances(found) + np.diag(np.full(150, np.inf))
    assert np.mean(species[D.argmin(axis=1)] == species) > 0.9


@pytest.mark.parametrize("init", ["pca", "array"])
def test_pins_are_where_they_were_put_and_their_neighbours_are_with_them(init):
    X = np.vstack([np.random.default_rng(k).normal(size=(40, 5)) + 6 * np.eye(5)[k] for k in range(3)])
    first = nf.Embedder(random_state=0).fit_transform(X)
    place = first[80:].mean(axis=0)
    start = {} if init == "pca" else {"init": first}
    Y = nf.Embedder(pins={3: place}, random_state=0, **start).fit_transform(X)
    assert Y[3].tolist() == place.tolist()
    near = np.argsort(np.linalg.norm(Y - Y[3], axis=1))[1:6]
    assert np.mean(near < 40) >= 0.6


def test_principal_components_cannot_be_pinned():
    with pytest.raises(ValueError, match="cannot be pinned"):
        nf.Embedder("pca", pins={0: (1, 2)}).fit(np.random.default_rng(0).normal(size=(20, 4)))
