"""What all pictures share: light and dark, axes of their own, little ink, and text that fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.show.fonts import drawable, fonts_for
from nearfield.show.palette import COLOURS, OKABE_ITO, ONLY, lighter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

TITLE, TEXT, SMALL = 12.0, 9.5, 8.5  # sizes of letters, in points
_LETTER = 0.6  # the width of a letter as a share of its size, on average and a little more
# Lines are thin: those colours first that stand out from the ground.
_LINES = [COLOURS[k] for k in (0, 3, 2, 4, 1, 5, 6, 7, *range(8, 20))]
_STYLES = ("-", (0, (4, 1.5)), (0, (1, 1)))


@dataclass(frozen=True)
class Theme:
    """The colours of a picture besides those of the points."""

    dark: bool
    ink: str
    ground: str
    faint: str
    quiet: str

    def line(self, k: int) -> dict[str, Any]:
        """Colour and style of the k-th of several lines; all differ up to 60."""
        colour = _LINES[k % len(_LINES)]
        style = _STYLES[k // len(_LINES) % len(_STYLES)]
        return {"color": lighter(colour) if self.dark else colour, "linestyle": style}

    @property
    def only(self) -> str:
        """The colour of points without labels."""
        return OKABE_ITO[5] if self.dark else ONLY

    def ramp(self, start: str | None = None) -> Colormap:
        """The colours of a density, from thin, or from a colour for none at all, to thick."""
        from matplotlib.colors import LinearSegmentedColormap

        thick = "#DFF2FF" if self.dark else "#00304F"
        colours = [OKABE_ITO[0], OKABE_ITO[5], thick] if self.dark else [OKABE_ITO[5], OKABE_ITO[0], thick]
        return LinearSegmentedColormap.from_list("density", [start, *colours] if start else colours)

    def scale(self) -> Colormap:
        """The colours of numbers: viridis without the end that would vanish in the ground."""
        import matplotlib
        from matplotlib.colors import ListedColormap

        ends = (0.15, 1.0) if self.dark else (0.0, 0.8)
        colours = matplotlib.colormaps["viridis"](np.linspace(*ends, 256))
        return ListedColormap(colours)


LIGHT = Theme(False, ink="#1A1A1A", ground="#FFFFFF", faint="#C8C8C8", quiet="#606060")
DARK = Theme(True, ink="#ECECEC", ground="#14161A", faint="#4A4D55", quiet="#A6A9B0")


def theme(dark: bool) -> Theme:
    """Return the colours for a light or a dark ground."""
    return DARK if dark else LIGHT


def new_axes(width: float, height: float, projection: str | None = None) -> Axes:
    """Return axes in a figure of their own, which belongs to no window and to no global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").add_subplot(projection=projection)


class Panels(list["Axes"]):
    """The axes of a picture of several: a list of them which, as a single one does, has a `figure`.

    So `nearfield.show.save` takes whatever was drawn.
    """

    @property
    def figure(self) -> Any:
        """The figure that the axes are in."""
        return self[0].figure


def put_on_ground(ax: Axes, look: Theme) -> None:
    """Colour the ground: if dark that of the figure as well, for what stands beside the axes."""
    axes: Any = ax
    axes.set_facecolor(look.ground)
    if look.dark:
        axes.figure.set_facecolor(look.ground)


def as_chart(ax: Axes, look: Theme, x: str | None = None, y: str | None = None) -> None:
    """Make axes of curves plain: two thin spines, quiet numbers, a faint grid."""
    axes: Any = ax
    put_on_ground(ax, look)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(look.faint)
    axes.tick_params(which="both", color=look.faint, labelcolor=look.quiet, labelsize=SMALL)
    axes.grid(color=look.faint, linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)
    for name, label in (("x", x), ("y", y)):
        if label is not None:
            axes.set(**{f"{name}label": label})
        getattr(axes, f"{name}axis").label.set(color=look.ink, fontsize=TEXT)


def entitle(ax: Axes, title: str | None, look: Theme) -> None:
    """Write a line above the axes, cut to the room there is."""
    if title is not None:
        figure: Any = ax.figure
        room = (_right_end(ax) - ax.get_position(original=True).x0) * figure.bbox.width / figure.dpi * 72
        most = max(12, int(room / (_LETTER * TITLE)))
        text = literal(drawable(title), most)
        ax.set_title(text, loc="left", color=look.ink, fontsize=TITLE, pad=10, family=fonts_for(title))


def _right_end(ax: Axes) -> float:
    """Where the room of the axes ends: at the next axes to the right, or with the figure."""
    area = ax.get_position(original=True)
    back = ax.figure.transSubfigure.inverted()
    ends = [1.0]
    for other in ax.figure.axes:
        place = other.get_position(original=True)
        # Axes above or below are not in the way.
        if place.x0 >= area.x1 and place.y0 < area.y1 and place.y1 > area.y0:
            box = other.get_tightbbox()
            ends.append(place.x0 if box is None else float(back.transform((box.x0, 0))[0]))
    return max(min(ends) - 0.01, area.x1)


