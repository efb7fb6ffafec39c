"""Maps on their way: kept while they are made, and turned and scaled so that they can be watched."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from nearfield.checks import whole

_MEMORY = 2**28  # bytes that the maps take together, at most
_FEWEST = 8  # maps that are kept however large they are
_CALM = 2  # maps before and after, over which the view is smoothed


class Snapshots:
    """A callback that keeps the map every now and then.

    At most `most` maps are kept, and no more than 256 MB: when that is full, every second one is dropped and
    from then on half as many are taken. So they span the whole run evenly; the latest is always there.

    Parameters
    ----------
    every : int
        The iterations from one map to the next, at first. Callbacks are called every 10 iterations.
    most : int
        How many maps are kept at most.

    Attributes
    ----------
    maps : list of array (points, dimensions)
        The maps, in float32.
    iterations : list of int
        When they were taken.

    Examples
    --------
    >>> import numpy as np, nearfield as nf
    >>> snapshots = nf.show.Snapshots()
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> Y = nf.Embedder(max_iter=150, callback=snapshots).fit_transform(X)
    >>> snapshots.iterations[:3], len(snapshots)
    ([10, 20, 30], 15)

    With a run of one's own:

    >>> run, snapshots = nf.Run(X), nf.show.Snapshots(every=2)
    >>> for _ in range(4):
    ...     snapshots(run)
    ...     run.step(2)
    >>> snapshots.iterations
    [0, 2, 4, 6]
    """

    def __init__(self, every: int = 10, most: int = 120) -> None:
        self.every = whole("every", every, 1)
        self.most = whole("most", most, 2)
        self._kept: list[tuple[int, np.ndarray]] = []
        self._latest: tuple[int, np.ndarray] | None = None
        self._stride = self.every

    def __call__(self, run: Any) -> None:
        """Keep the map of a run, if it is time for it."""
        iteration, Y = int(run.iteration), run.Y.astype(np.float32)
        # Of a run that went back, or of another one, what comes later is no more.
        self._kept = [(when, Z) for when, Z in self._kept if when < iteration and Z.shape == Y.shape]
        if not self._kept:
            self._stride = self.every
        self._latest = (iteration, Y)
        if self._kept and iteration - self._kept[-1][0] < self._stride:
            return
        self._kept.append(self._latest)
        if len(self._kept) > min(self.most - 1, max(_FEWEST, _MEMORY // max(Y.nbytes, 1))):
            del self._kept[1::2]
            self._stride *= 2

    def _all(self) -> list[tuple[int, np.ndarray]]:
        """What is kept and, as the end of it, the latest."""
        if self._latest is None or (self._kept and self._kept[-1][0] == self._latest[0]):
            return self._kept
        return [*self._kept, self._latest]

    @property
    def maps(self) -> list[np.ndarray]:
        """The maps, the latest at the end."""
        return [Y for _, Y in self._all()]

    @property
    def iterations(self) -> list[int]:
        """When they were taken."""
        return [iteration for iteration, _ in self._all()]

    def __len__(self) -> int:
        """How many maps there are."""
        return len(self._all())


def steadied(maps: list[np.ndarray]) -> list[np.ndarray]:
    """Turn, mirror and move each map so that it lies as nearly as it can on the next; the last one stays.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0]])
    >>> turned = Y @ np.array([[0.0, 1.0], [-1.0, 0.0]]) + 5
    >>> np.allclose(steadied([turned, Y])[0], Y)
    True
    """
    done = [np.asarray(maps[-1], dtype=float)]
    for Y in reversed(maps[:-1]):
        following = done[-1]
        centre = following.mean(axis=0)
        Y = np.asarray(Y, dtype=float) - np.mean(Y, axis=0, dtype=float)
        left, _, right = np.linalg.svd(Y.T @ (following - centre))
        done.append(Y @ (left @ right) + centre)
    return done[::-1]


def views(maps: list[np.ndarray]) -> np.ndarray:
    """Return for each map how far from its middle one has to see: all of it, and changing smoothly.

    Examples
    --------
    >>> import numpy as np
    >>> square = np.array([[-1.0, -1.0], [1.0, 1.0]])
    >>> views([square, square * 3])
    array([3., 3.])
    """
    reach = np.array([max(float(np.ptp(Y, axis=0).max()) / 2, 1e-12) for Y in maps])
    # The largest of the maps around, and then means over no more of them: so no map is ever cut off.
    calm = maximum_filter1d(np.log(reach), 2 * _CALM + 1, mode="nearest")
    return np.exp(gaussian_filter1d(calm, _CALM / 2, mode="nearest", radius=_CALM))
