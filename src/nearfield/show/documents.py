"""What a page is told: the map, what is known of its rows, the colours; and what there was no room for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nearfield.io.columns import quoted
from nearfield.show.columns import columns_of, described
from nearfield.show.looks import looks
from nearfield.show.maps import column_name, coordinates
from nearfield.show.parts import packed
from nearfield.show.pixels import as_bytes


@dataclass
class Document:
    """A map and its rows, as `viewer.js` takes them.

    Attributes
    ----------
    told : dict
        What goes to the page, as JSON can hold it.
    left_out : list of str
        What would have made it too large, and by how much, for people.
    """

    told: dict[str, Any]
    left_out: list[str] = field(default_factory=list)


def document(
    model: Any,
    data: Any = None,
    labels: Any = None,
    *,
    columns: Any = None,
    ids: Any = None,
    images: Any = None,
    title: str = "map",
    room: float = float("inf"),
) -> Document:
    """Pack a map with its rows, leaving out what does not fit.

    The points and their labels must fit; then come images, ids and columns in their order, each if there is
    room for it. For the arguments see `nearfield.show.page`; `room` is in bytes.
    """
    Y = coordinates(model)
    if Y.shape[1] != 2:
        raise ValueError(f"pages show maps of two dimensions, not {Y.shape[1]}: make one of two")
    n = len(Y)
    known = columns_of(data, columns, n)
    if isinstance(labels, str):
        if labels not in known:
            raise ValueError(f"no column {labels!r} to colour by: there are {quoted(list(known)) or 'none'}")
        label, labels = labels, known.pop(labels)
    else:
        label = column_name(labels) or "label"
        known.pop(label, None) if labels is not None else None

    told: dict[str, Any] = {"title": title, "palette": looks(), "columns": []}
    told["positions"] = packed(_places(Y), shrink=False)
    if labels is not None:
        if len(labels) != n:
            raise ValueError(f"the map has {n} points but there are {len(labels)} labels")
        told["columns"].append(described(label, labels, label=True))
    told |= {"colour": 0 if labels is not None else -1, "images": None, "left_out": []}
    room -= size(told)
    if room < 0:
        raise ValueError(
            f"the points alone make the page {megabytes(-room)} too large: allow more with max_size"
        )

    made = Document(told)
    if ids is not None:
        if len(ids) != n:
            raise ValueError(f"the map has {n} points but there are {len(ids)} ids")
        known = {"id": np.asarray(ids), **{name: each for name, each in known.items() if name != "id"}}
    if images is not None:
        pixels = as_bytes(images, n)
        given = {"shape": list(pixels.shape[1:]), "data": packed(pixels, shrink=False)}
        if size(given) <= room:
            told["images"] = given
            room -= size(given)
        else:
            made.left_out.append(f"images ({megabytes(size(given))})")
    for name, values in known.items():
        column = described(name, values)
        if size(column) <= room:
            told["columns"].append(column)
            room -= size(column)
        else:
            made.left_out.append(f"{name} ({megabytes(size(column))})")
    most = 5
    beyond = [f"and {len(made.left_out) - most} more"] if len(made.left_out) > most else []
    made.left_out[most:] = beyond
    told["left_out"] = made.left_out
    return made


def size(told: Any) -> int:
    """Return how many bytes something takes on a page."""
    return len(as_json(told).encode())


def as_json(told: Any) -> str:
    r"""Return JSON that can stand in a script element: no tag begins or ends in it.

    Examples
    --------
    >>> from nearfield.show.documents import as_json
    >>> as_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for each in "<>&\u2028\u2029":
        text = text.replace(each, f"\\u{ord(each):04x}")
    return text


def megabytes(count: float) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> from nearfield.show.documents import megabytes
    >>> megabytes(3_456_789), megabytes(2100)
    ('3.5 MB', '2 kB')
    """
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.0f} kB"


def _places(Y: np.ndarray) -> np.ndarray:
    """The coordinates in single precision, with room for what a camera computes of them."""
    largest = float(np.abs(Y).max())
    if largest > 1e30:
        raise ValueError(f"the map has coordinates of {largest:.0e}, which no page can show: scale it down")
    return Y.astype(np.float32)
