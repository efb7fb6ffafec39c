"""Maps are turned, mirrored and moved onto each other, and never sheared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist
from scipy.stats import ortho_group

from nearfield.comparison.alignment import align

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 3), st.floats(1e-6, 1e6), st.booleans())
def test_a_map_that_was_turned_mirrored_scaled_and_shifted_lies_back_on_itself(seed, d, scale, mirrored):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(12, d))
    turn = ortho_group.rvs(d, random_state=seed) if d > 1 else np.array([[1.0]])
    turn = turn * np.where(np.arange(d) == 0, -1 if mirrored else 1, 1)
    moved = scale * Y @ turn + rng.normal(size=d) * scale
    assert_allclose(align(moved, Y), Y, atol=1e-8)


@given(seeds)
def test_alignment_never_shears_and_cannot_be_bettered_by_turning(seed):
    rng = np.random.default_rng(seed)
    Y, reference = rng.normal(size=(12, 2)) * [3, 1], rng.normal(size=(12, 2))
    aligned = align(Y, reference)
    ratios = pdist(aligned) / pdist(Y)
    assert_allclose(ratios, ratios[0], rtol=1e-9)
    spread = [np.linalg.norm(each - each.mean(axis=0)) for each in (aligned, reference)]
    assert spread[0] == pytest.approx(spread[1])
    assert_allclose(aligned.mean(axis=0), reference.mean(axis=0), atol=1e-12)
    other = (aligned - aligned.mean(axis=0)) @ ortho_group.rvs(2, random_state=seed) + aligned.mean(axis=0)
    assert np.sum((aligned - reference) ** 2) <= np.sum((other - reference) ** 2) + 1e-9


def test_maps_whose_points_coincide_are_left_alone():
    reference = np.arange(8.0).reshape(4, 2)
    assert_allclose(align(np.ones((4, 2)), reference), np.tile(reference.mean(axis=0), (4, 1)))
    assert np.isfinite(align(reference, np.ones((4, 2)))).all()
    with pytest.raises(ValueError, match=r"not \(3, 2\) with \(4, 2\)"):
        align(np.ones((3, 2)), reference)
