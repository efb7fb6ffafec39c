"""Every method of the catalogue makes a map that beats a projection, and says truly whether it is at rest."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

import nearfield as nf
from nearfield.descent.starts import principal_components

pytestmark = pytest.mark.slow

METHODS = [name for name in nf.methods() if nf.method(name).kernel is not None]
MARGIN = 0.08  # of R_NX AUC, above that of the principal components
SLOW = ("itsne", "msnerv")  # have the exact engine only


def levels(n):
    """Blobs with structure at three levels: 12 groups of 5 clusters, which are longer than they are wide."""
    random = np.random.default_rng(7)
    groups, clusters = 6 * random.normal(size=(12, 10)), 3 * random.normal(size=(60, 10))
    chosen = random.integers(60, size=n)
    return groups[chosen % 12] + clusters[chosen] + random.normal(size=(n, 10)) * np.geomspace(2, 0.2, 10)


@pytest.fixture(scope="module")
def blobs():
    """Data for both engines, and the AUC of their principal components."""
    found = {}
    for n in (300, 1200):
        X = levels(n)
        projected = principal_components(X, 2, np.random.RandomState(0))
        found[n] = X, nf.quality(X, projected).auc
    return found


def fitted(name, X, **options):
    """The model, and what was said of its map."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = nf.Embedder(name, random_state=0, **options).fit(X)
    return model, [str(each.message) for each in said]


def well(model):
    """Whether the map is what the method says of it: at rest and sound, or at its ceiling."""
    return model.converged_ or model.n_iter_ == 1000


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("n", "dtype", "engine"), [(300, np.float64, "exact"), (1200, np.float32, "mesh")])
def test_a_method_makes_its_map(name, n, dtype, engine, blobs):
    if engine == "mesh" and name in SLOW:
        with pytest.raises(ValueError, match="the mesh engine cannot compute this"):
            nf.Embedder(name, engine="mesh").fit(blobs[300][0])
        return
    X, projected = blobs[n]
    model, said = fitted(name, X.astype(dtype))
    assert model.plan_.engine == engine
    assert not [each for each in said if each.startswith("the map")]
    assert nf.quality(X, model.embedding_).auc > projected + MARGIN
    assert well(model)


@pytest.mark.parametrize("name", ["tsne", "asne", "jse", "nerv", "umap", "chsne", "mssne"])
def test_numbers_of_either_length_give_the_same_map(name, blobs):
    X = blobs[1200][0].astype(np.float32)
    here, there = (fitted(name, each, max_iter=200)[0] for each in (X, X.astype(np.float64)))
    np.testing.assert_array_equal(here.embedding_, there.embedding_)


@pytest.mark.parametrize("name", ["tsne", "asne", "jse", "nerv", "umap", "chsne", "mssne"])
def test_data_in_any_unit_that_rounds_nothing_give_the_same_map(name, blobs):
    X = blobs[1200][0].astype(np.float32)
    here, *there = (fitted(name, unit * X, max_iter=160)[0] for unit in np.float32([1, 1024, 1 / 1024]))
    for each in there:
        np.testing.assert_array_equal(here.embedding_, each.embedding_)


@pytest.mark.parametrize("name", ["asne", "jse"])
def test_data_in_any_unit_give_a_map_as_good(name, blobs):
    X = blobs[1200][0].astype(np.float32)
    units = np.float32([1, 1e-3, 1e3])
    here, *there = (nf.quality(X, fitted(name, unit * X)[0].embedding_).auc for unit in units)
    # The last bits of the data differ, and with them which of many like minima is found.
    assert there == pytest.approx([here, here], abs=0.02)


@pytest.mark.parametrize("name", ["asne", "jse", "umap"])
def test_a_random_start_leads_to_a_map_too(name, blobs):
    """Its groups may lie elsewhere, which costs a part of what is kept."""
    X, projected = blobs[1200]
    model, _ = fitted(name, X, init="random")
    assert nf.quality(X, model.embedding_).auc > projected + MARGIN / 2


@pytest.mark.parametrize("name", ["jse", "tjse", "ujse", "sqsne"])
def test_a_method_that_is_guided_ends_lower_than_alone(name):
    """Without the guide it ends higher, from the same start."""
    X = load_digits().data[::3]
    run, alone = nf.Run(X, name, random_state=0), nf.Run(X, name, random_state=0, optimizer="lbfgs")
    assert run.guided
    assert not alone.guided
    assert run.method == nf.method(name)
    for each in (run, alone):
        each.converge(1000)
    assert not run.guided
    assert run.cost < alone.cost


def test_a_run_that_its_guide_did_not_leave_has_not_converged(blobs):
    model, said = fitted("jse", blobs[300][0], max_iter=100)
    assert not model.converged_
    assert "the map has not unfolded: t-SNE lays it out until jse takes over at iteration 150" in said[-1]


def test_a_map_that_is_one_already_has_no_guide(blobs):
    X = blobs[300][0]
    Y = nf.TSNE(random_state=0).fit_transform(X)
    assert not nf.Run(X, "jse", init=Y).guided
    assert nf.Run(X, "jse", init=1e-6 * Y).guided


@pytest.mark.parametrize("name", ["jse", "asne", "umap"])
def test_pins_hold_and_can_be_taken_back_across_the_guide(name, blobs):
    run = nf.Run(blobs[300][0], name, random_state=0)
    run.step(140)
    before = run.Y
    run.pin([3], [[5.0, 5.0]], follow=10)
    run.step(40)
    assert not run.guided
    np.testing.assert_array_equal(run.Y[3], [5.0, 5.0])
    run.undo()
    assert run.guided
    np.testing.assert_array_equal(run.Y, before)
    run.step(40)
    again = nf.Run(blobs[300][0], name, random_state=0)
    again.step(180)
    np.testing.assert_array_equal(run.Y, again.Y)


def test_a_guided_run_is_reopened_where_it_was(blobs, tmp_path):
    X = blobs[300][0]
    for iterations in (120, 170):
        run = nf.Run(X, "jse", random_state=0)
        run.step(iterations)
        run.map().save(tmp_path / "map.nfmap")
        reopened = nf.Run.load(tmp_path / "map.nfmap", X)
        for each in (run, reopened):
            each.step(60)
        np.testing.assert_array_equal(reopened.Y, run.Y)
