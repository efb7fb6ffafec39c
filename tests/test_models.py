"""A model that was saved is the model that is loaded: its places, its parameters, and what it refuses."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import pairwise_distances

import nearfield as nf
from nearfield.descent.models import OBJECTS
from nearfield.descent.placing import Placed
from nearfield.io.levels import Levels
from nearfield.io.maps import FORMAT

FITTED, OTHERS = 80, 12
RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(3, 5))[RANDOM.integers(3, size=FITTED + OTHERS)] * 4
X = X + RANDOM.normal(size=X.shape)
X, NEW = X[:FITTED], X[FITTED:]
D, TO = pairwise_distances(X), pairwise_distances(NEW, X)
NAMES = list("abcde")


def thin(rows):
    return sparse.csr_array(np.where(np.abs(rows) > 1, rows, 0.0))


def bits(rows):
    return np.hstack([rows > level for level in np.linspace(-8, 8, 60)])


def graph(distances, k=20):
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


SOURCES = {
    "points": (X, NEW, {}),
    "sparse": (thin(X), thin(NEW), {}),
    "sparse manhattan": (thin(X), thin(NEW), {"metric": "manhattan"}),
    "cosine": (X, NEW, {"metric": "cosine"}),
    "sqeuclidean": (X, NEW, {"metric": "sqeuclidean"}),
    "manhattan": (X, NEW, {"metric": "manhattan"}),
    "minkowski": (X, NEW, {"metric": "minkowski", "metric_params": {"p": 3}}),
    "mahalanobis": (X, NEW, {"metric": "mahalanobis"}),
    "seuclidean": (X, NEW, {"metric": "seuclidean", "metric_params": {"V": np.arange(1.0, 6)}}),
    "correlation": (X, NEW, {"metric": "correlation"}),
    "hellinger": (np.abs(X), np.abs(NEW), {"metric": "hellinger"}),
    "inner product": (X, NEW, {"metric": "inner_product"}),
    "bits": (bits(X), bits(NEW), {"metric": "jaccard"}),
    "sparse bits": (sparse.csr_array(bits(X)), sparse.csr_array(bits(NEW)), {"metric": "hamming"}),
    "distances": (D, TO, {"metric": "precomputed"}),
    "graph": (graph(D), graph(TO), {"metric": "precomputed"}),
    "affinities": (np.exp(-D), np.exp(-TO), {"metric": "affinity"}),
}
METHODS = [*nf.methods(), "pca"]
OWN = nf.Method(nf.costs.Expression("p*log(p/q)"), nf.kernels.Expression("1/(1+f)**2"), "pair")
CASES = [(method, "points") for method in METHODS]
CASES += [("tsne", source) for source in list(SOURCES)[1:]]
CASES += [(method, source) for method in ("mds", "pca") for source in ("sparse", "manhattan", "distances")]
CASES = [case for case in CASES if case != ("mds", "sparse")]
MODELS = {}
pytestmark = [
    pytest.mark.filterwarnings("ignore:the graph"),
    pytest.mark.filterwarnings("ignore:the map has not"),
    pytest.mark.filterwarnings("ignore:the points"),
]


def model(method="tsne", source="points", **more):
    """Fitted once for all tests, none of which can change it."""
    key = (str(method), source, *more)
    if key not in MODELS:
        data, _, options = SOURCES[source]
        options = {"perplexity": 6, "max_iter": 60, "random_state": 0, **options, **more}
        if str(method).startswith("ms"):
            del options["perplexity"]
        MODELS[key] = nf.Embedder(method, **options).fit(data)
    return MODELS[key]


def alike(one: Placed, other: Placed):
    """Whether two answers are the same in every bit."""
    names = ("Y", "neighbours", "cost", "novelty")
    return all(np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in names)


def answer(here, rows):
    """The places of some rows, or why there are none."""
    try:
        return here.place(rows)
    except ValueError as error:
        return str(error)


# The same model --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["exact", "compact"])
@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_a_loaded_model_places_as_the_saved_one_bit_for_bit(case, rows, tmp_path):
    here, (data, new, _) = model(*case), SOURCES[case[1]]
    here.save(tmp_path / "model.nfmap", rows)
    again = nf.load(tmp_path / "model.nfmap")
    assert type(again) is type(here)
    np.testing.assert_array_equal(again.embedding_, here.embedding_)
    expected, found = answer(here, new), answer(again, new)
    if (case[1], rows) != ("sparse manhattan", "compact"):  # of which alone there are more than 256 numbers
        assert expected == found if isinstance(expected, str) else alike(expected, found)
    if not isinstance(data, tuple):
        np.testing.assert_array_equal(again.transform(data), here.embedding_)


@pytest.mark.parametrize("engine", ["exact", "mesh"])
@pytest.mark.parametrize("method", ["tsne", "jse", "wtsne", OWN], ids=str)
def test_both_engines_and_compositions_of_ones_own(method, engine, tmp_path):
    here = model(method, engine=engine)
    here.save(tmp_path / "model.nfmap")
    again = nf.load(tmp_path / "model.nfmap")
    assert alike(here.place(NEW), again.place(NEW))
    assert again.method_ == here.method_


@pytest.mark.parametrize("dimensions", [1, 3, 4])
def test_other_dimensions(dimensions, tmp_path):
    here = model(n_components=dimensions, perplexity=5 + dimensions)
    here.save(tmp_path / "model.nfmap")
    assert alike(here.place(NEW), nf.load(tmp_path / "model.nfmap").place(NEW))


@pytest.mark.parametrize("engine", ["exact", "mesh"])
@pytest.mark.parametrize("perplexity", [[4, 8], "multiscale"])
def test_several_perplexities(engine, perplexity, tmp_path):
    here = model(perplexity=perplexity, engine=engine, max_iter=30 + len(perplexity))
    here.save(tmp_path / "model.nfmap")
    assert alike(here.place(NEW), nf.load(tmp_path / "model.nfmap").place(NEW))


@pytest.mark.parametrize("engine", ["exact", "mesh"])
def test_weights(engine, tmp_path):
    weights = np.arange(FITTED) % 4 + 1.0
    here = nf.TSNE(perplexity=100, max_iter=40, random_state=0, engine=engine).fit(X, weights=weights)
    here.save(tmp_path / "model.nfmap")
    assert alike(here.place(NEW), nf.load(tmp_path / "model.nfmap").place(NEW))


@pytest.mark.parametrize("method", ["tsne", "pca"])
def test_a_model_that_has_grown_and_one_that_grows(method, tmp_path):
    path = tmp_path / "model.nfmap"
    here = nf.Embedder(method, perplexity=6, max_iter=40, random_state=0).fit(X[:60])
    here.save(path)
    again = nf.load(path).extend(X[60:])
    here.extend(X[60:])
    np.testing.assert_array_equal(again.embedding_, here.embedding_)
    here.save(path)
    grown = nf.load(path)
    assert alike(grown.place(NEW), here.place(NEW))
    np.testing.assert_array_equal(grown.transform(X), here.embedding_)
    np.testing.assert_array_equal(grown.moved_, here.moved_)


def test_lists_of_many_points_are_kept(tmp_path):
    many = np.random.default_rng(0).normal(size=(5200, 3))
    here = nf.TSNE(max_iter=20, random_state=0, n_jobs=1).fit(many)
    here.save(tmp_path / "model.nfmap")
    again = nf.load(tmp_path / "model.nfmap")
    kept = again._reference.fitted._vectors.lists
    assert len(kept.centres) > 1
    rows = many[:40] + 0.01
    assert alike(here.place(rows), again.place(rows))


def test_who_asks_first_has_no_say_in_the_places():
    many = np.random.default_rng(0).normal(size=(5200, 3))
    one, other = (nf.TSNE(max_iter=10, random_state=0, n_jobs=1).fit(many) for _ in range(2))
    one.place(many[:2])  # of which only neighbours are asked for
    np.testing.assert_array_equal(one.transform(many[:40] + 0.01), other.transform(many[:40] + 0.01))


def test_a_loaded_model_obeys_scikit_learn(tmp_path):
    frame = pd.DataFrame(X, columns=NAMES)
    options = {"perplexity": 6, "max_iter": 40, "random_state": 0, "pins": {3: (4.0, 1.0)}}
    here = nf.TSNE(**options).set_output(transform="pandas").fit(frame)
    here.save(tmp_path / "model.nfmap")
    again = nf.load(tmp_path / "model.nfmap")
    assert again.get_params() == here.get_params()
    assert again.n_features_in_ == 5
    assert list(again.feature_names_in_) == NAMES
    assert (again.cost_, again.n_iter_, again.converged_) == (here.cost_, here.n_iter_, here.converged_)
    assert again.plan_ == here.plan_
    assert again.kl_divergence_ == here.kl_divergence_
    assert again.history_.keys() == here.history_.keys()
    rows = pd.DataFrame(NEW, columns=NAMES, index=range(100, 100 + OTHERS))
    found = again.transform(rows)
    assert list(found.index) == list(rows.index)
    assert list(found.columns) == ["tsne0", "tsne1"]
    pd.testing.assert_frame_equal(found, here.transform(rows))
    fresh = clone(again)
    assert not hasattr(fresh, "embedding_")
    np.testing.assert_array_equal(fresh.fit(frame).embedding_, here.embedding_)
    with pytest.raises(ValueError, match="feature names should match"):
        again.transform(rows[NAMES[::-1]])


def test_what_was_saved_can_be_saved_again(tmp_path):
    model().save(tmp_path / "one.nfmap")
    nf.load(tmp_path / "one.nfmap").save(tmp_path / "two.nfmap")
    with np.load(tmp_path / "one.nfmap") as one, np.load(tmp_path / "two.nfmap") as two:
        assert sorted(one.files) == sorted(two.files)
        assert all(np.array_equal(one[name], two[name]) for name in one.files)


def test_a_model_that_was_not_fitted_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted yet"):
        nf.TSNE().save(tmp_path / "model.nfmap")
    with pytest.raises(ValueError, match="rows must be 'exact' or 'compact'"):
        model().save(tmp_path / "model.nfmap", rows="small")
    assert list(tmp_path.iterdir()) == []


# In bytes --------------------------------------------------------------------------------------------------


def test_compact_rows_are_near_and_fitted_ones_come_back(tmp_path):
    many = np.random.default_rng(1).normal(size=(2500, 40))
    new = np.random.default_rng(2).normal(size=(30, 40))
    here = nf.TSNE(perplexity=10, max_iter=60, random_state=0).fit(many)
    here.save(tmp_path / "exact.nfmap")
    here.save(tmp_path / "compact.nfmap", rows="compact")
    sizes = [(tmp_path / f"{name}.nfmap").stat().st_size for name in ("exact", "compact")]
    assert sizes[1] < 0.6 * sizes[0]
    again = nf.load(tmp_path / "compact.nfmap")
    np.testing.assert_array_equal(again.transform(many), here.embedding_)
    one, other = here.place(new), again.place(new)
    same = [len(np.intersect1d(*both)) for both in zip(one.neighbours, other.neighbours, strict=True)]
    assert np.mean(same) > 9.5
    assert np.median(np.linalg.norm(one.Y - other.Y, axis=1)) < 0.03 * here.embedding_.std()
    assert np.abs(one.novelty - other.novelty).mean() < 0.01


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_levels_are_half_a_step_off_at_most_and_few_numbers_are_kept(dtype):
    random = np.random.default_rng(0)
    table = np.column_stack(
        [random.normal(size=3000), random.integers(0, 200, 3000) * 1.1, np.full(3000, -2.0)]
    ).astype(dtype)
    kept = Levels.of(table)
    kept.check("it")
    found = kept.table()
    assert found.dtype == dtype
    np.testing.assert_array_equal(found[:, 1:], table[:, 1:])
    assert np.abs(found[:, 0] - table[:, 0]).max() <= 0.5001 * np.ptp(table[:, 0]) / 255
    assert {found[:, 0].min(), found[:, 0].max()} == {table[:, 0].min(), table[:, 0].max()}


# What a file cannot hold -----------------------------------------------------------------------------------


def city(one, other):
    return float(np.abs(one - other).sum())


class Mine(nf.costs.KL):
    """A cost of one's own."""


