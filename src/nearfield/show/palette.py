"""Which label gets which colour: classes or numbers, and colours that the colour-blind can tell apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# The eight colours of Okabe and Ito, the ones that differ most first. Their yellow, which cannot be seen on
# white, is an olive here, as far from the other seven for those who do not tell red from green.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#786420", "#000000")

# Thirty-two more, each as far as possible from all before it, from white, grey and near-black. The distance
# is the smaller of the one in OKLab and three times the one in OKLab as seen with deuteranopia or protanopia.
# All have a contrast of at least 2 with white and, lightened, of more than 3 with a dark ground.
FURTHER = (
    *("#9600FF", "#691E69", "#F02DFF", "#2D1ED2", "#004B00", "#C30F87", "#2DD25A", "#FF87FF"),
    *("#FF1E5A", "#A5002D", "#8769D2", "#2D87FF", "#FF9687", "#2D3C4B", "#693CB4", "#2DC3A5"),
    *("#96A54B", "#00783C", "#783C4B", "#698700", "#004B96", "#B4B4D2", "#FF5AC3", "#2D5AE1"),
    *("#1E96C3", "#A53CC3", "#B43C00", "#FF6978", "#C369E1", "#A5783C", "#FF782D", "#960087"),
)

COLOURS = OKABE_ITO + FURTHER
WHOLE = 20  # different whole numbers that still are names of classes
_ON_DARK = {"#000000": "#FFFFFF", "#786420": "#F0E442"}
GREY = "#9A9A9A"
ONLY = COLOURS[0]


@dataclass(frozen=True, eq=False)
class Classes:
    """Labels that name classes.

    Attributes
    ----------
    codes : ndarray of int
        The class of each point.
    names : tuple of str
        The name of each class.
    colours : tuple of str
        The colour of each class.
    named : int
        How many of them, the first ones, are classes proper; what follows is "other" or "no label", in grey.
    total : int
        How many different labels there are.
    """

    codes: np.ndarray
    names: tuple[str, ...]
    colours: tuple[str, ...]
    named: int
    total: int


def classes_or_numbers(labels: Any, dark: bool = False) -> Classes | np.ndarray:
    """Tell classes from numbers: text, truth values and up to twenty different whole numbers are classes.

    Of more classes than there are colours, the largest have one each and the rest are "other".

    >>> classes_or_numbers(["b", "a", "b"]).names
    ('a', 'b')
    >>> classes_or_numbers([0.1, 0.2, 0.2])
    array([0.1, 0.2, 0.2])
    """
    values = _names_or_numbers(labels)
    return values if values.dtype.kind == "f" and _measured(values) else _classes(values, dark)


@dataclass(frozen=True, eq=False)
class Shaded:
    """Labels that name classes, with all of the names.

    Attributes
    ----------
    codes : ndarray of int
        The class of each point.
    names : tuple of str
        The name of each class; "" is that of points without a label.
    shades : tuple of int
        The number of each class's colour in `COLOURS`; -1 for those that have none of their own.
    """

    codes: np.ndarray
    names: tuple[str, ...]
    shades: tuple[int, ...]


def shaded_or_numbers(labels: Any) -> Shaded | np.ndarray:
    """Tell classes from numbers as `classes_or_numbers` does, and keep the names of those without a colour.

    >>> shaded_or_numbers(["b", "", "a"]).names
    ('a', 'b', '')
    """
    values = _names_or_numbers(labels)
    if values.dtype.kind == "f" and _measured(values):
        return values
    texts, where, missing = _texts(values)
    coloured = _coloured(texts, where, missing)
    shade = {name: k for k, name in enumerate(coloured)}
    present = sorted({*texts[~missing].tolist()} - shade.keys(), key=_natural_order)
    names = [*coloured, *present, *([""] if missing.any() else [])]
    code = {name: k for k, name in enumerate(names)}
    code_of = np.array(
        [code["" if none else text] for text, none in zip(texts.tolist(), missing, strict=True)]
    )
    return Shaded(code_of[where], tuple(names), tuple(shade.get(name, -1) for name in names))


def _names_or_numbers(labels: Any) -> np.ndarray:
    """Labels as an array: measurements as floats, names as whatever they are."""
    values = np.asarray(labels)
    if values.dtype.kind == "O":
        values = _plain(values)
    if values.dtype.kind == "f":
        return np.where(np.isfinite(values), values, np.nan).astype(float)
    return values.astype(float) if values.dtype.kind in "iu" and _measured(values) else values


def _measured(values: np.ndarray) -> bool:
    """Whether numbers are more than the names of classes."""
    known = values[~np.isnan(values)]
    return bool(np.any(known != np.floor(known)) or np.unique(known).size > WHOLE)


def _plain(values: np.ndarray) -> np.ndarray:
    """Turn Python objects into numbers where all of them are such, else into text; None is missing."""
    # NaN is what differs from itself.
    missing = np.array([each is None or each != each for each in values], dtype=bool)
    try:
        if not any(isinstance(each, str | bool) for each in values):
            return np.where(missing, np.nan, values).astype(float)
    except (TypeError, ValueError):
        pass
    return np.where(missing, "", values.astype(str))


def _texts(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The different names, which of them each value has, and which of them say that there is none."""
    different, where = _different(values)
    missing = np.isnan(different) if different.dtype.kind == "f" else np.zeros(len(different), dtype=bool)
    if different.dtype.kind == "f" and np.all(missing | (np.abs(different) < 2**53)):
        different = np.where(missing, 0, different).astype(int)  # 3 and not 3.0
    texts = different.astype(str)
    return texts, where, missing | (np.char.strip(texts) == "")


