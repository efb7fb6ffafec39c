"""What the tests of the command line share: quick options, and something that takes the place of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

QUICK = ["--perplexity", "5", "--max-iter", "40"]


class StandIn:
    """Takes the place of `Run`: notes what it was given, and lays the points on a line."""

    given: dict[str, Any]
    X: np.ndarray
    cost, iteration, plan, checkpoint = 0.25, 7, "a plan", None

    def __init__(self, X: np.ndarray, method: Any, **given: Any) -> None:
        type(self).X, type(self).given = X, {"method": method, **given}
        self.Y = np.arange(2.0 * len(X)).reshape(len(X), 2)

    def converge(self, max_iter: int, callback: Any) -> bool:
        type(self).given["max_iter"] = max_iter
        return True

    def diagnosis(self) -> None:
        """Nothing is wrong."""


def files(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}
