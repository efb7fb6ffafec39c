"""One comparison, and its page as a browser would find it."""

from __future__ import annotations

import pytest

import nearfield as nf
from nearfield.comparison.page import page
from nearfield.comparison.result import Comparison
from support.comparisons import BROKEN, HOSTILE, KINDS, Seen, X


@pytest.fixture(scope="session")
def found() -> Comparison:
    """Five methods, of which the fourth fails, with labels that would like to be more than text."""
    with pytest.warns(UserWarning, match="broken & mine failed: RuntimeError: this cost is"):
        return nf.compare(
            X,
            ["pca", "mds", "tsne", BROKEN, "nerv(lam=0.3)"],
            labels=HOSTILE[KINDS],
            max_iter=60,
            title="<i>iris</i>",
        )


@pytest.fixture(scope="session")
def seen(found: Comparison) -> Seen:
    return Seen(page(found))
