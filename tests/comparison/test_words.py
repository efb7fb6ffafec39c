"""What is said of a method follows from its parts."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearfield as nf
from nearfield.comparison.page import page
from nearfield.comparison.verdicts import against_pca, here, in_short
from nearfield.comparison.words import character, leaning, summary, tears
from support.comparisons import Seen, X


@pytest.mark.parametrize("name", nf.methods())
def test_every_method_of_the_catalogue_is_described(name):
    keeps, gives = character(nf.method(name), 500)
    for text in (keeps, gives):
        assert re.fullmatch(r"[A-Z][^<>{}]+\.", text)
        assert "  " not in text
    assert summary(name, nf.method(name))


def test_words_follow_from_the_parts_and_not_from_names():
    def told(**parts: Any) -> str:
        keeps, gives = character(
            nf.Method(**{"cost": nf.costs.KL(), "kernel": nf.kernels.Student(), **parts}), 500
        )
        return f"{keeps} {gives}"

    assert "about 30 points" in told()
    assert "Missing a neighbour is the costly mistake" in told()
    assert "stand apart clearly" in told()
    assert "Showing a false neighbour is the costly mistake" in told(cost=nf.costs.ReverseKL())
    assert "torn off" in told(cost=nf.costs.JensenShannon())
    assert "borders may touch" in told(kernel=nf.kernels.Gaussian())
    assert "Neighbourhoods of many sizes" in told(scales="data")
    assert "Every point counts the same" in told(normalization="point")
    assert "about 7 points" in character(nf.method("tsne"), 500, 7.0)[0]
    assert "many sizes" in character(nf.method("tsne"), 500, [5.0, 50.0])[0]
    assert "Large ones" in character(nf.method("mds"), 500)[0]
    assert "largest ones rule" in character(nf.method("sstress"), 500)[0]
    assert "small ones have a say" in character(nf.method("sammon"), 500)[0]
    assert "proportions" in character(nf.method("nmmds"), 500)[0]
    assert "straight projection" in character(None, 500)[0]
    assert summary("tsne", nf.method("mds")) == ""


def test_a_kernel_with_a_parameter_for_each_point_is_described():
    own = nf.Method(nf.costs.KL(), nf.kernels.Inhomogeneous(np.linspace(1, 3, len(X))), "point")
    found = nf.compare(X, ["pca", ("own", own)], max_iter=20)
    assert "stand apart clearly" in Seen(page(found)).text


@given(st.floats(0.01, 0.99))
def test_what_costs_more_follows_the_balance_of_a_cost(lam):
    assert leaning(nf.costs.NeRV(lam)) > leaning(nf.costs.NeRV(lam / 2))
    assert (leaning(nf.costs.NeRV(lam)) > 1) == (lam > 0.5 + 1e-9) or abs(lam - 0.5) < 1e-6
    assert not tears(nf.costs.NeRV(max(lam, 0.2)))
    assert tears(nf.costs.ReverseKL())


def test_the_first_section_says_how_pca_fares(found):
    kept = {name: found[name].figure("neighbours_kept") for name in found.maps}
    others = [name for name in kept if name != "pca"]
    better = [name for name in others if kept[name] > kept["pca"]]
    top = max(others, key=lambda name: kept[name])
    text = against_pca(found)[0]
    assert f"PCA keeps {100 * kept['pca']:.1f} % of the 10 nearest neighbours" in text
    count = {0: "no other", 1: "one of the three", 2: "two of the three", 3: "all three"}[len(better)]
    assert count in text
    assert not better or f"{top} the most: {100 * kept[top]:.1f} %" in text
    times = f"{kept['tsne'] / kept['pca']:.1f}"
    expected = "about as many as PCA" if times == "1.0" else f"{times} times as many as PCA"
    assert expected in here(found["tsne"], found)
    assert any(found.best["auc"][0] in sentence for sentence in in_short(found))
    seen = Seen(page(found)).text
    assert (
        seen.index("PCA against the others") < seen.index("The other maps") < seen.index("Quality and time")
    )
