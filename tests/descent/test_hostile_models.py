"""Models from others cannot hurt: each opens and places, or is refused in a line that names the file."""

import json
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances

import nearfield as nf
from nearfield.descent.preparing import Preparation
from support.archives import memory, mutated, written

N = 40
X = np.random.default_rng(0).normal(size=(N, 4))
NEW = np.random.default_rng(1).normal(size=(3, 4))
MANY = np.random.default_rng(2).normal(size=(300, 4))


def members(rows="exact", data=X, how=None, method="tsne", **options):
    """What a file holds, by its names."""
    path = FOLDER / "model.nfmap"
    model = nf.Embedder(method, max_iter=20, random_state=0, n_jobs=1, **{"perplexity": 8, **options})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data)
    if how is not None:
        model.preparation_ = how
        model.n_features_in_ = len(how.names)
    model.save(path, rows)
    with np.load(path) as file:
        return {**file, "about": json.loads(str(file["about"]))}


PREPARED = Preparation.of(np.hstack([X, X**2]), standardize=True, components=4)
MADE = {
    "all pairs": {},
    "mesh": {"engine": "mesh"},
    "rows of points": {"method": "jse", "engine": "mesh"},
    "masses": {"method": "wtsne", "engine": "mesh"},
    "another metric": {"metric": "minkowski", "metric_params": {"p": 3.0}},
    "sparse": {"data": sparse.csr_array(np.where(X > 0, X, 0)), "metric": "manhattan"},
    "distances": {"data": pairwise_distances(X), "metric": "precomputed"},
    "stress": {"method": "mds"},
    "components": {"method": "pca"},
    "bytes": {"rows": "compact", "data": MANY},
    "kernels of each point": {"method": "itsne"},
    "several scales": {"method": "msjse", "perplexity": [4, 8]},
    "affinities": {"data": np.exp(-pairwise_distances(X)), "metric": "affinity"},
    "prepared": {"data": PREPARED.rows(np.hstack([X, X**2])), "how": PREPARED},
}
FOLDER = None
FILES = {}


@pytest.fixture(autouse=True)
def _folder(tmp_path_factory):
    global FOLDER
    FOLDER = tmp_path_factory.mktemp("models")


def file_of(name):
    """The members of a file of some kind, made once."""
    if name not in FILES:
        FILES[name] = members(**MADE[name])
    return FILES[name]


def new_rows(columns):
    return np.abs(np.resize(NEW, (3, columns)))


def opened(contents, path):
    """A model of these bytes that has placed some rows, or None if they were refused as they should be."""
    path.write_bytes(contents)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = nf.load(path)
    except ValueError as refusal:
        assert "\n" not in str(refusal)  # noqa: PT017 - to be refused is one of two good ends
        assert str(path) in str(refusal)  # noqa: PT017
        return None
    if isinstance(model, nf.Map):
        return model
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            placed = model.place(new_rows(model.n_features_in_))
    except ValueError as refusal:
        assert str(refusal).startswith(("only rows that were fitted", "metric"))  # noqa: PT017
        return model
    assert np.all(np.isfinite(placed.Y))
    assert np.all((placed.neighbours >= 0) & (placed.neighbours < len(model.embedding_)))
    return model


@pytest.mark.parametrize("name", MADE)
def test_what_was_not_changed_opens(name, tmp_path):
    assert isinstance(opened(written(file_of(name)), tmp_path / "model.nfmap"), nf.Embedder)


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
def test_a_file_that_was_changed_anywhere_opens_or_is_refused(name, tmp_path):
    kept = file_of(name)
    random, refused, before = np.random.default_rng(20), 0, memory()
    for _ in range(100):
        refused += opened(mutated(kept, random, N), tmp_path / "model.nfmap") is None
    assert refused > 30  # some changes do no harm
    assert memory() < before + 2**18  # a quarter of a gigabyte


def parts(kept, *way):
    """The dict of an object within what is told of a model, such as the fitted rows."""
    at = kept["about"]["session"]["reference"]
    for name in way:
        at = at["with"]["parts"]["dict"][name]
    return at["with"]["parts"]["dict"] if "parts" in at["with"] else at["with"]


def changed(kept, way, name, value):
    """A file with another value in one place."""
    kept = {**kept, "about": json.loads(json.dumps(kept["about"]))}
    at = parts(kept, *way)
    if isinstance(value, np.ndarray):
        kept[f"session_{at[name]['array']}"] = value
    elif value == "no":
        del at[name]
    else:
        at[name] = value
    return kept


