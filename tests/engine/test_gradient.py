"""Laws that the gradient of every composition obeys: the cross product of costs, kernels and the rest."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.engine.check import check_at
from nearfield.engine.exact.chain import Exact, exact
from nearfield.parallel import ROWS
from support.cells import every
from support.compositions import defined, holds_the_torn, name, target_for

pytestmark = pytest.mark.slow

N = 11
METHODS = defined()


def ready(method, random, n=N):
    """The method's engine over a random target, with per-point parameters where it learns them."""
    if method.learned:
        start = method.kernel.expanded(n)
        values = {p: np.asarray(getattr(start, p)) for p in method.learned}
        method = method.with_parameters(
            **{p: (v * random.uniform(0.7, 1.5, size=v.shape))[()] for p, v in values.items()}
        )
    return Exact(method, target_for(method, n, random))


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@every("method", METHODS, name)
def test_matches_central_differences_without_net_force_or_torque(method, dimensions, random):
    found = check_at(ready(method, random), random.normal(size=(N, dimensions)))
    assert found.error < 1e-6
    assert found.net_force < 1e-12
    assert found.torque < 1e-12


@every("method", [m for m in METHODS if m.kernel is not None], name)
def test_value_and_gradient_agree_under_exaggeration(method, random):
    engine, Y = ready(method, random), random.normal(size=(N, 2))
    assert check_at(engine, Y, exaggeration=5.0).error < 1e-6
    plain, strong, weak = (engine.evaluate(Y, exaggeration=a) for a in (1.0, 5.0, 0.4))
    assert strong.cost == pytest.approx(plain.cost, rel=1e-12)
    assert strong.value != plain.value
    assert strong.cost_with(5.0) == pytest.approx(strong.value, rel=1e-12)
    more = (0.4 - 1) / (5 - 1)  # all of it is linear in the exaggeration
    assert weak.value == pytest.approx(plain.value + more * (strong.value - plain.value), rel=1e-9)
    wanted = plain.gradient + more * (strong.gradient - plain.gradient)
    np.testing.assert_allclose(weak.gradient, wanted, atol=1e-12 * scale(strong))
    for each, slope in weak.parameters.items():
        wanted = plain.parameters[each] + more * (strong.parameters[each] - plain.parameters[each])
        np.testing.assert_allclose(slope, wanted, rtol=1e-7, atol=1e-12 * scale(strong))


@every("method", METHODS, name)
def test_permuting_the_points_permutes_the_gradient(method, random):
    engine, Y = ready(method, random), random.normal(size=(N, 2))
    order = random.permutation(N)
    kernel = engine.method.kernel
    shuffled = engine.method
    if kernel is not None and kernel._per_point():
        shuffled = shuffled.with_parameters(
            **{name: value[order] for name, value in kernel._per_point().items()}
        )
    bound = {name: getattr(shuffled.cost, name)[order] for name in shuffled.cost.facts.bound}
    shuffled = shuffled._with(cost=shuffled.cost._with(**bound))
    # The bound p: what a distance matrix was transformed and normalized to must not be so twice.
    permuted = Exact.__new__(Exact)
    permuted.__dict__.update(engine.__dict__, p=np.ascontiguousarray(engine.p[np.ix_(order, order)]))
    first, second = engine.evaluate(Y), permuted.evaluate(Y[order], method=shuffled)
    assert second.value == pytest.approx(first.value, rel=1e-12)
    np.testing.assert_allclose(second.gradient, first.gradient[order], rtol=1e-9, atol=1e-12 * scale(first))


@pytest.mark.parametrize("dimensions", [2, 3])
@every("method", METHODS, name)
def test_turning_and_shifting_the_map_turns_the_gradient(method, dimensions, random):
    engine, Y = ready(method, random), random.normal(size=(N, dimensions))
    turn, _ = np.linalg.qr(random.normal(size=(dimensions, dimensions)))
    first, second = engine.evaluate(Y), engine.evaluate(Y @ turn + 3.0)
    assert second.value == pytest.approx(first.value, rel=1e-10)
    np.testing.assert_allclose(second.gradient, first.gradient @ turn, rtol=1e-8, atol=1e-10 * scale(first))


@every("method", METHODS, name)
def test_threads_and_blocks_do_not_change_a_bit(method, random):
    n = 3 * ROWS + 1
    engine, Y = ready(method, random, n), random.normal(size=(n, 2))
    engine.n_jobs = 1
    alone = engine.evaluate(Y, exaggeration=2.0 if method.kernel is not None else 1.0)
    engine.n_jobs = 4
    together = engine.evaluate(Y, exaggeration=2.0 if method.kernel is not None else 1.0)
    assert alone.value == together.value
    assert np.array_equal(alone.gradient, together.gradient)
    engine.rows = 2
    blocked = engine.evaluate(Y, exaggeration=2.0 if method.kernel is not None else 1.0)
    np.testing.assert_allclose(blocked.gradient, alone.gradient, rtol=1e-9, atol=1e-12 * scale(alone))


@every("method", [m for m in METHODS if m.kernel is not None], name)
def test_a_sparse_target_is_the_dense_one(method, random):
    from scipy.sparse import csr_array

    P, Y = target_for(method, N, random), random.normal(size=(N, 2))
    dense, thin = Exact(method, P).evaluate(Y), Exact(method, csr_array(P)).evaluate(Y)
    assert thin.value == pytest.approx(dense.value, rel=1e-13)
    np.testing.assert_allclose(thin.gradient, dense.gradient, rtol=1e-10, atol=1e-13 * scale(dense))


