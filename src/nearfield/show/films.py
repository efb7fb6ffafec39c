"""The making of a map as a film: a GIF by Pillow, an MP4 by ffmpeg."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.checks import whole
from nearfield.io.files import check_writable, replacing
from nearfield.show.maps import coordinates, map
from nearfield.show.palette import classes_or_numbers
from nearfield.show.points import draw
from nearfield.show.snapshots import Snapshots, steadied, views
from nearfield.show.theme import SMALL, extent, root, settle, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHORTEST = 4.0  # seconds, for which pictures between the maps are drawn if these are few
_HOLD = 1.5  # seconds that the last picture stays


def animation(
    snapshots: Any,
    path: str | os.PathLike[str],
    labels: Any = None,
    *,
    fps: int = 15,
    frames: int = 200,
    dpi: float = 100,
    ax: Axes | None = None,
    title: str | None = None,
    legend: bool = True,
    legend_title: str | None = None,
    dark: bool = False,
    captions: Sequence[str] | None = None,
) -> Axes:
    """Draw the making of a map as a film, written whole or not at all.

    The maps are turned so that none spins, and the view follows their growth smoothly.

    Parameters
    ----------
    snapshots : Snapshots, estimator with such a callback, or sequence of arrays (N, dimensions)
        The maps, in their order.
    path : path-like
        A `.gif`, or an `.mp4` where ffmpeg is installed; it is replaced if it exists.
    labels : sequence of length N, optional
        What colours the points: classes or numbers.
    fps : int
        Pictures a second.
    frames : int
        How many pictures there are at most. Points move evenly from one map to the next.
    dpi : float
        Dots per inch.
    ax, title, legend, legend_title, dark
        See `nearfield.show.map`; the axes show the last map in the end.
    captions : sequence of str, optional
        What stands below each map; by default the iteration, if it is known.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np, nearfield as nf
    >>> snapshots = nf.show.Snapshots()
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> Y = nf.Embedder(max_iter=100, callback=snapshots).fit_transform(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ax = nf.show.animation(snapshots, Path(folder) / "map.gif", labels=X[:, 0])
    ...     (Path(folder) / "map.gif").read_bytes()[:4]
    b'GIF8'
    """
    path = check_film_path(path)
    fps, frames = whole("fps", fps, 1), whole("frames", frames, 2)
    maps, iterations = _maps(snapshots)
    if captions is None:
        captions = [f"iteration {each}" for each in iterations] if iterations else [""] * len(maps)
    if len(captions) != len(maps):
        raise ValueError(f"there are {len(maps)} maps but {len(captions)} captions: give one to each")
    maps = steadied(maps)
    times = np.linspace(0, len(maps) - 1, min(frames, max(len(maps), round(_SHORTEST * fps))))
    explained: dict[str, Any] = {"legend": legend, "legend_title": legend_title, "names": False}
    ax = map(maps[-1], labels, ax=ax, title=title, dark=dark, **explained)
    settle(ax)
    root(ax).set_layout_engine("none")  # what stands beside the map keeps its place
    with replacing(path) as scratch:
        write = _write_gif if path.suffix.lower() == ".gif" else _write_mp4
        write(scratch, _pictures(ax, maps, times, captions, labels, dark, dpi), fps)
    return ax


def check_film_path(path: str | os.PathLike[str]) -> Path:
    """Make sure, before the work, that the film can be written."""
    path = Path(path)
    if path.suffix.lower() not in (".gif", ".mp4"):
        raise ValueError(f"cannot save a film as {path}: use .gif or .mp4")
    if path.suffix.lower() == ".mp4":
        from matplotlib import rcParams

        if shutil.which(rcParams["animation.ffmpeg_path"]) is None:
            raise ValueError(f"ffmpeg, which writes {path.name}, is not found: install it, or use .gif")
    return check_writable(path)


def _maps(snapshots: Any) -> tuple[list[np.ndarray], list[int] | None]:
    """Return the maps, and their iterations if they are known."""
    snapshots = getattr(snapshots, "callback", snapshots)
    iterations = snapshots.iterations if isinstance(snapshots, Snapshots) else None
    try:
        maps = list(snapshots.maps if isinstance(snapshots, Snapshots) else snapshots)
    except TypeError:
        maps = []
    if len(maps) < 2:
        raise ValueError(
            "a film needs at least two maps: make the map with callback=nearfield.show.Snapshots()"
            " and pass that"
        )
    shown = [coordinates(Y) for Y in maps]
    if len({Y.shape for Y in shown}) > 1:
        raise ValueError("the maps of a film must all have the same points and dimensions")
    return shown, None if iterations is None else list(iterations)


def _between(maps: list[np.ndarray], time: float) -> np.ndarray:
    """Return the map at a time that may lie between two of them, 0 the first and 1 the second."""
    k = min(int(time), len(maps) - 2)
    return (1 - (time - k)) * maps[k] + (time - k) * maps[k + 1]


def _pictures(
    ax: Any,
    maps: list[np.ndarray],
    times: np.ndarray,
    captions: Sequence[str],
    labels: Any,
    dark: bool,
    dpi: float,
) -> Iterator[np.ndarray]:
    """Draw one map after the other on the same axes, as arrays (height, width, 3) of bytes.

    Before them comes the last one, from which a film takes its size and palette.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    look = theme(dark)
    colours = None if labels is None else classes_or_numbers(labels, dark)
    figure = root(ax)
    before = figure.canvas, figure.dpi
    canvas = FigureCanvasAgg(figure)
    place = {"ha": "left", "va": "bottom", "color": look.quiet, "fontsize": SMALL}
    write: Any = ax.text2D if maps[0].shape[1] == 3 else ax.text
    counter = write(0.01, 0.01, "", transform=ax.transAxes, **place)
    reaches = views(maps)
    figure.set_dpi(dpi)
    try:
        for time in (times[-1], *times):
            Y, reach = _between(maps, time), np.exp(np.interp(time, range(len(maps)), np.log(reaches)))
            for old in (*ax.collections, *ax.images):
                old.remove()
            _, where = draw(ax, Y, colours, look)
            _look_at(ax, Y, where, float(reach))
            counter.set_text(captions[int(time)])
            canvas.draw()
            yield np.asarray(canvas.buffer_rgba())[..., :3].copy()
    finally:
        figure.set_canvas(before[0])
        figure.set_dpi(before[1])


def _look_at(ax: Any, Y: np.ndarray, where: np.ndarray, reach: float) -> None:
    """Set the limits of the axes: the middle of the map, and as far around it as is to be seen."""
    middle = (Y.min(axis=0) + Y.max(axis=0)) / 2
    if Y.shape[1] == 1:
        ax.set_aspect("auto")
        ax.set(xlim=(middle[0] - 1.03 * reach, middle[0] + 1.03 * reach), ylim=(0, 1.05 * where[:, 1].max()))
        return
    sides = np.ones(3)
    if Y.shape[1] == 2:
        # As much more as the longer side of the axes shows: then no aspect has to be enforced.
        width, height = extent(ax)
        sides = np.array([width, height]) / min(width, height)
        ax.set_aspect("auto")
    for name, m, side in zip("xyz", middle, 1.04 * reach * sides, strict=False):
        ax.set(**{f"{name}lim": (m - side, m + side)})


def _write_gif(path: Path, pictures: Iterator[np.ndarray], fps: int) -> None:
    """Write a GIF with one palette for all pictures, that of the last, so that no colour flickers."""
    from PIL import Image

    last = next(pictures)
    palette = Image.fromarray(last).quantize(255, dither=Image.Dither.NONE)
    colours = (palette.getpalette() or [])[: 3 * 255]
    colours += [0] * (3 * 255 - len(colours)) + last[0, 0].tolist()

    def reduced(picture: np.ndarray) -> Image.Image:
        codes = np.array(Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE))
        codes[(picture == last[0, 0]).all(axis=2)] = 255  # the ground: Pillow makes white about white
        image = Image.fromarray(codes)
        image.putpalette(colours)
        return image

    images = [reduced(picture) for picture in pictures]
    duration = [round(1000 / fps)] * (len(images) - 1) + [round(1000 * _HOLD)]
    images[0].save(path, save_all=True, append_images=images[1:], duration=duration, loop=0, optimize=False)


def _write_mp4(path: Path, pictures: Iterator[np.ndarray], fps: int) -> None:
    """Hand the pictures to ffmpeg one by one."""
    from matplotlib import rcParams

    height, width = (
        side - side % 2 for side in next(pictures).shape[:2]
    )  # the usual format needs even sides
    command = [
        *(
            rcParams["animation.ffmpeg_path"],
            "-y",
            "-loglevel",
            "error",
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgb24",
        ),
        *(
            "-s",
            f"{width}x{height}",
            "-r",
            str(fps),
            "-i",
            "-",
            "-pix_fmt",
            "yuv420p",
            "-crf",
            "18",
            str(path),
        ),
    ]
    process: Any = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        with suppress(BrokenPipeError):  # ffmpeg has ended: why, is in its message
            data = b""
            for picture in pictures:
                data = picture[:height, :width].tobytes()
                process.stdin.write(data)
            for _ in range(round(_HOLD * fps)):
                process.stdin.write(data)
        _, message = process.communicate()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if process.returncode:
        reason = message.decode(errors="replace").strip() or "it gave no reason"
        raise OSError(f"ffmpeg could not write the film: {reason}")
