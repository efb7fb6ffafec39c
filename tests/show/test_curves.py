"""R_NX curves, the Shepard diagram and the figures of points: what is drawn is what was judged."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import sparse

import nearfield as nf

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 5))
GOOD, POOR = X[:, :2], RANDOM.normal(size=(300, 2))


def entries(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# ---------------------------------------------------------------------------------------------- quality


def test_the_curves_are_those_of_the_judgement_and_the_best_comes_first():
    judged = {"poor": nf.quality(X, POOR), "good": nf.quality(X, GOOD)}
    ax = nf.show.quality(judged)
    for curve, each in zip(ax.lines, judged.values(), strict=False):
        K, values = curve.get_data()
        assert (K[0], K[-1]) == (1, 298)
        np.testing.assert_array_equal(values, each.rnx[np.asarray(K) - 1])
    assert entries(ax) == [f"{judged[name].auc:.2f} {name}" for name in ("good", "poor")]
    assert ax.get_legend().get_title().get_text() == "AUC"
    assert ax.get_xscale() == "log"
    colours = [handle.get_color() for handle in ax.get_legend().legend_handles]
    assert colours == [ax.lines[1].get_color(), ax.lines[0].get_color()]


def test_maps_are_judged_where_they_are_not():
    ax = nf.show.quality({"good": GOOD, "judged": nf.quality(X, POOR)}, X, sample=50)
    assert entries(ax)[0] == f"{nf.quality(X, GOOD, sample=50).auc:.2f} good"
    assert entries(nf.show.quality(nf.quality(X, GOOD))) == [f"{nf.quality(X, GOOD).auc:.2f} map"]
    assert nf.show.quality({"good": GOOD}, X, legend=False).get_legend() is None


def test_forty_curves_all_differ():
    judged = nf.quality(X, GOOD)
    ax = nf.show.quality({f"map {k}": judged for k in range(40)})
    styles = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in ax.lines[:40]}
    assert len(styles) == 40


def test_what_cannot_be_judged():
    with pytest.raises(ValueError, match="'good' is not judged yet: pass the data as X"):
        nf.show.quality({"good": GOOD})
    with pytest.raises(ValueError, match="no map to draw"):
        nf.show.quality({})
    with pytest.raises(ValueError, match="judged already: leave out metric"):
        nf.show.quality(nf.quality(X, GOOD), metric="cosine")


# ---------------------------------------------------------------------------------------------- shepard


def test_spearman_is_that_of_the_judgement():
    ax = nf.show.shepard(X, GOOD)
    assert ax.get_title(loc="left") == f"Spearman {nf.quality(X, GOOD).spearman:.2f}"
    assert nf.show.shepard(X, GOOD, title="Mine").get_title(loc="left") == "Mine"


def test_the_line_is_the_median_and_the_band_holds_80_per_cent():
    ax = nf.show.shepard(X, 3 * X[:, :3])
    middle, median = ax.lines[0].get_data()
    first, second = np.triu_indices(300, 1)
    r = np.linalg.norm(X[first] - X[second], axis=1)
    d = 3 * np.linalg.norm(X[first, :3] - X[second, :3], axis=1)
    near = np.abs(r - middle[20]) < 0.02
    assert median[20] == pytest.approx(np.median(d[near]), rel=0.05)
    (band,) = ax.collections
    edges = band.get_paths()[0].vertices
    low, high = (
        edges[np.isclose(edges[:, 0], middle[20]), 1].min(),
        edges[np.isclose(edges[:, 0], middle[20]), 1].max(),
    )
    assert np.mean((d[near] > low) & (d[near] < high)) == pytest.approx(0.8, abs=0.08)


def test_a_perfect_map_is_a_straight_line():
    ax = nf.show.shepard(GOOD, 2 * GOOD)
    middle, median = ax.lines[0].get_data()
    np.testing.assert_allclose(median[1:-1], 2 * np.asarray(middle[1:-1]), rtol=1e-3)
    assert ax.get_title(loc="left") == "Spearman 1.00"


@pytest.mark.parametrize("form", ["sparse", "precomputed", "cosine", "sample"])
def test_all_kinds_of_data(form):
    from sklearn.metrics import pairwise_distances

    data = {"sparse": sparse.csr_array(X), "precomputed": pairwise_distances(X)}.get(form, X)
    metric = form if form in ("precomputed", "cosine") else "euclidean"
    ax = nf.show.shepard(data, GOOD, metric=metric, sample=150 if form == "sample" else 1000)
    figure = float(ax.get_title(loc="left").split()[1])
    assert figure == pytest.approx(
        nf.quality(X, GOOD, metric="cosine" if form == "cosine" else "euclidean").spearman, abs=0.05
    )


def test_no_diagram_of_other_data_or_of_one_point():
    with pytest.raises(ValueError, match="X has 300 points but Y has 299"):
        nf.show.shepard(X, GOOD[1:])
    with pytest.raises(ValueError, match="at least 3 points"):
        nf.show.shepard(X[:2], GOOD[:2])
    assert nf.show.shepard(X, 0 * GOOD).get_title(loc="left") == "Spearman nan"


# ----------------------------------------------------------------------------------------------- stress


@pytest.mark.parametrize("figure", ["stress", "auc", "neighbours_kept", "trustworthiness", "continuity"])
def test_points_have_the_colours_of_their_figures(figure):
    judged = nf.quality(X, GOOD)
    ax = nf.show.stress(X, GOOD, figure)
    (points,) = ax.collections
    expected = dict(zip(map(tuple, GOOD.tolist()), getattr(judged.points, figure), strict=True))
    for place, value in zip(np.asarray(points.get_offsets()).tolist(), points.get_array(), strict=True):
        assert value == expected[tuple(place)]
    low, high = np.percentile(getattr(judged.points, figure), (2, 98))
    assert points.get_clim() == (low, high)


def test_of_a_sample_the_others_are_grey():
    judged = nf.quality(X, GOOD, sample=40)
    for ax in (nf.show.stress(X, GOOD, sample=40), nf.show.stress(judged, GOOD)):
        others, points = ax.collections
        assert len(others.get_offsets()) == 300
        np.testing.assert_array_equal(np.asarray(points.get_offsets()), GOOD[judged.points.index])
        np.testing.assert_array_equal(points.get_array(), judged.points.stress)


@pytest.mark.parametrize("dimensions", [1, 3])
def test_stress_in_other_dimensions(dimensions):
    ax = nf.show.stress(X, X[:, :dimensions], title="Stress")
    assert ax.get_title(loc="left") == "Stress"
    assert hasattr(ax, "get_zlim") == (dimensions == 3)


def test_what_has_no_stress():
    with pytest.raises(ValueError, match="figure must be one of stress, auc"):
        nf.show.stress(X, GOOD, "beauty")
    with pytest.raises(ValueError, match="judged already"):
        nf.show.stress(nf.quality(X, GOOD), GOOD, sample=20)
    with pytest.raises(ValueError, match="more points than the map"):
        nf.show.stress(nf.quality(X, GOOD), GOOD[:50])


# ------------------------------------------------------------------------------------------------ axes


def test_every_function_takes_axes_and_returns_them():
    row = Figure(figsize=(12, 3)).subplots(1, 4)
    pictures = np.zeros((300, 2, 2))
    assert nf.show.quality(nf.quality(X, GOOD), ax=row[0]) is row[0]
    assert nf.show.shepard(X, GOOD, ax=row[1]) is row[1]
    assert nf.show.stress(X, GOOD, ax=row[2]) is row[2]
    assert nf.show.images(GOOD, pictures, ax=row[3]) is row[3]
