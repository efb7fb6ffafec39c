"""Data that more than one test looks at, and how hypothesis looks for exceptions."""

import numpy as np
import pytest
from hypothesis import settings

from support.browser import browser, tab

__all__ = ["browser", "random", "tab"]

# The same examples on every machine, however slow or busy it is.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture
def random():
    return np.random.default_rng(20240229)
