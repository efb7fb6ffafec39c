"""Bad input gets one clear line, and the run is left as it was."""

import numpy as np
import pytest

import nearfield as nf

RUN = {
    "an index out of range": (lambda run: run.pin([3, 40], np.zeros((2, 2))), "40 is out of range.*0 to 39"),
    "a negative index": (lambda run: run.pin(-1, (0, 0)), "-1 is out of range"),
    "a duplicate index": (lambda run: run.pin([3, 3], np.zeros((2, 2))), "3 is there twice"),
    "an index that is no whole number": (lambda run: run.pin(1.5, (0, 0)), "must be whole numbers"),
    "a position that is NaN": (lambda run: run.pin(3, (np.nan, 0)), "must be finite"),
    "a position that is infinite": (lambda run: run.pin(3, (np.inf, 0)), "must be finite"),
    "a position of three numbers": (lambda run: run.pin(3, (1, 2, 3)), r"shape \(1, 2\), got \(1, 3\)"),
    "too few positions": (lambda run: run.pin([3, 4], [(1, 2)]), r"shape \(2, 2\), got \(1, 2\)"),
    "positions that are text": (lambda run: run.pin(3, "here"), "must be numbers"),
    "more neighbours than points": (lambda run: run.pin(3, (0, 0), follow=40), "40 neighbours, but only 39"),
    "a fraction above 1": (lambda run: run.pin(3, (0, 0), follow=1.5), "fraction below 1"),
    "a follower out of range": (lambda run: run.pin(3, (0, 0), follow=[99]), "follow: 99 is out of range"),
    "neighbours of another kind": (lambda run: run.pin(3, (0, 0), neighbours="x"), "'map' or 'data'"),
    "weights of another kind": (lambda run: run.pin(3, (0, 0), weights="x"), "'one' or 'p'"),
    "an unknown penalty": (lambda run: run.pin(3, (0, 0), penalty="x"), "student, gaussian, l2"),
    "every point pinned": (lambda run: run.pin(np.arange(40), np.zeros((40, 2))), "all 40 points would be"),
    "a release of what is not pinned": (lambda run: run.unpin([3]), "3 is not pinned"),
    "a link to itself": (lambda run: run.link(must=[(3, 3)]), "cannot be linked to itself"),
    "a link out of range": (lambda run: run.link(cannot=[(3, 40)]), "40 is out of range"),
    "a link of three": (lambda run: run.link(must=[(1, 2, 3)]), "pairs of whole numbers"),
    "contradictory links": (lambda run: run.link([(1, 2)], [(2, 1)]), "contradictory links: 2 and 1"),
    "a contradiction in a chain": (lambda run: run.link([(1, 2), (2, 5)], [(5, 1)]), "contradictory links"),
    "a cut of what is not linked": (lambda run: run.unlink([(1, 2)]), "1 and 2 are not linked"),
    "a box from high to low": (lambda run: run.add(nf.terms.Box([1], (1, 1), (0, 0))), "low to high"),
    "a disc of nobody": (lambda run: run.add(nf.terms.Disc([], (1, 1), 1.0)), "no points were named"),
    "a disc without radius": (lambda run: run.add(nf.terms.Disc([1], (1, 1), 0.0)), "positive number"),
    "a disc in three dimensions": (
        lambda run: run.add(nf.terms.Disc([1], (1, 1, 1), 1.0)),
        "2 finite numbers",
    ),
    "no points": (lambda run: run.pin([], np.zeros((0, 2))), "no points were named"),
    "a mask": (lambda run: run.pin(np.ones(40, bool), np.zeros((40, 2))), "must be whole numbers"),
    "a truth value among indices": (
        lambda run: run.pin([True, 2], np.zeros((2, 2))),
        "must be whole numbers",
    ),
    "many numbers that are not whole": (
        lambda run: run.pin(3, (0, 0), follow=np.arange(39.0)),
        "whole numbers",
    ),
    "a fraction that is NaN": (lambda run: run.pin(3, (0, 0), follow=np.nan), "fraction below 1"),
    "a fraction that is infinite": (lambda run: run.pin(3, (0, 0), follow=np.inf), "fraction below 1"),
    "neighbours of another kind, unasked": (
        lambda run: run.pin(3, (0, 0), follow=None, neighbours="x"),
        "'map' or 'data'",
    ),
    "weights as an array": (lambda run: run.pin(3, (0, 0), weights=np.ones(2)), "'one' or 'p'"),
    "soft as a number": (lambda run: run.pin(3, (0, 0), soft=1), "soft must be True, False or a Penalty"),
    "soft as nothing": (lambda run: run.pin(3, (0, 0), soft=None), "soft must be"),
    "no links at all": (lambda run: run.link(), "name pairs"),
    "links of unequal length": (lambda run: run.link(must=[(1, 2), (3,)]), "pairs of whole numbers"),
    "a link without strength": (
        lambda run: run.add(nf.terms.MustLink([(1, 2)], strength=-1)),
        "strength must",
    ),
    "a link of text": (lambda run: run.add(nf.terms.MustLink([(1, 2)], strength="a")), "strength must"),
    "a link without width": (lambda run: run.add(nf.terms.MustLink([(1, 2)], width=0)), "width must"),
    "a link of no distance": (
        lambda run: run.add(nf.terms.CannotLink([(1, 2)], distance=np.nan)),
        "distance must be a number from 0 up",
    ),
    "a disc without width": (lambda run: run.add(nf.terms.Disc([1], (0, 0), 1.0, width=0)), "width must"),
    "a disc that pushes": (
        lambda run: run.add(nf.terms.Disc([1], (0, 0), 1.0, strength=-5)),
        "strength must",
    ),
    "a disc of no strength": (
        lambda run: run.add(nf.terms.Disc([1], (0, 0), 1.0, strength=np.nan)),
        "strength must",
    ),
    "a disc of text": (lambda run: run.add(nf.terms.Disc([1], (0, 0), "a")), "radius of a disc must"),
    "a box of text": (lambda run: run.add(nf.terms.Box([1], ("a", "b"), (1, 1))), "low must be finite"),
    "a term that is none": (lambda run: run.add("term"), "derived from nearfield.terms.Term"),
    "a term that is not there": (lambda run: run.remove(0), "there are 0 terms"),
    "a negative time": (lambda run: run.settle(-1), "whole number from 0 up"),
    "nothing to undo": (lambda run: run.undo(), "nothing to undo"),
    "nothing to redo": (lambda run: run.redo(), "nothing to redo"),
}


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(40, 4))


