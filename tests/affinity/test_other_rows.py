"""The neighbours of other rows among the points of a source: those that a plain search finds, row by row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import pairwise_distances

from nearfield.affinity import space as module
from nearfield.affinity.neighbours import neighbours_of
from nearfield.affinity.search import RECALL, Columns, Lists, full_columns, nearest_in_lists
from nearfield.affinity.source import Source

METRICS = ["euclidean", "cosine", "sqeuclidean", "manhattan", "seuclidean", "mahalanobis", "chebyshev"]


@pytest.fixture
def X(random):
    return random.normal(size=(300, 5)) + 3


@pytest.fixture
def rows(random):
    return random.normal(size=(40, 5)) + 3


def truth(rows, X, metric, k):
    own = {"seuclidean": {"V": np.var(X, axis=0, ddof=1)}, "mahalanobis": {"VI": np.linalg.inv(np.cov(X.T))}}
    D = pairwise_distances(rows, X, metric=metric, **own.get(metric, {}))
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_every_metric_finds_them(metric, form, X, rows):
    if form is sparse.csr_array and metric in ("seuclidean", "mahalanobis", "chebyshev"):
        form = np.asarray  # metrics that know no sparse rows
    source = Source.of(form(X), metric)
    found = neighbours_of(source, form(rows), 12)
    indices, distances = truth(rows, X, metric, 12)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(np.sqrt(found.squared) * source.space.unit, distances, rtol=1e-3)


def test_distances_in_every_form_give_the_same(X, rows):
    D = pairwise_distances(X)
    to = pairwise_distances(rows, X)
    indices, distances = truth(rows, X, "euclidean", 10)
    source = Source.of(D, "precomputed")
    for form in (to, sparse.csr_array(to), truth(rows, X, "euclidean", 30)):
        found = neighbours_of(source, form, 10)
        np.testing.assert_array_equal(found.indices, indices)
        np.testing.assert_allclose(np.sqrt(found.squared), distances, rtol=1e-6)


def test_a_row_does_not_depend_on_its_company(X, rows):
    source = Source.of(X)
    together = neighbours_of(source, rows, 15)
    for i in (0, 7, 39):
        alone = neighbours_of(source, rows[i : i + 1], 15)
        np.testing.assert_array_equal(alone.indices[0], together.indices[i])
        np.testing.assert_array_equal(alone.squared[0], together.squared[i])


def test_many_are_searched_by_lists_with_a_measured_recall(X, rows, monkeypatch):
    monkeypatch.setattr(module, "ONE_LIST", 20)
    found = neighbours_of(Source.of(X), rows, 10)
    assert "inverted file" in found.how
    assert found.recall >= RECALL
    indices, _ = truth(rows, X, "euclidean", 10)
    assert np.mean([len(np.intersect1d(*both)) for both in zip(found.indices, indices, strict=True)]) >= 9.5


def test_a_point_that_is_there_is_its_own_nearest(X):
    found = neighbours_of(Source.of(X), X[::10], 3)
    np.testing.assert_array_equal(found.indices[:, 0], np.arange(0, 300, 10))
    np.testing.assert_array_equal(found.squared[:, 0], 0)


def test_what_does_not_fit_is_refused(X, rows):
    source = Source.of(X)
    with pytest.raises(ValueError, match="must have 5 columns as the points, got 4"):
        neighbours_of(source, rows[:, :4], 3)
    with pytest.raises(ValueError, match="there are 300 points, so k cannot be 301"):
        neighbours_of(source, rows, 301)
    with pytest.raises(ValueError, match="affinities say nothing of distances"):
        neighbours_of(Source.of(np.eye(5), "affinity"), rows, 1)
    distances = Source.of(pairwise_distances(X), "precomputed")
    with pytest.raises(ValueError, match="one column for each of the 300 points"):
        neighbours_of(distances, np.ones((3, 7)), 3)
    with pytest.raises(ValueError, match="cannot be negative"):
        neighbours_of(distances, -np.ones((3, 300)), 3)
    with pytest.raises(ValueError, match="point 0 has the neighbour 300, but the 300 points"):
        neighbours_of(distances, (np.array([[300]]), np.array([[1.0]])), 1)
    with pytest.raises(ValueError, match="row 1 has no neighbour"):
        neighbours_of(distances, sparse.csr_array(np.eye(2, 300) * [[1], [0]]), 1)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 120),
    columns=st.integers(1, 9),
    lists=st.integers(1, 7),
    k=st.integers(1, 40),
    seed=st.integers(0, 2**16),
)
def test_lists_that_are_all_searched_give_the_nearest_and_of_equals_the_first(n, columns, lists, k, seed):
    random = np.random.default_rng(seed)
    X = random.integers(0, 3, size=(n, columns)).astype(np.float32)  # many are equally near, and none rounded
    rows = random.integers(0, 3, size=(5, columns)).astype(np.float32)
    cells = random.integers(0, lists, size=n)
    made = Lists.of(np.ones((lists, columns), np.float32), cells, lists, 1.0)
    centres = Columns.of(made.centres, np.arange(lists), np.array([0, lists]))
    points = Columns.of(X, made.order, made.starts)
    asking = np.pad(rows, ((0, 0), (0, full_columns(columns) - columns)))
    indices, squared = nearest_in_lists(asking, centres, points, lists, k, 1)
    expected = ((rows[:, None] - X) ** 2).sum(axis=2)
    order = np.argsort(expected, axis=1, kind="stable")[:, :k]
    found = min(k, n)
    np.testing.assert_array_equal(indices[:, :found], order)
    np.testing.assert_array_equal(squared[:, :found], np.take_along_axis(expected, order, axis=1))
    assert np.all(np.isinf(squared[:, found:]))


def test_threads_change_no_bit(X, monkeypatch, random):
    monkeypatch.setattr(module, "ONE_LIST", 20)
    rows = random.normal(size=(500, 5))
    one, three = (neighbours_of(Source.of(X, n_jobs=count), rows, 10) for count in (1, 3))
    np.testing.assert_array_equal(one.indices, three.indices)
    np.testing.assert_array_equal(one.squared, three.squared)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
def test_rows_at_any_distance_have_neighbours_at_finite_ones(metric, X):
    for far in (1e10, 1e19, 1e30, 1e100):
        found = neighbours_of(Source.of(X, metric), np.full((1, 5), far), 4)
        assert np.all(np.isfinite(found.squared))
        assert len(set(found.indices[0])) == 4
