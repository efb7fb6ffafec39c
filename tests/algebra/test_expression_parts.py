"""Expressions as costs and kernels: a built-in one written as text is the built-in one, on every engine."""

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearfield as nf
from nearfield import costs, kernels
from nearfield.engine.exact.chain import Exact, exact
from nearfield.engine.exact.closed import has_closed_form
from nearfield.engine.mesh.one_scale import Mesh
from nearfield.engine.mesh.scales import mesh
from nearfield.engine.plan import plan
from nearfield.engine.task import Task
from support.compositions import COSTS, KERNELS, target_for
from support.targets import sparse_target

pytestmark = pytest.mark.slow

RADIAL = [k for k in KERNELS if k is not None and not k.learned and k.profile is k]
UNBOUND = [cost for cost in COSTS if not cost.facts.bound]  # to a target, of which a text knows nothing
NORMALIZATIONS = {"probabilities": "pair", "weights": "none", "distances": "none"}


def written(part):
    """A built-in part as text."""
    tree = part.expressed()
    parameters = {name: getattr(part, name) for name in tree.names() - {"p", "q", "f"}}
    if isinstance(part, kernels.Kernel):
        return kernels.Expression(str(tree), **parameters)
    return costs.Expression(str(tree), domain=domain(part), **parameters)


def domain(cost):
    return min(cost.facts.domains)


def both(cost, kernel=None, normalization=None):
    """A method of built-in parts, and of the same as text."""
    kernel = None if domain(cost) == "distances" else kernel or kernels.Student()
    normalization = normalization or NORMALIZATIONS[domain(cost)]
    return (
        nf.Method(cost, kernel, normalization),
        nf.Method(written(cost), None if kernel is None else written(kernel), normalization),
    )


# Facts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", COSTS, ids=repr)
def test_the_facts_of_a_cost_are_found(cost):
    # But for the limits, which are functions, the one domain that a text is written for, and what a target
    # gives to each point, of which a text knows nothing.
    apart = {"limit": None, "domains": frozenset(), "bound": ()}
    mine, theirs = (replace(each.facts, **apart) for each in (written(cost), cost))
    assert mine == theirs


@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_the_facts_of_a_kernel_are_found(kernel):
    text = written(kernel)
    assert text.facts == kernel.facts
    assert text.width == pytest.approx(kernel.width, rel=1e-9)


@settings(max_examples=25)
@given(kappa=st.floats(0.01, 0.99))
def test_the_mixture_is_found_whatever_its_kappa(kappa):
    text = costs.Expression(costs.JensenShannon.expression, kappa=kappa)
    assert text.facts.mixture == pytest.approx(kappa, abs=1e-9)


@settings(max_examples=25)
@given(alpha=st.floats(0.05, 5.0), beta=st.floats(0.01, 100.0))
def test_the_tail_is_found_whatever_its_alpha_and_beta(alpha, beta):
    text = kernels.Expression("(1 + alpha*beta*f)**(-1/alpha)", alpha=alpha, beta=beta)
    assert text.facts.tail == pytest.approx((alpha, beta), rel=1e-8)


@pytest.mark.parametrize(
    ("text", "fact", "value"),
    [
        ("p*(log(p) - log(q))", "cross_entropy", True),
        ("2*p*log(p/q)", "cross_entropy", False),
        ("-p*log(q)", "cross_entropy", False),  # the same gradient, but another value
        ("p*log(2*p/(p + q))*2 + q*log(2*q/(p + q))*2", "mixture", 0.5),
        ("p*log(2*p/(p + q)) + q*log(2*q/(p + q))", "mixture", None),
        ("d**2 - 2*r*d + r**2", "least_squares", 0.0),
        ("(r - d)**2/r**2", "least_squares", -2.0),
        ("(r - d)*(r - d)/2", "least_squares", None),
        ("(r**1.5 - d**1.5)**2", "power_difference", 1.5),
        ("(r*r - d*d)**2", "power_difference", 2.0),
        ("-v*log(w) - log(1 - w)", "within_one", True),
        ("(r - d)**4", "degree", 4.0),
        ("-v*log(w) + w", "degree", 1.0),
        ("v*log(v/w) - v + w", "domains", {"weights"}),
        ("r*d", "domains", {"distances"}),
    ],
)
def test_facts_do_not_depend_on_how_it_is_written(text, fact, value):
    assert getattr(costs.Expression(text).facts, fact) == value


