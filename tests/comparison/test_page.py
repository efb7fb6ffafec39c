"""A page that says what the JSON says, needs nothing from outside and lets text be text."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist

import nearfield as nf
from nearfield.comparison import page as page_module
from nearfield.comparison.alignment import align
from nearfield.comparison.drawing import LEVELS, common_height, dots, levels, text_size
from nearfield.comparison.figures import FIGURES
from nearfield.comparison.page import page
from nearfield.comparison.verdicts import against_pca
from nearfield.show.palette import classes_or_numbers
from support.comparisons import HOSTILE, KINDS, Seen, X


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


def test_forty_classes_have_their_names_on_a_map_and_none_on_another():
    kinds = np.arange(400) % 40
    Y = 6 * np.random.default_rng(0).normal(size=(40, 2))[kinds] + np.random.default_rng(1).normal(
        size=(400, 2)
    )
    classes = classes_or_numbers([f"kind {k}" for k in kinds])
    text = dots(Y, classes, common_height([Y]), "a map")
    written = re.findall(r'<text x="(\d+)" y="(\d+)">([^<]+)</text>', text)
    assert [name for *_, name in written] == [f"kind {k}" for k in range(40)]
    size = float(re.findall(r'class="names" font-size="(\d+)"', text)[0])
    at = np.array([each[:2] for each in written], dtype=float)
    halves = np.array([text_size(name, size) for *_, name in written]) / 2
    for i in range(40):
        for j in range(i):
            assert np.any(np.abs(at[i] - at[j]) >= halves[i] + halves[j] - 2)  # whole numbers


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
    assert "<li><strong>label</strong></li>" in page(found)
    named = nf.compare(X, ["pca"], labels=pd.Series(values, name="petal <length>"))
    assert "<strong>petal &lt;length&gt;</strong>" in page(named)
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
