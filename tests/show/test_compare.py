"""Methods beside each other: what is run, what is kept, and a page that says what the JSON says."""

from __future__ import annotations

import json
import re
import shlex
import warnings
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform
from scipy.stats import ortho_group

import nearfield as nf
from nearfield.cli import main
from nearfield.io.datasets import iris
from nearfield.show.comparison import page as page_module
from nearfield.show.comparison.alignment import align
from nearfield.show.comparison.charts import Axis, axis, beside
from nearfield.show.comparison.drawing import LEVELS, common_height, dots, levels
from nearfield.show.comparison.figures import FIGURES
from nearfield.show.comparison.page import page
from nearfield.show.comparison.result import Comparison
from nearfield.show.comparison.style import LINES, dash
from nearfield.show.comparison.verdicts import against_pca, here, in_short
from nearfield.show.comparison.wanted import DEFAULT, wanted
from nearfield.show.comparison.words import character, leaning, summary, tears

FLOWERS = iris()
X = FLOWERS.X[::3]
HOSTILE = np.array(["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a & b"], dtype=object)
KINDS = np.repeat(np.arange(3), 50)[::3]


class Broken(nf.costs.Cost):
    """A cost that cannot be computed."""

    domains = frozenset({"probabilities"})

    def value(self, p: Any, q: Any) -> Any:
        raise RuntimeError("this cost is <b>broken</b>")

    def derivative(self, p: Any, q: Any) -> Any:
        raise RuntimeError("this cost is <b>broken</b>")


BROKEN = ("broken & mine", nf.Method(Broken(), nf.kernels.Student(), "pair"))


@pytest.fixture(scope="module")
def found() -> Comparison:
    """Five methods, of which the fourth fails, with labels that would like to be more than text."""
    with pytest.warns(UserWarning, match="broken & mine failed: RuntimeError: this cost is"):
        return nf.compare(
            X,
            ["pca", "mds", "tsne", BROKEN, "nerv(lam=0.3)"],
            labels=HOSTILE[KINDS],
            max_iter=60,
            title="<i>iris</i>",
        )


