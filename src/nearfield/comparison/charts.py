"""Charts as inline SVG whose colours the page sets: curves over K, and what is near against what is far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from nearfield.typing import Array

WIDTH, HEIGHT = 900, 474
LEFT, RIGHT, TOP, BOTTOM = 82, 868, 40, 384  # the area within the axes
LETTER, LINE, DOT = 12.0, 24.0, 9.0  # width and height of text, and half a dot


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
    """R_NX over K, on a logarithmic scale: a line for each (class, K, R_NX)."""
    last = max(float(K[-1]) for _, K, _ in lines)
    across = Axis(0.0, max(float(np.log(last)), 1e-9), LEFT, RIGHT)
    up = axis(np.concatenate([[0.0], *(R for *_, R in lines)]), BOTTOM, TOP)
    up = Axis(0.0 if up.low > -0.1 else up.low, up.high, BOTTOM, TOP)
    decades = [10**k for k in range(int(np.log10(last)) + 1)]
    marks = _marks_up(up) + [
        _mark_across(across(np.log(K)), f"{K}") for K in sorted({*decades, *(3 * K for K in decades)})
        if last >= K
    ]  # fmt: skip
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
    names_at = beside(places, [name for _, name, *_ in points])
    drawn = []
    for (kind, name, *_), (x, y), (a, b) in zip(points, places, names_at, strict=True):
        drawn.append(f'<circle class="dot {kind}" cx="{x:.1f}" cy="{y:.1f}" r="7"/>')
        drawn.append(f'<text class="name" x="{a:.1f}" y="{b:.1f}">{escape(name)}</text>')
    return _svg("trade", text, [*marks, *drawn, *_titles(across_title, up_title)])


def beside(places: Array, names: Sequence[str]) -> Array:
    """Where to write the names of dots: above, below, right or left of them, where they cover least.

    Examples
    --------
    >>> beside(np.array([[300.0, 200.0], [300.0, 176.0]]), ["low", "high"]).tolist()
    [[300.0, 222.0], [300.0, 154.0]]
    """
    halves = np.array([[LETTER * len(name) / 2, LINE / 2] for name in names])
    taken = [(place, np.array([DOT, DOT])) for place in places]
    found = []
    for place, half in zip(places, halves, strict=True):
        right, down = np.array([half[0] + DOT + 2, 0.0]), np.array([0.0, half[1] + DOT + 1])
        ways = [place - down, place + down, place + right, place - right]
        at = min(ways, key=lambda way: _covered(way, half, taken))
        taken.append((at, half))
        found.append(at)
    return np.array(found)


def _covered(at: Array, half: Array, taken: Sequence[tuple[Array, Array]]) -> float:
    """The area that a box shares with others, and what of it is outside of the picture."""
    shared = sum(
        float(np.prod(np.maximum(half + other - np.abs(at - centre), 0.0))) for centre, other in taken
    )
    corners = np.array([at - half, at + half])
    outside = (
        np.maximum(0.0, [[LEFT, TOP]] - corners).sum() + np.maximum(0.0, corners - [WIDTH, BOTTOM]).sum()
    )
    return shared + 100.0 * float(outside)


def _marks_up(up: Axis) -> list[str]:
    return [
        f'<path class="grid" d="M{LEFT} {up(value):.1f}H{RIGHT}"/>'
        f'<text class="left" x="{LEFT - 10}" y="{up(value):.1f}">{value:.2f}</text>'
        for value in up.ticks
    ]


def _mark_across(x: float, text: str) -> str:
    return (
        f'<path class="grid" d="M{x:.1f} {TOP}V{BOTTOM}"/>'
        f'<text class="below" x="{x:.1f}" y="{BOTTOM + 37}">{text}</text>'
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
