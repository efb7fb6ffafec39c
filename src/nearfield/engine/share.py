"""The share that a process has in a map: some of its points, and what it sees of those of others."""

from __future__ import annotations

from typing import Any

from nearfield.parallel.together import ALONE, Together


class Share:
    """All points, unless a subclass knows who has the others.

    Arrays of points have those of the process alone, but where they are `seen`: then its neighbours among
    the points of others come after them.

    Attributes
    ----------
    together : Together
        Those who make the map.
    """

    together: Together = ALONE

    def seen(self, values: Any) -> Any:
        """Values of the own points, and those that their neighbours elsewhere have."""
        return values

    def given_back(self, values: Any) -> Any:
        """Values of the points that are seen, and on the own ones what others have for them, too."""
        return values

    def with_transposed(self, M: Any) -> Any:
        """M + Mᵀ, of which a process has the rows of its own points."""
        return M + M.T


WHOLE = Share()
