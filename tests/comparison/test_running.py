"""What is asked for, what is run, and what is kept when something fails."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform

import nearfield as nf
from nearfield.comparison.page import page
from nearfield.comparison.wanted import DEFAULT, wanted
from support.comparisons import HOSTILE, KINDS, Seen, X


def test_methods_are_named_in_many_ways_and_keep_their_order():
    own = nf.Method(nf.costs.KL(), nf.kernels.HeavyTailed(0.7), "pair")
    chosen = wanted(
        ["tsne", "pca", nf.method("mds"), own, ("mine", own), ("nerv", {"lam": 0.3}), ("b", "jse")]
    )
    assert list(chosen) == ["tsne", "pca", "mds", str(own), "mine", "nerv(lam=0.3)", "b"]
    assert chosen["pca"] is None
    assert chosen["nerv(lam=0.3)"] == nf.method("nerv", lam=0.3) == wanted("nerv(lam=0.3)")["nerv(lam=0.3)"]
    assert chosen["b"] == nf.method("jse")
    assert list(wanted({"mine": own, "tsne": {}})) == ["mine", "tsne"]
    assert list(wanted()) == list(DEFAULT)
    assert len(DEFAULT) == 10
    assert DEFAULT[0] == "pca"


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["pca", "tnse"], "no method is called 'tnse'; did you mean 'tsne'.* There are pca, asne, ssne"),
        (["tsne", "tsne"], "the method 'tsne' is there twice"),
        (["tsne", nf.method("tsne")], "the method 'tsne' is there twice"),
        ([], "there is no method to compare"),
        (["nerv(lam)"], r"parameters are written as nerv\(lam=0.3\)"),
        (["nerv(lam=open('x'))"], "is no method"),
        (["nerv(lam='x')"], "has a parameter of the wrong kind"),
        (["nerv(kappa=1)"], "'nerv' has no parameter 'kappa'"),
        (["pca(x=1)"], "'pca' has no parameter 'x'"),
    ],
)
def test_what_cannot_be_run_is_refused_before_the_data_are_looked_at(methods, message):
    with pytest.raises(ValueError, match=message):
        nf.compare("no data at all", methods)


@pytest.mark.parametrize("methods", [3, [3], [("tsne", 3)]])
def test_what_is_no_method_is_refused(methods):
    with pytest.raises(TypeError, match="method"):
        nf.compare(X, methods)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": X[:3]}, "4 points or more, got 3"),
        ({"X": X[:, 0]}, "two dimensions"),
        ({"X": [["a", "b"]] * 9}, "not numbers"),
        ({"X": np.where(np.arange(4) == 1, np.nan, X)}, "X"),
        ({"metric": "affinity"}, "affinities have none"),
        ({"labels": ["a"]}, "50 points but 1 labels"),
        ({"max_iter": 0}, "max_iter"),
        ({"n_neighbors": 25}, "n_neighbors must be less than half"),
        ({"random_state": "x"}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"metric": "no such metric"}, "metric"),
        ({"metric": "precomputed"}, "square"),
    ],
)
def test_data_that_cannot_be_compared_are_refused_in_a_line(arguments, message):
    with pytest.raises(ValueError, match=message) as raised:
        nf.compare(**{"X": X, "methods": ["pca"], **arguments})
    assert "\n" not in str(raised.value)


def test_a_method_that_fails_is_told_of_in_its_place_and_the_rest_go_on(found):
    assert [each.name for each in found.outcomes] == ["pca", "mds", "tsne", "broken & mine", "nerv(lam=0.3)"]
    assert [each.status for each in found.outcomes] == ["made", "made", "made", "failed", "made"]
    failed = found["broken & mine"]
    assert failed.error == "RuntimeError: this cost is <b>broken</b>"
    assert isinstance(failed.exception, RuntimeError)
    assert failed.exception.__traceback__ is not None
    assert list(found.maps) == ["pca", "mds", "tsne", "nerv(lam=0.3)"]
    with pytest.raises(KeyError, match="no method 'jse' here"):
        found["jse"]


def test_the_maps_and_figures_are_those_of_the_estimator_and_of_quality(found):
    assert_allclose(np.abs(found.maps["pca"]), np.abs(nf.Embedder("pca", random_state=0).fit_transform(X)))
    for name in ("mds", "tsne"):
        Y = nf.Embedder(name, max_iter=60, random_state=0).fit_transform(X)
        assert_array_equal(found.maps[name], Y)
        judged = nf.quality(X, Y, HOSTILE[KINDS])
        assert found[name].figure("auc") == judged.auc
        assert found[name].figure("label_accuracy") == judged.label_accuracy
    centred = X - X.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False) ** 2
    assert found["pca"].variance == pytest.approx(values[:2].sum() / values.sum())


def test_the_same_seed_gives_the_same_and_the_order_is_that_which_was_asked_for():
    def figures(*names: str) -> dict[str, Any]:
        made = nf.compare(X, names, max_iter=30).to_dict()["methods"]
        return {each["name"]: {k: v for k, v in each.items() if k != "seconds"} for each in made}

    first, second = figures("tsne", "pca"), figures("pca", "tsne")
    assert list(first) == ["tsne", "pca"]
    assert first == second


def test_a_report_of_failures_alone_can_be_written(tmp_path):
    with pytest.warns(UserWarning, match="tsne failed"), pytest.warns(UserWarning, match="ssne failed"):
        found = nf.compare(X, ["tsne", "ssne"], perplexity=1000)
    assert found.made == []
    assert [each.name for each in found.missing] == ["tsne", "ssne"]
    assert re.search(r"^ssne +perplexity", str(found), re.MULTILINE)
    for name in ("report.html", "report.json"):
        found.save(tmp_path / name)
    assert Seen((tmp_path / "report.html").read_text(encoding="utf-8")).cards == ["tsne", "ssne"]


@pytest.mark.parametrize("shape", [(30, 1), (4, 3), (30, 120)])
def test_narrow_small_and_wide_data_have_a_report(shape):
    found = nf.compare(np.random.default_rng(0).normal(size=shape), ["pca", "mds", "tsne"], max_iter=20)
    assert len(Seen(page(found)).rows) == 4
    assert len(found.made) == 3


def test_perplexity_is_for_methods_of_one_scale():
    with pytest.warns(UserWarning, match="tsne failed: perplexity"):
        found = nf.compare(X, ["mds", "mssne", "tsne"], perplexity=1000, max_iter=20)
    assert [each.status for each in found.outcomes] == ["made", "made", "failed"]


def test_distances_are_enough():
    D = squareform(pdist(X))
    found = nf.compare(D, ["pca", "mds"], metric="precomputed")
    plain = nf.compare(X, ["pca", "mds"])
    for name in ("pca", "mds"):
        assert found[name].figure("auc") == pytest.approx(plain[name].figure("auc"), abs=0.01)
    assert found["pca"].variance is None


def test_ctrl_c_keeps_what_is_finished_and_says_so(monkeypatch, tmp_path):
    calls = []

    def converge(self: Any, max_iter: int, callback: Any = None) -> bool:
        calls.append(self)
        if len(calls) == 2:
            raise KeyboardInterrupt
        self.step(5)
        return True

    monkeypatch.setattr("nearfield.descent.run.Run.converge", converge)
    with pytest.warns(UserWarning, match="interrupted during ssne: the 2 of 4 maps"):
        found = nf.compare(X, ["pca", "tsne", "ssne", "jse"])
    assert found.interrupted
    assert [each.status for each in found.outcomes] == ["made", "made", "interrupted", "not run"]
    found.save(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Interrupted: methods that were not finished are missing." in text
    assert [row[0] for row in Seen(text).rows[1:]] == ["pca", "tsne", "ssne", "jse"]
    calls[:] = [None]
    with pytest.raises(KeyboardInterrupt):
        nf.compare(X, ["tsne", "pca"])
