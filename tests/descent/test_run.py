"""A run makes the iterations it is asked for, tells the truth about them, and ends in a finite map."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs
from sklearn.neighbors import KNeighborsClassifier

import nearfield as nf
from nearfield.affinity.distances import distances

pytestmark = pytest.mark.slow

# One method for every way in which a gradient is computed and a step is made.
PATHS = {
    "momentum, closed form, pair": ("tsne", {}),
    "momentum, closed form, point": ("tasne", {}),
    "momentum, chain, one learned parameter": ("dhssne", {}),
    "momentum, chain, a learned parameter per point": ("itsne", {}),
    "momentum, chain, weighted kernel": ("wtsne", {}),
    "momentum, chain, sparse P": ("tsne", {"metric": "affinity"}),
    "lbfgs, closed form, pair": ("ssne", {}),
    "lbfgs, closed form, point": ("asne", {}),
    "lbfgs, closed form, distances": ("sammon", {}),
    "lbfgs, chain, pair": ("sjse", {}),
    "lbfgs, chain, point": ("jse", {}),
    "lbfgs, chain, bare weights": ("gkl", {}),
    "lbfgs, chain, normalized distances": ("nmmds", {}),
    "lbfgs, chain, learned": ("dhssne", {"optimizer": "lbfgs"}),
    "smacof": ("mds", {}),
}


def given_to(path, X):
    """The data as the path takes them: themselves, or the sparse P of their nearest neighbours."""
    if PATHS[path][1].get("metric") != "affinity":
        return X
    P = nf.method("tsne").target(X, perplexity=10)
    return sparse.csr_array(np.where(P > 1e-6, P, 0.0))


def begin(path, X, **keywords):
    name, more = PATHS[path]
    return nf.Run(given_to(path, X), name, **{"random_state": 0, "init": "random", **more, **keywords})


def cost_at(run, target):
    """The cost of what the run shows, from outside."""
    return run.method.value_and_gradient(run.Y, target)[0]


def accuracy(Y, labels, k=5):
    """The share of points whose label most of their nearest neighbours have, themselves left out."""
    near = KNeighborsClassifier(k).fit(Y, labels).kneighbors(return_distance=False)
    votes = np.array([np.bincount(row).argmax() for row in labels[near]])
    return np.mean(votes == labels)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, n_features=6, centers=3, random_state=3)


@pytest.mark.parametrize("path", PATHS)
def test_steps_in_parts_are_steps_in_one(path, random):
    X = random.normal(size=(40, 4))
    whole, parts, single = (begin(path, X, exaggeration_iter=7) for _ in range(3))
    whole.step(20)
    for n in (5, 5, 3, 7):
        parts.step(n)
    for _ in range(20):
        single.step()
    assert whole.iteration == parts.iteration == single.iteration == 20
    np.testing.assert_array_equal(parts.Y, whole.Y)
    np.testing.assert_array_equal(single.Y, whole.Y)
    assert parts.method == whole.method


@pytest.mark.parametrize("path", PATHS)
def test_the_history_does_not_depend_on_how_the_steps_were_cut(path, random):
    X = random.normal(size=(40, 4))
    whole, parts, watched = (begin(path, X, exaggeration_iter=20) for _ in range(3))
    whole.step(40)
    for n in (5, 5, 10, 7, 3, 10):
        parts.step(n)
    for _ in range(4):
        assert watched.cost > 0  # a look at the cost is not a step
        watched.step(10)
    for run in (parts, watched):
        kept = np.isin(run.history["iteration"], whole.history["iteration"])
        for name, values in whole.history.items():
            np.testing.assert_allclose(run.history[name][kept], values, rtol=1e-6, atol=1e-12, err_msg=name)


def test_looking_at_the_cost_changes_neither_history_nor_end(random):
    X = random.normal(size=(40, 4))
    watched, alone = (nf.Run(X, random_state=0) for _ in range(2))
    costs = []
    assert watched.converge(callback=lambda run: costs.append(run.cost)) == alone.converge()
    assert watched.iteration == alone.iteration
    for name, values in alone.history.items():
        np.testing.assert_array_equal(watched.history[name], values)
    assert costs[-1] == alone.history["cost"][-1] == alone.cost


@pytest.mark.parametrize("ceiling", [0, 7, 20])
def test_converge_ends_with_a_row_of_the_map_as_it_is(ceiling, random):
    run = nf.Run(random.normal(size=(40, 4)), random_state=0)
    run.converge(ceiling, tol=0.0)
    assert run.history["iteration"].tolist() == [*range(0, ceiling, 10), ceiling]
    assert run.history["cost"][-1] == run.cost


@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=8)
@given(steps=st.lists(st.integers(0, 13), max_size=6))
def test_the_history_has_a_row_every_ten_iterations_and_one_for_the_present(path, steps):
    run = begin(path, np.random.default_rng(7).normal(size=(15, 3)))
    for n in steps:
        before = run.iteration
        run.step(n)
        assert run.iteration == before + n
    history = run.history
    lengths = {len(values) for values in history.values()}
    assert lengths == {len(history["iteration"])}
    if sum(steps) == 0:
        return
    assert np.all(np.diff(history["iteration"]) > 0)
    assert history["iteration"][-1] == run.iteration == sum(steps)
    assert set(range(0, run.iteration, 10)) <= set(history["iteration"])
    assert history["cost"][-1] == run.cost
    assert np.all(np.isfinite(history["cost"]))
    assert np.all(history["gradient_norm"] >= 0)


@pytest.mark.parametrize("path", PATHS)
def test_the_present_is_what_the_history_says(path, random):
    X = random.normal(size=(30, 4))
    name, more = PATHS[path]
    target = nf.method(name).target(given_to(path, X), metric=more.get("metric", "euclidean"))
    run = begin(path, X, exaggeration=1)
    for _ in range(4):
        run.step(11)
        assert run.cost == pytest.approx(cost_at(run, target), rel=1e-9)
    if run.guided:  # what is minimised until then is another cost
        run.step(150)
        assert run.cost == pytest.approx(cost_at(run, target), rel=1e-9)
    assert run.cost < run.history["cost"][0]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("jobs", [2, 4])
def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(path, jobs, random):
    X = random.normal(size=(150, 4))
    one, many = (begin(path, X, n_jobs=count, exaggeration_iter=10) for count in (1, jobs))
    one.step(20)
    many.step(20)
    np.testing.assert_array_equal(one.Y, many.Y)
    assert one.cost == many.cost
    assert one.method == many.method


@pytest.mark.parametrize("path", PATHS)
def test_the_coordinates_are_a_copy_and_stay_centred(path, random):
    run = begin(path, random.normal(size=(20, 3)) + 100)
    run.step(5)
    Y = run.Y
    Y[:] = 7
    assert not np.array_equal(run.Y, Y)
    history = run.history
    history["cost"][:] = -1
    assert run.history["cost"][0] >= 0
    run.step(5)
    np.testing.assert_allclose(run.Y.mean(axis=0), 0, atol=1e-12 * max(1.0, np.abs(run.Y).max()))


@pytest.mark.parametrize("path", PATHS)
def test_the_data_are_left_as_they_were(path, random):
    X = random.normal(size=(20, 3))
    before = X.copy()
    begin(path, X).step(3)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("name", nf.methods())
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_every_method_makes_finite_maps_of_what_others_stumble_over(name, dimensions, random):
    constant = random.normal(size=(15, 4))
    constant[:, [1, 3]] = 2.5, 0.0
    data = {f"{n} points": random.normal(size=(n, 3)) for n in (2, 3, 4, 5, 6)}
    data |= {
        "duplicates by the dozen": np.repeat(random.normal(size=(3, 3)), 12, axis=0),
        "two places": np.repeat([[0.0, 0.0], [1.0, 1.0]], (3, 12), axis=0),
        "constant columns": constant,
        "one column": random.normal(size=(12, 1)),
        "a grid": np.stack(np.meshgrid(np.arange(4.0), np.arange(4.0)), axis=-1).reshape(-1, 2),
        "an outlier": np.vstack([random.normal(size=(14, 2)), [[1e6, -1e6]]]),
        "tiny numbers": 1e-12 * random.normal(size=(12, 3)),
        "huge numbers": 1e12 * random.normal(size=(12, 3)),
    }
    for what, X in data.items():
        run = nf.Run(X, name, n_components=dimensions, exaggeration_iter=10, random_state=0, n_jobs=1)
        run.step(25)
        assert np.all(np.isfinite(run.Y)), what
        assert np.isfinite(run.cost), what
        assert np.all(np.isfinite(run.history["gradient_norm"])), what


@pytest.mark.parametrize("name", nf.methods())
def test_every_method_keeps_three_blobs_apart(name, blobs):
    X, labels = blobs
    run = nf.Run(X, name, perplexity=10, exaggeration_iter=50, n_jobs=1)
    start = run.cost
    run.converge(400)
    assert accuracy(run.Y, labels) > 0.9
    assert run.cost < start


@pytest.mark.parametrize("path", PATHS)
def test_a_run_that_converges_says_so_and_was_not_cut_short(path, blobs):
    X, _ = blobs
    run = begin(path, X, exaggeration_iter=30)
    assert run.converge(5000, tol=1e-3)
    assert run.iteration < 5000
    before, cost, iteration = run.Y, run.cost, run.iteration
    run.step(50)
    assert run.cost == pytest.approx(cost, rel=0.05)
    assert run.iteration == iteration + 50  # step makes its iterations, converged or not
    left = run.learning_rate * run.history["gradient_norm"][-1] ** 2  # to be gained, to first order
    rounding = len(X) * np.log(len(X)) * np.finfo(float).eps  # of a sum of entropies
    assert not np.array_equal(run.Y, before) or left < rounding  # no way down can be told


@pytest.mark.parametrize("n", [5, 15, 60])
@pytest.mark.parametrize("name", [name for name in nf.methods() if nf.method(name).kernel is not None])
def test_no_run_ends_in_a_ball(name, n, random):
    run = nf.Run(random.normal(size=(n, 5)), name, random_state=0, n_jobs=1)
    start = run.cost
    run.converge(500)
    assert run.Y.std() > 0.01 * run.method.kernel.width
    assert run.cost < start


@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("name", ["tsne", "tasne", "hssne", "wtsne"])
def test_exaggeration_is_made_up_for_in_the_end(name, n, random):
    X = random.normal(size=(n, 5))
    plain, strong = (nf.Run(X, name, exaggeration=a, n_jobs=1) for a in (1, "auto"))
    plain.step(1000)
    strong.step(1000)
    assert strong.cost < 1.5 * plain.cost


@pytest.mark.parametrize("name", ["tsne", "tasne", "hssne", "dhssne", "itsne", "wtsne"])
def test_momentum_does_not_lose_what_it_has_gained(name):
    run = nf.Run(load_iris().data[::2], name, n_jobs=1)
    run.step(800)
    late = run.history["exaggeration"] == 1
    assert run.cost < 1.05 * run.history["cost"][late].min()


@pytest.mark.parametrize("jobs", [2, 4])
@pytest.mark.parametrize(("name", "optimizer"), [("tsne", "momentum"), ("tsne", "lbfgs"), ("asne", "lbfgs")])
def test_the_mesh_has_the_same_bits_on_any_number_of_threads_and_in_any_parts(name, optimizer, jobs, random):
    X = random.normal(size=(300, 4))
    keywords = {"engine": "mesh", "optimizer": optimizer, "perplexity": 20, "exaggeration_iter": 7}
    one, many = (nf.Run(X, name, n_jobs=count, random_state=0, **keywords) for count in (1, jobs))
    assert one.plan.engine == "mesh"
    one.step(15)
    for n in (4, 5, 6):
        many.step(n)
    np.testing.assert_array_equal(one.Y, many.Y)
    assert one.cost == many.cost


@pytest.mark.parametrize("ceiling", [1, 9, 10, 37])
def test_the_ceiling_is_a_ceiling(ceiling, random):
    run = nf.Run(random.normal(size=(20, 3)))
    assert run.converge(ceiling) is False
    assert run.iteration == ceiling
    assert run.converge(ceiling) is False  # nothing is left to do
    assert run.iteration == ceiling


def test_converging_in_parts_is_converging_in_one(random):
    X = random.normal(size=(30, 3))
    whole, parts = (nf.Run(X, exaggeration_iter=20, random_state=0) for _ in range(2))
    whole.converge(100)
    for ceiling in (13, 40, 100):
        parts.converge(ceiling)
    np.testing.assert_array_equal(whole.Y, parts.Y)


def test_a_tighter_tolerance_takes_longer_and_gets_lower(blobs):
    runs = [nf.Run(blobs[0], "mds", init="random", random_state=1) for _ in range(2)]
    assert all(run.converge(2000, tol=tol) for run, tol in zip(runs, (1e-2, 1e-9), strict=True))
    assert runs[0].iteration < runs[1].iteration
    assert runs[0].cost > runs[1].cost


def test_no_run_converges_while_attraction_is_exaggerated(random):
    run = nf.Run(random.normal(size=(20, 3)), exaggeration_iter=80)
    assert run.converge(500, tol=np.inf)
    assert run.iteration >= 80


def test_a_run_at_its_minimum_converges_by_its_gradient(random):
    X = random.normal(size=(20, 2))
    run = nf.Run(X, "mds", init=X + 0.01 * random.normal(size=X.shape), optimizer="lbfgs")
    assert run.converge(1000, tol=0.0)
    assert run.iteration < 1000
    np.testing.assert_allclose(distances(run.Y), distances(X), atol=1e-4)


def test_a_gradient_norm_to_stop_at(random):
    run = nf.Run(random.normal(size=(20, 3)), "jse")
    run.step(60)
    norm = run.history["gradient_norm"][-1]
    again = nf.Run(random.normal(size=(20, 3)), "jse")
    assert again.converge(1000, tol=0.0, min_grad_norm=10 * norm)
    assert again.history["gradient_norm"][-1] <= 10 * norm


def test_a_callback_sees_the_run_every_ten_iterations_and_can_end_it(random):
    seen = []

    def watch(run):
        seen.append((run.iteration, run.cost, run.Y.shape))
        return run.iteration >= 30

    run = nf.Run(random.normal(size=(20, 3)))
    assert run.converge(1000, callback=watch) is False
    assert [iteration for iteration, _, _ in seen] == [10, 20, 30]
    assert run.iteration == 30
    assert all(np.isfinite(cost) and shape == (20, 2) for _, cost, shape in seen)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_error_in_a_callback_leaves_the_run_to_go_on(error, random):
    X = random.normal(size=(20, 3))
    run, undisturbed = (nf.Run(X, random_state=0) for _ in range(2))

    def stumble(run):
        raise error

    with pytest.raises(error):
        run.converge(100, callback=stumble)
    assert run.iteration == 10
    run.step(10)
    undisturbed.step(20)
    np.testing.assert_array_equal(run.Y, undisturbed.Y)


class Narrow(nf.kernels.HeavyTailed):
    """A heavy tail that may be learned, within bounds that are soon met."""

    bounds = {"alpha": (0.45, 0.55)}


@pytest.mark.parametrize("optimizer", ["momentum", "lbfgs"])
@pytest.mark.parametrize("name", ["dhssne", "itsne"])
def test_learned_parameters_move_within_their_bounds_and_pay(name, optimizer, blobs):
    X, _ = blobs
    fixed = nf.method("hssne" if name == "dhssne" else "tasne")
    learning = nf.method(name)
    (parameter,) = learning.learned
    first = nf.Run(X, fixed, perplexity=10, optimizer=optimizer)
    first.converge(500)
    second = nf.Run(X, learning, perplexity=10, optimizer=optimizer, init=first.Y, exaggeration=1)
    assert second.cost == pytest.approx(first.cost, rel=1e-6)  # the same kernel to begin with
    second.step(400)
    assert second.cost < 0.98 * first.cost
    low, high = learning.kernel.bounds[parameter]
    found = np.asarray(getattr(second.method.kernel, parameter))
    assert found.shape == (() if name == "dhssne" else (60,))
    assert np.all((found >= low * (1 - 1e-12)) & (found <= high * (1 + 1e-12)))
    assert not np.allclose(found, getattr(learning.kernel, parameter), rtol=0.01)
    assert learning == nf.method(name)  # what was asked for is left as it was


@pytest.mark.parametrize("optimizer", ["momentum", "lbfgs"])
def test_a_parameter_at_its_bound_stays_there_and_the_cost_is_told_at_it(optimizer, random):
    X = random.normal(size=(40, 4))
    method = nf.Method(nf.costs.KL(), Narrow(0.5, learned=("alpha",)), "pair")
    target = method.target(X, perplexity=8)
    run = nf.Run(X, method, perplexity=8, optimizer=optimizer, exaggeration_iter=10)
    met = False
    for _ in range(60):
        run.step()
        alpha = run.method.kernel.alpha
        assert 0.45 - 1e-12 <= alpha <= 0.55 + 1e-12
        met |= min(alpha - 0.45, 0.55 - alpha) < 1e-9
        assert run.history["cost"][-1] == pytest.approx(cost_at(run, target), rel=1e-9)
    assert met


def test_lbfgs_goes_down_along_the_bounds_too(random):
    X = random.normal(size=(40, 4))
    run = nf.Run(
        X,
        nf.Method(nf.costs.KL(), Narrow(0.5, learned=("alpha",)), "pair"),
        perplexity=8,
        optimizer="lbfgs",
        exaggeration=1,
    )
    for _ in range(80):
        run.step()
    assert np.all(np.diff(run.history["cost"]) <= 1e-10)


def test_runs_take_frames_and_lists(random):
    X = random.normal(size=(20, 3))
    expected = nf.Run(X, random_state=0)
    expected.step(3)
    for form in (X.tolist(), pd.DataFrame(X), np.asfortranarray(X)):
        run = nf.Run(form, random_state=0)
        run.step(3)
        np.testing.assert_allclose(run.Y, expected.Y, rtol=1e-9)


@pytest.mark.parametrize("path", PATHS)
def test_a_run_becomes_a_map_that_can_be_kept(path, random, tmp_path):
    run = begin(path, random.normal(size=(20, 3)))
    run.step(12)
    kept = run.map()
    kept.save(tmp_path / "a.nfmap")
    found = nf.Map.load(tmp_path / "a.nfmap")
    np.testing.assert_array_equal(found.Y, run.Y)
    assert found.parameters["method"] == PATHS[path][0]
    assert found.parameters["iteration"] == 12
    assert found.parameters["random_state"] == 0
    for name in run.method.learned:
        np.testing.assert_allclose(found.parameters[name], getattr(run.method.kernel, name))
    for name, values in run.history.items():
        np.testing.assert_array_equal(found.history[name], values)
    run.step(5)
    assert not np.array_equal(kept.Y, run.Y)  # a map does not move any more


def test_what_was_asked_for_in_numpys_numbers_can_be_kept_too(random, tmp_path):
    asked = {
        "n_components": np.int64(2),
        "perplexity": np.float32(5),
        "learning_rate": np.float64(10),
        "exaggeration": np.int32(4),
        "random_state": np.uint8(3),
        "init": random.normal(size=(20, 2)),
    }
    nf.Run(random.normal(size=(20, 3)), **asked).map().save(tmp_path / "a.nfmap")
    found = nf.Map.load(tmp_path / "a.nfmap").parameters
    for name, value in asked.items():
        np.testing.assert_array_equal(found[name], value)


def test_steps_that_run_away_are_stopped_with_the_remedy(random):
    run = nf.Run(random.normal(size=(20, 3)), "sstress", optimizer="momentum", learning_rate=1e6)
    with pytest.raises(FloatingPointError, match="lower learning_rate"):
        run.step(100)
    assert np.all(np.isfinite(run.Y))


@pytest.mark.parametrize(
    ("X", "keywords", "error", "reason"),
    [
        (np.zeros(5), {}, ValueError, r"two dimensions, points and columns, got shape \(5,\)"),
        (np.zeros((1, 5)), {}, ValueError, "at least 2 points, got 1"),
        (np.zeros((0, 5)), {}, ValueError, "at least 2 points, got 0"),
        (np.eye(5), {"n_components": 0}, ValueError, "n_components must be a positive whole number, got 0"),
        (np.eye(5), {"n_components": 2.0}, ValueError, "n_components must be .* got 2.0"),
        (np.eye(5), {"n_components": True}, ValueError, "n_components must be .* got True"),
        (np.eye(5), {"method": "tsn"}, ValueError, "no method is called 'tsn'; did you mean 'tsne'"),
        (np.eye(5), {"method": 3}, TypeError, "a name of the catalogue or a nearfield.Method, got 3"),
        (np.eye(5), {"engine": "steam"}, ValueError, "engine must be one of .* got 'steam'"),
        (np.eye(5), {"optimizer": "adam"}, ValueError, "optimizer must be one of .* got 'adam'"),
        (np.eye(5), {"n_jobs": 0}, ValueError, "n_jobs must be .* got 0"),
        (np.eye(5), {"n_jobs": 1.5}, ValueError, "n_jobs must be .* got 1.5"),
        (np.array([["a", "b"]] * 5), {}, ValueError, "'a'"),
    ],
)
def test_what_cannot_be_run_is_refused(X, keywords, error, reason):
    with pytest.raises(error, match=reason) as refusal:
        nf.Run(X, **keywords)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("n", [-1, 1.5, "ten"])
def test_steps_that_are_no_number_of_steps_are_refused(n, random):
    run = nf.Run(random.normal(size=(6, 2)))
    with pytest.raises((ValueError, TypeError)):
        run.step(n)
    assert run.iteration == 0
