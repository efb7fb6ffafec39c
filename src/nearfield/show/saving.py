"""Pictures as files, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfield.io.files import check_writable, replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nearfield.show.theme import Panels


def save(picture: Axes | Panels | Figure, path: str | os.PathLike[str], dpi: float = 200) -> None:
    """Save a picture, whole or not at all.

    Parameters
    ----------
    picture : matplotlib Axes or Figure, or several Axes
        What any function of this module has returned, or the figure it is part of.
    path : path-like
        A `.png`, `.pdf`, `.svg` or any other file that Matplotlib can write; it is replaced if it exists.
    dpi : float
        Dots per inch, also of the points in a vector format.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import nearfield as nf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nf.show.save(nf.show.map(np.eye(2)), Path(folder) / "map.png")
    ...     (Path(folder) / "map.png").read_bytes()[1:4]
    b'PNG'
    """
    path = check_picture_path(path)
    figure: Any = getattr(picture, "figure", picture)
    with replacing(path) as scratch:
        figure.savefig(
            scratch, dpi=dpi, bbox_inches="tight", pad_inches=0.15, facecolor=figure.get_facecolor()
        )


def check_picture_path(path: str | os.PathLike[str]) -> Path:
    """Make sure, before the work, that `save` will be able to write this file.

    Examples
    --------
    >>> from nearfield.show import check_picture_path
    >>> check_picture_path("map.xyz")
    Traceback (most recent call last):
    ...
    ValueError: cannot save a picture as map.xyz: use .png, .pdf or .svg
    """
    from matplotlib.backend_bases import FigureCanvasBase

    path = Path(path)
    if path.suffix.lower().lstrip(".") not in FigureCanvasBase.get_supported_filetypes():
        raise ValueError(f"cannot save a picture as {path}: use .png, .pdf or .svg")
    return check_writable(path)
