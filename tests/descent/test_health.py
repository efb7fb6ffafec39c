"""Whether a map collapsed or shattered: said of those that did, and of no others."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_swiss_roll

import nearfield as nf
from nearfield.cli import main
from nearfield.descent.starts import principal_components

pytestmark = pytest.mark.slow

METHODS = ["tsne", "asne", "ssne", "jse", "nerv", "umap", "mds", "sammon", "sstress", "nmmds"]


def data(kind, n, random):
    if kind == "digits":
        return load_digits().data[random.permutation(1797)[:n]]
    if kind == "swiss roll":
        return make_swiss_roll(n, random_state=0)[0]
    if kind == "copies":  # in which most points are the same one
        return np.vstack([np.zeros((n - n // 5, 4)), random.normal(size=(n // 5, 4))])
    if kind == "uneven":
        sizes = np.array([0.8, 0.1, 0.05, 0.03, 0.02])
        return (8 * random.normal(size=(5, 10)))[random.choice(5, n, p=sizes)] + random.normal(size=(n, 10))
    return random.normal(size=(n, 20))


@pytest.mark.parametrize("kind", ["digits", "noise", "swiss roll", "uneven", "copies"])
@pytest.mark.parametrize("n", [50, 120])
@pytest.mark.parametrize("name", METHODS)
def test_good_maps_are_well(name, n, kind, random):
    run = nf.Run(data(kind, n, random), name, random_state=0, n_jobs=1)
    run.converge(400)
    assert run.diagnosis() is None


@pytest.mark.parametrize("name", ["tsne", "umap"])
def test_good_maps_by_the_mesh_are_well(name, random):
    run = nf.Run(data("digits", 1100, random), name, random_state=0, perplexity=10)
    run.converge(300)
    assert run.plan.engine == "mesh"
    assert run.diagnosis() is None


@pytest.mark.parametrize(("n_components", "perplexity"), [(1, None), (3, None), (2, 40.0), (2, 2.0)])
@pytest.mark.parametrize("name", ["tsne", "asne", "mds", "sstress"])
def test_other_dimensions_and_perplexities_are_well(name, n_components, perplexity, random):
    X = data("noise", 50, random)
    keywords = {} if nf.method(name).kernel is None else {"perplexity": perplexity}
    run = nf.Run(X, name, n_components=n_components, random_state=0, n_jobs=1, **keywords)
    run.converge(400)
    assert run.diagnosis() is None


@pytest.mark.parametrize("rate", [1e4, 1e5, 1e6])
def test_a_shattered_map_is_said_to_be_so(rate, random):
    X = data("digits", 500, random)
    run = nf.Run(X, "tsne", learning_rate=rate, random_state=0)
    run.converge(150)
    said = run.diagnosis()
    assert said.startswith("the map shattered: ")
    assert "far from all of their neighbours" in said
    assert said.endswith(f"lower learning_rate (it was {rate:.3g}) or leave it at 'auto'")
    assert "\n" not in said


@pytest.mark.parametrize("engine", ["exact", "mesh"])
@pytest.mark.parametrize("name", ["tsne", "asne", "umap"])
def test_points_that_flew_apart_are_far_from_their_neighbours(name, engine, random):
    X = data("digits", 300, random)
    run = nf.Run(X, name, init=random.uniform(-150, 150, size=(300, 2)), engine=engine)
    assert "far from all of their neighbours" in run.diagnosis()


@pytest.mark.parametrize(("name", "size"), [("mds", 10.0), ("sstress", 3.0), ("sammon", 10.0), ("umap", 1e3)])
def test_points_that_flew_apart_are_said_to_have(name, size, random):
    X = data("noise", 60, random)
    blown = size * np.abs(X).max() * random.normal(size=(60, 2))
    assert "shattered" in nf.Run(X, name, init=blown).diagnosis()


@pytest.mark.parametrize(("name", "init"), [("tsne", "pca"), ("asne", 1e-4), ("jse", "pca"), ("umap", 1e-4)])
def test_a_start_has_not_unfolded(name, init, random):
    X = data("digits", 100, random)
    init = init if isinstance(init, str) else init * principal_components(X, 2, np.random.RandomState(0))
    said = nf.Run(X, name, init=init, random_state=0).diagnosis()
    assert said.startswith("the map has not unfolded: ")
    assert "make more than 0 iterations" in said


@pytest.mark.parametrize("name", ["mds", "sstress", "sammon"])
def test_a_dot_is_no_map_of_distances(name, random):
    run = nf.Run(data("digits", 100, random), name, init=1e-3 * random.normal(size=(100, 2)))
    assert "no better than all points in one place" in run.diagnosis()


def test_points_all_in_one_place(random):
    run = nf.Run(data("noise", 30, random), "tsne", init=np.zeros((30, 2)))
    assert "not unfolded" in run.diagnosis()


@pytest.mark.parametrize(
    ("keywords", "what"),
    [
        (
            {"learning_rate": 1e-6},
            r"not unfolded.*raise learning_rate \(it was 1e-06\) or leave it at 'auto'",
        ),
        ({"learning_rate": 1e6}, r"shattered.*lower learning_rate \(it was 1e\+06\) or leave it at 'auto'"),
        ({"max_iter": 10}, r"not unfolded.*make more than 10 iterations, or try another init or perplexity"),
    ],
)
@pytest.mark.parametrize("kind", [nf.TSNE, nf.Embedder])
def test_the_estimators_warn(kind, keywords, what, random):
    X = data("digits", 100, random)
    with pytest.warns(UserWarning, match=what):
        kind(random_state=0, **{"max_iter": 150, **keywords}).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(random_state=0).fit(X)


def test_the_command_line_warns_in_one_line(tmp_path, monkeypatch, capsys, random):
    monkeypatch.chdir(tmp_path)
    np.savetxt("data.csv", random.normal(size=(40, 3)), delimiter=",", header="a,b,c", comments="")
    assert main(["embed", "data.csv", "--max-iter", "5", "--quiet"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("warning: the map has not unfolded: ")
