"""Pictures of steering: the curves with the moves marked, and both maps with who moved and who followed."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import nearfield as nf


@pytest.fixture(scope="module")
def steered():
    run = nf.Run(np.random.default_rng(0).normal(size=(60, 5)), random_state=0)
    run.step(100)
    before = run.Y
    run.pin([3, 4], [[20, 0], [21, 0]], follow=8)
    run.step(40)
    run.settle(20)
    run.step(30)
    return before, run


def test_the_curves_are_those_of_the_history_and_the_moves_are_marked(steered):
    _, run = steered
    axes = nf.show.history(run)
    for ax, name in zip(axes, ("cost", "penalty", "gradient_norm"), strict=True):
        curve = ax.lines[0]
        np.testing.assert_array_equal(curve.get_xdata(), run.history["iteration"])
        np.testing.assert_array_equal(curve.get_ydata(), run.history[name])
        assert [line.get_xdata()[0] for line in ax.lines[1:]] == [100, 140]
    assert [text.get_text() for text in axes[0].texts] == ["pin", "settle"]
    own = Figure().subplots(3)
    assert nf.show.history(run, axes=own) == list(own)
    with pytest.raises(ValueError, match="three axes are needed"):
        nf.show.history(run, axes=own[:2])


def test_what_was_undone_is_not_marked_and_commands_of_one_moment_share_a_mark():
    run = nf.Run(np.random.default_rng(0).normal(size=(60, 5)), random_state=0)
    run.step(50)
    run.pin(3, (20, 0), follow=5)
    run.step(20)
    run.settle(10)
    run.undo()
    run.undo()
    run.redo()  # the pin, again
    run.settle(10)
    run.undo()
    run.link(must=[[1, 2]])
    run.step(10)
    run.pin(4, (0, 20), follow=5)
    run.settle(10)
    run.step(10)
    marks = [text.get_text() for text in nf.show.history(run)[0].texts]
    assert marks == ["pin", "link", "pin, settle"]


def test_a_run_without_iterations_has_no_curves():
    with pytest.raises(ValueError, match="nothing has been recorded"):
        nf.show.history(nf.Run(np.random.default_rng(0).normal(size=(20, 5))))


def test_both_maps_show_who_moved_and_the_way_of_those_who_followed(steered):
    before, run = steered
    axes = nf.show.before_after(before, run, labels=np.arange(60) % 2)
    for ax, Y in zip(axes, (before, run.Y), strict=True):
        np.testing.assert_allclose(np.asarray(ax.collections[-1].get_offsets()), Y[[3, 4]])
    who = np.union1d(run.followers[3], run.followers[4])
    ways = np.array([line.get_xydata() for line in axes[1].lines])
    np.testing.assert_allclose(ways, np.stack([before[who], run.Y[who]], axis=1))
    own = Figure().subplots(1, 2)
    assert nf.show.before_after(before, run.Y, pins=[3], axes=own) == list(own)
    assert not own[1].lines
    with pytest.raises(ValueError, match="the same points in two dimensions"):
        nf.show.before_after(before[:-1], run)
    with pytest.raises(ValueError, match="two axes are needed"):
        nf.show.before_after(before, run, axes=own[:1])


@pytest.mark.filterwarnings("ignore:the map has not unfolded")  # in so few iterations
def test_an_estimator_without_pins_has_none_to_show():
    X = np.random.default_rng(0).normal(size=(40, 4))
    model = nf.TSNE(max_iter=60, random_state=0).fit(X)
    assert len(nf.show.before_after(model.embedding_, model)) == 2
    assert len(nf.show.before_after(model.embedding_, nf.Embedder(max_iter=60).fit(X))) == 2


def test_pictures_of_several_axes_are_saved_as_those_of_one(steered, tmp_path):
    before, run = steered
    for name, axes in (("both", nf.show.before_after(before, run)), ("curves", nf.show.history(run))):
        assert axes.figure is axes[0].figure
        nf.show.save(axes, tmp_path / f"{name}.png", dpi=40)
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
