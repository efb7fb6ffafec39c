"""Links and bounds hold, on both engines and for methods of every kind."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import nearfield as nf


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(150, n_features=6, centers=3, random_state=3)


def radius(Y):
    return np.sqrt(np.mean(np.sum((Y - Y.mean(axis=0)) ** 2, axis=1)))


@pytest.mark.parametrize("name", ["tsne", "tasne", "jse", "mds"])
def test_what_must_be_linked_comes_together_and_what_must_not_parts(name, blobs):
    X, labels = blobs
    run = nf.Run(X, name, random_state=0)
    run.step(200)
    first, second = np.flatnonzero(labels == 0)[:3], np.flatnonzero(labels == 1)[:3]
    apart = [(int(first[1]), int(first[2]))]
    run.link(must=[(first[0], second[0])], cannot=apart)
    before, R = run.Y, radius(run.Y)
    run.step(250)
    gap, was = (np.linalg.norm(Y[first[0]] - Y[second[0]]) for Y in (run.Y, before))
    assert gap < 0.35 * was
    assert np.linalg.norm(run.Y[first[1]] - run.Y[first[2]]) > 0.6 * R
    run.unlink([(second[0], first[0])])  # in whichever order
    assert [type(term).__name__ for term in run.terms] == ["CannotLink"]
    run.unlink(apart)
    assert run.terms == ()


@pytest.mark.parametrize("engine", ["exact", "mesh"])
def test_a_group_stays_within_its_bounds(engine, blobs):
    X, labels = blobs
    run = nf.Run(X, engine=engine, random_state=0)
    run.step(200)
    R, group, other = radius(run.Y), np.flatnonzero(labels == 0), np.flatnonzero(labels == 1)
    run.add(nf.terms.Disc(group, (1.5 * R, 0.0), 0.8 * R))
    run.add(nf.terms.Box(other, (-2 * R, -R), (-R, 2 * R)))
    run.step(250)
    Y = run.Y
    assert np.all(np.linalg.norm(Y[group] - [1.5 * R, 0], axis=1) < 0.85 * R)
    assert np.all((Y[other] > [-2.05 * R, -1.05 * R]) & (Y[other] < [-0.95 * R, 2.05 * R]))


def test_links_leave_the_map_centred_and_bounds_do_not(blobs):
    run = nf.Run(blobs[0], random_state=0)
    run.step(50)
    run.link(must=[(0, 1)])
    run.step(20)
    np.testing.assert_allclose(run.Y.mean(axis=0), 0, atol=1e-9)
    run.add(nf.terms.Box([5], (100, 100), (120, 120)))
    run.step(50)  # it acts from iteration 100 on
    assert np.abs(run.Y.mean(axis=0)).max() > 1e-6
