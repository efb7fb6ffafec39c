"""Letters that the usual font lacks: drawn by another font, or squares and one line that says so."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import rc_context

from nearfield import show
from nearfield.show import fonts

Y = np.random.default_rng(0).normal(size=(60, 2))
ELSEWHERE = "\N{CIRCLED LATIN CAPITAL LETTER A}"  # not in DejaVu Sans, but in a font that Matplotlib brings
NOWHERE = "\U0010fffd"  # for private use: no font has it


def drawn(letter: str, path: Path) -> Any:
    """A picture with a letter in everything that can be written, saved: twice, as drawing may warn again."""
    labels = [f"{letter} {k % 20}" for k in range(60)]
    with rc_context({"font.family": ["DejaVu Sans"]}):
        ax = show.map(Y, labels, title=letter, legend_title=letter)
        show.save(ax, path, dpi=40)
        show.save(show.map(Y, Y[:, 0], title=letter, legend_title=letter), path, dpi=40)
    return ax


def test_a_letter_that_another_font_has_is_drawn_by_it(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = drawn(ELSEWHERE, tmp_path / "map.png")
        first, *_, last = ax.texts[0].get_fontfamily()
    assert first == "DejaVu Sans"
    assert last != "DejaVu Sans"
    assert ax.texts[0].get_text() == f"{ELSEWHERE} 0"
    assert fonts.fonts_for("plain") == fonts.fonts_for()


def test_letters_that_no_font_has_are_squares_and_told_of_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fonts, "_told", set())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ax = drawn(NOWHERE, tmp_path / "map.png")
    assert [str(each.message).partition(":")[0] for each in told] == [
        f"no font has letters such as {NOWHERE!r}, and squares stand for them"
    ]
    assert ax.get_title(loc="left") == "□"
