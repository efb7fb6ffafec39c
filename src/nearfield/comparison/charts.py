"""Charts as inline SVG whose colours the page sets: curves over K, and what is near against what is far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from nearfield.comparison.drawing import text_size
from nearfield.show.placing import fit
from nearfield.show.theme import cut
from nearfield.typing import Array

WIDTH, HEIGHT = 900, 474
LEFT, RIGHT, TOP, BOTTOM = 82, 868, 40, 384  # the area within the axes
# The size of letters, and the radius of a dot with the room around it, on a screen and on a phone.
SIZES = {"wide": (17.0, 9.0), "narrow": (27.0, 14.0)}
SMALLEST = 0.6  # of the size of letters, where there are many names
WAYS = np.array([[0, -1], [0, 1], [1, 0], [-1, 0], [1, -1], [1, 1], [-1, -1], [-1, 1]])  # up, down, right, …
CLEAR = 3.0  # sizes of letters, from which on another dot is not near
MANY = 8  # marks below an axis, of which a phone shows every second one


@dataclass(frozen=True)
class Axis:
    """From values to places in the picture."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: Any) -> Any:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """Round values, four to eight of them."""
        span = self.high - self.low
        step = next(step for step in (0.02, 0.05, 0.1, 0.2, 0.5) if span / step <= 7)
        first = int(np.ceil(self.low / step - 1e-9))
        return [k * step for k in range(first, int(np.floor(self.high / step + 1e-9)) + 1)]


def axis(values: Any, start: float, end: float, room: float = 0.0) -> Axis:
    """An axis for values of at most 1: from and to round ones, with some room at both ends."""
    low, high = float(np.min(values)), float(np.max(values))
    room = max(room * (high - low), 0.01)
    low, high = np.floor((low - room) * 20) / 20, np.ceil((high + room) * 20) / 20
    return Axis(float(low), min(1.0, float(high)), start, end)


def curves(lines: Sequence[tuple[str, Array, Array]], text: str) -> str:
    """R_NX over K, on a logarithmic axis: a line for each (class, K, R_NX)."""
    last = max(float(K[-1]) for _, K, _ in lines)
    across = Axis(0.0, max(float(np.log(last)), 1e-9), LEFT, RIGHT)
    up = axis(np.concatenate([[0.0], *(R for *_, R in lines)]), BOTTOM, TOP)
    up = Axis(0.0 if up.low > -0.1 else up.low, up.high, BOTTOM, TOP)
    decades = [10**k for k in range(int(np.log10(last)) + 1)]
    places = [K for decade in decades for K in (decade, 3 * decade) if last >= K]
    marks = _marks_up(up) + [
        _mark_across(across(np.log(K)), f"{K}", minor=len(places) > MANY and K not in decades) for K in places
    ]
    paths = [
        f'<path class="line {name}" d="M{_way(across(np.log(K)), up(np.clip(R, up.low, up.high)))}"/>'
        for name, K, R in lines
    ]
    titles = _titles("size K of the neighbourhood", "R_NX(K)")
    return _svg("curves", text, [*marks, *paths, *titles])


def trade(
    points: Sequence[tuple[str, str, float, float]], text: str, across_title: str, up_title: str
) -> str:
    """Methods as named dots, each (class, name, value to the right, value upwards)."""
    values = np.array([each[2:] for each in points])
    across = axis(values[:, 0], LEFT, RIGHT, room=0.08)
    up = axis(values[:, 1], BOTTOM, TOP, room=0.08)
    marks = _marks_up(up) + [_mark_across(across(value), f"{value:.2g}") for value in across.ticks]
    places = np.column_stack([across(values[:, 0]), up(values[:, 1])])
    dots = [
        f'<circle class="dot {kind}" cx="{x:.1f}" cy="{y:.1f}" r="7"><title>{escape(name)}</title></circle>'
        for (kind, name, *_), (x, y) in zip(points, places, strict=True)
    ]
    names = [_names(places, [cut(name, 24) for _, name, *_ in points], room) for room in SIZES]
    return _svg("trade", text, [*marks, *dots, *names, *_titles(across_title, up_title)])


def _names(places: Array, names: Sequence[str], room: str) -> str:
    """The names of dots as they are written where there is this room."""
    letters, dot = SIZES[room]
    found = beside(places, names, letters, dot)
    if found is None:
        return ""  # pointing at a dot gives its name
    share, centres, led = found
    written = []
    for name, (x, y), (a, b), line in zip(names, places, centres, led, strict=True):
        written.append(f'<path class="lead" d="M{x:.1f} {y:.1f}L{a:.1f} {b:.1f}"/>' if line else "")
        written.append(f'<text class="name" x="{a:.1f}" y="{b:.1f}">{escape(name)}</text>')
    return f'<g class="{room}" font-size="{share * letters:.1f}">{"".join(written)}</g>'


def beside(
    places: Array, names: Sequence[str], letters: float, dot: float
) -> tuple[float, Array, list[bool]] | None:
    """Where to write the names of dots: beside them or, where that is crowded, further off with a line.

    Parameters
    ----------
    places : array (dots, 2)
        Where the dots are.
    names : sequence of str
        What they are called.
    letters, dot : float
        The size of the letters, and the radius of a dot with the room around it.

    Returns
    -------
    share, centres, led : float, array (dots, 2), list of bool; or None if there is no room
        The share of their size that the letters keep, the middles of the names, and which have a line.

    Examples
    --------
    >>> places = np.array([[300.0, 200.0], [300.0, 176.0]])
    >>> share, centres, led = beside(places, ["low", "high"], 17.0, 9.0)
    >>> np.sign(centres - places)[:, 1].tolist(), led  # one below, one above
    ([1.0, -1.0], [False, False])
    """
    halves = np.array([text_size(name, letters) for name in names]) / 2
    ways = []
    for k, (place, half) in enumerate(zip(places, halves, strict=True)):
        sides = place + WAYS * (half + dot)
        others = np.delete(places, k, axis=0)
        clear = np.linalg.norm(sides[:, None] - others[None], axis=2).min(axis=1, initial=CLEAR * letters)
        # A name that is nearer to another dot would be taken for that one's.
        ways.append((sides[np.argsort(-clear, kind="stable")], np.ones(len(sides))))
    area = np.array([[LEFT, TOP], [WIDTH, BOTTOM]], dtype=float)
    found = fit(ways, halves, area, SMALLEST, taken=(places, np.full(places.shape, dot)))
    if found is None:
        return None
    share, anchors, centres = found
    return share, centres, np.any(anchors != centres, axis=1).tolist()


def _marks_up(up: Axis) -> list[str]:
    return [
        f'<path class="grid" d="M{LEFT} {up(value):.1f}H{RIGHT}"/>'
        f'<text class="left" x="{LEFT - 10}" y="{up(value):.1f}">{value:.2f}</text>'
        for value in up.ticks
    ]


def _mark_across(x: float, text: str, minor: bool = False) -> str:
    kind = "below minor" if minor else "below"
    return (
        f'<path class="grid" d="M{x:.1f} {TOP}V{BOTTOM}"/>'
        f'<text class="{kind}" x="{x:.1f}" y="{BOTTOM + 37}">{text}</text>'
    )


def _titles(across: str, up: str) -> list[str]:
    return [
        f'<text class="title" x="{RIGHT}" y="{HEIGHT - 12}" text-anchor="end">{escape(across)} →</text>',
        f'<text class="title" x="{LEFT - 8}" y="{TOP - 16}">↑ {escape(up)}</text>',
    ]


def _way(x: Array, y: Array) -> str:
    return "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _svg(kind: str, text: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="chart {kind}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(text)}">'
        f"{''.join(parts)}</svg>"
    )
