"""Odd data, starts, graphs and weights get a line that names the fix, or a right map."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

import nearfield as nf

FITS = {
    "Run": lambda X, **options: nf.Run(X, random_state=0, **options).Y,
    "Embedder": lambda X, **options: nf.Embedder(max_iter=20, random_state=0, **options).fit_transform(X),
    "TSNE": lambda X, **options: nf.TSNE(max_iter=20, random_state=0, **options).fit_transform(X),
    "pca": lambda X, **options: nf.Embedder("pca", **options).fit_transform(X),
}


@pytest.fixture
def X(random):
    return random.normal(size=(60, 4))


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda X: np.ma.masked_greater(X, 2), "masked array in which .* values are missing: fill them in"),
        (lambda X: (1e9 * X).astype("datetime64[s]"), "X holds dates or durations: pass them as numbers"),
        (lambda X: (1e9 * X).astype("timedelta64[s]"), "X holds dates or durations"),
        (lambda X: X + 1j, "Complex data not supported: pass real and imaginary parts of X"),
        (lambda X: sparse.csr_array(X + 1j), "Complex data not supported"),
        (lambda X: 1e200 * X, r"X holds values up to .e\+200, whose squares no number can hold: divide"),
        (lambda X: X / np.abs(X).max() * 1e308, r"values up to 1e\+308, whose squares"),
        (lambda X: 1e-200 * X, "X holds values up to .e-200, whose squares"),
        (lambda X: np.where(X > 2, "many", "few"), "which is no number|holds text"),
    ],
)
def test_what_is_no_plain_number_is_refused(fit, spoil, expected, X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=expected) as caught:
            FITS[fit](spoil(X))
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore:the map has not unfolded")  # in so few iterations
@pytest.mark.parametrize("fit", FITS)
def test_a_mask_that_hides_nothing_changes_nothing(fit, X):
    np.testing.assert_array_equal(FITS[fit](np.ma.masked_array(X, mask=False)), FITS[fit](X))


def test_a_column_of_dates_is_named(X):
    frame = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=60), "b": X[:, 0]})
    with pytest.raises(ValueError, match=r"column 'day' holds dates \(Timestamp.* in row 0\): leave it out"):
        nf.TSNE().fit(frame)


@pytest.mark.parametrize("name", ["tsne", "jse"])
def test_a_start_too_wide_to_move_is_refused(name, X, random):
    wide = random.normal(size=(60, 2))
    with pytest.raises(ValueError, match=r"init is .e\+20 widths of the kernel across.*: divide it by"):
        nf.Embedder(name, init=1e20 * wide).fit(X)
    with pytest.raises(ValueError, match=r"init holds values up to .e\+150, whose squares"):
        nf.Embedder(name, init=1e150 * wide).fit(X)


def test_a_projection_of_the_data_is_a_start_and_no_map(random):
    """However wide it is, it is unfolded, and so ends where the small one ends."""
    centres = 6 * random.normal(size=(8, 6))
    X = np.repeat(centres, 40, axis=0) + random.normal(size=(320, 6))
    axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:2].T
    wide = (X - X.mean(axis=0)) @ axes
    small = 1e-4 * wide / wide[:, 0].std()
    one, other = (nf.Run(X, init=start, random_state=0) for start in (wide, small))
    assert not one._descent.starts_unfolded
    np.testing.assert_allclose(one.Y, other.Y, rtol=1e-12)
    bent = np.sign(wide) * np.abs(wide) ** 1.2
    assert nf.Run(X, init=bent)._descent.starts_unfolded
    np.testing.assert_array_equal(nf.Run(X, init=bent).Y, bent - bent.mean(axis=0))


def test_a_graph_of_few_neighbours_says_what_perplexity_it_gives(X):
    graph = kneighbors_graph(X, 9, mode="distance")
    with pytest.warns(UserWarning, match=r"as few as 9 neighbours a point, and so perplexity 3: give it 90"):
        nf.Run(graph, metric="precomputed")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nf.Run(graph, metric="precomputed", perplexity=3)


@pytest.mark.parametrize("fuzzy", [False, True])
def test_connectivities_are_not_taken_for_distances_without_a_word(fuzzy, X):
    graph = kneighbors_graph(X, 15, mode="connectivity")
    if fuzzy:  # the nearest of a row has 1, as in the graphs of UMAP
        distances = kneighbors_graph(X, 15, mode="distance")
        nearest = np.minimum.reduceat(distances.data, distances.indptr[:-1])
        graph.data = np.exp(-(distances.data - np.repeat(nearest, 15)))
    with pytest.warns(UserWarning, match="looks like connectivities.* pass metric='affinity'"):
        nf.Run(graph, metric="precomputed", perplexity=5)


@pytest.mark.parametrize("engine", ["exact", "mesh"])
@pytest.mark.parametrize("metric", ["chebyshev", "mahalanobis", "seuclidean", "dice"])
def test_metrics_that_know_no_sparse_data_say_so(metric, engine, X):
    with pytest.raises(ValueError, match=f"metric '{metric}' takes no sparse data: use .* X.toarray"):
        nf.Run(sparse.csr_array(X), metric=metric, engine=engine)


@pytest.mark.parametrize("engine", ["exact", "mesh"])
def test_mahalanobis_of_one_column_and_of_dependent_ones(engine, X):
    one = nf.Run(X[:, :1], metric="mahalanobis", engine=engine, random_state=0)
    other = nf.Run(X[:, :1], metric="seuclidean", engine=engine, random_state=0)
    np.testing.assert_allclose(one.Y, other.Y, rtol=1e-4, atol=1e-9)
    with pytest.raises(ValueError, match="needs columns of which none is a combination of the others"):
        nf.Run(np.c_[X, X[:, 0]], metric="mahalanobis", engine=engine)


@pytest.mark.parametrize("weights", [np.full(60, 1e300), np.r_[1e200, np.ones(59)]])
def test_weights_that_cannot_be_counted_are_refused(weights, X):
    with pytest.raises(ValueError, match=r"weights count copies of rows, and these are .* divide all by"):
        nf.Run(X, weights=weights)


@pytest.mark.parametrize("n_components", [1, 2])
def test_a_run_that_leaves_the_range_of_numbers_says_what_to_do(n_components, X):
    options = {"n_components": n_components, "optimizer": "momentum", "learning_rate": 1e3}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match=r"left the range of numbers .*: lower learning_rate"):
            nf.Embedder("sstress", max_iter=100, **options).fit(X)


def test_a_limit_on_the_process_counts_as_memory():
    code = (
        "import resource, numpy as np, nearfield as nf\n"
        "from nearfield.engine.memory import available_memory\n"
        "nf.Run(np.eye(30))\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, resource.RLIM_INFINITY))\n"
        "assert available_memory() <= 2**28\n"
        "try:\n"
        "    nf.Run(np.zeros((8000, 1)) + np.arange(8000)[:, None], engine='exact')\n"
        "except MemoryError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "the exact engine needs 1.0 GB" in done.stdout, done.stderr