def test_a_metric_of_ones_own_is_asked_for_and_taken(tmp_path):
    path = tmp_path / "model.nfmap"
    here = nf.Embedder("tsne", metric=city, perplexity=6, max_iter=30, random_state=0).fit(X)
    here.save(path)
    with pytest.raises(ValueError, match=r"model\.nfmap cannot hold the metric .*, city: pass metric=…"):
        nf.load(path)
    assert alike(nf.load(path, metric=city).place(NEW), here.place(NEW))
    with pytest.raises(ValueError, match="and not manhattan"):
        nf.load(path, metric="manhattan")


def test_a_part_of_ones_own_is_asked_for_and_taken(tmp_path):
    path = tmp_path / "model.nfmap"
    mine = nf.Method(Mine(), nf.kernels.Student(), "pair")
    here = nf.Embedder(mine, perplexity=6, max_iter=30, random_state=0).fit(X)
    here.save(path)
    with pytest.raises(ValueError, match="cannot hold the method"):
        nf.load(path)
    again = nf.load(path, method=mine)
    assert again.method == mine
    assert alike(again.place(NEW), here.place(NEW))
    with pytest.raises(ValueError, match="its cost was a Mine of one's own, and not KL"):
        nf.load(path, method="tsne")


def test_what_only_a_fit_needs_is_left_out_with_a_word(tmp_path):
    path = tmp_path / "model.nfmap"
    seed = np.random.RandomState(0)
    here = nf.TSNE(perplexity=6, max_iter=30, random_state=seed, callback=lambda run: None).fit(X)
    here.save(path)
    with pytest.warns(UserWarning, match=r"does not hold callback, random_state: pass it to load"):
        again = nf.load(path)
    assert again.callback is None
    assert alike(again.place(NEW), here.place(NEW))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nf.load(path, callback=city, random_state=1).callback is city


