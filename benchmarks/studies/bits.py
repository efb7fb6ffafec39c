"""Whether a change leaves every map as it was, to the last bit.

    PYTHONPATH=elsewhere/src python -m benchmarks.studies.bits --write before.json    # of another checkout
    python -m benchmarks.studies.bits --check before.json [--only "tsne, digits"]     # of this one

SHA-256 of maps of the digits and of blobs with structure at three levels, by methods that between them use
every engine and every optimizer, and of runs that were steered, saved, reopened and done again. Only public
names are used, so that any checkout can be asked. Bits depend on the machine and on the versions of NumPy,
SciPy and Numba: compare files of one machine. A minute.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import nearfield as nf
from benchmarks.shared.data import digits

METHODS = ("tsne", "asne", "jse", "hssne", "mssne", "mds", "sstress", "nerv")
ITERATIONS = 220
ENGINES = (("tsne", "exact"), ("jse", "exact"), ("mds", "pairs"))  # beside those of "auto"
STEERED = ("tsne", "asne", "hssne", "mds")  # momentum, L-BFGS after a guide, an added width, distances
SOME = 400  # digits, of which the steered maps are


@lru_cache(maxsize=1)
def blobs(n: int = 3000) -> Any:
    """Groups in groups in groups: 4 × 3 × 5 of them, each level a quarter as wide as the one above."""
    random = np.random.default_rng(7)
    centres = np.zeros((1, 20))
    for groups, width in ((4, 16.0), (3, 4.0), (5, 1.0)):
        centres = (centres[:, None] + width * random.normal(size=(len(centres), groups, 20))).reshape(-1, 20)
    X = centres[np.arange(n) % len(centres)] + 0.25 * random.normal(size=(n, 20))
    return X.astype(np.float32)


DATA: dict[str, Callable[[], Any]] = {"digits": lambda: digits(1797)[0], "blobs": blobs}


def mapped(method: str, data: str, **given: Any) -> dict[str, Any]:
    """A plain run."""
    run = nf.Run(DATA[data](), method, random_state=0, **given)
    run.step(ITERATIONS)
    return {"map": run.Y}


def converged(method: str) -> dict[str, Any]:
    """What the estimator makes of a few digits, by its own rule of when to stop."""
    return {"map": nf.Embedder(method, random_state=0).fit_transform(digits(SOME)[0])}


def steered(method: str) -> dict[str, Any]:
    """A run on which everything is done that there is, then saved, reopened and done again."""
    X = digits(SOME)[0]
    run = nf.Run(X, method, random_state=0)
    found = {}
    run.step(120)
    reach = float(np.abs(run.Y).max())
    run.pin([3, 17], [[reach, 0.0], [0.0, -reach]], follow=20)
    run.step(60)
    found["pinned"] = run.Y
    run.pin(5, (reach / 2, reach / 2), follow=None, soft=True)
    run.link(must=[(20, 21)], cannot=[(22, 23)])
    run.add(nf.terms.Disc([30, 31], (0.0, 0.0), reach / 4))
    run.step(30)
    found["linked"] = run.Y
    run.undo()
    run.undo()
    found["undone"] = run.Y
    run.redo()
    run.settle(30)
    run.step(40)
    run.unpin(17)
    run.step(20)
    found["settled"] = run.Y
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.nfmap"
        run.map().save(path)
        found["saved"] = nf.Map.load(path).Y
        again = {"reopened": nf.Run.load(path, X), "replayed": nf.Run.load(path, X, replay=True)}
    for name, other in again.items():
        other.step(15)
        found[name] = other.Y
    return found


def cases() -> dict[str, Callable[[], dict[str, Any]]]:
    """Every case by its name."""
    found: dict[str, Callable[[], dict[str, Any]]] = {}
    for data in DATA:
        found |= {f"{method}, {data}": partial(mapped, method, data) for method in METHODS}
    for method, engine in ENGINES:
        found[f"{method}, {engine}"] = partial(mapped, method, "digits", engine=engine)
    found["tsne, 3-D"] = partial(mapped, "tsne", "digits", n_components=3)
    found |= {f"{method}, converged": partial(converged, method) for method in METHODS}
    return found | {f"{method}, steered": partial(steered, method) for method in STEERED}


def hashed(Y: Any) -> str:
    """The SHA-256 of a map: its shape, its type and its bytes."""
    Y = np.ascontiguousarray(Y)
    return hashlib.sha256(f"{Y.shape} {Y.dtype.str} ".encode() + Y.tobytes()).hexdigest()


def hashes(wanted: str | None) -> dict[str, str]:
    """Of every map of every case, or of those whose names start as is wanted."""
    found = {}
    for name, make in cases().items():
        if wanted is not None and not name.startswith(wanted):
            continue
        began = time.perf_counter()
        found |= {f"{name}, {what}": hashed(Y) for what, Y in make().items()}
        print(f"  {name:<40}{time.perf_counter() - began:8.1f} s", flush=True)
    return found


def differences(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """A line for each map that is not as it was, or that only one of the two has."""
    lines = []
    for name in dict.fromkeys([*before, *now]):
        if name not in now:
            lines.append(f"{name}: not made any more")
        elif name not in before:
            lines.append(f"{name}: not in the file")
        elif before[name] != now[name]:
            lines.append(f"{name}: {before[name][:12]} before, {now[name][:12]} now")
    return lines


def main() -> None:
    """Write the hashes, or compare them with those of a file; exit 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE", help="write the hashes of all maps")
    what.add_argument("--check", type=Path, metavar="FILE", help="compare with those of this file")
    parser.add_argument("--only", metavar="NAME", help="the cases whose names start with this")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    before = json.loads(options.check.read_text()) if options.check else {}
    now = hashes(options.only)
    if options.write:
        options.write.write_text(json.dumps(now, indent=1) + "\n")
        print(f"{len(now)} maps written to {options.write}")
        return
    wanted = options.only or ""
    found = differences({name: each for name, each in before.items() if name.startswith(wanted)}, now)
    print("\n".join(found) or f"{len(now)} maps are as they were, bit for bit")
    sys.exit(1 if found or not now else 0)


if __name__ == "__main__":
    main()
