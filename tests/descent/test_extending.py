"""Maps that grow: laws of `Run.extend`, and of `extend` and `partial_fit` of the estimators."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances

import nearfield as nf

N, MORE = 90, 20
RANDOM = np.random.default_rng(0)
KIND = RANDOM.integers(3, size=N + MORE)
X = RANDOM.normal(size=(3, 6))[KIND] * 8 + RANDOM.normal(size=(N + MORE, 6))
D = pairwise_distances(X)
METHODS = [*("tsne", "jse", "nerv", "gkl", "umap", "wtsne", "dhssne", "itsne"), *("mssne", "mstsne")]
METHODS += ["mds", "sammon", "sstress", "nmmds"]
every_method = pytest.mark.parametrize("method", METHODS)
pytestmark = pytest.mark.slow


def run_of(method, old, metric="euclidean", **options):
    """A run of the first rows, extended by the others, and its map before that."""
    data = D[:N, :N] if metric == "precomputed" else X[:N]
    own = {} if method in ("mssne", "mstsne") or method in METHODS[-4:] else {"perplexity": 6}
    run = nf.Run(data, method, random_state=0, metric=metric, **own, **options)
    run.step(220)
    before = run.Y
    run.extend(D[N:] if metric == "precomputed" else X[N:], old=old)
    return run, before


def among_their_own(Y):
    nearest = pairwise_distances(Y[N:], Y[:N]).argmin(axis=1)
    return np.mean(KIND[:N][nearest] == KIND[N:])


@every_method
def test_fixed_points_do_not_move_by_a_bit_and_new_ones_find_their_own(method):
    run, before = run_of(method, "fixed")
    run.step(30)
    assert run.Y.shape == (N + MORE, 2)
    np.testing.assert_array_equal(run.Y[:N], before)
    assert among_their_own(run.Y) == 1
    assert set(run.pins) == set(range(N))


@every_method
def test_soft_points_move_less_than_free_ones(method):
    moved = {}
    for old in ("soft", "free"):
        run, before = run_of(method, old)
        run.step(60)
        moved[old] = np.sqrt(np.mean((run.Y[:N] - before) ** 2)) / before.std()
        assert among_their_own(run.Y) == 1
    assert moved["soft"] < 0.2
    assert 0 < moved["soft"] < moved["free"]


@every_method
@pytest.mark.parametrize("old", ["fixed", "free"])
def test_it_is_undone_redone_saved_and_replayed(method, old, tmp_path):
    run, before = run_of(method, old)
    run.step(12)
    after = run.Y
    run.undo()
    np.testing.assert_array_equal(run.Y, before)
    assert run.history["iteration"][-1] == 220
    run.redo()
    np.testing.assert_array_equal(run.Y, after)
    run.pin(N + 1, run.Y[N + 1] + 1, follow=2)
    run.step(12)
    run.map().save(tmp_path / "run.nfmap")
    opened = nf.Run.load(tmp_path / "run.nfmap", X)
    replayed = nf.Run.load(tmp_path / "run.nfmap", X, replay=True)
    for each in (run, opened, replayed):
        each.step(5)
    np.testing.assert_array_equal(opened.Y, run.Y)
    np.testing.assert_array_equal(replayed.Y, run.Y)
    opened.map().save(tmp_path / "again.nfmap")  # what it began with is not forgotten
    np.testing.assert_array_equal(nf.Run.load(tmp_path / "again.nfmap", X, replay=True).Y, run.Y)


def test_what_was_undone_needs_no_rows(tmp_path):
    run, _ = run_of("tsne", "fixed")
    run.step(3)
    run.undo()
    run.step(10)
    run.map().save(tmp_path / "run.nfmap")
    again = nf.Run.load(tmp_path / "run.nfmap", X[:N], replay=True)
    np.testing.assert_array_equal(again.Y, run.Y)


def test_other_rows_are_not_replayed(tmp_path):
    run, _ = run_of("tsne", "fixed")
    run.map().save(tmp_path / "run.nfmap")
    other = X.copy()
    other[-1] += 1
    with pytest.raises(ValueError, match="was made of other data"):
        nf.Run.load(tmp_path / "run.nfmap", other)


def test_distances_are_extended_by_distances():
    run, before = run_of("tsne", "fixed", metric="precomputed")
    run.step(30)
    np.testing.assert_array_equal(run.Y[:N], before)
    assert among_their_own(run.Y) == 1


def test_weights_are_extended():
    run = nf.Run(X[:N], "tsne", perplexity=6, random_state=0, weights=np.full(N, 2.0))
    run.step(220)
    run.extend(X[N:], weights=np.full(MORE, 3.0))
    run.step(10)
    assert run.map().parameters["weights"] == [2.0] * N + [3.0] * MORE
    assert among_their_own(run.Y) > 0.9


def test_a_map_grows_step_by_step():
    run = nf.Run(X[:N], "tsne", perplexity=6, random_state=0)
    run.step(220)
    for lo in range(N, N + MORE, 5):
        run.extend(X[lo : lo + 5], old="free")
        run.step(20)
    assert run.Y.shape == (N + MORE, 2)
    assert among_their_own(run.Y) == 1
    assert [entry.command for entry in run.log] == ["extend"] * 4


# The estimators ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [*METHODS[:3], "itsne", "mssne", "mds", "pca"])
def test_a_model_grows(method):
    model = nf.Embedder(method, random_state=0, max_iter=220).fit(X[:N])
    before, others = model.embedding_.copy(), X[N:] + 0.01
    model.extend(X[N:])
    np.testing.assert_array_equal(model.embedding_[:N], before)
    np.testing.assert_array_equal(model.moved_, np.zeros(N))
    np.testing.assert_array_equal(model.transform(X), model.embedding_)  # all of them were fitted now
    if method not in ("itsne", "mssne"):
        assert (
            np.median(np.linalg.norm(model.transform(others) - model.embedding_[N:], axis=1)) < before.std()
        )


def test_how_far_the_old_points_moved_is_told():
    soft = nf.TSNE(perplexity=6, random_state=0).fit(X[:N]).extend(X[N:], old="soft")
    free = nf.TSNE(perplexity=6, random_state=0).fit(X[:N]).extend(X[N:], old="free")
    assert 0 < np.median(soft.moved_) < np.median(free.moved_)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_models_of_all_kinds_of_rows_grow(metric, kind):
    model = nf.TSNE(perplexity=6, random_state=0, metric=metric, max_iter=150).fit(kind(X[:N]))
    model.extend(kind(X[N:]))
    np.testing.assert_array_equal(model.transform(kind(X)), model.embedding_)


def test_partial_fit_fits_and_then_extends():
    model = nf.TSNE(perplexity=6, random_state=0)
    first = model.partial_fit(X[:N]).embedding_
    np.testing.assert_array_equal(first, nf.TSNE(perplexity=6, random_state=0).fit_transform(X[:N]))
    model.partial_fit(X[N:])
    np.testing.assert_array_equal(model.embedding_[:N], first)
    assert among_their_own(model.embedding_) == 1


def test_nothing_is_nothing_more():
    model = nf.TSNE(perplexity=6, random_state=0, max_iter=100).fit(X[:N])
    before = model.embedding_
    assert model.extend(X[:0]).embedding_ is before


# What is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (X[N:, :4], {}, "rows must have 6 columns, got 4"),
        (np.full((2, 6), np.nan), {}, "rows contains NaN in rows 0, 1"),
        (X[:0], {}, "at least one row"),
        (X[N:], {"old": "still"}, "old must be one of fixed, soft, free, got 'still'"),
        (X[N:], {"weights": [1.0, 2.0]}, "weights"),
    ],
)
def test_rows_that_do_not_fit_leave_the_run_as_it_was(rows, options, message):
    run = nf.Run(X[:N], "tsne", perplexity=6, random_state=0)
    run.step(220)
    before = run.Y
    with pytest.raises(ValueError, match=message):
        run.extend(rows, **options)
    np.testing.assert_array_equal(run.Y, before)
    assert run.log == []


def test_a_map_that_has_not_unfolded_waits():
    run = nf.Run(X[:N], "tsne", perplexity=6, random_state=0)
    run.step(10)
    with pytest.raises(ValueError, match="has not unfolded yet: make 90 iterations more"):
        run.extend(X[N:])


def test_neighbours_and_affinities_say_what_to_do():
    graph = sparse.csr_array(np.where(np.sort(D, axis=1)[:, 30:31] > D, D, 0))
    for data, metric in ((graph, "precomputed"), (np.exp(-D), "affinity")):
        run = nf.Run(data, "tsne", metric=metric, perplexity=6, random_state=0)
        run.step(220)
        with pytest.raises(ValueError, match="with init an array in which new rows are NaN"):
            run.extend(data[:3])
    model = nf.TSNE(metric="precomputed", perplexity=6, random_state=0, max_iter=60).fit(D)
    with pytest.raises(
        ValueError, match="fit all of them anew, with init an array in which new rows are NaN"
    ):
        model.extend(D[:2] + 1)


def test_what_was_not_fitted_does_not_grow():
    with pytest.raises(NotFittedError):
        nf.TSNE().extend(X)
    with pytest.raises(ValueError, match="use old='fixed'"):
        nf.Embedder("pca").fit(X).extend(X + 1, old="soft")
