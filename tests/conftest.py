"""Data that more than one test looks at."""

import numpy as np
import pytest


@pytest.fixture
def random():
    return np.random.default_rng(20240229)
