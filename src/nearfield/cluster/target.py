"""What the map of all is to match, as a worker has it: the rows of P of its own points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from nearfield.affinity.copies import row_sums
from nearfield.affinity.edges import compressed
from nearfield.affinity.perplexity import calibrated, check_perplexity
from nearfield.affinity.targets import neighbour_count
from nearfield.affinity.traits import Traits
from nearfield.algebra.method import Method
from nearfield.cluster.dealing import Dealt
from nearfield.cluster.near import neighbours_together
from nearfield.cluster.seen import Seen
from nearfield.typing import Array


@dataclass(frozen=True, eq=False)
class Target:
    """The rows of P of a worker's points.

    Attributes
    ----------
    share : Seen
        The points, and those of others that they see.
    P : csr_array
        P or weights, as the method needs it; columns are the points that are seen.
    joint : csr_array
        Row P and its transpose, p_j|i + p_i|j.
    p_sums : array (points,)
        The sum of p at each point, in both directions.
    traits : Traits
        What was noted of the points, for rows that are new in the map.
    recall : float
        The share of the true neighbours that were found.
    how : str
        How.
    """

    share: Seen
    P: Any
    joint: Any
    p_sums: Array
    traits: Traits
    recall: float
    how: str

    @classmethod
    def of(cls, rows: Dealt, method: Method, perplexity: float | None, n_jobs: int | None) -> Target:
        """Neighbours and p of a worker's rows."""
        places, n, bare = rows.places, rows.places.total, method.target_kind == "weights"
        perplexities = check_perplexity(perplexity, n)[: places.n]
        found = neighbours_together(rows, neighbour_count(method, perplexities, n - 1), n_jobs)
        traits = Traits(unit=found.unit, nearest=found.squared[:, 0].astype(np.float64))
        known = calibrated(found.squared, perplexities, False, not bare, None, n_jobs)
        traits.note_calibrated(known)
        M = compressed(known.rows, found.indices, n, n_jobs)
        both = sparse.csr_array(M + places.transposed(M))
        share = Seen(places, both)
        both = share.numbered(both)
        if method.target_kind == "row":
            P, p_sums = share.numbered(M), row_sums(both, None)
        else:
            P = both * both.dtype.type(0.5 if bare else 0.5 / n)
            p_sums = row_sums(P, None)
        return cls(share, P, both, p_sums, traits, found.recall, found.how)
