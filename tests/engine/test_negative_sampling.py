"""What UMAP's program minimises: its forces in expectation, and what the cost becomes in known cases."""

import numpy as np
import pytest
from scipy import sparse

import nearfield as nf
from nearfield.engine.exact.chain import Exact
from nearfield.engine.mesh.scales import mesh
from support.targets import sparse_target

A, B, RATE, TINY = 1.577, 0.895, 5.0, 1e-6


def expected_forces(V, Y):
    """How an epoch moves each point on average, edge by edge and draw by draw, as the program does it.

    An edge is visited with probability v, in both directions, and moves both its ends; for each visit its
    head is pushed away from `RATE` points out of all.
    """
    n = len(Y)
    pull, push = np.zeros((n, n, 2)), np.zeros((n, n, 2))  # what i has of j
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            gap = Y[i] - Y[j]
            f = gap @ gap
            along = -2 * A * B * f ** (B - 1) / (1 + A * f**B) * gap
            pull[i, j] += V[i, j] * along
            pull[j, i] -= V[i, j] * along
            push[i, j] += V[i].sum() * RATE / n * 2 * B / (f * (1 + A * f**B)) * gap
    return pull, push


@pytest.fixture
def some(random):
    n = 24
    V = np.triu(random.uniform(0.2, 1, size=(n, n)) * (random.uniform(size=(n, n)) < 0.3), 1)
    return V + V.T, 3 * random.normal(size=(n, 2))


def test_forces_are_those_that_the_program_has_on_average(some):
    V, Y = some
    method = nf.Method(nf.costs.NegativeSampling(RATE, TINY), nf.kernels.UMAP(A, B), "none")
    pull, push = expected_forces(V, Y)
    # A draw moves its head alone, which is no gradient: it is shared between the two.
    shared = (push - push.transpose(1, 0, 2)) / 2
    gradient = method.value_and_gradient(Y, V)[1]
    np.testing.assert_allclose(-gradient, (pull + shared).sum(axis=1), rtol=1e-4, atol=1e-4)


def test_where_all_points_have_the_same_degree_nothing_has_to_be_shared(some):
    n, Y = 24, some[1]
    ring = 0.7 * (np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1))
    method = nf.Method(nf.costs.NegativeSampling(RATE, TINY), nf.kernels.UMAP(A, B), "none")
    pull, push = expected_forces(ring, Y)
    gradient = method.value_and_gradient(Y, ring)[1]
    np.testing.assert_allclose(-gradient, (pull + push).sum(axis=1), rtol=1e-4, atol=1e-4)


def test_with_equal_shares_it_is_largevis(some):
    V, Y = some
    cost = nf.costs.NegativeSampling(2.0, 0.1, np.full(len(V), 0.3))
    known = nf.Method(nf.costs.LargeVis(0.6, 0.1), nf.kernels.Student(), "none")
    value, gradient = nf.Method(cost, nf.kernels.Student(), "none").value_and_gradient(Y, V)
    expected, slopes = known.value_and_gradient(Y, V)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("size", [0.5, 3.0, 30.0])
def test_two_potentials_have_the_forces_of_all_pairs(size, random):
    method = nf.method("umap_sampled")
    X = random.normal(size=(400, 5))
    V, Y = sparse_target(method, X, perplexity=8), size * random.normal(size=(400, 2))
    weights = random.integers(1, 4, size=400).astype(float)
    for m in (None, weights):
        a = Exact(method, V.astype(np.float64), weights=m).evaluate(Y)
        b = mesh(method, V, accuracy=1e-3, weights=m).evaluate(Y)
        assert b.value == pytest.approx(a.value, rel=1e-3)
        assert np.linalg.norm(b.gradient - a.gradient) < 3e-3 * np.linalg.norm(a.gradient)


def test_coincident_points_repel_and_attract_nowhere():
    Y, V = np.zeros((3, 2)), sparse.csr_array(np.ones((3, 3)) - np.eye(3))
    for engine in (Exact, mesh):
        at = engine(nf.method("umap_sampled"), V).evaluate(Y)
        assert np.isfinite(at.value)
        assert np.abs(at.gradient).max() < 1e-3  # what float32 leaves
