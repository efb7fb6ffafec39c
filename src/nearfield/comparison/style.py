"""The looks of the page: one sheet, light and dark, wide and narrow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearfield.comparison.drawing import LEVELS
from nearfield.show.palette import GREY, Classes, classes_or_numbers
from nearfield.show.theme import theme
from nearfield.typing import Array

# Of lines: those of the palette that are seen on white and, when lightened, on black.
LINES = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B87A00", "#3A9BD9"),
    *("#960087", "#695A00", "#8778FF", "#C3003C", "#4AA32F", "#875A78"),
)
LINES_WHEN_DARK = (
    *("#4DA3DC", "#F08A4B", "#3CC49B", "#E3A3C7", "#E9B44C", "#8CCBF5"),
    *("#D36CC8", "#BBAA3E", "#ADA3FF", "#F0607F", "#83D46C", "#B893A9"),
)
# Colours that are near each other have other dashes.
DASHES = ("none",) * 4 + ("11 6",) * 3 + ("3 6",) * 2 + ("11 6",) * 2 + ("3 6",)
BEYOND = "14 5 3 5"

SHEET = """
:root { color-scheme: light dark; --ground: #fff; --ink: #1c1e21; --soft: #5a6068; --faint: #d9dce1;
  --panel: #f6f7f9; --mark: #00694d; --wrong: #a3320b; }
@media (prefers-color-scheme: dark) { :root { --ground: #14161a; --ink: #e8eaed; --soft: #a6adb7;
  --faint: #3a3f47; --panel: #1c1f25; --mark: #5fd3ac; --wrong: #ff9d7a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); line-height: 1.5;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 28px 24px 48px; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.35rem; margin: 2.6rem 0 .6rem; }
h3 { font-size: 1.1rem; margin: 0; overflow-wrap: anywhere; }
p { margin: .5rem 0; max-width: 46rem; }
.soft, .composition, figcaption { color: var(--soft); font-size: .9rem; }
.composition { margin: 0 0 .4rem; overflow-wrap: anywhere; }
.lead { font-size: 1.08rem; }
.beside { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 24px; align-items: start; }
.beside > div { grid-column: span 2; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 18px; margin: .4rem 0 1rem; padding: 0;
  font-size: .95rem; }
.legend li { overflow-wrap: anywhere; }
.legend svg { vertical-align: -2px; margin-right: 6px; }
.maps { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 24px; }
.card { background: var(--panel); border: 1px solid var(--faint); border-radius: 10px; padding: 14px 16px; }
.card p { font-size: .95rem; }
.map { display: block; width: 100%; height: auto; margin-bottom: 6px; }
.missing { display: flex; align-items: center; justify-content: center; text-align: center; aspect-ratio: 1.3;
  border: 2px dashed var(--faint); border-radius: 8px; padding: 20px; margin-bottom: 6px; color: var(--wrong);
  overflow-wrap: anywhere; }
.note, .failed { color: var(--wrong); }
.dots path { fill: none; stroke-linecap: round; stroke-opacity: .8; }
.names text { font-weight: 700; text-anchor: middle; dominant-baseline: central; fill: var(--ink);
  stroke: var(--panel); stroke-width: .2em; paint-order: stroke; stroke-linejoin: round; }
.lead, .far { fill: none; stroke: var(--soft); stroke-width: 2; } .far { stroke: var(--ink); }
.scroll { overflow-x: auto; border: 1px solid var(--faint); border-radius: 10px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .95rem; }
th, td { padding: 7px 12px; text-align: right; white-space: nowrap; }
thead th { vertical-align: bottom; white-space: normal; font-weight: 600; min-width: 6.2rem;
  line-height: 1.25; background: var(--panel); }
thead th small { display: block; font-weight: 400; color: var(--soft); }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--panel); min-width: 0; }
tbody th { font-weight: 600; max-width: 16rem; overflow-wrap: break-word; white-space: normal; }
tbody tr { border-top: 1px solid var(--faint); }
td.failed { text-align: left; white-space: normal; }
.best strong, .star { color: var(--mark); }
td small { display: block; color: var(--soft); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; margin: 1rem 0;
  font-size: .95rem; }
dt { font-weight: 600; } dd { margin: 0; max-width: 46rem; }
summary { cursor: pointer; font-weight: 600; }
pre { background: var(--panel); border: 1px solid var(--faint); border-radius: 8px; padding: 10px 14px;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .88rem; }
figure { margin: .6rem 0; }
.chart { display: block; width: 100%; max-width: 900px; }
.chart text { font-family: system-ui, sans-serif; fill: var(--soft); } .chart > text { font-size: 17px; }
.chart .lead { stroke-width: 1.2; } .narrow { display: none; }
.chart .left { text-anchor: end; dominant-baseline: central; } .chart .below { text-anchor: middle; }
.chart .name { font-weight: 600; fill: var(--ink); text-anchor: middle; dominant-baseline: central;
  stroke: var(--ground); stroke-width: .25em; paint-order: stroke; stroke-linejoin: round; }
.grid { stroke: var(--faint); stroke-width: 1; }
.line { fill: none; stroke-width: 3; stroke-linejoin: round; }
.line.pca { stroke-width: 5; }
@media (max-width: 1000px) { .maps { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .beside { grid-template-columns: minmax(0, 1fr); } .beside > div { grid-column: auto; } }
@media (max-width: 620px) { main { padding: 18px 14px 32px; } .maps { grid-template-columns: minmax(0, 1fr); }
  h1 { font-size: 1.5rem; } dl { grid-template-columns: 1fr; } dd { margin-bottom: 8px; }
  .chart > text { font-size: 27px; } .chart .minor, .wide { display: none; } .narrow { display: inline; }
  .dot { r: 12px; } .line { stroke-width: 4.5; }
  th, td { padding: 7px 8px; } }
@media print { .card, .scroll, tr { break-inside: avoid; } }
"""


def sheet(labels: object, methods: int) -> str:
    """The style sheet, with the colours of the labels and of the methods."""
    light, dark = (_of_labels(labels, dark) for dark in (False, True))
    rules = [
        *(f".c{k} {{ stroke: var(--c{k}); fill: var(--c{k}); }}" for k in range(len(light))),
        *(
            f".m{k} {{ stroke: var(--m{k % len(LINES)}); stroke-dasharray: {dash(k)}; }}"
            for k in range(methods)
        ),
        *(f".dot.m{k} {{ fill: var(--m{k % len(LINES)}); stroke: none; }}" for k in range(methods)),
        ".line.pca { stroke: var(--ink); stroke-dasharray: none; } .dot.pca { fill: var(--ink); }",
    ]
    return (
        f"{SHEET}:root {{ {_variables(light, LINES)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {_variables(dark, LINES_WHEN_DARK)} }} }}\n"
        + "\n".join(rules)
    )


def dash(k: int) -> str:
    """The pattern of the line of a method: with its colour, 24 methods can be told apart."""
    return DASHES[k] if k < len(DASHES) else BEYOND


def _variables(colours: Sequence[str], lines: Sequence[str]) -> str:
    named = [f"--c{k}: {colour};" for k, colour in enumerate(colours)]
    return " ".join([*named, *(f"--m{k}: {colour};" for k, colour in enumerate(lines))])


def _of_labels(labels: object, dark: bool) -> Sequence[str]:
    """The colours of the classes, of the steps of a scale, or of all points."""
    found: Classes | Array | None = None if labels is None else classes_or_numbers(labels, dark)
    if isinstance(found, Classes):
        return found.colours
    look = theme(dark)
    if found is None:
        return [look.only]
    from matplotlib.colors import to_hex

    return [*(to_hex(colour) for colour in look.scale()(np.linspace(0, 1, LEVELS))), GREY]
