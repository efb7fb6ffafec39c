"""Maps made together: what they share stays in place, and everything else is as it would be alone."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances

import nearfield as nf
from nearfield.descent import aligning

pytestmark = pytest.mark.slow

X = make_blobs(150, n_features=6, centers=4, cluster_std=1.5, random_state=1)[0]
HALVES = [X[:100], X[50:]]
IDS = [np.arange(100), np.arange(50, 150)]
SHORT = {"random_state": 0, "max_iter": 120}


@pytest.mark.filterwarnings("ignore:map .. the map has not unfolded")
@pytest.mark.parametrize("method", ["tsne", "jse", "umap", "mds", "mstsne", "msasne", "sstress"])
def test_without_ties_they_are_the_separate_runs_bit_for_bit(method):
    found = nf.align(HALVES, IDS, method, strength=0, random_state=0, max_iter=35)
    for made, data, cost in zip(found.maps, HALVES, found.cost, strict=True):
        run = nf.Run(data, method, random_state=0)
        run.step(found.iterations)
        assert run.cost == cost
        np.testing.assert_allclose(pairwise_distances(made.Y), pairwise_distances(run.Y), atol=1e-9)
        if data is HALVES[0]:
            assert np.array_equal(made.Y, run.Y)  # the one that the other is laid on


ENGINES = [(name, "exact") for name in ("tsne", "jse", "umap", "mstsne", "dhssne")]
ENGINES += [("tsne", "mesh"), ("jse", "mesh")]  # the ties know of no engine


@pytest.mark.parametrize(("method", "engine"), ENGINES)
def test_ties_bring_what_is_shared_together(method, engine):
    drift = [
        nf.align(HALVES, IDS, method, strength=s, engine=engine, random_state=0, max_iter=250).drift[0, 1]
        for s in (0.0, 0.3, 3.0)
    ]
    assert drift[1] < 0.7 * drift[0]
    assert drift[2] < 0.7 * drift[0]


@pytest.mark.parametrize("method", ["mds", "sammon", "sstress"])
def test_ties_bring_maps_of_distances_together(method):
    drift = [nf.align(HALVES, IDS, method, strength=s, **SHORT).drift[0, 1] for s in (0.0, 0.1, 1.0)]
    assert drift[2] < drift[1] < drift[0] / 2


def test_a_stronger_tie_leaves_less_drift_and_costs_more():
    found = [nf.align(HALVES, IDS, strength=s, random_state=0) for s in (0.0, 0.1, 1.0)]
    assert all(each.converged for each in found)
    assert found[2].drift[0, 1] < found[1].drift[0, 1] < found[0].drift[0, 1]
    assert found[2].cost.sum() < 1.3 * found[0].cost.sum()


@pytest.mark.parametrize("source", ["distances", "neighbours", "graph", "sparse", "float32"])
def test_every_source(source):
    def given(data):
        D = pairwise_distances(data)
        if source == "distances":
            return D
        order = np.argsort(D, axis=1)[:, 1:31]
        near = np.take_along_axis(D, order, axis=1)
        if source == "neighbours":
            return order, near
        if source == "graph":
            rows = np.repeat(np.arange(len(data)), 30)
            return sparse.csr_array((near.ravel(), (rows, order.ravel())), shape=D.shape)
        return sparse.csr_array(data) if source == "sparse" else data.astype(np.float32)

    metric = "euclidean" if source in ("sparse", "float32") else "precomputed"
    options = {"perplexity": 8, "metric": metric, **SHORT}
    tied, alone = (nf.align([given(e) for e in HALVES], IDS, strength=s, **options) for s in (0.3, 0))
    assert tied.drift[0, 1] < 0.7 * alone.drift[0, 1]


def test_equal_data_sets_give_equal_maps():
    found = nf.align([X[:80]] * 3, perplexity=10, **SHORT)
    for each in found.maps[1:]:
        np.testing.assert_allclose(each.Y, found.maps[0].Y, atol=1e-5 * np.abs(each.Y).max())
    assert found.drift.max() < 1e-5


def test_the_order_of_rows_has_no_say():
    order = np.random.default_rng(0).permutation(100)
    plain = nf.align(HALVES, IDS, engine="exact", random_state=0, max_iter=40)
    mixed = nf.align(
        [HALVES[0], HALVES[1][order]], [IDS[0], IDS[1][order]], engine="exact", random_state=0, max_iter=40
    )
    np.testing.assert_allclose(mixed.maps[0].Y, plain.maps[0].Y, atol=1e-6)
    np.testing.assert_allclose(mixed.maps[1].Y, plain.maps[1].Y[order], atol=1e-6)


def test_it_is_the_same_every_time_and_with_other_kinds_of_ids():
    first = nf.align(HALVES, IDS, **SHORT)
    named = nf.align(HALVES, [[f"row {i}" for i in own] for own in IDS], n_jobs=1, **SHORT)
    for one, other in zip(first.maps, named.maps, strict=True):
        assert np.array_equal(one.Y, other.Y)


def test_several_data_sets_of_other_columns_and_dimensions_of_the_map():
    sets, ids = [X[:80], X[40:120, :4], 5 * X[90:]], [range(80), range(40, 120), range(90, 150)]
    found = nf.align(sets, ids, n_components=3, **SHORT)
    assert [each.Y.shape for each in found.maps] == [(80, 3), (80, 3), (60, 3)]
    assert np.isnan(found.drift[0, 2])
    assert np.isfinite(found.drift[[0, 1], [1, 2]]).all()
    assert np.array_equal(found.drift, found.drift.T, equal_nan=True)
    assert "80, 80, 60 points, drift at most" in repr(found)


def test_one_dimension_and_a_single_shared_point():
    found = nf.align([X[:60], X[59:]], [range(60), range(59, 150)], n_components=1, **SHORT)
    assert found.drift[0, 1] < 0.05


def test_who_belongs_elsewhere_may_go():
    moved = X[:100].copy()
    moved[:5] = X[100:105] + 30  # far from everything that they were near to
    tied = nf.align([X[:100], moved], random_state=0)
    gaps = np.linalg.norm(tied.maps[0].Y - tied.maps[1].Y, axis=1)
    assert np.median(gaps[5:]) < 0.2 * gaps[:5].mean()


def test_maps_can_be_saved_and_tell_how_they_were_made(tmp_path):
    made = nf.align(HALVES, IDS, perplexity=9, **SHORT).maps[1]
    made.save(tmp_path / "map.nfmap")
    again = nf.Map.load(tmp_path / "map.nfmap")
    assert np.array_equal(again.Y, made.Y)
    assert (again.parameters["strength"], again.parameters["perplexity"]) == (aligning.STRENGTH, 9)


def test_a_start_for_each():
    starts = [np.random.default_rng(k).normal(size=(100, 2)) * 1e-4 for k in (0, 1)]
    found = nf.align(HALVES, IDS, strength=0, init=starts, max_iter=3)
    run = nf.Run(HALVES[0], init=starts[0])
    run.step(3)
    assert np.array_equal(found.maps[0].Y, run.Y)


def test_ctrl_c_keeps_what_is_there(monkeypatch):
    whole, made = aligning.Together.iterate, []

    def stopped(self, tol):
        made.append(None)
        if len(made) == 150:
            raise KeyboardInterrupt
        return whole(self, tol)

    monkeypatch.setattr(aligning.Together, "iterate", stopped)
    with pytest.warns(UserWarning, match="interrupted at iteration 149: these are the maps so far"):
        found = nf.align(HALVES, IDS, random_state=0)
    assert found.interrupted
    assert not found.converged
    assert found.iterations == 149


def test_progress_is_shown(capsys):
    nf.align(HALVES, IDS, verbose=True, **SHORT)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("align 2 maps: iteration 10, cost ")
    assert len(lines) > 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"datasets": [X]}, "align takes a list of two data sets or more"),
        ({"datasets": X}, "align takes a list of two data sets or more"),
        ({"datasets": [X, 3]}, "data set 1 must be an array"),
        ({"ids": None, "datasets": [X, X[:9]]}, "the data sets have 150, 9 rows: say by ids which"),
        ({"ids": [range(100)]}, "ids must be a list of 2"),
        ({"ids": [range(100), 3]}, "ids of data set 1 must be a sequence of 100, got 3"),
        ({"ids": [range(100), range(99)]}, "data set 1 has 100 rows, but 99 ids"),
        ({"ids": [range(100), [7, *range(99)]]}, "rows 0 and 8 of data set 1 have the same id, 7"),
        ({"ids": [range(100), [None, *range(99)]]}, "ids must be numbers or text, got None in row 0"),
        ({"ids": [range(100), np.r_[np.nan, 1:100]]}, "ids must be numbers or text, got nan in row 0"),
        ({"ids": [range(100), range(100, 200)]}, "data sets 0 and 1 share no ids"),
        ({"ids": [range(100), [str(i) for i in range(100)]]}, "data sets 0 and 1 share no ids"),
        ({"strength": -1}, "strength must be a number from 0 up, got -1"),
        ({"strength": "strong"}, "strength must be a number from 0 up"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"init": ["pca"]}, "init has 1 starts for 2 data sets"),
        ({"init": [np.zeros((100, 2)), np.zeros((100, 3))]}, "data set 1: init must have shape"),
        ({"datasets": [X[:100], np.full((100, 6), np.nan)]}, "data set 1: "),
        ({"method": "nothing"}, "nothing"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(change, message):
    with pytest.raises(ValueError, match=message) as told:
        nf.align(**({"datasets": HALVES, "ids": IDS} | change))
    assert "\n" not in str(told.value)


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match="perplexity"):
        nf.align(HALVES, IDS, perplexiti=3)
