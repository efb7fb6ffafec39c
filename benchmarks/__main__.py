"""nearfield measured: beside its peers, over time, over the number of points, and against exact sums.

    make bench DATA=path/to/mnist.npz          # writes benchmarks/RESULTS.md; the better part of an hour
    make bench-quick DATA=path/to/mnist.npz    # writes benchmarks/quick/RESULTS.md; below five minutes
    python -m benchmarks --only growth --data path/to/mnist.npz    # one part anew; peers,growth: two
    python -m benchmarks --report        # the report alone, from results.json

Figures are kept in results.json beside the report, part by part, each with the stamp of its run. A part that
fails says so in the report, and the others go on.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import traceback
from pathlib import Path
from typing import Any

from benchmarks import FOLDER
from benchmarks.parts import (
    accuracy,
    curves,
    first_process,
    growth,
    iterations,
    methods,
    peers,
    scales,
)
from benchmarks.shared.apart import brief
from benchmarks.shared.sizes import SIZES, Sizes
from benchmarks.shared.stamp import line, stamp

PARTS = {
    "peers": peers,
    "curves": curves,
    "growth": growth,
    "methods": methods,
    "iterations": iterations,
    "accuracy": accuracy,
    "first": first_process,
    "scales": scales,
}


def measure(name: str, sizes: Sizes, data: str | None, run: dict[str, Any]) -> dict[str, Any]:
    """One part's figures, or its error, with the stamp of the run."""
    print(f"{PARTS[name].TITLE}", flush=True)
    load, began = os.getloadavg()[0], time.perf_counter()
    try:
        outcome: dict[str, Any] = {"found": PARTS[name].run(sizes, data)}
    except Exception as error:
        traceback.print_exc()
        outcome = {"error": brief(f"{type(error).__name__}: {error}")}
    return {"stamp": run, "load": load, "took": time.perf_counter() - began, **outcome}


def written(results: dict[str, Any], pictures: Path) -> str:
    """The whole report."""
    done = {name: results[name] for name in PARTS if name in results}
    stamps = {json.dumps(each["stamp"], sort_keys=True): each["stamp"] for each in done.values()}
    text = "# Benchmarks\n\n"
    if len(stamps) == 1:
        text += f"One run on one machine: {line(*stamps.values())}."
    else:
        text += f"**Parts of {len(stamps)} runs**: each says below which one it belongs to."
    text += " Only the ratios carry over to another machine."
    text += " `make bench DATA=path/to/mnist.npz` writes this page.\n\n"
    body = "\n".join(_section(name, each, len(stamps) > 1, pictures) for name, each in done.items())
    met, missed = (body.count(f"| {word} |") for word in ("met", "missed"))
    missing = [name for name in PARTS if name not in done]
    text += f"Of the bounds in these tables {met} are met and {missed} missed."
    text += f" Not run: {', '.join(missing)}.\n" if missing else "\n"
    return f"{text}\n{body}"


def _section(name: str, result: dict[str, Any], mixed: bool, pictures: Path) -> str:
    when = f"Run {line(result['stamp'])}; it" if mixed else f"Part `{name}` of {result['stamp']['date']};"
    when += f" took {result['took']:.0f} s, the machine's load before it {result['load']:.1f}."
    when += f" {result['remark']}" if "remark" in result else ""  # written into results.json by hand
    if "error" in result:
        body = f"**This part failed**: {result['error']}\n"
    else:
        try:
            body = PARTS[name].report(result["found"], pictures)
        except Exception as error:
            traceback.print_exc()
            body = f"**The report of this part failed**: {type(error).__name__}: {error}\n"
    return f"## {PARTS[name].TITLE}\n\n{when}\n\n{body}"


def replace(path: Path, text: str) -> None:
    """Write a file so that it is never half there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    part.replace(path)


def main() -> None:
    """Run the parts that are asked for, and write the report after each."""
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="MNIST as npz (OpenML mnist_784)")
    parser.add_argument("--only", help=f"some of the parts: {','.join(PARTS)}")
    parser.add_argument("--report", action="store_true", help="measure nothing, write the report anew")
    small = {"dest": "size", "action": "store_const", "default": "full"}
    parser.add_argument("--quick", **small, const="quick", help="minutes, into benchmarks/quick")
    parser.add_argument("--tiny", **small, const="tiny", help="try the code alone, into benchmarks/tiny")
    parser.add_argument("--out", type=Path, help="the folder to write to")
    options = parser.parse_args()
    usual = [name for name in PARTS if name not in SIZES[options.size].left_out]
    names = options.only.split(",") if options.only else usual
    if unknown := [name for name in names if name not in PARTS]:
        parser.error(f"no part is called {unknown[0]!r}: choose from {', '.join(PARTS)}")
    folder = options.out or (FOLDER if options.size == "full" else FOLDER / options.size)
    kept = folder / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    run = stamp(options.size)
    for name in () if options.report else names:
        results[name] = measure(name, SIZES[options.size], options.data, run)
        replace(kept, json.dumps(results, indent=1))
        replace(folder / "RESULTS.md", written(results, folder / "pictures"))
    text = written(results, folder / "pictures")
    replace(folder / "RESULTS.md", text)
    print(f"\n{text}")


if __name__ == "__main__":
    main()
