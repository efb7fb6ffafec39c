"""Strata: the nearest neighbours, and some of every shell, that stand for all points."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.affinity.distances import distances
from nearfield.affinity.source import Source
from nearfield.affinity.strata import DRAWN, NEAREST, Sampled, edge_count, strata
from support.targets import sparse_target


@pytest.fixture
def X(random):
    return random.normal(size=(900, 4)) * [3, 2, 1, 1]


def there(drawn, i):
    return drawn.indices[i][drawn.multiplicity[i] > 0]


def test_the_nearest_are_all_there_and_no_point_twice(X):
    drawn, D = strata(Source.of(X)), distances(X)
    for i in range(0, len(X), 50):
        own = there(drawn, i)
        assert i not in own
        assert len(np.unique(own)) == len(own)
        nearest = np.argsort(D[i])[1 : NEAREST + 1]
        assert set(nearest) <= set(own)
        assert np.all(drawn.multiplicity[i][np.isin(drawn.indices[i], nearest)] == 1)


def test_distances_are_those_of_the_data_in_some_unit(X):
    for factor in (1.0, 1e20, 1e-20):
        drawn = strata(Source.of(X * factor))
        real = drawn.multiplicity > 0
        rows = np.nonzero(real)[0]
        wanted = distances(X)[rows, drawn.indices[real]] * factor
        assert np.allclose(np.sqrt(drawn.squared[real]) * drawn.unit, wanted, rtol=1e-4)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "manhattan", "precomputed"])
def test_every_metric_has_strata(metric, X):
    data = distances(X) if metric == "precomputed" else X
    drawn = strata(Source.of(data, metric))
    assert 0.8 * edge_count(900) < drawn.indices.shape[1] <= edge_count(900)
    assert np.median(drawn.multiplicity.sum(axis=1)) == pytest.approx(899, rel=0.1)
    real = drawn.multiplicity > 0
    wanted = distances(X, "euclidean" if metric == "precomputed" else metric)
    found = np.sqrt(drawn.squared[real]) * drawn.unit
    assert np.allclose(found, wanted[np.nonzero(real)[0], drawn.indices[real]], rtol=1e-3, atol=1e-5)


def test_sums_over_them_are_without_bias(X, random):
    """Of functions of all reaches, in the mean over the points."""
    drawn, D = strata(Source.of(X)), distances(X, squared=True)
    np.fill_diagonal(D, np.inf)
    noise = random.normal(size=len(X))
    for reach in (0.3, 3.0, 30.0, 300.0):
        for g in (np.ones(len(X)), noise):
            wanted = (np.exp(-D / reach) * g).sum(axis=1)
            found = (drawn.multiplicity * np.exp(-drawn.squared / reach) * g[drawn.indices]).sum(axis=1)
            spread = np.std(found - wanted) / np.sqrt(len(X))
            assert abs(np.mean(found - wanted)) < 6 * spread + 0.01 * np.mean(np.abs(wanted))


def test_threads_do_not_change_a_bit(X):
    one, four = (strata(Source.of(X, n_jobs=jobs)) for jobs in (1, 4))
    for a, b in (
        (one.indices, four.indices),
        (one.squared, four.squared),
        (one.multiplicity, four.multiplicity),
    ):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("n", [3, 10, NEAREST, NEAREST + 2, 2 * NEAREST + 2, 120])
def test_few_points_are_their_own_strata(n, random):
    drawn = strata(Source.of(random.normal(size=(n, 2))))
    assert drawn.multiplicity.sum(axis=1) == pytest.approx(np.full(n, n - 1.0), rel=0.35)
    if n <= NEAREST + DRAWN:
        assert np.all((drawn.multiplicity == 0) | (drawn.multiplicity >= 1))


def test_copies_by_the_dozen_have_strata(random):
    drawn = strata(Source.of(np.repeat(random.normal(size=(20, 3)), 40, axis=0)))
    assert np.all(drawn.multiplicity.sum(axis=1) > 0)
    assert np.all(np.isfinite(drawn.squared[drawn.multiplicity > 0]))


@pytest.mark.parametrize("name", ["tsne", "asne", "gkl"])
@pytest.mark.parametrize("perplexity", [100.0, [4.0, 32.0, 256.0]], ids=str)
def test_a_target_on_strata_is_that_of_all_pairs(name, perplexity, X):
    method = nf.method(name)
    dense = method.target(X, perplexity=perplexity)
    if isinstance(perplexity, list):
        from nearfield.affinity.multiscale import rungs

        drawn = rungs(method, Source.of(X), np.array(perplexity), sampled=True).target()
    else:
        drawn = sparse_target(method, X, perplexity=perplexity)
    assert isinstance(drawn, Sampled)
    P = drawn.P.tocoo()
    assert np.corrcoef(P.data, dense[P.coords])[0, 1] > 0.995
    assert np.median(np.abs(P.data / np.maximum(dense[P.coords], 1e-12) - 1)) < 0.1
    folded = drawn.folded()
    assert folded.sum() == pytest.approx(dense.sum(), rel=0.02)
