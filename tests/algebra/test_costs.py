"""Laws of every cost: its derivative, its limit at p = 0, its degree, its minimum and its limiting cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearfield import costs
from support.compositions import COSTS

probabilities = st.floats(1e-6, 0.9)


@pytest.mark.parametrize("cost", COSTS, ids=repr)
@given(p=probabilities, q=probabilities)
def test_the_derivative_is_that_of_the_value(cost, p, q):
    def value(q):
        return float(cost.value(np.array([p]), np.array([q]))[0])

    h = 1e-4 * q
    numeric = (value(q - 2 * h) - 8 * value(q - h) + 8 * value(q + h) - value(q + 2 * h)) / (12 * h)
    # Differences of a value lose digits in proportion to it.
    lost = 1e-14 * max(abs(value(q)), 1.0) / h
    assert cost.derivative(np.array([p]), np.array([q]))[0] == pytest.approx(numeric, rel=1e-7, abs=lost)


@pytest.mark.parametrize("cost", [c for c in COSTS if c.facts.limit is not None], ids=repr)
@given(w=probabilities, S=st.floats(0.1, 1e3))
def test_the_limit_at_p_0_separates(cost, w, S):
    bare = cost.facts.domains == {"weights"}
    S = 1.0 if bare else S
    limit = sum(term.coefficient(S) * term.slope(w) for term in cost.facts.limit)
    assert limit == pytest.approx(cost.derivative(np.zeros(1), np.array([w / S]))[0], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("cost", [c for c in COSTS if c.facts.limit], ids=repr)
@given(w=st.floats(1e-3, 0.9))
def test_the_terms_of_the_limit_are_derivatives_of_their_integrals(cost, w):
    h = 1e-4 * w
    for term in cost.facts.limit:
        F = term.integral
        numeric = (F(w - 2 * h) - 8 * F(w - h) + 8 * F(w + h) - F(w + 2 * h)) / (12 * h)
        assert numeric == pytest.approx(term.slope(w), rel=1e-6, abs=1e-9)


def test_all_costs_declare_a_limit_but_those_of_distances_and_negative_powers_of_p():
    for cost in COSTS:
        without = cost.facts.domains == {"distances"} or (isinstance(cost, costs.AlphaBeta) and cost.a < 0)
        assert (cost.facts.limit is None) == without


# In these, attraction and repulsion scale apart, and none is least where map and data agree.
TUGS_OF_WAR = (costs.ElasticEmbedding, costs.LargeVis, costs.CrossEntropy, costs.NegativeSampling)
# These are least there only in sum over a distribution.
IN_SUM_ONLY = (costs.KL, costs.ReverseKL, costs.NeRV)


@pytest.mark.parametrize("cost", [c for c in COSTS if not isinstance(c, TUGS_OF_WAR)], ids=repr)
@given(p=probabilities, q=probabilities, t=st.floats(0.2, 1.0))
def test_the_degree_is_how_the_cost_scales(cost, p, q, t):
    scaled, plain = (cost.value(np.array([s * p]), np.array([s * q]))[0] for s in (t, 1.0))
    assert scaled == pytest.approx(t**cost.facts.degree * plain, rel=1e-9, abs=1e-12)


PROPER = [c for c in COSTS if not isinstance(c, TUGS_OF_WAR + IN_SUM_ONLY)]


@pytest.mark.parametrize("cost", PROPER, ids=repr)
@given(p=probabilities, q=probabilities)
def test_a_proper_divergence_is_least_where_map_and_data_agree(cost, p, q):
    at = cost.value(np.array([p]), np.array([q]))[0]
    least = cost.value(np.array([p]), np.array([p]))[0]
    assert at >= least - 1e-12
    assert least == pytest.approx(0.0, abs=1e-12)


@given(p=probabilities, q=probabilities)
def test_jensen_shannon_goes_from_kl_to_its_reverse(p, q):
    p, q = np.array([p]), np.array([q])
    ends = {0.0: costs.GeneralizedKL(), 1.0: costs.GeneralizedReverseKL()}
    for kappa, end in ends.items():
        at = costs.JensenShannon(kappa)
        np.testing.assert_allclose(at.value(p, q), end.value(p, q), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(at.derivative(p, q), end.derivative(p, q), rtol=1e-12, atol=1e-13)
        close = costs.JensenShannon(abs(kappa - 1e-9))
        np.testing.assert_allclose(close.derivative(p, q), end.derivative(p, q), rtol=1e-3, atol=1e-6)


@given(p=probabilities, q=probabilities)
def test_nerv_goes_from_precision_to_recall(p, q):
    p, q = np.array([p]), np.array([q])
    for lam, end in ((0.0, costs.ReverseKL()), (1.0, costs.KL())):
        np.testing.assert_array_equal(costs.NeRV(lam).value(p, q), end.value(p, q))
        np.testing.assert_array_equal(costs.NeRV(lam).derivative(p, q), end.derivative(p, q))


@pytest.mark.parametrize(
    ("a", "b", "known"),
    [
        (1.0, 1.0, costs.Square()),
        (1.0, 0.0, costs.GeneralizedKL()),
        (0.0, 1.0, costs.GeneralizedReverseKL()),
    ],
)
@given(p=probabilities, q=probabilities)
def test_alpha_beta_holds_the_others(a, b, known, p, q):
    p, q = np.array([p]), np.array([q])
    np.testing.assert_allclose(costs.AlphaBeta(a, b).value(p, q), known.value(p, q), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        costs.AlphaBeta(a, b).derivative(p, q), known.derivative(p, q), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize(("a", "b"), [(1.0, 0.0), (0.0, 1.0), (0.7, -0.7), (0.0, 0.0)])
@given(p=st.floats(0.01, 0.9), q=st.floats(0.01, 0.9))
def test_alpha_beta_is_continuous_at_its_singular_cases(a, b, p, q):
    p, q = np.array([p]), np.array([q])
    at, near = costs.AlphaBeta(a, b), costs.AlphaBeta(a + 1e-6, b + 1e-6)
    np.testing.assert_allclose(near.value(p, q), at.value(p, q), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(near.derivative(p, q), at.derivative(p, q), rtol=1e-3, atol=1e-5)


@given(r=st.floats(0.1, 10), d=st.floats(0.1, 10))
def test_sstress_is_the_stress_of_squares(r, d):
    r, d = np.array([r]), np.array([d])
    np.testing.assert_allclose(costs.SStress().value(r, d), costs.Stress().value(r**2, d**2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: costs.NeRV(1.5),
        lambda: costs.JensenShannon(-0.1),
        lambda: costs.ReverseKL(0.0),
        lambda: costs.AlphaBeta(np.nan, 1.0),
        lambda: costs.LargeVis(-1.0),
        lambda: costs.ElasticEmbedding(0.0),
    ],
)
def test_parameters_out_of_range_are_refused_with_the_range(make):
    with pytest.raises(ValueError, match=r"must be|between"):
        make()


def test_costs_are_plain_data():
    assert costs.NeRV(0.3) == costs.NeRV(0.3) != costs.NeRV(0.4)
    assert costs.NeRV(0.3) != costs.GeneralizedNeRV(0.3)
    assert len({costs.KL(), costs.KL(), costs.Square()}) == 2
    assert repr(costs.JensenShannon(0.3)) == "JensenShannon(kappa=0.3)"


def test_short_names_give_each_cost():
    assert {type(costs.named(c.name)) for c in costs.all_costs()} == set(costs.all_costs())
    assert costs.named("nerv", lam=0.2) == costs.NeRV(0.2)
    with pytest.raises(ValueError, match="the costs are"):
        costs.named("no such cost")
    with pytest.raises(ValueError, match="its parameters are lam"):
        costs.named("nerv", kappa=0.2)