def test_what_the_file_says_cannot_be_changed_but_for_threads(tmp_path):
    path = tmp_path / "model.nfmap"
    model().save(path)
    assert alike(nf.load(path, n_jobs=1).place(NEW), model().place(NEW))
    assert nf.load(path, perplexity=6).perplexity == 6
    with pytest.raises(ValueError, match="it was fitted with perplexity=6: fit anew for another"):
        nf.load(path, perplexity=7)
    with pytest.raises(TypeError, match="Embedder has no parameter perplexitee"):
        nf.load(path, perplexitee=7)


# Kinds -----------------------------------------------------------------------------------------------------


def test_every_loader_says_which_one_to_use(tmp_path):
    run = nf.Run(X, "tsne", random_state=0)
    run.step(2)
    run.map().save(tmp_path / "run.nfmap")
    nf.Map(np.eye(3)).save(tmp_path / "map.nfmap")
    model().save(tmp_path / "model.nfmap")
    assert isinstance(nf.load(tmp_path / "map.nfmap"), nf.Map)
    assert isinstance(nf.load(tmp_path / "run.nfmap", X), nf.Run)
    assert isinstance(nf.load(tmp_path / "model.nfmap"), nf.Embedder)
    assert nf.Map.load(tmp_path / "run.nfmap").Y.shape == (FITTED, 2)
    for refused, message in [
        (lambda: nf.load(tmp_path / "run.nfmap"), "is a run, which needs its data: nearfield.load(path, X)"),
        (lambda: nf.load(tmp_path / "map.nfmap", X), "is a map, which needs no data"),
        (lambda: nf.load(tmp_path / "map.nfmap", metric=city), "is a map, which needs nothing else"),
        (lambda: nf.load(tmp_path / "model.nfmap", X), "is a model, which needs no data"),
        (lambda: nf.Map.load(tmp_path / "model.nfmap"), "is a model: nearfield.load(path) opens it"),
        (lambda: nf.Run.load(tmp_path / "model.nfmap", X), "is a model: nearfield.load(path) opens it"),
        (lambda: nf.Run.load(tmp_path / "map.nfmap", X), "is a map without the run that made it"),
    ]:
        with pytest.raises(ValueError, match=r"\.nfmap is a ") as refusal:
            refused()
        assert message in str(refusal.value)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("load", [nf.load, nf.Map.load, lambda path: nf.Run.load(path, X)])
