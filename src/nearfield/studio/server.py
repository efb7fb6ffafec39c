"""Addresses, sockets and files of the studio. No path from outside is opened: files are known by name."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
import traceback
from collections import deque
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from nearfield import __version__
from nearfield.show.looks import looks
from nearfield.studio import commands
from nearfield.studio.gate import Gate, Keys
from nearfield.studio.keeping import told
from nearfield.studio.messages import COMMANDS, Refused, checked, identified
from nearfield.studio.session import REFUSALS, Session
from nearfield.studio.table import as_table

CLIENTS = 16  # that may look at a session
ON_THE_WAY = 2  # frames that a client has not acknowledged
RATE, BURST = 200.0, 400.0  # commands in a second, and at once
PATIENCE = 200  # refusals for haste, after which the socket is closed
ANSWERS = 1000  # that may wait for a client who does not read
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class Pace:
    """How fast somebody may talk: so much in a second, and so much at once."""

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self.rate, self.burst = rate, burst
        self._left, self._seen = burst, now

    def allows(self, now: float) -> bool:
        """Whether one more may come at this moment."""
        self._left = min(self.burst, self._left + self.rate * (now - self._seen))
        self._seen = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Client:
    """Somebody at a page: what is on the way to him, and how fast he talks."""

    def __init__(self, socket: WebSocket, session: Session, loop: asyncio.AbstractEventLoop) -> None:
        self.socket, self.session, self.loop = socket, session, loop
        self.visible, self.holds = True, False
        self._news = asyncio.Event()
        self._answers: deque[str] = deque()
        self._on_the_way: deque[int] = deque()
        self._seen = self._told = self._steered = -1
        self._pace, self._hasty = Pace(RATE, BURST, time.monotonic()), 0

    def wake(self) -> None:
        """Say from any thread that there is something new."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._news.set)

    def answer(self, number: int | None, **what: Any) -> None:
        """Put an answer on its way."""
        self._answers.append(json.dumps({"type": "answer", "id": number, **what}, allow_nan=False))
        self._news.set()

    async def speak(self) -> None:
        """Send what is new: answers all of them, of state and map the newest only."""
        session, socket = self.session, self.socket
        while True:
            await self._news.wait()
            self._news.clear()
            if len(self._answers) > ANSWERS:
                await socket.close(1008, "too slow")
                return
            answers = list(self._answers)
            self._answers.clear()
            if self._steered != session.steering_version:
                self._steered = session.steering_version
                await socket.send_text(json.dumps({"type": "steering", **session.steering}))
            if self._told != session.version:
                self._told = session.version
                await socket.send_text(json.dumps({"type": "state", **session.told}, allow_nan=False))
            for each in answers:  # by which time what was asked for is to be seen
                await socket.send_text(each)
            newest = session.frame
            if newest is None or newest.sequence == self._seen or not self.visible:
                continue
            if len(self._on_the_way) < ON_THE_WAY:
                self._seen = newest.sequence
                self._on_the_way.append(newest.sequence)
                await socket.send_bytes(newest.data)

    async def listen(self) -> None:
        """Take what comes, one message at a time."""
        while True:
            came = await self.socket.receive()
            if came["type"] == "websocket.disconnect":
                return
            text = came.get("text")
            if text is None:
                await self.socket.close(1003, "text only")
                return
            number: int | None = None
            try:
                number, sent = identified(text)
                if not self._pace.allows(time.monotonic()):
                    self._hasty += 1
                    raise Refused("too many commands in a second: slow down")
                if self._own(sent):
                    continue
                message = checked(number, sent, self.session.n)
                waiting = self.session.submit(message.command, message.given)
                self.holds = message.command.name in ("drag", "move") or (
                    self.holds and message.command.name != "drop"
                )
            except Refused as refusal:
                self.answer(number, error=str(refusal))
                if self._hasty > PATIENCE:
                    await self.socket.close(1008, "too fast")
                    return
                continue
            waiting.add_done_callback(partial(self._tell_done, number))

    def _tell_done(self, number: int, done: Any) -> None:
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._done, number, done)

    def _done(self, number: int, done: Any) -> None:
        error = done.exception() if not done.cancelled() else Refused("the studio is closing")
        if error is None:
            self.answer(number, result=done.result())
        elif isinstance(error, REFUSALS):
            self.answer(number, error=" ".join(str(error).split())[:600])
        else:  # a defect of the program: its traceback is for the terminal and not for the page
            traceback.print_exception(error, file=sys.stderr)
            self.answer(number, error="this went wrong in the studio; the terminal says more")

    def _own(self, sent: dict[str, Any]) -> bool:
        """What concerns this client alone: that he has a frame, and whether he sees the page."""
        if sent.get("do") == "got":
            frame = sent.get("sequence")
            if frame in self._on_the_way:
                while self._on_the_way and self._on_the_way.popleft() != frame:
                    pass
            self._news.set()
            return True
        if sent.get("do") == "look" and type(sent.get("visible")) is bool:
            self.visible = sent["visible"]
            self.session.wake()
            self._news.set()
            return True
        return False


