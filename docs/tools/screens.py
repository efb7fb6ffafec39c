"""Pictures of pages, taken in the browser that the tests use: `python docs/tools/screens.py`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from sklearn.datasets import load_digits

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import nearfield as nf  # noqa: E402
from support.browser import launched, opened, until  # noqa: E402


def main() -> None:
    """Take the picture of docs/page.md."""
    digits = load_digits()
    Y = nf.TSNE(random_state=0).fit_transform(digits.data)
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        path = nf.show.page(
            Y,
            {"ink": digits.data.sum(axis=1)},
            digits.target,
            Path(folder) / "digits.html",
            images=digits.images,
            title="Handwritten digits",
        )
        with opened(browser, size=(1200, 750)) as tab:
            tab.goto(path.as_uri())
            until(tab, "window.nearfield !== undefined")
            tab.mouse.move(*tab.evaluate("nearfield.screen(42)"))
            until(tab, "document.querySelector('.nf-picture').width === 8")
            tab.screenshot(path=ROOT / "docs" / "images" / "page.png")


if __name__ == "__main__":
    main()