def test_later_versions_are_named(load, tmp_path):
    path = tmp_path / "a.nfmap"
    about = {"parameters": {}, "versions": {"nearfield": "99.1"}, "history": [], "arrays": 0}
    for more, message in [
        ({"format": FORMAT + 1, "kind": "atlas"}, "was written by nearfield 99.1, which is newer"),
        ({"format": FORMAT, "kind": "atlas"}, "does not say what it is"),
        ({"format": FORMAT, "kind": ["map"]}, "does not say what it is"),
    ]:
        with path.open("wb") as file:
            np.savez(file, Y=np.eye(2), about=np.array(json.dumps(about | more)))
        with pytest.raises(ValueError, match=r"a\.nfmap ") as refusal:
            load(path)
        assert message in str(refusal.value)


def test_files_of_earlier_formats_open_by_what_they_hold(tmp_path):
    old = Path(__file__).parent / "io" / "files"
    data = np.random.default_rng(7).normal(size=(12, 3))
    assert isinstance(nf.load(old / "format2.nfmap", data), nf.Run)
    with pytest.raises(ValueError, match="is a run, which needs its data"):
        nf.load(old / "format2.nfmap")
    for number in (1, 2, 3):
        about = {"format": number, "parameters": {}, "versions": {}, "history": [], "arrays": 0}
        with (tmp_path / "a.nfmap").open("wb") as file:
            np.savez(file, Y=np.eye(3), about=np.array(json.dumps(about)))
        assert isinstance(nf.load(tmp_path / "a.nfmap"), nf.Map)


