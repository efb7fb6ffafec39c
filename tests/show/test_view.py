"""The renderer, in a real browser: what is seen where, what is under the pointer, what gestures do."""

import numpy as np
import pytest

from support.browser import opened, until
from support.hosts import hosted, picture, pixel

pytestmark = pytest.mark.slow  # a browser takes its time

PAINTERS = ("webgl2", "2d")
SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
RED, GREEN, BLUE, CLEAR = [255, 0, 0, 255], [0, 160, 0, 255], [0, 0, 255, 255], [9, 9, 9, 0]
COLOURS = np.array([RED, GREEN, BLUE, CLEAR])
WHITE = [255, 255, 255]


def told(tab, *names):
    return [detail for name, detail in tab.evaluate("told") if name in names]


def grid(side=20):
    return np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2).astype(float)


@pytest.mark.parametrize("painter", PAINTERS)
def test_points_are_seen_where_screen_says_in_their_colours(tab, painter):
    with hosted(tab, SQUARE, COLOURS, painter=painter):
        assert tab.evaluate("view.painter") == painter
        assert tab.evaluate("view.n") == 4
        for i, colour in enumerate([RED, GREEN, BLUE]):
            seen = pixel(tab, *tab.evaluate("(i) => view.screen(i)", i))
            assert (
                np.abs(np.subtract(seen, colour[:3])).max() <= 60
            )  # mixed with the ground, by their opacity
        assert pixel(tab, *tab.evaluate("view.screen(3)")) == WHITE
        assert pixel(tab, 640, 400) == WHITE


def test_both_painters_draw_the_same(tab):
    random = np.random.default_rng(0)
    Y, rgba = random.normal(size=(3000, 2)), np.full((3000, 4), 255)
    rgba[:, :3] = random.integers(0, 256, size=(3000, 3))
    seen = []
    for painter in PAINTERS:
        with hosted(tab, Y, rgba, painter=painter):
            tab.evaluate(
                "view.selection = Uint32Array.from({length: 900}, (_, i) => i); view.followers = [2000]"
            )
            seen.append(picture(tab))
    one, other = seen
    blocks = (one - other).reshape(40, 20, 64, 20, 3).mean(axis=(1, 3))
    assert np.abs(blocks).max() < 8  # one puts points between pixels, the other does not
    assert np.abs(one - 255).mean() > 2  # and something is drawn at all


def test_screen_and_world_are_inverse_and_nothing_moves_the_camera_but_people(tab):
    with hosted(tab, SQUARE, COLOURS):
        x, y = tab.evaluate("view.screen(1)")
        assert tab.evaluate("([x, y]) => view.world(x, y)", [x, y]) == pytest.approx([1, -1], abs=1e-5)
        before = tab.evaluate("view.world(100, 100)")
        tab.evaluate("view.setPositions(view.positions().map((each) => 3 * each))")
        assert tab.evaluate("view.world(100, 100)") == before
        assert tab.evaluate("[...view.positions()]") == (3 * SQUARE).ravel().tolist()
        assert not tab.evaluate("view.touched")
        tab.evaluate("view.fit()")
        assert tab.evaluate("view.screen(1)") == pytest.approx([x, y], abs=0.01)


def test_fit_shows_all_within_the_insets(tab):
    with hosted(tab, grid()):
        tab.evaluate("view.insets = {top: 50, right: 300, bottom: 10, left: 20}; view.fit()")
        seen = np.array(tab.evaluate("Array.from({length: view.n}, (_, i) => view.screen(i))"))
        assert seen[:, 0].min() >= 20
        assert seen[:, 0].max() <= 980
        assert seen[:, 1].min() >= 50
        assert seen[:, 1].max() <= 790
        tab.evaluate("view.fit([0, 1, 20, 21])")
        near = np.array(tab.evaluate("[0, 1, 20, 21].map((i) => view.screen(i))"))
        assert np.ptp(near, axis=0).min() > 200
        assert near.min() > 0


def test_the_wheel_zooms_at_the_pointer_and_a_drag_pans(tab):
    with hosted(tab, grid()):
        tab.mouse.move(300, 200)
        before, wide = tab.evaluate("view.world(300, 200)"), tab.evaluate("view.world(301, 200)[0]")
        tab.mouse.wheel(0, -400)
        until(tab, "view.touched")
        assert tab.evaluate("view.world(300, 200)") == pytest.approx(before, abs=1e-6)
        assert tab.evaluate("view.world(301, 200)[0]") - before[0] < (wide - before[0]) / 1.5
        corner = tab.evaluate("view.world(1000, 700)")
        tab.mouse.down()
        tab.mouse.move(350, 220)
        tab.mouse.move(360, 240)
        tab.mouse.up()
        assert tab.evaluate("view.world(1060, 740)") == pytest.approx(corner, abs=1e-4)
        assert told(tab, "dragstart", "select", "click") == []


