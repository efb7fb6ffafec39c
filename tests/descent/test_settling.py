"""The compiled loop that settles points finds what the general descent finds, row by row."""

from functools import partial

import numpy as np
import pytest

import nearfield as nf
from nearfield.descent import placing
from nearfield.engine import surroundings
from nearfield.engine.placed import PlacedCost


@pytest.mark.parametrize("gridded", [True, False])
@pytest.mark.parametrize(
    ("method", "dimensions"), [("tsne", 1), ("tsne", 2), ("tsne", 3), ("ssne", 2), ("hssne", 2)]
)
def test_the_compiled_loop_is_the_general_descent(method, dimensions, gridded, monkeypatch):
    monkeypatch.setattr(surroundings, "FEWEST", 0 if gridded else 10**6)
    random = np.random.default_rng(0)
    X, rows = random.normal(size=(200, 4)), random.normal(size=(60, 4))
    run = nf.Run(X, method, engine="mesh", perplexity=6, n_components=dimensions, random_state=0)
    run.step(60)
    reference = run.reference()
    held = reference.held
    assert held.fused
    ties = reference.fitted.ties(rows, held.method, 6, all_pairs=False)
    found, costs = placing.settled_tails(held, ties)
    width = held.method.kernel.width
    expected, value = placing.settled(partial(PlacedCost, held), ties, held.Y, width, 1)
    np.testing.assert_allclose(found, expected, atol=1e-3 * width)
    np.testing.assert_allclose(costs, value, rtol=1e-6, atol=1e-12)
    alone = placing.settled_tails(held, ties.rows(7, 8))
    np.testing.assert_array_equal(alone[0][0], found[7])


def test_a_row_that_no_point_sees_has_its_place_in_any_company():
    random = np.random.default_rng(0)
    model = nf.TSNE(perplexity=6, max_iter=60, random_state=0).fit(random.normal(size=(120, 3)))
    rows = np.vstack([random.normal(size=(3, 3)), np.full((1, 3), 1e4)])
    np.testing.assert_array_equal(model.transform(rows[3:]), model.transform(rows)[3:])
