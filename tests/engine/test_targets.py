"""What the engine refuses, what it checks, and what the plan says beforehand."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import nearfield as nf
from nearfield.engine import plan as planning
from nearfield.engine.exact.chain import exact
from nearfield.engine.plan import plan


@pytest.mark.parametrize(
    ("name", "target", "reason"),
    [
        ("tsne", np.ones((3, 4)), "must be square"),
        ("tsne", np.ones(3), "must be square"),
        ("tsne", np.array([[0, 1], [0.5, 0]]), "symmetric P"),
        ("tsne", np.array([[0, np.nan], [np.nan, 0]]), "NaN or infinity"),
        ("asne", np.array([[0, -1.0], [1.0, 0]]), "negative"),
        ("mds", csr_array(np.ones((3, 3))), "needs all pairs"),
        ("nmmds", np.zeros((3, 3)), "all distances are zero"),
    ],
)
def test_bad_targets_are_refused_with_the_reason(name, target, reason):
    with pytest.raises(ValueError, match=reason):
        exact(nf.method(name), target)


@pytest.mark.parametrize(
    ("Y", "reason"),
    [
        (np.zeros((4, 2)), r"\(3, dimensions\)"),
        (np.zeros(3), "dimensions"),
        (np.zeros((3, 0)), "dimensions"),
        (np.full((3, 2), np.inf), "NaN or infinity"),
    ],
)
@pytest.mark.parametrize("name", ["tsne", "asne", "jse", "mds", "nmmds"])
def test_bad_maps_are_refused_with_the_shape(name, Y, reason):
    with pytest.raises(ValueError, match=reason):
        nf.method(name).value_and_gradient(Y, np.ones((3, 3)) / 6)


@pytest.mark.parametrize("name", ["mds", "sammon", "sstress", "nmmds"])
def test_distances_cannot_be_exaggerated(name, random):
    with pytest.raises(ValueError, match="exaggeration"):
        nf.method(name).value_and_gradient(random.normal(size=(3, 2)), np.ones((3, 3)), exaggeration=4)


@pytest.mark.parametrize("name", nf.methods())
def test_the_target_is_left_as_it_was_and_its_diagonal_ignored(name, random):
    X, Y = random.normal(size=(9, 4)), random.normal(size=(9, 2))
    method = nf.method(name)
    target = method.target(X)
    before = target.copy()
    value, gradient = method.value_and_gradient(Y, target)
    assert np.array_equal(target, before)
    np.fill_diagonal(target, 7.0)
    again, same = method.value_and_gradient(Y, target)
    assert value == again
    assert np.array_equal(gradient, same)


def test_the_plan_says_what_it_needs_and_refuses_what_does_not_fit(monkeypatch):
    chosen = plan(nf.method("tsne"), 999, 2)
    assert chosen.engine == "exact"
    assert "999 points" in str(chosen)
    monkeypatch.setattr(planning, "available_memory", lambda: 10**9)
    assert plan(nf.method("tsne"), 7000, 2, "exact").memory < 10**9
    assert plan(nf.method("tsne"), 70_000, 2).engine == "mesh"
    with pytest.raises(MemoryError, match=r"78 GB.*1\.0 GB are free.*at most 7905 points"):
        plan(nf.method("tsne"), 70_000, 2, "exact")
    with pytest.raises(MemoryError, match=r"mesh engine needs .* GB"):
        plan(nf.method("tsne"), 10**6, 2)
    with pytest.raises(ValueError, match="engine must be one of"):
        plan(nf.method("tsne"), 10, 2, "quick")


def test_memory_is_read_from_the_system():
    free = planning.available_memory()
    assert free is None or free > 10**7


@pytest.mark.parametrize("name", nf.methods())
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_the_check_that_users_run_passes_for_every_method(name, dimensions):
    found = nf.check(name, n_points=12, n_components=dimensions)
    assert found.passed
    assert found.error > 0  # differences of float64 are never exact: nothing was compared with itself


def test_the_check_fails_for_a_wrong_derivative():
    class Wrong(nf.costs.KL):
        cross_entropy = False

        def derivative(self, p, q):
            return -p / q * 1.001

    found = nf.check(nf.Method(Wrong(), nf.kernels.Student(), "pair"), n_points=12)
    assert not found.passed
