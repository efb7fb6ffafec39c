"""Metrics of bits and of changed rows are those of scikit-learn, dense and sparse, for old and new rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances

import nearfield as nf
from nearfield.affinity import space as module
from nearfield.affinity.distances import distances
from nearfield.affinity.neighbours import neighbours, neighbours_of
from nearfield.affinity.source import Source

FORMS = [np.asarray, sparse.csr_array]
METRICS = ["jaccard", "tanimoto", "hamming", "correlation", "hellinger", "inner_product", "cosine"]


def data(random, metric, n=150, columns=70):
    X = random.poisson(0.5, size=(n, columns)).astype(float)
    X[np.arange(n), np.arange(n) % columns] += 1
    return (X > 0).astype(float) if metric in ("jaccard", "tanimoto", "hamming") else X


def truth(rows, X, metric):
    if metric == "hellinger":
        p, q = (each / each.sum(axis=1, keepdims=True) for each in (rows, X))
        return np.sqrt(np.maximum(1 - np.sqrt(p) @ np.sqrt(q).T, 0))
    if metric == "inner_product":
        return np.sqrt(np.maximum(2 * ((X**2).sum(axis=1).max() - rows @ X.T), 0))
    if metric in ("jaccard", "tanimoto"):
        return pairwise_distances(rows.astype(bool), X.astype(bool), metric="jaccard")
    return pairwise_distances(rows, X, metric=metric)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("metric", METRICS)
def test_they_are_those_of_scikit_learn(metric, form, random):
    X = data(random, metric)
    D = truth(X, X, metric)
    np.fill_diagonal(D, 0)
    np.testing.assert_allclose(distances(form(X), metric), D, atol=2e-7)
    found = neighbours(Source.of(form(X), metric), 9)
    np.fill_diagonal(D, np.inf)
    nearest = np.sort(D, axis=1)[:, :9]
    np.testing.assert_allclose(np.sqrt(found.squared) * found.unit, nearest, rtol=1e-4, atol=1e-5)
    own = np.take_along_axis(D, found.indices.astype(int), axis=1)
    np.testing.assert_allclose(own, nearest, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("metric", METRICS)
def test_new_rows_are_changed_as_the_points_were(metric, form, random):
    X = data(random, metric)
    rows = X[:20] if metric == "inner_product" else data(random, metric, 20)
    found = neighbours_of(Source.of(form(X), metric), form(rows), 9)
    nearest = np.sort(truth(rows, X, metric), axis=1)[:, :9]
    np.testing.assert_allclose(np.sqrt(found.squared) * found.unit, nearest, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("metric", ["correlation", "hellinger", "inner_product"])
def test_sparse_data_that_are_too_large_to_be_dense_stay_sparse(metric, random, monkeypatch):
    X = data(random, metric)
    dense = neighbours(Source.of(X, metric), 9)
    monkeypatch.setattr(module, "DENSE_UP_TO", 0)
    found = neighbours(Source.of(sparse.csr_array(X), metric), 9)
    assert "blocks" in found.how
    np.testing.assert_allclose(found.squared, dense.squared, rtol=1e-4, atol=1e-6)


def test_few_set_bits_are_found_by_lists_on_any_number_of_threads(random):
    X = sparse.random_array((300, 5000), density=0.002, rng=random, format="csr")
    X.data[:] = 1
    one = neighbours(Source.of(X, "jaccard", n_jobs=1), 12)
    two = neighbours(Source.of(X, "jaccard", n_jobs=2), 12)
    assert "lists" in one.how
    np.testing.assert_array_equal(one.indices, two.indices)
    D = truth(X.toarray(), X.toarray(), "jaccard")
    np.fill_diagonal(D, np.inf)
    np.testing.assert_allclose(np.sqrt(one.squared), np.sort(D, axis=1)[:, :12], rtol=1e-6)


def test_what_has_no_such_distance_is_refused(random):
    X = data(random, "hellinger")
    X[3, 5] = -1
    with pytest.raises(ValueError, match="row 3 has -1: leave out negative values"):
        neighbours(Source.of(X, "hellinger"), 5)
    X[4] = 2
    with pytest.raises(ValueError, match="row 4 is the same number in all columns"):
        neighbours(Source.of(X, "correlation"), 5)
    with pytest.raises(ValueError, match="sparse data of 0 and 1 alone"):
        neighbours(Source.of(sparse.csr_array(X), "hamming"), 5)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "correlation", "hellinger"])
def test_kept_rows_are_seen_as_those_that_were_given(metric):
    C = np.random.default_rng(0).poisson(2.0, size=(80, 6)) + 1.0
    model = nf.TSNE(metric=metric, perplexity=8, max_iter=40, random_state=0).fit(C)
    kept, given = nf.diagnose(model), nf.diagnose(model, C)
    np.testing.assert_allclose(kept["dimension"], given["dimension"], rtol=1e-2)
    model.extend(C[:1] + 1)
    assert model._reference.fitted.nearest(C[:5], 1)[1].max() < 1e-9


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_row_that_is_longer_than_all_points_has_them_in_the_order_of_its_products(kind):
    X = np.random.default_rng(0).normal(size=(200, 6))
    model = nf.TSNE(metric="inner_product", perplexity=8, max_iter=10, random_state=0).fit(kind(X))
    long = 10 * X[:4]
    indices, squared = model._reference.fitted.nearest(kind(long), 15)
    for row, found, apart in zip(long, indices, squared, strict=True):
        products = X @ row
        np.testing.assert_array_equal(found, np.argsort(-products)[:15])
        M = np.linalg.norm(X, axis=1).max()
        expected = 2 * (M * np.linalg.norm(row) - products[found])
        np.testing.assert_allclose(apart, expected, rtol=1e-3, atol=1e-3 * expected.max())
