"""Points under the glass: each column against its definition, for every kind of map."""

import csv

import numpy as np
import pytest

import nearfield as nf
from nearfield.judge.ranks import area

random = np.random.default_rng(0)
X = np.concatenate([random.normal(size=(100, 5)), 4 + 0.3 * random.normal(size=(60, 5))])
X[7] = -20.0
N = len(X)


@pytest.fixture(scope="module")
def model():
    return nf.TSNE(perplexity=10, random_state=0).fit(X)


def ranks(points):
    D = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    np.fill_diagonal(D, -1.0)
    return np.argsort(np.argsort(D, axis=1, kind="stable"), axis=1, kind="stable")


def test_the_columns_are_what_they_are_said_to_be(model):
    found = nf.diagnose(model)
    P = nf.method("asne").target(X, perplexity=10)
    np.testing.assert_allclose(found["hubness"], P.sum(axis=0), atol=1e-3)
    np.testing.assert_allclose(found["dimension"], nf.intrinsic_dimension(X, 10), rtol=1e-3)
    assert np.median(found["beta"][100:]) > 5 * np.median(found["beta"][:100])  # where points are dense
    assert found.most("novelty", 1).tolist() == [7]
    np.testing.assert_allclose(found["novelty"], model.place(X).novelty)
    here, there = ranks(X), ranks(model.embedding_)
    for i in (0, 7, 120):
        K = np.arange(1, found.n_neighbors + 1)
        q = [np.sum((here[i] <= k) & (there[i] <= k) & (here[i] > 0)) / k for k in K]
        r = ((N - 1) * np.array(q) - K) / (N - 1 - K)
        assert found["rnx"][i] == pytest.approx(area(r), abs=1e-9)


@pytest.mark.parametrize("engine", ["exact", "mesh"])
@pytest.mark.parametrize("method", ["tsne", "asne", "umap"])
def test_the_cost_of_a_point_is_that_of_a_new_one_in_its_place(method, engine):
    """Where it rests, a step to the side costs more; and a new point that is nearly equal costs the same."""
    made = nf.Embedder(method, perplexity=10, engine=engine, random_state=0).fit(X)
    cost = nf.diagnose(made)["cost"]
    assert np.isfinite(cost).all()
    placed = made.place(X[20:40] + 1e-4)
    near = np.linalg.norm(placed.Y - made.embedding_[20:40], axis=1) < 0.1 * made.embedding_.std()
    assert near.mean() > 0.5
    assert np.corrcoef(placed.cost[near], cost[20:40][near])[0, 1] > 0.5


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("jse", {}),
        ("itsne", {}),
        ("mds", {}),
        ("nmmds", {}),
        ("msjse", {"perplexity": "multiscale"}),
        ("tsne", {"perplexity": [5, 20]}),
        ("tsne", {"attraction": 4}),
        ("tsne", {"metric": "cosine"}),
        ("pca", {}),
    ],
)
def test_every_kind_of_map_has_all_columns(method, options):
    made = nf.Embedder(method, max_iter=250, random_state=0, **options).fit(X)
    found = nf.diagnose(made)
    assert {name: len(values) for name, values in found.items()} == dict.fromkeys(found, N)
    for name, values in found.items():
        assert np.isfinite(values).all() != (name == "cost" and method == "pca")


def test_it_reads_as_a_summary_saves_as_a_table_and_colours_a_map(model, tmp_path):
    found = nf.diagnose(model)
    told = str(found).splitlines()
    assert len(told) == 1 + len(found)
    assert told[0].startswith(f"{N} points")
    found.save(tmp_path / "points.csv")
    rows = list(csv.reader((tmp_path / "points.csv").read_text().splitlines()))
    assert rows[0] == ["id", *found]
    assert [float(each) for each in rows[8][1:]] == [found[name][7] for name in found]
    found.save(tmp_path / "points.parquet", ids=[f"p{i}" for i in range(N)])
    ax = nf.show.map(model, labels="novelty")
    assert ax.figure.axes[1].get_ylabel() == "novelty"
    page = tmp_path / "map.html"
    nf.show.page(model, found, path=page)
    assert "novelty" in page.read_text(encoding="utf-8")


def test_a_run_and_a_model_from_a_file_are_looked_at_alike(model, tmp_path):
    model.save(tmp_path / "model.nfmap")
    again, found = nf.diagnose(nf.load(tmp_path / "model.nfmap")), nf.diagnose(model)
    for name in found:
        np.testing.assert_allclose(again[name], found[name], rtol=1e-6)
    run = nf.Run(X, perplexity=10, random_state=0)
    run.step(150)
    assert len(nf.diagnose(run)["cost"]) == N


def test_threads_do_not_change_a_bit(model):
    found = nf.diagnose(model)
    for n_jobs in (1, 3):
        made = nf.TSNE(perplexity=10, random_state=0, n_jobs=n_jobs).fit(X)
        for name, values in nf.diagnose(made).items():
            assert np.array_equal(values, found[name])


def test_what_cannot_be_looked_at_says_so(model):
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    made = nf.TSNE(perplexity=10, metric="precomputed", init="random", random_state=0).fit(D)
    with pytest.raises(ValueError, match="pass them as X"):
        nf.diagnose(made)
    assert nf.diagnose(made, D).most("novelty", 1).tolist() == [7]
    with pytest.raises(ValueError, match="160 points, and X has 10"):
        nf.diagnose(made, D[:10, :10])
    ready = nf.TSNE(metric="affinity", init="random", max_iter=20).fit(np.exp(-D))
    with pytest.raises(ValueError, match="holds no distances"):
        nf.diagnose(ready)
    with pytest.raises(ValueError, match="fit it first"):
        nf.diagnose(nf.TSNE())
    with pytest.raises(ValueError, match="there is no 'beauty'"):
        nf.show.map(model, labels="beauty")
    with pytest.raises(KeyError, match="beauty"):
        nf.diagnose(model)["beauty"]


def test_weights_are_repeated_rows():
    """Over all pairs: so many neighbours are fewer rows where some of them are equal."""
    m = np.random.default_rng(1).integers(1, 4, size=N)
    Y = nf.TSNE(perplexity=10, random_state=0, max_iter=60).fit_transform(X)
    options = {"perplexity": 10, "engine": "exact"}
    weighted = nf.diagnose(nf.Run(X, "tsne", weights=m.astype(float), init=Y, **options))
    repeated = nf.diagnose(nf.Run(np.repeat(X, m, axis=0), "tsne", init=np.repeat(Y, m, axis=0), **options))
    first = np.cumsum(m) - m
    for name in ("beta", "dimension", "hubness"):
        np.testing.assert_allclose(weighted[name], repeated[name][first], rtol=0.05, atol=0.02, err_msg=name)


def test_umap_is_looked_at_by_its_own_weights():
    made = nf.UMAP(n_neighbors=12, n_epochs=150, random_state=0).fit(X)
    cost = nf.diagnose(made)["cost"]
    placed = made.place(X[20:60] + 1e-4)
    near = np.linalg.norm(placed.Y - made.embedding_[20:60], axis=1) < 0.2 * made.embedding_.std()
    assert near.mean() > 0.5
    assert np.corrcoef(placed.cost[near], cost[20:60][near])[0, 1] > 0.5


def test_of_several_views_none_is_looked_at():
    made = nf.TSNE(perplexity=10, max_iter=20, random_state=0).fit(nf.mix([X, X[:, :2]]))
    with pytest.raises(ValueError, match="several views were fitted"):
        nf.diagnose(made)