def extent(ax: Axes) -> tuple[float, float]:
    """Return width and height of the axes in points."""
    box = ax.get_window_extent()
    inch = ax.figure.dpi
    return box.width / inch * 72, box.height / inch * 72


def literal(text: str, most: int = 40, middle: bool = False) -> str:
    r"""Keep Matplotlib from reading dollars as mathematics, and cut what is long.

    >>> literal("from $5 to $6")
    'from \\$5 to \\$6'
    """
    return cut(text, most, middle).replace("$", r"\$")


def cut(text: str, most: int, middle: bool = False) -> str:
    """Put a text on one line, and cut what is long.

    Names are cut in the middle: those that differ often do so at the end.

    >>> cut("quite a long name", 9)
    'quite a…'
    >>> cut("quite a long name 7", 12, middle=True)
    'quite a…me 7'
    """
    text = " ".join(str(text).split())
    if len(text) > most:
        end = most // 3 if middle else 0
        text = text[: most - 1 - end].rstrip() + "…" + text[len(text) - end :]
    return text


def legend_beside(
    ax: Axes,
    handles: list[Any],
    names: list[str],
    look: Theme,
    *,
    figures: Sequence[str] = (),
    title: str | None = None,
    grow: bool = False,
) -> None:
    """Explain the colours to the right of the axes, in as many columns as are needed.

    Parameters
    ----------
    ax : matplotlib Axes
        Whose colours are explained.
    handles, names : list
        What is explained.
    look : Theme
        The colours of text.
    figures : list of str, optional
        What stands before the names, and is never cut.
    title : str, optional
        What stands above all of them.
    grow : bool
        Whether the figure may become wider; else the axes have to become narrower.
    """
    width, height = extent(ax)
    # Smaller letters where that spares a column.
    size = TEXT if height > max(170, 1.55 * TEXT * (len(handles) + (title is not None))) else SMALL
    rows = max(4, int(height / (1.55 * size)) - (title is not None))
    columns = -(-len(handles) // rows)
    # In a figure of given size the map is to keep about half of the room.
    taken = 3 + max((len(figure) + 4 for figure in figures), default=0)
    most = 40 if grow else int(np.clip(0.55 * width / columns / (_LETTER * size) - taken, 6, 40))
    fonts = fonts_for(*names, title or "")
    names = [literal(drawable(name), most, middle=True) for name in names]
    legend = ax.legend(
        handles,
        [f"{figure} {name}" for figure, name in zip(figures, names, strict=True)] if figures else names,
        ncols=columns,
        columnspacing=1.0,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0,
        frameon=False,
        handlelength=1.5 if figures else 2.0,
        handletextpad=0.4 if title else 0.2,
        prop={"size": size, "family": fonts},
        labelcolor=look.ink,
        title=None if title is None else literal(drawable(title), most),
        alignment="left",
    )
    legend.get_title().set(color=look.quiet, fontsize=size, family=fonts)
    _make_room(ax, legend, grow)


def _make_room(ax: Axes, legend: Any, grow: bool) -> None:
    """Widen the figure, or narrow axes that no layout engine cares for, so that no legend is cut off."""
    figure: Any = ax.figure
    if not grow and figure.get_layout_engine() is not None:
        return
    if grow:
        widen(ax, legend.get_window_extent().width / figure.dpi + 0.1)
        return
    settle(ax)
    box = legend.get_window_extent()
    area = ax.get_position(original=True)
    over = figure.transSubfigure.inverted().transform((box.x1, 0))[0] - _right_end(ax)
    if over > 0:
        ax.set_position((area.x0, area.y0, max(area.width - over, 0.35 * area.width), area.height))


def settle(ax: Axes) -> None:
    """Have the layout done now, so that sizes can be asked for."""
    root(ax).draw_without_rendering()


def root(ax: Axes) -> Any:
    """Return the figure that is drawn as a whole, also where the axes are in a part of it."""
    return ax.figure.canvas.figure


def widen(ax: Axes, inches: float) -> None:
    """Make the figure wider, for what is to stand beside the axes."""
    figure: Any = ax.figure
    figure.set_size_inches(figure.get_figwidth() + inches, figure.get_figheight())


def colour_bar(
    ax: Axes,
    values: Any,
    look: Theme,
    *,
    label: str | None = None,
    extend: str = "neither",
    grow: bool = False,
) -> None:
    """Explain the colours of numbers to the right of the axes."""
    if grow:
        widen(ax, 0.8)
    bar: Any = ax.figure.colorbar(values, ax=ax, shrink=0.6, aspect=28, pad=0.02, extend=extend)
    bar.solids.set_alpha(1)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=look.ink, labelsize=9, length=0)
    if label is not None:
        bar.set_label(literal(drawable(label)), color=look.ink, fontsize=TEXT, family=fonts_for(label))
