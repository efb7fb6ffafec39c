"""Commands and frames, without a browser: what the page may ask for, and what comes of it."""

import csv
import io
import json

import numpy as np
import pytest

import nearfield as nf
from nearfield.engine.base import RunAway
from nearfield.studio.messages import COMMANDS
from support.studios import a_line, a_studio, asked, blobs, cookie, headers_of, talking, until

pytestmark = pytest.mark.slow

HUGE = [float("nan"), float("inf"), 1e300, -1e300, 10**400, "1", None, [], {}, True]


@pytest.fixture
def studio():
    line = a_line(blobs()[0])
    line.run.step(150)
    with a_studio(line=line) as opened:
        yield opened


@pytest.fixture
def talk(studio):
    with talking(studio) as client:
        yield client


def test_a_page_is_greeted_with_what_it_needs_and_then_sees_the_map(talk):
    assert talk.hello["n"] == 90
    assert [each["name"] for each in talk.hello["columns"]] == ["kind", "a", "b", "c", "d", "e"]
    Y, _, iteration, cost, penalty, norm = talk.frame()
    np.testing.assert_array_equal(Y, talk.opened.session.run.Y.astype(np.float32))
    assert iteration == 150
    assert cost == pytest.approx(talk.opened.session.run.latest("cost"), rel=1e-6)
    assert penalty == 0
    assert norm > 0


def test_it_runs_pauses_and_steps(talk):
    before = talk.frame()[2]
    talk.do("run")
    while talk.frame()[2] < before + 20:
        pass
    talk.do("pause")
    paused = talk.opened.session.run.iteration
    talk.do("step", n=3)
    assert talk.opened.session.run.iteration == paused + 3
    assert talk.state["running"] is False


def test_it_rests_when_nothing_is_gained_and_wakes_for_a_drag(talk):
    talk.do("run")
    while not talk.state.get("rests"):
        talk.hear()
    at_rest = talk.opened.session.run.iteration
    assert talk.opened.session.idle
    talk.do("drag", indices=[3], grip=3, at=[30, 0], follow=5)
    while talk.frame()[2] < at_rest + 5:
        pass
    assert not talk.state["rests"]


def test_nobody_who_looks_no_iterations():
    with a_studio(paused=False) as studio, talking(studio) as talk:
        while talk.frame()[2] < 5:
            pass
        talk.send("look", visible=False)
        until(lambda: studio.session.idle)
        talk.send("look", visible=True)
        until(lambda: not studio.session.idle or studio.session.rests)


def test_a_drag_is_pinned_where_the_pointer_is_and_one_undo_takes_it_back(talk):
    run = talk.opened.session.run
    before = run.Y
    talk.do("drag", indices=[3, 7], grip=3, at=[20, 5], follow=6)
    np.testing.assert_allclose(run.Y[3], [20, 5])
    np.testing.assert_allclose(run.Y[7] - run.Y[3], before[7] - before[3])
    for k in range(5):
        talk.do("move", at=[21 + k, 5])
        talk.do("step")
    talk.do("drop")
    assert talk.steering["pins"]["3"] == [25, 5]
    assert len(talk.steering["followers"]["3"]) == 6
    dragged = run.Y
    talk.do("undo")
    np.testing.assert_array_equal(run.Y, before)
    assert talk.steering["pins"] == {}
    talk.do("redo")
    np.testing.assert_array_equal(run.Y, dragged)
    assert len(run.log) == 3  # drag, undo, redo


def test_two_pages_agree(studio):
    with talking(studio) as one, talking(studio) as other:
        one.do("drag", indices=[3], grip=3, at=[20, 5])
        one.do("drop")
        one.do("pull", strength=0.4)
        while (
            other.steering.get("pins") != {"3": [20.0, 5.0]}
            or other.state.get("drawn", {}).get("strength") != 0.4
        ):
            other.hear()
        np.testing.assert_array_equal(other.frame()[0][3], [20, 5])


