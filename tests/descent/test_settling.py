"""The compiled loop that settles points finds what the general descent finds, row by row."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearfield as nf
from nearfield.affinity.space import Vectors
from nearfield.descent import settling
from nearfield.descent.settling_loops import middle
from nearfield.engine import surroundings
from nearfield.engine.placed import PlacedCost


@pytest.mark.parametrize("gridded", [True, False])
@pytest.mark.parametrize(
    ("method", "dimensions", "attraction"),
    [("tsne", 1, 1), ("tsne", 2, 1), ("tsne", 2, 0.5), ("tsne", 3, 1), ("ssne", 2, 4), ("hssne", 2, 1)],
)
def test_the_compiled_loop_is_the_general_descent(method, dimensions, attraction, gridded, monkeypatch):
    monkeypatch.setattr(surroundings, "FEWEST", 0 if gridded else 10**6)
    random = np.random.default_rng(0)
    X, rows = random.normal(size=(200, 4)), random.normal(size=(60, 4))
    options = {"n_components": dimensions, "attraction": attraction}
    run = nf.Run(X, method, engine="mesh", perplexity=6, random_state=0, **options)
    run.step(60)
    reference = run.reference()
    held = reference.held
    assert held.fused
    ties = reference.fitted.ties(rows, held.method, 6, all_pairs=False)
    found, costs = settling.settled_tails(held, ties)
    width = held.method.kernel.width
    expected, value = settling.settled(partial(PlacedCost, held), ties, held.Y, width, 1)
    np.testing.assert_allclose(found, expected, atol=1e-3 * width)
    np.testing.assert_allclose(costs, value, rtol=1e-6, atol=1e-12)
    alone = settling.settled_tails(held, ties.rows(7, 8))
    np.testing.assert_array_equal(alone[0][0], found[7])


def test_a_row_that_no_point_sees_has_its_place_in_any_company():
    random = np.random.default_rng(0)
    model = nf.TSNE(perplexity=6, max_iter=60, random_state=0).fit(random.normal(size=(120, 3)))
    rows = np.vstack([random.normal(size=(3, 3)), np.full((1, 3), 1e4)])
    np.testing.assert_array_equal(model.transform(rows[3:]), model.transform(rows)[3:])


@settings(max_examples=60, deadline=None)
@given(
    places=st.lists(st.sampled_from([-3.0, -0.5, 0.0, 1.0, 1.0 + 2**-52, 1e9]), min_size=1, max_size=30),
    seed=st.integers(0, 2**16),
)
def test_the_weighted_median_is_that_of_the_places_in_order(places, seed):
    weights = np.random.default_rng(seed).integers(0, 4, size=len(places)) / 4  # whose sums are exact
    weights[0] += 0.25
    order = np.argsort(places)
    share = np.cumsum(weights[order])
    expected = np.array(places)[order][np.argmax(share >= 0.5 * share[-1])]
    assert middle(np.array(places), weights) == expected


@pytest.mark.parametrize("method", ["tsne", "tasne", "mds"])
def test_neighbours_are_searched_once_and_are_those_of_a_search_for_themselves(method, monkeypatch):
    random = np.random.default_rng(0)
    X, rows = random.normal(size=(200, 4)), random.normal(size=(60, 4))
    engine = "auto" if method == "mds" else "mesh"
    run = nf.Run(X, method, engine=engine, random_state=0)
    run.step(20)
    reference = run.reference()
    expected = reference.fitted.nearest(rows, 10)[0]
    asked, search = [], Vectors.nearest_to
    monkeypatch.setattr(Vectors, "nearest_to", lambda *given: asked.append(len(given[1])) or search(*given))
    placed = reference.place(rows)
    assert asked == [60]
    np.testing.assert_array_equal(placed.neighbours, expected)
    both = reference.place(np.vstack([rows[:2], X[5:8]]))  # those that were fitted are searched for, too
    assert asked == [60, 2, 3]
    np.testing.assert_array_equal(both.neighbours[:2], expected[:2])
    np.testing.assert_array_equal(both.neighbours[2:, 0], [5, 6, 7])