def _coloured(texts: np.ndarray, where: np.ndarray, missing: np.ndarray) -> list[str]:
    """The names that have colours of their own, in order: all, or the largest classes."""
    counts = np.bincount(where, minlength=len(texts))
    present = np.flatnonzero(~missing)
    largest = present[np.argsort(-counts[present], kind="stable")]
    if len(present) > len(COLOURS):
        largest = largest[: len(COLOURS) - 1]
    return sorted(texts[largest].tolist(), key=_natural_order)


def _classes(values: np.ndarray, dark: bool) -> Classes:
    texts, where, missing = _texts(values)
    names = _coloured(texts, where, missing)

    code = {name: i for i, name in enumerate(names)}
    code_of = np.array([code.get(text, len(names)) for text in texts.tolist()])
    code_of[missing] = len(names) + 1
    codes = code_of[where]
    colours = [lighter(colour) if dark else colour for colour in COLOURS[: len(names)]]
    named = len(names)
    for rest, name in ((named, "other"), (named + 1, "no label")):
        if np.any(codes == rest):
            codes[codes == rest] = len(names)
            names.append(name)
            colours.append(GREY)
    return Classes(codes, tuple(names), tuple(colours), named, int(np.sum(~missing)))


def _different(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different values in order, and which of them each value is."""
    if values.dtype.kind != "U":
        different, where = np.unique(values, return_inverse=True)
        return different, where.reshape(-1)
    # To look up a million texts takes a tenth of the time to sort them.
    number: dict[str, int] = {}
    where = np.array([number.setdefault(text, len(number)) for text in values.tolist()], dtype=int)
    different, order = np.unique(np.array(list(number), dtype=values.dtype), return_inverse=True)
    return different, order.reshape(-1)[where]


def lighter(colour: str) -> str:
    """Return the colour a quarter of the way to white, to be seen on a dark ground; for black it is white.

    There the yellow of Okabe and Ito can be seen, and olive makes way for it.
    """
    if colour in _ON_DARK:
        return _ON_DARK[colour]
    return "#" + "".join(f"{round(0.75 * int(colour[k : k + 2], 16) + 0.25 * 255):02X}" for k in (1, 3, 5))


def _natural_order(name: str) -> list[tuple[int, int, str]]:
    """Sort as people do: 'b2' before 'b10', and negative numbers before positive ones."""
    if re.fullmatch(r"-?\d+", name):
        return [(0, int(name), "")]
    parts: Sequence[str] = re.split(r"(\d+)", name.lower())
    return [(1, 0, part) if k % 2 == 0 else (1, int(part), "") for k, part in enumerate(parts)]
