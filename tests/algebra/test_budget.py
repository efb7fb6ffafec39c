"""Formulas come to an end: whatever is written, it is built or refused in one line, after a moment."""

import math

import numpy as np
import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from nearfield import costs, kernels
from nearfield.algebra.expressions import parse, symbolic
from nearfield.algebra.expressions.budget import extent, is_simple, is_small
from support.formulas import formula, outcomes

pytestmark = pytest.mark.slow

# Each kept SymPy busy for minutes, or ended in something other than a line that says what is wrong.
WORST = {
    "a bell of many digits": ("kernel", "exp(-f*sqrt(2))", {}),
    "a parameter of many digits": ("kernel", "exp(-lam*f)", {"lam": 0.1234567890123}),
    "a quotient of huge numbers": (
        "kernel",
        "exp(((-f**(0.5+0))*((1e300-lam)/(1e300-e))))",
        {"lam": 0.5},
    ),
    "a sum of huge numbers": ("kernel", "(((1e300+e)-f)+(max(1e-300,1e-300)+(e-f)))", {}),
    "a cost of huge numbers": ("cost", "(((1e300+e)-q)+(max(1e-300,1e-300)+(e-p)))", {}),
    "a number too large for a float": ("cost", "p*((lam+2)/(q-lam))/q", {"lam": 1e-300}),
    "a kernel all but flat": ("kernel", "exp(-f*lam)", {"lam": 1e-300}),
    "a kernel almost flat": ("kernel", "exp(-f*lam)", {"lam": 1e-12}),
    "bells in different things": ("kernel", "exp(-f*sqrt(f)) + exp(-f*0.25) + exp(-0.789*f)", {}),
    "bells and pi": ("kernel", "exp(-f*(pi+2)) + exp(-20*f) + exp(-0.789*f)", {}),
    "a bell of a high power": ("kernel", "exp(-f) + exp(-((log1p(f**-0.5) + (2*f)**(1/3))**7)**3)", {}),
    "a bell of a huge number": ("kernel", "exp(-f) + exp(-(expm1(f) + f + 7e22)**3)", {}),
    "a root of a number": ("kernel", "1/(1 + (f/24)**0.4321567)", {}),
    "a root of a floor": ("cost", "q**2/p**0.4321567", {"floor": 2.4e-9}),
    "a bell shifted": ("kernel", "expm1(f + 0.377)**-1", {}),
    "a high power of a fraction": ("cost", "(r/(d + 10*r**1.5/((0.997**1.5 + 2*r)*d)))**7", {}),
    "a power of many names": ("cost", "(p + q + log(p) + log(q) + exp(p) + exp(q) + sqrt(p))**9*q", {}),
    "the limit of an exponential": ("cost", "(v/(w + 1.5))**7*exp(-(v**0.5 + log(v) - 1.2)*w)", {}),
}
SEEDS = range(40)


@pytest.fixture(scope="module")
def answers():
    cases = {**WORST, **{seed: formula(seed) for seed in SEEDS}}
    return dict(zip(cases, outcomes(cases.values()), strict=True))


@pytest.mark.parametrize("name", [*WORST, *SEEDS])
def test_a_formula_is_built_or_refused_in_one_line(name, answers):
    what, _, why = answers[name].partition(": ")
    assert what in ("built", "refused"), answers[name]
    assert "\n" not in why
    assert what == "built" or why.startswith("cannot")


def test_some_are_built_and_some_refused(answers):
    assert {answer.partition(":")[0] for answer in answers.values()} == {"built", "refused"}


def test_the_same_seed_writes_the_same_formula():
    assert [formula(seed) for seed in range(9)] == [formula(seed) for seed in range(9)]
    assert len({formula(seed)[1] for seed in SEEDS}) > len(SEEDS) / 2


