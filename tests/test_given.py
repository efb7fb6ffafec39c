"""Maps of what users have made themselves: neighbours, graphs, P, sparse data; and of what they got wrong."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

import nearfield as nf
from nearfield.affinity.distances import distances
from nearfield.affinity.targets import neighbour_count
from support.targets import sparse_target

# Few iterations do not make a map that anybody would keep, and it says so.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:the map")]
KINDS = {"TSNE": nf.TSNE, "Embedder": nf.Embedder}
ENGINES = ["exact", "mesh"]


def blobs(random, n=120, parts=4, far=6.0):
    which = np.arange(n) % parts
    return random.normal(size=(n, 5)) + far * random.normal(size=(parts, 5))[which], which


def tuple_of(X, k):
    return NearestNeighbors(n_neighbors=k).fit(X).kneighbors()[::-1]


def bent(X):
    """Two columns as a map already: a projection of the data would be a start, and scaled."""
    return X[:, :2] * np.abs(X[:, :2]) ** 0.1


def same(Y, expected, tolerance=1e-3):
    np.testing.assert_allclose(Y, expected, atol=tolerance * np.abs(expected).max())


# One map from every form -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tsne", "jse", "gkl"])
def test_the_mesh_gives_one_map_whatever_the_neighbours_came_as(name, random):
    X, _ = blobs(random)
    keywords = {"engine": "mesh", "init": bent(X), "max_iter": 8, "perplexity": 6}
    expected = nf.Embedder(name, **keywords).fit_transform(X)
    k = neighbour_count(nf.method(name), 6, 10_000)
    given = {
        "data in float32": (X.astype(np.float32), "euclidean"),
        "sparse data": (sparse.csr_array(X), "euclidean"),
        "distances": (distances(X), "precomputed"),
        "all distances, sparse": (sparse.csr_array(distances(X)), "precomputed"),
        "graph": (kneighbors_graph(X, k, mode="distance"), "precomputed"),
        "larger graph": (kneighbors_graph(X, 2 * k, mode="distance"), "precomputed"),
        "neighbours": (tuple_of(X, k), "precomputed"),
        "neighbours with themselves": (
            NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(X)[::-1],
            "precomputed",
        ),
        "P": (sparse_target(nf.method(name), X, perplexity=6), "affinity"),
    }
    for form, (data, metric) in given.items():
        found = nf.Embedder(name, metric=metric, **keywords).fit(data)
        assert found.plan_.engine == "mesh"
        np.testing.assert_allclose(
            found.embedding_, expected, atol=1e-3 * np.abs(expected).max(), err_msg=form
        )


@pytest.mark.parametrize("name", ["tsne", "jse", "gkl"])
def test_the_exact_engine_gives_one_map_whatever_the_neighbours_came_as(name, random):
    X, _ = blobs(random, 60)
    keywords = {"engine": "exact", "init": bent(X), "max_iter": 8, "perplexity": 6, "metric": "precomputed"}
    graph = kneighbors_graph(X, 18, mode="distance")
    expected = nf.Embedder(name, **keywords).fit_transform(graph)
    same(nf.Embedder(name, **keywords).fit_transform(tuple_of(X, 18)), expected, 1e-9)
    P = nf.method(name).target(graph, perplexity=6, metric="precomputed")
    ready = nf.Embedder(name, **{**keywords, "metric": "affinity"})
    for form in (sparse.csr_array, sparse.csr_array.toarray):
        same(ready.fit_transform(form(P)), expected, 1e-6)


def test_both_engines_agree_on_a_graph(random):
    X, _ = blobs(random)
    exact, mesh = (
        nf.Embedder(
            engine=engine, metric="precomputed", init=bent(X), max_iter=8, perplexity=6, accuracy=1e-4
        ).fit(tuple_of(X, 18))
        for engine in ENGINES
    )
    same(mesh.embedding_, exact.embedding_, 0.01)
    assert mesh.cost_ == pytest.approx(exact.cost_, rel=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_fit_where_data_fit(kind, random):
    X, which = blobs(random, far=10.0)
    pairs = tuple_of(X, 20)
    before = tuple(part.copy() for part in pairs)
    model = KINDS[kind](metric="precomputed", perplexity=7, random_state=0).fit(pairs)
    for part, was in zip(pairs, before, strict=True):
        np.testing.assert_array_equal(part, was)
    assert model.n_features_in_ == len(X)
    near = distances(model.embedding_) + np.diag(np.full(len(X), np.inf))
    assert np.mean(which[near.argmin(axis=1)] == which) > 0.95
    run = nf.Run(pairs, "tsne", metric="precomputed", perplexity=7, random_state=0)
    run.step(3)
    assert run.Y.shape == (len(X), 2)


@pytest.mark.parametrize("name", ["mds", "sammon", "pca"])
def test_costs_of_distances_need_all_pairs(name, random):
    X, _ = blobs(random, 30)
    for given in (kneighbors_graph(X, 9, mode="distance"), tuple_of(X, 9)):
        with pytest.raises(ValueError, match="must hold all pairs, and this one lacks 600") as refusal:
            nf.Embedder(name, metric="precomputed").fit(given)
        assert "\n" not in str(refusal.value)


# Graphs that fall apart, duplicates, odd metrics ------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("init", ["pca", "spectral", "random"])
@pytest.mark.parametrize("parts", [2, 5])
def test_a_graph_in_pieces_is_mapped_piece_by_piece(engine, init, parts, random):
    X, which = blobs(random, parts=parts, far=100.0)
    model = nf.Embedder(metric="precomputed", engine=engine, init=init, perplexity=5, random_state=0)
    start = nf.Run(
        tuple_of(X, 15), metric="precomputed", engine=engine, init=init, perplexity=5, random_state=0
    )
    off = ~np.eye(len(X), dtype=bool)
    assert distances(start.Y)[off].min() > 0  # points in one place would stay there together
    Y = model.fit_transform(tuple_of(X, 15))
    assert np.all(np.isfinite(Y))
    near = distances(Y) + np.diag(np.full(len(X), np.inf))
    assert np.mean(which[near.argmin(axis=1)] == which) > 0.95
    if init != "random":  # and each piece is in one piece
        middles = np.array([Y[which == part].mean(axis=0) for part in range(parts)])
        assert np.mean(((Y[:, None] - middles) ** 2).sum(axis=-1).argmin(axis=1) == which) > 0.95


@pytest.mark.parametrize("engine", ENGINES)
def test_pairs_that_know_only_each_other_have_a_map(engine):
    partner = (np.arange(40) ^ 1)[:, None]
    Y = nf.TSNE(metric="precomputed", engine=engine, random_state=0, max_iter=150).fit_transform(
        (partner, np.ones((40, 1)))
    )
    near = distances(Y) + np.diag(np.full(40, np.inf))
    assert np.mean(near.argmin(axis=1) == partner.ravel()) > 0.8


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock"])
@pytest.mark.parametrize(
    "rows",
    [np.minimum(np.arange(3000), 1000), np.repeat(np.arange(1500), 2)],
    ids=["2000 equal", "1500 pairs"],
)
def test_duplicates_by_the_thousand_have_a_map_on_the_mesh(rows, metric, random):
    X = random.normal(size=(1500, 4))[rows]
    model = nf.TSNE(random_state=0, max_iter=120, metric=metric, perplexity=10).fit(X)
    assert model.plan_.engine == "mesh"
    spread = np.std(model.embedding_, axis=0)
    assert np.abs(model.embedding_).max() < 10 * spread.max()  # nothing was thrown out
    together = np.std(model.embedding_[rows == rows[-1]], axis=0)
    assert np.all(together < (1.5 if len(set(rows)) < 1500 else 0.2) * spread)


def minkowski(a, b):
    return float((np.abs(a - b) ** 3).sum() ** (1 / 3))


@pytest.mark.parametrize("metric", ["canberra", "braycurtis", "seuclidean", minkowski])
def test_metrics_that_need_all_pairs_run_on_the_mesh(metric, random):
    X, _ = blobs(random)
    keywords = {"metric": metric, "perplexity": 6, "max_iter": 8, "init": bent(X)}
    plain = nf.Embedder(engine="mesh", **keywords).fit(X)
    ready = nf.Embedder(engine="mesh", **{**keywords, "metric": "precomputed"})
    assert plain.plan_.engine == "mesh"
    same(ready.fit_transform(distances(X, metric)), plain.embedding_)


@pytest.mark.parametrize("perplexity", [50, 100, 119])
def test_a_perplexity_above_a_third_of_the_points_takes_them_all(perplexity, random):
    X, _ = blobs(random)
    keywords = {"perplexity": perplexity, "init": bent(X), "max_iter": 8, "accuracy": 1e-4}
    exact, mesh = (nf.Embedder(engine=engine, **keywords).fit_transform(X) for engine in ENGINES)
    same(mesh, exact, 0.01)


@pytest.mark.parametrize("perplexity", [5, 9])
def test_fewer_neighbours_than_three_perplexities_are_used_as_they_are(perplexity, random):
    X, _ = blobs(random)
    keywords = {"metric": "precomputed", "perplexity": perplexity, "init": bent(X), "max_iter": 8}
    exact, mesh = (
        nf.Embedder(engine=engine, accuracy=1e-4, **keywords).fit_transform(tuple_of(X, 9))
        for engine in ENGINES
    )
    same(mesh, exact, 0.01)


def test_stored_zeros_of_sparse_data_and_of_p_are_zeros(random):
    X, _ = blobs(random, 60)
    X[random.uniform(size=X.shape) < 0.4] = 0.0
    every = sparse.csr_array((X.ravel(), (np.repeat(np.arange(60), 5), np.tile(np.arange(5), 60))))
    assert every.nnz == X.size
    keywords = {"init": bent(X), "perplexity": 5, "max_iter": 8}
    P = sparse.csr_array(nf.method("tsne").target(X, perplexity=5))
    P.data[P.data < 1e-4] = 0.0
    clean = P.copy()
    clean.eliminate_zeros()
    for engine in ENGINES:
        model = nf.Embedder(engine=engine, **keywords)
        same(model.fit_transform(every), model.fit_transform(X))
        model = nf.Embedder(engine=engine, metric="affinity", **keywords)
        same(model.fit_transform(P), model.fit_transform(clean), 1e-9)


@pytest.mark.parametrize("init", ["pca", "spectral"])
def test_sparse_data_run_on_the_mesh_from_any_start(init, random):
    X = random.poisson(0.4, size=(300, 30)) * np.linspace(1, 3, 30)
    model = nf.TSNE(engine="mesh", init=init, random_state=0, max_iter=8, perplexity=8)
    thin, thick = (model.fit(form(X)).embedding_ for form in (sparse.csr_array, np.asarray))
    signs = np.sign((thin * thick).sum(axis=0))
    same(signs * thin, thick, 0.02)


# What is refused -------------------------------------------------------------------------------------------

N = 20
NEAR = (np.arange(N)[:, None] + np.arange(1, 6)) % N
FAR = np.tile(np.arange(1.0, 6.0), (N, 1))
GRAPH = sparse.csr_array((FAR.ravel(), NEAR.ravel(), np.arange(0, 5 * N + 1, 5)), (N, N))


def put(what, at, value):
    changed = what.copy()
    changed[at] = value
    return changed


def graph_with(value):
    changed = GRAPH.copy()
    changed.data[7 * 5 + 2] = value
    return changed


def without_row(matrix, row):
    changed = sparse.lil_array(matrix)
    changed[row] = 0
    return sparse.csr_array(changed)


PRECOMPUTED = [
    ((NEAR, FAR[:, :4]), {}, r"the shape \(points, neighbours\), got \(20, 5\) and \(20, 4\)"),
    ((NEAR, FAR[0]), {}, r"got \(20, 5\) and \(5,\)"),
    ((FAR, NEAR), {}, r"\(indices, distances\), in this order: swap them"),
    ((FAR, FAR), {}, "indices must be whole numbers"),
    (
        (put(NEAR, (4, 1), 20), FAR),
        {},
        "point 4 has the neighbour 20, but the 20 points are numbered 0 to 19",
    ),
    ((put(NEAR, (4, 1), -2), FAR), {}, "point 4 has the neighbour -2"),
    ((put(NEAR, (4, 1), NEAR[4, 0]), FAR), {}, "point 4 has the neighbour 5 twice"),
    ((NEAR, put(FAR, (7, 2), np.nan)), {}, "NaN in row 7"),
    ((NEAR, put(FAR, (7, 2), np.inf)), {}, "infinity .* row 7"),
    ((NEAR, put(FAR, (7, 2), -1.0)), {}, "cannot be negative, but the one from 7 to 10 is -1"),
    ((put(NEAR, 6, -1), FAR), {}, "point 6 has no neighbour in the graph .*leave it out"),
    ((put(NEAR, 6, 6), FAR), {}, "point 6 has no neighbour in the graph|6 twice"),
    ((NEAR, FAR), {"perplexity": 6}, "perplexity 6 .* the 5 others that point 0 has.* use at most 5"),
    (GRAPH, {"perplexity": 6}, "perplexity 6 .* use at most 5"),
    (graph_with(np.nan), {}, "NaN in row 7"),
    (graph_with(-1.0), {}, "cannot be negative, but the one from 7 to 10 is -1"),
    (without_row(GRAPH, 6), {}, "point 6 has no neighbour in the graph"),
    (sparse.csr_array((N, N)), {}, "point 0 has no neighbour in the graph"),
    (GRAPH[:, :15], {}, r"square, got shape \(20, 15\)"),
]
AFFINITY = [
    (graph_with(-1.0), "negative values in row 7"),
    (graph_with(-1.0).toarray(), "negative values in row 7"),
    (without_row(GRAPH, 6), "point 6 has no neighbour in P"),
    (put(GRAPH.toarray(), 6, 0.0), "point 6 has no neighbour in P"),
    (graph_with(np.nan), "NaN"),
]


def refused(model, X, reason):
    with pytest.raises(ValueError, match=reason) as refusal:
        model.fit(X)
    assert "\n" not in str(refusal.value)
    assert not hasattr(model, "embedding_")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("X", "keywords", "reason"), PRECOMPUTED)
def test_neighbours_that_are_none_are_refused_with_the_remedy(kind, engine, X, keywords, reason):
    refused(KINDS[kind](metric="precomputed", engine=engine, **keywords), X, reason)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("P", "reason"), AFFINITY)
def test_a_p_that_is_none_is_refused_with_the_remedy(kind, engine, P, reason):
    refused(KINDS[kind](metric="affinity", engine=engine), P, reason)


@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_say_that_they_are_distances(kind):
    refused(KINDS[kind](), (NEAR, FAR), "pass metric='precomputed'")
    with pytest.raises(ValueError, match="pass metric='precomputed'"):
        nf.Run((NEAR, FAR))


@pytest.mark.parametrize("metric", ["euclidian", "zzz"])
def test_an_unknown_metric_is_refused_on_the_mesh_too(metric, random):
    refused(nf.TSNE(engine="mesh", metric=metric), random.normal(size=(20, 3)), "is not known; ")
