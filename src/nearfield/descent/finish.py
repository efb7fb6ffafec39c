"""From a start to a map under a person's eyes: progress, Ctrl-C that loses nothing, and a look at the end."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from nearfield.descent.progress import Progress
from nearfield.descent.run import Run
from nearfield.steer.base import indices_of
from nearfield.steer.steering import check_places

SETTLING = 100  # iterations over which a penalty fades


def finish(
    run: Run,
    max_iter: int,
    *,
    title: str = "",
    shown: bool = False,
    callback: Callable[[Run], Any] | None = None,
    pins: dict[int, Any] | None = None,
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
    pins : dict, optional
        Where some points are to be put. A start that is not a map yet is unfolded first, in at most half of
        the iterations; then the points are pinned and their neighbours drawn after them, for half of what is
        left; and then these settle.
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
            if pins:
                converge_pinned(run, pins, max_iter, callback=watch, **stop)
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


def converge_pinned(run: Run, pins: dict[int, Any], max_iter: int, **stop: Any) -> None:
    """Unfold a map, put some points where they belong, draw their neighbours there, and let go of these."""
    for i, place in pins.items():  # before the work
        check_places(place, 1, run.Y.shape[1])
        indices_of("pins", [i], len(run.Y))
    if not run.starts_unfolded:
        run.converge(max_iter // 2, **stop)
    run.pin(list(pins), np.array(list(pins.values()), dtype=float))
    run.converge((run.iteration + max_iter) // 2, **stop)
    run.settle(min(SETTLING, (max_iter - run.iteration) // 2))
