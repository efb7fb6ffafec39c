"""Attraction that stays stronger or weaker to the end."""

import numpy as np
import pytest

import nearfield as nf

random = np.random.default_rng(0)
X = 5 * random.integers(0, 2, (200, 1)) + random.normal(size=(200, 2)) @ random.normal(size=(2, 5))


@pytest.mark.parametrize("engine", ["exact", "mesh"])
@pytest.mark.parametrize("attraction", [1.5, 3.0])
def test_what_is_left_in_the_end_is_minimised_and_told(engine, attraction):
    method = nf.method("tsne")
    P = method.target(X, perplexity=8)  # the same for both engines, which take other neighbours otherwise
    run = nf.Run(P, "tsne", metric="affinity", engine=engine, attraction=attraction, random_state=0)
    run.converge(400)
    assert run.history["exaggeration"][-1] == attraction
    assert run.history["exaggeration"].max() == max(12.0, attraction)
    value, _ = method.value_and_gradient(run.Y, P, exaggeration=attraction)
    assert run.cost == pytest.approx(value, rel=1e-2)


def test_stronger_attraction_makes_a_smaller_map_and_one_is_the_method():
    plain, strong = (nf.TSNE(perplexity=8, attraction=a, random_state=0).fit_transform(X) for a in (1, 3))
    assert strong.std() < 0.7 * plain.std()
    assert np.array_equal(plain, nf.TSNE(perplexity=8, random_state=0).fit_transform(X))


def test_a_new_row_feels_the_same_attraction():
    model = nf.TSNE(perplexity=8, attraction=3, random_state=0).fit(X)
    held = model._reference.held
    assert held.attraction == 3
    place = model.transform(X[:1] + 1e-6)
    assert np.linalg.norm(place - model.embedding_[:1]) < 0.2 * model.embedding_.std()


def test_what_has_no_attraction_refuses():
    with pytest.raises(ValueError, match="leave it at 1"):
        nf.Run(X, "mds", attraction=2)
    with pytest.raises(ValueError, match=r"0\.01 to 1000"):
        nf.Run(X, "tsne", attraction=0)
