"""The studio as a person uses it, in a real Chromium: what the hand does is what the server has."""

import json

import numpy as np
import pytest

import nearfield as nf
from nearfield.engine.base import RunAway
from nearfield.io.tables import read_map
from nearfield.studio.rows import rows_of
from support.browser import opened, until, violations
from support.studios import a_line, a_studio, blobs, talking
from support.studios import until as comes

pytestmark = pytest.mark.slow
BANNER = "(text) => document.querySelector('.st-banner').textContent.includes(text)"
SCRIPT = "<img src=x onerror=alert(1)><script>window.broken = true</script>"


@pytest.fixture
def studio():
    line = a_line(blobs()[0])
    line.run.step(200)
    with a_studio(line=line) as made:
        yield made


def entered(tab, studio):
    """The page, with its map."""
    tab.goto(studio.address)
    until(tab, "window.nearfield && nearfield.connected && nearfield.n > 0")
    return tab


@pytest.fixture
def page(browser, studio):
    with opened(browser) as tab:
        yield entered(tab, studio)


@pytest.fixture
def restless(studio, monkeypatch):
    """A run that never comes to rest."""
    monkeypatch.setattr(studio.session.run._descent, "is_flat", lambda *_: False)


def at(tab, i):
    return tab.evaluate("(i) => nearfield.screen(i)", i)


def drag(tab, i, by, steps=12):
    """Take a point, lead it, let go."""
    x, y = at(tab, i)
    tab.mouse.move(x, y)
    tab.mouse.down()
    for k in range(1, steps + 1):
        tab.mouse.move(x + by[0] * k / steps, y + by[1] * k / steps)
    wanted = tab.evaluate("([x, y]) => nearfield.world(x, y)", [x + by[0], y + by[1]])
    tab.mouse.up()
    return wanted


def dropped(studio):
    """Wait until nothing is held, and return the pins."""
    comes(lambda: studio.session.run.pins and studio.session.held is None)
    return {i: place.tolist() for i, place in studio.session.run.pins.items()}


def test_the_token_leaves_the_address_and_the_map_is_there(page, studio):
    assert page.url == f"http://127.0.0.1:{studio.port}/"
    assert page.evaluate("nearfield.n") == 90
    shown = np.array(page.evaluate("[...nearfield.positions()]")).reshape(-1, 2)
    np.testing.assert_array_equal(shown.astype(np.float32), studio.session.run.Y.astype(np.float32))
    assert page.locator("#about").inner_text().startswith("90 points · iteration 200")
    assert "token" not in page.evaluate("document.cookie + location.href + performance.getEntries()[0].name")


def test_it_runs_and_pauses(page, studio, restless):
    page.locator("#run").click()
    until(page, "nearfield.running && nearfield.iteration > 205")
    page.keyboard.press("Escape")
    page.locator("#map").focus()
    page.keyboard.press("Space")
    comes(lambda: not studio.session.running)
    until(page, "!nearfield.running")
    before = studio.session.run.iteration
    page.keyboard.press(".")
    comes(lambda: studio.session.run.iteration == before + 1)
    until(page, "(i) => nearfield.iteration === i", before + 1)


def test_a_drag_pins_the_point_under_the_pointer_and_its_neighbours_follow(page, studio):
    run = studio.session.run
    before = run.Y
    assert page.locator(".st-hint").is_visible()
    wanted = drag(page, 3, (-150, 60))
    pins = dropped(studio)
    assert list(pins) == [3]
    np.testing.assert_allclose(pins[3], wanted, rtol=1e-5)
    assert not page.locator(".st-hint").is_visible()
    until(page, "nearfield.pins[3] && nearfield.followers[3]")
    until(page, "(at) => JSON.stringify(nearfield.pins[3]) === JSON.stringify(at)", pins[3])
    near = run.followers[3]
    assert page.evaluate("nearfield.followers[3]") == near.tolist()
    page.locator("#run").click()
    comes(lambda: run.iteration > 420 or studio.session.rests)
    gone = np.linalg.norm(before[near] - pins[3], axis=1)
    left = np.linalg.norm(run.Y[near] - pins[3], axis=1)
    assert np.median(1 - left / gone) > 0.5


