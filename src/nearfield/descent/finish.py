"""From a start to a map under a person's eyes: progress, Ctrl-C that loses nothing, and a look at the end."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from nearfield.descent.progress import Progress
from nearfield.descent.run import Run


def finish(
    run: Run,
    max_iter: int,
    *,
    title: str = "",
    shown: bool = False,
    callback: Callable[[Run], Any] | None = None,
    **stop: Any,
) -> tuple[bool, bool]:
    """Iterate to convergence, and warn of what a person should know of the map.

    Parameters
    ----------
    run : Run
        What is to be finished.
    max_iter : int
        A ceiling on the iterations.
    title : str
        What the progress is of.
    shown : bool
        Whether to show it.
    callback : callable, optional
        Called with the run every 10 iterations; True from it ends the run.
    **stop
        Further arguments of `Run.converge`.

    Returns
    -------
    (bool, bool)
        Whether the run converged, and whether Ctrl-C ended it.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> run = nf.Run(np.random.default_rng(0).normal(size=(60, 5)), "tsne", random_state=0)
    >>> finish(run, 1000)
    (True, False)
    """
    converged = interrupted = False
    with Progress(max_iter, title, shown) as progress:

        def watch(run: Run) -> Any:
            progress(run)
            return callback(run) if callback is not None else None

        try:
            converged = run.converge(max_iter, callback=watch, **stop)
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        warnings.warn(
            f"interrupted at iteration {run.iteration}: this is the map so far", UserWarning, stacklevel=3
        )
    trouble = run.diagnosis()
    if trouble:
        warnings.warn(trouble, UserWarning, stacklevel=3)
    return converged, interrupted
