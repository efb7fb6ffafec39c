"""UMAP's weights: as umap-learn has them, by a kept reference, and their laws."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearfield as nf
from nearfield.affinity.fuzzy import FuzzyNeighbours
from nearfield.affinity.source import Source
from support.umap_reference import CASES, data, nearest

REFERENCE = np.load(Path(__file__).parent / "umap_reference.npz")


@pytest.mark.parametrize("name", CASES)
def test_they_are_those_of_umap_learn(name):
    k, connectivity, ratio = CASES[name]
    X = data()
    found = FuzzyNeighbours(k, connectivity, ratio, known=nearest(X, k)).graph(Source.of(X))
    np.testing.assert_allclose(found.toarray(), REFERENCE[name], atol=1e-4)


def test_a_search_finds_the_same(random):
    X = random.normal(size=(300, 6))
    own = FuzzyNeighbours().graph(Source.of(X))
    given = FuzzyNeighbours(known=nearest(X, 15)).graph(Source.of(X))
    np.testing.assert_allclose(own.toarray(), given.toarray(), atol=1e-5)


@settings(max_examples=25)
@given(k=st.integers(3, 20), scale=st.floats(1e-3, 1e3), seed=st.integers(0, 100))
def test_what_a_point_sees_sums_to_the_logarithm_of_its_neighbours(k, scale, seed):
    X = scale * np.random.default_rng(seed).normal(size=(40, 3))
    distances = np.sort(np.sqrt(((X[:, None] - X) ** 2).sum(-1)), axis=1)[:, 1:k]
    seen = FuzzyNeighbours(k).seen(distances, 40)
    assert seen.max(axis=1) == pytest.approx(1.0)
    # Where neighbours are nearly as far as each other, no width is small enough.
    reached = seen.sum(axis=1)
    assert np.all((np.abs(reached - np.log2(k)) < 1e-4) | (reached > np.log2(k)))


def test_they_are_symmetric_and_the_same_in_any_unit_and_on_any_number_of_threads(random):
    X = random.normal(size=(200, 5))
    fuzzy = FuzzyNeighbours(10, set_op_mix_ratio=0.5)
    V = fuzzy.graph(Source.of(X, n_jobs=1))
    assert abs(V - V.T).max() == 0
    assert (fuzzy.graph(Source.of(X, n_jobs=4)) != V).nnz == 0
    np.testing.assert_allclose(fuzzy.graph(Source.of(1e3 * X)).toarray(), V.toarray(), atol=1e-4)


def test_the_least_are_dropped_when_a_map_is_made(random):
    X = random.normal(size=(100, 5))
    run = nf.Run(X, "umap_sampled", perplexity=FuzzyNeighbours(10, least=0.1), engine="exact")
    kept, full = run._descent.own_engine.p, FuzzyNeighbours(10).graph(Source.of(X))
    assert kept.data.min() >= 0.1 * full.data.max()
    assert kept.nnz == (full.data >= 0.1 * full.data.max()).sum()


def test_few_points_have_fewer_neighbours(random):
    V = FuzzyNeighbours().graph(Source.of(random.normal(size=(6, 3))))
    assert V.shape == (6, 6)
    assert np.diff(V.indptr).min() >= 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 1}, "n_neighbors must be"),
        ({"n_neighbors": 2.5}, "n_neighbors"),
        ({"local_connectivity": -1}, "local_connectivity must be 0 or more"),
        ({"set_op_mix_ratio": 1.5}, "between 0 and 1"),
        ({"least": "much"}, "least must be"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        FuzzyNeighbours(**options)


def test_neighbours_that_do_not_fit_are_refused(random):
    X = random.normal(size=(30, 3))
    indices, distances = nearest(X, 10)
    for known, message in (
        ((indices[:-1], distances[:-1]), "30 rows"),
        ((indices, distances), "n_neighbors=15 needs 15"),
        ((indices[:, :5], distances), "shapes"),
    ):
        with pytest.raises(ValueError, match=message):
            FuzzyNeighbours(known=known).graph(Source.of(X))
    with pytest.raises(ValueError, match="bare weights"):
        nf.method("tsne").target(X, perplexity=FuzzyNeighbours())
    with pytest.raises(ValueError, match="repeat the rows"):
        nf.method("umap").target(X, perplexity=FuzzyNeighbours(), weights=np.full(30, 2.0))
