"""Starts: principal components and classical scaling are one, graphs show their clusters, scales are met."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import nearfield as nf
from nearfield.affinity.distances import distances
from nearfield.descent.starts import STARTS, start

seeds = st.integers(0, 2**32 - 1)


def state(seed=0):
    return np.random.RandomState(seed)


def up_to_sign(Y, like):
    """Y with every axis turned to the side on which the other map has it."""
    signs = np.sign((Y * like).sum(axis=0))
    return Y * np.where(signs == 0, 1.0, signs)


def two_blobs(random, n=40):
    which = np.arange(n) % 2
    return random.normal(size=(n, 5)) + 12.0 * which[:, None], which


@given(seed=seeds, n=st.integers(8, 40), n_components=st.integers(1, 3), power=st.integers(-6, 6))
def test_principal_components_are_the_classical_scaling_of_distances(seed, n, n_components, power):
    X = np.random.default_rng(seed).normal(size=(n, 5)) * [16, 8, 4, 2, 1] * 10.0**power
    pca = start("pca", n=n, n_components=n_components, random=state(), data=X)
    scaling = start(
        "pca", n=n, n_components=n_components, random=state(), target=distances(X), is_distance=True
    )
    np.testing.assert_allclose(up_to_sign(scaling, pca), pca, rtol=1e-6, atol=1e-6 * np.abs(pca).max())
    assert np.all(np.diff(pca.std(axis=0)) < 0)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_data_of_as_many_dimensions_start_without_stress(metric, n_components, random):
    X = random.normal(size=(30, n_components)) @ np.linalg.qr(random.normal(size=(6, n_components)))[0].T
    given_ = distances(X) if metric == "precomputed" else X
    run = nf.Run(given_, "mds", metric=metric, n_components=n_components)
    np.testing.assert_allclose(distances(run.Y), distances(X), atol=1e-6)


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("columns", [4, 5, 8])
def test_sparse_data_start_where_dense_data_do(n_components, columns, random):
    X = random.poisson(1.0, size=(50, columns)) * np.arange(1.0, columns + 1) ** 2
    dense = start("pca", n=50, n_components=n_components, random=state(), data=X)
    thin = start("pca", n=50, n_components=n_components, random=state(), data=sparse.csr_array(X))
    np.testing.assert_allclose(up_to_sign(thin, dense), dense, atol=1e-6 * np.abs(dense).max())


@pytest.mark.parametrize("name", ["tsne", "asne", "gkl", "mds"])
@pytest.mark.parametrize("n_components", [1, 2])
def test_the_slowest_mode_of_the_graph_separates_two_blobs(name, n_components, random):
    X, which = two_blobs(random)
    first = nf.Run(X, name, init="spectral", perplexity=15, n_components=n_components).Y[:, 0]
    assert (first[which == 0].max() < first[which == 1].min()) or (
        first[which == 1].max() < first[which == 0].min()
    )


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("init", ["pca", "spectral"])
def test_a_ready_p_starts_from_the_modes_of_its_graph(init, form, random):
    X, which = two_blobs(random)
    P = form(nf.method("tsne").target(X, perplexity=15))
    first = nf.Run(P, "tsne", metric="affinity", init=init).Y[:, 0]
    assert abs(np.corrcoef(first, which)[0, 1]) > 0.9


@pytest.mark.parametrize("init", STARTS)
@pytest.mark.parametrize("spread", [1e-12, 1e-4, 1.0, 1e12])
@pytest.mark.parametrize("is_distance", [True, False])
def test_the_first_axis_has_the_spread_that_was_asked_for(init, spread, is_distance, random):
    X = random.normal(size=(30, 4))
    target = distances(X) if is_distance else nf.method("tsne").target(X)
    found = start(
        init,
        n=30,
        n_components=3,
        random=state(),
        data=X,
        target=target,
        is_distance=is_distance,
        spread=spread,
    )
    assert found.shape == (30, 3)
    assert found[:, 0].std() == pytest.approx(spread)


@pytest.mark.parametrize("name", ["tsne", "ssne", "hssne", "umap"])
@pytest.mark.parametrize("init", STARTS)
def test_with_a_kernel_all_points_see_each_other_at_first(name, init, random):
    run = nf.Run(1e3 * random.normal(size=(30, 4)), name, init=init, random_state=0)
    assert 0 < np.abs(run.Y).max() < 1e-2 * run.method.kernel.width


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_random_start_for_distances_is_about_as_large_as_they_are(scale, random):
    X = scale * random.normal(size=(60, 5))
    Y = nf.Run(X, "mds", init="random", random_state=0).Y
    assert np.mean(distances(Y)) == pytest.approx(np.mean(distances(X)), rel=0.3)


@pytest.mark.parametrize("name", ["tsne", "mds", "jse"])
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_positions_of_ones_own_are_only_centred(name, scale, random):
    X, Y = random.normal(size=(20, 3)), scale * random.normal(size=(20, 2))
    before = Y.copy()
    for form in (Y, Y.tolist(), np.asfortranarray(Y)):
        run = nf.Run(X, name, init=form)
        np.testing.assert_allclose(run.Y, Y - Y.mean(axis=0), atol=1e-12 * scale)
        run.step(2)
    np.testing.assert_array_equal(Y, before)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", ["tsne", "mds"])
@pytest.mark.parametrize("columns", [1, 2])
def test_axes_that_the_data_do_not_have_are_filled_faintly(name, form, columns, random):
    X = random.normal(size=(30, columns))
    Y = nf.Run(form(X), name, n_components=4, random_state=0).Y
    spread = Y.std(axis=0)
    assert np.all(spread > 0)
    assert np.all(spread[columns:] < 0.05 * spread[0])
    assert np.linalg.matrix_rank(Y) == 4


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("n_components", [1, 2, 3, 7])
@pytest.mark.parametrize("init", STARTS)
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("name", ["tsne", "mds"])
def test_few_points_have_a_start_in_any_dimension(n, n_components, init, metric, name, random):
    X = random.normal(size=(n, 2))
    X = distances(X) if metric == "precomputed" else X
    Y = nf.Run(X, name, metric=metric, init=init, n_components=n_components, random_state=0).Y
    assert Y.shape == (n, n_components)
    assert np.all(np.isfinite(Y))
    assert np.all(Y.std(axis=0) > 0)


@pytest.mark.parametrize("init", STARTS)
@pytest.mark.parametrize("name", ["tsne", "asne", "gkl", "mds", "sammon"])
@pytest.mark.parametrize("copies", [(15, 5), (10, 10), (2, 30)])
def test_more_duplicates_than_others_have_a_start(init, name, copies):
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], copies, axis=0)
    assert np.all(np.isfinite(nf.Run(X, name, init=init, random_state=0).Y))


@pytest.mark.parametrize("init", STARTS)
@pytest.mark.parametrize("name", ["tsne", "mds"])
def test_the_same_seed_gives_the_same_start(init, name, random):
    X = random.normal(size=(40, 3))
    first, again, same_state = (
        nf.Run(X, name, init=init, random_state=seed).Y for seed in (3, 3, np.random.RandomState(3))
    )
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, same_state)


def test_other_seeds_give_other_random_starts(random):
    X = random.normal(size=(40, 3))
    assert not np.allclose(*(nf.Run(X, init="random", random_state=seed).Y for seed in (3, 4)))


@pytest.mark.parametrize(
    ("init", "reason"),
    [
        ("pcs", "init must be one of pca, random, spectral, or an array, got 'pcs'"),
        (np.zeros((20, 3)), r"init must have shape \(20, 2\), got \(20, 3\)"),
        (np.zeros(20), r"init must have shape \(20, 2\), got \(20,\)"),
        (np.full((20, 2), np.nan), "init puts no point anywhere"),
        (np.where(np.eye(20, 2) > 0, np.nan, 0.5), "init contains NaN in rows 0, 1"),
    ],
)
def test_a_start_that_is_none_is_refused(init, reason, random):
    with pytest.raises(ValueError, match=reason) as refusal:
        nf.Run(random.normal(size=(20, 3)), init=init)
    assert "\n" not in str(refusal.value)


def test_a_projection_whose_first_axis_is_constant_is_a_start_all_the_same(random):
    X = np.c_[np.ones(80), random.normal(size=(80, 4))]
    Y = nf.Run(X, "tsne", init=100 * X[:, :2], perplexity=5).Y
    assert np.isfinite(Y).all()
    assert Y.std() > 0
