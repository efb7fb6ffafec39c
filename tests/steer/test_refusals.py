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
    "a disc without radius": (lambda run: run.add(nf.terms.Disc([1], (1, 1), 0.0)), "positive number"),
    "a disc in three dimensions": (
        lambda run: run.add(nf.terms.Disc([1], (1, 1, 1), 1.0)),
        "2 finite numbers",
    ),
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
