"""Distances agree with scikit-learn's for every metric, keep their digits, and are refused with the fix."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import pairwise_distances

from nearfield.affinity.distances import check_precomputed, distances, metrics

SPARSE = ["cityblock", "cosine", "euclidean", "l1", "l2", "manhattan"]
OF_BITS = {"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}
OURS = {"hellinger", "inner_product", "tanimoto"}  # of which test_metrics_at_speed has the truth
NAMES = [name for name in metrics() if name not in {"precomputed", *OURS}]


def data_for(metric, random, n=40):
    """Data that a metric is made for: bits, positions on a sphere, or numbers."""
    if metric in OF_BITS:
        return random.uniform(size=(n, 8)) < 0.5
    return random.uniform(-1, 1, size=(n, 2 if metric == "haversine" else 5))


@pytest.mark.parametrize("metric", NAMES)
def test_every_metric_is_scikit_learns(metric, random):
    X = data_for(metric, random)
    D = distances(X, metric)
    np.testing.assert_allclose(D, pairwise_distances(X, metric=metric), rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(distances(X, metric, squared=True), D**2, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("metric", NAMES)
def test_every_metric_gives_a_matrix_that_is_accepted_as_one_of_distances(metric, random):
    D = distances(data_for(metric, random), metric)
    assert np.array_equal(D, D.T)
    assert np.all(np.diag(D) == 0)
    np.testing.assert_array_equal(distances(D, "precomputed"), D)


@pytest.mark.parametrize("metric", SPARSE)
def test_sparse_data_are_as_far_apart_as_dense(metric, random):
    X = random.normal(size=(40, 6)) * (random.uniform(size=(40, 6)) < 0.5) + np.eye(40, 6)
    for form in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix):
        np.testing.assert_allclose(distances(form(X), metric), distances(X, metric), rtol=1e-9, atol=1e-7)


def test_duplicates_are_at_distance_zero_in_sparse_data_too(random):
    X = np.repeat(random.normal(size=(6, 5)), 4, axis=0)
    same = distances(X) == 0
    assert same.sum() == 6 * 4 * 4
    assert np.all(distances(sparse.csr_array(X))[same] == 0)


def test_sparse_data_that_are_full_keep_their_digits_far_from_zero(random):
    X = random.normal(size=(12, 4)) + 1e7
    honest = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=-1))
    np.testing.assert_allclose(distances(sparse.csr_array(X)), honest, rtol=1e-6)


def test_a_metric_may_have_parameters_or_be_a_function(random):
    X = random.normal(size=(20, 4))
    cubic = distances(X, "minkowski", {"p": 3})
    np.testing.assert_allclose(cubic, pairwise_distances(X, metric="minkowski", p=3))
    np.testing.assert_allclose(
        distances(X, lambda a, b, p: (np.abs(a - b) ** p).sum() ** (1 / p), {"p": 3}), cubic
    )
    weights = np.array([1.0, 0.0, 4.0, 0.25])
    np.testing.assert_allclose(distances(X, "euclidean", {"X_norm_squared": None}), distances(X), atol=1e-7)
    np.testing.assert_allclose(distances(X, "minkowski", {"w": weights}), distances(X * np.sqrt(weights)))


@given(
    seed=st.integers(0, 2**32 - 1),
    power=st.integers(-12, 12),
    offset=st.sampled_from([0.0, 1.0, 1e3, 1e6]),
)
def test_euclidean_distances_keep_their_digits_at_any_scale_and_offset(seed, power, offset):
    X = np.random.default_rng(seed).normal(size=(15, 4)) * 10.0**power
    moved = X + offset * 10.0**power
    honest = np.sqrt(((moved[:, None] - moved[None]) ** 2).sum(axis=-1))
    np.testing.assert_allclose(distances(moved), honest, rtol=1e-8)
    np.testing.assert_allclose(distances(moved, squared=True), honest**2, rtol=1e-8)


@pytest.mark.parametrize("jobs", [2, 4])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock"])
def test_distances_have_the_same_bits_on_any_number_of_threads(metric, jobs, random):
    X = random.normal(size=(150, 7))
    np.testing.assert_array_equal(distances(X, metric, n_jobs=1), distances(X, metric, n_jobs=jobs))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "precomputed"])
def test_the_data_are_left_as_they_were(metric, random):
    X = random.normal(size=(10, 3))
    X = distances(X) + 1e-14 * np.eye(10) if metric == "precomputed" else X
    before = X.copy()
    D = distances(X, metric)
    D[:] = -1
    np.testing.assert_array_equal(X, before)


def test_distances_that_differ_by_rounding_are_symmetric_enough(random):
    D = distances(random.normal(size=(10, 3)))
    nearly = D * (1 + 1e-12 * random.normal(size=D.shape))
    np.testing.assert_allclose(check_precomputed(nearly), D, rtol=1e-10)


def broken(change):
    D = distances(np.arange(6.0)[:, None])
    change(D)
    return D


def put(i, j, value):
    return lambda D: D.__setitem__((i, j), value)


@pytest.mark.parametrize(
    ("D", "reason"),
    [
        (np.ones((4, 3)), r"must be square, got shape \(4, 3\)"),
        (np.ones(4), r"must be square, got shape \(4,\)"),
        (
            broken(put(1, 4, 9.0)),
            r"from 1 to 4 it is 9 and back 3: pass \(D \+ D.T\)/2",
        ),
        (broken(put(2, 3, -1.0)), "cannot be negative, but the one from 2 to 3 is -1"),
        (broken(put(2, 3, np.nan)), "NaN in row 2, column 3: fill in or leave out"),
        (broken(put(5, 0, np.inf)), r"infinity \(inf\) in row 5, column 0"),
    ],
)
def test_a_matrix_that_holds_no_distances_is_refused(D, reason):
    with pytest.raises(ValueError, match=reason) as refusal:
        distances(D, "precomputed")
    assert "\n" not in str(refusal.value)


def test_a_sparse_matrix_of_distances_must_hold_them_all():
    # A neighbour graph leaves out the far pairs: to read them as coincident would turn the map inside out.
    graph = sparse.csr_array(np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1))
    with pytest.raises(ValueError, match=r"dense|all pairs"):
        distances(graph, "precomputed")
    full = distances(np.arange(5.0)[:, None])
    np.testing.assert_array_equal(distances(sparse.csr_array(full), "precomputed"), full)


@pytest.mark.parametrize(
    ("metric", "reason"),
    [("euclidian", "not known; did you mean 'euclidean'"), ("zzz", "not known; it may be .*cosine")],
)
def test_an_unknown_metric_is_refused_with_those_there_are(metric, reason, random):
    with pytest.raises(ValueError, match=reason) as refusal:
        distances(random.normal(size=(5, 2)), metric)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize(("value", "what"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_what_is_not_finite_is_refused_with_the_rows(form, metric, value, what, random):
    X = random.normal(size=(9, 3))
    X[[2, 7], 1] = value
    with pytest.raises(ValueError, match=rf"{what}.*rows 2, 7, column 1.*\(2 of 9\)") as refusal:
        distances(form(X), metric)
    assert "\n" not in str(refusal.value)


def test_values_whose_squares_leave_the_range_of_numbers_are_refused(random):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="too large, scale the data down"):
            distances(1e200 * random.normal(size=(5, 2)))


@pytest.mark.parametrize(("value", "reason"), [(-1.0, "negative"), (np.nan, "finite"), (np.inf, "finite")])
@pytest.mark.parametrize("squared", [True, False])
def test_a_metric_of_ones_own_that_gives_no_distances_is_refused(value, reason, squared, random):
    with pytest.raises(ValueError, match=reason):
        distances(random.normal(size=(4, 2)), lambda a, b: value, squared=squared)
