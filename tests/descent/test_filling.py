"""Starts in which some rows are NaN: free points begin amid their neighbours, others where they are put."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances

import nearfield as nf
from nearfield.descent.filling import medians

RANDOM = np.random.default_rng(0)
KIND = RANDOM.integers(3, size=120)
X = RANDOM.normal(size=(3, 6))[KIND] * 8 + RANDOM.normal(size=(120, 6))
PUT = np.array([[10.0, 0.0], [-10.0, 5.0], [0.0, -10.0]])[KIND] + RANDOM.normal(size=(120, 2))
FREE = np.arange(120) % 4 == 0
INIT = np.where(FREE[:, None], np.nan, PUT)


@pytest.mark.parametrize("engine", ["exact", "mesh"])
@pytest.mark.parametrize("method", ["tsne", "jse", "gkl", "umap", "mstsne", "wtsne"])
def test_free_points_begin_amid_their_own(method, engine):
    Y = nf.Run(X, method, init=INIT, engine=engine).Y
    Y = Y - (Y - PUT)[~FREE].mean(axis=0)  # the map is centred
    np.testing.assert_allclose(Y[~FREE], PUT[~FREE], atol=1e-9)
    nearest = pairwise_distances(Y[FREE], Y[~FREE]).argmin(axis=1)
    assert np.array_equal(KIND[~FREE][nearest], KIND[FREE])


@pytest.mark.parametrize("method", ["mds", "sammon", "sstress"])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed", "manhattan"])
def test_so_they_do_without_p(method, metric):
    data = pairwise_distances(X) if metric == "precomputed" else X
    Y = nf.Run(data, method, init=INIT, metric=metric).Y
    nearest = pairwise_distances(Y[FREE], Y[~FREE]).argmin(axis=1)
    assert np.array_equal(KIND[~FREE][nearest], KIND[FREE])


def test_who_has_free_neighbours_only_waits_for_them():
    chain = sparse.diags_array([np.ones(39), np.ones(39)], offsets=[-1, 1]).tocsr()
    init = np.full((40, 2), np.nan)
    init[:2] = [[5.0, 5.0], [5.0, 6.0]]
    Y = nf.Run(chain, "tsne", metric="affinity", init=init).Y
    assert np.isfinite(Y).all()
    np.testing.assert_allclose(Y[2:] - Y[1], 0, atol=1e-9)


def test_who_is_tied_to_nobody_that_is_put_begins_in_the_middle():
    blocks = sparse.block_diag([np.ones((5, 5)) - np.eye(5)] * 2).tocsr()
    init = np.full((10, 2), np.nan)
    init[:5] = RANDOM.normal(size=(5, 2))
    Y = nf.Run(blocks, "tsne", metric="affinity", init=init).Y
    expected = np.median(init[:5], axis=0) - init[:5].mean(axis=0)
    np.testing.assert_allclose(Y[5:] - Y[:5].mean(axis=0), np.tile(expected, (5, 1)))


def test_the_run_can_be_done_again(tmp_path):
    run = nf.Run(X, "tsne", init=INIT)
    run.step(30)
    run.map().save(tmp_path / "run.nfmap")
    again = nf.Run.load(tmp_path / "run.nfmap", X, replay=True)
    np.testing.assert_array_equal(again.Y, run.Y)


def test_a_projection_is_a_start_whoever_is_free():
    wide = 100 * X[:, :2]
    assert not nf.Run(X, "tsne", init=np.where(FREE[:, None], np.nan, wide)).starts_unfolded


@pytest.mark.parametrize(
    ("init", "message"),
    [
        (np.full((120, 2), np.nan), "init puts no point anywhere"),
        (np.where(np.arange(240).reshape(120, 2) == 7, np.nan, PUT), "init contains NaN in row 3, column 1"),
        (np.where(np.arange(240).reshape(120, 2) == 7, np.inf, INIT), "init contains infinity"),
    ],
)
def test_what_is_no_start_is_refused(init, message):
    with pytest.raises(ValueError, match=message):
        nf.Run(X, "tsne", init=init)


def test_medians_are_those_of_repeated_places():
    weights = RANDOM.integers(0, 4, size=(30, 20)).astype(float)
    weights[:, 0] += 1
    Y = RANDOM.normal(size=(20, 3))
    for row, found in zip(weights, medians(sparse.csr_array(weights), Y), strict=True):
        repeated = np.sort(np.repeat(Y, row.astype(int), axis=0), axis=0)
        np.testing.assert_array_equal(found, repeated[(len(repeated) - 1) // 2])
