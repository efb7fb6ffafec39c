"""Work in a process of its own: its memory and what it compiles are its own, and so is its failure.

`apart(times, X=X, calls=2)` is `times(X=X, calls=2)` in a fresh interpreter, which imports it by the name of
its module. What comes back is a dict of plain values and arrays. Arrays go through npy files, all else
through JSON.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import FOLDER

LONGEST = 3 * 3600  # seconds, after which something hangs


def apart(function: Callable[..., dict[str, Any]], **given: Any) -> dict[str, Any]:
    """Call a function in a process of its own; its peak memory in GB is added under ``memory``."""
    paths = [str(FOLDER.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _put(folder, "given", given)
        command = [sys.executable, "-m", "benchmarks.shared.apart", _module(function), function.__name__]
        finished = subprocess.run(
            [*command, str(folder)], env=environment, capture_output=True, text=True, timeout=LONGEST
        )
        if finished.returncode:
            last = (finished.stderr.strip().splitlines() or ["no message"])[-1]
            raise RuntimeError(brief(f"{last} (exit {finished.returncode})"))
        return _get(folder, "found")


def attempt(label: str, function: Callable[..., dict[str, Any]], **given: Any) -> dict[str, Any]:
    """As `apart`, with a line of progress; a failure is returned as ``error`` and not raised."""
    print(f"  {label:<40}", end="", flush=True)
    began = time.perf_counter()
    try:
        found = apart(function, **given)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        found = {"error": str(error)}
    took = f"{time.perf_counter() - began:8.1f} s"
    print(f"failed: {found['error']}" if "error" in found else took, flush=True)
    return found


def limit_memory(share: float = 0.8) -> None:
    """Let this process fail rather than take the memory of the whole machine."""
    try:
        import resource

        lines = Path("/proc/meminfo").read_text().splitlines()
    except (ImportError, OSError):  # not on every platform
        return
    free = 1024 * int(dict(line.split(":", 1) for line in lines)["MemAvailable"].split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (int(share * free),) * 2)


def brief(message: str) -> str:
    """A message without the folders of this machine."""
    return re.sub(r"(?<![\w.])/\S*/", "", message)[:300]


def peak_memory() -> float | None:
    """The most memory that this process has held, in GB; None where the system does not tell.

    From Linux itself: `getrusage` would count the memory of the process that started this one.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return int(dict(line.split(":", 1) for line in lines)["VmHWM"].split()[0]) / 1e6


def _module(function: Callable[..., Any]) -> str:
    """The name by which another process imports a function's module, also if this one runs it as a script."""
    name = function.__module__
    return sys.modules[name].__spec__.name if name == "__main__" else name


def _put(folder: Path, name: str, values: dict[str, Any]) -> None:
    for key in [key for key, value in values.items() if isinstance(value, np.ndarray)]:
        np.save(folder / f"{name}-{key}.npy", values[key])
    plain = {key: value for key, value in values.items() if not isinstance(value, np.ndarray)}
    (folder / f"{name}.json").write_text(json.dumps(plain))


def _get(folder: Path, name: str) -> dict[str, Any]:
    values = json.loads((folder / f"{name}.json").read_text())
    for path in folder.glob(f"{name}-*.npy"):
        values[path.stem.removeprefix(f"{name}-")] = np.load(path)
    return values


if __name__ == "__main__":
    module, function, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    limit_memory()
    found = getattr(import_module(module), function)(**_get(folder, "given"))
    _put(folder, "found", {**found, "memory": peak_memory()})