def test_who_loses_the_hold_to_another_is_told(studio):
    with talking(studio) as one, talking(studio) as other:
        one.do("drag", indices=[3], grip=3, at=[20, 5])
        other.do("unpin")
        assert one.refused("move", at=[1, 1]) == "move: nothing is held any more"


def test_every_way_of_steering_has_its_effect(talk):
    run = talk.opened.session.run
    talk.do("put", indices=[1, 2], at=[9, -9], follow=4)
    np.testing.assert_allclose(run.Y[[1, 2]].mean(axis=0), [9, -9])
    talk.do("pin", indices=[5])
    assert sorted(run.pins) == [1, 2, 5]
    talk.do("unpin", indices=[5, 1, 8])
    assert sorted(run.pins) == [2]
    talk.do("settle", n=10)
    talk.do("pull", penalty="gaussian", strength=0.3)
    talk.do("link", indices=[10, 11, 12], kind="must")
    assert len(talk.steering["links"]["must"]) == 3
    talk.do("link", indices=[20, 21], kind="cannot")
    talk.do("unlink")
    assert talk.steering["links"] == {"must": [], "cannot": []}
    names = ["pin", "pin", "unpin", "settle", "pull", "link", "link", "unlink"]
    assert [entry.command for entry in run.log] == names
    for _ in names:
        talk.do("undo")
    assert talk.state["undo"] is False
    assert talk.refused("undo") == "there is nothing to undo"


def test_another_method_goes_on_from_the_map_with_the_same_pins_and_can_be_undone(talk):
    session = talk.opened.session
    talk.do("put", indices=[3], at=[30, 5], follow=4)
    first, before, followers = session.run, session.run.Y, session.run.followers[3]
    talk.do("change", perplexity=6)
    talk.do("change", method="asne", perplexity=5)
    assert session.run is not first
    np.testing.assert_allclose(session.run.Y, before, atol=1e-9)
    assert session.run.Y[3].tolist() == [30, 5]
    np.testing.assert_array_equal(session.run.followers[3], followers)
    assert talk.state["wanted"] == {"method": "asne", "perplexity": 5.0, "exaggeration": None}
    talk.do("step", n=5)
    moved = session.run.Y
    talk.do("undo")
    talk.do("undo")
    assert session.run is first
    talk.do("redo")
    assert talk.state["wanted"]["perplexity"] == 6
    talk.do("redo")
    np.testing.assert_array_equal(session.run.Y, moved)
    for _ in range(3):
        talk.do("undo")
    assert talk.steering["pins"] == {}


def test_what_a_change_makes_replays_bit_for_bit(talk, tmp_path):
    session = talk.opened.session
    talk.do("put", indices=[3], at=[30, 5], follow=4)
    talk.do("change", perplexity=5)
    talk.do("step", n=5)
    talk.do("drag", indices=[4, 5], grip=4, at=[-20, 1])
    for k in range(6):
        talk.do("move", at=[-20 - k, 1])
        talk.do("step", n=2)
    talk.do("drop")
    content = asked(talk.opened, "/export/session.nfmap", **headers_of(talk.opened))
    assert content.status == 200
    session.run.map().save(tmp_path / "run.nfmap")
    again = nf.Run.load(tmp_path / "run.nfmap", blobs()[0], replay=True, n_jobs=1)
    np.testing.assert_array_equal(again.Y, session.run.Y)


def test_restart_begins_anew_and_undo_brings_back_what_was(talk):
    session = talk.opened.session
    talk.do("put", indices=[3], at=[30, 5])
    before = session.run.Y
    talk.do("restart")
    assert session.run.iteration == 0
    assert talk.steering["pins"] == {}
    talk.do("undo")
    np.testing.assert_array_equal(session.run.Y, before)


