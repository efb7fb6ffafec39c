"""Several perplexities: their mean, the precisions that go with them, and what is refused."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.affinity.distances import distances
from nearfield.affinity.multiscale import ladder, scale_perplexities
from nearfield.affinity.perplexity import calibrate
from nearfield.affinity.rungs import OfAllPairs


@pytest.fixture
def X(random):
    return random.normal(size=(60, 4))


@pytest.mark.parametrize("n", [4, 5, 17, 100, 1797])
def test_the_ladder_doubles_up_to_half_of_the_points(n):
    K = ladder(n)
    assert K[0] == 2
    assert np.all(K[1:] == 2 * K[:-1])
    assert n / 4 < K[-1] < n


@pytest.mark.parametrize("name", ["asne", "tsne", "gkl"])
def test_a_target_of_several_perplexities_is_the_mean_of_theirs(name, X):
    method = nf.method(name)
    mean = np.mean([method.target(X, perplexity=k) for k in (3.0, 9.0, 27.0)], axis=0)
    assert np.allclose(method.target(X, perplexity=[3, 9, 27]), mean, rtol=1e-7, atol=1e-12)
    alone, only = (method.target(X, perplexity=k) for k in ([9], 9))
    assert np.allclose(alone, only, rtol=1e-7, atol=1e-12)


def test_scales_enter_from_coarse_to_fine(X):
    method, K = nf.method("asne"), np.array([3.0, 9.0, 27.0])
    rungs = OfAllPairs(method, distances(X, squared=True), K)
    for entered in (1, 2, 3):
        wanted = method.target(X, perplexity=K[-entered:].tolist())
        assert np.allclose(rungs.target(entered), wanted, rtol=1e-9, atol=1e-12)
        assert np.array_equal(rungs.target(entered), rungs.target(entered))  # asked again, nothing enters
    with pytest.raises(ValueError, match="3 of 3 scales have entered: 2 cannot be had"):
        rungs.target(2)


def test_rows_of_ties_are_uniform_at_every_scale():
    corners = np.repeat(np.eye(6), 2, axis=0)
    P = nf.method("asne").target(corners, perplexity=[1, 5])
    alone = calibrate(distances(corners, squared=True), 1.0).rows
    assert np.allclose(P, (alone + calibrate(distances(corners, squared=True), 5.0).rows) / 2)
    assert np.allclose(P.sum(axis=1), 1)


@pytest.mark.parametrize(("dimension", "exponent"), [(2, 1.0), (12, 2.0)])
def test_precisions_follow_the_intrinsic_dimension(dimension, exponent, random):
    X = random.random((400, dimension))
    rungs = OfAllPairs(nf.method("asne"), distances(X, squared=True), np.array([8.0, 16.0, 32.0, 64.0]))
    assert rungs.exponent(2) == pytest.approx(exponent, abs=0.25)
    Y = 3 * random.normal(size=(400, 2))
    beta = np.array(rungs.precisions(Y))
    assert beta[-1] == pytest.approx(2 / Y.var(axis=0).mean())
    assert np.allclose(beta[:-1] / beta[1:], 2 ** rungs.exponent(2))


@pytest.mark.parametrize(
    ("perplexity", "told"),
    [
        ([], "numbers"),
        ([5, "many"], "numbers"),
        ([30, 5], "sort them"),
        ([5, 5], "sort them"),
        ([0.5, 5], "at least 1"),
        ([5, 60], "more than the 59 others"),
        ("all", "'multiscale'"),
    ],
)
def test_what_is_no_ladder_is_refused_in_a_line(perplexity, told, X):
    tsne = nf.method("tsne")
    for make in (lambda: scale_perplexities(perplexity, tsne, 60), lambda: nf.Run(X, perplexity=perplexity)):
        with pytest.raises(ValueError, match=told) as error:
            make()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"weights": np.ones(60)}, "weights"),
        ({"method": "mds"}, "no perplexity"),
        ({"metric": "affinity"}, "ready P"),
        ({"exaggeration": 4.0, "method": "asne"}, "exaggeration"),
    ],
)
def test_what_scales_do_not_go_with_is_refused(options, told, X):
    data = np.abs(X @ X.T) if options.get("metric") == "affinity" else X
    with pytest.raises(ValueError, match=told):
        nf.Run(data, perplexity="multiscale", **options)
