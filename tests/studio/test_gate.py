"""Who is not let in: each refusal is tried, on a server that is really there."""

import json
import socket
from contextlib import ExitStack

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from nearfield.studio.server import CLIENTS, Pace
from support.studios import WAIT, a_studio, asked, cookie, headers_of, talking, until

PATHS = [
    "/",
    "/page/index.html",
    "/view/view.js",
    "/status",
    "/column/0",
    "/export/map.csv",
    "/export/session.nfmap",
]


@pytest.fixture(scope="module")
def studio():
    with a_studio() as opened:
        yield opened


def test_the_token_is_exchanged_for_a_cookie_and_gone_from_the_address(studio):
    answer = asked(studio, studio.address.partition(str(studio.port))[2])
    assert answer.status == 303
    assert answer.getheader("Location") == "/"
    told = answer.getheader("Set-Cookie").lower()
    assert "httponly" in told
    assert "samesite=strict" in told
    assert studio.address.rpartition("=")[2] not in told
    assert asked(studio, "/", Cookie=cookie(studio)).status == 200


@pytest.mark.parametrize("path", PATHS)
def test_nobody_gets_anything_without_the_cookie(studio, path):
    assert asked(studio, path).status == 403
    wrong = cookie(studio)[:-1] + "_"
    assert asked(studio, path, Cookie=wrong).status == 403
    assert asked(studio, path, Cookie="nearfield=" + cookie(studio).partition("=")[2]).status == 403


@pytest.mark.parametrize("query", ["token=", "token=wrong", "token=a&token=b", "token=%00", "other=1"])
def test_a_wrong_token_gets_no_cookie(studio, query):
    answer = asked(studio, f"/?{query}")
    assert answer.status == 403
    assert answer.getheader("Set-Cookie") is None
    assert "open the address that nearfield studio printed" in answer.text


@pytest.mark.parametrize("path", [*PATHS, "/?token=…"])
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1.evil.example:{port}",
        "",
        None,
    ],
)
def test_a_foreign_host_is_refused_also_with_cookie_and_token(studio, path, host):
    path = studio.address.partition(str(studio.port))[2] if "token" in path else path
    named = None if host is None else host.format(port=studio.port)
    answer = asked(studio, path, Host=named, Cookie=cookie(studio))
    assert answer.status in (400, 421)
    assert answer.getheader("Set-Cookie") is None


def test_names_that_were_added_are_let_in_with_their_own_origin_only():
    with a_studio(host_names=["lab:9000", "Box"]) as studio:
        held = cookie(studio)
        for name in ("lab:9000", "LAB:9000", "box:17", f"localhost:{studio.port}"):
            assert asked(studio, "/status", Host=name, Cookie=held).status == 200
        assert asked(studio, "/status", Host="lab:9001", Cookie=held).status == 421
        assert asked(studio, "/status", Host="lab:9000", Origin="http://box:17", Cookie=held).status == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1:1", "file://", None]
)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_is_changed_for_a_foreign_or_no_origin(studio, method, origin):
    headers = {"Cookie": cookie(studio), "Content-Type": "application/x-www-form-urlencoded"}
    headers |= {} if origin is None else {"Origin": origin}
    answer = asked(studio, "/", method=method, body="do=undo", **headers)
    assert answer.status == 403
    assert not any(name.lower().startswith("access-control") for name, _ in answer.getheaders())


def test_there_is_nothing_to_post_to_even_for_the_own_page(studio):
    for path in PATHS:
        assert asked(studio, path, method="POST", body="do=undo", **headers_of(studio)).status == 405


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
def test_even_reading_is_refused_where_another_origin_is_told(studio, origin):
    assert asked(studio, "/export/map.csv", Cookie=cookie(studio), Origin=origin).status == 403


