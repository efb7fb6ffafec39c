"""Pins hold to the last bit, neighbours follow, and everything can be undone."""

import threading

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import nearfield as nf
from nearfield.steer.pulls import GENTLY

OPTIMIZERS = {
    "momentum": ("tsne", {}),
    "lbfgs": ("asne", {}),
    "lbfgs, asked for": ("tsne", {"optimizer": "lbfgs"}),
    "lbfgs, distances": ("sammon", {}),
    "in place of smacof": ("mds", {}),
    "learned parameters": ("dhssne", {}),
    "several scales": ("msasne", {}),
}
PLACES = np.array([[30.0, -20.0], [0.1, -0.0]])


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(200, n_features=6, centers=4, random_state=3)


@pytest.fixture
def unfolded(blobs):
    run = nf.Run(blobs[0], random_state=0)
    run.step(250)
    return run


@pytest.mark.parametrize("jobs", [1, 2, 4])
@pytest.mark.parametrize("engine", ["exact", "mesh"])
def test_pins_do_not_move_by_a_bit_on_either_engine_and_any_number_of_threads(engine, jobs, blobs):
    runs = [nf.Run(blobs[0], engine=engine, n_jobs=count, random_state=0) for count in (1, jobs)]
    for run in runs:
        run.step(20)  # in the midst of the exaggeration, whose end is another phase
        run.pin([3, 17], PLACES, follow=10)
        for _ in range(5):
            run.step(100)
            assert run.Y[[3, 17]].tobytes() == (PLACES + 0.0).tobytes()
    np.testing.assert_array_equal(runs[0].Y, runs[1].Y)


@pytest.mark.parametrize("how", OPTIMIZERS)
def test_pins_do_not_move_by_a_bit_under_any_optimizer(how, blobs):
    name, more = OPTIMIZERS[how]
    run = nf.Run(blobs[0][:80], name, random_state=0, **more)
    run.step(10)
    run.pin([3, 17], PLACES, follow=10)
    run.step(150)
    assert run.Y[[3, 17]].tobytes() == (PLACES + 0.0).tobytes()
    assert np.all(np.isfinite(run.Y))
    run.unpin(17)
    run.step(50)
    assert run.Y[3].tobytes() == PLACES[0].tobytes()
    assert run.Y[17].tobytes() != PLACES[1].tobytes()


def test_the_stress_is_left_to_lbfgs_when_there_are_terms(blobs):
    run = nf.Run(blobs[0][:60], "mds")
    assert type(run._descent.optimizer).__name__ == "SMACOF"
    run.pin(3, (10, 0), follow=None)  # which is no term
    run.step(5)
    assert type(run._descent.optimizer).__name__ == "SMACOF"
    run.pin(4, (10, 0), follow=5)
    run.step(5)
    assert type(run._descent.optimizer).__name__ == "LBFGS"
    run.undo()
    assert type(run._descent.optimizer).__name__ == "SMACOF"
    asked = nf.Run(blobs[0][:60], "mds", optimizer="smacof")
    with pytest.raises(ValueError, match="SMACOF minimises the plain stress"):
        asked.pin(4, (10, 0), follow=5)
    assert asked.pins == {}


def way(before, after, place):
    return np.median(1 - np.linalg.norm(after - place, axis=1) / np.linalg.norm(before - place, axis=1))


@pytest.mark.parametrize("penalty", ["student", "gaussian", "l2"])
def test_old_neighbours_follow_into_a_foreign_cluster_and_without_a_penalty_they_do_not(penalty, blobs):
    X, labels = blobs
    run = nf.Run(X, random_state=0)
    run.step(250)
    before, pin = run.Y, int(np.flatnonzero(labels == 0)[0])
    place = before[labels == 1].mean(axis=0)
    run.pin(pin, place, penalty=penalty)
    followers = run.followers[pin]
    assert len(followers) == 10  # 5 %
    nearest = np.argsort(np.linalg.norm(before - before[pin], axis=1))[1:11]
    assert set(followers) == set(nearest)
    run.step(350)  # the other 40 of their cluster come after them, and push them about as they pass
    assert way(before[followers], run.Y[followers], place) > 0.8
    np.testing.assert_array_equal(run.followers[pin], followers)  # frozen
    run.undo()
    run.pin(pin, place, follow=None)
    run.step(350)
    assert way(before[followers], run.Y[followers], place) < 0.5


