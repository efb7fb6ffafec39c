"""A mix of views is the average of what each of them asks for, in target, run and placed rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import nearfield as nf
from nearfield.affinity import mixed
from nearfield.affinity.mixed import MixedFitted
from nearfield.affinity.mixing import Mix
from nearfield.affinity.source import Source
from nearfield.affinity.targets import ALL_PAIRS, NEIGHBOURS, target
from nearfield.descent.models import _compact, _complete
from nearfield.descent.soundness import check_fitted

N, NEW = 120, 10
RANDOM = np.random.default_rng(3)
ONE, OTHER = RANDOM.integers(2, size=(2, N + NEW))
NUMBERS = 8 * ONE[:, None] + RANDOM.normal(size=(N + NEW, 4))
BITS = (RANDOM.random((2, 64)) < 0.3)[OTHER] ^ (RANDOM.random((N + NEW, 64)) < 0.05)
KINDS = np.array(["cod", "ray", "eel", "pike"])[2 * ONE + OTHER]
METHODS = {"joint": "tsne", "row": "asne", "weights": "gkl"}
QUICK = {"perplexity": 10, "max_iter": 250, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore:the map has not unfolded")


def views(rows=slice(0, N)):
    return [NUMBERS[rows], (sparse.csr_array(BITS[rows]), "jaccard"), KINDS[rows]]


def dense(P):
    return P.toarray() if sparse.issparse(P) else P


@pytest.mark.parametrize("on", [ALL_PAIRS, NEIGHBOURS])
@pytest.mark.parametrize("kind", METHODS)
def test_the_target_is_the_mean_of_those_of_the_views(kind, on):
    method = nf.method(METHODS[kind])
    assert method.target_kind == kind
    sources = [Source.of(NUMBERS[:N]), Source.of(sparse.csr_array(BITS[:N]), "jaccard")]
    each = [dense(target(source, method, 10, on=on)) for source in sources]
    found = target(nf.mix(views()[:2], weights=[3, 1]), method, 10, on=on)
    assert sparse.issparse(found) == (on == NEIGHBOURS)
    np.testing.assert_allclose(dense(found), 0.75 * each[0] + 0.25 * each[1], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("on", [ALL_PAIRS, NEIGHBOURS])
def test_one_view_is_as_if_it_were_not_mixed_and_units_do_not_matter(on):
    method = nf.method("tsne")
    alone = dense(target(Source.of(NUMBERS[:N]), method, 10, on=on))
    np.testing.assert_array_equal(dense(target(nf.mix([NUMBERS[:N]]), method, 10, on=on)), alone)
    one = dense(target(nf.mix([NUMBERS[:N], BITS[:N]]), method, 10, on=on))
    other = dense(target(nf.mix([1024 * NUMBERS[:N], BITS[:N]]), method, 10, on=on))
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("engine", ["exact", "mesh"])
def test_a_map_shows_what_one_view_alone_does_not(engine):
    mix = nf.mix(views()[:2])
    model = nf.Embedder("tsne", engine=engine, **QUICK | {"perplexity": 35}).fit(mix)
    groups = 2 * ONE + OTHER
    assert nf.quality(NUMBERS[:N], model.embedding_, groups[:N]).label_accuracy > 0.95
    np.testing.assert_array_equal(model.transform(mix), model.embedding_)
    placed = model.place(nf.mix(views(slice(N, N + NEW))[:2]))
    squared = ((model.embedding_ - placed.Y[:, None]) ** 2).sum(axis=-1)
    for nearest in (np.argsort(squared, axis=1)[:, :5], placed.neighbours):
        assert np.mean(groups[:N][nearest] == groups[N:, None]) > 0.8
    assert np.all((placed.novelty >= 0) & (placed.novelty <= 1))


def test_a_row_has_its_place_whatever_rows_are_beside_it_and_on_any_number_of_threads(monkeypatch):
    model = nf.TSNE(n_jobs=1, **QUICK).fit(nf.mix(views()))
    other = nf.TSNE(n_jobs=2, **QUICK).fit(nf.mix(views()))
    np.testing.assert_array_equal(model.embedding_, other.embedding_)
    new = model.place(nf.mix(views(slice(N, N + NEW))))
    monkeypatch.setattr(mixed, "BLOCK", 3 * N)
    again = other.place(nf.mix(views(slice(N, N + NEW))))
    np.testing.assert_array_equal(new.Y, again.Y)
    np.testing.assert_array_equal(new.neighbours, again.neighbours)
    alone = model.transform(nf.mix(views(slice(N, N + 1))))
    np.testing.assert_array_equal(alone, new.Y[:1])


def test_ties_of_neighbours_are_nearly_those_of_all_pairs():
    method, source = nf.method("tsne"), nf.mix(views()[:2])
    run = nf.Run(source, method, engine="exact", perplexity=10, random_state=0)
    fitted = run.reference().fitted
    assert isinstance(fitted, MixedFitted)
    rows = nf.mix(views(slice(N, N + NEW))[:2]).X
    some = fitted.ties(rows, method, 10, all_pairs=False).over_all(N)
    every = fitted.ties(rows, method, 10, all_pairs=True)
    np.testing.assert_allclose(every.ahead.sum(axis=1), 1)
    np.testing.assert_allclose(some.ahead, every.ahead, atol=1e-2)


def test_runs_are_steered_saved_and_reopened(tmp_path):
    run = nf.Run(nf.mix(views()), "tsne", perplexity=10, random_state=0)
    run.step(60)
    run.pin([3], [[5.0, 5.0]])
    run.step(20)
    assert run.map().parameters["metric"].startswith("mix of euclidean of 4 columns, jaccard of 64 columns")
    run.map().save(tmp_path / "run.nfmap")
    again = nf.Run.load(tmp_path / "run.nfmap", nf.mix(views()))
    again.step(5)
    run.step(5)
    np.testing.assert_array_equal(again.Y, run.Y)
    with pytest.raises(ValueError, match="rows cannot be added to a mix of views"):
        run.extend(nf.mix(views(slice(N, N + NEW))))


@pytest.mark.parametrize("rows", ["exact", "compact"])
def test_a_model_is_saved_and_loaded_bit_for_bit(rows, tmp_path):
    source, new = nf.mix(views()), nf.mix(views(slice(N, N + NEW)))
    model = nf.Embedder("tsne", engine="mesh", **QUICK).fit(source)
    model.save(tmp_path / "model.nfmap", rows)
    again = nf.load(tmp_path / "model.nfmap", n_jobs=1)
    np.testing.assert_array_equal(again.transform(source), model.embedding_)
    one, other = model.place(new), again.place(new)
    np.testing.assert_allclose(one.Y, other.Y, rtol=0, atol=0 if rows == "exact" else 2)
    if rows == "exact":
        np.testing.assert_array_equal(one.neighbours, other.neighbours)
        np.testing.assert_array_equal(one.novelty, other.novelty)


def test_categories_are_never_rounded():
    codes = np.arange(600.0)[:, None]
    assert _compact("Fitted", {"metric": "hamming", "_X": codes}, "compact")["_X"] is codes
    assert not isinstance(
        _compact("Fitted", {"metric": "manhattan", "_X": codes}, "compact")["_X"], np.ndarray
    )


BROKEN = {
    "a view too few": lambda fitted: fitted.views.pop(),
    "no views": lambda fitted: vars(fitted).update(metric=(), views=[]),
    "something else": lambda fitted: vars(fitted).update(metric=("euclidean", "jaccard", "hamming")),
    "a gap": lambda fitted: changed(fitted, start=2),
    "too wide": lambda fitted: changed(fitted, stop=10_000),
    "too short": lambda fitted: changed(fitted, stop=67),
    "no share": lambda fitted: changed(fitted, share=-1.0),
    "another metric": lambda fitted: changed(fitted, metric="cosine"),
    "other rows": lambda fitted: vars(fitted.views[0]).update(n=7),
    "distances": lambda fitted: vars(fitted).update(precomputed=True),
    "keys": lambda fitted: vars(fitted).update(_keys=np.zeros((3, 2), np.uint64)),
}


def changed(fitted, **parts):
    fitted.metric = (*fitted.metric[:-1], replace(fitted.metric[-1], **parts))


@pytest.mark.parametrize("what", BROKEN)
def test_a_file_whose_views_do_not_fit_is_refused(what):
    run = nf.Run(nf.mix(views()), "tsne", perplexity=10, random_state=0, engine="mesh")
    fitted = run.reference().fitted
    _complete(fitted)
    check_fitted(fitted, N, fitted.columns)
    columns = fitted.columns
    BROKEN[what](fitted)
    with pytest.raises(ValueError, match=r".") as refusal:
        check_fitted(fitted, N, columns)
    assert "\n" not in str(refusal.value)


def test_observation_weights_count_in_every_view():
    copies = np.where(np.arange(N) < 20, 2, 1)
    twice = np.repeat(np.arange(N), copies)
    weighted = target(Source.of(nf.mix(views()[:2]), weights=copies), nf.method("tsne"), 10)
    repeated = target(nf.mix([NUMBERS[twice], (BITS[twice], "jaccard")]), nf.method("tsne"), 10)
    np.testing.assert_allclose(weighted[25:, 25:], repeated[45:, 45:], rtol=1e-6)


def test_frames_and_categories_are_views():
    frame = pd.DataFrame({"kind": pd.Categorical(KINDS[:N]), "sea": np.where(ONE[:N], "north", "south")})
    source = nf.mix([NUMBERS[:N].astype(np.float32), frame, frame["kind"]])
    assert isinstance(source, Mix)
    assert [view.metric for view in source.metric] == ["euclidean", "hamming", "hamming"]
    D = source.views[1].distances()
    differ = (frame["kind"].to_numpy()[:, None] != frame["kind"].to_numpy()).astype(float)
    differ += frame["sea"].to_numpy()[:, None] != frame["sea"].to_numpy()
    np.testing.assert_allclose(D, differ / 2)
    objects = nf.mix([NUMBERS[:N].astype(object)])
    assert objects.metric[0].metric == "euclidean"


hole = NUMBERS[:N].copy()
hole[4, 1] = np.nan
both = np.c_[KINDS[:N].astype(object), NUMBERS[:N].astype(object)]
REFUSED = {
    "lengths": (([NUMBERS[:9], BITS[:7]],), "views must have the same rows, but they have 9, 7"),
    "none": (([],), "there are no views to mix"),
    "weights": ((views(), [1, 2]), "a positive number for each of the 3 views"),
    "negative": ((views(), [1, 2, -1]), "a positive number for each of the 3 views"),
    "NaN": (([hole],), "view 0 contains NaN in row 4, column 1"),
    "text and numbers": (([both],), "view 0 has text in column 0 and numbers in column 1"),
    "metric": (([(NUMBERS, "cosin")],), "did you mean 'cosine'"),
    "distances": (([(np.eye(5), "precomputed")],), "view 0 has metric 'precomputed', which is between rows"),
    "three dimensions": (([np.ones((2, 2, 2))],), "view 0 must have two dimensions"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_mixed_is_refused_in_a_line(what):
    arguments, reason = REFUSED[what]
    with pytest.raises(ValueError, match=reason) as refusal:
        nf.mix(*arguments)
    assert "\n" not in str(refusal.value)


def test_what_a_mix_cannot_do_is_said():
    source = nf.mix(views()[:2])
    model = nf.Embedder("tsne", **QUICK).fit(source)
    cases = [
        (lambda: nf.Embedder("mds").fit(source), "a cost of distances takes one view"),
        (lambda: nf.Embedder("mstsne").fit(source), "a mix of views takes one perplexity"),
        (lambda: nf.Embedder("pca").fit(source), "principal components are of one view"),
        (lambda: model.transform(NUMBERS), "several views were fitted: pass the same ones"),
        (
            lambda: model.transform(nf.mix([NUMBERS])),
            "must be those that were fitted, euclidean of 4 columns",
        ),
        (lambda: model.extend(nf.mix(views(slice(N, N + 2))[:2])), "rows cannot be added to a mix"),
        (lambda: nf.open_studio(source, browser=False), "the studio shows one view"),
        (lambda: nf.TSNE(**QUICK).fit(NUMBERS).transform(source), "one view was fitted"),
    ]
    for act, reason in cases:
        with pytest.raises(ValueError, match=reason):
            act()


def test_categories_that_are_missing_are_named():
    kinds = np.array(["a", None, "b"] * 10, dtype=object)
    with pytest.raises(ValueError, match="view 0 lacks a category in row 1"):
        nf.mix([kinds])


def test_no_rows_are_a_mix_too():
    assert nf.mix([np.zeros((0, 3)), np.zeros((0, 1), dtype="U3")]).X.shape == (0, 4)


def test_weights_of_umap_are_of_one_view():
    with pytest.raises(ValueError, match="UMAP's weights are of one view"):
        nf.UMAP().fit(nf.mix([np.eye(30), np.eye(30)]))