def test_while_it_is_held_the_map_lives_and_one_undo_takes_back_all_of_it(page, studio, restless):
    run = studio.session.run
    x, y = at(page, 3)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 6, y)
    page.keyboard.press("Space")
    for k in range(2, 30):
        page.mouse.move(x - 6 * k, y)
        page.wait_for_timeout(10)
    began = comes(lambda: studio.session.held is not None and run.iteration)
    comes(lambda: run.iteration > began + 10)
    moved = page.evaluate("([x, y]) => nearfield.world(x, y)", [x - 6 * 29, y])
    comes(lambda: np.allclose(run.pins[3], moved))
    page.mouse.up()
    dropped(studio)
    assert len(run.log) == 1
    page.keyboard.press("Control+z")
    comes(lambda: run.pins == {})
    until(page, "Object.keys(nearfield.pins).length === 0")
    page.keyboard.press("Control+Shift+z")
    comes(lambda: list(run.pins) == [3])
    until(page, "3 in nearfield.pins")


def test_a_lasso_selects_and_the_selection_is_dragged_as_one(page, studio):
    run = studio.session.run
    for kind in range(3):  # one that lies free of the panels
        members = [i for i in range(90) if i % 3 == kind]
        spots = np.array([at(page, i) for i in members])
        low, high = spots.min(axis=0) - 9, spots.max(axis=0) + 9
        if (low[0] > 260 or low[1] > 120) and high[0] < 1010 and high[1] < 740:
            break
    page.keyboard.down("Shift")
    page.mouse.move(*low)
    page.mouse.down()
    for x, y in ((high[0], low[1]), high, (low[0], high[1]), low):
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    chosen = sorted(page.evaluate("[...nearfield.selection]"))
    assert set(members) <= set(chosen)
    assert page.locator(".st-chosen").is_visible()
    before = run.Y
    drag(page, members[0], (20, -10))
    pins = dropped(studio)
    assert sorted(pins) == chosen
    moved = np.array([pins[i] for i in chosen]) - before[chosen]
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-9)


def test_a_point_is_moved_with_the_keyboard_alone(page, studio):
    run = studio.session.run
    row = page.get_by_label("Row to select")
    page.locator("summary", has_text="Selections").focus()
    page.keyboard.press("Enter")
    row.focus()
    page.keyboard.type("4")
    page.keyboard.press("Enter")
    assert page.evaluate("[...nearfield.selection]") == [4]
    page.get_by_label("x", exact=True).focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("12.5")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("-3")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Move here"
    page.keyboard.press("Enter")
    assert dropped(studio) == {4: [12.5, -3.0]}
    until(page, "nearfield.positions()[8] === 12.5")
    page.locator("#map").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    comes(lambda: studio.session.held is None and run.pins[4][0] > 12.5 and run.pins[4][1] > -3)
    for _ in run.log[1:]:  # one drag, unless the machine took its time between two keys
        page.keyboard.press("Control+z")
    comes(lambda: run.pins[4].tolist() == [12.5, -3.0])


def test_single_keys_can_be_turned_off(page, studio):
    page.keyboard.press("?")
    page.get_by_label("Keys of one letter").uncheck()
    page.get_by_role("button", name="Close").click()
    page.locator("#map").focus()
    page.keyboard.press(".")
    page.locator("button", has_text="Lasso").click()
    page.keyboard.press("m")
    assert page.locator("[data-tool=lasso]").get_attribute("aria-pressed") == "true"
    assert studio.session.run.iteration == 200


