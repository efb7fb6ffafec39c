"""Does a run that was killed end as if nothing had happened? Twenty are killed with `kill -9`, and go on.

    python -m benchmarks.studies.killed [--trials 20] [--first 0] [--points 1200]

Exact and mesh in turns, several optimizers, always with pins. A child of its own makes each map with a
checkpoint, and is killed after an iteration drawn by lot, up to 20 ms later: amid the work, or amid the
writing of a checkpoint. Then the same call goes on, and its bits are held to those of a run that nobody
killed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import nearfield as nf

ROOT = Path(__file__).parents[2]
METHODS = {
    "exact": ("tsne", "jse", "mds", "msjse", "dhssne"),
    "mesh": ("tsne", "jse", "umap", "msjse", "tasne"),
}
LATEST = 0.9  # of the iterations, before which it is killed
WITHIN = 0.02  # seconds after that iteration


@dataclass(frozen=True)
class Trial:
    """One run, and when it is killed.

    Attributes
    ----------
    number : int
        Of the trial, which is also its seed.
    points : int
        How many there are.
    """

    number: int
    points: int

    @property
    def engine(self) -> str:
        return ("exact", "mesh")[self.number % 2]

    @property
    def method(self) -> str:
        return METHODS[self.engine][self.number // 2 % 5]

    def data(self) -> Any:
        """Six groups in ten dimensions."""
        random = np.random.default_rng(self.number)
        centres = 5 * random.normal(size=(6, 10))
        return random.normal(size=(self.points, 10)) + centres[random.integers(6, size=self.points)]

    def fit(self, **more: Any) -> nf.Embedder:
        """The map, some of whose points are pinned."""
        random = np.random.default_rng([self.number, 1])
        who = random.choice(self.points, 3, replace=False).tolist()
        pins = {one: random.normal(size=2) * 10 for one in who}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "(the map|ended at|some points|points)")
            model = nf.Embedder(
                self.method, engine=self.engine, pins=pins, random_state=0, max_iter=600, **more
            )
            return model.fit(self.data())

    def kill(self, path: Path, at: int, within: float, every: int) -> None:
        """Make the map until killed; what is written here, a child runs."""

        def end(run: nf.Run) -> None:
            if run.iteration >= at:
                threading.Timer(within, os.kill, (os.getpid(), signal.SIGKILL)).start()

        self.fit(checkpoint=path, checkpoint_every=every, callback=end)

    def outcome(self, folder: Path) -> dict[str, Any]:
        """When it was killed, where it went on, and whether the bits are equal."""
        whole = self.fit()
        random = np.random.default_rng([self.number, 2])
        at, every = int(random.integers(10, max(11, LATEST * whole.n_iter_))), int(random.integers(1, 20))
        path = folder / f"{self.number}.nfmap"
        given = [self.number, self.points, str(path), at, float(random.uniform(0, WITHIN)), every]
        command = [sys.executable, "-m", "benchmarks.studies.killed", "--child", json.dumps(given)]
        ended = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
        if ended.returncode != -signal.SIGKILL:
            raise RuntimeError(f"trial {self.number} was not killed: {ended.stderr[-500:]}")
        begun: list[int] = []
        again = self.fit(checkpoint=path, callback=lambda run: begun.append(run.iteration))
        same = {name: np.array_equal(again.history_[name], each) for name, each in whole.history_.items()}
        return {
            "trial": self.number,
            "engine": self.engine,
            "method": self.method,
            "iterations": whole.n_iter_,
            "killed": at,
            "every": every,
            "first seen again": begun[0] if begun else whole.n_iter_,
            "equal": again.embedding_.tobytes() == whole.embedding_.tobytes() and all(same.values()),
            "left": [each.name for each in folder.iterdir()],
        }


def main() -> None:
    """Run the trials, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the number of the first, to go on from there")
    parser.add_argument("--points", type=int, default=1200)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        number, points, path, at, within, every = json.loads(given.child)
        Trial(number, points).kill(Path(path), at, within, every)
        return
    equal = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.first, given.first + given.trials):
            found = Trial(number, given.points).outcome(Path(folder))
            equal += found["equal"]
            print(", ".join(f"{name} {value}" for name, value in found.items()), flush=True)
    print(f"{equal} of {given.trials} ended with the bits of the run that was not killed")


if __name__ == "__main__":
    main()
