"""A map as one file to send to others: a page that needs no network, no server and no Python."""

from __future__ import annotations

import base64
import hashlib
import html
import os
import re
import warnings
from pathlib import Path
from typing import Any

from nearfield.io.files import check_writable, replacing
from nearfield.show.bundle import bundled, sheet
from nearfield.show.documents import Document, as_json, document

LARGEST = "8MB"
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
# The page fills the window; in a notebook the map has a place of its own, so the sheet for both lacks this.
_WINDOW = """html, body { margin: 0; height: 100%; background: #fff; }
@media (prefers-color-scheme: dark) { html, body { background: #14161a; } }
"""


def page(
    model: Any,
    data: Any = None,
    labels: Any = None,
    path: str | os.PathLike[str] = "map.html",
    *,
    columns: Any = None,
    ids: Any = None,
    images: Any = None,
    title: str | None = None,
    max_size: int | str = LARGEST,
) -> Path:
    """Write a map as one file of HTML, to be opened in any browser and sent to others.

    The page zooms, shows what is known of a point when the pointer is on it, finds points by their labels,
    hides classes, selects with a lasso, and saves the selection as CSV and the map as a picture. All is in
    the file, and it asks no other computer for anything.

    Parameters
    ----------
    model : array of shape (N, 2), estimator, map or run
        The coordinates, or an object that has them as `embedding_` or `Y`.
    data : array (N, D), data frame or mapping of names to columns, optional
        What is shown of each row, and can give the colours.
    labels : sequence of length N or str, optional
        What colours the points at first, or the name of that column of `data`. Classes and numbers are told
        apart as by `nearfield.show.map`.
    path : path-like
        A `.html` file; it is replaced if it exists, whole or not at all.
    columns : sequence of str, optional
        The columns of `data` to take, or what those of an array are called; by default all, `x1, x2, …`.
    ids : sequence of length N, optional
        What the rows are called.
    images : array (N, height, width), (N, height, width, 3 or 4), optional
        A small picture of each row.
    title : str, optional
        By default the name of the file.
    max_size : int or str
        The most bytes that the file may have, such as "8MB". Images and columns for which there is no room
        are left out, and named in a warning and on the page.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import nearfield as nf
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "iris.html"
    ...     _ = nf.show.page(iris.data[:, :2], iris.data, iris.target, path, columns=iris.feature_names)
    ...     path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    path = check_page_path(path)
    title = path.stem if title is None else title
    most = bytes_of(max_size)
    told = document(
        model,
        data,
        labels,
        columns=columns,
        ids=ids,
        images=images,
        title=title,
        room=most - len(_html(Document({}), title).encode()) - 400,  # for the list of what is left out
    )
    if told.left_out:
        warnings.warn(
            f"left out of {path.name}, for it would be larger than {max_size}: {', '.join(told.left_out)}",
            stacklevel=2,
        )
    with replacing(path) as scratch:
        scratch.write_text(_html(told, title), encoding="utf-8")
    return path


def check_page_path(path: str | os.PathLike[str]) -> Path:
    """Make sure, before the work, that `page` will be able to write this file.

    Examples
    --------
    >>> from nearfield.show.pages import check_page_path
    >>> check_page_path("map.png")
    Traceback (most recent call last):
    ...
    ValueError: a page cannot be written to map.png: name a file that ends in .html
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"a page cannot be written to {path}: name a file that ends in .html")
    return check_writable(path)


def bytes_of(size: int | str) -> int:
    """Return a size in bytes.

    Examples
    --------
    >>> from nearfield.show.pages import bytes_of
    >>> bytes_of("8MB"), bytes_of("1.5 mb"), bytes_of(900)
    (8000000, 1500000, 900)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([kmg]?)b?\s*", str(size).lower())
    if found is None:
        raise ValueError(f"{size!r} is no size: write it as 8MB or 500kB")
    return int(float(found[1]) * _UNITS[found[2]])


def _html(told: Document, title: str) -> str:
    script, style = bundled("standalone"), _WINDOW + sheet()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data: blob:;"
        " base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>{style}</style>
</head>
<body>
<main id="nearfield-root"></main>
<noscript>This map needs JavaScript, which is in this file; nothing is fetched from elsewhere.</noscript>
<script type="application/json" id="nearfield-data">{as_json(told.told)}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