@pytest.mark.parametrize("exaggeration", [1.0, 12.0])
@pytest.mark.parametrize("named", ["tsne", "hssne", "asne", "ssne", "mstsne", "mssne"])
def test_a_sparse_target_has_the_closed_form_of_the_dense_one(named, exaggeration, random):
    from scipy.sparse import csr_array

    method = nf.method(named)
    P, Y = target_for(method, N, random), random.normal(size=(N, 2))
    there = np.median(P) < P
    P *= there & there.T
    dense, thin = exact(method, P), exact(method, csr_array(P))
    assert type(thin) is type(dense)
    a, b = (engine.evaluate(Y, exaggeration=exaggeration) for engine in (dense, thin))
    assert b.value == pytest.approx(a.value, rel=1e-12)
    np.testing.assert_allclose(b.gradient, a.gradient, rtol=1e-10, atol=1e-13 * scale(a))


@every("method", METHODS, name)
def test_coincident_and_far_points_give_no_nan(method, random):
    engine, Y = ready(method, random), random.normal(size=(N, 2))
    Y[1] = Y[0]
    Y[2] = 60.0  # where exp(-d²) has left float64
    at = engine.evaluate(Y)
    assert np.all(np.isfinite(at.gradient))
    assert np.isfinite(at.value)


@pytest.mark.parametrize("name", ["asne", "ssne", "jse", "nerv", "rssne"])
def test_points_beyond_every_gaussian_are_still_pulled_back(name, random):
    """Weights that underflow must neither vanish from a row's sum nor slacken the springs."""
    method = nf.method(name)
    P, Y = target_for(method, N, random), 100.0 * random.normal(size=(N, 2))
    value, gradient = method.value_and_gradient(Y, P)
    assert np.isfinite(value)
    pulled = np.sum(gradient * (Y - Y.mean(axis=0)))
    assert pulled > 0


@pytest.mark.parametrize("normalization", ["pair", "point"])
@pytest.mark.parametrize("cost", [nf.costs.KL(), nf.costs.JensenShannon(0.3), nf.costs.Square()], ids=repr)
def test_identical_scales_are_one_scale(cost, normalization, random):
    one = nf.Method(cost, nf.kernels.Gaussian(1.7), normalization)
    many = nf.Method(cost, nf.kernels.Gaussian(1.0), normalization, scales=(1.7, 1.7, 1.7))
    P, Y = target_for(one, N, random), random.normal(size=(N, 2))
    (a, g), (b, h) = one.value_and_gradient(Y, P), many.value_and_gradient(Y, P)
    assert b == pytest.approx(a, rel=1e-13)
    np.testing.assert_allclose(h, g, rtol=1e-10, atol=1e-13 * np.abs(g).max())


@pytest.mark.parametrize("exaggeration", [1.0, 6.0])
@pytest.mark.parametrize(
    "method",
    [
        *(
            nf.Method(nf.costs.KL(), kernel, normalization)
            for kernel in (
                nf.kernels.Gaussian(0.6),
                nf.kernels.Student(),
                nf.kernels.Student(4.0),
                nf.kernels.HeavyTailed(1.6, 0.8),
            )
            for normalization in ("pair", "point")
        ),
        nf.method("mds"),
        nf.method("sammon"),
    ],
    ids=name,
)
def test_closed_forms_are_the_chain(method, exaggeration, random):
    if method.kernel is None:
        exaggeration = 1.0
    n = 3 * ROWS + 1
    P, Y = target_for(method, n, random), random.normal(size=(n, 3))
    chain, closed = Exact(method, P), exact(method, P)
    assert type(closed) is not Exact
    a = chain.evaluate(Y, exaggeration=exaggeration)
    b = closed.evaluate(Y, exaggeration=exaggeration)
    assert b.value == pytest.approx(a.value, rel=1e-12)
    assert b.cost == pytest.approx(a.cost, rel=1e-12)
    np.testing.assert_allclose(b.gradient, a.gradient, rtol=1e-10, atol=1e-13 * scale(a))
    assert np.array_equal(
        closed.evaluate(Y, exaggeration=exaggeration, want_value=False).gradient, b.gradient
    )
    closed.n_jobs = 1
    assert np.array_equal(closed.evaluate(Y, exaggeration=exaggeration).gradient, b.gradient)


@pytest.mark.parametrize("kernel", [nf.kernels.Gaussian(), nf.kernels.Student()], ids=repr)
def test_joint_is_pair_for_symmetric_kernels(kernel, random):
    pair = nf.Method(nf.costs.KL(), kernel, "pair")
    joint = nf.Method(nf.costs.KL(), kernel, "joint")
    P, Y = target_for(pair, N, random), random.normal(size=(N, 2))
    np.testing.assert_allclose(
        joint.value_and_gradient(Y, P)[1], pair.value_and_gradient(Y, P)[1], rtol=1e-10, atol=1e-14
    )


def scale(evaluation):
    return np.abs(evaluation.gradient).max()


@every("method", [m for m in METHODS if holds_the_torn(m) and m.normalization != "joint"], name)
def test_value_and_gradient_agree_where_neighbours_were_torn_apart(method, random):
    """Also where the kernel is so small that it is lost: there the cost goes on along its tangent."""
    X = random.normal(size=(24, 4))
    target, Y = method.target(X, perplexity=5), random.normal(size=(24, 2))
    Y[:4] *= 30
    gradient = method.value_and_gradient(Y, target)[1]
    step = 1e-4 * gradient / np.abs(gradient).max()
    ahead, behind = (method.value_and_gradient(Y + sign * step, target)[0] for sign in (1, -1))
    assert (ahead - behind) / (2 * np.vdot(gradient, step)) == pytest.approx(1.0, abs=1e-3)