class Seen(HTMLParser):
    """What a browser would find: the elements, the text of the table and which of its cells are best."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.best: list[list[bool]] = []
        self.cards: list[str] = []
        self.text = ""
        self._in: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        if tag == "tr":
            self.rows.append([])
            self.best.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.best[-1].append(given.get("class") == "best")
        elif tag == "h3":
            self.cards.append("")
        if tag not in ("meta", "br", "img", "source", "path", "circle"):
            self._in.append("hidden" if given.get("class") in ("hidden", "star") else tag)

    def handle_endtag(self, tag: str) -> None:
        if self._in and tag not in ("meta", "br", "img", "source", "path", "circle"):
            self._in.pop()

    def handle_data(self, data: str) -> None:
        if "style" in self._in:
            return
        self.text += data
        if "h3" in self._in:
            self.cards[-1] += data
        elif {"td", "th"} & set(self._in) and not {"hidden", "small"} & set(self._in):
            self.rows[-1][-1] += data.strip()


@pytest.fixture(scope="module")
def seen(found: Comparison) -> Seen:
    return Seen(page(found))


# ---------------------------------------------------------------------------------------------- alignment

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 3), st.floats(1e-6, 1e6), st.booleans())
def test_a_map_that_was_turned_mirrored_scaled_and_shifted_lies_back_on_itself(seed, d, scale, mirrored):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(12, d))
    turn = ortho_group.rvs(d, random_state=seed) if d > 1 else np.array([[1.0]])
    turn = turn * np.where(np.arange(d) == 0, -1 if mirrored else 1, 1)
    moved = scale * Y @ turn + rng.normal(size=d) * scale
    assert_allclose(align(moved, Y), Y, atol=1e-8)


@given(seeds)
def test_alignment_never_shears_and_cannot_be_bettered_by_turning(seed):
    rng = np.random.default_rng(seed)
    Y, reference = rng.normal(size=(12, 2)) * [3, 1], rng.normal(size=(12, 2))
    aligned = align(Y, reference)
    ratios = pdist(aligned) / pdist(Y)
    assert_allclose(ratios, ratios[0], rtol=1e-9)
    spread = [np.linalg.norm(each - each.mean(axis=0)) for each in (aligned, reference)]
    assert spread[0] == pytest.approx(spread[1])
    assert_allclose(aligned.mean(axis=0), reference.mean(axis=0), atol=1e-12)
    other = (aligned - aligned.mean(axis=0)) @ ortho_group.rvs(2, random_state=seed) + aligned.mean(axis=0)
    assert np.sum((aligned - reference) ** 2) <= np.sum((other - reference) ** 2) + 1e-9


def test_maps_whose_points_coincide_are_left_alone():
    reference = np.arange(8.0).reshape(4, 2)
    assert_allclose(align(np.ones((4, 2)), reference), np.tile(reference.mean(axis=0), (4, 1)))
    assert np.isfinite(align(reference, np.ones((4, 2)))).all()
    with pytest.raises(ValueError, match=r"not \(3, 2\) with \(4, 2\)"):
        align(np.ones((3, 2)), reference)


# ----------------------------------------------------------------------------------------- what is wanted


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


# ------------------------------------------------------------------------------------------- what is made


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


# ---------------------------------------------------------------------------- the page, and the JSON


def test_every_number_of_the_page_is_that_of_the_json(found, seen, tmp_path):
    found.save(tmp_path / "report.json")
    found.save(tmp_path / "report.html")
    told = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    read = Seen((tmp_path / "report.html").read_text(encoding="utf-8"))
    titles = [figure.title for figure in FIGURES]
    assert read.rows[0] == ["Method", *titles]
    assert len(read.rows) == 1 + len(told["methods"])
    compared = 0
    for row, each in zip(read.rows[1:], told["methods"], strict=True):
        assert row[0] == each["name"]
        if each["status"] != "made":
            assert row[1:] == [each["error"]]
            continue
        for cell, figure in zip(row[1:], FIGURES, strict=True):
            value = each["seconds"] if figure.name == "seconds" else each["quality"][figure.name]
            digits = (
                f"{value * 100:.1f} %" if figure.unit == " %" else f"{value:.{figure.digits}f}{figure.unit}"
            )
            assert cell == digits
            compared += 1
    assert compared == 4 * len(FIGURES)


def test_the_best_of_each_column_is_marked(found, seen):
    made = [each for each in found.to_dict()["methods"] if each["status"] == "made"]
    for column, figure in enumerate(FIGURES, start=1):
        values = {
            each["name"]: each["seconds"] if figure.name == "seconds" else each["quality"][figure.name]
            for each in made
        }
        top = min(values.values()) if figure.name in ("stress", "seconds") else max(values.values())
        marked = [
            row[0]
            for row, best in zip(seen.rows, seen.best, strict=True)
            if column < len(best) and best[column]
        ]
        assert marked == found.best[figure.name]
        alike = [name for name, value in values.items() if figure.text(value) == figure.text(top)]
        assert marked == (alike if len(alike) < len(values) else [])


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 1), st.just(float("nan"))), max_size=6),
    st.sampled_from(FIGURES),
)
def test_the_best_prints_as_the_extreme_does_unless_all_are_alike(values, figure):
    marks = figure.best(values)
    known = [value for value in values if value is not None and value == value]
    assert len(marks) == len(values)
    if len({figure.text(value) for value in known}) < 2:
        assert not any(marks)
        return
    top = figure.text(min(known) if figure.lower else max(known))
    assert [figure.text(value) == top for value in values] == marks


def test_the_best_is_said_to_those_who_do_not_see_it(found):
    cells = re.findall(r'<td class="best">(.*?)</td>', page(found))
    assert cells
    for cell in cells:
        assert "<strong>" in cell
        assert "★" in cell
        assert '<span class="hidden"> best</span>' in cell


def test_the_page_needs_nothing_from_outside_and_runs_nothing(seen, found):
    text = page(found)
    assert "http" not in re.sub(r"http-equiv", "", text)
    assert "url(" not in text
    names = {tag for tag, _ in seen.tags}
    assert not names & {"script", "link", "iframe", "object", "img", "a", "form"}
    assert not [given for _, given in seen.tags if any(name.startswith("on") for name in given)]
    policy = next(given["content"] for tag, given in seen.tags if given.get("http-equiv"))
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert ("html", {"lang": "en"}) in seen.tags


def test_text_of_the_user_stays_text(seen):
    for text in [*HOSTILE, "<i>iris</i>", "broken & mine", "this cost is <b>broken</b>"]:
        assert text in seen.text
    assert "i" not in {tag for tag, _ in seen.tags}
    assert "b" not in {tag for tag, _ in seen.tags}


def test_each_method_has_a_card_with_its_map_or_what_went_wrong(found, seen):
    assert seen.cards == [each.name for each in found.outcomes]  # the principal components first
    pictures = [given for tag, given in seen.tags if tag == "svg" and given.get("class") == "map"]
    assert [given["aria-label"] for given in pictures] == [
        f"Map of 50 points by {name}" for name in found.maps
    ]
    assert sum(given.get("class") == "missing" for _, given in seen.tags) == 1
    for word in ("Preserves.", "Gives up.", "Here."):
        assert seen.text.count(word) == 4
    headings = [int(tag[1]) for tag, _ in seen.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(headings))


def test_without_pca_there_is_no_section_on_it_and_the_first_map_is_the_reference():
    found = nf.compare(X, ["mds", "ssne"], max_iter=20)
    text = page(found)
    assert "PCA" not in Seen(text).text
    assert "lie on that of mds" in text
    assert_allclose(found.aligned["mds"], found.maps["mds"], atol=1e-9)
    assert not against_pca(found)


def test_maps_are_drawn_as_they_lie_aligned(found):
    pca = found.maps["pca"]
    assert_allclose(found.aligned["pca"], pca, atol=1e-9)
    for name, Y in found.aligned.items():
        assert_allclose(Y, align(found.maps[name], pca))
    Y = found.aligned["mds"]
    places = np.array(re.findall(r"M(\d+) (\d+)h0", dots(Y, None, common_height([Y]), "a map")), dtype=float)
    assert len(places) == len(Y)
    drawn, true = pdist(places), pdist(Y)
    assert np.sort(drawn) / drawn.max() == pytest.approx(np.sort(true) / true.max(), abs=0.005)


def test_curves_are_those_of_the_json(found):
    text = page(found)
    chart = text[text.index('<svg class="chart curves"') :].partition("</svg>")[0]
    lines = re.findall(r'<path class="line (\w+)" d="M([^"]+)"', chart)
    made = {each["name"]: each["quality"]["rnx"] for each in found.to_dict()["methods"] if "quality" in each}
    kinds = {"pca": "pca", "m1": "mds", "m2": "tsne", "m4": "nerv(lam=0.3)"}
    assert {kinds[kind] for kind, _ in lines} == set(made)
    for kind, way in lines:
        x, y = np.array([pair.split() for pair in way.split("L")], dtype=float).T
        K, value = (np.array(made[kinds[kind]][key]) for key in ("K", "value"))
        assert len(x) == len(K)
        inside = value >= 0  # what is a little below chance is drawn as chance
        for places, values in ((x, np.log(K)), (y[inside], value[inside])):
            assert abs(np.corrcoef(places, values)[0, 1]) > 0.9999


def test_many_points_are_drawn_as_small_pictures_for_light_and_dark(monkeypatch):
    monkeypatch.setattr(page_module, "MOST_DOTS", 10)
    found = nf.compare(X, ["pca", "mds"], labels=HOSTILE[KINDS])
    seen = Seen(page(found))
    sources = [given["srcset"] for tag, given in seen.tags if tag == "source"]
    images = [each for tag, each in seen.tags if tag == "img"]
    assert len(sources) == len(images) == 2
    for address in [*sources, *(each["src"] for each in images)]:
        assert address is not None
        assert address.startswith("data:image/png;base64,iVBOR")
        assert len(address) < 100_000
    assert images[0]["alt"] == "Map of 50 points by pca"


def test_a_sample_is_said_to_be_one(monkeypatch):
    monkeypatch.setattr("nearfield.judge.quality.ALL_UP_TO", 30)
    monkeypatch.setattr("nearfield.judge.quality.SAMPLE", 20)
    found = nf.compare(X, ["pca", "mds"])
    text = Seen(page(found)).text
    assert "seen from 20 points drawn at random" in text
    auc = found["mds"].quality
    assert auc is not None
    assert f"± {auc.errors['auc']:.3f}" in text
    assert "judged from 20 sampled points" in str(found)


def test_numbers_as_labels_are_a_scale_and_are_not_voted_for():
    values = X[:, 0] + 0.01
    values[3] = np.nan
    found = nf.compare(X, ["pca", "mds"], labels=values)
    assert "label_accuracy" not in found.best
    assert "Labels recovered" not in page(found)
    assert "no label" in Seen(page(found)).text
    codes, names = levels(values, len(values))
    assert codes[3] == LEVELS
    assert codes[np.nanargmin(values)] == 0
    assert codes[np.nanargmax(values)] == LEVELS - 1
    assert len(names) == LEVELS + 1


def test_all_of_it_prints_as_a_table_and_shows_in_notebooks(found):
    lines = str(found).splitlines()
    assert lines[0] == "<i>iris</i>; * is the best"
    assert [line.split("  ")[0].strip() for line in lines[2:]] == [each.name for each in found.outcomes]
    assert "RuntimeError: this cost is" in lines[5]
    assert len({len(line) for line in (lines[2], lines[4])}) <= 2
    assert Seen(found._repr_html_()).rows == Seen(page(found)).rows
    table = found.table()
    assert table[1]["auc"] == found["mds"].figure("auc")
    assert table[3] == {"method": "broken & mine", "status": "failed"} | {f.name: None for f in FIGURES}


def test_the_json_has_the_coordinates_on_demand(found, tmp_path):
    found.save(tmp_path / "all.json", maps=True)
    told = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert_array_equal(told["methods"][1]["map"], found.maps["mds"])
    assert "map" not in found.to_dict()["methods"][1]
    with pytest.raises(ValueError, match=r"use .html or .json"):
        found.save(tmp_path / "report.pdf")


# --------------------------------------------------------------------------------------------------- words


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


# -------------------------------------------------------------------------------------------------- charts


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8))
def test_an_axis_holds_its_values_and_has_some_round_ticks(values):
    found = axis(values, 0.0, 100.0, room=0.1)
    places = found(np.array(values))
    assert np.all((places >= -1e-9) & (places <= 100 + 1e-9))
    assert 1 <= len(found.ticks) <= 8
    assert all(found.low - 1e-9 <= tick <= found.high + 1e-9 for tick in found.ticks)
    assert Axis(0, 1, 5, 10)(0.5) == 7.5


def test_names_beside_dots_do_not_cover_each_other():
    places = np.array([[300.0, 200.0], [310.0, 190.0], [320.0, 210.0], [700.0, 60.0]])
    names = ["one", "two", "three", "four"]
    at = beside(places, names)
    halves = np.array([[6.0 * len(name), 12.0] for name in names])
    for i in range(4):
        for j in range(i):
            apart = np.abs(at[i] - at[j])
            assert np.any(apart >= (halves[i] + halves[j]) - 1e-9)


def test_lines_of_two_dozen_methods_differ():
    assert len({(k % len(LINES), dash(k)) for k in range(24)}) == 24


# --------------------------------------------------------------------------------------------- command line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder with a table of fifty irises."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEARFIELD_TRACEBACK", raising=False)
    rows = [",".join([*map(str, row), str(kind)]) for row, kind in zip(X.tolist(), KINDS, strict=True)]
    (tmp_path / "iris.csv").write_text("\n".join(["a,b,c,d,kind", *rows]) + "\n", encoding="utf-8")
    return tmp_path


def without_time(path: str) -> list[dict[str, Any]]:
    told = json.loads(Path(path).read_text(encoding="utf-8"))
    return [{key: value for key, value in each.items() if key != "seconds"} for each in told["methods"]]


def test_the_command_writes_page_and_json_and_says_how_to_repeat_it(folder, capsys):
    options = ["--label", "kind", "--max-iter", "30", "--methods", "pca,tsne,nerv(lam=0.3)"]
    assert main(["compare", "iris.csv", *options, "--out", "r.html", "--json", "r.json"]) == 0
    said = capsys.readouterr()
    assert "wrote   r.html, r.json" in said.out
    assert re.search(r"^nerv\(lam=0\.3\) +0\.", said.out, re.MULTILINE)
    assert "3/3 nerv(lam=0.3)" in said.err
    assert {file.name for file in folder.iterdir()} == {"iris.csv", "r.html", "r.json"}
    text = Seen((folder / "r.html").read_text(encoding="utf-8")).text
    told = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert told["repeat"] in text
    again = shlex.split(told["repeat"])[1:]
    assert main([*again, "--json", "again.json", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert without_time("again.json") == without_time("r.json")


def test_the_report_may_be_json_alone_with_coordinates(folder):
    assert main(["compare", "iris.csv", "-m", "pca", "-o", "r.json", "--coordinates", "-q"]) == 0
    assert np.array(without_time("r.json")[0]["map"]).shape == (50, 2)


def test_a_failed_method_gives_exit_code_1_and_a_report(folder, capsys):
    assert main(["compare", "iris.csv", "-m", "pca,tsne", "--perplexity", "900", "-o", "r.html"]) == 1
    said = capsys.readouterr()
    assert re.search(r"^tsne +perplexity", said.out, re.MULTILINE)
    assert "warning: tsne failed: perplexity" in said.err
    assert "failed: perplexity" in Seen((folder / "r.html").read_text(encoding="utf-8")).text


def test_no_map_at_all_gives_exit_code_2_and_no_report(folder, capsys):
    assert main(["compare", "iris.csv", "-m", "tsne", "--perplexity", "900", "-o", "r.html", "-q"]) == 2
    assert "error: no method could make a map; tsne: perplexity" in capsys.readouterr().err
    assert not (folder / "r.html").exists()


def test_ctrl_c_gives_exit_code_130_and_a_report_of_what_there_is(folder, monkeypatch, capsys):
    def converge(self: Any, max_iter: int, callback: Any = None) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("nearfield.descent.run.Run.converge", converge)
    assert main(["compare", "iris.csv", "-m", "pca,tsne", "-o", "r.html", "-q"]) == 130
    assert "interrupted during tsne" in capsys.readouterr().err
    assert (folder / "r.html").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-m", "tnse"], "did you mean 'tsne'"),
        (["-m", "pca,pca"], "is there twice"),
        (["-o", "r.pdf"], "use .html or .json"),
        (["-o", "no/such/r.html"], "does not exist"),
        (["--json", "r.html"], "would be no JSON"),
        (["-o", "r.json", "--json", "r.json"], "name the same file"),
        (["--coordinates"], "add --json report.json"),
        (["--label", "nothing"], "nothing"),
    ],
)
def test_the_command_refuses_before_the_work(folder, options, message, monkeypatch, capsys):
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("the work was begun")

    monkeypatch.setattr("nearfield.show.comparison.comparing.compare", never)
    assert main(["compare", "iris.csv", *options]) == 2
    assert message in capsys.readouterr().err
    assert [file.name for file in folder.iterdir()] == ["iris.csv"]


def test_progress_is_shown_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nf.compare(X, ["pca", ("[red]own[/red]", nf.method("tsne"))], max_iter=20, verbose=True)
    assert "2/2 [red]own[/red]" in capsys.readouterr().err
