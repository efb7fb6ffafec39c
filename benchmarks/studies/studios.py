"""Studios to be measured: data, a run that is warm, and one in another process."""

from __future__ import annotations

import numpy as np

from nearfield.io.datasets import digits
from nearfield.studio.line import line_of
from nearfield.studio.rows import rows_of

WARM = 260  # iterations, after which the map has unfolded
LONGEST = 4000  # iterations until a map is at rest


def rows_from(path, n):
    """Some rows of MNIST, or of the digits where no file was given."""
    if path is None:
        table = digits()
        return rows_of("digits", table.X[:n], names=table.names, labels=table.labels[:n], label="digit")
    with np.load(path, allow_pickle=False) as file:
        X, y = file["X"], file["y"]
    chosen = np.sort(np.random.default_rng(0).permutation(len(X))[:n])
    return rows_of("MNIST", X[chosen].astype(np.float64), labels=y[chosen].astype(int), label="digit")


def line_for(rows, warm=WARM):
    line = line_of(rows.mapped, random_state=0)
    line.run.step(warm)
    return line


def to_rest(run):
    """Iterate until nothing is gained any more."""
    end = run.iteration + LONGEST
    while not run.iterate() and run.iteration < end:
        pass


def line_at_rest(rows):
    line = line_of(rows.mapped, random_state=0)
    to_rest(line.run)
    return line


def never_rests(line):
    line.run._descent.is_flat = lambda *_: False


class Elsewhere:
    """A studio in another process, as `talking` needs it."""

    def __init__(self, address):
        self.address, self.port = address, int(address.split(":")[2].partition("/")[0])
