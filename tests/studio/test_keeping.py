"""What is on the disk at any moment: after a crash, all up to the last command comes back bit for bit."""

import json

import numpy as np
import pytest

import nearfield as nf
from nearfield.studio.keeping import Keeper, keeper_for, name_of, read_log, reopened, selections_of
from nearfield.studio.rows import rows_of
from support.studios import a_line, a_studio, asked, blobs, cookie, talking

pytestmark = pytest.mark.slow

X, LABELS = blobs()


@pytest.fixture
def line():
    made = a_line(X)
    made.run.step(120)
    return made


@pytest.fixture
def kept(line, tmp_path):
    """A studio whose session is kept, and a client."""
    keeper = Keeper(tmp_path / "blobs.nfmap", {"path": None})
    with a_studio(line=line, keeper=keeper) as studio, talking(studio) as talk:
        yield studio, talk, keeper


def crashed(keeper):
    """What is found on the disk now, as after kill -9."""
    return reopened(keeper.path, X, n_jobs=1)


def steer(talk):
    talk.do("put", indices=[3], at=[30, 5], follow=4)
    talk.do("step", n=4)
    talk.do("drag", indices=[7, 8], grip=7, at=[-30, 5], follow=5)
    for k in range(5):
        talk.do("move", at=[-30, 5 + k])
        talk.do("step", n=2)
    talk.do("drop")
    talk.do("link", indices=[1, 2], kind="must")


def test_every_command_is_on_the_disk_at_once(kept):
    studio, talk, keeper = kept
    run = studio.session.run
    steer(talk)
    again, _ = crashed(keeper)
    np.testing.assert_array_equal(again.Y, run.Y)
    assert [str(each) for each in again.log] == [str(each) for each in run.log]
    assert again.pins.keys() == run.pins.keys()
    again.step(20)
    run.step(20)
    np.testing.assert_array_equal(again.Y, run.Y)


def test_the_first_command_writes_the_state_and_later_ones_the_log_alone(kept):
    _, talk, keeper = kept
    talk.do("put", indices=[3], at=[30, 5])
    written = keeper.path.stat().st_mtime_ns
    talk.do("put", indices=[4], at=[31, 5])
    talk.do("put", indices=[5], at=[32, 5])
    assert keeper.path.stat().st_mtime_ns == written
    assert len(keeper.log.read_text().splitlines()) == 2


@pytest.mark.parametrize("then", ["undo", "redo", "change", "restart"])
def test_what_no_log_can_tell_is_saved_whole(kept, then):
    studio, talk, keeper = kept
    steer(talk)
    if then == "redo":
        talk.do("undo")
    talk.do(then, **({"perplexity": 5} if then == "change" else {}))
    again, _ = crashed(keeper)
    np.testing.assert_array_equal(again.Y, studio.session.run.Y)
    assert again.pins.keys() == studio.session.run.pins.keys()
    talk.do("put", indices=[9], at=[1, 2])
    assert 9 in crashed(keeper)[0].pins


def test_a_held_drag_is_written_at_its_end_and_nothing_else_is_lost(kept):
    _, talk, keeper = kept
    talk.do("put", indices=[3], at=[30, 5])
    talk.do("drag", indices=[7], grip=7, at=[-30, 5])
    talk.do("move", at=[-31, 5])
    assert sorted(crashed(keeper)[0].pins) == [3]
    talk.do("drop")
    assert crashed(keeper)[0].pins[7].tolist() == [-31, 5]


def test_a_line_that_was_cut_short_is_left_out(kept):
    studio, talk, keeper = kept
    talk.do("put", indices=[3], at=[30, 5])
    talk.do("put", indices=[4], at=[31, 5])
    talk.do("put", indices=[5], at=[32, 5])
    content = keeper.log.read_bytes()
    keeper.log.write_bytes(content[:-40])
    assert sorted(crashed(keeper)[0].pins) == [3, 4]
    keeper.log.write_bytes(b"\xff\x00nonsense\n" + content)
    assert sorted(crashed(keeper)[0].pins) == [3]
    keeper.log.unlink()
    assert sorted(crashed(keeper)[0].pins) == [3]
    del studio


