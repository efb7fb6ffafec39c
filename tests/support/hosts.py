"""Pages that hold nothing but the renderer, as a test wants it."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import nearfield.show
from nearfield.show.looks import looks
from support.browser import served, until

MODULES = Path(nearfield.show.__file__).parent / "page"
SHEET = "html, body { margin: 0; height: 100% } canvas { display: block; width: 100vw; height: 100vh }"
HTML = """<!doctype html><html lang="en"><head><title>a map</title>
<link rel="stylesheet" href="/host.css"></head>
<body><main><h1 hidden>a map</h1><canvas id="map" tabindex="0" aria-label="map" role="img"></canvas></main>
<script type="module" src="/host.js"></script></body></html>"""
SCRIPT = """
import { View } from "/page/view.js";
const {xy, rgba, ...options} = %s;
window.view = new View(document.getElementById("map"), options);
view.setPositions(Float32Array.from(xy));
if (rgba) view.setColours(Uint8Array.from(rgba));
window.told = [];
for (const name of ["hover", "select", "click", "dragstart", "drag", "dragend", "tool", "camera"]) {
  view.on(name, (detail) => told.push([name, {...detail, indices: detail.indices && [...detail.indices]}]));
}
"""
# A page learns the size of its parts with the first frame, and the map is then shown anew.
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"


@contextmanager
def hosted(tab: Any, Y: np.ndarray, rgba: np.ndarray | None = None, **options: Any) -> Iterator[Any]:
    """A page with a `view` of these points that fills it, and with all that it has `told`."""
    given = {"xy": np.ravel(Y).tolist(), "palette": looks(), "reducedMotion": True, **options}
    if rgba is not None:
        given["rgba"] = np.ravel(rgba).tolist()
    files = {"index.html": HTML, "host.css": SHEET, "host.js": SCRIPT % json.dumps(given), "page": MODULES}
    with served(files) as address:
        tab.goto(address)
        until(tab, "window.told !== undefined")
        tab.evaluate(FRAMES)
        yield tab


def picture(tab: Any) -> np.ndarray:
    """What the canvas shows, as numbers (height, width, 3)."""
    address = tab.evaluate("view.snapshot().toDataURL('image/png')")
    with Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))) as image:
        return np.asarray(image.convert("RGB"), dtype=float)


def pixel(tab: Any, x: float, y: float) -> list[int]:
    """The colour that is seen at a pixel of the window."""
    read = "([x, y]) => [...view.snapshot().getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3)"
    return tab.evaluate(read, [round(x), round(y)])
