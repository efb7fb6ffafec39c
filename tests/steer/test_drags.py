"""A drag: points in the hand, their followers frozen when it began, and one undo for all of its moves."""

import numpy as np
import pytest

import nearfield as nf

X = np.random.default_rng(0).normal(size=(60, 4))


def started(**more):
    run = nf.Run(X, perplexity=8, random_state=0, n_jobs=1, **more)
    run.step(150)
    return run


def test_the_held_points_are_where_they_were_led_and_stay_there():
    run = started()
    run.drag([3, 7], [(20, 0), (22, 1)], follow=6)
    run.step(4)
    run.move((1, 2))
    assert run.Y[[3, 7]].tolist() == [[21, 2], [23, 3]]
    run.step(9)
    assert run.Y[[3, 7]].tolist() == [[21, 2], [23, 3]]
    assert {i: place.tolist() for i, place in run.pins.items()} == {3: [21, 2], 7: [23, 3]}


def test_moves_count_from_where_the_points_were_put_and_not_from_the_last_move():
    run = started()
    run.drag(3, (20, 0))
    for by in ((1, 1), (2, 2), (0.5, 0)):
        run.move(by)
    assert run.pins[3].tolist() == [20.5, 0]


def test_who_follows_is_frozen_before_the_first_move_and_drawn_to_the_last_place():
    run = started()
    near = run.nearest(3, 6).tolist()
    run.drag(3, run.Y[3] + (1, 0), follow=6)
    run.step(10)
    run.move((25, 0))
    assert run.followers[3].tolist() == sorted(near)
    before = np.linalg.norm(run.Y[near] - run.Y[3], axis=1)
    run.step(150)
    assert np.all(np.linalg.norm(run.Y[near] - run.Y[3], axis=1) < 0.5 * before)


def test_one_undo_takes_back_the_whole_drag_and_one_redo_brings_it_back():
    run = started()
    before = run.Y
    run.drag([3, 7], [(20, 0), (22, 1)], follow=6)
    for k in range(5):
        run.step(3)
        run.move((k, -k))
    dragged = run.Y
    run.undo()
    np.testing.assert_array_equal(run.Y, before)
    assert run.pins == {}
    assert run.iteration == 150
    run.redo()
    np.testing.assert_array_equal(run.Y, dragged)
    assert sorted(run.pins) == [3, 7]


def test_a_drag_is_one_entry_of_the_log_and_replayed_bit_for_bit(tmp_path):
    run = started()
    run.drag([3, 7], [(20, 0), (22, 1)], follow=0.1)
    for k in range(40):
        run.step(k % 3)
        run.move((0.1 * k, np.sqrt(k)))
    run.step(11)
    (entry,) = run.log
    assert entry.command == "drag"
    assert entry.arguments["way"].shape == (40, 3)
    run.map().save(tmp_path / "run.nfmap")
    again = nf.Run.load(tmp_path / "run.nfmap", X, replay=True, n_jobs=1)
    np.testing.assert_array_equal(again.Y, run.Y)
    np.testing.assert_array_equal(again.log[0].arguments["way"], entry.arguments["way"])


@pytest.mark.parametrize(
    "other",
    [
        lambda run: run.unpin([3]),
        lambda run: run.undo(),
        lambda run: run.pin(5, (9, 9)),
        lambda run: run.settle(10),
    ],
)
def test_any_other_command_ends_it(other):
    run = started()
    run.drag(3, (20, 0))
    other(run)
    before = run.Y
    with pytest.raises(ValueError, match="nothing is held; take hold of some points with drag first"):
        run.move((1, 1))
    np.testing.assert_array_equal(run.Y, before)


def test_nothing_is_held_before_a_drag_or_after_reopening(tmp_path):
    run = started()
    with pytest.raises(ValueError, match="nothing is held"):
        run.move((1, 1))
    run.drag(3, (20, 0))
    run.map().save(tmp_path / "run.nfmap")
    with pytest.raises(ValueError, match="nothing is held"):
        nf.Run.load(tmp_path / "run.nfmap", X).move((1, 1))


@pytest.mark.parametrize(
    ("by", "why"),
    [
        ((np.nan, 0), "finite"),
        ((1e12, 0), "positions must be from"),
        ((1, 2, 3), "shape"),
        ("far", "numbers"),
    ],
)
def test_a_move_that_is_refused_leaves_the_drag_as_it_was(by, why):
    run = started()
    run.drag(3, (20, 0))
    run.move((1, 0))
    with pytest.raises(ValueError, match=why):
        run.move(by)
    assert run.pins[3].tolist() == [21, 0]
    assert len(run.log[0].arguments["way"]) == 1
    run.move((2, 0))
    assert run.pins[3].tolist() == [22, 0]


@pytest.mark.parametrize(
    "way", [[(1, 0, 0)], [(150.5, 0, 0)], [(160, 0, 0), (155, 0, 0)], [(150, np.inf, 0)], [(150, 0)], ["x"]]
)
def test_a_way_that_cannot_have_been_gone_is_refused_before_anything_is_done(way):
    run = started()
    with pytest.raises(ValueError, match="way"):
        run.drag(3, (20, 0), way=way)
    assert run.log == []


def test_another_penalty_draws_the_same_followers_and_can_be_undone():
    run = started()
    run.drag(3, (20, 0), follow=6)
    run.pull(nf.penalties.Gaussian(strength=0.4))
    assert run.followers[3].size == 6
    assert run.log[-1].command == "pull"
    (pull,) = run._descent.steering.pulls
    assert pull.penalty == nf.penalties.Gaussian(strength=0.4)
    run.undo()
    (pull,) = run._descent.steering.pulls
    assert pull.penalty == nf.penalties.Student()


def test_a_penalty_without_followers_or_by_constants_is_refused():
    run = started()
    with pytest.raises(ValueError, match="nobody follows"):
        run.pull("student")
    run.pin(3, (20, 0), follow=6)
    with pytest.raises(ValueError, match="by its strength and width, and not by lam"):
        run.pull(nf.penalties.L2(lam=0.1))


def test_the_nearest_are_told_nearest_first_as_many_as_are_known():
    run = started()
    gaps = np.linalg.norm(run.Y - run.Y[3], axis=1)
    assert run.nearest(3, 5).tolist() == np.argsort(gaps, kind="stable")[1:6].tolist()
    apart = np.linalg.norm(X - X[3], axis=1)
    assert set(run.nearest(3, 3, neighbours="data")) <= set(np.argsort(apart)[1:12].tolist())
    assert len(run.nearest(3, 1000, neighbours="map")) == 59
    with pytest.raises(ValueError, match="'map' or 'data'"):
        run.nearest(3, 5, neighbours="dream")


def test_an_anchored_map_stays_where_it_was_put():
    run = started()
    run.anchor((40, -3))
    np.testing.assert_allclose(run.Y.mean(axis=0), (40, -3))
    run.step(20)
    assert np.abs(run.Y.mean(axis=0) - (40, -3)).max() < 1
    with pytest.raises(ValueError, match="was put in a place before"):
        run.anchor((0, 0))
    run.undo()
    run.step(1)
    assert np.abs(run.Y.mean(axis=0)).max() < 1e-9