def test_what_is_found_in_numbers_is_right():
    bell = kernels.Expression("exp(-f*sqrt(2))")
    assert bell.facts.tail == pytest.approx((0.0, math.sqrt(2)))
    assert kernels.Expression("exp(-lam*f)", lam=1e-12).facts.tail == (0.0, 1e-12)
    huge = kernels.Expression("exp(-sqrt(f)*((1e300 - lam)/(1e300 - e)))", lam=0.5)
    f = np.array([0.25, 1.0, 9.0])
    np.testing.assert_allclose(huge.log(f), -np.sqrt(f))
    np.testing.assert_allclose(huge.log_derivative(f), -0.5 / np.sqrt(f))
    assert costs.Expression("p*log(p/q)*(1e300/1e300)").facts.cross_entropy


def test_a_logarithm_without_algebra_does_not_underflow():
    kernel = kernels.Expression(
        "exp(-f)*sqrt(f/24 + 1)**-0.4321567/(1e8 + f)",
    )
    f = np.array([0.0, 3.0, 1e6])
    expected = -f - 0.4321567 / 2 * np.log1p(f / 24) - np.log(1e8 + f)
    np.testing.assert_allclose(kernel.log(f), expected, rtol=1e-12)
    rate = -1 - 0.4321567 / 2 / (24 + f) - 1 / (1e8 + f)
    np.testing.assert_allclose(kernel.log_derivative(f), rate, rtol=1e-12)


def test_a_limit_that_is_not_sought_is_found_in_numbers():
    cost = costs.Expression("v*exp(-sqrt(v)*log(1 + 1/v)*w) + 0.1*w")
    (term,) = cost.facts.limit
    assert float(term.coefficient(1.0) * term.slope(0.3)) == pytest.approx(0.1)


def test_a_kernel_that_no_map_can_tell_from_a_flat_one_is_refused():
    with pytest.raises(ValueError, match=r"^cannot use [^\n]* is flat$"):
        kernels.Expression("exp(-1e-300*f)")


X, Y = sympy.symbols("x y", positive=True)
FRACTIONS = st.recursive(
    st.sampled_from([X, Y, sympy.sqrt(X), sympy.Integer(2), sympy.Rational(1, 3)]),
    lambda inside: st.one_of(
        st.builds(lambda a, b: a + b, inside, inside),
        st.builds(lambda a, b: a * b, inside, inside),
        st.builds(lambda a, b: a / (1 + b), inside, inside),
        st.builds(lambda a, n: a**n, inside, st.integers(-3, 3)),
    ),
    max_leaves=8,
)


@given(FRACTIONS)
def test_no_polynomial_has_more_terms_than_were_counted(expression):
    assume(is_small(expression))
    root = sympy.Symbol("root", positive=True)
    for part in sympy.fraction(sympy.cancel(expression)):
        polynomial = sympy.Poly(part.subs(X, root**2), root, Y)
        assert len(polynomial.terms()) <= extent(expression).terms


@pytest.mark.parametrize(
    ("text", "simple", "small"),
    [
        ("(1 + f)**9/(2 + f)", True, True),
        ("exp(-0.377*f) + exp(-0.113*f)/3", True, True),
        ("exp(-0.12345*f) + 1/(1 + f)", True, False),  # of degree 2469
        ("(1 + f)**0.123", True, False),
        ("(f + log(f) + exp(f) + sqrt(f))**9", True, False),
        ("(f + 0.123456789012345)**9/(1 + f)", True, False),  # digits
        ("(1 + f)**(1/3)/(1 + f)**-0.1234567", True, False),
        ("(1 + f/24)**-0.1234567", False, False),  # the ten-millionth root of a number
        ("((1 + f/24)**0.1234)**0.1234", False, False),
        ("exp(-1e300*f)", False, False),
        ("abs(1 - f)", False, False),
    ],
)
def test_what_is_within_the_budget(text, simple, small):
    tree = parse(text, ("f",))
    assert is_simple(tree) == simple
    assert not simple or is_small(symbolic(tree)) == small
