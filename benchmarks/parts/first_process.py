"""Part 6: `nearfield embed digits.csv` as a fresh process, the very first time and afterwards."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared.data import digits
from benchmarks.shared.sizes import Sizes
from benchmarks.shared.tables import bounded, table

TITLE = "A fresh process"
FIRST, LATER, AT = 15.0, 3.0, 1797


def run(sizes: Sizes, path: str | None) -> dict[str, Any]:
    """The command on a cache that is empty, and again on the one that this left."""
    X, _ = digits(sizes.digits)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        cache = folder / "cache"
        cache.mkdir()
        source = folder / "digits.csv"
        names = ",".join(f"pixel{c}" for c in range(X.shape[1]))
        np.savetxt(source, X, fmt="%g", delimiter=",", header=names, comments="")
        first = _seconds(source, cache)
        compiled = len(list(cache.rglob("*.nbc")))
        if not compiled:
            raise RuntimeError("nothing was compiled into the empty cache: NUMBA_CACHE_DIR has no effect")
        later = [_seconds(source, cache) for _ in range(sizes.repeat)]
        if len(list(cache.rglob("*.nbc"))) != compiled:
            raise RuntimeError("a later process compiled once more: its cache does not hold")
    return {"points": len(X), "first": first, "later": later, "compiled": compiled}


def _seconds(source: Path, cache: Path) -> float:
    """How long the command takes, from the shell's point of view."""
    print(f"  {'nearfield embed digits.csv':<40}", end="", flush=True)
    command = [sys.executable, "-m", "nearfield", "embed", source.name, "--out", "map.csv"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    began = time.perf_counter()
    finished = subprocess.run(command, cwd=source.parent, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    print(f"{seconds:8.1f} s", flush=True)
    if finished.returncode:
        raise RuntimeError((finished.stderr.strip().splitlines() or ["no message"])[-1])
    return seconds


def report(found: dict[str, Any], pictures: Any) -> str:
    """Two rows."""
    agreed = found["points"] == AT
    text = (
        f"`nearfield embed digits.csv`, {found['points']} × 64, from the shell to the shell. The first time"
        f" ever everything is compiled ({found['compiled']} functions, into an empty cache); afterwards, the"
        f" median of {len(found['later'])}.\n\n"
    )
    rows = [
        ["first time ever", *bounded(found["first"], at_most=FIRST if agreed else None, form="{:.1f}")],
        ["afterwards", *bounded(statistics.median(found["later"]), at_most=LATER if agreed else None)],
    ]
    return text + table(["", "seconds", "at most", ""], rows)
