"""The cost of a new point: its gradient against differences, its potentials against plain sums."""

import numpy as np
import pytest

import nearfield as nf
from nearfield.affinity.fitted import Fitted
from nearfield.affinity.source import Source
from nearfield.affinity.traits import Traits
from nearfield.engine import surroundings
from nearfield.engine.mesh.laid import Laid
from nearfield.engine.own_row import OwnRowCost
from nearfield.engine.placed import Held, PlacedCost

pytestmark = pytest.mark.slow

METHODS = ["tsne", "asne", "jse", "nerv", "snerv", "gkl", "umap", "wtsne", "sqsne", "chsne", "tasne"]
METHODS += ["umap_sampled"]


def held(method, all_pairs, gridded, monkeypatch, dimensions=2, attraction=1.0):
    """A map of random places with sums of its own, and the cost of three rows that are new in it."""
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(60, 4)), 3 * random.normal(size=(60, dimensions))
    monkeypatch.setattr(surroundings, "FEWEST", 0 if gridded else 10**6)
    method = nf.method(method)
    if method.kernel.profile is not method.kernel:
        method = method._with(kernel=method.kernel.bound_to(random.random(60) + 0.5))
    method = method._with(cost=method.cost.bound_to(random.random(60), 60))
    by_row = method.normalization == "point"
    bare = method.normalization == "none"
    S = random.random(60) + 2.0 if by_row else 1.0 if bare else 150.0
    bracket = -random.random(60) if by_row else 0.0 if bare else -0.7
    ties = Fitted(Source.of(X), Traits()).ties(random.normal(size=(3, 4)), method, 5, all_pairs=all_pairs)
    there = Held(method, Y, S, bracket, all_pairs=all_pairs, attraction=attraction)
    return PlacedCost(there, ties), random


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize(("all_pairs", "gridded"), [(True, False), (False, False), (False, True)])
@pytest.mark.parametrize("method", METHODS)
def test_the_gradient_is_that_of_the_value(method, all_pairs, gridded, dimensions, monkeypatch):
    if gridded and dimensions != 2 and method not in ("tsne", "nerv"):
        return
    hold_to_differences(*held(method, all_pairs, gridded, monkeypatch, dimensions), dimensions)


@pytest.mark.parametrize("method", ["tsne", "asne", "jse", "gkl", "umap", "wtsne", "tasne"])
def test_the_gradient_is_that_of_the_value_with_another_attraction(method, monkeypatch):
    hold_to_differences(*held(method, False, False, monkeypatch, attraction=3.0), 2)
    plain, _ = held(method, False, False, monkeypatch)
    strong, _ = held(method, False, False, monkeypatch, attraction=3.0)
    rows, y = np.arange(3), np.full((3, 2), 0.5)
    near = strong.indices
    gaps = y[:, None, :] - strong.held.Y[near]
    log = strong.held.method.kernel.profile.log((gaps**2).sum(axis=2))
    if strong.mass is not None:
        log = log + np.log(strong.mass[:, None] * strong.held.mass[near])
    both = 1 if strong.held.by_row else 2  # directions, of which the other row has its own p
    pulls = both * strong.ahead + (strong.back if strong.held.by_row else 0.0)
    more = -2 * (strong.multiplicity * pulls * log).sum(axis=1)
    np.testing.assert_allclose(strong.at(rows, y)[0] - plain.at(rows, y)[0], more, rtol=1e-8)


def hold_to_differences(cost, random, dimensions):
    rows, y = np.arange(3), random.normal(size=(3, dimensions))
    gradient = cost.at(rows, y)[1]
    for c in range(dimensions):
        step = 1e-5 * np.eye(dimensions)[c]
        slope = (cost.at(rows, y + step)[0] - cost.at(rows, y - step)[0]) / 2e-5
        np.testing.assert_allclose(gradient[:, c], slope, rtol=1e-4, atol=1e-6 * np.abs(gradient).max())


@pytest.mark.parametrize("method", ["tsne", "jse", "nerv", "sqsne", "umap", "wtsne", "umap_sampled"])
def test_the_grid_reads_what_the_sums_are(method, monkeypatch):
    cost, random = held(method, False, True, monkeypatch)
    on_grid = cost.held.around()
    assert isinstance(on_grid.grids, Laid)
    y = 2 * random.normal(size=(50, 2))
    value, force = on_grid.at(y)
    on_grid.grids = None
    exact, exact_force = on_grid.at(y)
    assert np.abs(value - exact).max() < 2e-3 * np.abs(exact).max()
    assert np.abs(force - exact_force).max() < 2e-2 * np.abs(exact_force).max()


def test_beyond_the_grid_it_is_the_sums(monkeypatch):
    cost, _ = held("tsne", False, True, monkeypatch)
    around = cost.held.around()
    shape, far = around.grids.grids.shape, np.array([[500.0, 0.0], [0.0, -1e6]])
    assert not around.grids.covers(far).any()
    value, _ = around.at(far)
    around.grids, laid = None, around.grids
    np.testing.assert_array_equal(value, around.at(far)[0])
    assert laid.grids.shape == shape


@pytest.mark.parametrize("method", ["msasne", "msjse", "msnerv", "itsne"])
def test_the_gradient_of_an_own_row_is_that_of_its_value(method):
    random = np.random.default_rng(0)
    X, new = random.normal(size=(60, 4)), random.normal(size=(5, 4))
    run = nf.Run(X, method, engine="exact", random_state=0)
    run.step(200)
    ties = run.reference().fitted.ties(new, nf.method(method), None, all_pairs=True)
    cost, y, step = OwnRowCost(run.method, run.Y, ties), run.Y[:5] + 0.3, 1e-6
    rows = np.arange(5)
    gradient = cost.at(rows, y)[1]
    for axis in range(2):
        shift = step * np.eye(2)[axis]
        slope = (cost.at(rows, y + shift)[0] - cost.at(rows, y - shift)[0]) / (2 * step)
        np.testing.assert_allclose(gradient[:, axis], slope, atol=1e-6 * np.abs(gradient).max())