def test_every_key_does_what_the_help_says(page):
    def across():
        return page.evaluate("nearfield.world(640, 0)[0] - nearfield.world(0, 0)[0]")

    page.locator("#map").focus()
    for key, tool in (("v", "pan"), ("l", "lasso"), ("m", "move")):
        page.keyboard.press(key)
        assert page.locator(f"[data-tool={tool}]").get_attribute("aria-pressed") == "true"
    whole = across()
    page.keyboard.press("+")
    assert across() == pytest.approx(whole / 1.5)
    page.keyboard.press("-")
    assert across() == pytest.approx(whole)
    left = page.evaluate("nearfield.world(0, 0)[0]")
    page.keyboard.press("ArrowRight")  # nothing is selected: it pans
    assert page.evaluate("nearfield.world(0, 0)[0]") > left
    page.keyboard.press("0")
    assert page.evaluate("nearfield.world(0, 0)[0]") == pytest.approx(left)
    page.keyboard.press("/")
    page.keyboard.type("kind 1")  # letters are no keys here
    assert page.locator("[data-tool=move]").get_attribute("aria-pressed") == "true"
    assert page.evaluate("nearfield.selection.length") == 30
    assert page.locator("[role=status]").inner_text() == "30 points selected"
    page.keyboard.press("Escape")
    assert page.evaluate("nearfield.selection.length") == 0


def test_what_is_selected_is_pinned_linked_released_and_put_elsewhere(page, studio):
    run = studio.session.run
    page.locator("summary", has_text="Selections").click()
    page.get_by_label("Row to select").fill("4")
    page.keyboard.press("Enter")
    page.mouse.click(*at(page, 5), button="left")
    page.keyboard.down("Control")
    page.mouse.click(*at(page, 4))
    page.keyboard.up("Control")
    assert sorted(page.evaluate("[...nearfield.selection]")) == [4, 5]
    page.locator("#map").focus()
    page.keyboard.press("p")
    comes(lambda: sorted(run.pins) == [4, 5])
    page.get_by_role("button", name="Release the selected points").click()
    comes(lambda: not run.pins)
    for name, kind in (("together", "MustLink"), ("apart", "CannotLink")):
        page.get_by_role("button", name=f"Keep the selected points {name}").click()
        comes(lambda kind=kind: [type(each).__name__ for each in run.terms] == [kind])
        page.get_by_role("button", name="Cut all links").click()
        comes(lambda: not run.terms)
    page.get_by_label("x", exact=True).fill("3")
    page.get_by_label("y", exact=True).fill("-2")
    page.get_by_text("Move here").click()
    comes(lambda: sorted(run.pins) == [4, 5])
    np.testing.assert_allclose(np.mean([run.pins[4], run.pins[5]], axis=0), [3, -2])
    page.get_by_role("button", name="Release all pinned points").click()
    comes(lambda: not run.pins)


def test_it_is_coloured_by_any_column_and_classes_are_clicked_away(page):
    shown = page.locator(".nf-legend button")
    assert shown.all_inner_texts() == ["kind 0\n30", "kind 1\n30", "kind 2\n30"]
    x, y = at(page, 1)
    shown.nth(1).click()
    page.mouse.move(x, y)
    assert not page.locator(".nf-card").is_visible()  # what is hidden is hidden from the pointer too
    shown.nth(1).click()
    page.get_by_label("Colour by").select_option("c")
    page.locator(".nf-scale").wait_for()
    page.get_by_label("Colour by").select_option("one colour")
    until(page, "!document.querySelector('.nf-scale') && !document.querySelector('.nf-legend button')")


