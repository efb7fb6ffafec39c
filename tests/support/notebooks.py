"""A page that hosts a widget as a notebook does: it gives the widget's module a model and an element.

What Python sends arrives as it does there: bytes as a DataView, all else as JSON. What the widget saves is
kept for the test to read.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from support.browser import served, until

HTML = """<!doctype html><html lang="en"><head><title>a notebook</title>
<link rel="stylesheet" href="/widget.css"></head>
<body data-jp-theme-light="{light}"><main><h1>a notebook</h1><div id="cell"></div></main>
<script type="module" src="/host.js"></script></body></html>"""
HOST = """
import widget from "/widget.js";
const view = (text) => new DataView(Uint8Array.from(atob(text), (each) => each.charCodeAt(0)).buffer);
class Model {
  #values; #handlers = new Map(); saved = [];
  constructor(values) { this.#values = values; }
  get(name) { return this.#values[name]; }
  set(name, value) { this.#values[name] = value; this.#tell(name); }
  save_changes() { this.saved.push({selection: this.get("selection")}); }
  on(event, handler) { this.#handlers.set(event, [...(this.#handlers.get(event) ?? []), handler]); }
  off(event, gone) { this.#handlers.set(event, this.#handlers.get(event).filter((each) => each !== gone)); }
  receive(name, value) { this.set(name, name === "positions" ? view(value) : value); }
  listeners() { return [...this.#handlers.values()].flat().length; }
  #tell(name) { for (const handler of this.#handlers.get(`change:${name}`) ?? []) handler(); }
}
const {positions, ...values} = %s;
window.model = new Model({...values, positions: view(positions)});
window.end = await widget.render({model, el: document.getElementById("cell")});
window.rendered = true;
"""


def sent(shown: Any, name: str) -> Any:
    """A trait as it goes over the wire."""
    value = getattr(shown, name)
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


@contextmanager
def in_notebook(tab: Any, shown: Any, dark: bool = False) -> Iterator[Any]:
    """Show a widget in a page of its own; yield a function that sends a trait's value of now."""
    names = ("document", "positions", "selection", "height", "painter")
    script = HOST % json.dumps({name: sent(shown, name) for name in names})
    files = {
        "index.html": HTML.format(light=str(not dark).lower()),
        "host.js": script,
        "widget.js": str(shown._esm),
        "widget.css": str(shown._css),
    }
    with served(files) as address:
        tab.goto(address)
        until(tab, "window.rendered === true")

        def send(name: str) -> None:
            tab.evaluate("([name, value]) => model.receive(name, value)", [name, sent(shown, name)])

        yield send
