"""nf.UMAP: umap-learn's names, the flow of its cost, and all that other maps can do."""

import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import nearfield as nf
from nearfield.affinity.fuzzy import FuzzyNeighbours
from nearfield.affinity.source import Source
from nearfield.descent.wide import boxed, modes_of_parts, wide_start
from nearfield.umap import curve
from support.umap_reference import CURVES, nearest

REFERENCE = np.load(Path(__file__).parent / "affinity" / "umap_reference.npz")


@pytest.fixture(scope="module")
def X():
    random = np.random.default_rng(0)
    return np.vstack([random.normal(size=(60, 5)) + 5 * random.normal(size=5) for _ in range(4)])


@pytest.fixture(scope="module")
def model(X):
    return nf.UMAP(n_neighbors=12, n_epochs=60, random_state=0).fit(X[:220])


@pytest.mark.parametrize("k", range(len(CURVES)))
def test_the_kernel_is_that_of_umap_learn(k):
    np.testing.assert_allclose(curve(*CURVES[k]), REFERENCE["curves"][k], rtol=1e-3)


def test_it_has_the_names_of_umap_learn():
    names = (
        "n_neighbors n_components metric metric_kwds n_epochs learning_rate init min_dist spread"
        " set_op_mix_ratio local_connectivity repulsion_strength negative_sample_rate a b random_state n_jobs"
        " verbose precomputed_knn"
    )
    assert set(names.split()) <= set(nf.UMAP().get_params())
    assert {"perplexity", "optimizer", "max_iter"}.isdisjoint(nf.UMAP().get_params())
    assert nf.UMAP(5).n_neighbors == 5