@pytest.mark.parametrize(
    "change",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": None},
        {"Origin": "http://localhost:{port}"},  # own, but not that of the Host
        {"Cookie": None},
        {"Cookie": "nearfield=x"},
        {"Host": "evil.example"},
        {
            "Host": "evil.example:{port}",
            "Origin": "http://evil.example:{port}",
        },  # a name bound to this address
    ],
)
def test_a_socket_is_not_opened(studio, change):
    given = {"Host": f"127.0.0.1:{studio.port}", **headers_of(studio)}
    given |= {name: value and value.format(port=studio.port) for name, value in change.items()}
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    upgrade["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
    sent = {name: value for name, value in {**given, **upgrade}.items() if value is not None}
    assert asked(studio, "/socket", **sent).status == 403


@pytest.mark.parametrize(
    "path",
    [
        "/page/../opening.py",
        "/page/..%2fopening.py",
        "/page/%2e%2e/%2e%2e/__init__.py",
        "/view/..\\..\\theme.py",
        "//etc/passwd",
        "/page//etc/passwd",
        "/page/index.html%00.js",
        "/column/../../etc/passwd",
        "/column/-1",
        "/column/99999",
        "/column/1e3",
        "/column/0;ls",
        "/export/../session.py",
        "/export/map.csv?path=/etc/passwd",
        "/export/session.nfmap?name=../../etc/passwd",
    ],
)
def test_no_path_from_outside_is_opened(studio, path):
    answer = asked(studio, path, Cookie=cookie(studio))
    assert "root:" not in answer.text
    assert "import" not in answer.text
    known = path.partition("?")[0] in PATHS  # what is asked for beside the path is not looked at
    assert answer.status == (200 if known else 404)


@pytest.mark.parametrize("path", [*PATHS, "/nothing"])
def test_every_answer_has_a_strict_policy(studio, path):
    for answer in (asked(studio, path), asked(studio, path, Cookie=cookie(studio))):
        policy = answer.getheader("Content-Security-Policy")
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert answer.getheader("Referrer-Policy") == "no-referrer"
        assert answer.getheader("Cross-Origin-Resource-Policy") == "same-origin"
        assert not any(name.lower().startswith("access-control") for name, _ in answer.getheaders())


def test_the_server_is_reached_on_this_computer_only(studio):
    assert studio._socket.getsockname()[0] == "127.0.0.1"


def test_so_many_pages_may_be_open_and_no_more():
    with a_studio() as studio:
        headers = headers_of(studio)
        origin = headers.pop("Origin")
        address = f"ws://127.0.0.1:{studio.port}/socket"
        with ExitStack() as pages:
            for _ in range(CLIENTS):
                page = pages.enter_context(connect(address, origin=origin, additional_headers=headers))
                page.recv(timeout=WAIT)
            with pytest.raises(InvalidStatus):
                pages.enter_context(connect(address, origin=origin, additional_headers=headers))
        until(lambda: not studio.session.watchers)
        with talking(studio) as talk:
            assert talk.hello["n"] == 90


def talked_until_closed(talk, *sent):
    """Send all of it, and hear what comes, as long as the socket is open."""
    for each in sent:
        talk.socket.send(each)
    while True:
        talk.hear()


@pytest.mark.parametrize("sent", [b"\x00" * 10, "x" * (5 * 2**20)])
def test_bytes_and_what_is_too_large_end_the_socket_and_nothing_else(studio, sent):
    with talking(studio) as talk, pytest.raises(ConnectionClosed):
        talked_until_closed(talk, sent)
    with talking(studio) as talk:
        assert talk.do("near", index=0)["map"]


@pytest.mark.parametrize(
    "sent", [b"\xff" * 64, b"\x81\x05hello", b"\x81\xff" + b"\xff" * 12, b"\x83\x80\x00\x00\x00\x00"]
)
def test_what_is_no_frame_of_a_socket_ends_it_and_nothing_else(studio, sent):
    """Reserved bits, words without a mask, an immense length, and a kind of frame that there is not."""
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    upgrade["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
    headers = {"Host": f"127.0.0.1:{studio.port}", **headers_of(studio), **upgrade}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with socket.create_connection(("127.0.0.1", studio.port), timeout=WAIT) as raw:
        raw.sendall(f"GET /socket HTTP/1.1\r\n{lines}\r\n".encode())
        assert raw.recv(12) == b"HTTP/1.1 101"
        raw.sendall(sent)
        while raw.recv(2**16):
            pass
    with talking(studio) as talk:
        assert talk.do("near", index=0)["map"]


def test_a_defect_is_told_without_a_traceback(studio, monkeypatch, capfd):
    monkeypatch.setattr(type(studio.session.rows), "column", lambda self, number: {}["secret place"])
    answer = asked(studio, "/column/0", Cookie=cookie(studio))
    assert (answer.status, answer.text) == (500, "this went wrong in the studio; the terminal says more\n")
    assert "secret place" in capfd.readouterr().err


def test_ten_thousand_commands_at_once_end_the_socket_and_the_others_go_on(studio):
    with talking(studio) as hasty, talking(studio) as other:
        flood = (json.dumps({"id": k, "do": "near", "index": 0}) for k in range(10_000))
        with pytest.raises(ConnectionClosed) as closed:
            talked_until_closed(hasty, *flood)
        assert closed.value.rcvd.code == 1008
        assert other.do("near", index=0)["map"]


def test_the_pace_lets_through_so_many_at_once_and_then_as_many_as_time_allows():
    pace = Pace(rate=10, burst=3, now=0.0)
    assert [pace.allows(0.0) for _ in range(5)] == [True, True, True, False, False]
    assert [pace.allows(0.25) for _ in range(3)] == [True, True, False]
    assert [pace.allows(99.0) for _ in range(4)] == [True, True, True, False]


def test_who_is_too_fast_is_told_to_slow_down(studio, monkeypatch):
    with talking(studio) as talk:
        monkeypatch.setattr(Pace, "allows", lambda self, now: False)
        assert "slow down" in talk.refused("near", index=0)