STRESS = {"is": "Method", "with": {"cost": {"is": "costs.Stress", "with": {}}}}
VECTORS = ["fitted", "_vectors"]
LISTS = [*VECTORS, "lists"]
FAULTS = {
    "fewer rows": ("mesh", ["fitted"], "n", N - 1),
    "other columns": ("mesh", ["fitted"], "columns", 5),
    "a metric that is none": ("mesh", ["fitted"], "metric", "as the crow flies"),
    "another metric": ("mesh", ["fitted"], "metric", "cosine"),
    "a metric that is a number": ("mesh", ["fitted"], "metric", 3),
    "distances that are data": ("mesh", ["fitted"], "precomputed", True),
    "keys of others": ("mesh", ["fitted"], "_keys", np.zeros((3, 2), np.uint64)),
    "keys that are numbers": ("mesh", ["fitted"], "_keys", np.zeros((N, 2))),
    "no keys": ("mesh", ["fitted"], "_keys", "no"),
    "no rows": ("mesh", ["fitted"], "_vectors", None),
    "rows too few": ("mesh", VECTORS, "X", np.zeros((N - 1, 4), np.float32)),
    "rows too narrow": ("mesh", VECTORS, "X", np.zeros((N, 3), np.float32)),
    "rows of doubles": ("mesh", VECTORS, "X", np.zeros((N, 4))),
    "rows that are NaN": ("mesh", VECTORS, "X", np.full((N, 4), np.nan, np.float32)),
    "a mean of others": ("mesh", VECTORS, "_mean", np.zeros(3)),
    "a unit of nothing": ("mesh", VECTORS, "unit", 0.0),
    "a method in place of a number": ("mesh", VECTORS, "nearest_to", 3),
    "a place in place of a method": ("mesh", ["held"], "place", 3),
    "lists of others": ("mesh", LISTS, "order", np.full(N, N, np.int32)),
    "lists with a point twice": ("mesh", LISTS, "order", np.zeros(N, np.int32)),
    "lists without end": ("mesh", LISTS, "starts", np.array([0, 10**6])),
    "lists that go back": ("mesh", LISTS, "starts", np.array([N, 0])),
    "centres of others": ("mesh", LISTS, "centres", np.zeros((1, 3), np.float32)),
    "all lists and more": ("mesh", LISTS, "searched", 2),
    "no list": ("mesh", LISTS, "searched", 0),
    "traits of others": ("mesh", ["fitted", "traits"], "beta", np.ones(N - 1)),
    "traits that are NaN": ("mesh", ["fitted", "traits"], "spacing", np.full(N, np.nan)),
    "traits below nothing": ("mesh", ["fitted", "traits"], "nearest", np.full(N, -1.0)),
    "a total of nothing": ("mesh", ["fitted", "traits"], "total", np.zeros(N)),
    "traits that are text": ("mesh", ["fitted", "traits"], "beta", "many"),
    "no precisions": ("mesh", ["fitted", "traits"], "beta", None),
    "threads of text": ("mesh", ["held"], "n_jobs", "all"),
    "weights of others": ("mesh", ["held"], "weights", {"list": []}),
    "rows without weights": ("mesh", ["fitted"], "weights", "no"),
    "no sums of affinities": ("affinities", ["fitted"], "degrees", None),
    "sums below nothing": ("affinities", ["fitted"], "degrees", np.full(N, -1.0)),
    "a stretch of nothing": ("stress", ["held"], "stretch", 0.0),
    "no scale": ("several scales", [], "perplexity", {"list": []}),
    "scales in text": ("several scales", [], "perplexity", "some"),
    "all or nothing": ("several scales", ["held"], "all_pairs", 3),
    "S of nothing": ("mesh", ["held"], "S", 0.0),
    "S that is NaN": ("mesh", ["held"], "S", float("nan")),
    "S of one point": ("rows of points", ["held"], "S", 1.0),
    "S of others": ("rows of points", ["held"], "S", np.ones(3)),
    "a bracket of others": ("rows of points", ["held"], "bracket", np.ones(3)),
    "an attraction of nothing": ("mesh", ["held"], "attraction", 0.0),
    "an attraction in text": ("mesh", ["held"], "attraction", "strong"),
    "an attraction of several scales": ("several scales", ["held"], "attraction", 2.0),
    "a method that is none": ("mesh", ["held"], "method", "tsne"),
    "a method of distances": ("mesh", ["held"], "method", STRESS),
    "a perplexity of none": ("mesh", [], "perplexity", 0),
    "a perplexity of more": ("mesh", [], "perplexity", N + 1),
    "a perplexity in text": ("mesh", [], "perplexity", "much"),
    "an obstacle of lines": ("mesh", [], "obstacle", "a\nb"),
    "nothing held": ("mesh", [], "held", None),
    "nothing fitted": ("mesh", [], "fitted", {"dict": {}}),
    "a sample of others": ("stress", ["held"], "sample", np.array([0, N])),
    "a point twice in a sample": ("stress", ["held"], "sample", np.array([0, 0])),
    "a sample without points": ("stress", ["held"], "sample", np.zeros((0,), np.int64)),
    "axes of others": ("components", ["held"], "axes", np.ones((3, 2))),
    "a mean that is infinite": ("components", ["held"], "mean", np.full(4, np.inf)),
    "data too few": ("another metric", ["fitted"], "_X", np.zeros((3, 4))),
    "a metric with odd parameters": ("another metric", ["fitted"], "metric_params", [3]),
    "codes of others": ("bytes", [*VECTORS, "X"], "codes", np.zeros((3, 4), np.uint8)),
    "codes without levels": ("bytes", [*VECTORS, "X"], "levels", np.zeros((3, 4), np.float32)),
    "levels that are NaN": ("bytes", [*VECTORS, "X"], "levels", np.full((256, 4), np.nan, np.float32)),
    "columns that are not there": ("sparse", ["fitted", "_X"], "indices", np.full(7, 99, np.int32)),
    "rows of a matrix that are none": ("sparse", ["fitted", "_X"], "indptr", np.zeros(3, np.int32)),
    "a matrix of another shape": ("sparse", ["fitted", "_X"], "shape", {"tuple": [N, 10**9]}),
    "the largest of nothing": ("distances", ["fitted"], "largest", float("nan")),
}  # fmt: skip