def test_hovering_tells_the_nearest_point_that_is_shown(tab):
    with hosted(tab, SQUARE, COLOURS):
        for i in range(3):
            x, y = tab.evaluate("(i) => view.screen(i)", i)
            tab.mouse.move(x + 2, y - 2)
            assert tab.evaluate("view.hovered") == i
            assert told(tab, "hover")[-1] == pytest.approx(
                {"index": i, "x": x + 2, "y": y - 2, "indices": None}
            )
            assert tab.evaluate("([x, y]) => view.pick(x, y)", [x, y]) == i
        tab.mouse.move(*tab.evaluate("view.screen(3)"))
        assert tab.evaluate("view.hovered") == -1


def test_shift_and_a_drag_lasso_and_a_double_click_clears(tab):
    with hosted(tab, grid()):
        x, y = tab.evaluate("view.screen(0)")
        step = tab.evaluate("view.screen(1)[0]") - x
        corners = [
            (x - 9, y + 9),
            (x + 2.5 * step, y + 9),
            (x + 2.5 * step, y - 1.5 * step),
            (x - 9, y - 1.5 * step),
        ]
        tab.keyboard.down("Shift")
        tab.mouse.move(*corners[0])
        tab.mouse.down()
        for corner in corners[1:]:
            tab.mouse.move(*corner)
        tab.mouse.up()
        tab.keyboard.up("Shift")
        assert told(tab, "select")[-1]["indices"] == [0, 1, 2, 20, 21, 22]
        assert tab.evaluate("[...view.selection]") == [0, 1, 2, 20, 21, 22]
        assert sorted(tab.evaluate("(corners) => [...view.within(corners)]", corners)) == [
            0,
            1,
            2,
            20,
            21,
            22,
        ]
        tab.mouse.dblclick(5, 5)
        assert tab.evaluate("view.selection.length") == 0
        assert told(tab, "select")[-1]["indices"] == []


def test_a_click_selects_and_with_shift_joins_or_leaves(tab):
    with hosted(tab, SQUARE, COLOURS):
        places = [tab.evaluate("(i) => view.screen(i)", i) for i in range(3)]
        tab.mouse.click(*places[0])
        tab.keyboard.down("Shift")
        tab.mouse.click(*places[2])
        assert tab.evaluate("[...view.selection]") == [0, 2]
        tab.mouse.click(*places[0])
        assert tab.evaluate("[...view.selection]") == [2]
        assert [each["index"] for each in told(tab, "click")] == [0, 2, 0]


def test_points_are_dragged_with_the_tool_for_it_and_tell_where_they_are_held(tab):
    with hosted(tab, grid()):
        tab.evaluate("view.tool = 'move'; view.selection = [3, 4]")
        assert told(tab, "tool") == [{"tool": "move", "indices": None}]
        x, y = tab.evaluate("view.screen(3)")
        before = tab.evaluate("[...view.positions()]")
        tab.mouse.move(x, y)
        tab.mouse.down()
        tab.mouse.move(x + 30, y - 10)
        tab.mouse.move(x + 60, y - 40)
        tab.mouse.up()
        began, *_, ended = told(tab, "dragstart", "drag", "dragend")
        assert (began["index"], began["indices"]) == (3, [3, 4])
        assert [ended["x"], ended["y"]] == pytest.approx(
            tab.evaluate("([x, y]) => view.world(x, y)", [x + 60, y - 40])
        )
        assert [ended["dx"], ended["dy"]] == pytest.approx([ended["x"] - 3, ended["y"]], abs=1e-5)
        assert not ended["cancelled"]
        assert tab.evaluate("[...view.positions()]") == before  # whoever listens moves them
        tab.evaluate("view.held = new Map([[3, [7.5, 8.5]]])")
        tab.evaluate("view.setPositions(new Float32Array(800))")
        assert tab.evaluate("[...view.positions().slice(4, 10)]") == [0, 0, 7.5, 8.5, 0, 0]


def test_pins_followers_selection_and_new_points_are_seen(tab):
    with hosted(tab, SQUARE, COLOURS):
        look = {"ink": [26, 26, 26], "accent": [214, 0, 108]}
        x, y = tab.evaluate("view.screen(0)")
        radius = 1.3 * 4.5 + 4
        assert pixel(tab, x + radius, y) == WHITE
        tab.evaluate("view.pinned = new Set([0])")
        assert np.abs(np.subtract(pixel(tab, x + radius, y), look["ink"])).max() < 60
        tab.evaluate("view.followers = [1]")
        x, y = tab.evaluate("view.screen(1)")
        ring = [pixel(tab, x + 1.3 * 4.5 + d, y) for d in (0, 0.5, 1)]
        assert min(np.abs(np.subtract(each, look["accent"])).max() for each in ring) < 60
        strong = pixel(tab, *tab.evaluate("view.screen(2)"))
        tab.evaluate("view.selection = [0]")
        faint = pixel(tab, *tab.evaluate("view.screen(2)"))
        assert min(faint) > min(strong) + 100
        assert pixel(tab, 640, 400) == WHITE
        tab.evaluate("view.extra = {positions: Float32Array.of(0, 0)}")
        assert pixel(tab, 640, 400) == look["accent"]
        assert tab.evaluate("view.pickExtra(642, 401)") == 0
        assert tab.evaluate("view.pickExtra(700, 401)") == -1


