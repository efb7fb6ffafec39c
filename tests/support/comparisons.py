"""What the tests of `nf.compare` share: data, a method that fails, and a reader of pages."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np

import nearfield as nf
from nearfield.io.datasets import iris

FLOWERS = iris()
X = FLOWERS.X[::3]
HOSTILE = np.array(["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a & b"], dtype=object)
KINDS = np.repeat(np.arange(3), 50)[::3]


class Broken(nf.costs.Cost):
    """A cost that cannot be computed."""

    domains = frozenset({"probabilities"})

    def value(self, p: Any, q: Any) -> Any:
        raise RuntimeError("this cost is <b>broken</b>")

    def derivative(self, p: Any, q: Any) -> Any:
        raise RuntimeError("this cost is <b>broken</b>")


BROKEN = ("broken & mine", nf.Method(Broken(), nf.kernels.Student(), "pair"))


class Seen(HTMLParser):
    """What a browser would find: the elements, the text of the table and which of its cells are best."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.best: list[list[bool]] = []
        self.cards: list[str] = []
        self.text = ""
        self._in: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        if tag == "tr":
            self.rows.append([])
            self.best.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.best[-1].append(given.get("class") == "best")
        elif tag == "h3":
            self.cards.append("")
        if tag not in ("meta", "br", "img", "source", "path", "circle"):
            self._in.append("hidden" if given.get("class") in ("hidden", "star") else tag)

    def handle_endtag(self, tag: str) -> None:
        if self._in and tag not in ("meta", "br", "img", "source", "path", "circle"):
            self._in.pop()

    def handle_data(self, data: str) -> None:
        if "style" in self._in:
            return
        self.text += data
        if "h3" in self._in:
            self.cards[-1] += data
        elif {"td", "th"} & set(self._in) and not {"hidden", "small"} & set(self._in):
            self.rows[-1][-1] += data.strip()
