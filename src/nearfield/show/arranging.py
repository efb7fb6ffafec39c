"""Names that are arranged again when their axes change. This imports Matplotlib: import it to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.lines import Line2D

from nearfield.show.placing import Crowd, fit
from nearfield.show.theme import extent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_SMALLEST = 6.0  # size of letters


class Arranging(Artist):
    """What keeps names apart on axes of any size, as when a legend comes beside them later.

    It is drawn before the names, and what is seen of it are the lines that lead to those beside their points.

    Parameters
    ----------
    ax : matplotlib Axes
        Where the names are.
    groups : sequence of what `thickest` returns
        The points of each class.
    texts : list of matplotlib Text
        The names.
    ink : str
        The colour of the lines.
    """

    zorder = 9

    def __init__(self, ax: Axes, groups: Sequence[Crowd], texts: list[Text], ink: str) -> None:
        super().__init__()
        self.set_in_layout(False)
        self._groups, self._texts, self._ink = groups, texts, ink
        self._size = float(texts[0].get_fontsize())
        self._lines: list[Line2D] = []
        ax.add_artist(self)
        self._arrange()

    def draw(self, renderer: Any) -> None:
        """Arrange the names if the axes have another size than before, and draw the lines."""
        if not np.allclose(self._known, extent(self._ax), atol=0.5):
            self._arrange()
        for line in self._lines:
            line.draw(renderer)

    @property
    def _ax(self) -> Any:
        return self.axes

    def _arrange(self) -> None:
        ax, self._known, self._lines = self._ax, extent(self._ax), []
        boxes = [text.get_window_extent() for text in self._texts]
        shares = np.array([float(text.get_fontsize()) / self._size for text in self._texts])
        halves = np.array([[box.width / 2, box.height / 2] for box in boxes]) / shares[:, None]
        area = ax.get_window_extent()
        seen = [(ax.transData.transform(points), crowd) for points, crowd in self._groups]
        found = fit(seen, halves + 1, np.array([area.p0, area.p1]), _SMALLEST / self._size)
        for text in self._texts:
            text.set_visible(found is not None)
        if found is None:
            return  # they would hide the map, and the legend has them too
        share, anchors, centres = found
        back = ax.transData.inverted().transform
        for text, anchor, centre in zip(self._texts, anchors, centres, strict=True):
            text.set(position=back(centre), fontsize=share * self._size)
            if not np.array_equal(anchor, centre):
                line = Line2D(*back([anchor, centre]).T, color=self._ink, linewidth=0.6, alpha=0.7)
                line.set(marker="o", markevery=[0], markersize=2.5, transform=ax.transData)
                line.set_figure(ax.figure)
                self._lines.append(line)
