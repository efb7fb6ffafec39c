"""The figures that judge a map: laws that they obey, and other ways to compute them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.manifold import trustworthiness
from sklearn.neighbors import KNeighborsClassifier

import nearfield as nf
from nearfield.affinity.distances import distances
from nearfield.judge.quality import Quality
from nearfield.judge.rows import distance_rows

BY_NAME = ("auc", "trustworthiness", "continuity", "neighbours_kept", "q_local", "q_global")


@pytest.fixture
def data(random):
    """Three clusters in six dimensions, a map that keeps part of them, and their labels."""
    labels = np.repeat([0, 1, 2], 40)
    X = random.normal(size=(120, 6)) + 3 * random.normal(size=(3, 6))[labels]
    return X, X[:, :2] + 0.3 * random.normal(size=(120, 2)), labels


def ranks(X):
    """Ranks from 1, ties in the order of the points; 0 for the point itself."""
    D = cdist(X, X)
    np.fill_diagonal(D, -1)
    result = np.empty(D.shape, int)
    np.put_along_axis(result, np.argsort(D, axis=1, kind="stable"), np.arange(len(D))[None], axis=1)
    return result


def by_definition(X, Y, k):
    """All rank-based figures from the ranks of all pairs, as they are defined."""
    n = len(X)
    rho, r = ranks(X), ranks(Y)
    others = ~np.eye(n, dtype=bool)
    q = np.array(
        [np.sum((np.maximum(rho, r) <= K) & others) / (K * n) for K in range(1, n)],
    )
    K = np.arange(1, n - 1)
    R = ((n - 1) * q[:-1] - K) / (n - 1 - K)
    k_max = 1 + np.argmax([q[K - 1] - K / (n - 1) for K in range(1, n)])
    norm = 2 / (n * k * (2 * n - 3 * k - 1))
    return {
        "rnx": R,
        "auc": np.sum(R / K) / np.sum(1 / K),
        "trustworthiness": 1 - norm * np.sum((rho - k)[others & (r <= k) & (rho > k)]),
        "continuity": 1 - norm * np.sum((r - k)[others & (rho <= k) & (r > k)]),
        "neighbours_kept": q[k - 1],
        "q_local": np.mean(q[:k_max]),
        "q_global": np.mean(q[k_max - 1 :]),
        "k_max": k_max,
    }


def same(a: Quality, b: Quality) -> None:
    """Bit by bit."""
    for name, value in vars(a).items():
        if name == "points":
            for each, values in vars(value).items():
                assert_array_equal(values, getattr(b.points, each), err_msg=each)
        else:
            assert_array_equal(value, getattr(b, name), err_msg=name)


# ---------------------------------------------------------------------------------------- by definition


@pytest.mark.parametrize("kind", ["generic", "ties", "duplicates", "line", "collapsed"])
@pytest.mark.parametrize("k", [1, 5, 14])
def test_ranks_are_what_their_definition_says(random, kind, k):
    X, Y = random.normal(size=(30, 4)), random.normal(size=(30, 2))
    if kind == "ties":
        X, Y = random.integers(0, 3, size=(30, 2)).astype(float), random.integers(0, 4, (30, 1)).astype(float)
    elif kind == "duplicates":
        X[10:20], Y[15:25] = X[0], Y[3]
    elif kind == "line":
        X, Y = np.arange(30.0)[:, None], np.abs(np.arange(30.0) - 12)[:, None]
    elif kind == "collapsed":
        Y = np.zeros((30, 2))
    judged = nf.quality(X, Y, n_neighbors=k)
    for name, value in by_definition(X, Y, k).items():
        assert_allclose(getattr(judged, name), value, atol=1e-12, err_msg=name)
    assert judged.rnx.shape == (28,)


@pytest.mark.parametrize("n", [4, 5, 6])
def test_few_points(random, n):
    X, Y = random.normal(size=(n, 3)), random.normal(size=(n, 2))
    judged = nf.quality(X, Y, labels=["a"] * n)
    assert judged.n_neighbors == (n - 1) // 2
    assert judged.rnx.shape == (n - 2,)
    for name, value in by_definition(X, Y, judged.n_neighbors).items():
        assert_allclose(getattr(judged, name), value, atol=1e-12, err_msg=name)
    assert 0 <= judged.trustworthiness <= 1
    assert judged.label_accuracy == 1


def test_trustworthiness_is_that_of_scikit_learn_and_continuity_its_mirror(data):
    X, Y, _ = data
    for k in (1, 7, 30):
        judged, mirrored = nf.quality(X, Y, n_neighbors=k), nf.quality(Y, X, n_neighbors=k)
        assert_allclose(judged.trustworthiness, trustworthiness(X, Y, n_neighbors=k))
        assert_allclose(judged.continuity, trustworthiness(Y, X, n_neighbors=k))
        assert judged.continuity == mirrored.trustworthiness
        assert_array_equal(judged.rnx, mirrored.rnx)
        assert_allclose(judged.stress, mirrored.stress)


def test_distances_are_compared_as_defined(data):
    X, Y, _ = data
    others = ~np.eye(len(X), dtype=bool)
    r, d = cdist(X, X)[others], cdist(Y, Y)[others]
    judged = nf.quality(X, Y)
    scale = (r @ d) / (d @ d)
    assert_allclose(judged.stress, np.sqrt(np.sum((r - scale * d) ** 2) / np.sum(r**2)))
    assert_allclose(judged.stress_1, np.sqrt(np.sum((r - d) ** 2) / np.sum(d**2)))
    assert_allclose(judged.spearman, spearmanr(r, d)[0], atol=3e-5)
    row = cdist(X[7:8], X)[0], cdist(Y[7:8], Y)[0]
    expected = np.sqrt(np.sum((row[0] - scale * row[1]) ** 2) / np.sum(row[0] ** 2))
    assert_allclose(judged.points.stress[7], expected)


def test_correlation_of_few_or_tied_distances_is_exact(random):
    X, Y = random.normal(size=(20, 3)), random.integers(0, 3, size=(20, 2)).astype(float)
    others = ~np.eye(20, dtype=bool)
    expected = spearmanr(cdist(X, X)[others], cdist(Y, Y)[others])[0]
    assert_allclose(nf.quality(X, Y).spearman, expected, atol=1e-12)


def test_labels_are_guessed_as_by_neighbours_without_the_point(data):
    X, Y, labels = data
    judged = nf.quality(X, Y, labels, n_neighbors=1)  # one neighbour has no ties to break
    for points, found in ((Y, judged.label_accuracy), (X, judged.data_label_accuracy)):
        rows = np.arange(len(X))
        hits = [
            KNeighborsClassifier(1).fit(points[rows != i], labels[rows != i]).predict(points[i : i + 1])
            == labels[i]
            for i in rows
        ]
        assert_allclose(found, np.mean(hits))


def test_a_tied_vote_goes_to_the_nearest_and_points_without_label_have_no_vote():
    X = np.array([[0.0], [1.0], [-1.1], [10.0], [-10.1], [20.0], [40.0]])
    # From 0: b, a, then c and nothing, so that three classes have one vote each.
    labels = ["b", "b", "a", "c", None, "c", ""]
    judged = nf.quality(X, X, labels, n_neighbors=3)
    first = nf.quality(X, X, ["b", "b", "a", "a", None, "c", ""], n_neighbors=3)
    assert judged.label_accuracy == judged.data_label_accuracy
    assert judged.label_accuracy * 5 == pytest.approx(round(judged.label_accuracy * 5))  # of five, not seven
    assert first.label_accuracy < judged.label_accuracy  # a outvotes b there


# -------------------------------------------------------------------------------------------------- laws


@pytest.mark.parametrize("scale", [1.0, 3.7, 1e-200, 1e200])
def test_a_perfect_map(data, scale):
    X, _, labels = data
    judged = nf.quality(X, scale * X, labels)
    assert_array_equal(judged.rnx, 1)
    for name in BY_NAME:
        assert getattr(judged, name) == 1, name
    assert judged.stress < 1e-12
    assert judged.stress_1 == pytest.approx(abs(1 - scale) / scale, abs=1e-12)
    assert judged.spearman == pytest.approx(1, abs=1e-6)
    assert judged.label_accuracy == judged.data_label_accuracy
    assert_allclose(judged.points.auc, 1)
    assert_array_equal(judged.points.trustworthiness, 1)
    assert judged.points.stress.max() < 1e-12


def test_a_perfect_map_with_duplicates_is_still_perfect(random):
    X = random.normal(size=(60, 3))
    X[20:40] = X[5]
    judged = nf.quality(X, np.column_stack([X, np.zeros(60)]))
    assert_array_equal(judged.rnx, 1)
    assert judged.trustworthiness == judged.continuity == 1


def test_a_random_map_has_nothing_but_chance(random):
    X, Y = random.normal(size=(600, 5)), random.normal(size=(600, 2))
    judged = nf.quality(X, Y)
    error = judged.points.auc.std() / np.sqrt(600)
    assert abs(judged.auc) < 5 * error < 0.02
    assert abs(judged.rnx[:500]).max() < 0.02
    assert abs(judged.spearman) < 0.1
    assert judged.trustworthiness == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("change", ["turned", "shifted", "scaled", "shuffled"])
def test_what_does_not_matter_changes_nothing(data, random, change):
    X, Y, labels = data
    before = nf.quality(X, Y, labels)
    if change == "turned":
        Y = Y @ np.linalg.qr(random.normal(size=(2, 2)))[0]
    elif change == "shifted":
        X, Y = X + 5, Y - 1e3
    elif change == "scaled":
        X, Y = X * 0.3, Y * 7e5
    else:
        order = random.permutation(len(X))
        X, Y, labels = X[order], Y[order], labels[order]
    after = nf.quality(X, Y, labels)
    for name, value in before.figures.items():
        if name == "stress_1" and change == "scaled":
            continue
        assert getattr(after, name) == pytest.approx(value, abs=1e-9), name
    if change == "shuffled":
        assert_allclose(after.points.auc, before.points.auc[order])


def test_the_map_is_the_mean_of_its_points(data):
    X, Y, _ = data
    judged = nf.quality(X, Y, n_neighbors=6)
    assert_array_equal(judged.points.index, np.arange(len(X)))
    for name in ("auc", "trustworthiness", "continuity", "neighbours_kept"):
        assert getattr(judged, name) == pytest.approx(getattr(judged.points, name).mean()), name


def test_the_result_does_not_depend_on_the_number_of_threads(data):
    X, Y, labels = data
    for sample in (None, 50):
        same(*(nf.quality(X, Y, labels, sample=sample, n_jobs=jobs) for jobs in (1, 3)))


# ---------------------------------------------------------------------------------------------- a sample


def test_a_sample_is_as_far_from_the_whole_as_it_says(random):
    X = random.normal(size=(1500, 5)) * [3, 2, 1, 1, 1]
    Y, labels = X[:, :2], X[:, 2] > 0
    whole = nf.quality(X, Y, labels)
    assert whole.exact
    assert whole.errors == {}
    gaps = []
    for seed in range(8):
        part = nf.quality(X, Y, labels, sample=300, random_state=seed)
        assert not part.exact
        assert set(part.errors) == set(whole.figures)
        gaps.append(
            [(value - getattr(whole, name)) / part.errors[name] for name, value in part.figures.items()]
        )
        assert_allclose(part.points.auc, whole.points.auc[part.points.index])
    assert np.abs(gaps).max() < 5
    spread = np.sqrt(np.mean(np.square(gaps)))
    assert 0.5 < spread < 2  # errors neither too small nor too large
    theirs = part.points.auc.std(ddof=1) / np.sqrt(300) * np.sqrt(1 - 300 / 1500)
    assert part.errors["auc"] == pytest.approx(theirs, rel=0.5)


def test_a_sample_of_all_is_exact_and_many_points_are_sampled(data, monkeypatch):
    X, Y, labels = data
    same(nf.quality(X, Y, labels), nf.quality(X, Y, labels, sample=10**6))
    monkeypatch.setattr("nearfield.judge.quality.ALL_UP_TO", 100)
    monkeypatch.setattr("nearfield.judge.quality.SAMPLE", 40)
    judged = nf.quality(X, Y)
    assert judged.n_queries == 40
    assert "± one standard error, 40 sampled points against all 120" in str(judged)
    same(judged, nf.quality(X, Y))
    assert judged.auc != nf.quality(X, Y, random_state=1).auc


# ---------------------------------------------------------------------------------- what goes in and out


@pytest.mark.parametrize("metric", ["cosine", "sqeuclidean", "manhattan", "precomputed"])
def test_other_metrics(data, metric):
    X, Y, _ = data
    D = cdist(X, X, {"manhattan": "cityblock", "precomputed": "euclidean"}.get(metric, metric))
    judged = nf.quality(D if metric == "precomputed" else X, Y, metric=metric)
    expected = nf.quality(D, Y, metric="precomputed")
    assert judged.metric == metric
    for name, value in expected.figures.items():
        assert getattr(judged, name) == pytest.approx(value, abs=1e-9), name


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("metric", ["correlation", "hellinger", "inner_product", "tanimoto", "hamming"])
def test_metrics_that_are_ours_are_computed_row_by_row(data, metric, form):
    X, Y, _ = data
    X = np.c_[np.abs(X), np.ones(len(X))]
    X = (X > 1).astype(float) if metric in ("tanimoto", "hamming") else X
    D = distances(X, metric)
    rows, unit = distance_rows(form(X), metric)
    assert_allclose(rows(np.array([3, 0])) * unit, D[[3, 0]], atol=2e-7)
    assert nf.quality(form(X), Y, metric=metric).stress == pytest.approx(
        nf.quality(D, Y, metric="precomputed").stress, abs=1e-6
    )


def test_a_function_as_metric_and_sparse_data(data):
    X, Y, _ = data
    X, Y = X[:40], Y[:40]

    def city(a, b):
        return np.abs(a - b).sum()

    assert nf.quality(X, Y, metric=city).auc == nf.quality(X, Y, metric="manhattan").auc
    assert nf.quality(sparse.csr_matrix(X), Y).auc == pytest.approx(nf.quality(X, Y).auc)


def test_frames_maps_and_estimators_are_taken_as_they_are(data):
    X, Y, labels = data
    expected = nf.quality(X, Y, labels)
    frame = pd.DataFrame(X)
    names = pd.Series(["x", "y", "z"]).iloc[labels]
    same(expected, nf.quality(frame, pd.DataFrame(Y, columns=["Y", "Z"]), names))
    same(expected, nf.quality(X, nf.Map(Y), labels.tolist()))
    X, Y = X[::4], nf.Embedder("pca").fit(X[::4])
    same(nf.quality(X, Y), nf.quality(X, Y.embedding_))


def test_it_prints_as_a_table_and_goes_to_json(data):
    X, Y, labels = data
    judged = nf.quality(X, Y, labels)
    lines = str(judged).splitlines()
    assert lines[0] == "map of 120 points in 2-D, euclidean data; all points"
    assert len(lines) == 1 + len(judged.figures) == 12
    assert f"R_NX AUC             {judged.auc:.4f}  " in lines[1]
    assert "labels" not in str(nf.quality(X, Y))
    plain = json.loads(json.dumps(judged.to_dict(points=True), allow_nan=False))
    assert plain["auc"] == judged.auc
    assert plain["rnx"]["K"][0] == 1
    assert plain["rnx"]["value"][-1] == judged.rnx[-1]
    assert len(plain["points"]["auc"]) == 120
    assert "points" not in judged.to_dict()


def test_a_collapsed_map_has_no_correlation_to_speak_of(data):
    X, _, _ = data
    judged = nf.quality(X, np.zeros((120, 2)))
    assert np.isnan(judged.spearman)
    assert np.isnan(judged.stress_1)
    assert judged.stress == pytest.approx(1)
    assert json.loads(json.dumps(judged.to_dict(), allow_nan=False))["spearman"] is None


square, hole = np.arange(20.0).reshape(10, 2) ** 2, np.arange(20.0).reshape(10, 2)
hole[4, 1] = np.nan

REFUSED = {
    "lengths": ((square, square[:9]), {}, r"X has 10 points but Y has 9"),
    "NaN in the data": ((hole, square), {}, r"X contains NaN in row 4, column 1"),
    "NaN in the map": ((square, hole), {}, r"Y contains NaN in row 4, column 1"),
    "labels": ((square, square, list("abc")), {}, r"10 points but 3 labels"),
    "mixed labels": ((square, square, ["a", 1] * 5), {}, r"all of one kind, and not int and str"),
    "three points": ((square[:3], square[:3]), {}, r"at least 4 points, got 3"),
    "one dimension": ((square, square[:, 0]), {}, r"Y must have two dimensions.*\(10,\)"),
    "text": (([["a", 1]] * 10, square), {}, r"X holds values that are not numbers"),
    "equal points": ((np.ones((10, 3)), square), {}, r"all 10 points of X are equal"),
    "too many neighbours": ((square, square), {"n_neighbors": 5}, r"at most 4; got 5"),
    "no neighbours": ((square, square), {"n_neighbors": 0}, r"n_neighbors must be a positive whole"),
    "a sample of one": ((square, square), {"sample": 1}, r"sample must be a whole number from 2"),
    "an unknown metric": ((square, square), {"metric": "eucledian"}, r"metric 'eucledian' is not known"),
    "no direction": (
        (square * 0 + [[0], *[[1]] * 9], square),
        {"metric": "cosine"},
        r"row 0 of X is all zeros",
    ),
    "distances that are not square": ((square, square), {"metric": "precomputed"}, r"must be square"),
    "threads": ((square, square), {"n_jobs": 0}, r"n_jobs must be"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_gets_one_line(what):
    arguments, options, message = REFUSED[what]
    with pytest.raises(ValueError, match=message) as error:
        nf.quality(*arguments, **options)
    assert "\n" not in str(error.value)