def test_a_lost_graphics_card_is_survived(tab):
    with hosted(tab, SQUARE, COLOURS, painter="webgl2"):
        seen = pixel(tab, *tab.evaluate("view.screen(0)"))
        tab.evaluate("view.loseContext()")
        until(tab, "view.painter === '2d'")
        assert np.abs(np.subtract(pixel(tab, *tab.evaluate("view.screen(0)")), seen)).max() < 60
        tab.evaluate("view.setPositions(view.positions()); view.selection = [1]")
        assert pixel(tab, 640, 400) == WHITE


def test_without_webgl_the_canvas_draws(browser):
    with opened(browser, webgl=False) as tab, hosted(tab, SQUARE, COLOURS, painter="webgl2"):
        assert tab.evaluate("view.painter") == "2d"
        assert pixel(tab, *tab.evaluate("view.screen(0)")) != WHITE


def test_an_imitated_graphics_card_is_left_alone(tab):
    with hosted(tab, SQUARE, COLOURS):
        assert tab.evaluate("view.painter") == "2d"


def test_nothing_is_drawn_unless_something_changed(tab):
    with hosted(tab, grid()):
        count = """() => new Promise((done) => {
          let drawn = 0;
          const kind = CanvasRenderingContext2D.prototype;
          const draw = kind.putImageData;
          kind.putImageData = function (...all) { drawn++; return draw.apply(this, all); };
          const frames = (k, then) => k ? requestAnimationFrame(() => frames(k - 1, then)) : then();
          frames(5, () => {
            const idle = drawn;
            view.hovered = 3; view.selection = [1]; view.pinned = [2]; view.setPositions(view.positions());
            frames(5, () => done([idle, drawn]));
          });
        })"""
        assert tab.evaluate(count) == [0, 1]


def test_the_camera_glides_where_motion_is_welcome_and_a_person_may_interrupt_it(tab):
    with hosted(tab, grid(), reducedMotion=False):
        there = tab.evaluate("view.screen(0)")
        tab.evaluate("view.pan(300, 200)")
        tab.evaluate("view.fit()")
        until(tab, "([x, y]) => Math.hypot(view.screen(0)[0] - x, view.screen(0)[1] - y) < 0.01", there)
        stopped = "() => { view.fit([5]); view.pan(1, 0); return view.world(640, 400); }"
        at_once = tab.evaluate(stopped)
        later = tab.evaluate("() => new Promise((done) => setTimeout(() => done(view.world(640, 400)), 400))")
        assert later == at_once


def test_two_fingers_zoom_and_one_pans(browser):
    with opened(browser, has_touch=True) as tab, hosted(tab, grid()):
        touch = tab.context.new_cdp_session(tab)

        def fingers(kind, *places):
            points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        middle = tab.evaluate("view.world(500, 400)")
        scale = tab.evaluate("view.world(501, 400)[0]") - middle[0]
        fingers("touchStart", (450, 400))
        fingers("touchStart", (450, 400), (550, 400))
        fingers("touchMove", (400, 400), (600, 400))
        fingers("touchEnd")
        assert tab.evaluate("view.world(500, 400)") == pytest.approx(middle, abs=1e-4)
        assert tab.evaluate("view.world(501, 400)[0]") - middle[0] == pytest.approx(scale / 2, rel=1e-3)
        corner = tab.evaluate("view.world(100, 100)")
        fingers("touchStart", (30, 30))
        fingers("touchMove", (60, 60))
        fingers("touchMove", (80, 70))
        fingers("touchEnd")
        assert tab.evaluate("view.world(150, 140)") == pytest.approx(corner, abs=1e-4)


def test_names_stand_apart_from_each_other(tab):
    with hosted(tab, np.array([[0.0, 0.0], [1.0, 1.0]])):
        blank = picture(tab)
        tab.evaluate("view.names = [{text: 'ash', x: 0.5, y: 0.5}]")
        one = np.argwhere(np.abs(picture(tab) - blank).max(axis=2) > 100)
        tab.evaluate("view.names = [1, 2, 3, 4].map(() => ({text: 'ash', x: 0.5, y: 0.5}))")
        several = np.argwhere(np.abs(picture(tab) - blank).max(axis=2) > 100)
        assert len(several) == 3 * len(one)  # in the middle, below, above; and no room for a fourth
        assert np.ptp(one[:, 0]) < 20 < np.ptp(several[:, 0])


def test_a_view_that_is_disposed_of_listens_no_more(tab):
    with hosted(tab, SQUARE, COLOURS, painter="webgl2"):
        tab.evaluate("view.dispose()")
        tab.mouse.move(*tab.evaluate("view.screen(0)"))
        assert told(tab, "hover") == []
        assert tab.evaluate("view.painter") == "webgl2"


def test_wrong_calls_say_what_is_right(tab):
    with hosted(tab, SQUARE, COLOURS):
        message = "(wrong) => { try { %s; } catch (error) { return error.message; } }"
        assert "16 bytes" in tab.evaluate(message % "view.setColours(new Uint8Array(3))")
        assert "pan, lasso, move" in tab.evaluate(message % "view.tool = 'fly'")
