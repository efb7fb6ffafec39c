"""Cases that random search has found, each as a test of what it should have been."""

import warnings
from contextlib import suppress

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

import nearfield as nf
from nearfield.io.tables import read_table, write_map

pytestmark = pytest.mark.filterwarnings("ignore:the graph has as few", "ignore:what the graph holds")


@pytest.mark.parametrize("n", [60, 300, 1600])
def test_a_graph_as_long_as_a_chain_has_a_start(n):
    x = np.random.default_rng(n).normal(size=(n, 1))
    graph = kneighbors_graph(x, 5, mode="distance")
    one, other = (nf.Run(graph, metric="precomputed", random_state=0).Y for _ in range(2))
    assert np.all(np.isfinite(one))
    assert one.std() > 0
    np.testing.assert_array_equal(one, other)


def test_the_same_seed_gives_the_same_start_of_a_graph_of_ties():
    graph = (np.array([[j for j in range(60) if j != i][:5] for i in range(60)]), np.ones((60, 5)))
    one, other = (nf.Run(graph, metric="precomputed", random_state=0).Y for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_few_points_far_apart_have_a_cost_on_the_mesh():
    run = nf.Run(np.random.default_rng(555).normal(size=(4, 2)), "dhssne", engine="mesh", random_state=0)
    run.step(220)
    assert np.all(np.isfinite(run.history["cost"]))


def test_a_cost_without_any_force_leaves_the_map_alone(random):
    method = nf.Method(nf.costs.Expression("q"), nf.kernels.Gaussian(), "pair")
    run = nf.Run(random.normal(size=(80, 4)), method, engine="mesh")
    run.step(3)
    assert np.all(np.isfinite(run.Y))


@pytest.mark.parametrize("name", ["mds", "sstress", "sammon", "tsne", "asne"])
@pytest.mark.parametrize("unit", [1e40, 1e10, 1e-10, 1e-40])
def test_data_in_any_unit_give_maps_of_the_same_cost(name, unit, random):
    X = random.normal(size=(60, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        one, other = (nf.Embedder(name, random_state=0).fit(x) for x in (X, unit * X))
    degree = {"mds": 2, "sstress": 4}.get(name, 0)  # of the unit in the cost
    assert other.cost_ / unit**degree == pytest.approx(one.cost_, rel=0.03)
    assert other.n_iter_ > 5


@pytest.mark.parametrize("form", ["dok", "lil", "dia", "bsr", "coo", "csc"])
@pytest.mark.parametrize("engine", ["exact", "mesh"])
def test_every_sparse_format_is_taken(form, engine, random):
    X = random.normal(size=(40, 4))
    found = nf.Run(getattr(sparse, f"{form}_array")(X), engine=engine, random_state=0)
    expected = nf.Run(sparse.csr_array(X), engine=engine, random_state=0)
    np.testing.assert_array_equal(found.Y, expected.Y)


@pytest.mark.parametrize("engine", ["auto", "pairs"])
def test_distances_that_are_all_zero_are_refused(engine):
    with pytest.raises(ValueError, match="all 120 points are equal: there is nothing to map"):
        nf.Run(np.zeros((120, 120)), "mds", metric="precomputed", engine=engine)


def test_a_message_holds_no_array(random):
    run = nf.Run(random.normal(size=(30, 4)))
    with pytest.raises(ValueError, match=r"pairs of whole numbers, got an array of shape \(3, 2, 2\)$"):
        run.link(must=np.zeros((3, 2, 2), int))


def test_a_parameter_may_be_learned_from_its_limit(random):
    method = nf.Method(nf.costs.KL(), nf.kernels.HeavyTailed(0.0, learned=("alpha",)), "pair")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = nf.Run(random.normal(size=(80, 4)), method, random_state=0)
        run.step(150)
    assert run.method.kernel.alpha > 0


def test_a_start_too_small_to_be_squared_is_refused(random):
    X = random.normal(size=(30, 4))
    with pytest.raises(ValueError, match=r"init holds values up to .e-200, whose squares"):
        nf.Run(X, "msnerv", init=1e-200 * X[:, :2])


DAMAGES = {
    "a header of npy without an end": (".npy", lambda data: data[:26] + b"\x13" + data[27:]),
    # The method of compression of the second member, in the directory at the end.
    "an unknown compression": (
        ".npz",
        lambda data: (at := data.rindex(b"PK\x01\x02") + 10) and data[:at] + b"\xc1=" + data[at + 2 :],
    ),
    "a file of Parquet within itself": (".parquet", lambda data: data[int(0.7321 * len(data)) :] + data),
    "half a file of Parquet": (".parquet", lambda data: data[: len(data) // 2] + data[-8:]),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_damaged_tables_are_refused_in_a_line(what, tmp_path):
    ending, damage = DAMAGES[what]
    path, X = tmp_path / f"t{ending}", np.arange(24.0).reshape(8, 3)
    if ending == ".parquet":
        write_map(path, X)
    else:
        np.save(path, X) if ending == ".npy" else np.savez(path, X=X, y=np.arange(8))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=r"is not a (file that NumPy|Parquet file)") as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


def test_a_graph_of_complex_distances_is_refused():
    with pytest.raises(ValueError, match="Complex data not supported"):
        nf.Run((np.array([[1], [0], [1]]), np.ones((3, 1)) + 0j), metric="precomputed")


def test_a_kernel_of_a_tail_beyond_all_measure_has_a_width():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nf.kernels.HeavyTailed(1e6, 1e6).width > 0


@pytest.mark.parametrize("engine", ["pairs", "moments", "exact"])
@pytest.mark.parametrize("n_components", [1, 2])
def test_a_run_that_runs_away_says_so_without_noise(engine, n_components):
    X = np.random.default_rng(422).normal(size=(12, 3))
    run = nf.Run(X, "sstress", engine=engine, optimizer="momentum", n_components=n_components, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="left the range of numbers"):
            run.step(200)


@pytest.mark.parametrize("name", ["msasne", "msjse"])
def test_a_start_without_extent_gives_scales_no_measure(name, random):
    with pytest.raises(ValueError, match="init puts all points in one place"):
        nf.Run(random.normal(size=(30, 4)), name, init=np.ones((30, 2)))


def test_costs_and_data_beyond_all_measure_are_refused_or_run_quietly(random):
    X = random.normal(size=(25, 4))
    steep = nf.costs.Expression("v*(lam + 1e59*w)/w", lam=0.1)
    methods = [
        nf.Method(steep, nf.kernels.Gaussian(), "none"),
        nf.Method(nf.costs.AlphaBeta(1e6, 0.5), nf.kernels.Student()),
        nf.Method(nf.costs.Expression("-r*log(d) + (d**0.123 - d**17)")),
    ]
    for method in methods:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            with suppress(ValueError):
                nf.Run(X, method, perplexity=5, random_state=0).step(5)
    with pytest.raises(ValueError, match="contains infinity"):
        nf.Run(np.longdouble(1e300) * np.longdouble(1e100) * X.astype(np.longdouble))
    with pytest.raises(ValueError, match="all 40 points are equal"):
        nf.Run(sparse.csr_array(np.full((40, 20), 1e16)))


def test_two_points_are_no_sample_of_pairs(random):
    with pytest.raises(ValueError, match="two points have but one pair"):
        nf.Run(random.normal(size=(2, 3)), "mds", engine="pairs")


def test_a_disc_holds_its_tongue_while_a_map_runs_away():
    X = np.random.default_rng(258).normal(size=(12, 5)) + 8.0 * (np.arange(12) % 4)[:, None]
    run = nf.Run(X, "sstress", optimizer="momentum", random_state=0)
    run.add(nf.terms.Disc([3, 4, 9], np.zeros(2), 5.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="left the range of numbers"):
            run.step(60)


@pytest.mark.parametrize("name", ["snerv", "tsne", "jse"])
def test_affinities_too_small_for_float32_are_none(name):
    x = np.random.default_rng(728).normal(size=(40, 1)) + 8.0 * (np.arange(40) % 4)[:, None]
    P = np.exp(-((x - x.T) ** 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        run = nf.Run(P, name, metric="affinity", engine="mesh", random_state=0)
        run.step(25)
    assert np.isfinite(run.cost)