@pytest.mark.parametrize(
    "change",
    [
        {"entry": {"is": "Entry", "with": {"iteration": 0, "command": "save", "arguments": {"dict": {}}}}},
        {"entry": {"is": "Path", "with": {}}},
        {"arrays": [["object", [1], ""]]},
        {"arrays": 3},
        {"number": "1"},
    ],
)
def test_a_log_of_somebody_else_calls_nothing_but_commands(kept, change):
    _, talk, keeper = kept
    talk.do("put", indices=[3], at=[30, 5])
    talk.do("put", indices=[4], at=[31, 5])
    told = json.loads(keeper.log.read_text())
    keeper.log.write_text(json.dumps({**told, **change}) + "\n")
    assert read_log(keeper.log, told["run"]) == []
    assert sorted(crashed(keeper)[0].pins) == [3]


def test_closing_saves_and_the_next_start_offers_to_go_on(line, tmp_path):
    keeper = Keeper(tmp_path / "blobs.nfmap")
    with a_studio(line=line, keeper=keeper) as studio, talking(studio) as talk:
        assert studio.session.offer is None
        steer(talk)
        talk.do("name_selection", name="these", indices=[1, 5])
        talk.do("step", n=7)
        ended = studio.session.run.Y
    with a_studio(keeper=Keeper(tmp_path / "blobs.nfmap")) as studio, talking(studio) as talk:
        talk.do("near", index=1)
        assert talk.state["offer"]["commands"] == 3
        assert talk.state["offer"]["iteration"] == 141
        talk.do("reopen", accept=True)
        np.testing.assert_array_equal(studio.session.run.Y, ended)
        assert sorted(studio.session.run.pins) == [3, 7, 8]
        assert talk.state["selections"] == {"these": 2}
        assert talk.state["offer"] is None
        assert talk.refused("reopen", accept=True) == "there is no session to reopen"
        talk.do("undo")  # of the reopening
        assert studio.session.run.pins == {}


def test_an_offer_that_is_declined_is_gone_and_what_was_left_stays_on_the_disk(line, tmp_path):
    with a_studio(line=line, keeper=Keeper(tmp_path / "blobs.nfmap")) as studio, talking(studio) as talk:
        steer(talk)
    keeper = Keeper(tmp_path / "blobs.nfmap")
    with a_studio(keeper=keeper) as studio, talking(studio) as talk:
        talk.do("reopen", accept=False)
        assert talk.state["offer"] is None
    assert sorted(reopened(keeper.left, X)[0].pins) == [3, 7, 8]


def test_a_state_that_was_cut_short_is_told_and_stands_in_nobodys_way(line, tmp_path):
    with a_studio(line=line, keeper=Keeper(tmp_path / "blobs.nfmap")) as studio, talking(studio) as talk:
        steer(talk)
    path = tmp_path / "blobs.nfmap"
    path.write_bytes(path.read_bytes()[:500])
    with a_studio(keeper=Keeper(path)) as studio, talking(studio) as talk:
        talk.do("step")
        assert "blobs.left.nfmap is not a map that nearfield saved" in talk.state["offer"]["damaged"]
        assert "nothing of it was deleted" in talk.refused("reopen", accept=True)
        talk.do("reopen", accept=False)
        assert talk.state["offer"] is None
        talk.do("put", indices=[3], at=[30, 5])


def test_other_data_of_the_same_name_are_refused_in_a_line(line, tmp_path):
    with a_studio(line=line, keeper=Keeper(tmp_path / "blobs.nfmap")) as studio, talking(studio) as talk:
        steer(talk)
    with (
        a_studio(line=a_line(X + 1), keeper=Keeper(tmp_path / "blobs.nfmap")) as studio,
        talking(studio) as talk,
    ):
        studio.session.rows.__dict__["mapped"] = X + 1
        assert "was made of other data than these" in talk.refused("reopen", accept=True)
        assert studio.session.run.pins == {}