def test_a_model_of_the_fourth_format_opens():
    """Written once and kept: its rows are those of `X` here, its places those that were found then."""
    path = Path(__file__).parent / "io" / "files" / "format4-model.nfmap"
    kept = nf.load(path)
    with np.load(path.with_name("format4-placed.npz")) as file:
        rows, places = file["rows"], file["places"]
    np.testing.assert_allclose(kept.transform(rows), places, atol=1e-3)
    fitted = kept.preparation_
    assert fitted.names == tuple(NAMES)
    assert kept.method == "tsne"


class Own(nf.TSNE):
    """An estimator of one's own."""


def test_an_estimator_of_ones_own_is_refused(tmp_path):
    with pytest.raises(TypeError, match="Own is a class of one's own, which a file cannot hold"):
        Own(perplexity=6, max_iter=10, random_state=0).fit(X).save(tmp_path / "model.nfmap")
    assert list(tmp_path.iterdir()) == []


# What a model is made of -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_every_object_that_places_can_be_taken_apart(case):
    """A class that is new among them belongs to OBJECTS; a new attribute is kept by itself."""
    known = {kind for kind, _ in OBJECTS.values()}
    found = [model(*case)._reference]
    for each in found:
        assert type(each) in known, f"descent/models.py does not know {type(each).__name__}"
        found += [
            value
            for value in vars(each).values()
            if type(value).__module__ in ("nearfield.descent.placing", "nearfield.affinity.fitted")
        ]
