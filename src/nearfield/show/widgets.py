"""A map in a notebook, drawn by what draws it on a page; live while its run goes on."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfield.show.bundle import bundled, sheet
from nearfield.show.documents import document
from nearfield.show.maps import coordinates

if TYPE_CHECKING:
    from anywidget import AnyWidget

AT_ONCE = 10  # iterations between two pictures of a run


def widget(
    model: Any,
    data: Any = None,
    labels: Any = None,
    *,
    columns: Any = None,
    ids: Any = None,
    images: Any = None,
    title: str = "map",
    height: int = 520,
) -> AnyWidget:
    """Show a map in a notebook: zoom, hover, search, lasso, as on a page. No server is started for it.

    What is selected with the lasso is in `selection`, a list of indices that can also be set. Of a `Run`, the
    widget's `step(n)` makes iterations and shows them as they are made, and `refresh()` shows how it is now.
    It takes the extra `notebook`.

    Parameters
    ----------
    model : run, map, estimator or array of shape (N, 2)
        What to show.
    data, labels, columns, ids, images
        See `nearfield.show.page`.
    title : str
        What it is called.
    height : int
        Pixels.

    Returns
    -------
    anywidget.AnyWidget
        The last expression of a cell shows it.

    Examples
    --------
    >>> import numpy as np
    >>> import nearfield as nf
    >>> shown = nf.widget(np.eye(2), labels=["a", "b"])
    >>> shown.selection
    []
    """
    told = document(model, data, labels, columns=columns, ids=ids, images=images, title=title)
    return _kind()(model, document=told.told, height=int(height))


@cache
def _kind() -> Any:
    """The class of the widget, made when it is first used: anywidget is an extra."""
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise ImportError('widgets need anywidget: pip install "nearfield[notebook]"') from error

    class MapWidget(anywidget.AnyWidget):
        """A map in a notebook."""

        _esm = bundled("widget")
        _css = sheet()
        document = traitlets.Dict().tag(sync=True)
        positions = traitlets.Bytes(b"").tag(sync=True)  # float32, once they differ from the document's
        selection = traitlets.List(traitlets.Int()).tag(sync=True)
        height = traitlets.Int().tag(sync=True)
        painter = traitlets.Unicode("auto").tag(sync=True)

        def __init__(self, model: Any, **given: Any) -> None:
            super().__init__(**given)
            self.model = model

        def refresh(self) -> None:
            """Show the points where they are now."""
            self.positions = coordinates(self.model).astype(np.float32).tobytes()

        def step(self, n: int = 1) -> None:
            """Let the run make n iterations, and show them as they are made."""
            if not hasattr(self.model, "step"):
                raise TypeError("only a Run can step: make the widget of one, nf.widget(run)")
            while n > 0:
                self.model.step(min(n, AT_ONCE))
                n -= AT_ONCE
                self.refresh()

    return MapWidget