def test_two_studios_of_the_same_data_keep_apart(tmp_path):
    rows = rows_of("some/data.csv", X)
    one = keeper_for(rows, {}, tmp_path)
    other = keeper_for(rows, {}, tmp_path)
    assert one.path != other.path
    one.close()
    third = keeper_for(rows, {}, tmp_path)
    assert third.path == one.path
    for each in (other, third):
        each.close()


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b.csv", "", "x" * 500, "ü😀.csv"])
def test_the_name_of_data_is_no_path(name):
    found = name_of(rows_of(name, X))
    assert len(found) < 60
    assert all(each.isalnum() or each in "-_" for each in found)


def test_the_exported_session_reopens_where_it_was(kept, tmp_path):
    studio, talk, _ = kept
    steer(talk)
    talk.do("name_selection", name="these", indices=[1, 5])
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", studio.port)
    connection.request("GET", "/export/session.nfmap", headers={"Cookie": cookie(studio)})
    path = tmp_path / "session.nfmap"
    path.write_bytes(connection.getresponse().read())
    connection.close()
    for replay in (False, True):
        again = nf.Run.load(path, X, replay=replay, n_jobs=1)
        np.testing.assert_array_equal(again.Y, studio.session.run.Y)
    assert selections_of(nf.Map.load(path))["these"].tolist() == [1, 5]
    assert asked(studio, "/export/map.csv", Cookie=cookie(studio)).text.count("\n") == 91


def test_a_day_of_use_in_short_replays_bit_for_bit(line, tmp_path):
    """Random commands, refused or not, in one session; then all of it again from its log."""
    random = np.random.default_rng(3)
    with a_studio(line=line) as studio, talking(studio) as talk:
        for _ in range(150):
            points = random.choice(90, size=random.integers(1, 4), replace=False).tolist()
            place = random.normal(scale=15, size=2).round(2).tolist()
            what, given = [
                ("put", {"indices": points, "at": place, "follow": 4}),
                ("drag", {"indices": points, "grip": points[0], "at": place, "follow": 4}),
                ("move", {"at": place}),
                ("move", {"at": place}),
                ("drop", {}),
                ("unpin", {"indices": points}),
                ("undo", {}),
                ("redo", {}),
                ("step", {"n": 2}),
                ("settle", {"n": 20}),
                ("pull", {"strength": float(random.uniform(0.05, 0.5))}),
                ("link", {"indices": [1, 2], "kind": "must"}),
                ("unlink", {}),
            ][random.integers(13)]
            told = talk.answer(talk.send(what, **given))
            assert "terminal" not in told.get("error", "")
        run = studio.session.run
        run.map().save(tmp_path / "day.nfmap")
        again = nf.Run.load(tmp_path / "day.nfmap", X, replay=True, n_jobs=1)
        np.testing.assert_array_equal(again.Y, run.Y)
        assert len(run.log) > 50


def test_a_disk_that_is_full_is_told_and_ends_nothing(kept, monkeypatch):
    studio, talk, keeper = kept

    def full(*_):
        raise OSError("cannot write blobs.nfmap (no space left on device): make room")

    monkeypatch.setattr(nf.Map, "save", full)
    talk.do("put", indices=[3], at=[30, 5])
    assert "no space left on device" in talk.state["unsaved"]
    assert 3 in studio.session.run.pins
    monkeypatch.undo()
    talk.do("put", indices=[4], at=[31, 5])
    assert talk.state["unsaved"] is None
    assert sorted(crashed(keeper)[0].pins) == [3, 4]


def test_pins_before_the_first_iteration_are_offered_too(tmp_path):
    with a_studio(keeper=Keeper(tmp_path / "blobs.nfmap")) as studio, talking(studio) as talk:
        talk.do("put", indices=[3], at=[30, 5])
    with a_studio(keeper=Keeper(tmp_path / "blobs.nfmap")) as studio:
        assert studio.session.offer["commands"] == 1
        assert studio.session.offer["iteration"] == 0