@pytest.mark.parametrize(
    "text", ["1/(1 + f)", "(1 + f)**-1", "1/(f + 1)**1.0", "2/(2 + 2*f)", "exp(-log1p(f))"]
)
def test_every_way_to_write_cauchys_kernel_is_it(text):
    assert kernels.Expression(text).facts.tail == (1.0, 1.0)


@pytest.mark.parametrize("text", ["exp(-f)*(1 + exp(-f))/2", "(exp(-f) + exp(-3*f))/2", "1/(exp(f) + 1)"])
def test_a_kernel_that_underflows_is_taken_in_logarithms(text):
    kernel = kernels.Expression(text)
    assert kernel.facts.underflows
    f = np.array([0.0, 1.0, 5e3, 1e5])
    np.testing.assert_allclose(kernel.log(f)[2:], -f[2:] - (0 if "/(" in text else np.log(2)))
    np.testing.assert_allclose(kernel.log_derivative(f)[2:], -1.0)


# Limits -----------------------------------------------------------------------------------------------------

LIMITS = [
    cost for cost in COSTS if cost.facts.limit is not None and not any(t.grows for t in cost.facts.limit)
]


@pytest.mark.parametrize("cost", LIMITS, ids=repr)
@given(w=st.floats(1e-6, 0.9), S=st.floats(0.1, 1e3))
def test_the_limit_is_that_of_the_built_in_cost(cost, w, S):
    S = 1.0 if domain(cost) == "weights" else S
    mine, theirs = (
        sum(float(t.coefficient(S) * t.slope(w)) for t in terms)
        for terms in (written(cost).facts.limit, cost.facts.limit)
    )
    assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-12)
    assert all(t.constant for t in cost.facts.limit) == all(t.constant for t in written(cost).facts.limit)


@pytest.mark.parametrize(
    ("text", "obstacle"),
    [
        ("abs(p - q)**3", None),  # a power of q
        ("(p - q)**2*(1 + q)", None),
        ("p*log(p/q) + q*log(1 + q)", "does not declare its limit"),  # log(1 + w/S) does not separate
        ("p*log(p/q) + 1", "does not declare its limit"),  # of all pairs
        ("log(p/q)**2", "grows with the distance"),
        ("q/p", "does not declare its limit"),  # a power of the floor
    ],
)
def test_what_separates_goes_to_the_mesh_and_the_rest_is_refused_with_a_reason(text, obstacle):
    method = nf.Method(costs.Expression(text), kernels.Student(), "pair")
    found = Mesh.obstacle(Task(method))
    assert found is None if obstacle is None else obstacle in found
    assert plan(method, 5000, 2).engine == ("mesh" if obstacle is None else "exact")


# Engines ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("cost", UNBOUND, ids=repr)
def test_on_the_exact_engine_it_is_the_built_in_cost(cost, dimensions, random):
    method, text = both(cost)
    target = target_for(method, 25, random)
    Y = random.normal(size=(25, dimensions))
    a, b = (Exact(each, target).evaluate(Y) for each in (method, text))
    scale = method.cost.factor(target.sum())  # a constant of Sammon's, which a text has not
    np.testing.assert_allclose(
        scale * b.gradient, a.gradient, rtol=1e-7, atol=1e-9 * np.abs(a.gradient).max()
    )
    assert scale * b.cost == pytest.approx(a.cost, rel=1e-9)
    assert has_closed_form(text) == has_closed_form(method)
    closed = exact(text, target).evaluate(Y)
    np.testing.assert_allclose(closed.gradient, b.gradient, rtol=1e-7, atol=1e-9 * np.abs(b.gradient).max())


