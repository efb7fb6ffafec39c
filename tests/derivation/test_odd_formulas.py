"""Formulas that nobody would write are derived as well, or refused in one line, after a moment."""

import numpy as np
import pytest

import nearfield as nf

pytestmark = pytest.mark.slow

STUDENT = nf.kernels.Student()


def composed(part):
    """A method of a cost or a kernel of one's own."""
    if isinstance(part, nf.kernels.Kernel):
        return nf.Method(nf.costs.KL(), part, "pair")
    if "distances" in part.facts.domains:
        return nf.Method(part)
    return nf.Method(part, STUDENT, "pair" if "probabilities" in part.facts.domains else "none")


# Each kept SymPy busy for minutes.
LARGE_COSTS = [
    "((1e-5**0.123*(d/e)*15**(1/3))**-0.7 - 63.5*(sqrt(r)*10/d)**-2)**2",
    "(r/(d + ((2*r + 0.1)/(r**(1/3)*10*r))**-1/d))**7*exp(-0.3*d)",
    "p*log(p/q) + 0.01*(1 + (q*max(0.377, p)*(q + 0.3))**0.123 - (q*p**0.3)/(0.25/p + 10))**2",
]
LARGE_KERNELS = [
    "exp(-f*sqrt(f)) + exp(-f*0.25) + exp(-0.789*f)",
    "1/(1 + f**(3.3333333333333335 - lam))",
    "1/((1.5 + f)**17 + ((2*f)**(5/6) + sqrt(f))**7)",
]


@pytest.mark.parametrize("text", LARGE_COSTS)
def test_a_large_cost_is_left_as_it_is_and_says_so(text):
    found = nf.derive(composed(nf.costs.Expression(text)))
    assert found.error < 1e-6
    assert "left as it is differentiated" in " ".join(str(found).split())


@pytest.mark.parametrize("text", LARGE_KERNELS)
def test_a_large_kernel_is_left_as_it_is_and_says_so(text):
    found = nf.derive(composed(nf.kernels.Expression(text, **({"lam": 0.3} if "lam" in text else {}))))
    assert found.error < 1e-6
    assert "left as it is differentiated" in " ".join(str(found).split())


def test_a_large_cost_still_has_its_reason():
    found = nf.derive(composed(nf.costs.Expression(LARGE_COSTS[2])))
    assert found.limits is None
    assert found.reason.endswith(("near-linear time.", "all pairs are computed."))
    assert "None" not in found.reason


@pytest.mark.parametrize("name", ["tsne", "jse", "absne", "umap", "nsammon"])
def test_methods_of_the_catalogue_are_simplified(name):
    assert "left as it is" not in str(nf.derive(name))


@pytest.mark.parametrize("text", ["q", "r*(0.1*d)/d", "0.997*q - q", "(w/w)**-0.7"])
def test_a_cost_that_no_map_changes_has_no_gradient(text):
    found = nf.derive(composed(nf.costs.Expression(text)))
    assert found.gradient == "∂C/∂y_i = 0"
    assert found.passed
    Y = np.random.default_rng(0).normal(size=(6, 2))
    np.testing.assert_array_equal(found.evaluate(Y, np.ones((6, 6))), np.zeros((6, 2)))


@pytest.mark.parametrize(
    "text",
    [
        "d*log(d/r) + min(10/max(sqrt(d), r/d)**(5/6), 0.15*r + d*d/r)",
        "max(r, d)*max(2, r**0.3 - 1/min(r, 0.6))",
        "p**q*q**2 + q",
        "q*max(1/p, q)",
        "sqrt(1 - w/log(w))*w",
        "v*log(v/w) + abs((2 - w)**1.5)",
        "v*log(v/w) + abs((2 - w)**0.3 - w)",
        "min(q, 99999999999999999999999999999999999999**-0.5/q) + q*q",
    ],
)
def test_corners_and_infinities_are_derived(text):
    found = nf.derive(composed(nf.costs.Expression(text)))
    assert found.error < 1e-5
    assert found.markdown()


@pytest.mark.parametrize(
    "text",
    [
        "exp(-max((max(f, 0.5))**1.5, f/4, 0.1))",
        "log1p(1/(1 + abs(9e59*f)))",
        "exp(-f) + exp(-((0.25+1e300)+(f+1e-300)))",
    ],
)
def test_corners_of_kernels_are_derived(text):
    assert nf.derive(composed(nf.kernels.Expression(text))).gradient


def test_a_check_beyond_the_range_of_numbers_says_so():
    method = nf.Method(nf.costs.JensenShannon(0.3), nf.kernels.Expression("exp(-900*f)"), "point")
    found = nf.derive(method)
    assert not found.passed
    assert "says nothing" in " ".join(str(found).split())


def test_an_exponent_of_many_digits_is_refused_and_is_derived_as_a_parameter():
    with pytest.raises(ValueError, match="make it a parameter"):
        nf.derive(composed(nf.kernels.Expression("1/(1 + (f/24)**0.4321567)")))
    assert nf.derive(composed(nf.kernels.Expression("1/(1 + (f/24)**a)", a=0.4321567))).passed


def test_a_kernel_that_factors_into_hundreds_of_terms_is_refused_in_one_line():
    with pytest.raises(ValueError, match="its logarithm is not finite"):
        nf.kernels.Expression("log1p(1/(1 + (1/(exp(f) - (2*f + 2)**2))**17))")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1/(1 + f*min(2, 0.25/(f - f)))", "cannot be derived, because max or min"),
        (
            "1/(1 + f + 0.377/((lam/0.25)**0.123 + (3 + f)*1e16 + 1e-300))**2",
            "what is derived cannot be computed: it holds",
        ),
    ],
)
def test_what_cannot_be_derived_is_refused_in_one_line(text, told):
    with pytest.raises(ValueError, match=told) as refusal:
        nf.derive(composed(nf.kernels.Expression(text, **({"lam": 0.3} if "lam" in text else {}))))
    assert "\n" not in str(refusal.value)
