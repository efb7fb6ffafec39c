"""The derived closed forms are the gradient: of every method, and of every composition that is defined."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import nearfield as nf
from nearfield.derivation.closed import closed
from nearfield.derivation.limits import limit
from nearfield.derivation.links import D, F, P, Q, S, W, Z, letter, links, total
from nearfield.derivation.numbers import evaluate, number
from nearfield.engine.exact.chain import exact
from support.compositions import COSTS, defined, target_for

pytestmark = pytest.mark.slow

N = 12
BETA, ALPHA, LAM, KAPPA, A, GAMMA, EPSILON = map(letter, "βαλκaγε")
KL_QP, KL_QZ, R, T = total("KL(Q‖P)"), total("KL(Q‖Z)"), total("R"), letter("T")


def ready(method):
    """The method with scales and parameters of points that are numbers."""
    if method.climbs:
        method = method._with(scales=(0.5, 2.0, 7.0))
    return method if method.kernel is None else method._with(kernel=method.kernel.expanded(N))


def gap(method, random, form=None):
    """How far the closed form is from the engine, in coordinates and learned parameters."""
    method = ready(method)
    Y, target = random.normal(size=(N, 2)), target_for(method, N, random)
    expected = exact(method, target, n_jobs=1).evaluate(Y)
    gradient, learned = evaluate(form or closed(links(method)), Y, target)
    gaps = [np.max(np.abs(gradient - expected.gradient)) / np.linalg.norm(expected.gradient)]
    for name, value in expected.parameters.items():
        gaps.append(np.max(np.abs(learned[name] - value)) / np.linalg.norm(value))
    return max(gaps)


@pytest.mark.parametrize("name", nf.methods())
def test_the_closed_form_of_every_method_is_its_gradient(name, random):
    assert gap(nf.method(name), random) < 1e-10


@pytest.mark.parametrize("cost", sorted({type(cost).__name__ for cost in COSTS}))
def test_the_closed_form_of_every_composition_is_its_gradient(cost, random):
    methods = [method for method in defined() if type(method.cost).__name__ == cost]
    assert methods
    assert [str(method) for method in methods if not gap(method, random) < 1e-10] == []


# The stiffness as the literature has it; where P is symmetric the gradient is 4 Σ k (y_i - y_j).
REFERENCE = {
    "asne": BETA * (P - Q),
    "ssne": BETA * (P - Q),
    "tsne": (P - Q) * W,
    "tasne": (P - Q) * W,
    "hssne": BETA * (P - Q) * W**ALPHA,
    "dhssne": BETA * (P - Q) * W**ALPHA,
    "wtsne": (P - Q) / (1 + F),
    "wssne": BETA * (P - Q),
    "nerv": BETA * (LAM * (P - Q) + (1 - LAM) * Q * (sp.log(P / Q) + KL_QP)),
    "snerv": BETA * (LAM * (P - Q) + (1 - LAM) * Q * (sp.log(P / Q) + KL_QP)),
    "tnerv": W * (LAM * (P - Q) + (1 - LAM) * Q * (sp.log(P / Q) + KL_QP)),
    "jse": BETA * Q / KAPPA * (sp.log(Z / Q) + KL_QZ),
    "sjse": BETA * Q / KAPPA * (sp.log(Z / Q) + KL_QZ),
    "tjse": W * Q / KAPPA * (sp.log(Z / Q) + KL_QZ),
    "rasne": BETA * Q * (sp.log(P / Q) + KL_QP),
    "rtsne": W * Q * (sp.log(P / Q) + KL_QP),
    "gkl": BETA * (P - Q),
    "ee": BETA * (P - LAM * Q),
    "ujse": BETA * Q / KAPPA * sp.log(Z / Q),
    "largevis": W * (P - GAMMA * Q / (1 - (1 - EPSILON) * Q)),
    "umap": A * W * (P - (1 - P) * Q / (1 - (1 - EPSILON) * Q)),
    "chsne": W * (P**2 / Q - Q * R),
    "hlsne": W * (sp.sqrt(P * Q) - Q * R),
    "mds": -(P - D) / D,
    "sstress": -2 * (P**2 - D**2),
    "sammon": -(P - D) / (T * P * D),
}


@pytest.mark.parametrize("name", REFERENCE)
def test_the_closed_form_is_the_one_of_the_literature(name):
    found = closed(links(nf.method(name))).stiffness
    assert sp.simplify(sp.expand_log(found - REFERENCE[name], force=True)) == 0


@pytest.mark.parametrize(
    ("name", "gradient"),
    [
        ("asne", "2 β Σ_j (p_ij − q_ij + p_ji − q_ji)(y_i − y_j)"),
        ("ssne", "4 β Σ_j (p_ij − q_ij)(y_i − y_j)"),
        ("tsne", "4 Σ_j (p_ij − q_ij) w_ij (y_i − y_j)"),
        ("tasne", "2 Σ_j (p_ij − q_ij + p_ji − q_ji) w_ij (y_i − y_j)"),
        ("hssne", "4 β Σ_j (p_ij − q_ij) w_ij^α (y_i − y_j)"),
        ("jse", "2 Σ_j (k_ij + k_ji)(y_i − y_j)"),
        ("gkl", "4 β Σ_j (v_ij − w_ij)(y_i − y_j)"),
        ("mds", "4 Σ_j ((d_ij − r_ij)/d_ij) (y_i − y_j)"),
        ("sstress", "8 Σ_j (d_ij² − r_ij²)(y_i − y_j)"),
        ("sammon", "(4/T) Σ_j ((d_ij − r_ij)/(r_ij d_ij)) (y_i − y_j)"),
    ],
)
def test_the_gradient_is_written_as_people_know_it(name, gradient):
    assert nf.derive(name).gradient == f"∂C/∂y_i = {gradient}"


@pytest.mark.parametrize("name", ["ssne", "tsne", "nerv", "tjse", "sqsne"])
def test_the_misprinted_bracket_fails(name, random):
    # Printed as -(1/S) [Σ G q + G], it should be (1/S) [G - Σ G q].
    form = closed(links(nf.method(name)))
    misprint = -Q * (form.bracket.mean + form.G) * form.rate
    assert gap(nf.method(name), random, replace(form, stiffness=misprint)) > 0.1


@pytest.mark.parametrize("name", nf.methods())
def test_finite_differences_agree(name):
    assert nf.derive(name).error < 1e-8


def kernel_and_normalization(cost):
    return (nf.kernels.Student(), "pair" if "probabilities" in cost.facts.domains else "none")


LIMITED = [cost for cost in COSTS if "distances" not in cost.facts.domains and cost.facts.limit is not None]


@pytest.mark.parametrize("cost", LIMITED, ids=str)
def test_the_limit_is_the_one_that_the_cost_declares(cost):
    found = limit(links(nf.Method(cost, *kernel_and_normalization(cost))))
    w, total_w = np.linspace(0.05, 0.9, 7), 3.0 if "probabilities" in cost.facts.domains else 1.0
    declared = sum((t.coefficient(total_w) * t.slope(w) for t in cost.facts.limit), np.zeros(7))
    form = links(nf.Method(cost, *kernel_and_normalization(cost)))
    values = form.values | {W: w, S: total_w, Q: w / total_w, letter("δ"): getattr(cost, "floor", 0)}
    np.testing.assert_allclose(number(found.value, values) * np.ones(7), declared, rtol=1e-9, atol=1e-12)
    separated = sum((number(c * g, values) for c, g in found.terms), np.zeros(7))
    np.testing.assert_allclose(separated, declared, rtol=1e-9, atol=1e-12)
    assert found.floored <= cost.facts.infinite_at_zero  # the cost itself may be infinite, and its slope not
    assert bool(found.fields) == (not all(t.constant for t in cost.facts.limit))


def test_a_limit_that_does_not_separate_is_seen():
    cost = nf.costs.Expression("-p*log(q) - log(1 + q)")
    assert limit(links(nf.Method(cost, nf.kernels.Student(), "pair"))).terms is None


@pytest.mark.parametrize(
    ("name", "fast", "why"),
    [
        ("tsne", True, "one potential,"),
        ("asne", True, "two potentials,"),
        ("jse", True, "two potentials,"),
        ("sqsne", True, "two potentials,"),
        ("nerv", True, "but for the floor"),
        ("msjse", True, "two potentials for each scale"),
        ("msnerv", False, "does not separate into scales"),
        ("itsne", False, "not symmetric"),
        ("sstress", False, "moments"),
        ("mds", False, "a random part"),
        ("nmmds", False, "All pairs are computed"),
    ],
)
def test_the_engine_follows_from_the_limit(name, fast, why):
    found = nf.derive(name)
    assert found.fast == fast
    assert why in found.reason
    assert why in " ".join(str(found).split())


class Cubic(nf.costs.Cost):
    domains = frozenset({"probabilities"})

    def value(self, p, q):
        return np.abs(p - q) ** 3 / 3

    def derivative(self, p, q):
        return (q - p) * np.abs(q - p)


class WrittenCubic(Cubic):
    expression = "abs(p - q)**3/3"


class Quartic(nf.kernels.Kernel):
    def value(self, f):
        return 1 / (1 + f) ** 2

    def derivative(self, f):
        return -2 / (1 + f) ** 3


def test_a_part_of_which_only_numbers_are_known_is_refused_with_the_fix():
    with pytest.raises(ValueError, match=r"set `expression`.*nearfield\.costs\.Expression"):
        nf.derive(nf.Method(Cubic(), nf.kernels.Student()))
    with pytest.raises(ValueError, match=r"set `expression`.*nearfield\.kernels\.Expression"):
        nf.derive(nf.Method(nf.costs.KL(), Quartic()))


OWN = [
    "(p - q)**2/(p + q)",
    "p*log(2*p/(p + q)) + q*log(2*q/(p + q))",
    "abs(p - q)",
    "max(p, q) - min(p, q)",
    "log1p(q)*p + q",
    "(p - q)**2*log(p/q)",
    "p*log(p/q)**2",
    "p**2/q + q**2/p",
    "expm1(p)*q**2",
]


@pytest.mark.parametrize("cost", OWN)
def test_costs_of_ones_own_are_derived(cost, random):
    for kernel in ("1/(1 + f)", "exp(1 - sqrt(1 + f))", "1/log(e + f)"):
        for normalization in ("pair", "point"):
            method = nf.Method(nf.costs.Expression(cost), nf.kernels.Expression(kernel), normalization)
            assert gap(method, random) < 1e-9, kernel


def test_parameters_may_be_called_as_quantities_are(random):
    # R is a sum here, s a share, and S the sum of the weights.
    kernel = nf.kernels.Expression("(1 + f/s)**(-R)*exp(-S*f)", s=2.0, R=1.5, S=0.1)
    for cost in (WrittenCubic(), nf.costs.Expression("abs(p - q)**to_the/3", to_the=3)):
        for normalization in ("pair", "point"):
            assert gap(nf.Method(cost, kernel, normalization), random) < 1e-10
        found = nf.derive(nf.Method(cost, kernel, "pair"))
        assert found.passed
        assert "s′" in str(found)
        assert "abs(p_ij − q_ij)" in str(found)


def test_a_mixture_is_seen_however_it_is_written():
    written = nf.costs.Expression("p*log(2*p/(p + q)) + q*log(2*q/(p + q))")
    form = closed(links(nf.Method(written, nf.kernels.Student(), "pair")))
    assert sp.expand(form.mixture) == P / 2 + Q / 2
    assert sp.simplify(form.stiffness - W * Q * (sp.log(Z / Q) + KL_QZ)) == 0


def test_kernels_with_parameters_of_points_are_derived(random):
    beta, nu, mass = random.uniform(0.5, 2.0, size=(3, N))
    kernels = [
        (nf.kernels.Gaussian(beta), "point"),
        (nf.kernels.Inhomogeneous(nu), "joint"),
        (nf.kernels.ImportanceWeighted(nf.kernels.Student(), mass=mass), "pair"),
        (nf.kernels.ImportanceWeighted(nf.kernels.Inhomogeneous(nu)), "point"),
    ]
    for kernel, normalization in kernels:
        method = nf.Method(nf.costs.JensenShannon(0.3), kernel, normalization)
        assert gap(method, random) < 1e-10, kernel
        assert nf.derive(method).passed, kernel


def test_a_name_takes_parameters_and_a_method_has_them():
    found = nf.derive("hssne", alpha=0.3)
    assert found.method == nf.method("hssne", alpha=0.3)
    assert found.closed.links.values[ALPHA] == 0.3
    with pytest.raises(TypeError, match="parameters go with a name"):
        nf.derive(nf.method("hssne"), alpha=0.3)


@pytest.mark.parametrize(
    ("name", "parameters", "same"),
    [
        ("hssne", {"alpha": 0.0}, "ssne"),
        ("hssne", {"alpha": 1.0, "beta": 1.0}, "tsne"),
        ("tjse", {"kappa": 0.0}, "tsne"),
        ("tjse", {"kappa": 1.0}, "rtsne"),
        ("tnerv", {"lam": 1.0}, "tsne"),
        ("tnerv", {"lam": 0.0}, "rtsne"),
        ("absne", {"a": 1.0, "b": 0.0}, "tsne"),
    ],
)
def test_limits_of_parameters_have_the_closed_form_of_the_limit(name, parameters, same):
    found, expected = (
        closed(links(each)).stiffness for each in (nf.method(name, **parameters), nf.method(same))
    )
    assert sp.simplify((found - expected).subs(BETA, 1)) == 0


def test_duplicates_do_not_spoil_the_closed_form(random):
    Y, X = random.normal(size=(N, 2)), random.normal(size=(N, 3))
    X[1], Y[3] = X[0], Y[2]
    method = nf.method("sammon")
    target = method.target(X)
    expected = method.value_and_gradient(Y, target)[1]
    np.testing.assert_allclose(nf.derive(method).evaluate(Y, target), expected, rtol=1e-10, atol=1e-14)