def test_a_page_that_nobody_sees_costs_nothing(page, studio, restless):
    see = """(hidden) => {
      Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.locator("#run").click()
    comes(lambda: studio.session.run.iteration > 210)
    page.evaluate(see, True)
    comes(lambda: studio.session.idle)
    page.evaluate(see, False)
    stopped = studio.session.run.iteration
    comes(lambda: studio.session.run.iteration > stopped + 5)


def test_a_row_that_is_an_image_is_shown_as_one(browser):
    X = np.zeros((60, 36))
    X[:, :18] = np.random.default_rng(0).integers(0, 256, size=(60, 18))
    with a_studio(line=a_line(X), rows=rows_of("images", X)) as studio, opened(browser) as tab:
        entered(tab, studio)
        tab.mouse.move(*at(tab, 7))
        read = "() => { const c = document.querySelector('.nf-picture'); return c && [c.width, c.height,"
        read += " ...c.getContext('2d').getImageData(0, 3, 1, 1).data]; }"
        assert until(tab, read) == [6, 6, 255, 255, 255, 255]  # nothing is drawn in the lower half


def test_a_reloaded_page_shows_the_same_session(page, studio):
    drag(page, 3, (-120, 40))
    pins = dropped(studio)
    page.reload()
    until(page, "window.nearfield && nearfield.n && 3 in nearfield.pins")
    np.testing.assert_allclose(page.evaluate("nearfield.pins[3]"), pins[3])


def test_two_tabs_agree(browser, page, studio):
    with opened(browser) as other:
        entered(other, studio)
        drag(page, 3, (-120, 40))
        pins = dropped(studio)
        until(other, "(at) => JSON.stringify(nearfield.pins[3]) === JSON.stringify(at)", pins[3])
        other.locator("#undo").click()
        until(page, "!(3 in nearfield.pins)")


def test_it_draws_without_webgl(browser, studio):
    with opened(browser, webgl=False) as tab:
        entered(tab, studio)
        assert tab.evaluate("nearfield.painter") == "2d"
        drag(tab, 3, (-120, 40))
        assert list(dropped(studio)) == [3]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_nothing_serious_stands_in_anybodys_way(browser, studio, size, dark):
    with opened(browser, size=size, dark=dark) as tab:
        entered(tab, studio)
        if size[0] < 720:
            tab.get_by_role("button", name="Settings").click()
        for each in ("Map", "Progress", "Selections", "New points", "Save"):
            tab.locator("summary", has_text=each).first.click()
        tab.evaluate("document.querySelector('#map').focus()")
        tab.locator("summary", has_text="Save").first.click()
        assert violations(tab) == []
        tab.keyboard.press("?")
        assert violations(tab) == []


def test_a_label_that_is_a_script_is_text(browser):
    labels = [SCRIPT if k % 2 else "plain" for k in range(90)]
    with a_studio(labels=labels) as studio, opened(browser) as tab:
        entered(tab, studio)
        until(tab, "document.querySelectorAll('.nf-legend button').length === 2")
        tab.mouse.move(*at(tab, 1))
        until(tab, "document.querySelector('.st-label')?.textContent.includes('onerror')")
        tab.get_by_label("Search labels").fill("script")
        assert len(tab.evaluate("[...nearfield.selection]")) == 45
        assert tab.evaluate("document.querySelectorAll('#studio img, #studio script').length") == 0
        assert tab.evaluate("window.broken") is None


def test_a_run_that_fails_says_so_on_the_page(page, studio, monkeypatch):
    drag(page, 3, (-120, 40))
    dropped(studio)

    def fail():
        raise RunAway("the map left the range of numbers at iteration 201: undo")

    monkeypatch.setattr(studio.session.run, "iterate", fail)
    page.locator("#run").click()
    until(page, BANNER, "left the range of numbers")
    assert "3" in page.evaluate("nearfield.pins")


def test_a_studio_that_ends_says_what_to_do(browser):
    allowed = ("WebSocket", "Failed to load resource", "ERR_CONNECTION")
    with opened(browser, allowed=allowed) as tab:
        with a_studio() as studio:
            entered(tab, studio)
        until(tab, BANNER, "Start it again with nearfield studio")
        with a_studio(port=studio.port):
            until(tab, BANNER, "open the address that the new one printed")


def test_new_rows_are_pasted_placed_and_taken_away(page, studio):
    page.locator("summary", has_text="New points").click()
    page.get_by_label("Rows to place").fill(new_rows())
    page.get_by_role("button", name="Place these rows in the map").click()
    page.get_by_text("2 new points, 1 unlike all others").wait_for()
    page.get_by_label("Rows to place").fill("1,2,x,4,5")
    page.get_by_role("button", name="Place these rows in the map").click()
    page.get_by_text("Not placed").wait_for()


def new_rows():
    """Two rows in other columns' order: one as a row that is there, and one unlike all."""
    X, _ = blobs()
    return "\n".join(["e,d,c,b,a", *(",".join(map(str, row[::-1])) for row in (X[4], X[4] + 300))])