@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
@pytest.mark.parametrize("normalization", ["pair", "point"])
def test_on_the_exact_engine_it_is_the_built_in_kernel(kernel, normalization, random):
    method, text = both(costs.JensenShannon(0.4), kernel, normalization)
    target, Y = target_for(method, 25, random), 30 * random.normal(size=(25, 2))
    a, b = (Exact(each, target).evaluate(Y, exaggeration=3.0) for each in (method, text))
    np.testing.assert_allclose(b.gradient, a.gradient, rtol=1e-9, atol=1e-12 * np.abs(a.gradient).max())
    assert b.value == pytest.approx(a.value, rel=1e-12)


N = 160
SOME = [kernels.Student(), kernels.Gaussian(0.7), kernels.UMAP(1.2, 0.9)]
ON_MESH = [
    both(cost, kernel, normalization)
    for cost in UNBOUND
    if domain(cost) != "distances"
    for kernel in SOME
    for normalization in (("none",) if domain(cost) == "weights" else ("pair", "point"))
]
ON_MESH = [pair for pair in ON_MESH if Mesh.obstacle(Task(pair[0])) is None]


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(3)
    return np.vstack([random.normal(size=(N // 4, 6)) + 4 * random.normal(size=6) for _ in range(4)])


@pytest.mark.parametrize(("method", "text"), ON_MESH, ids=lambda each: str(each).replace(" ", ""))
def test_on_the_mesh_it_is_the_built_in_one(method, text, data):
    assert Mesh.obstacle(Task(text)) is None
    target = sparse_target(method, data, perplexity=8)
    Y = data - data.mean(axis=0)
    a, b = (mesh(each, target) for each in (method, text))
    assert (a.fused, a.mixed) == (b.fused, b.mixed)
    for dimensions in (1, 2, 3) if isinstance(method.kernel, kernels.Student) else (2,):
        at = [engine.evaluate(Y[:, :dimensions], exaggeration=2.0) for engine in (a, b)]
        norm = np.linalg.norm(at[0].gradient)
        assert np.linalg.norm(at[1].gradient - at[0].gradient) < 1e-4 * norm
        assert at[1].value == pytest.approx(at[0].value, rel=1e-4)


def test_far_and_coincident_points_give_no_nan(data):
    for method, text in ON_MESH[::5]:
        target, Y = sparse_target(method, data, perplexity=8), data[:, :2].copy()
        Y[0], Y[1] = 400.0, Y[2]
        at = mesh(text, target).evaluate(Y)
        assert np.all(np.isfinite(at.gradient))
        assert np.isfinite(at.value)


OWN = [
    ("p*log(p/q)", "1/(1 + f)**2", "pair"),
    ("abs(p - q)**3", "1/(1 + f)", "pair"),
    ("(sqrt(p) - sqrt(q))**2 + lam*p*log(p/q)", "exp(-f)", "point"),
    ("q*log(q/p)*0.5 + (p - q)**2/(2*q)", "(1 + f)**(-1.5)", "point"),
    ("v*log(v/w) - v + w + 0.1*w**3", "1/(1 + f + f**2)", "none"),
    ("-v*log(w) - 0.1*log(1.1 - w)", "exp(-sqrt(1 + f) + 1)", "none"),
    ("max(p/q, 2)*q", "1/(1 + f)", "pair"),
    ("(r - d)**2/(1 + r)", None, "none"),
    ("abs(r - d)**3", None, "none"),
    ("log((1 + r)/(1 + d))**2", None, "none"),
]


def own(cost, kernel, normalization):
    parameters = {"lam": 0.3} if "lam" in cost else {}
    return nf.Method(
        costs.Expression(cost, **parameters), kernel and kernels.Expression(kernel), normalization
    )


@pytest.mark.parametrize(("cost", "kernel", "normalization"), OWN)
def test_one_that_nobody_named_is_checked_and_makes_a_map(cost, kernel, normalization, random):
    method = own(cost, kernel, normalization)
    if "max" not in cost:  # which has a corner, where differences say nothing
        assert nf.check(method).passed
    X = random.normal(size=(60, 4))
    run = nf.Run(X, method, random_state=0, **({} if kernel is None else {"perplexity": 8}))
    run.step(60)
    assert np.all(np.isfinite(run.Y))
    assert run.history["cost"][-1] < run.history["cost"][0]


@pytest.mark.parametrize(
    ("cost", "kernel", "normalization"), [each for each in OWN if Mesh.obstacle(Task(own(*each))) is None]
)
def test_one_that_nobody_named_is_on_the_mesh_what_it_is_exactly(cost, kernel, normalization, data):
    method = own(cost, kernel, normalization)
    target, Y = sparse_target(method, data, perplexity=8), data[:, :2] - data[:, :2].mean(axis=0)
    a = Exact(method, target.astype(np.float64)).evaluate(Y)
    b = mesh(method, target, accuracy=1e-3).evaluate(Y)
    assert np.linalg.norm(b.gradient - a.gradient) < 0.01 * np.linalg.norm(a.gradient)
    assert b.cost == pytest.approx(a.cost, rel=5e-3)


def test_most_of_those_go_to_the_mesh():
    assert sum(Mesh.obstacle(Task(own(*each))) is None for each in OWN) >= 6


# Functions --------------------------------------------------------------------------------------------------


def chi_square(p, q):
    return (p - q) ** 2 / q


def chi_square_slope(p, q):
    return 1 - (p / q) ** 2


def tempered(f, power=1.0):
    return (1 + f) ** -power


def tempered_slope(f, power=1.0):
    return -power * (1 + f) ** (-power - 1)


def test_functions_with_derivatives_are_costs_and_kernels_too(data, random):
    cost = costs.Expression(chi_square, derivative=chi_square_slope)
    kernel = kernels.Expression(tempered, derivative=tempered_slope, power=1.0)
    method, known = nf.Method(cost, kernel, "pair"), nf.method("chsne")
    assert kernel.facts.tail == (1.0, 1.0)
    assert Mesh.obstacle(Task(method)) is None
    assert nf.check(method).passed
    target, Y = sparse_target(known, data, perplexity=8), data[:, :2]
    a, b = (mesh(each, target).evaluate(Y) for each in (known, method))
    np.testing.assert_allclose(b.gradient, a.gradient, rtol=1e-4, atol=1e-6 * np.abs(a.gradient).max())
    assert "chi_square" in repr(cost)
    assert pickle.loads(pickle.dumps(method)) == method


def test_functions_that_another_process_would_not_find_are_refused():
    def local(p, q):
        return (p - q) ** 2

    for function in (local, lambda p, q: p * q, chi_square.__call__):
        with pytest.raises(ValueError, match="at the top level of a module"):
            costs.Expression(function, derivative=function)
    with pytest.raises(ValueError, match="a real number for each pair"):
        costs.Expression(print, derivative=print)
    with pytest.raises(ValueError, match="a real number for each distance"):
        kernels.Expression(id, derivative=id)
    with pytest.raises(ValueError, match="needs its derivative"):
        costs.Expression(chi_square)
    with pytest.raises(ValueError, match="leave derivative out"):
        costs.Expression("p*q", derivative=chi_square_slope)
    with pytest.raises(TypeError, match="a text or a function"):
        costs.Expression(3)


# Plain data -------------------------------------------------------------------------------------------------


def test_they_are_plain_data():
    a = costs.Expression("lam*p*log(p/q)", lam=0.3)
    assert a == costs.Expression("lam*p*log(p/q)", lam=0.3) != costs.Expression("lam*p*log(p/q)", lam=0.4)
    assert a != costs.Expression("lam*p*log(p/q)", lam=0.3, domain="weights")
    assert costs.Expression("p*q") != kernels.Expression("exp(-f)")
    assert len({a, costs.Expression("lam*p*log(p/q)", lam=0.3)}) == 1
    assert repr(a) == "Expression('lam*p*log(p/q)', lam=0.3)"
    assert repr(costs.Expression("p*q", domain="weights", floor=1e-9)) == (
        "Expression('p*q', domain='weights', floor=1e-09)"
    )
    assert eval(repr(a), {"Expression": costs.Expression}) == a
    assert a.lam == 0.3
    with pytest.raises(AttributeError, match="stays as it is"):
        a.lam = 0.5
    with pytest.raises(AttributeError, match="no attribute 'kappa'"):
        _ = a.kappa
    method = nf.Method(costs.KL(), kernels.Expression("exp(-b*f)", b=1.0))
    assert method.with_parameters(b=2.0).kernel == kernels.Expression("exp(-b*f)", b=2.0)


def test_another_process_unpickles_and_uses_it(tmp_path):
    method = own(*OWN[3])
    (tmp_path / "method").write_bytes(pickle.dumps(method))
    code = (
        "import pickle, pathlib, sys\n"
        "method = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())\n"
        "import nearfield as nf; assert 'sympy' not in sys.modules\n"
        "print(method, nf.check(method).passed)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "method")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"{method} True"


def test_a_run_is_saved_and_reopened(tmp_path, random):
    X = random.normal(size=(60, 4))
    method = own(*OWN[0])
    run = nf.Run(X, method, random_state=0)
    run.step(30)
    run.map().save(tmp_path / "map.nfmap")
    saved = nf.Map.load(tmp_path / "map.nfmap")
    assert "p*log(p/q)" in saved.parameters["method"]
    again = nf.Run.load(tmp_path / "map.nfmap", X)
    assert again.method == method
    np.testing.assert_array_equal(again.Y, run.Y)
    for each in (run, again):
        each.step(10)
    np.testing.assert_array_equal(again.Y, run.Y)


# What is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("p", "does not depend on q"),
        ("p + q - q", "does not depend on q"),
        ("1", "does not depend on q"),
        ("log(q - p)", "not finite"),
        ("1/(p - q + 0*p)*log(-q)", "not finite"),
        ("sqrt(q - 0.5)", "not finite"),
        ("exp(exp(exp(exp(q + 3))))", "not finite"),
        ("p*w", "letters p, w"),
        ("v*log(v/d)", "letters d, v"),
        ("lam*p*q", "there is no name 'lam'"),
    ],
)
def test_what_is_no_cost_is_refused_in_one_line(text, why):
    with pytest.raises(ValueError, match=rf"^cannot [^\n]*{why}[^\n]*$"):
        costs.Expression(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1 + f", "grows at f"),
        ("f*exp(-f)", "grows at f"),
        ("-exp(-f)", "is not at f"),
        ("1 - f", "is not at f"),
        ("max(1 - f, 0)", "vanishes at f"),
        ("1/f", "not finite at f = 0"),
        ("2", "flat"),
        ("f - f + 1", "flat"),
        ("log(f)", "not finite"),
        ("(f - 5)**0.5", "not finite"),
        ("p", "no name 'p'"),
    ],
)
def test_what_is_no_kernel_is_refused_in_one_line(text, why):
    with pytest.raises(ValueError, match=rf"^cannot [^\n]*{why}[^\n]*$"):
        kernels.Expression(text)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: costs.Expression("p*q", lam=1.0), "no parameter 'lam'"),
        (lambda: costs.Expression("lam*q", lam=np.nan), "must be a number"),
        (lambda: costs.Expression("lam*q", lam="os.system"), "must be a number"),
        (lambda: costs.Expression("lam*q", lam=True), "must be a number"),
        (lambda: costs.Expression("q**n", n=1e5), "a power beyond"),
        (lambda: costs.Expression("p*q/n", n=0.0), "divides by zero"),
        (lambda: costs.Expression("p*q", w=1.0), "give the parameter another name"),
        (lambda: costs.Expression("p*q", domain="elsewhere"), "domain must be one of"),
        (lambda: costs.Expression("v*w", domain="distances"), "letters v, w"),
        (lambda: costs.Expression("p*q", floor=0.0), "floor must be a positive number"),
        (lambda: kernels.Expression("exp(-f)", f=1.0), "give the parameter another name"),
        (lambda: nf.Method(costs.Expression("v*w"), kernels.Student(), "pair"), "a cost of weights"),
    ],
)
def test_wrong_parameters_are_refused_with_the_fix(make, why):
    with pytest.raises(ValueError, match=rf"^[^\n]*{why}[^\n]*$"):
        make()


