"""A map as one file: opened in a real browser, looked at, searched, and taken away from."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from nearfield import show
from nearfield.io.tables import read_map
from nearfield.show.bundle import FOLDER, bundled
from nearfield.show.columns import columns_of, described
from nearfield.show.pages import bytes_of
from nearfield.show.palette import COLOURS, classes_or_numbers, shaded_or_numbers
from nearfield.show.parts import shrunk
from support.browser import opened, until, violations

pytestmark = pytest.mark.slow  # a browser takes its time

WORDS = np.array(["ash", "birch", "cedar", "elm"])
SCRIPT = "</script><script>window.taken = 1</script><img src=x onerror='window.taken = 1'>"


def grid(side=12):
    return np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2).astype(float)


Y = grid()
N = len(Y)
KINDS = WORDS[np.arange(N) % 4]
DATA = {"height": np.linspace(0.5, 9.5, N), "name": [f"tree {i}" for i in range(N)]}


def at(tab, i):
    return tab.evaluate("(i) => nearfield.screen(i)", i)


def go(tab, path, query=""):
    tab.goto(path.as_uri() + query)
    until(tab, "window.nearfield !== undefined")
    return tab


@pytest.fixture
def trees(tab, tmp_path):
    """A page of trees, opened."""
    pictures = np.zeros((N, 4, 4))
    pictures[:, 0, 0] = np.arange(N)
    return go(tab, show.page(Y, DATA, KINDS, tmp_path / "trees.html", images=pictures, title="Trees"))


def saved(tab, name):
    """What a button lets the browser save: the name and the bytes."""
    with tab.expect_download() as download:
        tab.get_by_role("button", name=name).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


# ------------------------------------------------------------------------------------------------ the page


def test_the_page_tells_scripts_where_points_are(trees):
    assert trees.evaluate("nearfield.n") == N
    assert trees.evaluate("[...nearfield.positions()]") == Y.ravel().tolist()
    x, y = at(trees, 5)
    assert trees.evaluate("([x, y]) => nearfield.world(x, y)", [x, y]) == pytest.approx(
        Y[5].tolist(), abs=1e-4
    )
    assert trees.locator("canvas#map").count() == 1
    trees.evaluate("() => { try { window.nearfield = 1; nearfield.n = 3; } catch {} }")
    assert trees.evaluate("nearfield.n") == N
    assert trees.title() == "Trees"
    assert "144 points" in trees.locator("header").inner_text()


@pytest.mark.parametrize("painter", ["webgl2", "2d"])
def test_the_page_is_drawn_with_and_without_webgl(browser, tmp_path, painter):
    path = show.page(Y, DATA, KINDS, tmp_path / "trees.html")
    with opened(browser, webgl=painter == "webgl2") as tab:
        go(tab, path, "?painter=webgl2")
        assert tab.evaluate("nearfield.painter") == painter
        x, y = at(tab, 30)
        seen = Image.open(io.BytesIO(tab.screenshot())).convert("RGB").getpixel((round(x), round(y)))
        wanted = np.array([int(COLOURS[2][k : k + 2], 16) for k in (1, 3, 5)])  # cedar
        assert np.abs(seen - wanted).max() < 60


def test_hovering_shows_the_row_and_its_image(trees):
    card = trees.locator(".nf-card")
    assert not card.is_visible()
    trees.mouse.move(*at(trees, 143))
    assert card.is_visible()
    assert card.locator("dt").all_inner_texts() == ["label", "height", "name"]
    assert card.locator("dd").all_inner_texts() == ["elm", "9.5", "tree 143"]
    read = "() => { const canvas = document.querySelector('.nf-picture'); return canvas.width === 4 &&"
    read += " [...canvas.getContext('2d').getImageData(0, 0, 2, 1).data].filter((_, k) => k % 4 === 0); }"
    darkest = until(trees, read)
    assert darkest == [26, 255]  # ink where the value is highest, ground where it is lowest
    trees.mouse.move(*at(trees, 0))
    assert card.locator("dd").all_inner_texts() == ["ash", "0.5", "tree 0"]
    trees.mouse.move(640, 700)
    assert not card.is_visible()


def test_searching_selects_and_enter_goes_there(trees):
    field = trees.get_by_role("searchbox")
    field.fill("TREE 14")
    assert sorted(trees.evaluate("[...nearfield.selection]")) == [14, *range(140, 144)]
    assert "5 selected" in trees.locator(".nf-chosen").inner_text()
    assert "5 found" in trees.locator(".nf-search").inner_text()
    field.fill("elm")
    assert trees.evaluate("[...nearfield.selection]") == list(range(3, N, 4))
    before = at(trees, 3)
    field.fill("tree 77")
    field.press("Enter")
    assert trees.locator(".nf-card dd").first.inner_text() == "birch"
    assert at(trees, 3) != before
    field.press("Escape")
    assert trees.evaluate("nearfield.selection.length") == 0
    field.fill("no such tree")
    assert "0 found" in trees.locator(".nf-search").inner_text()


def test_the_legend_hides_shows_and_isolates_classes(trees):
    entries = trees.locator(".nf-legend li button")
    assert entries.all_inner_texts() == [f"{word}\n36" for word in WORDS]
    entries.nth(1).click()
    assert entries.nth(1).get_attribute("aria-pressed") == "false"
    trees.mouse.move(*at(trees, 65))  # a birch
    assert not trees.locator(".nf-card").is_visible()
    trees.mouse.move(*at(trees, 66))
    assert trees.locator(".nf-card").is_visible()
    trees.get_by_role("button", name="Show all classes").click()
    trees.mouse.move(*at(trees, 65))
    assert trees.locator(".nf-card").is_visible()
    entries.nth(2).dblclick()
    assert [each.get_attribute("aria-pressed") for each in entries.all()] == [
        "false",
        "false",
        "true",
        "false",
    ]


def test_colours_follow_the_column_that_is_chosen(trees):
    choose = trees.get_by_label("Colour by")
    assert choose.locator("option").all_inner_texts() == ["label", "height", "one colour"]
    choose.select_option(label="height")
    assert trees.locator(".nf-ends").inner_text().split() == ["0.5", "9.5"]
    colours = [pixel(trees, *at(trees, i)) for i in (0, 143)]
    assert np.abs(np.subtract(*colours)).max() > 60
    choose.select_option(label="one colour")
    colours = [pixel(trees, *at(trees, i)) for i in (0, 143)]
    assert np.abs(np.subtract(*colours)).max() < 30


def pixel(tab, x, y):
    return Image.open(io.BytesIO(tab.screenshot())).convert("RGB").getpixel((round(x), round(y)))


def test_a_lasso_selects_and_the_selection_is_saved_as_a_map(trees, tmp_path):
    trees.get_by_role("button", name="Drag selects points").click()
    x, y = at(trees, 0)
    step = at(trees, 1)[0] - x
    right, top = x + 1.5 * step, y - 1.5 * step
    trees.mouse.move(x - 10, y + 10)
    trees.mouse.down()
    for corner in [(right, y + 10), (right, top), (x - 10, top)]:
        trees.mouse.move(*corner)
    trees.mouse.up()
    assert trees.evaluate("[...nearfield.selection]") == [0, 1, 12, 13]
    name, content = saved(trees, "Save as CSV")
    assert name == "Trees-selection.csv"
    rows = list(csv.reader(io.StringIO(content.decode())))
    assert rows[0] == ["id", "y1", "y2", "label", "height", "name"]
    assert rows[3][:4] == ["12", "0", "1", "ash"]
    assert float(rows[3][4]) == pytest.approx(DATA["height"][12], rel=1e-7)
    (tmp_path / "chosen.csv").write_bytes(content)
    places, ids, labels = read_map(tmp_path / "chosen.csv")
    assert (places.tolist(), ids.tolist()) == (Y[[0, 1, 12, 13]].tolist(), [0, 1, 12, 13])
    assert labels.tolist() == ["ash", "birch", "ash", "birch"]
    trees.get_by_role("button", name="Clear").click()
    assert trees.evaluate("nearfield.selection.length") == 0


def test_texts_that_a_spreadsheet_would_compute_are_guarded_and_numbers_stay_numbers(tab, tmp_path):
    texts = ["=1+1", "+x", "@SUM(A1)", "\t=1", "\r=1", "-1.5", "+2e-3", '=HYPERLINK("http://evil","x")']
    numbers = np.linspace(-4, -0.5, 8)
    data = {"=name": texts, "number": numbers, "plain": [f"a-{k}" for k in range(8)]}
    go(tab, show.page(-np.arange(16.0).reshape(8, 2), data, path=tmp_path / "risky.html"))
    tab.get_by_role("searchbox").fill("a-")
    rows = list(csv.reader(io.StringIO(saved(tab, "Save as CSV")[1].decode(), newline="")))
    assert rows[0] == ["id", "y1", "y2", "'=name", "number", "plain"]
    kept = ["-1.5", "+2e-3"]
    assert [row[3] for row in rows[1:]] == [each if each in kept else f"'{each}" for each in texts]
    assert [float(row[4]) for row in rows[1:]] == numbers.tolist()
    assert all(float(row[1]) <= 0 for row in rows[1:])


def test_the_map_is_saved_as_a_picture(trees):
    name, content = saved(trees, "Save the map as a PNG picture")
    assert name == "Trees.png"
    picture = Image.open(io.BytesIO(content))
    assert picture.size == (1280, 800)
    assert len(picture.convert("RGB").getcolors(maxcolors=10**6)) > 10


def test_keys_do_what_the_mouse_does(trees):
    wide = trees.evaluate("nearfield.world(101, 100)[0] - nearfield.world(100, 100)[0]")
    trees.keyboard.press("+")
    near = trees.evaluate("nearfield.world(101, 100)[0] - nearfield.world(100, 100)[0]")
    assert near == pytest.approx(wide / 1.5)
    trees.keyboard.press("-")
    trees.locator("#map").focus()
    x, y = at(trees, 7)
    trees.keyboard.press("ArrowLeft")
    trees.keyboard.press("ArrowUp")
    assert at(trees, 7) == pytest.approx([x + 60, y + 60], abs=0.01)
    trees.keyboard.press("0")
    assert at(trees, 7) == pytest.approx([x, y], abs=0.01)
    trees.keyboard.press("l")
    assert trees.get_by_role("button", name="Drag selects points").get_attribute("aria-pressed") == "true"
    trees.keyboard.press("/")
    trees.keyboard.type("elm")
    assert trees.evaluate("nearfield.selection.length") == 36
    trees.keyboard.press("Tab")
    trees.keyboard.press("Escape")
    assert trees.evaluate("nearfield.selection.length") == 0


def test_dark_follows_the_system_until_it_is_chosen(browser, tmp_path):
    path = show.page(Y, DATA, KINDS, tmp_path / "trees.html")
    with opened(browser, dark=True) as tab:
        go(tab, path)
        assert pixel(tab, 640, 10) == (20, 22, 26)
        tab.emulate_media(color_scheme="light")
        assert pixel(tab, 640, 10) == (255, 255, 255)
        tab.get_by_role("button", name="Dark or light").click()
        assert pixel(tab, 640, 10) == (20, 22, 26)
        tab.emulate_media(color_scheme="dark")
        tab.emulate_media(color_scheme="light")
        assert pixel(tab, 640, 10) == (20, 22, 26)


def test_a_phone_has_room_for_everything_and_a_tap_shows_the_row(browser, tmp_path):
    path = show.page(Y, DATA, KINDS, tmp_path / "trees.html")
    with opened(browser, size=(390, 844), has_touch=True, is_mobile=True) as tab:
        go(tab, path)
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
        for place in (at(tab, i) for i in range(N)):
            assert 0 < place[0] < 390
            assert 90 < place[1] < 790
        tab.touchscreen.tap(*at(tab, 77))
        assert tab.locator(".nf-card").is_visible()
        assert tab.locator(".nf-card dd").first.inner_text() == "birch"
        tab.get_by_text("Colours").tap()
        assert tab.locator(".nf-legend").is_visible()
        boxes = [each.bounding_box() for each in tab.locator("button:visible, input:visible").all()]
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)


@pytest.mark.parametrize("phone", [False, True])
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(browser, tmp_path, dark, phone):
    noise = np.random.default_rng(0).normal(size=(N, 40, 40))
    with pytest.warns(UserWarning, match="left out"):
        path = show.page(Y, DATA, KINDS, tmp_path / "trees.html", images=noise, max_size="200kB")
    with opened(browser, dark=dark, size=(390, 844) if phone else (1280, 800)) as tab:
        go(tab, path)
        assert violations(tab) == []
        tab.get_by_role("searchbox").fill("elm")
        tab.get_by_role("searchbox").press("Enter")
        if phone:
            tab.get_by_text("Colours").click()
        tab.locator(".nf-legend li button").first.click()
        assert violations(tab) == []
        tab.get_by_label("Colour by").select_option(label="height")
        assert violations(tab) == []


# ------------------------------------------------------------------------------------------------ kept out


def test_a_label_that_is_a_script_stays_text(tab, tmp_path):
    data = {SCRIPT: [SCRIPT, "", "c", "d"], "other": ["a", "b", SCRIPT, SCRIPT]}
    labels = [SCRIPT, SCRIPT, "plain", "plain"]
    path = show.page(grid(2), data, labels, tmp_path / "odd.html", ids=[SCRIPT, 1, 2, 3], title=SCRIPT)
    go(tab, path)
    tab.mouse.move(*at(tab, 0))
    assert tab.locator(".nf-card dd").all_inner_texts() == [SCRIPT, SCRIPT, SCRIPT, "a"]
    assert tab.locator("h1").inner_text() == SCRIPT
    assert tab.title() == SCRIPT
    assert f"{SCRIPT}\n2" in tab.locator(".nf-legend li button").all_inner_texts()
    tab.get_by_role("searchbox").fill(SCRIPT)
    tab.get_by_label("Colour by").select_option(label="other")
    assert tab.locator("img, script:not([type])").count() == 0
    assert tab.evaluate("window.taken") is None


def test_the_pages_policy_refuses_scripts_that_are_not_its_own(browser, tmp_path):
    path = show.page(Y, path=tmp_path / "map.html")
    with opened(browser, allowed=("Content Security Policy",)) as tab:
        go(tab, path)
        tab.evaluate(
            "() => { const s = document.createElement('script'); s.textContent = 'window.taken = 1';"
            " document.body.append(s); }"
        )
        assert tab.evaluate("window.taken") is None
        assert (
            tab.evaluate("fetch('https://example.invalid/').then(() => 'asked', () => 'refused')")
            == "refused"
        )


# ------------------------------------------------------------------------------------------------ what fits


def test_a_hundred_thousand_points_with_five_columns_fit(tab, tmp_path):
    random = np.random.default_rng(0)
    many = random.normal(size=(100_000, 2))
    labels = random.integers(0, 10, size=100_000)
    path = show.page(many, random.normal(size=(100_000, 5)), labels, tmp_path / "many.html")
    assert path.stat().st_size < 8e6
    go(tab, path)
    assert tab.evaluate("nearfield.n") == 100_000
    np.testing.assert_allclose(
        tab.evaluate("[...nearfield.positions().slice(0, 4)]"), many[:2].ravel(), rtol=1e-6
    )
    tab.mouse.move(*at(tab, 99_999))
    assert len(tab.locator(".nf-card dd").all()) == 6


def test_what_is_too_large_is_left_out_and_named(tab, tmp_path):
    random = np.random.default_rng(0)
    data = {"small": np.arange(N) % 3, "large": random.normal(size=N), "last": np.arange(N) % 2}
    pictures = random.normal(size=(N, 40, 40))
    with pytest.warns(UserWarning, match=r"left out of map\.html, .*: images \(0\.3 MB\)") as warned:
        path = show.page(Y, data, path=tmp_path / "map.html", images=pictures, max_size="100kB")
    assert path.stat().st_size <= 100_000
    assert "small" not in str(warned[0].message)
    assert "images (0.3 MB)" in go(tab, path).locator(".nf-note").inner_text()
    bare = show.page(Y, path=tmp_path / "bare.html").stat().st_size
    with pytest.warns(UserWarning, match=r"large \(1 kB\)$"):
        path = show.page(Y, data, path=tmp_path / "map.html", max_size=bare + 1000)
    go(tab, path)
    assert tab.get_by_label("Colour by").locator("option").all_inner_texts() == [
        "small",
        "last",
        "one colour",
    ]
    with pytest.raises(ValueError, match="max_size"):
        show.page(Y, data, path=tmp_path / "map.html", max_size="20kB")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"model": np.zeros((4, 3))}, "two dimensions, not 3"),
        ({"labels": ["a"]}, "4 points but there are 1 labels"),
        ({"labels": "kind"}, "no column 'kind' to colour by"),
        ({"data": np.zeros((3, 2))}, r"4 points but the column 'x1' has the shape \(3,\)"),
        ({"data": np.zeros(4)}, "rows and columns"),
        ({"data": np.zeros((4, 2)), "columns": ["a"]}, "2 columns need as many different names"),
        ({"data": {"a": np.zeros(4)}, "columns": ["b"]}, "no column 'b': there are 'a'"),
        ({"ids": [1]}, "4 points but there are 1 ids"),
        ({"images": np.zeros((3, 2, 2))}, "4 points but there are 3 images"),
        ({"images": np.zeros((4, 9))}, r"images.reshape\(-1, 3, 3\)"),
        ({"images": [np.zeros((2, 2))] * 3 + [np.zeros((3, 3))]}, "differ in size"),
        ({"images": np.full((4, 2, 2), np.nan)}, "not finite"),
        ({"path": "map.png"}, "ends in .html"),
        ({"max_size": "8 parsecs"}, "is no size"),
        ({"model": np.full((4, 2), 1e40)}, "no page can show"),
    ],
)
def test_what_cannot_be_shown_is_refused_and_the_old_file_stays(tmp_path, given, message):
    (tmp_path / "map.html").write_text("as it was")
    given = {"model": grid(2), **given, "path": tmp_path / given.get("path", "map.html")}
    with pytest.raises(ValueError, match=message):
        show.page(**given)
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"map.html": "as it was"}


def test_labels_are_classes_however_many_and_odd_values_are_readable(tab, tmp_path):
    data = {
        "huge": np.full(N, 1e300),
        "number": np.arange(N) + 2**60,
        "day": pd.date_range("2024-01-01", periods=N),
        "span": pd.to_timedelta(np.arange(N) * 90, unit="min"),
    }
    go(tab, show.page(Y, data, [f"kind {i}" for i in range(N)], tmp_path / "many.html"))
    assert len(tab.locator(".nf-legend li").all()) == 40
    assert tab.locator(".nf-legend li").last.inner_text() == "other (105 classes)\n105"
    tab.mouse.move(*at(tab, 1))
    told = tab.locator(".nf-card dd").all_inner_texts()
    assert told == ["kind 1", "1e+300", "1152921504606846977", "2024-01-02", "1:30:00"]


def test_there_is_no_search_where_there_is_nothing_to_search(tab, tmp_path):
    go(tab, show.page(Y, {"height": DATA["height"]}, np.linspace(0, 1, N), tmp_path / "numbers.html"))
    assert tab.get_by_role("searchbox").count() == 0
    assert tab.locator(".nf-ends").inner_text().split() == ["0", "1"]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_maps_of_few_points_are_shown(tab, tmp_path, n):
    go(tab, show.page(np.zeros((n, 2)), labels=["a"] * n, path=tmp_path / "few.html"))
    assert at(tab, 0) == pytest.approx([652, 373], abs=1)


# ------------------------------------------------------------------------------------------------ columns


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.5, 1.5, np.nan], "numbers"),
        ([1, 2, 1], "classes"),
        (list(range(30)), "numbers"),
        ([True, False, None], "classes"),
        (["a", None, "b"], "classes"),
        ([f"name {i}" for i in range(60)], "text"),
        ([f"name {i % 50}" for i in range(500)], "classes"),
        ([None, 2.5, 3], "numbers"),
        (pd.to_datetime(["2024-01-01", None, "2024-03-01"]), "classes"),
        (np.arange(60) + 2**60, "text"),
        (pd.Categorical(["a", "b", None]), "classes"),
        (pd.array([1, None, 30], dtype="Int64"), "classes"),
    ],
)
def test_columns_are_told_apart(values, kind):
    assert described("it", values)["kind"] == kind


@pytest.mark.parametrize(
    "labels", [list("banana"), [3, 1, 2], [1.0, np.nan], ["x", "", None], [f"c{i % 60}" for i in range(90)]]
)
def test_classes_have_the_same_colours_on_pages_as_in_pictures(labels):
    pictures, pages = classes_or_numbers(labels), shaded_or_numbers(labels)
    for k, (one, other) in enumerate(zip(pictures.codes, pages.codes, strict=True)):
        shade = pages.shades[other]
        assert pictures.colours[one] == (COLOURS[shade] if shade >= 0 else "#9A9A9A"), k
        if shade >= 0:
            assert pictures.names[one] == pages.names[other]


@pytest.mark.parametrize("frame", [pd.DataFrame(DATA), DATA])
def test_frames_and_mappings_are_the_same(frame):
    found = columns_of(frame, None, N)
    assert list(found) == ["height", "name"]
    assert found["name"][3] == "tree 3"


RANGES = [(0, 1), (1, 100), (0, 250), (-100, 100), (-3, 30_000), (0, 60_000), (-5, 2**31 - 1), (1, 2**40)]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint32, np.int64, np.float32, float, bool])
@pytest.mark.parametrize("values", RANGES)
def test_numbers_become_small_without_changing(dtype, values):
    with np.errstate(over="ignore", invalid="ignore"):
        given = np.array(values, dtype=float).astype(dtype)
    np.testing.assert_array_equal(shrunk(given).astype(float), given.astype(float))
    assert shrunk(given).nbytes <= max(given.nbytes, 16)


def test_sizes_are_read():
    assert [bytes_of(each) for each in ("8MB", "500 kB", "1g", 12)] == [8_000_000, 500_000, 10**9, 12]


# ------------------------------------------------------------------------------------------------ modules


def test_bundles_hold_every_module_once():
    text = bundled("standalone")
    modules = [each.stem for each in FOLDER.glob("*.js") if each.stem not in ("standalone", "widget")]
    assert all(text.count(f"const ${name} = ") == 1 for name in modules)


def test_no_module_sets_html_or_evaluates_text():
    for path in FOLDER.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
            assert word not in text, f"{path.name} uses {word}"
