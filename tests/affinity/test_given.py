"""Neighbours of the user's own: in whatever form they come, they are the target of the data they are of."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import NearestNeighbors, kneighbors_graph, sort_graph_by_row_values

import nearfield as nf
from nearfield.affinity.distances import distances
from nearfield.affinity.given import as_matrix, distance_graph
from nearfield.affinity.neighbours import neighbours
from nearfield.affinity.source import Source
from nearfield.affinity.targets import neighbour_count
from support.targets import sparse_target, target

METHODS = ["tsne", "asne", "gkl"]  # joint P, rows of P, weights
MAKE = {"exact": target, "mesh": sparse_target}


def dense(P):
    return P.toarray() if sparse.issparse(P) else P


def forms(X, k):
    """The k nearest neighbours of the same data in every form that is taken."""
    search = NearestNeighbors(n_neighbors=k).fit(X)
    far, near = search.kneighbors()
    own_far, own_near = NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(X)
    padded = np.concatenate([near, np.full((len(X), 2), -1)], axis=1)
    graph = kneighbors_graph(X, k, mode="distance")
    return {
        "graph": graph,
        "sorted graph": sort_graph_by_row_values(graph.copy(), warn_when_not_sorted=False),
        "graph with itself": kneighbors_graph(X, k + 1, mode="distance", include_self=True),
        "coo": sparse.coo_array(graph),
        "csc": sparse.csc_matrix(graph),
        "tuple": (near, far),
        "tuple with itself": (own_near, own_far),
        "tuple in another order": (near[:, ::-1], far[:, ::-1]),
        "tuple with empty places": (padded, np.concatenate([far, np.full((len(X), 2), np.inf)], axis=1)),
        "tuple of small numbers": (near.astype(np.int32), far.astype(np.float32)),
    }


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("form", forms(np.eye(4), 2))
def test_on_the_nearest_neighbours_all_forms_are_one(name, form, random):
    X, method = random.normal(size=(80, 5)), nf.method(name)
    expected = sparse_target(method, X, perplexity=6)
    found = sparse_target(
        method, forms(X, neighbour_count(method, 6, 79))[form], perplexity=6, metric="precomputed"
    )
    np.testing.assert_allclose(dense(found), dense(expected), rtol=1e-4, atol=1e-9)
    assert found.dtype == np.float32
    assert found.has_canonical_format


@pytest.mark.parametrize("name", METHODS)
def test_more_neighbours_than_would_be_searched_for_change_nothing(name, random):
    X, method = random.normal(size=(80, 5)), nf.method(name)
    few, many, whole = (
        sparse_target(method, given_, perplexity=6, metric="precomputed")
        for given_ in (forms(X, neighbour_count(method, 6, 79))["graph"], forms(X, 50)["tuple"], distances(X))
    )
    np.testing.assert_allclose(dense(many), dense(few), rtol=1e-6)
    np.testing.assert_allclose(dense(whole), dense(few), rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_all_pairs_but_one_are_almost_all_pairs(name, random):
    X, method = random.normal(size=(40, 3)), nf.method(name)
    D = distances(X)
    i, j = np.unravel_index(D.argmax(), D.shape)
    D[i, j] = 0.0
    graph = sparse.csr_array(D)
    found = method.target(graph, perplexity=5, metric="precomputed")
    assert sparse.issparse(found)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found.toarray(), method.target(X, perplexity=5), atol=1e-6)


@pytest.mark.parametrize("engine", MAKE)
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(4, 30), power=st.integers(-15, 15))
def test_rows_of_uneven_length_have_the_perplexity_each(engine, seed, n, power):
    random = np.random.default_rng(seed)
    there = random.uniform(size=(n, n)) < random.uniform(0.1, 0.8)
    there[np.arange(n), (np.arange(n) + 1) % n] = True
    np.fill_diagonal(there, False)
    D = np.where(there, 10.0**power * random.uniform(0.5, 2, size=(n, n)), 0.0)
    counts = there.sum(axis=1)
    perplexities = 1 + random.uniform(size=n) * (counts - 1)
    method = nf.method("asne")
    P = dense(MAKE[engine](method, sparse.csr_array(D), perplexity=perplexities, metric="precomputed"))
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-5)
    assert np.all(P[~there] == 0)
    entropy = -np.sum(np.where(P > 0, P * np.log(np.where(P > 0, P, 1.0)), 0.0), axis=1)
    cut = counts > neighbour_count(method, perplexities, n) if engine == "mesh" else np.zeros(n, bool)
    np.testing.assert_allclose(entropy[~cut], np.log(perplexities[~cut]), atol=1e-4)
    for i in range(n):  # the nearer the likelier, among the row's own neighbours
        order = np.argsort(D[i, there[i]])
        assert np.all(np.diff(P[i, there[i]][order]) <= 1e-12)


@pytest.mark.parametrize("engine", MAKE)
def test_by_default_a_point_has_a_third_of_its_few_neighbours(engine, random):
    graph = sparse.lil_array((60, 60))
    for i, count in enumerate(random.integers(1, 50, size=60)):
        for j in random.choice(np.delete(np.arange(60), i), size=count, replace=False):
            graph[i, j] = random.uniform(1, 2)
    counts = np.diff(sparse.csr_array(graph).indptr)
    method = nf.method("asne")
    make = partial(MAKE[engine], method, graph, metric="precomputed")
    with pytest.warns(UserWarning, match="the graph has as few as"):
        found = make(perplexity=None)
    asked = make(perplexity=np.minimum(30, np.maximum(1, counts / 3)))
    np.testing.assert_array_equal(dense(found), dense(asked))


@pytest.mark.parametrize("engine", MAKE)
def test_a_stored_zero_is_a_neighbour_and_the_diagonal_is_not(engine):
    rows, columns = [0, 0, 0, 1, 1, 2, 2, 2, 3], [0, 1, 2, 0, 2, 0, 1, 3, 2]
    values = [7.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0]
    graph = sparse.csr_array((values, (rows, columns)), shape=(4, 4))
    P = dense(MAKE[engine](nf.method("asne"), graph, perplexity=1, metric="precomputed"))
    np.testing.assert_allclose(P, [[0, 1, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 1, 0]], atol=1e-6)


def test_equally_near_ones_are_taken_in_their_order():
    graph = sparse.csr_array(np.ones((6, 6)) - np.eye(6)[::-1])
    found = neighbours(Source.of(graph, "precomputed"), 3)
    assert found.indices[0].tolist() == [1, 2, 3]
    assert found.indices[5].tolist() == [1, 2, 3]
    assert np.all(found.squared == 1)


@pytest.mark.parametrize("engine", MAKE)
@pytest.mark.parametrize("name", METHODS)
def test_threads_do_not_change_a_bit_and_the_input_stays(engine, name, random):
    graph = kneighbors_graph(random.normal(size=(300, 4)), 20, mode="distance")
    before = graph.copy()
    one, many = (
        MAKE[engine](nf.method(name), graph, perplexity=8, metric="precomputed", n_jobs=jobs)
        for jobs in (1, 4)
    )
    np.testing.assert_array_equal(one.toarray(), many.toarray())
    np.testing.assert_array_equal(graph.data, before.data)
    np.testing.assert_array_equal(graph.indices, before.indices)


def test_what_is_no_pair_of_neighbours_is_left_to_others():
    rows = ([1.0, 2.0], [3.0, 4.0])
    np.testing.assert_array_equal(as_matrix(rows), rows)
    assert distance_graph(np.ones((3, 3)), "precomputed") is None
    assert distance_graph(sparse.csr_array((3, 3)), "euclidean") is None


@pytest.mark.parametrize("engine", MAKE)
@pytest.mark.parametrize("perplexity", [4, np.array([1.0, 1, 1, 4, 1, 1, 1, 1, 1, 1])])
def test_a_perplexity_above_the_neighbours_of_a_point_is_refused(engine, perplexity, random):
    graph = sparse.lil_array(kneighbors_graph(random.normal(size=(10, 2)), 5, mode="distance"))
    graph[3] = 0
    graph[3, [1, 7]] = 1.0
    with pytest.raises(ValueError, match=r"perplexity 4 .* the 2 others that point 3 has.* use at most 2"):
        MAKE[engine](nf.method("tsne"), graph.tocsr(), perplexity=perplexity, metric="precomputed")
