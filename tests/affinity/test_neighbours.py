"""The nearest neighbours are those of all distances, by any metric, of dense and sparse data."""

import numpy as np
import pytest
from scipy import sparse

from nearfield.affinity import space as module
from nearfield.affinity.distances import distances
from nearfield.affinity.neighbours import neighbours
from nearfield.affinity.source import Source

PLAIN = ["euclidean", "sqeuclidean", "cosine"]


def counts(random, n=150, columns=40):
    """Sparse data: counts, most of them zero, and no row empty."""
    X = random.poisson(0.3, size=(n, columns)).astype(float)
    X[np.arange(n), np.arange(n) % columns] += 1
    return X


def check(found, D, k, rtol=1e-5):
    """The k smallest distances of every row, squared, but for the scale; and the points that they are to."""
    np.fill_diagonal(D, np.inf)
    expected = np.sort(D, axis=1)[:, :k] ** 2
    factor = found.squared.max() / expected.max()
    np.testing.assert_allclose(found.squared, factor * expected, rtol=rtol, atol=1e-6 * factor)
    own = np.take_along_axis(D, found.indices.astype(int), axis=1) ** 2
    np.testing.assert_allclose(factor * own, found.squared, rtol=rtol, atol=1e-6 * factor)
    assert all(len(set(row)) == k for row in found.indices.tolist())


@pytest.mark.parametrize(
    "metric", [*PLAIN, "cityblock", "canberra", "braycurtis", "seuclidean", "mahalanobis", "correlation"]
)
def test_they_are_the_nearest_by_any_metric(metric, random, monkeypatch):
    X = random.normal(size=(150, 5))
    monkeypatch.setattr(module, "BLOCK", 40 * 150)  # several blocks
    check(neighbours(Source.of(X, metric), 12), distances(X, metric), 12)


@pytest.mark.parametrize("metric", PLAIN)
@pytest.mark.parametrize("way", ["dense", "products"])
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_data_have_the_neighbours_of_dense_ones(metric, way, form, random, monkeypatch):
    X = counts(random)
    X[20:24] = X[3]  # duplicates
    if way == "products":
        monkeypatch.setattr(module, "DENSE_UP_TO", 0)
        monkeypatch.setattr(module, "BLOCK", 40 * 150)
    found = neighbours(Source.of(form(X), metric), 10)
    assert ("blocks" in found.how) == (way == "products")
    check(found, distances(X, metric), 10)
    assert np.all(found.squared[3, :4] == 0)
    assert set(found.indices[3, :4]) == {20, 21, 22, 23}


def test_sparse_data_are_never_dense_in_double_precision(random):
    import tracemalloc

    X = sparse.random_array((4000, 2000), density=0.01, rng=random, format="csr")
    neighbours(Source.of(X[:100]), 5)
    tracemalloc.start()
    module._centred(X, False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.9 * 4 * X.shape[0] * X.shape[1]


@pytest.mark.parametrize("metric", [*PLAIN, "precomputed", "cityblock"])
@pytest.mark.parametrize("scale", [1e-25, 1e-13, 1e13, 1e25])
def test_any_scale_has_the_same_neighbours(metric, scale, random):
    X = random.normal(size=(60, 4))
    X = distances(X) if metric == "precomputed" else X
    found, plain = neighbours(Source.of(scale * X, metric), 7), neighbours(Source.of(X, metric), 7)
    np.testing.assert_array_equal(found.indices, plain.indices)
    np.testing.assert_allclose(
        found.squared / found.squared.max(), plain.squared / plain.squared.max(), rtol=1e-4
    )


@pytest.mark.parametrize("way", ["dense", "products"])
def test_a_row_without_direction_is_refused(way, random, monkeypatch):
    X = counts(random)
    X[17] = 0
    if way == "products":
        monkeypatch.setattr(module, "DENSE_UP_TO", 0)
    with pytest.raises(ValueError, match="row 17 is all zeros and has no direction: leave it out"):
        neighbours(Source.of(sparse.csr_array(X), "cosine"), 5)


@pytest.mark.parametrize(
    ("value", "reason"),
    [(-1.0, "negative distance"), (np.nan, "not finite"), (0.0, "all 9 points are equal")],
)
def test_a_metric_of_ones_own_that_gives_no_distances_is_refused(value, reason, random):
    with pytest.raises(ValueError, match=reason):
        neighbours(Source.of(random.normal(size=(9, 2)), lambda a, b: value), 3)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock", "precomputed"])
def test_equal_points_share_their_neighbours_out(metric, random):
    X = random.normal(size=(60, 3))
    X[10:40] = X[10]
    X[45:58] = X[45]
    given = distances(X) if metric == "precomputed" else X
    found = neighbours(Source.of(given, metric), 8)
    check(found, distances(X, "euclidean" if metric == "precomputed" else metric), 8)
    named = np.bincount(found.indices[10:40].ravel(), minlength=60)
    assert np.all(named[10:40] == 8)  # and not the same eight for all
    assert np.all(np.bincount(found.indices[45:58].ravel(), minlength=60)[45:58] == 8)
    assert not np.any(found.indices == np.arange(60)[:, None])