# The catalogue ----------------------------------------------------------------------------------------------


@pytest.fixture
def quartic():
    def compose(lam=0.5):
        cost = costs.Expression("p*log(p/q) + lam*q**2", lam=lam)
        return nf.Method(cost, kernels.Expression("1/(1 + f)**2"), "pair")

    nf.register("quartic", compose, "a sentence about it")
    yield compose
    nf.unregister("quartic")


def test_a_registered_name_is_a_name_like_any_other(quartic, random, tmp_path):
    assert nf.methods()[-1] == "quartic"
    assert nf.method("quartic", lam=0.2) == quartic(0.2)
    assert nf.check("quartic").passed
    X = random.normal(size=(60, 4))
    embedder = nf.Embedder("quartic", random_state=0).fit(X)
    assert embedder.embedding_.shape == (60, 2)
    run = nf.Run(X, "quartic", random_state=0)
    run.step(5)
    run.map().save(tmp_path / "map.nfmap")
    np.testing.assert_array_equal(nf.Run.load(tmp_path / "map.nfmap", X).Y, run.Y)
    with pytest.raises(ValueError, match="did you mean 'quartic'"):
        nf.method("quartik")
    with pytest.raises(ValueError, match="its parameters are lam"):
        nf.method("quartic", kappa=1.0)


