"""Exaggeration where there is attraction to measure it by, and rates that mean the same everywhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearfield as nf
from nearfield.descent.schedule import schedule

USUAL = (12.0, 250)


def phases(name="tsne", **changes):
    return schedule(nf.method(name), **{"natural_rate": 50.0, "usual": USUAL, **changes})


@pytest.mark.parametrize("name", nf.methods())
def test_exaggeration_is_for_divergences_of_a_kernel(name):
    method = nf.method(name)
    found = phases(name)
    exaggerates = method.kernel is not None and method.cost.degree == 1
    assert [phase.exaggeration for phase in found] == ([12.0, 1.0] if exaggerates else [1.0])
    assert found[-1].iterations is None
    assert all(phase.iterations == 250 for phase in found[:-1])


@pytest.mark.parametrize("name", nf.methods())
def test_a_start_that_is_a_map_already_is_not_exaggerated(name):
    method = nf.method(name)
    width = method.kernel.width if method.kernel is not None else 1.0
    assert len(phases(name, spread=2 * width)) == 1


@given(exaggeration=st.floats(1.001, 100), length=st.integers(1, 1000))
def test_what_is_asked_for_is_what_is_scheduled(exaggeration, length):
    early, late = phases(exaggeration=exaggeration, exaggeration_iter=length, spread=1e9)
    assert (early.iterations, early.exaggeration) == (length, exaggeration)
    assert (late.iterations, late.exaggeration) == (None, 1.0)


@pytest.mark.parametrize("changes", [{"exaggeration": 1}, {"exaggeration": 1.0}, {"exaggeration_iter": 0}])
def test_without_exaggeration_there_is_one_phase(changes):
    assert len(phases(**changes)) == 1


@given(rate=st.floats(1e-6, 1e6), natural=st.floats(1e-3, 1e6))
def test_a_learning_rate_is_that_of_the_coordinates_in_every_phase(rate, natural):
    for phase in phases(learning_rate=rate, natural_rate=natural):
        assert phase.rate * natural == pytest.approx(rate)


@given(exaggeration=st.floats(1.5, 100))
def test_the_automatic_rate_makes_up_for_the_exaggeration(exaggeration):
    early, late = phases(exaggeration=exaggeration)
    assert early.rate * exaggeration == pytest.approx(late.rate)


@pytest.mark.parametrize("rate", ["auto", 7.0, 200])
def test_the_run_tells_the_rate_of_its_coordinates(rate, random):
    run = nf.Run(random.normal(size=(40, 3)), learning_rate=rate)
    assert run.learning_rate == pytest.approx(40.0 if rate == "auto" else rate)  # N/M, and M is 1


@pytest.mark.parametrize("length", [1, 7, 20])
def test_a_run_follows_its_schedule(length, random):
    run = nf.Run(random.normal(size=(30, 3)), exaggeration=5, exaggeration_iter=length)
    for iteration in range(25):
        assert run.phase_at(iteration).exaggeration == (5 if iteration < length else 1)
    run.step(40)
    late = run.history["iteration"] >= length
    assert np.array_equal(run.history["exaggeration"], np.where(late, 1.0, 5.0))


def test_exaggeration_draws_neighbours_together_and_ends(random):
    X = random.normal(size=(60, 4))
    plain, strong = (
        nf.Run(X, perplexity=10, exaggeration=factor, exaggeration_iter=200) for factor in (1, 12)
    )
    plain.step(200)
    strong.step(200)
    assert strong.Y.std() < 0.5 * plain.Y.std()
    assert strong.cost > plain.cost
    strong.step(600)
    assert strong.cost < 1.1 * plain.cost


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"exaggeration": 0.5}, "exaggeration must be 'auto' or a number from 1 up, got 0.5"),
        ({"exaggeration": np.nan}, "exaggeration must be .* got nan"),
        ({"exaggeration": np.inf}, "exaggeration must be .* got inf"),
        ({"exaggeration": "strong"}, "exaggeration must be .* got 'strong'"),
        ({"exaggeration": None}, "exaggeration must be .* got None"),
        ({"learning_rate": 0}, "learning_rate must be 'auto' or a positive number, got 0"),
        ({"learning_rate": -1.0}, "learning_rate must be .* got -1"),
        ({"learning_rate": np.nan}, "learning_rate must be .* got nan"),
        ({"learning_rate": np.inf}, "learning_rate must be .* got inf"),
        ({"learning_rate": "fast"}, "learning_rate must be .* got 'fast'"),
        ({"exaggeration_iter": -1}, "exaggeration_iter must be"),
        ({"exaggeration_iter": 2.5}, "exaggeration_iter must be"),
    ],
)
def test_what_cannot_be_scheduled_is_refused(changes, reason):
    with pytest.raises(ValueError, match=reason) as refusal:
        phases(**changes)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", [name for name in nf.methods() if nf.method(name).kernel is None])
def test_distances_cannot_be_exaggerated(name):
    with pytest.raises(ValueError, match="a cost of distances has none"):
        phases(name, exaggeration=4)
