"""From a start to a map under a person's eyes: progress, Ctrl-C that loses nothing, and a look at the end."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nearfield.descent.progress import Progress
from nearfield.descent.run import Run
from nearfield.steer.base import indices_of
from nearfield.steer.steering import check_places, check_some_free

SETTLING = 100  # iterations over which a penalty fades


def finish(
    run: Run,
    max_iter: int,
    *,
    title: str = "",
    shown: bool = False,
    callback: Callable[[Run], Any] | None = None,
    pins: dict[int, Any] | None = None,
    exactly: bool = False,
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
    exactly : bool
        Whether so many iterations are wanted, as where the rate falls to nothing within them: to have made
        them is the end, and no ceiling.
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
    converged = interrupted = ended = False
    with Progress(max_iter, title, shown) as progress:

        def watch(run: Run) -> bool:
            nonlocal ended
            progress(run)
            ended = callback is not None and bool(callback(run))
            return ended

        try:
            for ceiling in ceilings(run, max_iter, pins, **stop):
                converged = run.converge(ceiling, callback=watch, **stop)
                if ended:
                    break
        except KeyboardInterrupt:
            interrupted = True
            run.record()
    if pins and not run.pins:
        warnings.warn("ended before the map had unfolded: no point is pinned yet", UserWarning, stacklevel=3)
    if interrupted:
        kept = "" if run.checkpoint is None else f"; {run.checkpoint}"
        warnings.warn(
            f"interrupted at iteration {run.iteration}: this is the map so far{kept}",
            UserWarning,
            stacklevel=3,
        )
    trouble = run.diagnosis()
    early = not (exactly or converged or interrupted or ended)
    if trouble is None and early and run.iteration >= max_iter:
        trouble = f"ended at max_iter={max_iter} before it had converged: allow more, or ask for a quick map"
    if trouble:
        warnings.warn(trouble, UserWarning, stacklevel=3)
    return converged, interrupted


def ceilings(run: Run, max_iter: int, pins: dict[int, Any] | None = None, **stop: Any) -> Iterator[int]:
    """The iterations up to which a run is to converge, one after the other; pins are set in between.

    A run that goes on from its checkpoint has some of this behind it. With pins, it depends on where a run
    stops, so that has to be as it was; without them, the run goes on to wherever it is to stop now.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> run = nf.Run(np.random.default_rng(0).normal(size=(60, 5)), "tsne", random_state=0)
    >>> for ceiling in ceilings(run, 400, {3: (10, 0)}):
    ...     _ = run.converge(ceiling, tol=0.0)
    >>> [(entry.iteration, entry.command) for entry in run.log]
    [(200, 'pin'), (300, 'settle')]
    """
    if pins:
        n, dimensions = run.Y.shape
        who = indices_of("pins", list(pins), n)  # before the work
        check_some_free(len(who), n)
        places = np.concatenate([check_places(place, 1, dimensions) for place in pins.values()])
        if run.checkpoint is not None:
            run.checkpoint.agree(pins=np.column_stack([who, places]), max_iter=max_iter, **stop)
        done = {entry.command: entry.iteration for entry in run.log}
        if "pin" not in done:
            if not run.starts_unfolded:
                yield max_iter // 2
            done["pin"] = run.iteration
            run.pin(who, places)
        if "settle" not in done:
            yield (done["pin"] + max_iter) // 2
            run.settle(min(SETTLING, (max_iter - run.iteration) // 2))
    elif run.checkpoint is not None:
        run.checkpoint.agree(pins=None)
    yield max_iter
