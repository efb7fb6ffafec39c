"""Labels that have a say: p between different known labels counts less, before P is made symmetric."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

import nearfield as nf
from nearfield.affinity.source import Source
from nearfield.affinity.strata import Sampled
from nearfield.affinity.supervision import Supervision
from nearfield.affinity.targets import NEIGHBOURS, target
from nearfield.io.datasets import digits

random = np.random.default_rng(0)
N = 90
X = random.normal(size=(N, 4))
LABELS = np.where(random.random(N) < 0.6, random.integers(0, 3, N), -1)
DIFFER = (LABELS[:, None] != LABELS) & (LABELS[:, None] >= 0) & (LABELS >= 0)


def by_hand(rows, strength, bare=False, counts=1.0):
    """Section by section, as it is defined."""
    out = np.where(DIFFER, 1 - strength, 1.0) * rows
    before, after = (each.max(axis=1) if bare else (counts * each).sum(axis=1) for each in (rows, out))
    return out * (before / after)[:, None]


def made(method, strength=0.6, on="all pairs", perplexity=8, **source):
    found = target(Source.of(X, **source).supervised(LABELS, strength), nf.method(method), perplexity, on=on)
    return found


def test_dense_rows_are_discounted_and_sum_to_one_and_joint_p_is_their_mean():
    rows = nf.method("asne").target(X, perplexity=8)
    wanted = by_hand(rows, 0.6)
    np.testing.assert_allclose(made("asne"), wanted, atol=1e-8)
    np.testing.assert_allclose(made("asne").sum(axis=1), 1.0)
    np.testing.assert_allclose(made("tsne"), (wanted + wanted.T) / (2 * N), atol=1e-9)


def test_bare_weights_keep_a_nearest_of_one():
    P = nf.method("asne").target(X, perplexity=8)
    v = by_hand(P / P.max(axis=1, keepdims=True), 0.6, bare=True)
    np.testing.assert_allclose(made("umap"), (v + v.T) / 2, atol=1e-7)


@pytest.mark.parametrize("method", ["asne", "tsne", "umap"])
def test_on_neighbours_it_is_that_of_all_pairs_but_for_the_trace_beyond(method):
    dense = made(method, perplexity=4)
    thin = made(method, on=NEIGHBOURS, perplexity=4)
    assert sparse.issparse(thin)
    np.testing.assert_allclose(thin.toarray(), dense, atol=0.06 * dense.max())


def test_copies_are_the_rows_that_they_stand_for():
    times = np.where(np.arange(N) % 7 == 0, 2, 1)
    again = np.repeat(np.arange(N), times)
    for on in ("all pairs", NEIGHBOURS):
        weighed = made("tsne", on=on, weights=times.astype(float), perplexity=6)
        source = Source.of(X[again]).supervised(LABELS[again], 0.6)
        repeated = target(source, nf.method("tsne"), 6, on=on)
        first = np.r_[0, np.cumsum(times)[:-1]]
        dense = [each.toarray() if sparse.issparse(each) else each for each in (weighed, repeated)]
        off = ~np.eye(N, dtype=bool)
        gap = np.abs(dense[0] - dense[1][np.ix_(first, first)])[off]
        assert gap.max() < (1e-8 if on != NEIGHBOURS else 0.05 * dense[0].max())


def test_several_perplexities_and_strata():
    plain = nf.method("asne").target(X, perplexity=[4, 16])
    wanted = by_hand(plain, 0.6)
    np.testing.assert_allclose(made("asne", perplexity=[4, 16]).target(), wanted, atol=1e-8)
    np.testing.assert_allclose(
        made("tsne", perplexity=[4, 16]).target(), (wanted + wanted.T) / (2 * N), atol=1e-9
    )
    for method in ("asne", "tsne", "umap"):
        drawn, alone = (made(method, s, NEIGHBOURS, [4, 16]).target() for s in (0.6, 0.0))
        assert isinstance(drawn, Sampled)
        rows, columns = drawn.P.tocoo().coords
        ratio = drawn.P.data / alone.P.data
        differ = DIFFER[rows, columns]
        assert ratio[differ].mean() < 0.75 < 1.0 <= ratio[~differ].min() + 1e-6
        if method == "asne":
            np.testing.assert_allclose(drawn.folded().sum(axis=1), alone.folded().sum(axis=1), rtol=1e-5)


def test_affinities_and_graphs_of_ones_own():
    P = nf.method("asne").target(X, perplexity=8)
    wanted = by_hand(P, 0.6)
    for given in (P, sparse.csr_array(P)):
        source = Source.of(given, "affinity").supervised(LABELS, 0.6)
        found = target(source, nf.method("asne"))
        np.testing.assert_allclose(found.toarray() if sparse.issparse(found) else found, wanted, atol=1e-8)
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    given = target(Source.of(D, "precomputed").supervised(LABELS, 0.6), nf.method("asne"), 8)
    np.testing.assert_allclose(given, wanted, atol=1e-7)


def test_nothing_changes_without_strength_or_labels():
    plain = nf.TSNE(perplexity=8, max_iter=60, random_state=0).fit_transform(X)
    assert np.array_equal(nf.TSNE(perplexity=8, max_iter=60, random_state=0).fit_transform(X, LABELS), plain)
    none = Supervision(np.full(N, -1), 0.5)
    rows = nf.method("asne").target(X, perplexity=8)
    before = rows.copy()
    none.discount(rows)
    assert np.array_equal(rows, before)


def test_known_labels_bring_those_without_to_their_own():
    table = digits()
    y = np.asarray(table.labels)[::2].astype(int)
    Z = table.X[::2] + 6 * np.random.default_rng(9).normal(size=table.X[::2].shape)
    accuracy = np.zeros((2, 3))
    for draw in range(3):
        half = np.random.default_rng(draw).random(len(y)) < 0.5
        for row, strength in enumerate((0.0, 0.5)):
            Y = nf.TSNE(supervision=strength, random_state=0).fit_transform(Z, np.where(half, y, -1))
            vote = KNeighborsClassifier(10).fit(Y[half], y[half])
            accuracy[row, draw] = vote.score(Y[~half], y[~half])
    assert accuracy[1].mean() > accuracy[0].mean() + 0.005


@pytest.mark.parametrize(
    "labels",
    [
        [None if each < 0 else f"class {each}" for each in LABELS],
        np.where(LABELS < 0, np.nan, LABELS.astype(float)),
        pd.Series(pd.array(np.where(LABELS < 0, None, LABELS), dtype="Int64")),
        pd.Series([None if each < 0 else str(each) for each in LABELS], dtype="category"),
        ["" if each < 0 else "abc"[each] for each in LABELS],
        LABELS.astype(str),
    ],
    ids=["None", "NaN", "NA", "category", "empty", "text"],
)
def test_what_is_missing_is_missing_whatever_it_is_called(labels):
    assert np.array_equal(Supervision.of(labels, N, 0.5).codes, LABELS)


def test_it_is_kept_in_files_and_where_rows_are_added(tmp_path):
    options = {"perplexity": 8, "supervision": 0.6, "random_state": 0}
    run = nf.Run(X, "tsne", labels=LABELS, **options)
    run.step(20)
    run.map().save(tmp_path / "map.nfmap")
    again = nf.Run.load(tmp_path / "map.nfmap", X)
    for each in (run, again):
        each.step(90)
    assert np.array_equal(run.Y, again.Y)
    run.extend(X[:5] + 0.1)
    assert run.source.labels.codes[-5:].tolist() == [-1] * 5
    model = nf.TSNE(max_iter=60, **options).fit(X, LABELS)
    model.save(tmp_path / "model.nfmap")
    opened = nf.load(tmp_path / "model.nfmap")
    assert np.array_equal(opened.transform(X[:3] + 0.1), model.transform(X[:3] + 0.1))
    before = model.embedding_
    for each in (model, opened):
        each.extend(X[:5] + 0.1)
    assert np.array_equal(model.embedding_[:N], before)
    assert np.array_equal(opened.embedding_, model.embedding_)
    assert model.classes_known_.tolist() == [*LABELS.tolist(), *[-1] * 5]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (None, "supervision needs labels"),
        (LABELS[:-1], "89 labels"),
        (np.where(np.arange(N) % 2, 1, -1), "labels are -1 and 1"),
        (np.where(np.arange(N) % 2, 1.0, -1.0), "labels are -1 and 1"),
        (np.where(np.arange(N) % 2, "1", "-1"), "labels are -1 and 1"),
        (np.linspace(0, 1, N), "look like measurements"),
        (np.full(N, -1), "no point has a label"),
        (np.zeros((N, 2)), "pass one column"),
    ],
)
def test_what_labels_cannot_be_is_asked_about(labels, said):
    with pytest.raises(ValueError, match=said):
        nf.TSNE(supervision=0.5).fit(X, labels)


def test_methods_without_p_refuse_and_strengths_are_shares():
    for method in ("mds", "sstress", "pca"):
        with pytest.raises(ValueError, match="leave supervision at 0"):
            nf.Embedder(method, supervision=0.5).fit(X, LABELS)
    for wrong in (1, -0.1, np.nan, True, "half"):
        with pytest.raises(ValueError, match="0 to below 1"):
            nf.TSNE(supervision=wrong).fit(X, LABELS)
