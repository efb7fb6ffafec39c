"""The pictures of the studio, taken in the browser that the tests use: `python docs/tools/film.py`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from nearfield.io.datasets import digits  # noqa: E402
from nearfield.studio.line import line_of  # noqa: E402
from nearfield.studio.opening import Opened  # noqa: E402
from nearfield.studio.rows import rows_of  # noqa: E402
from support.browser import launched, opened, until  # noqa: E402

SIZE = (1040, 640)
WIDTH = 600  # pixels of the film, which is to be small
WAY = (150, 190)  # pixels that the point is led
FRAMES = 24
POINTER = """() => {
  const dot = document.createElement("div");
  dot.id = "pointer";
  Object.assign(dot.style, {position: "fixed", width: "18px", height: "18px", borderRadius: "50%", zIndex: 9,
    border: "3px solid #111", background: "#ffffffaa", translate: "-50% -50%", pointerEvents: "none"});
  document.body.append(dot);
  addEventListener("pointermove", ({clientX, clientY}) => {
    dot.style.left = clientX + "px"; dot.style.top = clientY + "px"; }, true);
}"""


def main() -> None:
    """Drag a four across the map of the digits, and keep what is seen on the way."""
    table = digits()
    rows = rows_of("handwritten digits", table.X, names=table.names, labels=table.labels, label="digit")
    line = line_of(rows.mapped, random_state=0)
    line.run.step(200)
    images = ROOT / "docs" / "images"
    with Opened(line, rows) as studio, launched() as browser, opened(browser, size=SIZE) as tab:
        tab.goto(studio.address)
        until(tab, "window.nearfield && nearfield.connected && nearfield.n > 0 && !nearfield.running")
        tab.evaluate(POINTER)
        taken = [seen(tab)] * 3
        four = middle(tab, [i for i in range(rows.n) if rows.labels[i] == 4])
        x, y = tab.evaluate("(i) => nearfield.screen(i)", four)
        tab.mouse.move(x, y)
        tab.wait_for_timeout(500)
        taken += [seen(tab)] * 5
        tab.mouse.down()
        for k in range(1, FRAMES + 1):
            share = k / FRAMES
            eased = share * share * (3 - 2 * share)
            tab.mouse.move(x - WAY[0] * eased, y + WAY[1] * eased)
            tab.wait_for_timeout(90)
            taken.append(seen(tab))
            if k == FRAMES - 8:
                tab.screenshot(path=images / "studio.png")
        tab.mouse.up()
        for _ in range(6):
            tab.wait_for_timeout(120)
            taken.append(seen(tab))
    save(taken, images / "studio.gif")


def middle(tab, indices: list[int]) -> int:
    """The one of some points that is nearest to the middle of them."""
    spots = [tab.evaluate("(i) => nearfield.screen(i)", i) for i in indices]
    x, y = (sorted(each)[len(spots) // 2] for each in zip(*spots, strict=True))
    return min(
        zip(indices, spots, strict=True), key=lambda each: (each[1][0] - x) ** 2 + (each[1][1] - y) ** 2
    )[0]


def seen(tab) -> Image.Image:
    picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
    return picture.resize((WIDTH, round(WIDTH * SIZE[1] / SIZE[0])), Image.Resampling.LANCZOS)


def save(taken: list[Image.Image], path: Path) -> None:
    palette = taken[len(taken) // 2].quantize(48, method=Image.Quantize.MAXCOVERAGE)
    frames = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in taken]
    lengths = [120] * (len(frames) - 1) + [1500]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=lengths, loop=0, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.2f} MB, {len(frames)} frames")


if __name__ == "__main__":
    main()