def test_an_iteration_that_fails_is_told_and_no_pin_is_lost(talk, monkeypatch):
    session = talk.opened.session
    talk.do("put", indices=[3], at=[30, 5])

    def fail():
        raise RunAway("the map left the range of numbers: undo")

    monkeypatch.setattr(session.run, "iterate", fail)
    talk.do("run")
    while not talk.state.get("failure"):
        talk.hear()
    assert talk.state["failure"] == "the map left the range of numbers: undo"
    assert talk.steering["pins"] == {"3": [30.0, 5.0]}
    monkeypatch.undo()
    talk.do("run")
    while talk.frame()[2] < 155:
        pass
    assert talk.state["failure"] is None
    talk.do("undo")


def test_a_defect_is_told_without_a_traceback(talk, monkeypatch, capfd):
    monkeypatch.setattr(type(talk.opened.session.run), "settle", lambda self, n: {}["secret place"])
    assert talk.refused("settle", n=10) == "this went wrong in the studio; the terminal says more"
    assert "secret place" in capfd.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "3",
        '"x"',
        "null",
        '{"do": "undo"}',
        '{"id": "1", "do": "undo"}',
        '{"id": -1}',
        '{"id": 1.5}',
        "[" * 100_000,
    ],
)
def test_what_is_no_message_is_refused_in_a_line(talk, text):
    talk.socket.send(text)
    told = talk.answer(None)
    assert told["error"].startswith("the message")


@pytest.mark.parametrize("do", ["", "no", "__init__", "_slowly", 3, None, ["undo"], {}])
def test_what_is_no_command_is_refused(talk, do):
    talk.socket.send(json.dumps({"id": 900, "do": do}))
    assert talk.answer(900)["error"] == "there is no such command"


GOOD = {
    "drag": {"indices": [1], "grip": 1, "at": [0, 0]},
    "move": {"at": [0, 0]},
    "put": {"indices": [1], "at": [0, 0]},
    "pin": {"indices": [1]},
    "link": {"indices": [1, 2], "kind": "must"},
    "near": {"index": 1},
    "cards": {"indices": [1]},
    "place_rows": {"rows": [[1, 2, 3, 4, 5]]},
    "name_selection": {"name": "these", "indices": [1]},
    "forget_selection": {"name": "these"},
    "selection": {"name": "these"},
    "reopen": {"accept": False},
}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_no_command_takes_what_it_should_not_and_none_of_it_moves_the_map(talk, name):
    """Every argument of every command in turn is something else: NaN, huge, of another kind, or missing."""
    run, good = talk.opened.session.run, GOOD.get(name, {})
    before = run.Y
    for field in COMMANDS[name].fields:
        for wrong in [*HUGE, -1, [1e300, 0], [float("nan"), 0], [1, 1], [-1], [90], ["a"], [[]], "x" * 100]:
            text = json.dumps({"id": 0, "do": name, **good, field: wrong})
            if COMMANDS[name].fields[field].read is None or _fits(name, field, wrong):
                continue
            talk.socket.send(text)
            told = talk.answer(None if "NaN" in text or "Infinity" in text else 0)
            assert "error" in told, (field, wrong)
            assert "\n" not in told["error"]
    for field in good:
        left = {key: value for key, value in good.items() if key != field}
        assert talk.refused(name, **left) == f"{name}: {field} is missing"
    assert "takes" in talk.refused(name, **good, more=1)
    np.testing.assert_array_equal(run.Y, before)
    assert run.log == []


def _fits(name, field, value):
    """What happens to be right."""
    try:
        COMMANDS[name].fields[field].read(value, 90)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [[]],
        [[1, 2]],
        [[1, 2, 3, 4, "5"]],
        [[1, 2, 3, 4, 1e999]],
        [[1] * 5, [1] * 4],
        [[10**400] * 5],
        [5],
        [[True] * 5],
        "1,2,3,4,5",
    ],
)
def test_rows_that_are_no_table_of_these_columns_are_refused(talk, rows):
    text = json.dumps({"id": 1, "do": "place_rows", "rows": rows})
    talk.socket.send(text)
    assert "error" in talk.answer(None if "Infinity" in text else 1)