def test_names_that_are_taken_or_odd_are_refused(quartic):
    for name in ("tsne", "quartic", "pca"):
        with pytest.raises(ValueError, match="is taken"):
            nf.register(name, quartic)
    for name in ("", "A b", "x/y", "Caps", "-x", 3):
        with pytest.raises(ValueError, match="lower-case letters"):
            nf.register(name, quartic)
    with pytest.raises(TypeError, match="what makes one"):
        nf.register("other", "tsne")
    with pytest.raises(TypeError, match=r"must return a nearfield\.Method"):
        nf.register("other", lambda: "tsne")
    with pytest.raises(ValueError, match="needs a default"):
        nf.register("other", lambda lam: quartic(lam))
    with pytest.raises(ValueError, match="no method was registered"):
        nf.unregister("tsne")
    assert "other" not in nf.methods()


def test_a_map_outlives_the_name_of_its_method(random, tmp_path):
    X = random.normal(size=(60, 4))
    nf.register("passing", own(*OWN[2]))
    run = nf.Run(X, "passing", random_state=0)
    run.step(5)
    run.map().save(tmp_path / "map.nfmap")
    nf.unregister("passing")
    np.testing.assert_array_equal(nf.Run.load(tmp_path / "map.nfmap", X).Y, run.Y)


def test_a_method_itself_can_be_registered():
    method = own(*OWN[0])
    nf.register("mine", method)
    assert nf.method("mine") == method
    nf.unregister("mine")
