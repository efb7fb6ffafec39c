"""Every composition that the plan sends to the mesh, against the exact engine; and what the plan refuses."""

import numpy as np
import pytest
from scipy import sparse

import nearfield as nf
from nearfield.engine.exact.chain import Exact
from nearfield.engine.mesh.one_scale import Mesh
from nearfield.engine.mesh.scales import mesh
from nearfield.engine.plan import plan
from nearfield.engine.task import Task
from support.cells import every
from support.compositions import defined, holds_the_torn, name
from support.targets import sparse_target

pytestmark = pytest.mark.slow

ON_MESH = [m for m in defined() if Mesh.obstacle(Task(m)) is None]
N = 160


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(3)
    return np.vstack([random.normal(size=(N // 4, 6)) + 4 * random.normal(size=6) for _ in range(4)])


def mapped(data, dimensions, random):
    """A map in which neighbours are near, as they are in the course of a descent."""
    Y = data[:, :dimensions] - data[:, :dimensions].mean(axis=0)
    return Y + 0.2 * random.normal(size=Y.shape)


def test_most_compositions_go_to_the_mesh():
    assert len(ON_MESH) > 100


@pytest.mark.parametrize(("dimensions", "exaggeration"), [(1, 1.0), (2, 1.0), (2, 4.0), (3, 1.0)])
@every("method", ON_MESH, name)
def test_it_is_the_exact_engine_to_its_accuracy(method, dimensions, exaggeration, data, random):
    target = sparse_target(method, data, perplexity=8)
    Y = mapped(data, dimensions, random)
    a = Exact(method, target.astype(np.float64)).evaluate(Y, exaggeration=exaggeration)
    b = mesh(method, target, accuracy=1e-3).evaluate(Y, exaggeration=exaggeration)
    norm = np.linalg.norm(a.gradient)
    assert np.linalg.norm(b.gradient - a.gradient) < 0.01 * norm
    assert b.cost == pytest.approx(a.cost, rel=5e-3)
    assert b.value == pytest.approx(a.value, rel=5e-3)
    assert b.cost_with(exaggeration) == pytest.approx(a.value, rel=5e-3)
    assert b.parameters.keys() == a.parameters.keys()
    for learned in a.parameters:
        assert b.parameters[learned] == pytest.approx(a.parameters[learned], rel=0.02, abs=1e-2 * norm)
    assert np.abs(b.gradient.sum(axis=0)).max() < 0.01 * norm


@every("method", ON_MESH, name)
def test_threads_do_not_change_a_bit(method, data, random):
    target, Y = sparse_target(method, data, perplexity=8), mapped(data, 2, random)
    one, four = (mesh(method, target, n_jobs).evaluate(Y, exaggeration=2.0) for n_jobs in (1, 4))
    assert one.value == four.value
    assert np.array_equal(one.gradient, four.gradient)


@every("method", ON_MESH, name)
def test_points_far_from_all_others_give_no_nan(method, data, random):
    target, Y = sparse_target(method, data, perplexity=8), mapped(data, 2, random)
    Y[0] = 40.0
    Y[1] = Y[2]
    at = mesh(method, target).evaluate(Y)
    assert np.all(np.isfinite(at.gradient))
    assert np.isfinite(at.value)


@every("method", [m for m in ON_MESH if holds_the_torn(m)], name)
def test_value_and_gradient_agree_where_neighbours_were_torn_apart(method, data, random):
    """Also where the kernel is so small that it is lost: there the cost goes on along its tangent."""
    target, Y = sparse_target(method, data, perplexity=8), mapped(data, 2, random)
    torn = random.choice(N, N // 8, replace=False)
    Y[torn] = 14 * random.normal(size=(len(torn), 2))
    engine = mesh(method, target, accuracy=1e-3)
    gradient = engine.evaluate(Y).gradient
    step = 0.1 * gradient / np.abs(gradient).max()
    ahead, behind = (engine.evaluate(Y + sign * step).value for sign in (1, -1))
    noise = engine.relative_error * abs(ahead) / np.vdot(gradient, step)
    assert (ahead - behind) / (2 * np.vdot(gradient, step)) == pytest.approx(1.0, abs=0.1 + 3 * noise)


@pytest.mark.parametrize(
    ("method", "dimensions", "reason"),
    [
        (nf.method("itsne"), 2, "not symmetric"),
        (nf.Method(nf.costs.KL(), nf.kernels.Gaussian(), "joint"), 2, "not symmetric"),
        (nf.method("msnerv"), 2, "does not separate into scales"),
        (nf.Method(nf.costs.KL(), nf.kernels.UMAP(), "pair", scales=(1.0, 2.0)), 2, "heavy-tailed family"),
        (
            nf.Method(nf.costs.GeneralizedKL(), nf.kernels.Gaussian(), "none", scales=(1.0, 2.0)),
            2,
            "bare weights of several scales",
        ),
        (
            nf.Method(nf.costs.KL(), nf.kernels.HeavyTailed(0.5, learned=("alpha",)), "point"),
            2,
            "pair normalization only",
        ),
        (nf.Method(nf.costs.KL(), nf.kernels.Student(), "pair", nf.transforms.Identity()), 2, "squared"),
        (nf.method("tsne"), 4, "too many nodes"),
        (nf.method("absne", a=1.0, b=-1.0), 2, "grows with the distance"),
        (nf.Method(nf.costs.KL(), nf.kernels.ImportanceWeighted(), "point"), 2, "masses of points"),
        (nf.Method(nf.costs.Square(), nf.kernels.ImportanceWeighted(), "pair"), 2, "masses of points"),
    ],
)
def test_what_the_plan_refuses_and_why(method, dimensions, reason):
    assert reason in Mesh.obstacle(Task(method, n_components=dimensions))
    with pytest.raises(ValueError, match=reason):
        plan(method, 5000, dimensions, "mesh")
    chosen = plan(method, 5000, dimensions)
    assert chosen.engine == "exact"
    assert reason in chosen.reason


def test_distances_are_left_to_drawn_pairs():
    with pytest.raises(ValueError, match="ties every pair"):
        plan(nf.method("mds"), 5000, 2, "mesh")
    assert plan(nf.method("mds"), 5000, 2).engine == "pairs"


def test_a_cost_that_does_not_declare_its_limit_is_left_to_the_exact_engine():
    class Mute(nf.costs.KL):
        def limit(self):
            return None

    method = nf.Method(Mute(), nf.kernels.Student(), "pair")
    assert "limit at p = 0" in Mesh.obstacle(Task(method))
    with pytest.raises(ValueError, match="limit at p = 0"):
        Mesh(method, sparse.eye_array(3))


def test_a_kernel_of_ones_own_runs_on_the_mesh(data, random):
    class Quartic(nf.kernels.Kernel):
        def value(self, f):
            return 1 / (1 + f) ** 2

        def derivative(self, f):
            return -2 / (1 + f) ** 3

    method = nf.Method(nf.costs.JensenShannon(0.3), Quartic(), "point")
    assert Mesh.obstacle(Task(method)) is None
    target, Y = sparse_target(method, data, perplexity=8), mapped(data, 2, random)
    a = Exact(method, target.astype(np.float64)).evaluate(Y)
    b = Mesh(method, target, accuracy=1e-3).evaluate(Y)
    assert np.linalg.norm(b.gradient - a.gradient) < 0.01 * np.linalg.norm(a.gradient)