def test_all_its_epochs_are_its_end_and_no_ceiling(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = nf.UMAP(n_neighbors=12, n_epochs=150, random_state=0).fit(X)
    assert whole.converged_
    assert whole.n_iter_ == 150


def test_the_graph_is_the_weights_of_neighbours(X, model):
    expected = FuzzyNeighbours(12).graph(Source.of(X[:220]))
    assert (model.graph_ != expected).nnz == 0


def test_rows_find_their_places_and_files_keep_them(X, model, tmp_path):
    assert np.array_equal(model.transform(X[:220]), model.embedding_)
    placed = model.place(X[220:])
    labels = np.repeat(np.arange(4), 60)
    near = ((placed.Y[:, None] - model.embedding_) ** 2).sum(-1).argmin(axis=1)
    assert np.mean(labels[near] == labels[220:]) > 0.9
    model.save(tmp_path / "model.nfmap")
    again = nf.load(tmp_path / "model.nfmap")
    assert isinstance(again, nf.UMAP)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.get_params() == model.get_params()


def test_rows_are_added_and_points_pinned(X, model):
    longer = clone(model).fit(X[:200]).extend(X[200:])
    assert longer.embedding_.shape == (240, 2)
    pinned = clone(model).set_params(pins={3: (9.0, -1.0)}).fit(X)
    np.testing.assert_array_equal(pinned.embedding_[3], (9.0, -1.0))


def test_a_run_of_it_is_kept_and_goes_on_where_it_was(X, tmp_path):
    options = {"perplexity": nf.FuzzyNeighbours(10, least=None), "optimizer": "flow", "rate_iter": 60}
    run, other = (nf.Run(X, "umap_sampled", init="spectral", random_state=0, **options) for _ in range(2))
    run.step(20)
    run.map().save(tmp_path / "run.nfmap")
    run.step(30)
    again = nf.Run.load(tmp_path / "run.nfmap", X)
    again.step(30)
    other.step(50)
    np.testing.assert_array_equal(run.Y, again.Y)
    np.testing.assert_array_equal(run.Y, other.Y)


@pytest.mark.parametrize("engine", ["mesh", "exact"])
def test_threads_change_no_bit(X, engine):
    one, three = (
        nf.UMAP(n_epochs=30, engine=engine, random_state=0, n_jobs=n).fit(X).embedding_ for n in (1, 3)
    )
    np.testing.assert_array_equal(one, three)


def test_engines_go_the_same_way(X):
    a, b = (
        nf.UMAP(n_epochs=10, engine=each, random_state=0, accuracy=1e-3).fit(X) for each in ("mesh", "exact")
    )
    assert np.abs(a.embedding_ - b.embedding_).max() < 0.05 * np.ptp(b.embedding_)
    assert a.cost_ == pytest.approx(b.cost_, rel=5e-3)


def test_the_cost_goes_down(X):
    cost = nf.UMAP(n_epochs=100, random_state=0).fit(X).history_["cost"]
    assert all(after < 1.01 * before for before, after in pairwise(cost[1:]))
    assert cost[-1] < cost[0]


def test_what_is_given_is_taken(X):
    D = np.sqrt(((X[:, None] - X) ** 2).sum(-1))
    options = {"n_epochs": 20, "random_state": 0, "init": X[:, :2]}
    plain = nf.UMAP(**options).fit(X)
    for other in (
        nf.UMAP(metric="precomputed", **options).fit(D),
        nf.UMAP(precomputed_knn=(*nearest(X, 15), None), **options).fit(X),
        nf.UMAP(a=plain.method_.kernel.a, b=plain.method_.kernel.b, min_dist=0.5, **options).fit(X),
        nf.UMAP(repulsion_strength=0.5, negative_sample_rate=10, **options).fit(X),
    ):
        assert np.abs(other.embedding_ - plain.embedding_).max() < 0.02 * np.ptp(plain.embedding_)
    assert nf.UMAP(metric="minkowski", metric_kwds={"p": 3}, **options).fit(X).embedding_.shape == (240, 2)


def test_min_dist_gives_neighbours_room(X):
    near, far = (nf.UMAP(min_dist=m, random_state=0, n_epochs=60).fit_transform(X) for m in (0.0, 0.9))
    nearest_of = [np.median(np.sort(((Y[:, None] - Y) ** 2).sum(-1), axis=1)[:, 1]) for Y in (near, far)]
    assert nearest_of[1] > 3 * nearest_of[0]


def test_starts_fill_the_box(X, random):
    graph = FuzzyNeighbours(10).graph(Source.of(X))
    for init in ("spectral", "pca", "random"):
        Y = wide_start(init, 10.0, n_components=2, random=np.random.RandomState(0), graph=graph, data=X)
        np.testing.assert_allclose([Y.min(axis=0), Y.max(axis=0)], [[0, 0], [10, 10]], atol=1e-9)
    assert np.array_equal(boxed(np.ones((3, 2)), 10.0), np.zeros((3, 2)))


@pytest.mark.parametrize("count", [2, 4, 9])
def test_parts_of_a_graph_start_apart(count, random):
    ring = np.roll(np.eye(12), 1, axis=1) + np.roll(np.eye(12), -1, axis=1)
    graph = sparse.block_diag([ring] * count, format="csr")
    data = np.repeat(random.normal(size=(count, 3)), 12, axis=0)
    Y = modes_of_parts(graph, 2, np.random.RandomState(0), data)
    centres = Y.reshape(count, 12, 2).mean(axis=1)
    spread = np.abs(Y.reshape(count, 12, 2) - centres[:, None]).max(axis=(1, 2))
    gaps = np.sqrt(((centres[:, None] - centres) ** 2).sum(-1)) + 10 * np.eye(count)
    assert np.all(gaps.min(axis=1) > spread)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 1}, "n_neighbors"),
        ({"n_epochs": 0}, "n_epochs"),
        ({"min_dist": 2.0}, "min_dist must be at most spread"),
        ({"spread": -1.0}, "spread must be a number"),
        ({"negative_sample_rate": 0}, "rate"),
        ({"init": "tswspectral"}, "init must be one of"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"precomputed_knn": 3}, "precomputed_knn must be a tuple"),
        ({"set_op_mix_ratio": 7}, "set_op_mix_ratio"),
    ],
)
def test_what_makes_no_sense_is_refused(X, options, message):
    with pytest.raises(ValueError, match=message):
        nf.UMAP(**options).fit(X)


def test_what_it_does_not_have_it_says(X, model):
    for name, instead in (("inverse_transform", "place"), ("update", "extend")):
        with pytest.raises(NotImplementedError, match=instead):
            getattr(model, name)(X)
    with pytest.raises(TypeError, match="min_dist"):
        nf.UMAP(min_distance=0.1)


def test_the_flow_refuses_what_has_no_springs(X):
    for method in ("mds", "jse", "mssne", "dhssne"):
        with pytest.raises(ValueError, match="flow follows the springs"):
            nf.Run(X, method, optimizer="flow")


def test_labels_have_a_say_in_its_weights(X):
    y = np.tile([0, 1], 120)
    plain, told = (nf.UMAP(n_epochs=20, random_state=0, supervision=share).fit(X, y) for share in (0.0, 0.9))
    differ = y[:, None] != y
    assert told.graph_.toarray()[differ].sum() < 0.5 * plain.graph_.toarray()[differ].sum()


def test_rows_without_a_place_are_free_in_a_start_of_ones_own(X):
    init = np.random.default_rng(0).normal(size=(240, 2))
    init[3] = np.nan
    assert np.isfinite(nf.UMAP(n_epochs=20, init=init).fit_transform(X)).all()


def test_exaggeration_is_refused_where_the_rate_falls(X):
    with pytest.raises(ValueError, match="knows no exaggeration"):
        nf.Embedder("umap_sampled", optimizer="flow", exaggeration=12).fit(X)
