"""A real browser for the tests of pages: a headless Chromium, kept off the network.

`browser`     one Chromium for a test file (Playwright's loop would be in the way of other files' asyncio)
`tab`         a fresh tab in it; at the end there must have been no error, and no request to anywhere else
`opened`      the same as a context manager, for tabs of another size, in the dark, or without WebGL
`served`      files under an address of this computer, on a free port, with the studio's policy of contents
`until`       waits for a condition; Playwright's wait_for_function needs an eval, which policies forbid
`violations`  what axe-core finds that is serious or critical

Without Chromium these tests are reported as skipped, which is the only skip there is.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

FLAGS = [
    *("--enable-unsafe-swiftshader", "--use-angle=swiftshader", "--no-sandbox", "--disable-gpu-sandbox"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
NO_WEBGL = "HTMLCanvasElement.prototype.getContext = ((get) => function (kind, ...rest) {" + (
    " return kind.startsWith('webgl') ? null : get.call(this, kind, ...rest); })"
    "(HTMLCanvasElement.prototype.getContext);"
)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'"
)
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json"}
WAIT = 60_000  # milliseconds: a machine may be busy, and what is waited for is a condition


def chromium() -> str | None:
    """Where Chromium is, if anywhere."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def launched() -> Iterator[Any]:
    """A running Chromium."""
    from playwright.sync_api import sync_playwright

    found = chromium()
    if found is None:
        pytest.skip("there is no Chromium: install Debian's package chromium to run the tests of pages")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield running
        running.close()


@contextmanager
def opened(
    browser: Any,
    *,
    size: tuple[int, int] = (1280, 800),
    dark: bool = False,
    webgl: bool = True,
    allowed: tuple[str, ...] = (),
    **more: Any,
) -> Iterator[Any]:
    """A fresh tab, which must cause no error and ask no other computer for anything.

    `allowed` are pieces of console errors that a test expects, such as those of a refused request.
    """
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        reduced_motion=more.pop("reduced_motion", "reduce"),
        **more,
    )
    context.set_default_timeout(WAIT)
    if not webgl:
        context.add_init_script(NO_WEBGL)
    tab, wrong = context.new_page(), []

    def said(message: Any) -> None:
        if message.type == "error" and not any(each in message.text for each in allowed):
            wrong.append(f"console: {message.text}")

    def asked(request: Any) -> None:
        at = urlsplit(request.url)
        here = at.scheme in ("data", "blob", "file", "about") or at.hostname in ("127.0.0.1", "localhost")
        if not here:
            wrong.append(f"asked for {request.url}")

    tab.on("console", said)
    tab.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    tab.on("request", asked)
    yield tab
    context.close()
    assert not wrong, wrong


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One Chromium for all tests of a file."""
    with launched() as running:
        yield running


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    """A fresh tab of 1280 × 800."""
    with opened(browser) as fresh:
        yield fresh


@contextmanager
def served(files: Mapping[str, str | bytes | Path], policy: str = POLICY) -> Iterator[str]:
    """Serve files at `/name`, and what is in folders at `/name/…`; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = urlsplit(self.path).path.lstrip("/") or "index.html"
            top, _, rest = name.partition("/")
            body = files.get(name, files.get(top) if rest else None)
            if isinstance(body, Path):
                body = body / rest if rest else body
                body = body.read_bytes() if body.is_file() else None
            if name == "favicon.ico":  # which browsers ask for by themselves
                self.send_response(204)
                self.end_headers()
                return
            body = body.encode() if isinstance(body, str) else body
            self.send_response(200 if body is not None else 404)
            kind = KINDS.get(Path(name).suffix, "application/octet-stream")
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Security-Policy", policy)
            self.send_header("Content-Length", str(len(body or b"")))  # else the end is told by hanging up
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128  # a page asks for all its modules at once, and 5 may be too few

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def until(tab: Any, condition: str, argument: Any = None) -> Any:
    """Wait until an expression is true, and return its value."""
    for _ in range(WAIT // 20):
        found = tab.evaluate(condition, argument)
        if found:
            return found
        tab.wait_for_timeout(20)
    raise TimeoutError(f"in {WAIT / 1000:g} s it did not become true that {condition}")


def violations(tab: Any) -> list[str]:
    """What axe-core finds on a page that is serious or critical: the rule, and where."""
    axe = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    tab.evaluate(axe)  # as the browser's own, which no policy of contents forbids
    found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        f"{each['id']}: {node['html']} {node['failureSummary']}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