@pytest.mark.parametrize("what", RUN)
def test_a_run_refuses_with_one_line_and_is_left_as_it_was(what, X):
    command, message = RUN[what]
    run, undisturbed = (nf.Run(X, random_state=0) for _ in range(2))
    run.step(20)
    with pytest.raises((ValueError, TypeError), match=message) as error:
        command(run)
    assert "\n" not in str(error.value)
    assert (run.pins, run.terms, run.log) == ({}, (), [])
    run.step(20)
    undisturbed.step(40)
    np.testing.assert_array_equal(run.Y, undisturbed.Y)


def test_more_neighbours_than_the_data_have(X):
    run = nf.Run(np.random.default_rng(0).normal(size=(300, 4)), engine="mesh", perplexity=5)
    with pytest.raises(ValueError, match="the data's graph has"):
        run.pin(3, (0, 0), follow=200, neighbours="data")


def test_distances_have_no_p(X):
    run = nf.Run(X, "mds")
    with pytest.raises(ValueError, match="distances have no p"):
        run.pin(3, (0, 0), weights="p")


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"strength": 0.0}, "strength must be a positive number"),
        ({"width": -1.0}, "width must be a positive number"),
        ({"sigma2": np.nan}, "sigma2 must be a positive number"),
        ({"sigma2": 1.0, "strength": 1.0}, "either strength and width, or sigma2"),
    ],
)
def test_a_penalty_refuses_what_it_cannot_mean(keywords, message):
    with pytest.raises(ValueError, match=message):
        nf.penalties.Student(**keywords)


@pytest.mark.parametrize(
    ("pins", "message"),
    [
        ({40: (0, 0)}, "40 is out of range"),
        ({3: (0, 0, 0)}, r"shape \(1, 2\), got \(1, 3\)"),
        ({3: (np.nan, 0)}, "must be finite"),
        ([3], "must be a dict"),
    ],
)
def test_an_estimator_refuses_pins_that_it_cannot_set(pins, message, X):
    with pytest.raises(ValueError, match=message):
        nf.Embedder(pins=pins, max_iter=20).fit(X)


def test_a_fraction_of_all_points_is_no_more_than_are_free(X):
    run = nf.Run(X, random_state=0)
    run.step(100)
    run.pin(np.arange(39), run.Y[:39])
    assert all(who.tolist() == [39] for who in run.followers.values())
    model = nf.Embedder(init=run.Y, pins={i: run.Y[i] for i in range(39)}, max_iter=20)
    np.testing.assert_array_equal(model.fit_transform(X)[:39], run.Y[:39])


def test_what_was_given_and_what_is_told_can_be_changed_without_harm(X):
    run, low = nf.Run(X, random_state=0), np.zeros(2)
    run.add(nf.terms.Box([1], low, (1, 1)))
    run.pin(3, (20, 0))
    low[:] = 7
    run.log[1].arguments["positions"][:] = 7
    assert run.terms[0].low.tolist() == [0, 0]
    assert run.log[1].arguments["positions"].tolist() == [[20, 0]]


def test_numbers_of_every_kind_are_numbers():
    assert nf.penalties.Student(strength=np.float32(0.5), width=np.int64(1)) == nf.penalties.Student(0.5, 1.0)
    with pytest.raises(ValueError, match="strength must be a positive number, got True"):
        nf.penalties.Student(strength=True)
    with pytest.raises(TypeError, match="a Student, a Gaussian or an L2"):
        nf.penalties.Penalty()


def test_those_that_are_left_of_several_pins_draw_as_strongly_as_one(X):
    run = nf.Run(X, random_state=0)
    run.step(150)
    everybody = np.arange(10, 40)
    run.pin([0, 1, 2, 3, 4], np.zeros((5, 2)), follow=everybody)
    run.unpin([0, 1, 2, 3])
    (left,) = run._descent.steering.pulls
    np.testing.assert_allclose(left.weights, 1.0, rtol=1e-15)


def test_data_of_another_length_are_other_data(X, tmp_path):
    nf.Run(X, random_state=0).map().save(tmp_path / "run.nfmap")
    with pytest.raises(ValueError, match=r"was made of other data than these.*40 rows"):
        nf.Run.load(tmp_path / "run.nfmap", X[:-1])
