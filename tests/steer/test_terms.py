"""Value and gradient of every term agree with each other and with the formulas, overlaps included."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.steer.base import Measure
from nearfield.steer.pulls import pull

PENALTIES = {
    "Student, scale-free": nf.penalties.Student(strength=0.7, width=0.4),
    "Student, σ²": nf.penalties.Student(sigma2=3.0),
    "Gaussian, scale-free": nf.penalties.Gaussian(strength=0.7, width=0.4),
    "Gaussian, σ²": nf.penalties.Gaussian(sigma2=3.0),
    "L2, scale-free": nf.penalties.L2(strength=0.7, width=0.4),
    "L2, λ": nf.penalties.L2(lam=0.5),
}
MEASURE = Measure(0.2, 1.7)
# Two pins, whose neighbourhoods overlap in 4 and 5, and are of different sizes.
PINS, FOLLOWERS = np.array([0, 1]), [np.array([2, 3, 4, 5]), np.array([4, 5, 6])]


def pulled(penalty, dimensions=2, weights=None):
    places = np.random.default_rng(1).normal(size=(2, dimensions))
    weights = [np.ones(len(each)) for each in FOLLOWERS] if weights is None else weights
    return pull(penalty, PINS, FOLLOWERS, places, weights, MEASURE), places


def gradient_of(term, Y):
    """The gradient at all points, from what the term gives for those that it touches."""
    gradient = np.zeros_like(Y)
    _, points, slopes = term.evaluate(Y)
    for i, slope in zip(points, slopes, strict=True):
        gradient[i] += slope
    return gradient


def differences(value, Y, h=1e-6):
    """Central differences."""
    gradient = np.zeros_like(Y)
    for at in np.ndindex(Y.shape):
        up, down = Y.copy(), Y.copy()
        up[at] += h
        down[at] -= h
        gradient[at] = (value(up) - value(down)) / (2 * h)
    return gradient


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("name", PENALTIES)
def test_the_gradient_of_a_penalty_is_that_of_its_value(name, dimensions, random):
    weights = [random.uniform(0.1, 2, len(each)) for each in FOLLOWERS]
    term, _ = pulled(PENALTIES[name], dimensions, weights)
    Y = random.normal(size=(8, dimensions))
    expected = differences(lambda Y: term.evaluate(Y)[0], Y)
    np.testing.assert_allclose(gradient_of(term, Y), expected, rtol=1e-6, atol=1e-8)
    assert not np.any(gradient_of(term, Y)[[0, 1, 7]])  # nobody else is touched


FORMULAS = {
    "Student, σ²": lambda f, m, k: np.log1p(f / 3.0),
    "Gaussian, σ²": lambda f, m, k: f / (2 * 3.0),
    "L2, λ": lambda f, m, k: 0.5 / (m * k) * f,
    "Student, scale-free": lambda f, m, k: 0.7 * 0.2 * 1.7 * np.log1p(f / (0.4 * 1.7) ** 2),
    "Gaussian, scale-free": lambda f, m, k: 0.7 * 0.2 * 1.7 * f / (0.4 * 1.7) ** 2 / 2,
    "L2, scale-free": lambda f, m, k: 0.7 * 0.2 * 1.7 * f / (0.4 * 1.7) ** 2,
}


@pytest.mark.parametrize("name", PENALTIES)
def test_the_value_of_a_penalty_is_the_formula(name, random):
    Y, places = random.normal(size=(8, 2)), random.normal(size=(2, 2))
    followers = [np.array([2, 3, 4]), np.array([4, 5, 6])]
    term = pull(PENALTIES[name], PINS, followers, places, [np.ones(3)] * 2, MEASURE)
    expected = sum(
        FORMULAS[name](np.sum((Y[j] - places[i]) ** 2), 2, 3) for i in (0, 1) for j in followers[i]
    )
    assert term.evaluate(Y)[0] == pytest.approx(expected, rel=1e-12)


def test_the_l2_gradient_as_first_printed_is_not_that_of_its_value(random):
    """It is short of 1/m: with two pins it is twice too large."""
    followers, places = [np.array([2, 3, 4]), np.array([4, 5, 6])], random.normal(size=(2, 2))
    term = pull(nf.penalties.L2(lam=0.5), PINS, followers, places, [np.ones(3)] * 2, MEASURE)
    Y = random.normal(size=(8, 2))
    printed = np.zeros_like(Y)
    for i in (0, 1):
        for j in followers[i]:
            printed[j] += -2 * 0.5 / 3 * (places[i] - Y[j])
    expected = differences(lambda Y: term.evaluate(Y)[0], Y)
    np.testing.assert_allclose(gradient_of(term, Y), expected, atol=1e-8)
    np.testing.assert_allclose(printed, 2 * expected, atol=1e-8)


TERMS = {
    "must-link": nf.terms.MustLink([(0, 1), (1, 2)]),
    "must-link, slack": nf.terms.MustLink([(0, 1), (1, 2)], distance=0.2),
    "cannot-link": nf.terms.CannotLink([(0, 1), (2, 1)], distance=2.0),
    "box": nf.terms.Box([0, 1, 2], (-0.2, -0.1), (0.1, 0.3)),
    "disc": nf.terms.Disc([0, 1, 2], (0.1, 0.2), 0.3),
}


@pytest.mark.parametrize("name", TERMS)
def test_the_gradient_of_links_and_bounds_is_that_of_their_value(name, random):
    term, Y = TERMS[name].measured(MEASURE), random.normal(size=(5, 2))
    assert term.evaluate(Y)[0] > 0
    expected = differences(lambda Y: term.evaluate(Y)[0], Y)
    np.testing.assert_allclose(gradient_of(term, Y), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", TERMS)
def test_what_says_that_it_floats_does_not_change_when_the_map_is_moved(name, random):
    term, Y = TERMS[name].measured(MEASURE), random.normal(size=(5, 2))
    same = term.evaluate(Y + 3.0)[0] == pytest.approx(term.evaluate(Y)[0])
    assert same == term.floats


def test_what_is_within_bounds_is_left_alone():
    Y = np.array([[0.0, 0.0], [0.5, 0.5]])
    for term in (nf.terms.Box([0, 1], (-1, -1), (1, 1)), nf.terms.Disc([0, 1], (0, 0), 1.0)):
        value, _, slopes = term.evaluate(Y)
        assert value == 0
        assert not slopes.any()


def test_points_in_one_place_that_cannot_be_linked_part():
    value, points, slopes = nf.terms.CannotLink([(0, 1)]).evaluate(np.zeros((2, 2)))
    assert value > 0
    assert points.tolist() == [0, 1]
    assert slopes[0, 0] < 0 < slopes[1, 0]


@pytest.mark.parametrize("name", ["tsne", "tasne", "jse", "sammon", "mds"])
def test_value_and_gradient_of_the_whole_problem_agree(name, random):
    run = nf.Run(random.normal(size=(30, 4)), name, random_state=0, exaggeration=1)
    run.step(100)
    run.pin([0, 1], [[1.0, 2.0], [-1.0, 0.5]], follow=8)
    run.link(must=[(5, 6)], cannot=[(7, 8)])
    run.add(nf.terms.Disc([9, 10], (5, 5), 0.5))
    problem, z = run._descent.problem, run._descent.z
    here = problem(z)
    assert here.value == pytest.approx(here.cost + here.penalty)
    assert here.penalty > 0
    direction = random.normal(size=len(z))
    direction[problem.variables_of(np.array([0, 1]))] = 0.0
    h = 1e-6
    slope = (problem(z + h * direction).value - problem(z - h * direction).value) / (2 * h)
    assert here.gradient @ direction == pytest.approx(slope, rel=1e-5)
    assert not here.gradient[problem.variables_of(np.array([0, 1]))].any()


def test_a_term_of_ones_own_is_added_and_taken_out(random):
    class Spring(nf.terms.Term):
        def evaluate(self, Y):
            gap = Y[[3]] - 5.0
            return 0.02 * float(np.sum(gap**2)), np.array([3]), 0.04 * gap

    run = nf.Run(random.normal(size=(40, 4)), random_state=0)
    run.step(150)
    run.add(Spring())
    run.step(150)
    np.testing.assert_allclose(run.Y[3], 5.0, atol=1.0)
    run.remove(0)
    assert run.terms == ()
    run.step(1)
    assert run.history["penalty"][-1] == 0
