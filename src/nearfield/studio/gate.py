"""Who is let in. A page on this computer can be reached by every site that is open in the same browser.

Whoever comes must name a host that is this server's own, so that no foreign name that was bound to this
address gets through; must have been sent here by this server's own page, if anything is to be changed or a
socket opened; and must have a cookie, which only the address with the token gives out.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
READING = ("GET", "HEAD")
NAME = "start it with --host-name and what your browser asks for, as in --host-name localhost:9000"
AGAIN = "open the address that nearfield studio printed when it started"


@dataclass
class Keys:
    """What lets somebody in.

    Attributes
    ----------
    token : str
        In the address that is printed; it is exchanged for a cookie.
    secret, cookie : str
        The value and the name of that cookie, other ones for each start: a browser sends the cookies of all
        ports of a host.
    hosts : set of str
        Names and ports under which the server may be addressed; a name without a port goes with any.
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    cookie: str = field(default_factory=lambda: f"nearfield_{secrets.token_hex(4)}")
    hosts: set[str] = field(default_factory=set)

    def admit(self, port: int, more: Iterable[str] = ()) -> None:
        """Let the server be addressed by the names of this computer at a port, and by some others."""
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}", *(each.lower() for each in more)}

    def knows(self, host: str) -> bool:
        """Whether a Host header names this server."""
        host = host.lower()
        return host in self.hosts or host.rpartition(":")[0] in self.hosts


class Gate:
    """Stands before an application, on HTTP and on sockets alike."""

    def __init__(self, app: Any, keys: Keys) -> None:
        self.app, self.keys = app, keys

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        if refusal is not None and scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 4403, "reason": "not allowed"})
            return

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message.get("headers", ())}
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [
                    *message.get("headers", ()),
                    *((name, value) for name, value in more if name not in known),
                ]
            await send(message)

        await (self.app if refusal is None else refusal)(scope, receive, guarded)

    def refusal(self, scope: Any) -> Response | None:
        """What somebody is answered who is not let in; also who comes with the token, to get the cookie."""
        keys = self.keys
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        if len(hosts) != 1 or not keys.knows(hosts[0]):
            return _no(421, f"this studio is not known by that name: {NAME}")
        changes = scope["type"] == "websocket" or scope["method"] not in READING
        own = (f"http://{hosts[0]}".lower(), f"https://{hosts[0]}".lower())
        if origins and (len(origins) > 1 or origins[0].lower() not in own):
            return _no(403, "another site may not use this studio")
        if changes and not origins:
            return _no(403, "only the studio's own page may change something")
        if scope["type"] == "http" and scope["path"] == "/":
            token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [None])
            if token != [None]:
                return self._exchange(token)
        if not hmac.compare_digest(self._shown(scope).encode(), keys.secret.encode()):
            return _no(403, f"this studio does not know you: {AGAIN}")
        return None

    def _shown(self, scope: Any) -> str:
        return HTTPConnection(scope).cookies.get(self.keys.cookie, "")

    def _exchange(self, token: list[Any]) -> Response:
        keys = self.keys
        if len(token) != 1 or not hmac.compare_digest(str(token[0]).encode(), keys.token.encode()):
            return _no(403, f"that is not the token of this studio, perhaps of one before it: {AGAIN}")
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(keys.cookie, keys.secret, httponly=True, samesite="strict", path="/")
        return response


def _no(status: int, why: str) -> Response:
    return PlainTextResponse(f"{why}\n", status_code=status)
