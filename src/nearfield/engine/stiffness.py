"""The springs of the attraction at a map: what a step that is implicit in them asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stiffness:
    """Stiffnesses k along the edges of a symmetric graph: the force at i is -Σ_j k_ij (y_i - y_j).

    Attributes
    ----------
    indptr, indices, k : array
        The graph in compressed rows.
    chunks : list of (int, int)
        Ranges of rows with about equally many edges.
    n_jobs : int or None
        Threads.
    """

    indptr: Any
    indices: Any
    k: Any
    chunks: list[tuple[int, int]]
    n_jobs: int | None = None
