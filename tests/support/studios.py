"""What the tests of the studio share: a small session, a server that is really there, a client that talks."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from websockets.sync.client import connect

from nearfield.studio.frames import read
from nearfield.studio.line import line_of
from nearfield.studio.opening import Opened
from nearfield.studio.rows import rows_of

WAIT = 60.0  # seconds: a machine may be busy, and what is waited for is a condition


def blobs(n: int = 90, classes: int = 3) -> tuple[np.ndarray, list[str]]:
    """Points in a few clear groups."""
    random = np.random.default_rng(7)
    which = np.arange(n) % classes
    X = random.normal(size=(n, 5)) + 12 * random.normal(size=(classes, 5))[which]
    return X, [f"kind {k}" for k in which]


def a_line(X: np.ndarray, **more: Any) -> Any:
    """A line of runs."""
    return line_of(X, "tsne", 8, random_state=0, n_jobs=1, **more)


@contextmanager
def a_studio(n: int = 90, *, paused: bool = True, **more: Any) -> Iterator[Opened]:
    """A studio on a free port, without a browser."""
    X, labels = blobs(n)
    labels = more.pop("labels", labels)
    rows = more.pop("rows", None) or rows_of("blobs", X, names=list("abcde"), labels=labels, label="kind")
    with Opened(more.pop("line", None) or a_line(X), rows, **more) as opened:
        opened.session.running = not paused
        yield opened


def until(condition: Callable[[], Any], what: str = "") -> Any:
    """Wait for something to come true."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what or condition} did not come true")


def asked(opened: Opened, path: str, *, method: str = "GET", body: str | None = None, **headers: str) -> Any:
    """A request as it is, with these headers and no others; the answer has its text as `text`."""
    connection = http.client.HTTPConnection("127.0.0.1", opened.port, timeout=WAIT)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in {"Host": f"127.0.0.1:{opened.port}", **headers}.items():
        if value is not None:
            connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body.encode() if body is not None else None)
    answer = connection.getresponse()
    answer.text = answer.read().decode(errors="replace")  # type: ignore[attr-defined]
    connection.close()
    return answer


def cookie(opened: Opened) -> str:
    """The cookie that the token is exchanged for."""
    at = urlsplit(opened.address)
    answer = asked(opened, f"/?{at.query}")
    assert answer.status == 303, answer.text
    return str(answer.getheader("Set-Cookie")).partition(";")[0]


class Talk:
    """A client: sends commands, keeps what comes."""

    def __init__(self, opened: Opened, socket: Any) -> None:
        self.opened, self.socket = opened, socket
        self.hello = json.loads(socket.recv(timeout=WAIT))
        self.state: dict[str, Any] = {}
        self.steering: dict[str, Any] = {}
        self.frames: list[Any] = []
        self.acknowledges = True
        self._answers: dict[int, Any] = {}
        self._id = 0

    def send(self, do: str, **given: Any) -> int:
        """Send a command."""
        self._id += 1
        self.socket.send(json.dumps({"id": self._id, "do": do, **given}))
        return self._id

    def hear(self) -> None:
        """Take one message."""
        came = self.socket.recv(timeout=WAIT)
        if isinstance(came, bytes):
            self.frames.append(read(came))
            if self.acknowledges:
                self.send("got", sequence=self.frames[-1][1])
            return
        told = json.loads(came)
        if told["type"] == "answer":
            self._answers[told["id"]] = told
        else:
            setattr(self, told["type"], told)

    def answer(self, number: int | None) -> Any:
        """Wait for the answer to a message."""
        while number not in self._answers:
            self.hear()
        return self._answers.pop(number)

    def do(self, do: str, **given: Any) -> Any:
        """Do something that must not be refused; its result."""
        told = self.answer(self.send(do, **given))
        assert "error" not in told, told
        return told["result"]

    def refused(self, do: str, **given: Any) -> str:
        """Why something is refused."""
        return str(self.answer(self.send(do, **given))["error"])

    def frame(self) -> Any:
        """The next frame."""
        before = len(self.frames)
        while len(self.frames) == before:
            self.hear()
        return self.frames[-1]


def headers_of(opened: Opened, **more: str) -> dict[str, str]:
    """What the studio's own page sends."""
    return {"Cookie": cookie(opened), "Origin": f"http://127.0.0.1:{opened.port}", **more}


@contextmanager
def talking(opened: Opened) -> Iterator[Talk]:
    """A client of a studio."""
    headers = headers_of(opened)
    origin = headers.pop("Origin")
    address = f"ws://127.0.0.1:{opened.port}/socket"
    with connect(
        address, origin=origin, additional_headers=headers, max_size=None, compression=None
    ) as socket:  # type: ignore[arg-type]
        yield Talk(opened, socket)