@pytest.mark.parametrize("what", FAULTS)
def test_what_does_not_fit_is_refused_in_a_line_that_names_the_file(what, tmp_path):
    name, way, key, value = FAULTS[what]
    assert opened(written(changed(file_of(name), way, key, value)), tmp_path / "model.nfmap") is None


ABOUT = {
    "no estimator": ("estimator", None),
    "an estimator that is none": ("estimator", "Run"),
    "an estimator of another kind": ("estimator", ["Embedder"]),
    "no parameters": ("parameters", None),
    "parameters that there are not": ("parameters", {"dict": {"shell": "rm"}}),
    "parameters that are a list": ("parameters", {"list": []}),
    "no attributes": ("attributes", None),
    "attributes that there are not": ("attributes", {"dict": {"fit": 3, "n_features_in_": 4}}),
    "columns in text": ("attributes", {"dict": {"n_features_in_": "four"}}),
    "a method as a plan": ("attributes", {"dict": {"n_features_in_": 4, "plan_": 3}}),
    "a plan without an engine": ("attributes", {"dict": {"n_features_in_": 4, "plan_": {"dict": {}}}}),
    "names too few": ("attributes", {"dict": {"n_features_in_": 4, "feature_names_in_": {"list": ["a"]}}}),
    "no reference": ("reference", None),
    "a reference that is a number": ("reference", 3),
    "a part that was given": ("reference", {"is": "given metric", "with": {}}),
    "something unknown": ("reference", {"unknown": "Booby"}),
    "an object that there is not": ("reference", {"is": "Thing", "with": {"name": "os", "parts": {}}}),
    "an object without parts": (
        "reference", {"is": "Thing", "with": {"name": "Reference", "parts": {"dict": {}}}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", ABOUT)
def test_what_is_told_of_no_model_is_refused(what, tmp_path):
    name, value = ABOUT[what]
    kept = {**file_of("mesh"), "about": json.loads(json.dumps(file_of("mesh")["about"]))}
    kept["about"]["session"][name] = value
    assert opened(written(kept), tmp_path / "model.nfmap") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("means", np.zeros(3)),
        ("scale", np.zeros(8)),
        ("scale", np.full(8, np.nan)),
        ("axes", np.zeros((8, 0))),
        ("axes", np.zeros((3, 4))),
        ("centre", None),
        ("names", {"tuple": ["a"]}),
        ("missing", "hide"),
        ("id", 3),
    ],
)
def test_a_preparation_that_does_not_fit_is_refused(name, value, tmp_path):
    kept = {**file_of("prepared"), "about": json.loads(json.dumps(file_of("prepared")["about"]))}
    at = kept["about"]["session"]["attributes"]["dict"]["preparation_"]["with"]
    if isinstance(value, np.ndarray):
        kept[f"session_{at[name]['array']}"] = value
    else:
        at[name] = value
    assert opened(written(kept), tmp_path / "model.nfmap") is None
