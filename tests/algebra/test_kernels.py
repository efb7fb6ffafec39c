"""Laws of every kernel: derivatives, logarithms, learned parameters, width, and the limiting cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearfield import kernels
from support.compositions import KERNELS

ALL = [k for k in KERNELS if k is not None]
distances = st.floats(1e-3, 50.0)


def numeric(function, x):
    h = 1e-4 * x
    return (function(x - 2 * h) - 8 * function(x - h) + 8 * function(x + h) - function(x + 2 * h)) / (12 * h)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
@given(f=distances)
def test_plain_and_logarithmic_form_agree_and_are_differentiated(kernel, f):
    assert np.log(kernel.value(f)) == pytest.approx(kernel.log(f), abs=1e-12, rel=1e-12)
    assert kernel.derivative(f) == pytest.approx(kernel.value(f) * kernel.log_derivative(f), rel=1e-12)
    assert kernel.log_derivative(f) == pytest.approx(numeric(kernel.log, f), rel=1e-6)
    assert kernel.derivative(f) < 0 < kernel.value(f)


@pytest.mark.parametrize("kernel", [k for k in ALL if k.learned], ids=repr)
@given(f=distances, factor=st.floats(0.5, 2.0))
def test_learned_parameters_have_their_derivative(kernel, f, factor):
    from dataclasses import replace

    for name in kernel.learned:
        theta = factor * getattr(kernel, name)

        def log(theta, name=name):
            return replace(kernel, **{name: theta}).log(f)

        found = replace(kernel, **{name: theta}).parameter_derivative(name, np.array([f]))[0]
        assert found == pytest.approx(numeric(log, theta), rel=1e-6, abs=1e-10)


@given(f=distances, alpha=st.floats(1e-9, 1e-2))
def test_the_derivative_in_alpha_is_smooth_down_to_the_gaussian(f, alpha):
    """Its two terms cancel near α = 0, where it is f²/2 - 2 α f³/3 + …."""
    found = kernels.HeavyTailed(alpha).parameter_derivative("alpha", np.array([f]))[0]
    t = np.longdouble(alpha) * np.longdouble(f)
    exact = np.longdouble(f) ** 2 * sum((-1) ** k * (k + 1) / np.longdouble(k + 2) * t**k for k in range(60))
    if t < 0.5:
        assert found == pytest.approx(float(exact), rel=1e-7)


@given(f=distances, beta=st.floats(0.1, 5.0))
def test_heavy_tails_end_in_the_gaussian_and_the_cauchy(f, beta):
    gaussian = kernels.Gaussian(beta)
    for form in ("log", "log_derivative"):
        at = getattr(kernels.HeavyTailed(0.0, beta), form)(f)
        assert at == getattr(gaussian, form)(f)
        near = getattr(kernels.HeavyTailed(1e-12, beta), form)(f)
        assert near == pytest.approx(at, rel=1e-8)
    assert kernels.HeavyTailed(1.0, 1.0).value(f) == kernels.Student(1.0).value(f)


@given(f=distances, dof=st.floats(0.2, 100.0))
def test_student_is_heavy_tailed_and_ends_in_a_gaussian(f, dof):
    written_out = (1 + f / dof) ** (-(dof + 1) / 2)
    assert kernels.Student(dof).value(f) == pytest.approx(written_out, rel=1e-10)
    same = kernels.HeavyTailed(2 / (dof + 1), (dof + 1) / (2 * dof))
    assert kernels.Student(dof).log(f) == pytest.approx(same.log(f), rel=1e-12)
    assert kernels.Inhomogeneous(dof).log(f) == pytest.approx(same.log(f), rel=1e-12)
    assert kernels.Student(np.inf).log(f) == kernels.Gaussian(0.5).log(f)


@given(f=distances)
def test_per_point_degrees_of_freedom_may_be_infinite(f):
    found = kernels.Inhomogeneous(np.array([np.inf, 1.0])).log(np.array([f, f]))
    np.testing.assert_allclose(found, [-f / 2, -np.log1p(f)], rtol=1e-12)


@given(f=distances)
def test_umap_with_a_and_b_of_one_is_the_cauchy_kernel(f):
    assert kernels.UMAP(1.0, 1.0).value(f) == kernels.Student().value(f)
    assert kernels.UMAP(1.0, 1.0).log_derivative(f) == pytest.approx(kernels.Student().log_derivative(f))


def test_umap_pulls_nowhere_at_distance_0():
    assert kernels.UMAP(1.0, 0.5).log_derivative(np.zeros(1))[0] == 0
    assert kernels.UMAP(2.0, 1.0).log_derivative(np.zeros(1))[0] == -2


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_the_width_is_where_half_is_left(kernel):
    assert kernel.value(kernel.width**2) == pytest.approx(0.5 * kernel.value(1e-300), rel=0.02)


def test_a_point_sees_others_with_its_own_parameters():
    kernel = kernels.Inhomogeneous(np.array([1.0, 2.0, 3.0]))
    i, j = np.arange(2)[:, None], np.arange(3)[None, :]
    np.testing.assert_array_equal(kernel.between(i, j).nu, [[1.0], [2.0]])
    np.testing.assert_array_equal(kernel.between(j, i).nu, [[1.0, 2.0, 3.0]])
    weighted = kernels.ImportanceWeighted(kernels.Student(), np.array([1.0, 2.0, 5.0]))
    np.testing.assert_array_equal(weighted.between(i, j).mass, [[1, 2, 5], [2, 4, 10]])


def test_a_kernel_must_define_itself():
    with pytest.raises(TypeError, match="value and derivative, or log and log_derivative"):

        class Nothing(kernels.Kernel):
            pass


@pytest.mark.parametrize(
    "make",
    [
        lambda: kernels.Gaussian(0.0),
        lambda: kernels.HeavyTailed(-0.1),
        lambda: kernels.Student(-1.0),
        lambda: kernels.Inhomogeneous(np.array([1.0, 0.0])),
        lambda: kernels.UMAP(1.0, 0.0),
    ],
)
def test_parameters_out_of_range_are_refused(make):
    with pytest.raises(ValueError, match="must be"):
        make()


def test_short_names_give_each_kernel():
    assert {type(kernels.named(k.name)) for k in kernels.all_kernels()} == set(kernels.all_kernels())
    assert kernels.named("student", dof=3.0) == kernels.Student(3.0)
    with pytest.raises(ValueError, match="the kernels are"):
        kernels.named("no such kernel")


def test_kernels_with_arrays_are_plain_data():
    nu = np.array([1.0, 2.0])
    assert kernels.Inhomogeneous(nu) == kernels.Inhomogeneous(nu.copy())
    assert kernels.Inhomogeneous(nu) != kernels.Inhomogeneous(nu + 1)
    assert hash(kernels.Inhomogeneous(nu)) == hash(kernels.Inhomogeneous(nu.copy()))
    assert repr(kernels.Inhomogeneous(nu)) == "Inhomogeneous(nu=<2 values>)"
