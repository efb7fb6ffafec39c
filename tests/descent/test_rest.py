"""The end of a descent that can be trusted, and the steps that lead there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearfield as nf
from nearfield.descent import loops
from nearfield.descent.rest import motion
from nearfield.descent.schedule import calmed, late_momentum


def branches(n: int, seed: int) -> np.ndarray:
    """Points along three noisy branches, in the order of nothing."""
    random = np.random.default_rng(seed)
    t, which = random.uniform(0, 4, n), random.integers(0, 3, n)
    ways = random.normal(size=(3, 8))
    return t[:, None] * ways[which] + 0.2 * random.normal(size=(n, 8))


@given(st.integers(0, 1000), st.floats(0.5, 2), st.floats(0, 6), st.integers(1, 3))
def test_what_the_map_does_as_a_whole_is_no_motion(seed, growth, angle, dimensions):
    random = np.random.default_rng(seed)
    Y = random.normal(size=(60, dimensions))
    turn = np.eye(dimensions)
    if dimensions > 1:
        turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    assert motion(Y, growth * Y @ turn + random.normal(size=dimensions)) < 1e-9


def test_motion_is_in_distances_of_neighbours():
    random = np.random.default_rng(0)
    Y, step = random.normal(size=(500, 2)), random.normal(size=(500, 2))
    near = motion(Y, Y + 1e-3 * step)
    assert motion(Y, Y + 2e-3 * step) == pytest.approx(2 * near, rel=0.02)
    assert motion(100 * Y, 100 * (Y + 1e-3 * step)) == pytest.approx(near)


def test_points_in_one_place_have_no_motion_but_that_of_leaving_it():
    Y = np.zeros((20, 2))
    assert motion(Y, Y) == 0
    assert motion(Y, np.random.default_rng(0).normal(size=(20, 2))) == np.inf


@given(st.floats(1e-3, 0.97), st.floats(0.5, 0.9995))
def test_steps_are_stable_up_to_the_stiffness_that_is_stated(share, momentum):
    stiffness = share * 2 * (1 + momentum) / (1 + 2 * loops.LOOK_AHEAD * momentum)
    z, velocity = np.ones(1), np.zeros(1)
    reach = 0.0
    for _ in range(400):
        loops.accelerated_step(stiffness * z, np.ones(1), momentum, z, velocity)
        reach = max(reach, abs(z[0]))
    assert reach < 50


def test_steps_beyond_it_are_not():
    z, velocity = np.ones(1), np.zeros(1)
    for _ in range(400):
        loops.accelerated_step(2.8 * z, np.ones(1), 0.99, z, velocity)
    assert abs(z[0]) > 1e6


def test_friction_goes_with_the_inverse_of_a_maps_side():
    for dimensions, sides in ((1, 4.0), (2, 4.0), (3, 16 ** (1 / 3))):
        few, many = (1 - late_momentum(n, dimensions) for n in (10_000, 160_000))
        assert few / many == pytest.approx(sides)


def test_the_steps_of_the_last_phase_do_not_depend_on_how_the_map_is_turned():
    X = branches(120, 0)
    run = nf.Run(X, engine="exact", random_state=0)
    run.step(70)
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turned = nf.Run(X, engine="exact", init=run.Y @ turn)
    plain = nf.Run(X, engine="exact", init=run.Y)
    for each in (plain, turned):
        each.step(30)
    np.testing.assert_allclose(turned.Y, plain.Y @ turn, atol=1e-8)


def test_while_terms_act_there_are_gains_and_less_momentum():
    run = nf.Run(branches(60, 1), random_state=0)
    last = run.phase_at(10_000)
    pulled = calmed(last, 0.5)
    assert not last.gains
    assert pulled.gains
    assert pulled.momentum < pulled.steered_momentum < last.momentum
    assert pulled.rate == last.steered_rate < last.rate


@pytest.mark.parametrize("n", [90, 700, 1400])
def test_500_iterations_after_the_stop_change_little(n):
    random = np.random.default_rng(n)
    X = random.normal(size=(n, 8)) + 4 * random.normal(size=(7, 8))[random.integers(0, 7, n)]
    run = nf.Run(X, random_state=0)
    assert run.converge(2000)
    cost, judged = run.cost, nf.quality(X, run.Y).auc
    run.step(500)
    assert run.cost > 0.98 * cost
    assert nf.quality(X, run.Y).auc < judged + 0.01


def test_a_quick_map_comes_sooner_and_does_not_claim_to_have_converged():
    X = branches(800, 3)
    slow, quick = (nf.TSNE(random_state=0, quick=early).fit(X) for early in (False, True))
    assert quick.n_iter_ < slow.n_iter_
    assert slow.converged_
    assert not quick.converged_
    assert quick.cost_ > slow.cost_


def test_a_run_that_ends_at_its_ceiling_says_so():
    with pytest.warns(UserWarning, match="max_iter=150 before it had converged"):
        model = nf.TSNE(random_state=0, max_iter=150).fit(branches(300, 4))
    assert not model.converged_
