"""Exaggeration where there is attraction to measure it by, taken back by and by; rates that mean the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import trustworthiness

import nearfield as nf
from nearfield.descent.schedule import Phase, calmed

X = np.random.default_rng(5).normal(size=(40, 4))
WIDE = np.cbrt(100 * X[:, :2])  # bent: a projection of the data would be a start


def conditions(method="tsne", iterations=400, **keywords):
    """The phase of every iteration, as a run sees them."""
    run = nf.Run(X, method, n_jobs=1, **keywords)
    return [run.phase_at(iteration) for iteration in range(iterations)]


@pytest.mark.parametrize("name", nf.methods())
def test_exaggeration_is_for_methods_with_a_kernel_and_is_taken_back(name):
    method = nf.method(name)
    strengths = np.array([phase.exaggeration for phase in conditions(name)])
    ladder = method.scales == "auto"  # of scales, which is in the place of exaggeration
    exaggerates = method.kernel is not None and not ladder
    assert (strengths[0] > 1) == exaggerates
    assert np.all(np.diff(strengths) <= 0)
    assert strengths[-1] == 1


@pytest.mark.parametrize("name", nf.methods())
def test_a_start_that_is_a_map_already_is_not_exaggerated(name):
    assert conditions(name, init=WIDE)[0].exaggeration == 1
    if nf.method(name).kernel is not None and nf.method(name).scales != "auto":
        assert conditions(name, init=WIDE, exaggeration=3)[0].exaggeration == 3  # unless that is asked for


@settings(max_examples=30)
@given(exaggeration=st.floats(1.001, 100), length=st.integers(8, 300))
@pytest.mark.parametrize("name", ["tsne", "jse"])
def test_what_is_asked_for_is_what_is_scheduled(name, exaggeration, length):
    found = conditions(name, exaggeration=exaggeration, exaggeration_iter=length)
    strengths = np.array([phase.exaggeration for phase in found])
    assert strengths[0] == pytest.approx(exaggeration)
    assert np.all(strengths[:length] > 1)
    assert np.all(strengths[length:] == 1)


@pytest.mark.parametrize("keywords", [{"exaggeration": 1}, {"exaggeration": 1.0}, {"exaggeration_iter": 0}])
def test_without_exaggeration_there_is_one_phase(keywords):
    assert len(set(conditions(**keywords))) == 1


@settings(max_examples=30)
@given(rate=st.floats(1e-6, 1e6))
def test_a_learning_rate_is_that_of_the_coordinates_in_every_phase(rate):
    run = nf.Run(X, learning_rate=rate, n_jobs=1)
    assert run.learning_rate == pytest.approx(rate)
    assert {phase.rate for phase in conditions(learning_rate=rate)} == {run.phase_at(10**6).rate}


def test_a_rate_of_ones_own_goes_with_the_momentum_it_was_chosen_for():
    """Under a higher one it would act more strongly than the same number does elsewhere."""
    assert [phase.momentum for phase in conditions(learning_rate=200.0)][-1] == 0.8
    rng = np.random.default_rng(0)
    for seed in range(3):  # the rate is high for so few points
        D = squareform(pdist(rng.normal(size=(80, 2))))
        keywords = {"perplexity": 2, "learning_rate": 100.0, "early_exaggeration": 2.0, "max_iter": 500}
        model = nf.TSNE(metric="precomputed", init="random", random_state=seed, **keywords)
        Y = model.fit_transform(D)
        assert trustworthiness(D, Y, n_neighbors=1, metric="precomputed") > 0.95


@settings(max_examples=50)
@given(momentum=st.floats(0, 0.99), left=st.floats(0, 1))
def test_terms_calm_a_run_by_how_much_is_left_of_them_and_the_rest_more_than_whom_they_pull(momentum, left):
    usual = Phase(None, momentum=momentum)
    assert calmed(usual, 0.0) is usual
    now, fully = calmed(usual, left), calmed(usual, 1.0)
    for phase in (now, fully):
        steered = phase.momentum if phase.steered_momentum is None else phase.steered_momentum
        assert phase.momentum <= steered + 1e-15 <= momentum + 2e-15
    assert fully.momentum - 1e-15 <= now.momentum


@settings(max_examples=30)
@given(exaggeration=st.floats(1.5, 100))
def test_the_automatic_rate_makes_up_for_the_exaggeration(exaggeration):
    found = conditions(exaggeration=exaggeration)
    for phase in (each for each in found if each.gains):
        assert phase.rate * phase.exaggeration == pytest.approx(found[-1].steered_rate)
    assert found[-1].rate >= found[-1].steered_rate


@pytest.mark.parametrize("n", [20, 40])
@pytest.mark.parametrize("name", ["tsne", "tasne", "umap"])
def test_the_automatic_rate_goes_with_the_number_of_points_over_their_mass(name, n):
    method = nf.method(name)
    run = nf.Run(X[:n], method, perplexity=6)
    mass = method.target(X[:n], perplexity=6).sum()
    assert run.learning_rate == pytest.approx(run.phase_at(10**6).rate * n / mass)


@pytest.mark.parametrize("length", [1, 7, 20])
def test_a_run_follows_its_schedule(length):
    run = nf.Run(X, exaggeration=5, exaggeration_iter=length)
    run.step(40)
    history = run.history
    expected = [run.phase_at(int(iteration)).exaggeration for iteration in history["iteration"]]
    np.testing.assert_array_equal(history["exaggeration"], expected)
    assert np.all((history["exaggeration"] == 1) == (history["iteration"] >= length))


def test_exaggeration_draws_neighbours_together_and_ends(random):
    plain, strong = (nf.Run(X, perplexity=10, exaggeration=a, exaggeration_iter=200) for a in (1, 12))
    plain.step(100)
    strong.step(100)
    assert strong.Y.std() < 0.5 * plain.Y.std()
    assert strong.cost > plain.cost
    strong.step(700)
    assert strong.cost < 1.1 * plain.cost


@pytest.mark.parametrize(
    ("keywords", "reason"),
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
def test_what_cannot_be_scheduled_is_refused(keywords, reason):
    with pytest.raises(ValueError, match=reason) as refusal:
        nf.Run(X, **keywords)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", [name for name in nf.methods() if nf.method(name).kernel is None])
def test_distances_cannot_be_exaggerated(name):
    with pytest.raises(ValueError, match="a cost of distances has none"):
        nf.Run(X, name, exaggeration=4)
