"""Sums of radial functions by grid and cells are direct sums: dimensions, cutoffs, charges, functions."""

import numpy as np
import pytest

from nearfield import kernels
from nearfield.engine.mesh import grids
from nearfield.engine.mesh.field import Field

pytestmark = pytest.mark.slow

FUNCTIONS = {
    "student": kernels.Student().value,
    "gaussian": kernels.Gaussian().value,
    "square": lambda f: kernels.Student().value(f) ** 2,
    "log": lambda f: np.log1p(f) / (1 + f),
}


def direct(radial, Y, charges):
    gap = Y[:, None] - Y[None]
    f = (gap**2).sum(-1)
    h = 1e-5
    slope = (radial(f + h) - radial(np.maximum(f - h, 0))) / (h + np.minimum(f, h))
    value = radial(f)
    np.fill_diagonal(value, 0.0)
    np.fill_diagonal(slope, 0.0)
    return value @ charges, np.einsum("ij,ijc,j->ic", 2 * slope, gap, charges)


def laid(Y, accuracy, cutoff, monkeypatch, n_jobs=None):
    monkeypatch.setattr(grids, "CUTOFFS", (cutoff,))
    monkeypatch.setattr(grids, "MOST", 2**27)
    field = Field(0.6, accuracy, n_jobs)
    field.lay(Y)
    return field


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("charged", [False, True])
@pytest.mark.parametrize("cutoff", [0.0, 2.0, 4.5])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_potential_force_and_energy_are_those_of_direct_sums(
    dimensions, cutoff, charged, name, random, monkeypatch
):
    spread = {1: 40.0, 2: 8.0, 3: 3.0}[dimensions]
    Y = (spread * random.normal(size=(300, dimensions))).astype(np.float32)
    charges = random.normal(size=300) if charged else None
    weights = charges if charged else np.ones(300)
    field = laid(Y, 1e-3, cutoff, monkeypatch)
    field.know("R", FUNCTIONS[name])
    found = field.charge(charges, ["R"])
    value, gradient = field.read((2.0, found, "R"))
    sums, pulls = direct(FUNCTIONS[name], Y.astype(float), weights)
    assert np.linalg.norm(value - 2 * sums) < 2e-3 * np.linalg.norm(2 * sums)
    assert np.linalg.norm(gradient - 2 * pulls) < 5e-3 * np.linalg.norm(2 * pulls)
    scale = np.abs(weights) @ np.abs(sums)
    assert abs(field.energy(found, "R") - weights @ sums) < 2e-3 * scale


@pytest.mark.parametrize("cutoff", [0.0, 3.0])
def test_accuracy_is_what_is_asked_for(cutoff, random, monkeypatch):
    Y = (8 * random.normal(size=(600, 2))).astype(np.float32)
    _, pulls = direct(FUNCTIONS["student"], Y.astype(float), np.ones(600))
    for accuracy in (3e-2, 1e-2, 1e-3, 1e-4):
        monkeypatch.setattr(grids, "CUTOFFS", (cutoff,))
        field = Field(1.0, accuracy)
        field.lay(Y)
        field.know("R", FUNCTIONS["student"])
        _, gradient = field.read((1.0, field.charge(None, ["R"]), "R"))
        assert np.linalg.norm(gradient - pulls) < 2 * accuracy * np.linalg.norm(pulls)


@pytest.mark.parametrize("spread", [1e-4, 1e-2, 0.1, 1.0])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_the_force_is_right_in_maps_much_smaller_than_the_kernel(dimensions, spread, random):
    Y = (spread * random.normal(size=(300, dimensions))).astype(np.float32)
    gap = Y[:, None].astype(float) - Y[None]
    pulls = np.einsum("ij,ijc->ic", 2 * kernels.Student().derivative((gap**2).sum(-1)), gap)
    field = Field(1.0, 1e-2)
    field.know("R", FUNCTIONS["student"])
    field.lay(Y)
    _, gradient = field.read((1.0, field.charge(None, ["R"]), "R"))
    assert np.linalg.norm(gradient - pulls) < 2e-2 * np.linalg.norm(pulls)


@pytest.mark.parametrize("cutoff", [0.0, 3.0])
def test_threads_do_not_change_a_bit(cutoff, random, monkeypatch):
    Y = (5 * random.normal(size=(500, 2))).astype(np.float32)
    charges = random.normal(size=500)
    results = []
    for n_jobs in (1, 2, 4):
        field = laid(Y, 1e-2, cutoff, monkeypatch, n_jobs)
        field.know("R", FUNCTIONS["student"])
        found = field.charge(charges, ["R"])
        results.append((*field.read((1.0, found, "R")), field.energy(found, "R")))
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_a_crowded_map_has_no_cutoff_and_a_wide_one_has(random):
    Y = random.normal(size=(3000, 2)).astype(np.float32)
    for scale, near in ((0.1, False), (200.0, True)):
        field = Field(1.0, 1e-2)
        field.lay(scale * Y)
        assert (field.cutoff > 0) == near


def test_the_grid_follows_a_map_that_grows_and_shrinks(random):
    field = Field(1.0, 1e-2)
    field.know("R", FUNCTIONS["student"])
    Y = random.normal(size=(200, 2)).astype(np.float32)
    for scale in (1e-4, 1.0, 8.0, 0.1):
        field.lay(scale * Y)
        _, gradient = field.read((1.0, field.charge(None, ["R"]), "R"))
        _, pulls = direct(FUNCTIONS["student"], (scale * Y).astype(float), np.ones(200))
        # All points in one cell are pulled alike by the splines, which moves the map as a whole.
        error = (gradient - pulls) - (gradient - pulls).mean(axis=0)
        assert np.linalg.norm(error) < 0.05 * np.linalg.norm(pulls)


def test_coincident_points_and_lines_are_no_trouble(random):
    Y = np.zeros((100, 2), np.float32)
    Y[50:, 0] = np.linspace(0, 300, 50)
    field = Field(1.0, 1e-3)
    field.lay(Y)
    field.know("R", FUNCTIONS["student"])
    value, _ = field.read((1.0, field.charge(None, ["R"]), "R"))
    sums, _ = direct(FUNCTIONS["student"], Y.astype(float), np.ones(100))
    np.testing.assert_allclose(value, sums, rtol=1e-2, atol=1e-2)
