"""Labels, views, metrics and options of UMAP that make no sense: a line of ours that names the fix."""

import datetime
import re

import numpy as np
import pytest

import nearfield as nf


@pytest.fixture
def X(random):
    return random.normal(size=(12, 3))


def refusal(make, message):
    """That something is refused with a message, on one line and by nearfield."""
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (3, "labels must be one for each point, got 3"),
        (np.array(3), "labels must be one for each point, got 3"),
        ([{}] * 12, "labels must be one for each point, and not several"),
        ([[1]] * 12, "labels must be one for each point, and not several"),
        ([1.5, 2] * 6, "labels look like measurements"),
    ],
)
def test_what_are_no_labels_is_refused(labels, message, X):
    refusal(lambda: nf.Run(X, supervision=0.5, labels=labels), message)


@pytest.mark.parametrize("pair", [(datetime.date(2020, 1, 1), 1), (10**400, 1), (b"a", "a"), (True, "x")])
def test_labels_of_any_kinds_are_told_apart(pair, X):
    one, other = (
        nf.Run(X, supervision=0.5, labels=labels, random_state=0) for labels in (list(pair) * 6, [0, 1] * 6)
    )
    for run in (one, other):
        run.step(20)
    np.testing.assert_array_equal(one.Y, other.Y)


@pytest.mark.parametrize(
    ("views", "weights", "message"),
    [
        (np.zeros((12, 3)), None, "mix takes a list of views, .*got a ndarray"),
        (None, None, "mix takes a list of views, .*got a NoneType"),
        ([(np.zeros((12, 3)), "cosine", 2)], None, r"view 0 must be a matrix, a data frame, or a tuple"),
        ([(np.zeros((12, 3)), 3)], None, "metric must be a name or a function of two rows, got 3"),
        ([np.eye(12)], "a", "weights must be a positive number for each of the 1 views, got a"),
        ([np.eye(12)] * 2, [[1], [1, 2]], "weights must be a positive number for each of the 2 views"),
    ],
)
def test_what_is_no_mix_is_refused(views, weights, message):
    refusal(lambda: nf.mix(views, weights), message)


@pytest.mark.parametrize("engine", ["exact", "mesh"])
@pytest.mark.parametrize(
    ("metric", "params", "message"),
    [
        (3, None, "metric must be a name or a function of two rows, got 3"),
        (("cosine",), None, "metric must be a name or a function"),
        ("minkowski", {"q": 3}, "metric 'minkowski' cannot take 3 columns with q"),
        ("minkowski", {"w": [1.0, 1.0]}, "cannot take 3 columns with w"),
        ("minkowski", {3: 1}, "metric_params must be a dict of names and values"),
        ("minkowski", "p", "metric_params must be a dict of names and values"),
        ("euclidean", {"p": 2}, "cannot take 3 columns with p"),
        ("tanimoto", {"p": 2}, "cannot take 3 columns with p"),
        ("haversine", None, "metric 'haversine' cannot take 3 columns: see"),
        ("seuclidean", {"V": [1.0]}, "cannot take 3 columns with V"),
        ("mahalanobis", {"VI": np.eye(2)}, "cannot take 3 columns with VI"),  # it was read beyond its end
    ],
)
def test_what_a_metric_does_not_take_is_refused(engine, metric, params, message, X):
    refusal(lambda: nf.Run(X, metric=metric, metric_params=params, engine=engine), message)


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("minkowski", {"p": 3, "w": np.ones(3)}),
        ("seuclidean", {"V": np.ones(3)}),
        ("mahalanobis", {"VI": np.eye(3)}),
        ("jaccard", {}),
        ("jaccard", {"w": np.ones(3)}),
    ],
)
def test_what_a_metric_takes_is_taken(metric, params, X):
    data = X > 0 if metric == "jaccard" else X
    assert np.isfinite(nf.Run(data, metric=metric, metric_params=params, random_state=0).Y).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"a": "x", "b": "y"}, "a must be a number from 0 up, got 'x'"),
        ({"negative_sample_rate": "a"}, "negative_sample_rate must be a number from 0 up, got 'a'"),
        ({"repulsion_strength": None}, "repulsion_strength must be a number from 0 up, got None"),
        ({"init": None}, "init must be 'spectral', 'pca', 'random' or an array, got None"),
        ({"init": 3}, "init must be 'spectral', 'pca', 'random' or an array, got 3"),
        ({"metric_kwds": "a"}, "metric_kwds must be a dict of names and values"),
        ({"metric": "minkowski", "metric_kwds": {"q": 3}}, "cannot take 3 columns with q"),
    ],
)
def test_what_umap_does_not_take_is_refused(options, message, X):
    refusal(lambda: nf.UMAP(n_neighbors=4, n_epochs=5, **options).fit(X), re.escape(message))