def test_who_follows(unfolded, blobs):
    run, Y = unfolded, unfolded.Y
    run.pin(3, (50, 0), follow=7)
    assert len(run.followers[3]) == 7
    run.pin(4, (50, 0), follow=[8, 9])
    assert run.followers[4].tolist() == [8, 9]
    run.pin(5, (50, 0), follow=None)
    assert run.followers[5].size == 0
    run.pin(6, (50, 0), follow=6, neighbours="data")
    P = nf.method("tsne").target(blobs[0])
    P[6, [3, 4, 5, 6]] = 0.0  # those that are pinned follow nobody
    assert set(run.followers[6]) == set(np.argsort(-P[6])[:6])
    assert not {3, 4, 5, 6} & set(np.concatenate(list(run.followers.values())))
    run.pin(7, (50, 0), follow=6, neighbours="data", weights="p")
    weights = run._descent.steering.pulls[-1].weights
    assert weights.max() == 1
    assert weights.min() < 1
    np.testing.assert_allclose(weights, P[7, run.followers[7]] / P[7, run.followers[7]].max(), rtol=1e-9)
    np.testing.assert_array_equal(np.delete(run.Y, [3, 4, 5, 6, 7], 0), np.delete(Y, [3, 4, 5, 6, 7], 0))


def test_a_point_that_is_pinned_follows_no_more(unfolded):
    unfolded.pin(3, (50, 0), follow=[8, 9])
    unfolded.pin(8, (-50, 0), follow=None)
    assert unfolded.followers[3].tolist() == [9]
    unfolded.pin(3, (20, 0), follow=None)  # put elsewhere, alone
    assert unfolded.followers[3].size == 0
    assert unfolded.pins[3].tolist() == [20, 0]


def test_soft_pins_give_way_and_come_close(unfolded):
    run, before = unfolded, unfolded.Y
    place = before[3] + [15.0, 0.0]
    run.pin(3, place, follow=None, soft=True)
    assert run.Y[3].tolist() == place.tolist()
    run.step(200)
    gap = np.linalg.norm(run.Y[3] - place)
    assert 0 < gap < 0.3 * np.linalg.norm(before[3] - place)
    run.settle(0)  # the pins stay
    run.step(50)
    assert 3 in run.pins
    assert run.history["penalty"][-1] > 0
    run.undo()
    run.undo()
    run.pin(3, place, follow=None, soft=nf.penalties.Gaussian(strength=1e-4))
    run.step(200)
    assert np.linalg.norm(run.Y[3] - place) > gap


def test_a_penalty_fades_to_zero_over_as_many_iterations_as_were_asked_for(unfolded):
    run = unfolded
    run.pin(3, run.Y[50], follow=20)
    run.step(50)
    run.settle(40)
    left = [sum(left for left, _ in run._descent.problem.terms)]
    for _ in range(40):
        run.step()
        left.append(sum(left for left, _ in run._descent.problem.terms))
    np.testing.assert_allclose(left, np.maximum(0, 1 - np.arange(1, 42) / 40) ** GENTLY, atol=1e-12)
    run.step(10)
    assert run.history["penalty"][-1] == 0
    assert run.Y[3].tolist() == run.pins[3].tolist()


