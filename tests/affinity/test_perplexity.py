"""Every row has the entropy that was asked for, at any scale of the data; ties share alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import nearfield as nf
from nearfield.affinity.distances import distances
from nearfield.affinity.perplexity import calibrate, check_perplexity
from nearfield.defaults import PERPLEXITY

ROW = nf.method("asne")  # its target is the calibrated rows as they are
seeds = st.integers(0, 2**32 - 1)
scales = st.integers(-12, 12).map(lambda power: 10.0**power)


def entropies(P):
    return -np.sum(np.where(P > 0, P * np.log(np.where(P > 0, P, 1.0)), 0.0), axis=1)


def grid(spacing):
    """A square grid: a point within it has four nearest neighbours, all at the same distance."""
    return spacing * np.stack(np.meshgrid(np.arange(7.0), np.arange(7.0)), axis=-1).reshape(-1, 2)


@given(
    seed=seeds,
    n=st.integers(2, 40),
    columns=st.integers(1, 6),
    scale=scales,
    offset=st.sampled_from([0.0, 1.0, -1e3, 1e6]),
    share=st.floats(0, 1),
)
def test_the_perplexity_is_attained_at_any_scale_and_offset(seed, n, columns, scale, offset, share):
    X = scale * (np.random.default_rng(seed).normal(size=(n, columns)) + offset)
    perplexity = 1 + share * (n - 2)
    P = ROW.target(X, perplexity=perplexity)
    np.testing.assert_allclose(entropies(P), np.log(perplexity), atol=1e-5)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    assert P.min() >= 0
    assert np.all(np.diag(P) == 0)


@given(seed=seeds, n=st.integers(3, 30), decades=st.floats(0.01, 14), share=st.floats(0, 1))
def test_the_perplexity_is_attained_when_distances_span_many_decades(seed, n, decades, share):
    squared = 10 ** np.random.default_rng(seed).uniform(-decades, decades, size=(5, n))
    perplexity = 1 + share * (n - 1)
    rows = calibrate(squared, perplexity, skip_self=False).rows
    np.testing.assert_allclose(entropies(rows), np.log(perplexity), atol=1e-5)


@given(seed=seeds, n=st.integers(4, 40), scale=scales)
def test_every_point_may_have_a_perplexity_of_its_own(seed, n, scale):
    random = np.random.default_rng(seed)
    X, perplexities = scale * random.normal(size=(n, 3)), random.uniform(1, n - 1, size=n)
    together = ROW.target(X, perplexity=perplexities)
    np.testing.assert_allclose(entropies(together), np.log(perplexities), atol=1e-5)
    for i in (0, n // 2, n - 1):
        np.testing.assert_array_equal(together[i], ROW.target(X, perplexity=perplexities[i])[i])


@given(seed=seeds, n=st.integers(3, 40), share=st.floats(0, 1))
def test_rows_are_gaussian_and_the_nearer_the_likelier(seed, n, share):
    squared = distances(np.random.default_rng(seed).normal(size=(n, 4)), squared=True)
    found = calibrate(squared.copy(), 1 + share * (n - 2))
    for i in range(n):
        others = np.arange(n) != i
        d2, p = squared[i, others], found.rows[i, others]
        weights = np.exp(-found.beta[i] * (d2 - d2.min()))
        np.testing.assert_allclose(p, weights / weights.sum(), rtol=1e-9, atol=1e-300)
        assert np.all(np.diff(p[np.argsort(d2)]) <= 0)


@pytest.mark.parametrize("perplexity", [1.0, 5.0, 20.0, 39.0])
@pytest.mark.parametrize("scale", [1e-12, 1e-3, 7.0, 1e12])
def test_scaling_shifting_and_turning_the_data_change_nothing(perplexity, scale, random):
    X = random.normal(size=(40, 3))
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    moved = scale * (X @ turn + 10)
    np.testing.assert_allclose(
        ROW.target(moved, perplexity=perplexity), ROW.target(X, perplexity=perplexity), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("share", [0.0, 1e-6, 0.5, 1 - 1e-9, 1.0])
def test_the_smallest_sets_from_one_neighbour_to_all(n, share, random):
    perplexity = 1 + share * (n - 2)
    P = ROW.target(random.normal(size=(n, 2)), perplexity=perplexity)
    np.testing.assert_allclose(entropies(P), np.log(perplexity), atol=1e-5)
    if perplexity == n - 1:
        np.testing.assert_allclose(P[~np.eye(n, dtype=bool)], 1 / (n - 1), atol=1e-4)


@given(seed=seeds, ties=st.integers(2, 12), rest=st.integers(0, 12), share=st.floats(0, 0.999), scale=scales)
def test_more_ties_than_the_perplexity_share_the_row(seed, ties, rest, share, scale):
    random = np.random.default_rng(seed)
    squared = scale * np.concatenate([np.full(ties, 0.25), random.uniform(0.5, 9, size=rest)])
    orders = np.stack([random.permutation(ties + rest) for _ in range(3)])
    found = calibrate(squared[orders], 1 + share * (ties - 1), skip_self=False)
    np.testing.assert_allclose(found.rows, np.where(orders < ties, 1 / ties, 0.0), rtol=1e-12)
    assert np.all(found.beta == np.inf)
    assert np.all(found.dimension == 0)


@pytest.mark.parametrize("copies", [2, 12])
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (1e-12, 0.0), (1e12, 0.0), (0.1, 1000.3)])
def test_duplicates_by_the_dozen_have_only_each_other(copies, scale, offset, random):
    which = np.repeat(np.arange(5), copies)
    X = scale * random.normal(size=(5, 3))[which] + offset
    P = ROW.target(X, perplexity=copies / 2)
    same = (which[:, None] == which[None]) & ~np.eye(len(X), dtype=bool)
    np.testing.assert_allclose(P, same / (copies - 1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("spacing", [1.0, 0.1, 0.3, 1e-12, 1e12])
@pytest.mark.parametrize("offset", [0.0, 1 / 3])
def test_ties_are_ties_whatever_the_rounding(spacing, offset):
    P = ROW.target(grid(spacing) + offset * spacing, perplexity=3)
    np.testing.assert_allclose(P, ROW.target(grid(1.0), perplexity=3), atol=1e-6)
    assert np.sort(P[24])[-4:] == pytest.approx([0.25] * 4)


@given(seed=seeds, n=st.integers(3, 30), share=st.floats(0, 1))
def test_weights_are_relative_to_the_nearest(seed, n, share):
    squared = distances(np.random.default_rng(seed).normal(size=(n, 3)), squared=True)
    perplexity = 1 + share * (n - 2)
    weights = calibrate(squared.copy(), perplexity, normalized=False).rows
    P = calibrate(squared.copy(), perplexity).rows
    np.testing.assert_allclose(weights.max(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(weights, P / P.max(axis=1, keepdims=True), rtol=1e-9, atol=1e-290)


@pytest.mark.parametrize("perplexity", [2.0, 10.0, 30.0])
def test_the_intrinsic_dimension_is_how_fast_the_entropy_falls(perplexity, random):
    squared = distances(random.normal(size=(50, 3)), squared=True)
    found = calibrate(squared.copy(), perplexity)

    def entropy(log_beta):
        weights = np.exp(-np.exp(log_beta)[:, None] * squared) * ~np.eye(50, dtype=bool)
        return entropies(weights / weights.sum(axis=1, keepdims=True))

    here, h = np.log(found.beta), 1e-5
    slope = (entropy(here + h) - entropy(here - h)) / (2 * h)
    np.testing.assert_allclose(found.dimension, -2 * slope, rtol=1e-6)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_the_intrinsic_dimension_sees_through_the_columns(dimensions, random):
    flat = random.uniform(size=(1500, dimensions)) @ np.linalg.qr(random.normal(size=(6, dimensions)))[0].T
    assert np.median(nf.intrinsic_dimension(flat, 12)) == pytest.approx(dimensions, rel=0.2)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_intrinsic_dimension_of_iris_is_the_published_one(scale):
    found = nf.intrinsic_dimension(scale * load_iris().data, 50)
    assert f"{found.min():.4f}" == "0.2734"
    assert f"{np.median(found):.3f}" == "1.086"
    assert f"{found.mean():.4f}" == "0.9939"
    assert f"{found.max():.3f}" == "2.657"


def test_the_intrinsic_dimension_takes_what_a_target_takes(random):
    X = random.normal(size=(30, 3))
    plain = nf.intrinsic_dimension(X, 8)
    np.testing.assert_array_equal(nf.intrinsic_dimension(X.tolist(), 8), plain)
    np.testing.assert_allclose(nf.intrinsic_dimension(distances(X), 8, metric="precomputed"), plain)


@pytest.mark.parametrize("n", [2, 3, 10, 91, 92, 500])
def test_the_default_is_thirty_or_a_third_of_few_points(n):
    assert np.all(check_perplexity(None, n) == min(PERPLEXITY, max(1, (n - 1) / 3)))


@pytest.mark.parametrize("jobs", [2, 4])
def test_calibration_gives_the_same_bits_on_any_number_of_threads(jobs, random):
    squared = distances(random.normal(size=(200, 5)), squared=True)
    one, many = (calibrate(squared.copy(), 20.0, n_jobs=count) for count in (1, jobs))
    for name in ("rows", "beta", "dimension"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


@pytest.mark.parametrize(
    ("perplexity", "reason"),
    [
        (-3, "at least 1, got -3: try"),
        (0, "at least 1, got 0: try"),
        (0.5, "at least 1"),
        (np.nan, "at least 1, got nan"),
        (20, "perplexity 20 .* use at most 19"),
        (np.inf, "use at most 19"),
        (np.array([5.0] * 19 + [-1.0]), "at least 1, got -1"),
        (np.array([5.0] * 19 + [25.0]), "perplexity 25 .* use at most 19"),
        (np.full(7, 5.0), "one for each of the 20 points"),
        (np.full((20, 2), 5.0), "one for each of the 20 points"),
        ("many", "a number, a list of numbers or 'multiscale', got 'many'"),
    ],
)
def test_a_perplexity_that_cannot_be_is_refused(perplexity, reason, random):
    with pytest.raises(ValueError, match=reason) as refusal:
        ROW.target(random.normal(size=(20, 2)), perplexity=perplexity)
    assert "\n" not in str(refusal.value)