def test_new_rows_are_placed_and_their_novelty_told(talk):
    X, _ = blobs()
    told = talk.do("place_rows", rows=[X[4].tolist(), (X[4] + 0.01).tolist(), (X[4] + 300).tolist()])
    np.testing.assert_allclose(told["positions"][0], talk.opened.session.run.Y[4])
    assert told["novelty"][2] > 0.99 > told["novelty"][1]


def test_cards_tell_of_rows_and_columns_of_all(talk):
    (card,) = talk.do("cards", indices=[4])
    assert card["label"] == "kind 1"
    assert [name for name, _ in card["values"]] == ["a", "b", "c", "d", "e"]
    column = json.loads(asked(talk.opened, "/column/0", Cookie=cookie(talk.opened)).text)
    assert (column["name"], column["names"]) == ("kind", ["kind 0", "kind 1", "kind 2"])


def test_a_named_selection_is_a_column_of_the_export(talk):
    talk.do("name_selection", name="these", indices=[2, 1])
    talk.do("put", indices=[3], at=[30, 5])
    assert talk.do("selection", name="these") == [1, 2]
    lines = asked(talk.opened, "/export/map.csv", Cookie=cookie(talk.opened)).text.splitlines()
    assert lines[0] == "id,y1,y2,label,pinned,these"
    assert lines[3].endswith(",kind 2,0,1")
    assert lines[4].startswith("3,30.0,5.0,")
    assert lines[4].endswith(",kind 0,1,0")
    talk.do("forget_selection", name="these")
    assert talk.state["selections"] == {}


def test_texts_that_a_spreadsheet_would_compute_are_guarded_and_numbers_stay_numbers():
    texts = ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", "\r=1", "-1.5", "+2e-3", '=HYPERLINK("http://evil","x")']
    labels = [texts[k % len(texts)] for k in range(90)]
    with a_studio(labels=labels) as studio, talking(studio) as talk:
        talk.do("name_selection", name="=cmd()", indices=[1])
        text = asked(studio, "/export/map.csv", Cookie=cookie(studio)).text
        head, *rows = csv.reader(io.StringIO(text, newline=""))
    assert head == ["id", "y1", "y2", "label", "pinned", "'=cmd()"]
    kept = ["-1.5", "+2e-3"]
    assert [row[3] for row in rows[: len(texts)]] == [each if each in kept else f"'{each}" for each in texts]
    assert all(float(row[1]) < 0 or not row[1].startswith(("-", "'")) for row in rows)


def test_a_client_that_never_reads_keeps_nobody_waiting():
    with a_studio(paused=False) as studio, talking(studio) as mute, talking(studio) as other:
        mute.acknowledges = False
        while other.frame()[2] < 60:
            pass
        assert len(mute.frames) == 0
        heard = 0
        while heard < 2:
            mute.hear()
            heard = len(mute.frames)
        other.do("pause")
        other.do("step")
        number = mute.send("near", index=1)
        mute.answer(number)
        assert len(mute.frames) == 2  # and no more before they are acknowledged


def test_moves_that_wait_are_replaced_by_the_newest(talk):
    session = talk.opened.session
    talk.do("drag", indices=[3], grip=3, at=[20, 0])
    with session.run._turns.mine():  # an iteration that takes its time
        numbers = [talk.send("move", at=[20, k]) for k in range(20)]
        talk.do("cards", indices=[1])  # which is answered when all of them have come
    for number in numbers:
        assert "error" not in talk.answer(number)
    assert session.run.pins[3].tolist() == [20, 19]
    assert len(session.run.log[0].arguments["way"]) <= 3


def test_who_leaves_in_the_middle_of_a_drag_lets_go(studio):
    with talking(studio) as talk:
        talk.do("drag", indices=[3], grip=3, at=[20, 0])
        talk.do("move", at=[21, 0])
    until(lambda: studio.session.held is None)
    assert studio.session.run.pins[3].tolist() == [21, 0]