class Studio:
    """The application: one session, its page, and its socket."""

    def __init__(self, session: Session, keys: Keys, about: dict[str, Any] | None = None) -> None:
        self.session, self.keys, self.about = session, keys, about or {}
        self._clients = 0
        self.files = {
            **files("nearfield.studio", "page", "/page/"),
            **files("nearfield.show", "page", "/view/"),
        }
        routes = [
            Route("/", self.file),
            *(Route(path, self.file) for path in self.files),
            Route("/status", self.status),
            Route("/column/{number:int}", self.column),
            Route("/export/map.csv", self.table),
            Route("/export/session.nfmap", self.kept),
            WebSocketRoute("/socket", self.talk),
        ]
        self.app = Gate(Starlette(routes=routes, exception_handlers={Exception: _wrong}), keys)

    async def file(self, request: Any) -> Response:
        """One of the page's own files."""
        path = "/page/index.html" if request.url.path == "/" else request.url.path
        kind, content = self.files[path]
        return Response(content, media_type=kind)

    async def status(self, request: Any) -> Response:
        """Whether the page still belongs to this server."""
        return PlainTextResponse("ok\n")

    async def column(self, request: Any) -> Response:
        """The values of a column, by its number."""
        number = request.path_params["number"]
        rows = self.session.rows
        if not 0 <= number < len(rows.columns):
            return PlainTextResponse("there is no such column\n", status_code=404)
        return JSONResponse(await asyncio.to_thread(rows.column, number))

    async def table(self, request: Any) -> Response:
        """The map as a table: ids, coordinates, labels, pins and named selections."""
        content = await asyncio.to_thread(as_table, self.session)
        return _download(content.encode(), "map.csv", "text/csv")

    async def kept(self, request: Any) -> Response:
        """The whole session as a file that reopens where it is."""
        content = await asyncio.to_thread(as_file, self.session, self.about)
        return _download(content, "session.nfmap", "application/octet-stream")

    async def talk(self, socket: WebSocket) -> None:
        """A socket, from the first word to the last."""
        if self._clients >= CLIENTS:
            await socket.close(4429, "too many pages are open")
            return
        self._clients += 1
        client = Client(socket, self.session, asyncio.get_running_loop())
        try:
            await socket.accept()
            await socket.send_text(json.dumps(self.greeting(), allow_nan=False))
            self.session.watch(client)
            client.wake()
            speaking = asyncio.create_task(client.speak())
            listening = asyncio.create_task(client.listen())
            done, pending = await asyncio.wait({speaking, listening}, return_when=asyncio.FIRST_COMPLETED)
            for each in pending:
                each.cancel()
            for each in done:
                each.result()
        except (WebSocketDisconnect, OSError):
            pass  # he has gone, perhaps in the middle of a word
        finally:
            self._clients -= 1
            self.session.leave(client)
            if client.holds:  # who leaves lets go
                self.session.submit(COMMANDS["drop"], {})

    def greeting(self) -> dict[str, Any]:
        """What a page is told first."""
        from nearfield.algebra.catalogue import methods

        rows = self.session.rows
        return {
            "type": "hello",
            "version": __version__,
            "name": rows.name,
            "n": rows.n,
            "dimensions": int(rows.X.shape[1]),
            "columns": rows.columns,
            "names": list(rows.names[: commands.COLUMNS]),
            "titles": None if rows.ids is None or rows.n > 200_000 else [str(each) for each in rows.ids],
            "image": rows.image,
            "methods": list(methods()),
            "looks": looks(),
            "limits": {"rows": commands.NEW, "linked": commands.LINKED},
        }


def files(package: str, folder: str, prefix: str) -> dict[str, tuple[str, bytes]]:
    """The files of a folder of the package by their addresses, read once."""
    found = {}
    for each in resources.files(package).joinpath(folder).iterdir():
        kind = KINDS.get(Path(each.name).suffix)
        if kind is not None:
            found[prefix + each.name] = (f"{kind}; charset=utf-8", each.read_bytes())
    return found


def as_file(session: Session, about: dict[str, Any]) -> bytes:
    """The session as the bytes of a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.nfmap"
        told(session, about).save(path)
        return path.read_bytes()


def _download(content: bytes, name: str, kind: str) -> Response:
    return Response(
        content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


async def _wrong(request: Any, error: Exception) -> Response:
    traceback.print_exception(error, file=sys.stderr)
    return PlainTextResponse("this went wrong in the studio; the terminal says more\n", status_code=500)
