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


@pytest.mark.parametrize("n", [60, 1100])
def test_the_same_seed_gives_the_same_start_of_a_graph_of_ties(n):
    graph = (np.array([[j for j in range(6) if j != i][:5] for i in range(n)]), np.ones((n, 5)))
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


def test_a_kernel_of_the_heaviest_tail_has_a_width():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nf.kernels.HeavyTailed(64.0, 1e12).width > 0


SIZES = {
    "beta": [nf.kernels.Gaussian, lambda v: nf.kernels.HeavyTailed(0.5, v)],
    "a": [lambda v: nf.kernels.UMAP(v, 1.0)],
    "lam": [nf.costs.ElasticEmbedding],
    "gamma": [nf.costs.LargeVis],
}
EXPONENTS = {
    "alpha": [nf.kernels.HeavyTailed],
    "b": [lambda v: nf.kernels.UMAP(1.0, v), lambda v: nf.costs.AlphaBeta(1.0, v)],
    "a": [nf.costs.AlphaBeta],
}


@pytest.mark.parametrize(
    ("name", "make", "value"),
    [(name, make, v) for name in SIZES for make in SIZES[name] for v in (1e-300, 1e-60, 1e60, 1e300)]
    + [(name, make, v) for name in EXPONENTS for make in EXPONENTS[name] for v in (1e3, 1e300)]
    + [("dof", nf.kernels.Student, 1e-60), ("nu", nf.kernels.Inhomogeneous, 1e-60)]
    + [("nu", nf.kernels.Inhomogeneous, np.array([1.0, 1e-60]))],
)
def test_parameters_beyond_all_measure_are_refused(name, make, value):
    with pytest.raises(ValueError, match=rf"^{name} must be (a number )?between .* and .*, got"):
        make(value)


EXTREMES = [
    *(make(v) for name in SIZES for make in SIZES[name] for v in (1e-12, 1e12)),
    *(make(64.0) for name in EXPONENTS for make in EXPONENTS[name]),
    *(nf.kernels.Student(v) for v in (1e-12, 1e300, np.inf)),
    *(nf.costs.JensenShannon(v) for v in (1e-300, 1e-12, 1 - 1e-12)),
    nf.costs.AlphaBeta(-8.0, 1.0),
]


@pytest.mark.parametrize("part", EXTREMES, ids=repr)
@pytest.mark.parametrize("engine", ["exact", "mesh"])
def test_parameters_at_the_ends_of_their_ranges_are_refused_or_run_quietly(part, engine, random):
    cost, kernel = (part, nf.kernels.Student()) if isinstance(part, nf.costs.Cost) else (nf.costs.KL(), part)
    bare = cost.facts.domains == {"weights"}
    method = nf.Method(cost, kernel, "none" if bare else "point")
    with warnings.catch_warnings(), suppress(ValueError):
        warnings.simplefilter("error", RuntimeWarning)
        run = nf.Run(random.normal(size=(30, 4)), method, perplexity=5, engine=engine, random_state=0)
        run.step(8)
        assert np.isfinite(run.Y).all()
        assert np.isfinite(run.cost)


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
        nf.Method(nf.costs.AlphaBeta(64.0, 0.5), nf.kernels.Student()),
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


@pytest.mark.parametrize("text", ["lam/(1 + f)", "min(1, lam/(1 + f))", "exp(-f)*lam", "1/(lam + lam*f)"])
def test_kernels_of_weights_beyond_all_measure_are_refused(text):
    with pytest.raises(ValueError, match=r"the largest weight of a kernel is between .*: divide it by 1e"):
        nf.kernels.Expression(text, lam=1e-300)
    assert nf.kernels.Expression(text, lam=1e-6).width > 0


@pytest.mark.parametrize("text", ["lam*(r - d)**2", "lam*(v - w)**2", "q*log(q/p)/lam"])
def test_costs_of_forces_beyond_all_measure_are_refused(text):
    with pytest.raises(ValueError, match=r"its derivative in q is of size .*: divide it by"):
        nf.costs.Expression(text, lam=1e-300)
    assert nf.costs.Expression(text, lam=1e-6).facts


