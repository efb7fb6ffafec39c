"""New points in a finished map: laws that hold for every method and every kind of data."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import typeof
from scipy import sparse
from scipy.optimize import minimize
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances

import nearfield as nf

METHODS = ["tsne", "asne", "jse", "nerv", "ssne", "gkl", "umap", "wtsne", "sqsne", "chsne", "hssne"]
SEVERAL = ["msasne", "mssne", "msjse", "mstsne"]  # scales
FITTED, OTHERS = 90, 25


def blobs(n, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(3, 6))[random.integers(3, size=n)] * 4 + random.normal(size=(n, 6))


X = blobs(FITTED + OTHERS)
X, NEW = X[:FITTED], X[FITTED:]
D, TO = pairwise_distances(X), pairwise_distances(NEW, X)


def graph(distances, k=20):
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


SOURCES = {
    "points": (X, NEW, "euclidean"),
    "sparse": (
        sparse.csr_array(np.where(abs(X) > 1, X, 0)),
        sparse.csr_array(np.where(abs(NEW) > 1, NEW, 0)),
        "euclidean",
    ),
    "cosine": (X, NEW, "cosine"),
    "manhattan": (X, NEW, "manhattan"),
    "distances": (D, TO, "precomputed"),
    "affinities": (np.exp(-(D**2) / 8), np.exp(-(TO**2) / 8), "affinity"),
    "graph": (graph(D), sparse.csr_array(np.where(np.sort(TO, axis=1)[:, 20:21] > TO, TO, 0)), "precomputed"),
}
MODELS = {}


def model(method="tsne", source="points", engine="auto"):
    """Fitted once for all tests, none of which can change it."""
    key = (method, source, engine)
    if key not in MODELS:
        data, _, metric = SOURCES[source]
        options = {"max_iter": 200, "random_state": 0, "metric": metric, "engine": engine}
        if method not in SEVERAL:
            options["perplexity"] = 6
        MODELS[key] = nf.Embedder(method, **options).fit(data)
    return MODELS[key]


CASES = [(method, "points", engine) for method in METHODS for engine in ("exact", "mesh")]
CASES += [("tsne", source, engine) for source in list(SOURCES)[1:] for engine in ("exact", "mesh")]
CASES += [(method, "points", "auto") for method in ("mds", "sammon", "sstress", "pca")]
CASES += [(method, source, "auto") for method in ("mds", "sstress") for source in ("distances", "manhattan")]
CASES += [("pca", "sparse", "auto"), ("tsne", "points", "auto")]
CASES += [(method, "points", engine) for method in SEVERAL for engine in ("exact", "mesh")]
CASES += [("msnerv", "points", "exact"), ("itsne", "points", "exact"), ("mstsne", "distances", "exact")]
CASES += [(method, "points", "exact") for method in ("nmmds", "nsammon")]
CASES += [("jse", "affinities", "exact"), ("gkl", "affinities", "mesh")]
UNTIED = ("mds", "sammon", "sstress", "pca", "nmmds", "nsammon")  # placed by distances, or projected
every_case = pytest.mark.parametrize("case", CASES, ids="-".join)
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:the graph")]


def rows_of(case):
    return SOURCES[case[1]][1]


@every_case
def test_a_fitted_row_comes_back_where_it_is(case):
    fitted = SOURCES[case[1]][0]
    if isinstance(fitted, tuple):
        indices, distances = fitted
        fitted = sparse.csr_array(
            (distances.ravel(), indices.ravel(), np.arange(0, indices.size + 1, indices.shape[1])), D.shape
        )
    some = np.random.default_rng(1).permutation(FITTED)[:20]
    here = model(*case)
    np.testing.assert_array_equal(here.transform(fitted), here.embedding_)
    np.testing.assert_array_equal(here.transform(fitted[some]), here.embedding_[some])
    stack = sparse.vstack if sparse.issparse(fitted) else np.vstack
    both = here.transform(stack([fitted[some], rows_of(case)]))
    np.testing.assert_array_equal(both[: len(some)], here.embedding_[some])


@every_case
def test_a_place_does_not_depend_on_the_company(case):
    here, rows = model(*case), rows_of(case)
    together = here.transform(rows)
    order = np.random.default_rng(2).permutation(OTHERS)
    np.testing.assert_array_equal(here.transform(rows[order]), together[order])
    for i in (0, 11):
        np.testing.assert_array_equal(here.transform(rows[i : i + 1])[0], together[i])


@pytest.mark.parametrize("case", [case for case in CASES if case[0] not in UNTIED], ids="-".join)
def test_loops_see_one_row_as_they_see_many(case):
    """Of other kinds of arrays they are compiled anew, and may round in another way on another machine."""
    reference, rows = model(*case)._reference, rows_of(case)
    asked = [rows[:1], rows]
    kinds = []
    for some in asked:
        how = {"all_pairs": reference.held.all_pairs}
        ties = reference.fitted.ties(some, reference.held.method, reference.perplexity, **how)
        for _, alike in ties.of_equal_counts():
            kinds.append([typeof(each) for each in vars(alike).values() if isinstance(each, np.ndarray)])
    assert all(each == kinds[0] for each in kinds)


@pytest.mark.parametrize("method", ["tsne", "jse", "itsne"])
def test_rows_of_few_affinities_do_not_depend_on_rows_of_many(method):
    close = np.exp(-(TO**2) / 8)
    close[np.arange(OTHERS) % 4 > 0, 31:] = 0  # rows of other lengths
    close[np.arange(OTHERS) % 4 > 1, 13:] = 0
    here = model(method, "affinities", "exact")
    together = here.transform(sparse.csr_array(close))
    for i in range(OTHERS):
        np.testing.assert_array_equal(here.transform(sparse.csr_array(close[i : i + 1]))[0], together[i])


@every_case
def test_nothing_is_changed_by_placing(case):
    here, rows = model(*case), rows_of(case)
    before = here.embedding_.copy()
    first = here.place(rows)
    second = here.place(rows)
    np.testing.assert_array_equal(here.embedding_, before)
    for name in ("Y", "neighbours", "cost", "novelty", "outside"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@every_case
def test_a_new_point_lies_among_its_neighbours(case):
    """About as near to the ten nearest of the data as fitted points are to theirs.

    Of affinities of one width for all, points that lie apart have next to none.
    """
    here = model(*case)
    placed, Y = here.place(rows_of(case)), here.embedding_
    near = np.linalg.norm(Y[placed.neighbours] - placed.Y[:, None], axis=2).mean(axis=1)
    theirs = np.argsort(D, axis=1)[:, 1:11]
    usual = np.linalg.norm(Y[theirs] - Y[:, None], axis=2).mean(axis=1)
    assert np.median(near) < (2 if case[1] == "affinities" else 1.5) * np.median(usual)


@given(st.lists(st.integers(0, OTHERS - 1), min_size=1, max_size=40), st.sampled_from([1, 2]))
def test_any_batch_on_any_number_of_threads(batch, n_jobs):
    here = model()
    again = pickle.loads(pickle.dumps(here))
    again._reference.fitted.n_jobs = again._reference.held.n_jobs = n_jobs
    np.testing.assert_array_equal(again.transform(NEW[batch]), here.transform(NEW)[batch])


@pytest.mark.parametrize("method", ["tsne", "jse", "nerv", "gkl", "wtsne", "chsne"])
def test_a_place_is_where_the_whole_cost_is_least(method):
    """Of all points, old and new, with a P of their own: but for the share of one point among so many."""
    here = model(method, "points", "exact")
    composed, width = nf.method(method), nf.method(method).kernel.width
    apart = []
    for row, place in zip(NEW[:8], here.transform(NEW[:8]), strict=True):
        P = composed.target(np.vstack([X, row]), perplexity=6)

        def cost(at, P=P):
            value, gradient = composed.value_and_gradient(np.vstack([here.embedding_, at]), P)
            return 1e3 * value, 1e3 * gradient[-1]

        found = minimize(cost, place, jac=True)
        apart.append(np.linalg.norm(found.x - place) / width)
    assert np.median(apart) < 0.5


@pytest.mark.parametrize("method", METHODS)
def test_both_engines_place_alike(method):
    """In one and the same map, in which each engine has its own P, sums and field."""
    Y = model(method, "points", "exact").embedding_
    options = {"perplexity": 6, "init": Y, "optimizer": "lbfgs"}
    runs = (nf.Run(X, method, engine=engine, **options) for engine in ("exact", "mesh"))
    exact, mesh = (run.reference().transform(NEW)[0] for run in runs)
    apart = np.linalg.norm(exact - mesh, axis=1)
    assert np.median(apart) < 0.05 * Y.std()


@pytest.mark.parametrize("method", ["mds", "sammon", "sstress"])
def test_distances_in_a_plane_are_kept(method):
    """Where the map can be perfect, so are the places of new rows."""
    plane = np.random.default_rng(3).normal(size=(80, 2))
    flat = plane @ np.linalg.qr(np.random.default_rng(4).normal(size=(5, 5)))[0][:2]
    here = nf.Embedder(method, random_state=0).fit(flat[:60])
    found = np.vstack([here.embedding_, here.transform(flat[60:])])
    np.testing.assert_allclose(pairwise_distances(found), pairwise_distances(plane), atol=0.02)


def test_components_are_those_of_the_fit():
    here = nf.Embedder("pca").fit(X)
    known = PCA(2).fit(X)
    found, expected = here.transform(NEW), known.transform(NEW)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-9)
    assert np.isnan(here.place(NEW).cost).all()


def test_equal_rows_go_to_the_first():
    twice = np.vstack([X, X[:5]])
    here = nf.TSNE(perplexity=6, max_iter=60, random_state=0).fit(twice)
    np.testing.assert_array_equal(here.transform(twice[-5:]), here.embedding_[:5])


def test_the_fitted_data_may_be_changed_afterwards():
    for method, metric in [("tsne", "euclidean"), ("tsne", "manhattan"), ("tsne", "cosine")]:
        own = X.copy()
        here = nf.Embedder(method, perplexity=6, max_iter=60, random_state=0, metric=metric).fit(own)
        expected = pickle.loads(pickle.dumps(here)).transform(NEW)
        own[:] = 0
        np.testing.assert_array_equal(here.transform(NEW), expected)


def test_a_pickled_model_places_as_before():
    for case in CASES[:4]:
        here = model(*case)
        again = pickle.loads(pickle.dumps(here))
        np.testing.assert_array_equal(again.transform(NEW), here.transform(NEW))


# Novelty ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [("tsne", source, "auto") for source in SOURCES], ids="-".join)
def test_novelty_is_a_rank_among_the_fitted(case):
    here = model(*case)
    if case[1] in ("points", "cosine", "manhattan"):
        novelty = here.place(X).novelty
        assert np.median(np.abs(np.sort(novelty) - np.arange(FITTED) / FITTED)) < 0.02
    new = here.place(rows_of(case)).novelty
    if case[1] == "affinities":
        assert np.isnan(new).all()  # they know of no distances
    else:
        assert np.all((new >= 0) & (new <= 1))


def test_what_is_far_from_all_is_new():
    for rows in (NEW + 100, NEW + 1e25):  # whose squares float32 cannot hold
        far = model().place(rows)
        assert np.all(far.novelty == 1)
        assert np.all(np.isfinite(far.Y))


def test_who_lies_beyond_the_map_is_flagged():
    row = X[np.argmax(np.abs(X).sum(axis=1))][None]
    placed = nf.Embedder("mds", random_state=0).fit(X).place(np.vstack([X, 5 * row]))
    assert not placed.outside[:FITTED].any()
    assert placed.outside[FITTED]


# What is refused --------------------------------------------------------------------------------------------


def test_an_empty_batch_gives_an_empty_result():
    placed = model().place(NEW[:0])
    assert placed.Y.shape == (0, 2)
    assert placed.neighbours.shape == (0, 10)
    assert placed.cost.shape == placed.novelty.shape == (0,)
    assert model().transform(NEW[:0]).shape == (0, 2)


def test_rows_with_holes_are_named():
    rows = NEW.copy()
    rows[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN in row 3, column 1"):
        model().transform(rows)


@pytest.mark.parametrize(
    ("here", "rows", "message"),
    [
        (lambda: model(), NEW[:, :4], "X has 4 features, but Embedder is expecting 6"),
        (lambda: model(source="distances"), TO[:, :50], "X has 50 features, but Embedder is expecting 90"),
        (lambda: model(), (np.zeros((1, 2), int), np.zeros((1, 2))), "the data were fitted: pass rows"),
        (lambda: model(source="distances"), -TO, "distances cannot be negative"),
    ],
)
def test_rows_of_another_kind_are_refused(here, rows, message):
    with pytest.raises(ValueError, match=message):
        here().transform(rows)


def test_what_was_not_fitted_places_nothing():
    with pytest.raises(NotFittedError):
        nf.TSNE().transform(NEW)


def test_a_graph_of_distances_places_no_map_of_distances():
    sparse_distances = sparse.csr_array(D)
    here = nf.Embedder("mds", max_iter=30, random_state=0, metric="precomputed").fit(sparse_distances)
    np.testing.assert_array_equal(here.transform(sparse_distances), here.embedding_)
    with pytest.raises(ValueError, match="a graph does not hold all their distances"):
        here.transform(sparse.csr_array(TO))


@pytest.mark.parametrize("engine", ["exact", "mesh"])
@pytest.mark.parametrize("method", ["tsne", "asne", "gkl"])
def test_weights_are_repeated_rows(method, engine):
    """Placing in a map of weighted rows, and in the same map in which each is there so many times."""
    m = np.random.default_rng(5).integers(1, 4, size=FITTED)
    Y = model(method, "points", "exact").embedding_
    options = {"perplexity": 6, "optimizer": "lbfgs", "engine": engine}
    weighted = nf.Run(X, method, weights=m.astype(float), init=Y, **options)
    repeated = nf.Run(np.repeat(X, m, axis=0), method, init=np.repeat(Y, m, axis=0), **options)
    found, expected = (run.reference().transform(NEW)[0] for run in (weighted, repeated))
    apart = np.linalg.norm(found - expected, axis=1)
    assert np.median(apart) < (1e-3 if engine == "exact" else 0.1) * Y.std()


def test_frames_keep_their_index():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    here = nf.TSNE(perplexity=6, max_iter=30, random_state=0).set_output(transform="pandas").fit(frame)
    out = here.transform(pd.DataFrame(NEW, columns=list("abcdef"), index=range(100, 100 + OTHERS)))
    assert list(out.index[:2]) == [100, 101]
    assert list(out.columns) == ["tsne0", "tsne1"]
