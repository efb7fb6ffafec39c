"""From data to an open page: a session, a server on this computer, and the browser."""

from __future__ import annotations

import errno
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

try:
    import starlette  # noqa: F401
    import uvicorn
    import websockets  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"the studio needs {error.name}: python -m pip install 'nearfield[studio]' brings it"
    ) from error

from nearfield.affinity.source import Source
from nearfield.descent.run import Run
from nearfield.io.maps import Map
from nearfield.studio.gate import Keys
from nearfield.studio.keeping import Keeper, keeper_for
from nearfield.studio.line import Line, line_of, line_with
from nearfield.studio.messages import LARGEST
from nearfield.studio.rows import Rows, rows_of
from nearfield.studio.server import Studio
from nearfield.studio.session import Session

HOST = "127.0.0.1"


class Opened:
    """A studio that is open.

    Attributes
    ----------
    address : str
        With the token: whoever has it is let in.
    session : Session
        What the page steers.
    """

    def __init__(
        self,
        line: Line,
        rows: Rows,
        *,
        keeper: Keeper | None = None,
        about: dict[str, Any] | None = None,
        port: int = 0,
        host_names: Iterable[str] = (),
        selections: dict[str, Any] | None = None,
        offer: bool = True,
    ) -> None:
        self.session, self._keeper = Session(line, rows, keeper), keeper
        self.session.selections = dict(selections or {})
        if keeper is not None and offer:
            self.session.offer = keeper.put_aside()
        self._socket = bound(port)
        self._socket.listen()  # whoever comes before the server is ready waits for it
        self.port = self._socket.getsockname()[1]
        keys = Keys()
        keys.admit(self.port, host_names)
        self.address = f"http://{HOST}:{self.port}/?token={keys.token}"
        config = uvicorn.Config(
            Studio(self.session, keys, about).app,
            log_level="critical",
            access_log=False,
            lifespan="off",
            ws="websockets-sansio",
            ws_max_size=LARGEST,
            ws_per_message_deflate=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._serving = threading.Thread(target=self._serve, name="nearfield-server", daemon=True)
        self._ended = threading.Event()
        self.session.start()
        self._serving.start()

    def _serve(self) -> None:
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._ended.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the server ends; whether it did."""
        return self._ended.wait(timeout)

    def map(self) -> Map:
        """The map as it is now."""
        return self.session.run.map()

    def close(self) -> Map:
        """End the server, save the session, and return the map as it was steered."""
        self._server.should_exit = True
        self._serving.join(10)
        self._socket.close()
        made = self.session.close()
        if self._keeper is not None:
            self._keeper.close()
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def bound(port: int) -> socket.socket:
    """A socket on this computer's own address, or one line about why there is none."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere it would let two programs have the same port
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
    except OSError as error:
        made.close()
        if error.errno == errno.EADDRINUSE:
            hint = "--port 0 takes a free one, or end what uses it"
            raise OSError(f"port {port} is in use, perhaps by another studio: {hint}") from None
        if error.errno == errno.EACCES:
            raise OSError(f"port {port} is reserved: take one from 1024 up, or --port 0") from None
        raise
    except OverflowError:
        made.close()
        raise ValueError(f"a port is a number from 0 to 65535, got {port}") from None
    return made


def show_page(address: str) -> bool:
    """Open the browser; whether there is one."""
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


@contextmanager
def heeding_signals() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set; from here on they end nothing by themselves."""
    asked = threading.Event()

    def ask(*_: Any) -> None:
        asked.set()

    main = threading.current_thread() is threading.main_thread()
    kinds = (signal.SIGINT, signal.SIGTERM) if main else ()
    before = {kind: signal.signal(kind, ask) for kind in kinds}
    try:
        yield asked
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def until_ended(opened: Opened, asked: threading.Event) -> Map:
    """Wait until somebody asks for the end, and end cleanly: the session is saved."""
    while not asked.wait(0.2) and not opened.wait(0):
        pass
    return opened.close()


def open_studio(
    X: Any,
    *,
    labels: Any = None,
    ids: Any = None,
    names: Any = None,
    method: str = "tsne",
    perplexity: float | None = None,
    port: int = 0,
    browser: bool = True,
    block: bool = True,
    host_names: Iterable[str] = (),
    keep: bool = False,
    **options: Any,
) -> Map | Opened:
    """Open a page on which a map is watched and steered by hand.

    Parameters
    ----------
    X : array, data frame or Run
        The data; or a run, with which the page goes on.
    labels, ids : sequence of length N, optional
        What the points are coloured by, and what they are called.
    names : sequence of str, optional
        Of the columns.
    method : str
        A name of the catalogue; the page can change it.
    perplexity : float, optional
        By default the method's own.
    port : int
        0 is any that is free.
    browser : bool
        Whether to open the browser; the address is printed in any case.
    block : bool
        Whether to wait until Ctrl-C, or until Python's cell is interrupted.
    host_names : sequence of str
        Other names, such as "lab:8000", under which the page may be asked for, as through a forwarded port.
    keep : bool
        Whether to write the session to the disk while it goes on, as the command does.
    **options
        Of `Run`.

    Returns
    -------
    Map or Opened
        The map as it was steered; without `block`, the open studio, whose `close` returns the map.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> X = np.random.default_rng(0).normal(size=(50, 5))
    >>> studio = nf.open_studio(X, browser=False, block=False)  # doctest: +ELLIPSIS
    studio  http://127.0.0.1:.../?token=...
    >>> studio.close()  # doctest: +ELLIPSIS
    <Map of tsne: 50 points in 2 dimensions, iteration ...>
    """
    if isinstance(X, Source) or (isinstance(X, Run) and X.source.views):
        raise ValueError("the studio shows one view: pass its columns, and no mix")
    if isinstance(X, Run):
        data = X.source.X
        rows = rows_of("data", data, names=names, labels=labels, ids=ids)
        if X.Y.shape[1] != 2:
            raise ValueError(f"the studio shows maps of two dimensions, and not {X.Y.shape[1]}")
        line = line_with(X, **options)
    else:
        rows = rows_of("data", X, names=names, labels=labels, ids=ids)
        line = line_of(rows.mapped, method, perplexity, **options)
    keeper = keeper_for(rows, {}) if keep else None
    opened = Opened(line, rows, keeper=keeper, port=port, host_names=host_names)
    if not block:
        _announce(opened, browser)
        return opened
    with heeding_signals() as asked:
        _announce(opened, browser)
        return until_ended(opened, asked)


def _announce(opened: Opened, browser: bool) -> None:
    print(f"studio  {opened.address}", flush=True)
    if browser:
        show_page(opened.address)
