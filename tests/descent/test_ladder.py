"""Multi-scale maps: scales enter one by one, in data and map, and neighbourhoods of all sizes are kept."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.descent.schedule import RUNG_ITERATIONS
from nearfield.engine.exact.chain import value_and_gradient

NAMES = ("msasne", "mssne", "msnerv", "msjse", "mstsne")


@pytest.fixture(scope="module")
def X():
    random = np.random.default_rng(5)
    centres = 6 * random.normal(size=(4, 8))
    return np.vstack([random.normal(size=(20, 8)) + centre for centre in centres])


@pytest.mark.parametrize("name", NAMES)
def test_every_multi_scale_method_makes_a_map(name, X):
    run = nf.Run(X, name, random_state=0)
    assert run.converge(600) or run.iteration == 600
    assert nf.quality(X, run.Y).auc > 0.35
    assert run.diagnosis() is None


@pytest.mark.parametrize("name", NAMES[:4])
def test_a_scale_enters_with_every_rung(name, X):
    run = nf.Run(X, name, random_state=0)
    scales = []
    for steps in (RUNG_ITERATIONS - 1, *[RUNG_ITERATIONS] * 5):
        run.step(steps)
        scales.append(len(run.method.precisions))
    assert scales == [1, 2, 3, 4, 5, 5]  # 80 points have the perplexities 2, 4, 8, 16 and 32
    assert np.allclose(np.diff(np.log(run.method.precisions)), np.diff(np.log(run.method.precisions))[0])


def test_a_kernel_that_underflows_gets_a_width_for_each_perplexity_and_a_tail_none(X):
    assert nf.Run(X, "jse", perplexity=[4, 16]).method.scales
    tailed = nf.Run(X, "tsne", perplexity=[4, 16]).method
    assert tailed.precisions == (1.0,)
    assert nf.Run(X, "tsne", perplexity="multiscale", random_state=0).method == nf.method("mstsne")


def test_it_keeps_more_of_all_scales_than_one_perplexity_does(X):
    several = nf.quality(X, nf.Embedder("msasne", random_state=0).fit_transform(X)).auc
    assert several > nf.quality(X, nf.Embedder("asne", perplexity=5, random_state=0).fit_transform(X)).auc


@pytest.mark.parametrize("normalization", ["pair", "point"])
def test_identical_scales_are_one_scale(normalization, X, random):
    Y = random.normal(size=(80, 2))
    one = nf.Method(nf.costs.KL(), nf.kernels.Gaussian(0.4), normalization)
    three = nf.Method(nf.costs.KL(), nf.kernels.Gaussian(), normalization, scales=(0.4, 0.4, 0.4))
    P = one.target(X, perplexity=10)
    (a, A), (b, B) = (value_and_gradient(method, Y, P) for method in (one, three))
    assert a == pytest.approx(b, rel=1e-12)
    assert np.allclose(A, B, rtol=1e-9, atol=1e-14)


def test_threads_do_not_change_a_bit(X):
    maps = [
        nf.Embedder("mssne", random_state=0, max_iter=80, n_jobs=jobs).fit_transform(X) for jobs in (1, 3)
    ]
    assert np.array_equal(*maps)


def test_fixed_precisions_are_kept(X):
    method = nf.Method(nf.costs.KL(), nf.kernels.Gaussian(), "point", scales=(1.0, 0.1))
    run = nf.Run(X, method, perplexity=[4, 16], random_state=0)
    run.step(3)
    assert run.method.scales == (1.0, 0.1)


@pytest.mark.parametrize("engine", ["exact", "mesh"])
def test_precisions_may_be_those_of_the_data(engine, X):
    method = nf.Method(nf.costs.KL(), nf.kernels.Gaussian(), "point", scales="transfer")
    run = nf.Run(X, method, engine=engine, random_state=0)
    start = run.Y
    run.converge(400)
    assert np.all(np.diff(run.method.precisions) < 0)  # from the finest to the coarsest
    assert 0.3 < np.std(run.Y) / np.std(start) < 3  # which has the size of the data
    assert nf.quality(X, run.Y).auc > 0.3
    half = nf.Run(2 * X, method, engine=engine, random_state=0)
    half.converge(400)
    assert np.allclose(4 * np.array(half.method.precisions), run.method.precisions, rtol=1e-3)


def test_a_rung_that_is_entered_again_is_the_same(X):
    """As after Ctrl-C, before the phase that it belongs to has begun."""
    stages = nf.Run(X, "msasne", random_state=0)._descent.stages
    once, again = stages.enter(1), stages.enter(1)
    assert len(once.method.precisions) == 2
    assert once.method == again.method
    assert np.array_equal(once.p, again.p)
