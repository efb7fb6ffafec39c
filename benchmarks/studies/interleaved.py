"""Two checkouts in turns: whether a change made anything slower or quicker.

    python -m benchmarks.studies.interleaved --before there/src --after src [--rounds 7] [--only "t-SNE"]

Every case runs in a process of its own that has compiled, once with the sources of each checkout in every
round, and the one that begins alternates, so that a machine that slows down slows both. Medians, and the
ratio of them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.shared.tables import table

# What is timed within the process prints its seconds; the others are timed from the shell's point of view.
BLOBS = """
import numpy as np
random = np.random.default_rng(0)
X = (8 * random.normal(size=(20, 20))[np.arange({n}) % 20] + random.normal(size=({n}, 20))).astype(np.float32)
"""
DIGITS = """
from sklearn.datasets import load_digits
X = load_digits().data
"""
TIMED = """
import time, warnings
import nearfield as nf
warnings.simplefilter("ignore")
nf.Embedder("{method}", random_state=0, max_iter={iterations}).fit(X)
began = time.perf_counter()
nf.Embedder("{method}", random_state=0, max_iter={iterations}).fit(X)
print(time.perf_counter() - began)
"""
WHOLE = """
import subprocess, sys, time
began = time.perf_counter()
subprocess.run([sys.executable, *{command!r}], check=True, stdout=subprocess.DEVNULL)
print(time.perf_counter() - began)
"""
CASES = {
    "t-SNE, digits": DIGITS + TIMED.format(method="tsne", iterations=1000),
    "t-SNE, 10 000 blobs": BLOBS.format(n=10_000) + TIMED.format(method="tsne", iterations=300),
    "jse, 3000 blobs": BLOBS.format(n=3_000) + TIMED.format(method="jse", iterations=300),
    "import nearfield": WHOLE.format(command=["-c", "import nearfield"]),
    "nearfield --help": WHOLE.format(command=["-m", "nearfield", "--help"]),
}


def seconds(code: str, source: Path) -> float:
    """What a fresh process that imports nearfield from this folder prints."""
    environment = os.environ | {"PYTHONPATH": str(source.resolve())}
    command = [sys.executable, "-c", code]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True)
    if finished.returncode:
        last = (finished.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"with {source}: {last}")
    return float(finished.stdout)


def in_turns(code: str, before: Path, after: Path, rounds: int) -> tuple[list[float], list[float]]:
    """The seconds of both in every round."""
    taken: tuple[list[float], list[float]] = ([], [])
    for k in range(rounds):
        for which in (0, 1) if k % 2 == 0 else (1, 0):
            taken[which].append(seconds(code, (before, after)[which]))
    return taken


def main() -> None:
    """Write a table to the terminal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, required=True, help="the src folder of one checkout")
    parser.add_argument("--after", type=Path, required=True, help="the src folder of the other")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", metavar="NAME", help="the cases whose names start with this")
    options = parser.parse_args()
    for source in (options.before, options.after):
        if not (source / "nearfield" / "__init__.py").exists():
            parser.error(f"{source} holds no nearfield: name the src folder of a checkout")
    if options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    rows = []
    for name, code in CASES.items():
        if name.startswith(options.only):
            taken = in_turns(code, options.before, options.after, options.rounds)
            before, after = map(statistics.median, taken)
            spread = max((max(each) - min(each)) / statistics.median(each) for each in taken)
            row = [name, f"{before:.3f}", f"{after:.3f}", f"{after / before:.3f}", f"{100 * spread:.0f} %"]
            rows.append(row)
            print(*row, flush=True)
    rounds = f"medians of {options.rounds} rounds"
    print("\n" + table([rounds, "before, s", "after, s", "after / before", "widest range"], rows))


if __name__ == "__main__":
    main()
