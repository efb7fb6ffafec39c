"""Targets are what the method's normalization needs, from data, distances or a ready P alike."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import nearfield as nf
from nearfield.affinity.distances import distances, metrics
from nearfield.affinity.perplexity import calibrate
from nearfield.affinity.targets import is_symmetric
from nearfield.engine.mesh.one_scale import Mesh
from support.targets import sparse_target

KINDS = {"joint": "tsne", "row": "asne", "weights": "gkl", "distances": "mds"}
WITH_P = [name for kind, name in KINDS.items() if kind != "distances"]
seeds = st.integers(0, 2**32 - 1)


def check_kind(P, kind):
    """The laws of each kind of target."""
    P = P.toarray() if sparse.issparse(P) else P
    assert np.all(P >= 0)
    assert np.all(np.diag(P) == 0)
    if kind == "row":
        np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
        return
    np.testing.assert_allclose(P, P.T, rtol=1e-14)
    if kind == "joint":
        assert P.sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=50)
@given(seed=seeds, n=st.integers(2, 40), share=st.floats(0, 1), power=st.integers(-12, 12))
def test_each_kind_of_target_obeys_its_law(kind, seed, n, share, power):
    X = np.random.default_rng(seed).normal(size=(n, 3)) * 10.0**power
    method = nf.method(KINDS[kind])
    assert method.target_kind == kind
    P = method.target(X, perplexity=1 + share * (n - 2))
    check_kind(P, kind)
    if kind == "weights":
        assert P.max() <= 1
        assert np.all(P.max(axis=1) >= 0.5)  # the nearest is 1 one way, and is averaged with the way back


@pytest.mark.parametrize("perplexity", [2.0, 7.5, 24.0])
def test_joint_p_and_weights_are_the_symmetric_part_of_the_rows(perplexity, random):
    X = random.normal(size=(25, 4))
    squared = distances(X, squared=True)
    rows = calibrate(squared.copy(), perplexity).rows
    weights = calibrate(squared.copy(), perplexity, normalized=False).rows
    np.testing.assert_array_equal(nf.method("asne").target(X, perplexity=perplexity), rows)
    np.testing.assert_allclose(nf.method("tsne").target(X, perplexity=perplexity), (rows + rows.T) / 50)
    np.testing.assert_allclose(nf.method("gkl").target(X, perplexity=perplexity), (weights + weights.T) / 2)


@pytest.mark.parametrize("name", nf.methods())
def test_every_method_has_the_target_of_its_kind(name, random):
    method = nf.method(name)
    check_kind(method.target(random.normal(size=(12, 3))), method.target_kind)


@pytest.mark.parametrize("name", KINDS.values())
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock", "chebyshev", "canberra"])
def test_a_metric_and_its_precomputed_distances_are_one(name, metric, random):
    X, method = random.normal(size=(30, 5)), nf.method(name)
    assert metric in metrics()
    np.testing.assert_allclose(
        method.target(X, metric=metric),
        method.target(distances(X, metric), metric="precomputed"),
        rtol=1e-9,
        atol=1e-12,
    )


@pytest.mark.parametrize("name", KINDS.values())
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock"])
def test_sparse_and_dense_data_have_the_same_target(name, metric, random):
    X = random.normal(size=(30, 6)) * (random.uniform(size=(30, 6)) < 0.5) + np.eye(30, 6)
    method = nf.method(name)
    np.testing.assert_allclose(
        method.target(sparse.csr_array(X), metric=metric),
        method.target(X, metric=metric),
        rtol=1e-7,
        atol=1e-9,
    )


@pytest.mark.parametrize("name", KINDS.values())
def test_frames_lists_and_whole_numbers_are_data_too(name, random):
    X, method = random.integers(0, 50, size=(20, 3)), nf.method(name)
    expected = method.target(X.astype(float))
    for form in (X, X.tolist(), pd.DataFrame(X), X.astype(np.float32), X.astype(np.int8), X.astype(object)):
        np.testing.assert_allclose(method.target(form), expected, rtol=1e-12)


@pytest.mark.parametrize("name", KINDS.values())
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("jobs", [2, 4])
def test_targets_have_the_same_bits_on_any_number_of_threads(name, metric, jobs, random):
    X, method = random.normal(size=(200, 4)), nf.method(name)
    X = distances(X) if metric == "precomputed" else X
    one, many = (method.target(X, metric=metric, n_jobs=count) for count in (1, jobs))
    np.testing.assert_array_equal(one, many)


@pytest.mark.parametrize("name", KINDS.values())
@pytest.mark.parametrize("metric", ["euclidean", "precomputed", "affinity"])
def test_the_data_are_left_as_they_were(name, metric, random):
    if metric == "affinity" and name == "mds":
        name = "tsne"
    X = random.uniform(0.1, 1, size=(12, 12))
    X += X.T
    before = X.copy()
    nf.method(name).target(X, metric=metric)[:] = -1
    np.testing.assert_array_equal(X, before)


def affinities(random, n=20):
    """Some neighbours of every point, in one direction, with a diagonal that means nothing."""
    P = random.uniform(0.1, 3, size=(n, n)) * (random.uniform(size=(n, n)) < 0.3)
    P[np.arange(n), (np.arange(n) + 1) % n] = 1.0
    return P


@pytest.mark.parametrize("name", WITH_P)
@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array, sparse.coo_array, sparse.csc_matrix, np.ndarray.tolist]
)
def test_a_ready_p_is_normalized_as_the_method_needs_it(name, form, random):
    P, method = affinities(random), nf.method(name)
    found = method.target(form(P), metric="affinity")
    assert sparse.issparse(found) == sparse.issparse(form(P))
    check_kind(found, method.target_kind)
    np.fill_diagonal(P, 0.0)
    expected = {
        "row": P / P.sum(axis=1, keepdims=True),
        "joint": (P + P.T) / (2 * P.sum()),
        "weights": (P + P.T) / 2,
    }[method.target_kind]
    np.testing.assert_allclose(found.toarray() if sparse.issparse(found) else found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", WITH_P)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_target_given_as_affinity_is_taken_as_it_is(name, form, random):
    method = nf.method(name)
    P = method.target(random.normal(size=(20, 3)), perplexity=5)
    found = method.target(form(P), metric="affinity")
    np.testing.assert_allclose(found.toarray() if sparse.issparse(found) else found, P, rtol=1e-12)


def test_entries_that_are_stored_twice_add_up(random):
    once = sparse.coo_array(affinities(random))
    twice = sparse.coo_array(
        (np.concatenate([once.data / 2] * 2), tuple(np.concatenate([c, c]) for c in once.coords)),
        shape=(20, 20),
    )
    method = nf.method("tsne")
    np.testing.assert_allclose(
        method.target(twice, metric="affinity").toarray(), method.target(once, metric="affinity").toarray()
    )


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_symmetry_is_told_from_its_absence(form, random):
    P = random.uniform(size=(30, 30))
    assert is_symmetric(form(P + P.T))
    assert is_symmetric(form((P + P.T) * (1 + 1e-13 * random.normal(size=P.shape))))
    assert not is_symmetric(form(P))
    one_sided = P + P.T
    one_sided[3, 8] *= 1 + 1e-6
    assert not is_symmetric(form(one_sided))


NAN_IN_7 = np.ones((9, 9))
NAN_IN_7[7, 2] = np.nan
NEGATIVE_IN_4 = np.ones((9, 9))
NEGATIVE_IN_4[4, 2] = -1.0
ALONE = np.ones((9, 9))
ALONE[3] = ALONE[:, 3] = 0.0


@pytest.mark.parametrize(
    ("X", "metric", "reason"),
    [
        (np.zeros((0, 3)), "euclidean", "at least 2 points, got 0"),
        (np.zeros((1, 3)), "euclidean", "at least 2 points, got 1"),
        (np.zeros((0, 0)), "precomputed", "at least 2 points, got 0"),
        (np.zeros((1, 1)), "precomputed", "at least 2 points, got 1"),
        (np.ones((5, 3)), "euclidean", "all 5 points are equal.*check the columns"),
        (np.full((5, 2), 0.1), "euclidean", "all 5 points are equal"),
        (np.zeros((5, 5)), "precomputed", "all 5 points are equal"),
        (np.zeros(5), "euclidean", r"two dimensions, points and columns, got shape \(5,\)"),
        (np.zeros((5, 2, 2)), "euclidean", r"two dimensions, points and columns, got shape \(5, 2, 2\)"),
        (np.ones((5, 4)), "precomputed", r"square, got shape \(5, 4\)"),
        (NAN_IN_7, "euclidean", "NaN in row 7, column 2"),
        (NAN_IN_7, "precomputed", "NaN in row 7, column 2"),
    ],
)
@pytest.mark.parametrize("name", KINDS.values())
def test_data_that_cannot_be_mapped_are_refused(name, X, metric, reason):
    with pytest.raises(ValueError, match=reason) as refusal:
        nf.method(name).target(X, metric=metric)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("P", "reason"),
    [
        (np.zeros((0, 0)), "at least 2 points, got 0"),
        (np.zeros((1, 1)), r"at least 2 points, got 1|no neighbour"),
        (np.ones((5, 4)), r"square, one row and one column per point, got shape \(5, 4\)"),
        (NAN_IN_7, "NaN.* row 7"),
        (NEGATIVE_IN_4, "negative.*4"),
        (ALONE, "point 3 has no neighbour.*leave it out"),
    ],
)
@pytest.mark.parametrize("name", WITH_P)
def test_a_ready_p_that_is_none_is_refused(name, P, form, reason):
    with pytest.raises(ValueError, match=reason) as refusal:
        nf.method(name).target(form(P), metric="affinity")
    assert "\n" not in str(refusal.value)


def test_distances_are_no_affinities():
    with pytest.raises(ValueError, match="use metric='precomputed'"):
        nf.method("mds").target(np.ones((5, 5)), metric="affinity")


@pytest.mark.parametrize("name", ["tsne", "asne", "gkl"])
def test_what_is_too_far_for_any_p_is_no_edge(name, random):
    X = np.repeat(random.normal(size=(6, 3)), 5, axis=0)  # more ties than the perplexity: the rest has none
    P = sparse_target(nf.method(name), X, perplexity=2.0)
    assert P.data.min() > 0
    assert np.isfinite(Mesh(nf.method(name), P).evaluate(X[:, :2]).cost)