@pytest.mark.parametrize("how", OPTIMIZERS)
@pytest.mark.parametrize("steps", [0, 1, 37])
def test_undo_goes_back_to_the_last_bit_and_redo_forward(how, steps, blobs):
    name, more = OPTIMIZERS[how]
    run, undisturbed = (nf.Run(blobs[0][:80], name, random_state=0, **more) for _ in range(2))
    run.step(25)
    before, history = run._descent.state()[0], run.history
    run.pin([3, 17], PLACES, follow=10)
    run.step(steps)
    after, later = run.Y, run.iteration
    run.undo()
    assert run.pins == {}
    assert run.iteration == 25
    np.testing.assert_array_equal(run.Y, before.z[: run.Y.size].reshape(run.Y.shape))
    for name, values in history.items():
        np.testing.assert_array_equal(run.history[name], values)
    optimizer = run._descent.optimizer
    if type(optimizer).__name__ == "Momentum":
        np.testing.assert_array_equal(optimizer.velocity, before.optimizer.velocity)
        np.testing.assert_array_equal(optimizer.gains, before.optimizer.gains)
    run.redo()
    assert run.iteration == later
    np.testing.assert_array_equal(run.Y, after)
    assert set(run.pins) == {3, 17}
    run.undo()
    run.step(40)
    undisturbed.step(65)
    np.testing.assert_array_equal(run.Y, undisturbed.Y)  # as if nothing had been


def test_fifty_commands_can_be_undone_and_a_new_one_ends_redoing(unfolded):
    for k in range(60):
        unfolded.pin(k, (k, 0), follow=None)
    for _ in range(50):
        unfolded.undo()
    assert len(unfolded.pins) == 10
    with pytest.raises(ValueError, match="nothing to undo"):
        unfolded.undo()
    unfolded.redo()
    assert len(unfolded.pins) == 11
    unfolded.unpin(0)
    with pytest.raises(ValueError, match="nothing to redo"):
        unfolded.redo()
    assert [entry.command for entry in unfolded.log[-3:]] == ["undo", "redo", "unpin"]
    unfolded.unpin()
    assert unfolded.pins == {}


def test_the_map_stays_where_it_was_put(unfolded):
    unfolded.pin(3, (100.0, 0.0), follow=None)
    unfolded.step(20)
    assert abs(unfolded.Y.mean(axis=0)[0]) > 0.01  # not recentred
    before = unfolded.Y
    unfolded.unpin()
    unfolded.step(1)
    assert np.median(np.linalg.norm(unfolded.Y - before, axis=1)) < 0.5  # and does not jump when let go


def test_commands_come_from_another_thread_between_iterations(blobs):
    run = nf.Run(blobs[0], random_state=0)
    run.step(100)
    done = threading.Event()

    def work():
        while not done.is_set():
            run.step(25)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for k in range(10):
            run.pin(k, (5.0 * k, 40.0), follow=5)
            assert run.Y[k].tolist() == [5.0 * k, 40.0]
            lengths = {len(values) for values in run.history.values()}
            assert len(lengths) == 1
        run.settle(10)
        run.undo()
    finally:
        done.set()
        worker.join()
    assert len(run.pins) == 10
    for k in range(10):
        assert run.Y[k].tolist() == [5.0 * k, 40.0]
    again = nf.Run(blobs[0], random_state=0)
    again._replay(run.log, run.iteration)
    np.testing.assert_array_equal(again.Y, run.Y)


def test_a_run_that_is_steered_converges_anew(unfolded):
    unfolded.converge(1000)
    came = unfolded.iteration
    unfolded.pin(3, unfolded.Y[50], follow=20)
    assert unfolded.converge(came + 2000)
    assert unfolded.iteration >= came + 50


def test_a_weight_is_as_many_followers(random):
    X, weights = random.normal(size=(30, 4)), np.ones(30)
    weights[:10] = 2
    Y = random.normal(size=(30, 2))
    Y -= np.average(Y, axis=0, weights=weights)
    repeated = nf.Run(np.vstack([X, X[:10]]), init=np.vstack([Y, Y[:10]]), engine="exact")
    weighted = nf.Run(X, init=Y, weights=weights, engine="exact")
    repeated.pin(20, (5, 5), follow=np.concatenate([np.arange(5), np.arange(30, 35)]))
    weighted.pin(20, (5, 5), follow=np.arange(5))
    for run in (repeated, weighted):
        run.step(1)
    np.testing.assert_allclose(weighted.history["penalty"], repeated.history["penalty"])
    np.testing.assert_allclose(weighted.Y, repeated.Y[:30], atol=1e-9)
