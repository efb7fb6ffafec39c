"""The colours of pages, handed over as data: the page's scripts know none of their own.

So a map has the same colours as a picture, on a page, in a notebook and in the studio.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from nearfield.show.palette import COLOURS, GREY, lighter
from nearfield.show.theme import theme

# Of what is steered: the rims of followers and the lasso. Far from all colours of few classes.
_ACCENT, _ACCENT_WHEN_DARK = "#D6006C", "#FF6CB5"


@cache
def looks() -> dict[str, Any]:
    """Return the colours of points and of what surrounds them, for light and for dark, as JSON can hold them.

    Examples
    --------
    >>> from nearfield.show.looks import looks
    >>> looks()["light"]["ground"], looks()["light"]["classes"][0], len(looks()["dark"]["scale"])
    ([255, 255, 255], [0, 114, 178], 256)
    """
    return {"light": _look(False), "dark": _look(True)}


def _look(dark: bool) -> dict[str, Any]:
    own = theme(dark)
    scale = np.round(255 * own.scale()(np.linspace(0, 1, 256))[:, :3]).astype(int)
    return {
        "ground": _bytes(own.ground),
        "ink": _bytes(own.ink),
        "accent": _bytes(_ACCENT_WHEN_DARK if dark else _ACCENT),
        "only": _bytes(own.only),
        "other": _bytes(GREY),
        "classes": [_bytes(lighter(colour) if dark else colour) for colour in COLOURS],
        "scale": scale.tolist(),
    }


def _bytes(colour: str) -> list[int]:
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
