"""Methods are data: equal, printable, picklable; compositions that mean nothing are refused by a list."""

import pickle

import numpy as np
import pytest

import nearfield as nf
from nearfield import costs, kernels, transforms


@pytest.mark.parametrize("name", nf.methods())
def test_every_name_is_a_composition(name):
    method = nf.method(name)
    assert method == nf.method(name)
    assert hash(method) == hash(nf.method(name))
    assert pickle.loads(pickle.dumps(method)) == method
    assert str(method.cost) in str(method)


def test_the_catalogue_has_every_name_of_the_table():
    table = (
        "asne ssne tsne tasne hssne dhssne itsne wtsne wssne nerv snerv tnerv jse sjse tjse rasne rssne rtsne"
        " msasne mssne msnerv msjse mstsne"
        " gkl unerv ujse ee largevis umap umap_sampled absne chsne hlsne sqsne"
        " mds sstress sammon nmmds nsammon"
    )
    assert sorted(nf.methods()) == sorted(table.split())


@pytest.mark.parametrize(
    ("name", "parameters", "composition"),
    [
        ("tsne", {}, nf.Method(costs.KL(), kernels.Student(), "pair")),
        ("asne", {"beta": 2.0}, nf.Method(costs.KL(), kernels.Gaussian(2.0), "point")),
        ("hssne", {"alpha": 0.2}, nf.Method(costs.KL(), kernels.HeavyTailed(0.2), "pair")),
        ("nerv", {"lam": 0.3}, nf.Method(costs.NeRV(0.3), kernels.Gaussian(), "point")),
        ("tjse", {"kappa": 0.2}, nf.Method(costs.JensenShannon(0.2), kernels.Student(), "pair")),
        ("largevis", {"gamma": 2.0}, nf.Method(costs.LargeVis(2.0), kernels.Student(), "none")),
        (
            "umap_sampled",
            {"m": 3.0},
            nf.Method(costs.NegativeSampling(3.0), kernels.UMAP(1.577, 0.895), "none"),
        ),
        ("umap", {"a": 1.5, "b": 0.9}, nf.Method(costs.CrossEntropy(), kernels.UMAP(1.5, 0.9), "none")),
        ("absne", {"a": 0.5}, nf.Method(costs.AlphaBeta(0.5, 1.0), kernels.Student(), "pair")),
        ("mds", {}, nf.Method(costs.Stress())),
        ("nmmds", {"normalization": "point"}, nf.Method(costs.Stress(), normalization="point")),
    ],
)
def test_names_are_short_for_compositions(name, parameters, composition):
    assert nf.method(name, **parameters) == composition


def test_unknown_names_and_parameters_are_refused_with_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'tsne'"):
        nf.method("tnse")
    with pytest.raises(ValueError, match=r"nearfield\.methods"):
        nf.method("zzzzzzzz")
    with pytest.raises(ValueError, match="its parameters are dof"):
        nf.method("tsne", perplexity=30)
    with pytest.raises(ValueError, match="it has none"):
        nf.method("mds", beta=1)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((costs.KL(), kernels.Gaussian(), "none"), "cost of probabilities"),
        ((costs.GeneralizedKL(), kernels.Gaussian(), "pair"), "cost of weights"),
        ((costs.Stress(), kernels.Gaussian(), "pair"), "cost of distances"),
        ((costs.KL(),), "cost of probabilities"),
        ((costs.KL(), None, "none"), "cost of probabilities"),
        ((costs.Stress(), None, "joint"), 'use normalization "pair"'),
        ((costs.KL(), kernels.Inhomogeneous(), "pair"), "not symmetric"),
        ((costs.LargeVis(), kernels.ImportanceWeighted(), "none"), "weights up to 1"),
        ((costs.NegativeSampling(), kernels.Student(), "none", None, (1.0, 2.0)), "one scale"),
        ((costs.KL(), kernels.Gaussian(), "rows"), "normalization must be one of"),
        ((costs.Stress(), None, "none", None, (1.0, 2.0)), "a cost of distances has none"),
        ((costs.KL(), kernels.Gaussian(), "pair", None, (1.0, -2.0)), "positive precisions"),
    ],
)
def test_compositions_without_meaning_are_refused_with_the_reason(arguments, reason):
    with pytest.raises(ValueError, match=reason):
        nf.Method(*arguments)


def test_parts_of_the_wrong_kind_are_refused():
    with pytest.raises(TypeError, match="cost must be"):
        nf.Method("kl")
    with pytest.raises(TypeError, match="kernel must be"):
        nf.Method(costs.KL(), "gaussian")


@pytest.mark.parametrize("transform", [transforms.Square(), transforms.Identity(), transforms.Power(1.3)])
def test_transforms_have_their_derivative(transform):
    d = np.linspace(0.1, 5, 7)
    h = 1e-5
    numeric = (transform.value(d + h) - transform.value(d - h)) / (2 * h)
    np.testing.assert_allclose(transform.derivative(d), numeric, rtol=1e-8)
    f, slope = transform.of_square(d**2)
    np.testing.assert_allclose(f, transform.value(d), rtol=1e-14)
    np.testing.assert_allclose(slope, transform.derivative(d) / (2 * d), rtol=1e-12)


def test_squares_and_powers_of_two_are_one_transform(random):
    Y, R = random.normal(size=(8, 2)), np.abs(random.normal(size=(8, 8)))
    R = R + R.T
    a = nf.Method(costs.Stress(), transform=transforms.Square()).value_and_gradient(Y, R)
    b = nf.Method(costs.Stress(), transform=transforms.Power(2.0)).value_and_gradient(Y, R)
    c = nf.method("sstress").value_and_gradient(Y, R)
    for other in (b, c):
        assert other[0] == pytest.approx(a[0])
        np.testing.assert_allclose(other[1], a[1], rtol=1e-10)
