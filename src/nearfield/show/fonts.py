"""Letters that the usual font lacks, such as Chinese ones: found in another font, or told of in one line."""

from __future__ import annotations

import unicodedata
import warnings
from functools import cache

_SQUARE = "\N{WHITE SQUARE}"  # stands for a letter that no font has
_NO_LETTERS = "last resort"  # how fonts begin that have nothing but boxes, one for every letter there is
_told: set[str] = set()  # the letter that was warned of: one line for all of them


def fonts_for(*texts: str) -> list[str]:
    """Return the families of fonts to draw texts with: the usual ones, and what has the letters they lack.

    Examples
    --------
    >>> fonts_for("plain") == fonts_for()
    True
    """
    usual = _usual()
    more = [_family_with(letter) for letter in _lacking("".join(texts), usual)]
    return [*usual, *dict.fromkeys(family for family in more if family)]


def drawable(text: str) -> str:
    """Return the text with a square for each letter that no font has, and warn of such letters once.

    Matplotlib would warn of each of them at each drawing.

    Examples
    --------
    >>> drawable("plain")
    'plain'
    """
    gone = [letter for letter in _lacking(text, _usual()) if not _family_with(letter)]
    if gone and not _told:
        _told.add(gone[0])
        warnings.warn(
            f"no font has letters such as {gone[0]!r}, and squares stand for them: install one that has, such"
            " as Noto Sans CJK",
            stacklevel=2,
        )
    return text.translate(dict.fromkeys(map(ord, gone), _SQUARE))


def _usual() -> tuple[str, ...]:
    from matplotlib import rcParams

    return tuple(rcParams["font.family"])


def _lacking(text: str, families: tuple[str, ...]) -> list[str]:
    """The letters of a text that none of the families has, each once; blanks and controls are not drawn."""
    if text.isascii():
        return []
    letters = (each for each in dict.fromkeys(text) if unicodedata.category(each) not in ("Zs", "Cc", "Cf"))
    return [letter for letter in letters if not _covered(families, letter)]


@cache
def _covered(families: tuple[str, ...], letter: str) -> bool:
    """Whether what Matplotlib takes for some families has a letter, plain and bold."""
    from matplotlib.font_manager import FontProperties, findfont

    def files(weight: str) -> list[str]:
        return [findfont(FontProperties(family=[family], weight=weight)) for family in families]

    return all(any(_has(file, letter) for file in files(weight)) for weight in ("normal", "bold"))


@cache
def _family_with(letter: str) -> str:
    """The first family, in the order of the alphabet, that has a letter in all its fonts, or nothing."""
    from matplotlib.font_manager import fontManager

    files: dict[str, list[str]] = {}
    for font in sorted(fontManager.ttflist, key=lambda font: font.name):
        if not font.name.lower().startswith(_NO_LETTERS):
            files.setdefault(font.name, []).append(font.fname)
    return next((name for name, each in files.items() if all(_has(file, letter) for file in each)), "")


def _has(file: str, letter: str) -> bool:
    from matplotlib.font_manager import get_font

    return bool(get_font(file).get_char_index(ord(letter)))