HANDED = """([kind, text]) => {
  const data = new DataTransfer();
  const map = document.getElementById("map");
  if (kind === "paste") {
    data.setData("text", text);
    map.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true}));
    return;
  }
  data.items.add(new File([text], "new.csv", {type: "text/csv"}));
  for (const each of ["dragover", "drop"]) {
    const event = new DragEvent(each, {dataTransfer: data, bubbles: true, cancelable: true});
    if (map.dispatchEvent(event)) throw Error(`the browser would open the file at ${each}`);
  }
}"""


@pytest.mark.parametrize("way", ["drop", "paste"])
def test_rows_that_are_dropped_or_pasted_are_placed_and_drawn_and_what_is_no_table_is_not(page, studio, way):
    page.evaluate(HANDED, [way, new_rows()])
    page.get_by_text("2 new points, 1 unlike all others").wait_for()
    page.get_by_label("Search labels").focus()
    place = studio.session.run.reference().place(blobs()[0][4:5] + 300).Y[0]
    x, y = pixel_of(page, place)
    page.mouse.move(x, y)
    until(page, "() => document.querySelector('.nf-card').textContent.includes('new point 2')")
    assert "unlike all others" in page.locator(".nf-card").inner_text()
    page.evaluate(HANDED, [way, "\x00\x01 no table"])
    page.get_by_text("Not placed").wait_for()
    page.evaluate(HANDED, [way, "1,2,3,4,5\n" * 400_000])
    page.get_by_text("too much at once").wait_for()
    assert studio.session.run.log == []


def pixel_of(tab, place):
    """Where a place of the map is in the window."""
    (x0, y0), (x1, y1) = (tab.evaluate("(at) => nearfield.world(at, at)", at) for at in (0, 100))
    return [100 * (place[0] - x0) / (x1 - x0), 100 * (place[1] - y0) / (y1 - y0)]


def test_one_finger_moves_a_point_or_pans_and_two_zoom(browser, studio):
    with opened(browser, size=(390, 844), has_touch=True, is_mobile=True) as tab:
        entered(tab, studio)
        fingers = tab.context.new_cdp_session(tab)

        def touch(*steps):
            for k, at in enumerate(steps):
                points = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(at)]
                kind = "touchStart" if k == 0 or len(at) > len(steps[k - 1]) else "touchMove"
                fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
            fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

        def seen():
            (left, _), (right, _) = tab.evaluate("[nearfield.world(0, 400), nearfield.world(390, 400)]")
            return left, right - left

        x, y = at(tab, 3)
        wanted = tab.evaluate("([x, y]) => nearfield.world(x, y)", [x + 40, y + 30])
        touch([(x, y)], [(x + 15, y + 10)], [(x + 40, y + 30)])
        pins = dropped(studio)
        assert list(pins) == [3]
        np.testing.assert_allclose(pins[3], wanted, rtol=1e-5)

        left, width = seen()
        corner = (380, 250)  # where no point is
        touch([corner], [(340, 250)], [(280, 250)])
        moved, same = seen()
        np.testing.assert_allclose([moved, same], [left + width * 100 / 390, width], rtol=1e-6)

        one, other = (150, 420), (240, 420)
        touch([one], [one, other], [(120, 420), (270, 420)], [(105, 420), (285, 420)])
        zoomed = seen()[1]
        np.testing.assert_allclose(zoomed, width / 2, rtol=1e-6)
        comes(lambda: studio.session.held is None)
        assert list(studio.session.run.pins) == [3]


