"""Landmarks: a map of some rows, in which all others are placed."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import nearfield as nf
from nearfield.affinity.landmarks import chosen
from nearfield.io.chunked import Held
from support.chunks import blobs

X = blobs()
QUICK = {"perplexity": 8, "max_iter": 60, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore:ended at max_iter", "ignore:the map has not unfolded")


@pytest.fixture(scope="module")
def model():
    with pytest.warns(UserWarning, match="ended at max_iter"):
        return nf.TSNE(landmarks=150, **QUICK).fit(X)


def test_landmarks_lie_as_in_a_map_of_them_alone(model):
    alone = nf.TSNE(**QUICK).fit(X[model.landmarks_])
    assert len(model.landmarks_) == 150
    assert np.array_equal(model.embedding_[model.landmarks_], alone.embedding_)
    assert model.cost_ == alone.cost_
    assert np.array_equal(alone.transform(X), model.embedding_)


def test_every_row_that_was_seen_is_placed_where_it_is(model):
    assert np.array_equal(model.transform(X), model.embedding_)
    assert np.array_equal(model.transform(X[700:720]), model.embedding_[700:720])
    placed = model.place(X[:30])
    assert np.array_equal(placed.Y, model.embedding_[:30])
    assert placed.neighbours.max() < 150


def test_they_are_judged_and_drawn_as_any_map(model):
    judged = nf.quality(X, model)
    assert judged.n_points == len(X)
    assert judged.trustworthiness > 0.7
    assert len(nf.show.map(model).collections[0].get_offsets()) == len(X)


def test_a_file_holds_all_places(model, tmp_path):
    path = tmp_path / "model.nfmap"
    model.save(path)
    again = nf.load(path)
    assert np.array_equal(again.embedding_, model.embedding_)
    assert np.array_equal(again.landmarks_, model.landmarks_)
    assert np.array_equal(again.transform(X[:50]), model.embedding_[:50])


def test_rows_may_be_named_and_frames_sparse_rows_and_other_estimators_have_landmarks(model):
    which = model.landmarks_[::-1]
    frame = pd.DataFrame(X, columns=list("abcdef"))
    named = nf.TSNE(landmarks=which, **QUICK).fit(frame)
    assert np.array_equal(named.embedding_, model.embedding_)
    assert named.feature_names_in_.tolist() == list("abcdef")
    thin = sparse.csr_array(np.where(np.abs(X) > 1, X, 0))
    found = nf.UMAP(n_neighbors=6, n_epochs=11, landmarks=100, random_state=0).fit(thin)
    assert np.array_equal(found.transform(thin[:40]), found.embedding_[:40])
    flat = nf.Embedder("pca", landmarks=100, random_state=0).fit(X)
    assert flat.embedding_.shape == (900, 2)
    assert np.array_equal(flat.transform(X), flat.embedding_)


def test_what_is_given_of_all_rows_is_taken_of_the_landmarks():
    which, labels = np.arange(0, 900, 6), np.arange(900) % 3
    start, weights = np.random.default_rng(0).normal(size=(900, 2)), 1.0 + np.arange(900) % 4
    options = {**QUICK, "max_iter": 30, "supervision": 0.5, "pins": {12: (3.0, 4.0)}}
    found = nf.Embedder(landmarks=which, init=start, **options).fit(X, labels, weights=weights)
    options["pins"] = {2: (3.0, 4.0)}
    alone = nf.Embedder(init=start[which], **options).fit(X[which], labels[which], weights=weights[which])
    assert np.array_equal(found.embedding_[which], alone.embedding_)


def test_as_many_landmarks_as_rows_are_all_rows():
    few = X[:60]
    found = nf.TSNE(landmarks=100, **QUICK).fit_transform(few)
    assert np.array_equal(found, nf.TSNE(**QUICK).fit_transform(few))


def test_a_fit_without_landmarks_forgets_those_of_an_earlier_one():
    again = nf.TSNE(landmarks=40, **QUICK).fit(X[:80])
    again.set_params(landmarks=None).fit(X[:80])
    assert not hasattr(again, "landmarks_")


def test_thinned_landmarks_leave_room_for_what_is_sparse():
    random = np.random.default_rng(0)
    dense, thin = random.normal(size=(9000, 3)), 200 + 10 * random.normal(size=(1000, 3))
    rows = Held(np.vstack([dense, thin]))
    evenly = chosen(rows, 400, "random", np.random.RandomState(0))
    thinned = chosen(rows, 400, "thinned", np.random.RandomState(0))
    assert len(np.unique(thinned)) == 400
    assert 0.07 < np.mean(evenly >= 9000) < 0.13
    assert 0.25 < np.mean(thinned >= 9000) < 0.41  # at most four times as many
    copies = Held(np.repeat(random.normal(size=(5, 3)), 400, axis=0))
    assert len(chosen(copies, 100, "thinned", np.random.RandomState(0))) == 100


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"landmarks": 2.5}, "how many rows"),
        ({"landmarks": 3}, "how many rows"),
        ({"landmarks": [1, 2, 3, 900]}, "row 900 cannot be a landmark"),
        ({"landmarks": [1, 2, 3, 3]}, "row 3 is named twice"),
        ({"landmarks": 90, "landmark_choice": "dense"}, "must be 'random' or 'thinned'"),
        ({"landmarks": [1, 2, 3, 4], "pins": {9: (0, 0)}}, "row 9 is pinned and no landmark"),
        ({"landmarks": 90, "init": np.zeros((90, 2))}, "init must have one entry for each of the 900 rows"),
        ({"landmarks": 90, "metric": "precomputed"}, "leave out landmarks for distances"),
    ],
)
def test_what_cannot_be_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        nf.TSNE(**QUICK | options).fit(X)


def test_a_map_of_landmarks_does_not_grow(model):
    with pytest.raises(ValueError, match="a map of landmarks does not grow"):
        model.partial_fit(X[:3])
