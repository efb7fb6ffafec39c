"""No loop goes beyond the ends of its arrays.

Compiled loops do not look where they write. Here they run as the Python that they are written in, where NumPy
looks; `make bounds` runs the tests with loops that are compiled to look themselves.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "support" / "every_loop.py"


def as_written(*command):
    """Run Python with loops that are not compiled."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment)


@pytest.mark.slow
def test_small_cases_of_every_loop_stay_within_their_arrays():
    found = as_written(PROGRAM)
    assert found.returncode == 0, found.stderr
    assert found.stdout == "", f"no case of {PROGRAM.name} reaches these loops: add one"


def test_a_loop_that_goes_beyond_an_array_is_seen():
    program = "import numpy as np; from nearfield.descent.loops import shift; shift(np.zeros((3, 2)), {})"
    short = as_written("-c", program.format("np.zeros(0)"))
    assert short.returncode == 1
    assert "IndexError" in short.stderr