def test_settings_are_told_to_the_server_and_quality_is_judged(page, studio):
    session = studio.session
    page.locator("summary", has_text="Map").first.click()
    page.get_by_label("Perplexity", exact=True).fill("5")
    page.keyboard.press("Enter")
    comes(lambda: session.line.wanted["perplexity"] == 5)
    page.get_by_label("Method", exact=True).select_option("asne")
    comes(lambda: session.line.wanted["method"] == "asne")
    page.get_by_label("Exaggeration", exact=True).fill("2")
    page.keyboard.press("Enter")
    comes(lambda: session.line.wanted["exaggeration"] == 2)
    page.get_by_label("Pull", exact=True).select_option("gaussian")
    comes(lambda: session.line.drawn["penalty"] == "gaussian")
    page.get_by_label("Strength", exact=True).fill("0.7")
    page.keyboard.press("Enter")
    comes(lambda: session.line.drawn["strength"] == 0.7)
    page.locator("summary", has_text="Progress").click()
    page.get_by_text("Judge the map").click()
    page.get_by_text("trustworthiness").wait_for()
    page.get_by_role("button", name="Start anew").click()
    comes(lambda: session.run.iteration == 0 and session.line.before)
    for _ in range(4):  # over restart, exaggeration, method and perplexity
        page.locator("#undo:not([disabled])").click()
    until(page, "document.querySelector('#undo').disabled && nearfield.iteration === 200")


def test_a_selection_is_named_and_exported(page, studio, tmp_path):
    page.get_by_label("Search labels").fill("kind 2")
    page.get_by_role("button", name="Give the selection a name").click()
    page.get_by_label("Name of the selection").fill("thirds")
    page.keyboard.press("Enter")
    comes(lambda: len(studio.session.selections.get("thirds", ())) == 30)
    page.locator("summary", has_text="Save").click()
    with page.expect_download() as download:
        page.get_by_text("Coordinates (CSV)").click()
    lines = open(download.value.path()).read().splitlines()  # noqa: SIM115
    assert lines[0] == "id,y1,y2,label,pinned,thirds"
    assert sum(line.endswith(",1") for line in lines) == 30
    with page.expect_download() as download:
        page.get_by_role("button", name="Picture (PNG)").click()
    assert open(download.value.path(), "rb").read(4) == b"\x89PNG"  # noqa: SIM115
    page.get_by_label("Search labels").fill("kind 1")
    with page.expect_download() as download:
        page.get_by_role("button", name="Selection (CSV)").click()
    download.value.save_as(tmp_path / "selection.csv")
    assert len(read_map(tmp_path / "selection.csv")[0]) == 30
    with page.expect_download() as download:
        page.get_by_text("Session, to go on later").click()
    download.value.save_as(tmp_path / "session.nfmap")
    again = nf.Run.load(tmp_path / "session.nfmap", blobs()[0])
    np.testing.assert_array_equal(again.Y, studio.session.run.Y)


def test_moves_are_sent_no_more_than_thirty_times_a_second(page, studio):
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda data: sent.append(data)))
    page.reload()
    until(page, "window.nearfield && nearfield.n > 0")
    x, y = at(page, 3)
    page.mouse.move(x, y)
    page.mouse.down()
    began = page.evaluate("performance.now()")
    for k in range(200):
        page.mouse.move(x - k / 2, y)
    seconds = (page.evaluate("performance.now()") - began) / 1000
    page.mouse.up()
    dropped(studio)
    moves = [each for each in sent if isinstance(each, str) and json.loads(each).get("do") == "move"]
    assert 1 <= len(moves) <= 30 * seconds + 3


def test_a_client_and_the_page_see_the_same(page, studio):
    with talking(studio) as talk:
        talk.do("put", indices=[7], at=[5, 5])
        until(page, "7 in nearfield.pins")
        assert page.evaluate("nearfield.pins[7]") == [5, 5]
