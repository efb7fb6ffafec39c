"""What the client asks of its workers, and what comes of it: plain parts, which travel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nearfield.algebra.method import Method
from nearfield.cluster.keeping import Fingerprint
from nearfield.descent.settings import Settings

TOPIC = "nearfield-progress"


@dataclass(frozen=True)
class Job:
    """A map that is to be made.

    Attributes
    ----------
    name : str
        By which its letters are known.
    addresses : tuple of str
        The workers, in their order.
    method : Method
        What is minimised.
    optimizer : str
        The name of the method's own.
    settings : Settings
        The options of the run.
    seed : int
        Of random starts.
    n : int
        The points.
    max_iter : int
        A ceiling on the iterations.
    pins : dict of int to position, optional
        Points that are put somewhere on the way.
    tol, quick : float, optional, and bool
        When it counts as converged.
    checkpoint, every : str or None, int
        Where the positions are kept, and after how many iterations each time.
    fingerprint : Fingerprint, optional
        By which a checkpoint is known again.
    stays : bool
        Whether the map stays on the workers.
    by_place : bool
        Whether rows are dealt out by where they lie in the data, and not at random.
    """

    name: str
    addresses: tuple[str, ...]
    method: Method
    optimizer: str
    settings: Settings
    seed: int
    n: int
    max_iter: int
    pins: dict[int, Any] | None = None
    tol: float | None = None
    quick: bool = False
    checkpoint: str | None = None
    every: int = 50
    fingerprint: Fingerprint | None = None
    stays: bool = False
    by_place: bool = True

    @property
    def topic(self) -> str:
        """Under which its progress is told."""
        return f"{TOPIC}-{self.name}"


@dataclass(frozen=True, eq=False)
class Done:
    """What a worker hands back.

    Attributes
    ----------
    Y : array (rows, dimensions), or a Future of one
        The map of some rows of the data: the first worker has the first of them, and so on.
    of_points : dict of array (rows,)
        What is known of these rows, for rows that are new in the map.
    told : dict
        What all workers know alike: history, iterations, the sums of the method.
    own : dict
        What is this worker's own: points, halo, bytes.
    """

    Y: Any
    of_points: dict[str, Any] = field(default_factory=dict)
    told: dict[str, Any] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