def test_a_derivative_is_defined_in_a_gap_of_its_formula():
    cost = nf.costs.Expression("1/(1/w + (w + 1)/(v - lam))", lam=0.3)  # which is 0 at v = 0.3, for every w
    w = np.array([0.05, 0.2, 0.6])
    np.testing.assert_allclose(cost.value(np.full(3, 0.3), w), 0, atol=1e-15)
    np.testing.assert_allclose(cost.derivative(np.full(3, 0.3), w), 0, atol=1e-15)


def test_a_kernel_written_with_expm1_keeps_its_digits_near_zero(random):
    kernel = nf.kernels.Expression("exp(-log1p(expm1(f**1.5)**0.5))")
    f = np.array([1e-14, 1e-11, 1e-8])
    expected = -0.75 * f**-0.25 / (1 + f**0.75)
    np.testing.assert_allclose(kernel.log_derivative(f), expected, rtol=1e-6)
    np.testing.assert_allclose(kernel.log_derivative(f.astype(np.float32)), expected, rtol=1e-5)
    method = nf.Method(nf.costs.JensenShannon(0.3), kernel, "point")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        run = nf.Run(random.normal(size=(25, 4)), method, engine="mesh", perplexity=5, random_state=0)
        run.step(5)
    assert np.isfinite(run.cost)


def test_sparse_data_far_from_zero_have_one_start():
    X = sparse.csr_array(np.random.default_rng(22).normal(size=(5, 5)) + 1e16)
    starts = [nf.Run(X, "ssne", random_state=0, n_jobs=jobs).Y for jobs in (None, 1, 2, 1)]
    for other in starts[1:]:
        np.testing.assert_array_equal(other, starts[0])


@pytest.mark.parametrize("columns", [40, 3000])
def test_sparse_data_have_the_principal_components_of_dense_data(columns, random):
    X = random.normal(size=(1500, columns)) * (random.random((1500, columns)) < 0.05)
    X[:, :2] += 3 * random.normal(size=(1500, 2))
    found, expected = (
        nf.Embedder("pca", random_state=0).fit_transform(each) for each in (sparse.csr_array(X), X)
    )
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=1e-6 * np.abs(expected).max())


def test_a_map_whose_cost_is_infinite_says_so(random):
    method = nf.Method(nf.costs.SStress())
    options = {"optimizer": "momentum", "learning_rate": 1000.0, "n_components": 3, "random_state": 0}
    run = nf.Run(random.normal(size=(40, 5)), method, **options)
    with pytest.raises(ValueError, match=r"left the range of numbers at iteration .*: lower learning_rate"):
        _ = [run.step(1) or run.cost for _ in range(5)]
    assert np.isfinite(run.Y).all()
    assert np.isfinite(run.history["cost"]).all()


def test_two_points_of_which_one_stands_for_a_thousand_million():
    X = np.random.default_rng(885).normal(size=(2, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        run = nf.Run(X * (X > 0), "nmmds", weights=[1e9 + 1, 1], random_state=0)
        run.step(10)
    assert np.isfinite(run.cost)


def test_a_constant_of_thousands_of_digits_is_not_derived():
    cost = nf.costs.Expression("(max((0.377 + 1e-300)**17 + r, 2) - 1/(r + d))**2")
    with pytest.raises(ValueError, match="cannot be derived, because a constant in it has too many digits"):
        nf.derive(nf.Method(cost))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "-32,701;nan;279\r\n-178,429;569\r\n-44,064;135;114",
            "line 2 has 2 cells where the first line has 3",
        ),
        ('"381" "-9.2" "854"\r\n"-50" "+3.4" "-4" "7"\r\n', "line 2 has 4 cells where the first line has 3"),
    ],
)
def test_a_line_that_lacks_a_cell_does_not_make_another_table(text, told, tmp_path):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(ValueError, match=told):
        read_table(tmp_path / "t.txt")


def test_a_logarithm_of_a_number_with_a_long_factor_is_derived():
    kernel = nf.kernels.Expression("exp(-f*(1 - log1p(lam**3)/(3162277.66*log1p(1e-5))))", lam=0.5)
    assert nf.derive(nf.Method(nf.costs.KL(), kernel, "point")).passed


def test_a_floor_of_many_digits_keeps_a_cost_on_the_mesh(random):
    method = nf.Method(nf.costs.Expression("0.4*p*log(p/q) + 0.6*q*log(q/p)"), nf.kernels.Student(), "point")
    assert np.isfinite(nf.Run(random.normal(size=(400, 4)), method, engine="mesh", random_state=0).cost)
