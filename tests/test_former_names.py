"""Names of earlier versions: they go on working, say what to use, and are read in files."""

import dataclasses
import json

import numpy as np
import pytest

import nearfield as nf
from nearfield.algebra.costs import Cost


class Halved(Cost):
    """Half the squared differences, as somebody wrote it who knew `scale`."""

    domains = frozenset({"probabilities"})

    def value(self, p, q):
        return (p - q) ** 2

    def derivative(self, p, q):
        return 2 * (q - p)

    def scale(self, p_sum):
        return 0.5 * p_sum


def test_a_cost_that_defines_scale_has_it_as_its_factor(random):
    with pytest.warns(DeprecationWarning, match=r"Halved\.scale is to be called factor"):
        assert Halved().factor(4.0) == 2.0
    method, plain = (nf.Method(cost, nf.kernels.Student(), "pair") for cost in (Halved(), nf.costs.Square()))
    Y, P = random.normal(size=(12, 2)), plain.target(random.normal(size=(12, 4)), perplexity=3)
    with pytest.warns(DeprecationWarning, match="to be called factor"):
        half, _ = method.value_and_gradient(Y, P)
    squared = np.sum((P - 1 / (1 + squares(Y)) * ~np.eye(12, dtype=bool) / total(Y)) ** 2)
    assert half == pytest.approx(0.5 * squared, rel=1e-9)


def squares(Y):
    return np.sum((Y[:, None] - Y) ** 2, axis=2)


def total(Y):
    return np.sum(1 / (1 + squares(Y))) - len(Y)


def test_former_names_answer_and_say_what_to_use():
    with pytest.warns(DeprecationWarning, match="called factor"):
        assert nf.costs.Sammon().scale(4.0) == 0.25
    measure = nf.terms.Measure(0.1, 8.0)
    with pytest.warns(DeprecationWarning, match="called force"):
        assert measure.pull == 0.1
    penalty = nf.penalties.Student(strength=0.5, width=0.25)
    with pytest.warns(DeprecationWarning, match="called constants"):
        assert penalty.scales(measure, 10) == penalty.constants(measure, 10)


def test_files_with_former_names_are_read(random, tmp_path):
    """What a point was drawn by, and the pull of a measure."""
    X = random.normal(size=(40, 4))
    run = nf.Run(X, "jse", random_state=0, init=random.normal(size=(40, 2)), perplexity=5)
    run.step(30)
    run.link(must=[(0, 1)])
    run.step(5)
    now = run.map()
    text = json.dumps(now.session)
    assert '"force"' in text
    assert '"steered"' in text
    former = json.loads(text.replace('"force"', '"pull"').replace('"steered"', '"drawn"'))
    dataclasses.replace(now, session=former).save(tmp_path / "former.nfmap")
    again = nf.Run.load(tmp_path / "former.nfmap", X)
    for each in (run, again):
        each.step(10)
    np.testing.assert_array_equal(again.Y, run.Y)
